"""What a query says: its words, whom and which days it names, and from when it is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Turn
from doxa.memory import UserState, microseconds
from doxa.recall.cues import read_cues, rephrase
from doxa.recall.times import Days, read_days

__all__ = ["Query", "read_query"]

PAST = re.compile(
    r"\b(?:used to|did .{1,40} (?:use to|ever)|previous(?:ly)?|former(?:ly)?|originally|at first|back then|"
    r"in the past|earlier|before|no longer|any ?more)\b",
    re.IGNORECASE,
)
"""Words by which a query asks for what was so once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query as search understands it. Every field but the text may be left at its default."""

    text: str
    """What is asked, as it was asked."""
    wording: str = ""
    """What is encoded in place of the text (`rephrase`); empty is the text."""
    vector: NDArray[np.float32] | None = field(default=None, compare=False)
    """The encoded wording, `(dims,)` of unit length; None searches without meaning."""
    terms: tuple[str, ...] = ()
    """Stems of the content words, each once, without the names of speakers."""
    expansions: tuple[tuple[str, float], ...] = ()
    """Stems that stand for what is meant, each with a weight of 0 to 1; none of them is among the terms."""
    speakers: frozenset[str] = frozenset()
    """The speakers that it names."""
    own: bool = False
    """The asker speaks of themselves."""
    addressed: bool = False
    """The asker speaks to the assistant of what it said."""
    days: Days | None = None
    """The days that it names."""
    today: date | None = None
    """The day from which "last week" counts."""
    session: str | None = None
    """Only turns of this session are searched."""
    as_of: date | None = None
    """The day of the world that is asked about."""
    known_at: datetime | None = None
    """Only turns until this moment are searched."""
    historical: bool = False
    """It asks for what was so once ("used to", "before"): what was superseded is evidence too."""
    entities: tuple[str, ...] = ()
    """Labels of the people and things in it that beliefs are about."""
    concepts: tuple[tuple[str, float], ...] = ()
    """What it is about in kind ("food"), each with a weight of 0 to 1."""
    seeks: frozenset[str] = frozenset()
    """What kind of thing answers it: "preference", "person", "place", "time", "count"."""

    @property
    def past(self) -> bool:
        """Whether it asks about another time than now."""
        return self.historical or self.as_of is not None or self.known_at is not None or self.days is not None


def read_query(
    text: str,
    state: UserState,
    *,
    recent: Sequence[Turn] = (),
    at: datetime | None = None,
    session: str | None = None,
    as_of: date | None = None,
    known_at: datetime | None = None,
) -> Query:
    """Return what a query says; the vector is left to be filled in by whoever has an encoder.

    Args:
        text: what is asked.
        state: the memory of one user.
        recent: the turns before it in the running dialogue, oldest first.
        at: when it is asked ("last week" counts from here); by default at `known_at` or the latest turn.
        session: search only the turns of this session.
        as_of: a day of the world that is asked about; "last week" counts from here instead.
        known_at: leave out turns after this moment.

    Deterministic. Cost O(words of the query + speakers).
    """
    # Asked about an earlier state of knowledge, "last week" is the week before that.
    asked = min((moment for moment in (at, known_at) if moment), key=microseconds, default=state.now())
    today = as_of or (asked or datetime.now(UTC)).date()
    cues = read_cues(text, state.columns.speakers)
    return Query(
        text=text,
        wording=rephrase(text, state),
        terms=cues.terms,
        speakers=cues.speakers,
        own=cues.own,
        addressed=cues.addressed,
        days=read_days(text, today),
        today=today,
        session=session,
        as_of=as_of,
        known_at=known_at,
        historical=PAST.search(text) is not None,
    )
