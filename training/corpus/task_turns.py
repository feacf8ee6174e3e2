"""Dialogues of task turns: a text file -> what each turn does to a plan, and what is on record in the end.

    python training/corpus/task_turns.py FILE ...            # checks files, and counts
    python training/corpus/task_turns.py --record FILE ...   # carries out the acts, and compares the end
    python training/corpus/task_turns.py --show ID FILE      # what is on record after each turn of a scenario

How they are annotated: `TASKS.md`. What T files leave to the reader, U files say in full: only these are compared.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from corpus import CorpusError, read_file
from records import CHANGES, Record

ACTS = frozenset((*CHANGES, "ask", "close", "offer"))
KEYS = frozenset("node slot value from to into with without on before after if words".split())
BEFORE = 2
"""Turns before a turn whose words it may stand on."""
SLOTS = frozenset(
    "day time end place who price count deadline status duration from to size colour kind topic weight distance phone"
    " number name address if on".split()
)
"""Slots whose names nobody has to say."""
UNNAMED = frozenset(
    "shopping list,packing list,guest list,to do list,menu,budget,trip,meeting,party,order,plan,reminder".split(",")
)
"""What nodes are called that nobody names."""
NOTHING = ("none", "status", "none", "")
"""The end of a scenario in which nothing is put on record."""
WORDS = re.compile(r"(?P<value>.*?)\s*<(?P<words>[^<>]+)>")


@dataclass(frozen=True, slots=True)
class Act:
    """What a turn does, with its parts in order; `words` are those that say a part, where they are not its value."""

    kind: str
    parts: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, str, str], ...] = ()
    """Part, value and words."""


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
    for one in found:
        one.state = [line for line in one.state if line != NOTHING]
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
    found, said = [], []
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in KEYS or not value.strip():
            raise CorpusError(f"{part!r}: expected one of {', '.join(sorted(KEYS))}, and a value")
        value = value.strip()
        if key == "words" and value not in text:
            raise CorpusError(f"{value!r} does not stand in the turn")
        if (inline := WORDS.fullmatch(value)) is not None:
            value = inline["value"] or inline["words"]
            said.append((key, value, inline["words"]))
        found.append((key, value))
    if kind not in ("ask", "close", "undo") and not any(key == "node" for key, _ in found):
        raise CorpusError("expected node=")
    return Act(kind, tuple(found), tuple(said))


def _state(line: str) -> tuple[str, str, str, str]:
    parts = [part.strip() for part in line.split(" | ")]
    if len(parts) not in (3, 4) or not all(parts) or (len(parts) == 4 and not parts[3].startswith("if=")):
        raise CorpusError("expected 's node | slot | value', and perhaps '| if=...'")
    return parts[0], parts[1], parts[2], parts[3][3:] if len(parts) == 4 else ""


def wrong_in(scenario: Scenario) -> Iterator[str]:
    """What of a scenario does not hold: words that nobody says, acts that cannot be carried out, another end."""
    record = Record()
    for at, turn in enumerate(scenario.turns):
        said = "\n".join(one.text for one in scenario.turns[max(0, at - BEFORE) : at + 1]).lower()
        for act in turn.acts:
            yield from (f"{scenario.id}: {turn.text[:60]!r}: {act.kind}: {one}" for one in _unsaid(act, said, record))
        try:
            record.turn([(act.kind, act.parts) for act in turn.acts])
        except CorpusError as exc:
            yield f"{scenario.id}: {turn.text[:60]!r}: {exc}"
            return
    written, came = set(scenario.state), set(record.lines())
    yield from (f"{scenario.id}: in the end, written only: {' | '.join(one)}" for one in sorted(written - came))
    yield from (f"{scenario.id}: in the end, not written: {' | '.join(one)}" for one in sorted(came - written))


def _unsaid(act: Act, said: str, record: Record) -> Iterator[str]:
    """Parts of an act that no words say."""
    named = {(key, value) for key, value, _ in act.words}
    for _, _, words in act.words:
        if words.lower() not in said:
            yield f"the words {words!r} stand in none of three turns"
    known = {path for path, _ in record.walk()} | {*record.gone}
    names = {path.rpartition("/")[2].lower() for path in known}
    slots = {slot for _, node in record.walk() for slot in (*node.slots, *node.rules, *node.held)}
    for key, value in act.parts:
        if (key, value) in named or value.lower() in said:
            continue
        if key == "node":
            name = value.rpartition("/")[2].lower()
            if value not in known and name not in said and name not in UNNAMED and act.kind in ("new", "add", "set"):
                yield f"{value!r} is new, and nobody says its name: add <words>"
        elif key == "slot" and value not in SLOTS | slots:
            yield f"nobody says {value!r}: name the slot by words of the turn, or add <words>"
        elif key == "value" and act.kind in ("add", "set", "assign", "rule", "replace", "rename", "offer"):
            if act.kind not in ("offer",) and value.lower() not in names:
                yield f"nobody says {value!r}: add <words>"
        elif key == "into" and value.rpartition("/")[2].lower() not in said:
            yield f"nobody says {value!r}: add <words>"


def shown(scenario: Scenario) -> Iterator[str]:
    """The turns of a scenario, each with what is on record behind it."""
    record = Record()
    for turn in scenario.turns:
        record.turn([(act.kind, act.parts) for act in turn.acts])
        yield f"{turn.speaker}: {turn.text}"
        for *line, condition in record.lines():
            yield f"    {' | '.join((*line, f'if={condition}') if condition else line)}"


def main() -> None:
    """Check and count."""
    parser = argparse.ArgumentParser(description="Check files of task turns.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--record", action="store_true", help="carry out the acts and compare the end")
    parser.add_argument("--show", help="tell what is on record after each turn of this scenario")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    wrong = []
    for path in args.files:
        try:
            found = read_scenarios(path)
        except CorpusError as exc:
            wrong.append(str(exc))
            continue
        for one in found:
            if args.show == one.id:
                print("\n".join(shown(one)))
            if args.record:
                wrong += wrong_in(one)
            counts.update(scenarios=1, turns=len(one.turns), values=len(one.state))
            counts.update(idle=sum(not turn.acts for turn in one.turns))
            kinds.update(act.kind for turn in one.turns for act in turn.acts)
    print("\n".join((*wrong, f"{dict(counts)}; {dict(kinds.most_common())}")))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
