"""A stretch of days -> what is known to be on then: facts, tasks, and the words of turns that name one of the days."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from dateutil.relativedelta import relativedelta

from doxa.core.tasks import ValueKind
from doxa.core.values import Draft, Interval, Turn
from doxa.engine.asked import Asked
from doxa.language.times import find_times
from doxa.memory import UserState
from doxa.reason import citation_of, quoted, sentence_of

__all__ = ["agenda"]

AHEAD = 7
"""Days that an agenda looks ahead where no time is named."""
MOST = 10
"""Entries of an agenda, the earliest."""
LATEST = 300
"""Turns in which days are looked for, the latest."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that is on: the day, how it is told, and the turn that says so."""

    day: date
    text: str
    turn_id: str


def agenda(asked: Asked, state: UserState) -> Draft:
    """Return what is known to be on in the days that a message names, else in the next ones.

    What neither a firm fact nor a task holds is quoted, where a turn names one of the days.
    Cost O(facts + tasks + `LATEST` turns).
    """
    first, last = _days(asked.text, asked.at)
    found = [one for one in (*_facts(state), *_tasks(state)) if first <= one.day <= last]
    told = {entry.turn_id for entry in found} | {asked.turn_id}
    named = (one for one in _named(state, asked.speaker) if first <= one.day <= last and one.turn_id not in told)
    entries = sorted((*found, *named), key=lambda entry: entry.day)[:MOST]
    days = f"on {_written(first)}" if first == last else f"from {_written(first)} to {_written(last)}"
    if not entries:
        return Draft(text=f"I know of nothing {days}.", confidence=1.0, abstained=True)
    turns = (turn for key in dict.fromkeys(entry.turn_id for entry in entries) if (turn := state.turn(key)) is not None)
    return Draft(
        text=f"What I know of, {days}: " + " ".join(f"{_written(one.day)}: {one.text}" for one in entries),
        citations=tuple(citation_of(turn) for turn in turns),
        confidence=1.0,
    )


def _days(text: str, at: datetime) -> tuple[date, date]:
    """Return the first and the last day that a message names, else the next ones; none that is over."""
    today = at.date()
    named = next((span.valid for span in find_times(text, at, past=False) if span.kind in ("point", "range")), None)
    if named is None or named.start is None:
        return today, today + timedelta(days=AHEAD)
    if named.start != named.end:
        last = named.end - timedelta(days=1) if named.end else named.start + timedelta(days=AHEAD)
    else:
        length = {"month": relativedelta(day=31), "year": relativedelta(month=12, day=31)}
        last = named.start + length.get(named.start_precision, relativedelta())
    first = max(named.start, today)
    return first, max(first, last)


def _facts(state: UserState) -> Iterator[Entry]:
    """Yield what is believed of single days."""
    for fact in state.beliefs.select(now=state.today()):
        if fact.valid.start is not None and fact.valid.start_precision == "day" and fact.turn_ids:
            yield Entry(fact.valid.start, sentence_of(fact), fact.turn_ids[-1])


def _tasks(state: UserState) -> Iterator[Entry]:
    """Yield the days of tasks, each with all that is known of its task."""
    set_by = {edit.node_id: commit.turn_id for commit in state.tasks.commits for edit in commit.edits}
    views = state.tasks.snapshot().nodes
    for view in views:
        value = view.node.value
        if value is None or value.kind is not ValueKind.DATE or not value.amount or value.amount < 7:  # a bare weekday
            continue
        task = view.path.rpartition("/")[0]
        told = ", ".join(
            f"{one.node.name} {one.value}" for one in views if one.path.startswith(f"{task}/") and one.value
        )
        yield Entry(date.fromordinal(int(value.amount)), f"{task} ({told}).", set_by.get(view.node.node_id) or "")


def _named(state: UserState, asker: str) -> Iterator[Entry]:
    """Yield turns with the first later day that they name."""
    for ordinal in sorted(state.turns)[-LATEST:]:
        turn = state.turns[ordinal]
        if turn.generated or turn.turn_id in state.withdrawn:
            continue
        days = _later(turn)
        if days:
            yield Entry(min(days), quoted(turn, asker), turn.turn_id)


def _later(turn: Turn) -> set[date]:
    """Return the days after its own that a turn names."""
    times = (span.valid for span in find_times(turn.text, turn.at) if span.valid.start_precision == "day")
    return {valid.start for valid in times if valid.start is not None and valid.start > turn.at.date()}


def _written(day: date) -> str:
    return Interval.format(day, "day")
