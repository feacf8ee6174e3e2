"""What a query says: its words, whom and which days it names, and what it leaves to the running dialogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Turn
from doxa.memory import UserState, microseconds
from doxa.recall.cues import read_cues, rephrase
from doxa.recall.enrich import Meant, meaning_of
from doxa.recall.expectation import seeks
from doxa.recall.sessions import named_session
from doxa.recall.times import Days, read_days

__all__ = ["Query", "enriched", "read_query"]

PAST = re.compile(
    r"\b(?:used to|did .{1,40} (?:use to|ever)|previous(?:ly)?|former(?:ly)?|originally|at first|back then|"
    r"in the past|earlier|before|no longer|any ?more)\b",
    re.IGNORECASE,
)
"""Words by which a query asks for what was so once."""
SHOWN = 12
"""Expansions that a trace shows: the heaviest."""


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
    said_by: str | None = None
    """Only turns of this speaker are searched."""
    since: datetime | None = None
    """Only turns from this moment on are searched."""
    until: datetime | None = None
    """Only turns until this moment are searched."""
    as_of: date | None = None
    """The day of the world that is asked about."""
    known_at: datetime | None = None
    """Only turns until this moment are searched, as the memory was then."""
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
    asker: str = "",
    asked_in: str = "",
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
        asker: whose "I" it is.
        asked_in: the session in which it is asked; "our last session" is the one before.
        at: when it is asked ("last week" counts from here); by default at `known_at` or the latest turn.
        session: search only the turns of this session.
        as_of: a day of the world that is asked about; "last week" counts from here instead.
        known_at: leave out turns after this moment.

    Deterministic. Cost O(words of the query and of the latest turns + speakers).
    """
    # Asked about an earlier state of knowledge, "last week" is the week before that.
    asked = min((moment for moment in (at, known_at) if moment), key=microseconds, default=state.now())
    today = as_of or (asked or datetime.now(UTC)).date()
    meant = meaning_of(text, recent, state, asker=asker)
    cues, implied = read_cues(text, state.columns.speakers), read_cues(meant.text, state.columns.speakers)
    return Query(
        text=text,
        wording=rephrase(meant.wording, state),
        terms=cues.terms,
        expansions=_expansions(meant, cues.terms),
        speakers=cues.speakers or implied.speakers,
        own=implied.own,
        addressed=cues.addressed,
        days=_days(text, meant, state, today, asked_in or (recent[-1].session if recent else "")),
        today=today,
        session=session,
        as_of=as_of,
        known_at=known_at,
        historical=PAST.search(text) is not None,
        seeks=seeks(text) or seeks(meant.text),
    )


def enriched(query: Query) -> dict[str, Any]:
    """Return what was made of a query, for a trace; what is empty is left out."""
    heaviest = sorted(query.expansions, key=lambda one: -one[1])[:SHOWN]
    found = {
        "wording": query.wording,
        "terms": " ".join(query.terms),
        "expansions": ", ".join(f"{stem} {weight:g}" for stem, weight in heaviest),
        "days": f"{query.days.first} to {query.days.last}" if query.days else "",
        "seeks": ", ".join(sorted(query.seeks)),
        "entities": ", ".join(query.entities),
        "concepts": ", ".join(f"{name} {weight:g}" for name, weight in query.concepts),
        "historical": query.historical,
    }
    return {name: value for name, value in found.items() if value}


def _expansions(meant: Meant, terms: Sequence[str]) -> tuple[tuple[str, float], ...]:
    return tuple((stem, weight) for stem, weight in meant.expansions.items() if stem not in terms)


def _days(text: str, meant: Meant, state: UserState, today: date, asked_in: str) -> Days | None:
    """Return the days that a query names: by their date, as a session, or as the time that was spoken of before."""
    session = named_session(text, state, asked_in)
    return session or read_days(text, today) or (read_days(meant.time, today) if meant.time else None)
