"""Dialogues in which what is known changes: facts, and the turns by which they are over or turn out wrong.

    python training/corpus/changes.py training/corpus/changes/*.txt       # checks files, and counts

The format and what counts are in CHANGES.md.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

__all__ = ["Dialogue", "Told", "dialogues_in"]

HEAD = re.compile(r"# (?P<id>[A-Z]\d*-\d+) \| domain: (?P<domain>[^|]+) \| day: (?P<day>\d{4}-\d\d-\d\d)")
LATER = re.compile(r"@ (\d{4}-\d\d-\d\d)")
SAID = re.compile(r"(?P<speaker>[^\W\d_][^:|]{0,40}): (?P<text>\S.*)")
FACT = re.compile(r"  \+ (?P<subject>[^|]+) \| (?P<relation>[^|]+) \| (?P<object>[^|]+?)(?: \((?P<marks>[^|()]+)\))?")
OUTCOME = re.compile(r"  - (?P<number>\d+) (?P<outcome>over|wrong)")


@dataclass(slots=True)
class Told:
    """A turn: who says what on which day, the facts that it adds, and what it does to earlier ones, by number."""

    speaker: str
    text: str
    day: date
    facts: list[str] = field(default_factory=list)
    outcomes: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Dialogue:
    """Turns in order; facts are numbered through the dialogue from 1 on."""

    id: str
    domain: str
    turns: list[Told]

    def pairs(self) -> Iterator[tuple[str, int, str]]:
        """Yield a fact, the index of a later turn, and what that does to it: `stands`, `over` or `wrong`.

        A fact that is over or wrong is not asked of again.
        """
        standing: dict[int, str] = {}
        number = 0
        for at, turn in enumerate(self.turns):
            for known, fact in list(standing.items()):
                outcome = turn.outcomes.get(known, "stands")
                yield fact, at, outcome
                if outcome != "stands":
                    del standing[known]
            for fact in turn.facts:
                number += 1
                standing[number] = fact


def dialogues_in(path: Path) -> list[Dialogue]:
    """Return the dialogues of a file.

    Raises:
        ValueError: a line is none of those that CHANGES.md describes, or names a fact that does not stand.
    """
    found: list[Dialogue] = []
    day, total, standing = date.min, 0, set[int]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        where = f"{path.name}:{number}"
        if not line.strip():
            continue
        if head := HEAD.fullmatch(line.rstrip()):
            day, total, standing = date.fromisoformat(head["day"]), 0, set()
            found.append(Dialogue(head["id"], head["domain"].strip(), []))
        elif not found:
            raise ValueError(f"{where}: expected a head such as '# J1-01 | domain: choir | day: 2026-03-02'")
        elif later := LATER.fullmatch(line.rstrip()):
            day = date.fromisoformat(later[1])
        elif said := SAID.fullmatch(line.rstrip()):
            found[-1].turns.append(Told(said["speaker"], said["text"], day))
        elif not found[-1].turns:
            raise ValueError(f"{where}: expected a turn before {line.strip()!r}")
        elif FACT.fullmatch(line.rstrip()):
            total += 1
            standing.add(total)
            found[-1].turns[-1].facts.append(line.strip().removeprefix("+ "))
        elif outcome := OUTCOME.fullmatch(line.rstrip()):
            of = int(outcome["number"])
            if of not in standing:
                raise ValueError(f"{where}: fact {of} does not stand here; there are {sorted(standing)}")
            standing.discard(of)
            found[-1].turns[-1].outcomes[of] = outcome["outcome"]
        else:
            raise ValueError(f"{where}: expected a turn, '  + fact', '  - number over' or '@ day', got {line!r}")
    return found


def main(paths: Sequence[str]) -> None:
    """Check files and print what they hold."""
    counts: Counter[str] = Counter()
    ids: set[str] = set()
    for path in paths:
        for dialogue in dialogues_in(Path(path)):
            if dialogue.id in ids:
                raise ValueError(f"{path}: there are two dialogues called {dialogue.id}")
            ids.add(dialogue.id)
            counts.update(dialogues=1, turns=len(dialogue.turns), facts=sum(len(one.facts) for one in dialogue.turns))
            counts.update(outcome for _, _, outcome in dialogue.pairs())
    print(dict(counts))


if __name__ == "__main__":
    main(sys.argv[1:])
