"""SMCalFlow: user turns that revise a call that makes or changes an event, by `ReviseConstraint` of their program.

The new values are read from the program: strings, names, times of day, days and lengths that stand under a slot of
`Event` in the revised constraint, as equalities. Left out, and counted, are

- revisions of a query ("what about November?"), which leave every event as it is;
- programs with no such value: shifts ("an hour later"), comparisons, references, ranges, removals;
- values that the user does not say in that turn, by the normal form or as the same time;
- values that the slot had before.

The old value of a slot is the last one in the programs since the event was first asked for. A further guest or another
slot of the event has no old value: then only the new one is looked for.

Source: Andreas et al. 2020, "Task-Oriented Dialogue as Dataflow Synthesis".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from doxa.language.times import MONTHS
from doxa_bench.gold import read_entries
from doxa_bench.tasks.revised import RevisedDialogue, Revision, UserTurn, agrees, time_keys
from doxa_bench.tasks.values import contains

__all__ = ["program", "read_smcalflow", "values_in"]

DAY = datetime(2019, 8, 5)  # noqa: DTZ001 - the data has no days; any one reads both sides alike
LEXEME = re.compile(r'"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+')
NAMED_DAYS = frozenset("Monday Tuesday Wednesday Thursday Friday Saturday Sunday Today Tomorrow".split())
STRINGS = frozenset(["PersonName.apply", "LocationKeyphrase.apply"])
LENGTHS = {"toMinutes": "minutes", "toHours": "hours", "toDays": "days", "toWeeks": "weeks"}
SKIPPED = re.compile(r"adjustBy|addDurations|negate|Excludes|\?[<>]|\?~?!|Find|TimeAround|During|Range|Before|After")
"""Heads under which a value is no equality, or not that of the slot."""
EVENT_SLOT = re.compile(r"Event\.(\w+?)_\?")
MAKES, ASKS = ("CreateCommitEvent", "CreatePreflight", "UpdateCommitEvent", "UpdateEventWrapper"), ("Find", "Query")
Tree = str | list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    id: str
    entry: Mapping[str, Any]


def read_smcalflow(path: Path) -> tuple[list[RevisedDialogue], Counter[str]]:
    """Return the dialogues with revisions, and how many revising turns were left out, by reason.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such dialogue.
    """
    left: Counter[str] = Counter()
    lines = read_entries(path, lambda entry: _Line(id=str(entry["dialogue_id"]), entry=_checked(entry)))
    read = [(line.id, *_read(line.entry, left)) for line in lines]
    known: defaultdict[str, set[str]] = defaultdict(set)
    for _, _, revisions in read:
        for one in revisions:
            known[one.slot].update((*one.new, *one.old))
    values = {slot: frozenset(forms) for slot, forms in known.items()}
    dialogues = [
        RevisedDialogue(
            id=id, turns=turns[: max(one.turn for one in found) + 1], revisions=tuple(found), day=DAY, known=values
        )
        for id, turns, found in read
        if found
    ]
    return dialogues, left


def _checked(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    for turn in entry["turns"]:
        if not isinstance(turn["lispress"], str) or not isinstance(turn["user_utterance"]["original_text"], str):
            raise ValueError("a turn whose program or utterance is no text")
        program(turn["lispress"])
    return entry


def _read(entry: Mapping[str, Any], left: Counter[str]) -> tuple[tuple[UserTurn, ...], list[Revision]]:
    turns: list[UserTurn] = []
    revisions: list[Revision] = []
    before, makes, current = "", False, dict[str, tuple[str, ...]]()
    for number, turn in enumerate(entry["turns"]):
        text, lispress = turn["user_utterance"]["original_text"], turn["lispress"]
        turns.append(UserTurn(text=text, said_before=before))
        before = (turn.get("agent_utterance") or {}).get("original_text", "")
        tree = program(lispress)
        if "ReviseConstraint" not in lispress:
            if any(head in lispress for head in (*MAKES, *ASKS)):
                makes = any(head in lispress for head in MAKES)
                current = dict(values_in(tree))
            continue
        values = [pair for one in _constraints(tree) for pair in values_in(one)]
        if not makes:
            left["of a query"] += 1
            continue
        revisions += _revisions(number, text, values, current, left)
        if not values:
            left["no value in the program"] += 1
        current |= dict(values)
    return tuple(turns), revisions


def _revisions(
    number: int,
    text: str,
    values: Iterable[tuple[str, tuple[str, ...]]],
    current: Mapping[str, tuple[str, ...]],
    left: Counter[str],
) -> Iterator[Revision]:
    for slot, forms in values:
        adds = slot == "attendees"
        old = () if adds else current.get(slot, ())
        if not any(_says(text, form) for form in forms):
            left["value not said in the turn"] += 1
        elif any(agrees(form, one, DAY) for form in forms for one in old):
            left["value as before"] += 1
        else:
            yield Revision(turn=number, slot=slot, new=forms, old=old, adds=adds)


def _says(text: str, value: str) -> bool:
    keys = time_keys(value, DAY)
    return contains(text, value) or bool(keys and keys <= time_keys(text, DAY))


def program(text: str) -> Tree:
    """Return a program in Lispress as nested lists; strings keep their quotation marks.

    Raises:
        ValueError: its parentheses do not match.
    """
    stack: list[list[Any]] = [[]]
    for lexeme in LEXEME.findall(text):
        if lexeme == "(":
            stack.append([])
        elif lexeme != ")":
            stack[-1].append(lexeme)
        elif len(stack) > 1:
            done = stack.pop()
            stack[-1].append(done)
        else:
            raise ValueError(f"a program that closes more than it opens: {text[:80]!r}")
    if len(stack) > 1:
        raise ValueError(f"a program that opens more than it closes: {text[:80]!r}")
    return stack[0]


def _constraints(tree: Tree) -> Iterator[Tree]:
    """Yield the new constraint of every revision: its last argument."""
    if isinstance(tree, list):
        if tree and tree[0] == "ReviseConstraint":
            yield tree[-1]
        for one in tree:
            yield from _constraints(one)


def values_in(tree: Tree, slot: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield slot and forms of every value that a constraint sets."""
    if not isinstance(tree, list) or not tree:
        return
    head = tree[0] if isinstance(tree[0], str) else ""
    if SKIPPED.search(head) or (head == "refer" and slot != "attendees"):
        return
    if named := EVENT_SLOT.fullmatch(head):
        slot = named[1]
    elif head == "EventOnDate":
        slot = "start"
    if slot and (found := _value(tree, slot)):
        yield found
        return
    for one in tree[1:] if head else tree:
        yield from values_in(one, slot)


