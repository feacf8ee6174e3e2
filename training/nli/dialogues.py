"""Pairs from open dialogues as they went on: what somebody says next hardly ever contradicts what was said before.

From Synthetic-Persona-Chat: the earlier turns of a speaker, or the last turns of both, against a later turn of the same
speaker (not a contradiction); and against an edited statement of those turns (a contradiction, see `edits.py`).

    python training/nli/dialogues.py --work WORK --count 10000
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

from edits import edited, statements

Row = tuple[str, str, tuple[int, ...]]
NOT_C, C = (0, 1), (2,)
LONGEST = 110  # words of a premise


def main() -> None:
    """Write `dialogues.jsonl`."""
    parser = argparse.ArgumentParser(description="Pairs from open dialogues.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=17)
    args = parser.parse_args()
    chooser = random.Random(args.seed)
    rows = [row for turns in conversations(args.data) for row in pairs(turns, chooser)]
    chooser.shuffle(rows)
    lines = [
        json.dumps({"premise": premise, "hypothesis": hypothesis, "allowed": allowed}, ensure_ascii=False) + "\n"
        for premise, hypothesis, allowed in rows[: args.count]
    ]
    (args.work / "dialogues.jsonl").write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} of {len(rows)} pairs, contradictions {sum(row[2] == C for row in rows[: args.count])}")


def pairs(turns: list[tuple[str, str]], chooser: random.Random) -> Iterator[Row]:
    """Two later turns, and one statement that was edited."""
    for place in chooser.sample(range(3, len(turns)), min(2, max(0, len(turns) - 3))):
        speaker, text = turns[place]
        if chooser.random() < 0.6:
            before = [said for who, said in turns[:place] if who == speaker]
        else:
            before = [said for _, said in turns[:place]][-chooser.randint(2, 7) :]
        yield shorten(before), text, NOT_C
    places = [(place, one) for place, (_, said) in enumerate(turns) for one in statements(said)]
    if places:
        place, sentence = chooser.choice(places)
        around = [said for _, said in turns[max(0, place - chooser.randint(0, 4)) : place + chooser.randint(1, 4)]]
        yield from (
            (premise, hypothesis, C)
            for premise, hypothesis, label in edited(sentence, shorten(around), chooser)
            if label == 2
        )


def shorten(turns: list[str]) -> str:
    """The last turns that are short enough together."""
    kept: list[str] = []
    for turn in reversed(turns):
        if kept and sum(len(one.split()) for one in kept) + len(turn.split()) > LONGEST:
            break
        kept.insert(0, turn)
    return " ".join(kept)


def conversations(data: Path) -> Iterator[list[tuple[str, str]]]:
    """Dialogues as speakers with what they say."""
    for name in ("test", "valid"):
        path = data / "open" / "synthetic_persona_chat" / f"Synthetic-Persona-Chat_{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                turns = [line.partition(": ") for line in row["Best Generated Conversation"].splitlines()]
                found = [(who, said.strip()) for who, _, said in turns if said.strip()]
                if len(found) > 4:
                    yield found


if __name__ == "__main__":
    main()
