"""events: a row of the log -> what it does to the state.

A class for each kind, with its own fields: `apply` brings a state one event further, `body` and `from_row` are its data
in the row that keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping

from doxa.backends.store import Row
from doxa.core.values import Turn
from doxa.memory.events.base import Event, Revision, TaskEvent
from doxa.memory.events.records import Annotated, Demoted, FeedbackGiven, Promoted, SetAside, Tasked
from doxa.memory.events.revisions import (
    BY_CLAIMS,
    Accepted,
    Distrusted,
    Identified,
    Maintained,
    Retracted,
    Undone,
    Withdrawal,
    Withdrawn,
)

__all__ = [
    "BY_CLAIMS",
    "EVENTS",
    "Accepted",
    "Annotated",
    "Demoted",
    "Distrusted",
    "Event",
    "FeedbackGiven",
    "Identified",
    "Maintained",
    "Promoted",
    "Retracted",
    "Revision",
    "SetAside",
    "TaskEvent",
    "Tasked",
    "Undone",
    "Withdrawal",
    "Withdrawn",
    "event_of",
]

EVENTS: Mapping[str, type[Event]] = {
    one.kind: one
    for one in (
        *(Maintained, Withdrawn, Distrusted, Retracted, Identified, Accepted, Undone),
        *(FeedbackGiven, Promoted, Demoted, Tasked, Annotated, SetAside),
    )
}
"""The events by their kinds. Other rows are turns, and the marks of what was erased, which do nothing."""


def event_of(row: Row, turn: Turn | None = None) -> Event:
    """Return the event of a stored row; `turn` is the one that the row is about."""
    return EVENTS[row.kind].from_row(row, turn)
