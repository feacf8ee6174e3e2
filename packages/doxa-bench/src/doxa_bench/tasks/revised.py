"""Turns of a user that revise a value, and how it is told whether a memory holds the new one.

A revision counts as right when, after its turn,

1. some slot of the memory holds the new value, and
2. none holds the old one, unless another slot of the gold state has that value.

Slots are not matched by name: what a memory calls them is its own affair, and a value under two names, old and new, is
caught by 2. A held value agrees with a gold one when its normal form (`values`) has all words of it, one next to the
other, and at most two more ("2 tickets" for "2"), or when both name the same time of day (of the 12-hour form), day or
length (`doxa.language.times`, on the day of the dialogue). Values without a slot, such as whole turns, do not agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Literal

from doxa.language.times import Amount, Clock, Period, read_times
from doxa_bench.tasks.slots import each
from doxa_bench.tasks.values import State, contains, is_empty, tokens

__all__ = ["Outcome", "RevisedDialogue", "Revision", "UserTurn", "agrees", "judge", "recent", "time_keys"]

Outcome = Literal["right", "lost", "kept"]
"""Right; the new value is nowhere; or it is held, and the old one still is too."""
TimeKey = tuple[object, ...]
MORE_WORDS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """What the user says, and what the assistant said just before."""

    text: str
    said_before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A change of one slot by one turn. Of each value, all forms that the data has."""

    turn: int
    """The place of the user turn among those of the dialogue, from 0."""
    slot: str
    new: tuple[str, ...]
    old: tuple[str, ...] = ()
    """Empty where there was none, and where another slot has the same value."""
    adds: bool = False
    """Whether the value is one more of a set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisedDialogue:
    """A dialogue with at least one revision."""

    id: str
    turns: tuple[UserTurn, ...]
    """All of them, or up to the last one that revises where nothing is asked of the end."""
    revisions: tuple[Revision, ...]
    day: datetime
    """The day on which it is held, as far as the data has one; relative days are read on it."""
    final: tuple[Revision, ...] = ()
    """The revised slots as they are after the last turn, where the data tells."""
    known: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Slot -> all values that the data has of it anywhere: what the baseline looks for."""


@lru_cache(maxsize=65536)
def time_keys(text: str, day: datetime) -> frozenset[TimeKey]:
    """Return the times of day, days and lengths of time that a text names."""
    found: set[TimeKey] = set()
    for one in read_times(text, day, past=False):
        found |= set(_keys(one.value))
    return frozenset(found)


def _keys(value: object) -> list[TimeKey]:
    match value:
        case Clock():
            return [("clock", value.hour % 12, value.minute)]
        case Amount():
            return [("amount", value.parts)]
        case Period(grain="day"):
            return [("day", value.start.date())]
        case Period(grain="instant", clocked=Clock()):
            return [("day", value.start.date()), *_keys(value.clocked)]
        case Period(grain="instant"):
            return [("day", value.start.date()), ("clock", value.start.hour % 12, value.start.minute)]
        case _:
            return []


def agrees(gold: str, held: str, day: datetime) -> bool:
    """Tell whether a held value is a gold one."""
    wanted, words = tokens(gold), tokens(held)
    short = 0 < len(wanted) <= len(words) <= len(wanted) + MORE_WORDS
    if short and any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1)):
        return True
    keys = time_keys(gold, day)
    return bool(keys) and keys <= time_keys(held, day)


def judge(revision: Revision, state: State, day: datetime) -> Outcome:
    """Return what became of a revision in a state. Cost O(values x forms)."""
    held = [str(one) for value in state.values() if not is_empty(value) for one in each(value)]
    if not _any_agrees(revision.new, held, day):
        return "lost"
    stale = [form for form in revision.old if not _any_agrees(revision.new, [form], day)]
    return "kept" if _any_agrees(stale, held, day) else "right"


def _any_agrees(forms: Iterable[str], held: Sequence[str], day: datetime) -> bool:
    return any(agrees(form, one, day) for form in forms for one in held)


def recent(dialogue: RevisedDialogue, revision: Revision) -> Outcome:
    """Return what the most recent mention makes of a revision.

    The baseline is told which slot is asked for and all values that this slot takes anywhere in the data, the right one
    among them; a slot of times takes any time of the same kind. It takes the value mentioned last, by either side, up
    to the turn; what adds to a set is right once it is mentioned. It holds one value a slot, so it never keeps an old
    one beside the new.
    """
    said = [text for turn in dialogue.turns[: revision.turn + 1] for text in (turn.said_before, turn.text)]
    if revision.adds:
        return "right" if any(contains(text, form) for text in said for form in revision.new) else "lost"
    kinds = {key[0] for form in revision.new for key in time_keys(form, dialogue.day)}
    for text in reversed(said):
        mention = _last_time(text, kinds, dialogue.day) if kinds else ""
        mention = mention or _last_known(text, dialogue.known.get(revision.slot, frozenset()))
        if mention:
            return "right" if _any_agrees(revision.new, [mention], dialogue.day) else "lost"
    return "lost"


def _last_time(text: str, kinds: set[object], day: datetime) -> str:
    fits = [one.text for one in read_times(text, day, past=False) if {key[0] for key in _keys(one.value)} & kinds]
    return fits[-1] if fits else ""


def _last_known(text: str, known: Iterable[str]) -> str:
    """Return the known value that ends last in a text, of several the longest."""
    words, found = tokens(text), (0, 0, "")
    for value in known:
        wanted = tokens(value)
        ends = [at for at in range(len(wanted), len(words) + 1) if words[at - len(wanted) : at] == wanted]
        if wanted and ends:
            found = max(found, (ends[-1], len(wanted), value))
    return found[2]
