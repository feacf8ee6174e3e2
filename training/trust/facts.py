"""Pairs of a held fact and a later turn for the grader: does it stand, is it over, was it wrong?

    python training/trust/facts.py --out WORK/facts.jsonl

From `training/corpus/changes`, where every fact that stands was looked at for every turn; and from marked turns
(`training/corpus/train/marked`) that take nothing back and put nothing right: what was said before stands after them.
Every tenth dialogue of changes is kept apart, to choose by.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "corpus"))

from changes import Told, dialogues_in
from corpus import Span
from grading import GRADES
from marked import Mark, read_marked
from marked import Turn as Marked

from doxa.backends.grader import passage
from doxa.core.values import Interval, Turn

CORPUS = Path(__file__).parents[1] / "corpus"
EVERY = 10
"""One dialogue of so many is kept apart."""
DAY = re.compile(r"(?:\bon )?\b(\d{4})(?:-(\d\d)(?:-(\d\d))?)?\b")
CHANGING = frozenset(("over", "withdraw", "correct", "not"))
"""Flags of a mark that may say what becomes of an earlier one."""
Row = dict[str, Any]


def main() -> None:
    """Write all pairs, one a line."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--marked", type=int, default=1000, help="pairs of marked turns")
    reader.add_argument("--stands", type=int, default=4000, help="pairs of changes that stand, beside those kept")
    reader.add_argument("--beside", action="store_true", help="keep what stands after turns that change something else")
    args = reader.parse_args()
    chance = random.Random(1)
    rows = [row for path in sorted((CORPUS / "changes").glob("*.txt")) for row in changed(path)]
    changing = {(row["chat"], row["turn"]) for row in rows if row["label"]}
    kept, others = list[Row](), list[Row]()
    for row in rows:
        beside = args.beside and (row["chat"], row["turn"]) in changing
        (kept if row["dev"] or row["label"] or beside else others).append(row)
    marked = [row for path in sorted((CORPUS / "train/marked").glob("*.txt")) for row in unchanged(path)]
    rows = [*kept, *chance.sample(others, min(args.stands, len(others))), *chance.sample(marked, args.marked)]
    rows = [row | {"group": number} for number, row in enumerate(rows)]  # each by itself: none is thinned
    args.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(Counter((GRADES["fact"][row["label"]], row["dev"]) for row in rows))


def changed(path: Path) -> Iterator[Row]:
    """Yield the pairs of a file of changes."""
    for place, dialogue in enumerate(dialogues_in(path)):
        turns = [_turn(one) for one in dialogue.turns]
        for fact, at, outcome in dialogue.pairs():
            said = passage(turns[at], turns[at - 1] if at else None)
            yield _row(dialogue.id, _dated(fact), said, outcome, dev=place % EVERY == EVERY - 1)


def unchanged(path: Path) -> Iterator[Row]:
    """Yield pairs of what marked turns say and later turns of the dialogue that leave it alone."""
    for dialogue in read_marked(path):
        turns = [_turn(one) for one in dialogue.turns]
        for at, turn in enumerate(dialogue.turns):
            if any(mark.flags & CHANGING or any(name == "instead" for name, _ in mark.values) for mark in turn.claims):
                break
            new = {mark.relation for mark in turn.claims}
            for before in range(at):
                for mark in dialogue.turns[before].claims:
                    fact = _fact(mark, dialogue.turns[: before + 1])
                    if fact and "minor" not in mark.flags and mark.relation not in new:
                        yield _row(dialogue.id, fact, passage(turns[at], turns[at - 1]), "stands", dev=False)


def _fact(mark: Mark, turns: list[Marked]) -> str:
    """Return a mark as a fact in words; empty where its subject is a pronoun of another, or there is no object."""
    if mark.object is None:
        return ""
    speaker = turns[-1].speaker
    who = speaker if mark.subject is None else _said(mark.subject, turns)
    first, _, rest = who.partition(" ")
    if first.casefold() in ("i", "my"):
        who = f"{speaker}'s {rest}" if rest else speaker
    elif not first[:1].isupper() or first.casefold() in ("we", "our", "he", "she", "they", "it", "his", "her", "you"):
        return ""
    relation = mark.relation.replace("_", " ") or " ".join(_said(one, turns) for one in mark.words)
    marks = [
        word for word, flag in (("planned", "plan"), ("desired", "wish"), ("possible", "maybe")) if flag in mark.flags
    ]
    return f"{who} | {relation} | {_said(mark.object, turns)}" + (f" ({', '.join(marks)})" if marks else "")


def _said(span: Span, turns: list[Marked]) -> str:
    return turns[span.turn].text[span.start : span.end]


def _dated(fact: str) -> str:
    """Return a fact with days as the memory writes them: `since 2024-05-20` is "since 20 May 2024"."""
    words, bracket, marks = fact.partition(" (")

    def written(found: re.Match[str]) -> str:
        year, month, day = found.groups()
        precision = "day" if day else "month" if month else "year"
        return Interval.format(date(int(year), int(month or 1), int(day or 1)), precision)

    return words + bracket + DAY.sub(written, marks)


def _turn(told: Told | Marked) -> Turn:
    return Turn(
        turn_id="t", user="u", session="s", ordinal=0, speaker=told.speaker, role="user", text=told.text,
        at=datetime.combine(told.day, time(12)),
    )  # fmt: skip


def _row(chat: str, text: str, said: str, outcome: str, *, dev: bool) -> Row:
    return {
        "task": "fact",
        "chat": chat,
        "text": text,
        "turn": said,
        "label": GRADES["fact"].index(outcome),
        "dev": dev,
    }


if __name__ == "__main__":
    main()
