"""A question, as the engine takes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from doxa.core.values import Turn

__all__ = ["Asked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of the memory, by whom, and of which time."""

    user: str
    text: str
    speaker: str
    agent: str
    session: str
    at: datetime
    as_of: date | None = None
    known_at: datetime | None = None
    turn_id: str | None = None
    """The turn that asks, when it is remembered; its own changes are reported with the answer."""
    said: tuple[Turn, ...] = ()
    """What was asked and answered in this dialogue without being remembered, oldest first."""
