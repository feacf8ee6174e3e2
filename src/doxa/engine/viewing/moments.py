"""A memory as it was known at a moment, and what held on a day."""

from __future__ import annotations

from datetime import UTC, date, datetime

from doxa.core.views import (
    Differences,
    Standpoint,
    Timeline,
)
from doxa.engine.intake import read_day, read_end, require_positive
from doxa.engine.viewing.chronicle import chronicle_of
from doxa.engine.viewing.index import ViewIndex
from doxa.engine.viewing.looking import Looking, subject_of
from doxa.engine.viewing.order import read_cursor
from doxa.engine.viewing.timeline import Asked, differences, timeline
from doxa.memory import UserState, microseconds

__all__ = ["Moments"]

MOST = 2**63 - 1
"""The largest place that a column of numbers holds."""


class Moments(Looking):
    """What was true when, and known when."""

    def standpoint(self, known: str = "", true: str = "") -> Standpoint:
        """Return from where facts are looked at.

        Args:
            known: an ISO moment; a bare day, month or year means all of it. Empty for now.
            true: an ISO day of the world. Empty for the day of the latest turn, which is today for a memory.

        Raises:
            InputError: one of them cannot be read.
        """
        moment = read_end(known, what="known") if known else None
        if true:
            return Standpoint(known=moment, true=read_day(true, what="true"))
        with self._parts.log.user(self.user) as state:
            return Standpoint(known=moment, true=state.today() or datetime.now(UTC).date())

    def timeline(
        self, at: Standpoint, *, of: str = "", holding: bool = False, after: str = "", limit: int = 40
    ) -> Timeline:
        """Return the facts that were known at a moment, as they stood then, and which of them held on a day.

        Args:
            at: the moment of knowledge and the day of the world.
            of: the key or a name of a person or thing; empty for everything.
            holding: only what was believed to hold on that day.
            after: `next` of the page before.
            limit: how many at most.

        Raises:
            NotFoundError: no fact is about anybody of that name.
            InputError: `after` is no such text, or `limit` is not positive.

        Cost: a few passes over columns of numbers, one for each change of what it is about.
        """
        require_positive(limit, "timeline: limit")
        with self._indexed() as (state, index):
            asked = self._asked(of, after, limit, state, index)
            return timeline(asked, at, chronicle_of(state), state.beliefs.changes, holding=holding)

    def differences(
        self, first: Standpoint, second: Standpoint, *, of: str = "", after: str = "", limit: int = 40
    ) -> Differences:
        """Return what was believed to hold at one of two standpoints, and not or otherwise at the other.

        Args:
            first: the one before.
            second: the one after. Where less was known there, the two change places.
            of: the key or a name of a person or thing; empty for everything.
            after: `next` of the page before.
            limit: how many at most.

        Raises:
            NotFoundError: no fact is about anybody of that name.
            InputError: `after` is no such text, or `limit` is not positive.

        Cost: as for `timeline`.
        """
        require_positive(limit, "differences: limit")
        first, second = sorted((first, second), key=_place_in_time)
        with self._indexed() as (state, index):
            asked = self._asked(of, after, limit, state, index)
            return differences(asked, first, second, chronicle_of(state), state.beliefs.changes)

    def _asked(self, of: str, after: str, limit: int, state: UserState, index: ViewIndex) -> Asked:
        """Return what a page of facts in time is asked for."""
        cursor = read_cursor(after, int)
        place = None if cursor is None else min(max(cursor[0], -1), MOST)
        if not of:
            return Asked(after=place, limit=limit, today=state.today())
        entry = self._entry(of, state.beliefs, index)
        subject, keys = subject_of(entry, state.beliefs), index.names(entry.key)
        return Asked(subject=subject, keys=keys, after=place, limit=limit, today=state.today())


def _place_in_time(at: Standpoint) -> tuple[bool, float, date]:
    return at.known is None, 0 if at.known is None else microseconds(at.known), at.true
