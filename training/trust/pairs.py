"""Annotated chats -> pairs for the grader: claims, questions and statements, each beside one turn.

    python training/trust/pairs.py --out WORK/examples.jsonl

A pair is a short text and a turn as it is read (`doxa.backends.grader.passage`); what it is compared with is what a
search really finds. Chats: `training/trust/chats` and `benchmarks/everyday/dev`, whose claims were labelled by hand;
nothing of `held_out`.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from extract import written

from doxa import Doxa
from doxa.backends.grader import MOST_BEFORE, passage
from doxa.core.config import Config
from doxa.core.values import Act
from doxa.understand.gate import MARKS, worded

ROOT = Path(__file__).parents[2]
ACTS = ROOT / "training/trust/acts.jsonl"
FOLDERS = (ROOT / "training/trust/chats", ROOT / "benchmarks/everyday/dev")
RIVALS = 8
"""Turns that a search finds, beside those that answer."""
CLAIM = {"right": 0, "noise": 1, "wrong": 2}
STATEMENT = {"true": 0, "false": 1, "planned": 2}
NEUTRAL = 3
Row = dict[str, Any]


def main() -> None:
    """Write all pairs, one a line, with the chat that they are of."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--out", type=Path, required=True)
    args = reader.parse_args()
    counts: dict[str, int] = {}
    with args.out.open("w", encoding="utf-8") as file, Doxa.open(":memory:", config=Config.load()) as doxa:
        for path in (path for folder in FOLDERS for path in sorted(folder.glob("*.json"))):
            for row in rows_of(json.loads(path.read_text(encoding="utf-8")), labels_of(path), doxa):
                counts[row["task"]] = counts.get(row["task"], 0) + 1
                file.write(json.dumps({**row, "dev": path.parent.name == "dev"}, ensure_ascii=False) + "\n")
        for row in acts():
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(counts)


def labels_of(path: Path) -> dict[tuple[str, str], str]:
    """Return (turn, claim in words) -> label, of the claims that were labelled by hand."""
    labelled = path.with_suffix(".claims.jsonl")
    lines = labelled.read_text(encoding="utf-8").splitlines() if labelled.is_file() else []
    rows = [json.loads(line) for line in lines if line.strip()]
    return {(row["turn"], key(row)): row["label"] for row in rows if row["label"]}


def acts() -> Iterator[Row]:
    """Yield what turns take back or put right, or seem to.

    What was written later, and a fifth of what was written first, the grader does not learn from.
    """
    chats = {path.stem for path in FOLDERS[1].glob("*.json")}
    for number, line in enumerate(ACTS.read_text(encoding="utf-8").splitlines()):
        one = json.loads(line)
        kept = one["from"] in chats or one["from"] == "written later" or (one["from"] == "written" and number % 5 == 0)
        claim, mark = one["claim"], MARKS[Act(one["act"])]
        text = f"{claim[:-1]}, {mark})" if claim.endswith(" (not)") else f"{claim} ({mark})"
        turn = f"{one['before'][-MOST_BEFORE:]} | {one['turn']}" if one["before"] else one["turn"]
        yield {"task": "claim", "chat": one["from"], "text": text, "turn": turn, "label": CLAIM[one["label"]],
               "message": one["turn"].split(": ", 1)[-1], "dev": kept}  # fmt: skip


def key(row: Mapping[str, Any]) -> str:
    """Return a claim as one text, with all that it claims but its label."""
    return json.dumps({name: row[name] for name in sorted(row) if name not in ("turn", "said", "label")})


def rows_of(chat: Mapping[str, Any], labels: Mapping[tuple[str, str], str], doxa: Doxa) -> Iterator[Row]:
    """Yield the pairs of one chat."""
    dialogue = doxa.dialogue(user=chat["id"], agent=chat["assistant"], speaker=chat["user"])
    turns = {turn["id"]: turn for turn in chat["turns"]}
    for turn in chat["turns"]:
        dialogue.absorb(turn["text"], speaker=turn["speaker"], role=turn["role"], at=turn["at"], turn_id=turn["id"])
    dialogue.flush()
    memory = doxa.memory(user=chat["id"])

    def read(turn_id: str) -> str:
        with doxa.parts.log.user(chat["id"]) as state:
            turn = state.turn(turn_id)
            assert turn is not None
            return passage(turn, next(iter(state.context(turn, 1)), None))

    def found(text: str) -> list[str]:
        evidence = memory.search(text, k=RIVALS, superseded=True)
        return list(dict.fromkeys(one for item in evidence for one in item.turn_ids if one in turns))

    for turn_id in turns:
        for claim in memory.claims(turn_id=turn_id):
            label = labels.get((turn_id, key(written(claim)))) if claim.act is not Act.WITHDRAW else None
            if label:
                text = worded(claim)
                yield {"task": "claim", "chat": chat["id"], "text": text, "turn": read(turn_id), "label": CLAIM[label]}
    for number, question in enumerate(chat["questions"]):
        stale = [form.casefold() for form in question.get("not") or ()]
        for turn_id in dict.fromkeys([*question.get("evidence", ()), *found(question["question"])]):
            right = turn_id in question.get("evidence", ())
            old = not right and any(form in turns[turn_id]["text"].casefold() for form in stale)
            yield {
                "task": "question", "chat": chat["id"], "group": number, "text": question["question"],
                "turn": read(turn_id), "label": int(right), "old": old,
            }  # fmt: skip
    for number, one in enumerate(chat["statements"]):
        told = set(one.get("evidence") or ()) if one["label"] in STATEMENT else set()
        for turn_id in dict.fromkeys([*told, *found(one["text"])]):
            label = STATEMENT[one["label"]] if turn_id in told else NEUTRAL
            yield {
                "task": "statement", "chat": chat["id"], "group": number, "text": one["text"], "turn": read(turn_id),
                "label": label,
            }  # fmt: skip


if __name__ == "__main__":
    main()
