"""Dialogues of task turns: a text file -> what each turn does to a plan, and what is on record in the end.

    python training/corpus/task_turns.py FILE ...     # checks files, and counts

How they are annotated: `TASKS.md`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from corpus import CorpusError, read_file

CHANGES = "new add set replace remove move swap split merge depend rule assign done reset rollback undo cancel"
ACTS = frozenset(f"{CHANGES} ask close offer".split())
KEYS = frozenset("node slot value from to into with on before after if words".split())


@dataclass(frozen=True, slots=True)
class Act:
    """What a turn does, with its parts in order."""

    kind: str
    parts: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Turn:
    """What one speaker says at once."""

    speaker: str
    text: str
    day: date
    acts: list[Act] = field(default_factory=list)


@dataclass(slots=True)
class Scenario:
    """Turns in order, and what is on record behind them: node, slot, value, condition."""

    id: str
    domain: str
    register: str
    turns: list[Turn] = field(default_factory=list)
    state: list[tuple[str, str, str, str]] = field(default_factory=list)


def read_scenarios(path: Path) -> list[Scenario]:
    """Return the scenarios of a file.

    Raises:
        CorpusError: a line is no annotation; all such lines are told, one a line.
    """
    found = read_file(path, Scenario, Turn, _annotate)
    if wrong := [f"{path.name}: {one.id} has no state" for one in found if not one.state]:
        raise CorpusError("\n".join(wrong))
    return found


def _annotate(scenario: Scenario, line: str) -> None:
    if line.startswith("t "):
        turn = scenario.turns[-1]
        turn.acts.append(_act(line[2:], turn.text))
    elif line.startswith("s "):
        scenario.state.append(_state(line[2:]))
    else:
        raise CorpusError("expected t or s")


def _act(line: str, text: str) -> Act:
    kind, *parts = (part.strip() for part in line.split(" | "))
    if kind not in ACTS:
        raise CorpusError(f"{kind!r} is no act")
    found = []
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in KEYS or not value.strip():
            raise CorpusError(f"{part!r}: expected one of {', '.join(sorted(KEYS))}, and a value")
        if key == "words" and value.strip() not in text:
            raise CorpusError(f"{value.strip()!r} does not stand in the turn")
        found.append((key, value.strip()))
    if kind not in ("ask", "close", "undo") and not any(key == "node" for key, _ in found):
        raise CorpusError("expected node=")
    return Act(kind, tuple(found))


def _state(line: str) -> tuple[str, str, str, str]:
    parts = [part.strip() for part in line.split(" | ")]
    if len(parts) not in (3, 4) or not all(parts) or (len(parts) == 4 and not parts[3].startswith("if=")):
        raise CorpusError("expected 's node | slot | value', and perhaps '| if=...'")
    return parts[0], parts[1], parts[2], parts[3][3:] if len(parts) == 4 else ""


def main(paths: Sequence[str]) -> None:
    """Check and count."""
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    wrong = []
    for path in paths:
        try:
            for one in read_scenarios(Path(path)):
                counts.update(scenarios=1, turns=len(one.turns), values=len(one.state))
                counts.update(idle=sum(not turn.acts for turn in one.turns))
                kinds.update(act.kind for turn in one.turns for act in turn.acts)
        except CorpusError as exc:
            wrong.append(str(exc))
    print("\n".join(wrong) if wrong else f"{dict(counts)}; {dict(kinds.most_common())}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