def _value(tree: list[Any], slot: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the slot and the forms of a value, if this is one."""
    head, texts = tree[0], [one for one in tree[1:] if isinstance(one, str)]
    if head in STRINGS or (head in ("?=", "?~=") and texts and texts[0].startswith('"')):
        return (slot, (texts[0].strip('"'),)) if texts and texts[0].startswith('"') else None
    numbers = [int(text.rstrip("L")) for text in texts if text.rstrip("L").isdigit()]
    if clock := _clock(head, numbers):
        return f"{slot} time", clock
    if head in NAMED_DAYS:
        return f"{slot} date", (head,)
    if head in ("MD", "MDY") and numbers:
        month = next(
            (one[0] for one in tree[1:] if isinstance(one, list) and one and str(one[0]).lower() in MONTHS), None
        )
        return (f"{slot} date", (f"{month} {numbers[0]}", f"the {numbers[0]}th")) if month else None
    if head in LENGTHS and numbers:
        unit = LENGTHS[head] if numbers[0] != 1 else LENGTHS[head].removesuffix("s")
        return slot, (f"{numbers[0]} {unit}",)
    return None


def _clock(head: str, numbers: list[int]) -> tuple[str, ...]:
    """Return the forms of a time of day; a full hour may be said without "pm"."""
    if head in ("Noon", "Midnight"):
        return (head.lower(),)
    minute = numbers[1] if len(numbers) > 1 else 0
    if not numbers or not head.startswith(("NumberPM", "NumberAM", "HourMinute", "HourMilitary")) or minute > 59:
        return ()
    hour = numbers[0] % 24
    half = "" if "Military" in head else " pm" if head.lower().endswith("pm") else " am"
    short = f"{hour}:{minute:02d}"
    bare = (str(hour),) if not minute else ()
    return f"{short}{half}", short, *bare
