"""Pairs for the grader out of what was made for other recipes: clean sentences, so that these are trusted.

    python training/replies/draw.py --out WORK/cases.jsonl --count 1500
    python training/trust/further.py --cases WORK/cases.jsonl >> WORK/pairs.jsonl

Claims: turns of `benchmarks/understanding` (set1 to set5) with their gold facts: what matches one is right, what is
forbidden is wrong, the rest is left out. Questions: `benchmarks/answers/dev.json`. Statements: drawn replies, each
beside the turn that shares most words with it; of one that contradicts nothing it is not known whether the turn
supports it.
"""

import argparse
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from extract import written
from pairs import CLAIM, NEUTRAL, RIVALS, STATEMENT

from doxa import Doxa
from doxa.backends.grader import passage
from doxa.core.config import Config
from doxa.core.values import Act, Turn
from doxa.language import stems
from doxa.understand import worded
from doxa_bench.gold import read_items
from doxa_bench.matching import Proposition
from doxa_bench.understanding import entry_of

ROOT = Path(__file__).parents[2]
SETS = tuple(ROOT / f"benchmarks/understanding/set{number}.jsonl" for number in range(1, 6))
ANSWERS = ROOT / "benchmarks/answers/dev.json"
LEAST = 2
"""Words that a reply shares with the turn it is compared with, at least."""
Row = dict[str, Any]


def main() -> None:
    """Print all pairs, one a line."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--cases", type=Path, required=True)
    args = reader.parse_args()
    with Doxa.open(":memory:", config=Config.load()) as doxa:
        for rows in (claims(doxa), questions(doxa), statements(args.cases)):
            for row in rows:
                print(json.dumps({**row, "dev": False}, ensure_ascii=False))


def claims(doxa: Doxa) -> Iterator[Row]:
    """Yield what was read out of turns with gold facts, where these say whether it is right."""
    for path in SETS:
        for item in read_items(path):
            user = f"{path.stem}/{item.id}"
            chat = doxa.dialogue(user=user, agent="Assistant", speaker=item.turn.speaker)
            for said in (*item.context, item.turn):
                role = "assistant" if said.speaker == "Assistant" else "user"
                turn_id = chat.absorb(said.text, speaker=said.speaker, role=role, at=item.day).turn_id
            chat.flush()
            turn = passage(*_with_last(doxa, user, turn_id))
            for claim in doxa.memory(user=user).claims(turn_id=turn_id):
                if claim.act is Act.WITHDRAW or written(claim)["claim"].startswith(" |"):
                    continue
                said_so = Proposition.of(entry_of(claim), item.day)
                wrong = any(one.is_hit(said_so, item.day) for one in item.forbidden)
                if wrong or any(fact.agreements(said_so) for fact in item.facts):
                    label = CLAIM["wrong" if wrong else "right"]
                    yield {"task": "claim", "chat": user, "text": worded(claim), "turn": turn, "label": label}


def questions(doxa: Doxa) -> Iterator[Row]:
    """Yield questions of conversations beside the turns that answer them, and the turns that a search finds."""
    for record in json.loads(ANSWERS.read_text(encoding="utf-8")):
        talk, user = record["conversation"], record["sample_id"]
        chat = doxa.dialogue(user=user, agent=talk["speaker_b"], speaker=talk["speaker_a"])
        for number in range(1, 100):
            for said in talk.get(f"session_{number}", ()):
                at = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")  # noqa: DTZ007
                chat.absorb(said["text"], speaker=said["speaker"], at=at, turn_id=said["dia_id"])
        chat.flush()
        for number, asked in enumerate(record["qa"]):
            right = [] if asked["category"] == 5 else asked["evidence"]
            found = [key for one in doxa.memory(user=user).search(asked["question"], k=RIVALS) for key in one.turn_ids]
            for key in dict.fromkeys([*right, *found]):
                turn, last = _with_last(doxa, user, key)
                row = {"task": "question", "chat": user, "group": number, "text": asked["question"]}
                yield {**row, "turn": passage(turn, last), "label": int(key in right)}


def statements(path: Path) -> Iterator[Row]:
    """Yield drawn replies, each beside the turn that shares most words with it."""
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for reply in case["replies"]:
            wanted = set(stems(reply["text"]))
            shared = [(len(wanted & set(stems(turn["text"]))), turn) for turn in case["turns"]]
            most, turn = max(shared, key=lambda pair: pair[0])
            if most < LEAST:
                continue
            label = STATEMENT["false"] if reply["label"] == "contradicted" else [STATEMENT["true"], NEUTRAL]
            text = f"{turn['speaker']}: {turn['text']}"
            yield {
                "task": "statement", "chat": "drawn", "group": case["id"], "text": reply["text"], "turn": text,
                "label": label,
            }  # fmt: skip


def _with_last(doxa: Doxa, user: str, turn_id: str) -> tuple[Turn, Turn | None]:
    with doxa.parts.log.user(user) as state:
        turn = state.turn(turn_id)
        assert turn is not None
        return turn, next(iter(state.context(turn, 1)), None)


if __name__ == "__main__":
    main()
