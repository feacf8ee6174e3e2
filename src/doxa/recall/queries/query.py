"""What a query says: its words, whom and which days it names, and what it leaves to the running dialogue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends.lexicon import Lexicon
from doxa.core.values import Turn
from doxa.memory import UserState, microseconds
from doxa.recall.concepts.concepts import concepts_of
from doxa.recall.queries.cues import SELF, read_cues, rephrase
from doxa.recall.queries.enrich import Meant, meaning_of
from doxa.recall.queries.entities import aliases, entities_of
from doxa.recall.queries.events import Event, event_of
from doxa.recall.queries.expectation import framing, seeks
from doxa.recall.queries.prompted import Rewriting, meant_by
from doxa.recall.queries.sessions import named_session
from doxa.recall.queries.times import Days, read_days

__all__ = ["Query", "advised", "encoded", "enriched", "read_query"]

PAST = re.compile(
    r"\b(?:used to|did .{1,40} (?:use to|ever)|previous(?:ly)?|former(?:ly)?|originally|at first|back then|"
    r"in the past|earlier|before|no longer|any ?more)\b",
    re.IGNORECASE,
)
"""Words by which a query asks for what was so once."""
ALIAS = 0.3
"""Weight of another name of what the query names."""
FRAME = 0.2
"""Weight of a word that says how something is asked."""
PAST_TENSE = re.compile(
    r"\b(?:did|was|were|had|said|told|spoke|went|gave|saw|made|bought|ate|got|took|[a-z]{3,}ed)\b", re.IGNORECASE
)
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
    rewriting: Rewriting | None = None,
    asker: str = "",
    asked_in: str = "",
    at: datetime | None = None,
    session: str | None = None,
    as_of: date | None = None,
    known_at: datetime | None = None,
) -> Query:
    """Return what a query says; the vector is left to be filled in by whoever has an encoder (`encoded`).

    Args:
        text: what is asked.
        state: the memory of one user.
        recent: the turns before it in the running dialogue, oldest first.
        rewriting: what a language model made of it; None, or one that failed, for the built-in way.
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
    rewritten = rewriting if rewriting is not None and not rewriting.failed else None
    meant = meant_by(text, rewritten) if rewritten else meaning_of(text, recent, state, asker=asker)
    event = event_of(text, state, today)
    sought = _seeks(text, meant, state) | (rewritten.seeks if rewritten else frozenset())
    read = replace(
        _worded(text, meant, state, asker),
        seeks=sought,
        days=_days(text, meant, state, today, asked_in or (recent[-1].session if recent else ""), event),
        historical=PAST.search(text) is not None or (event is not None and event.side == "before"),
        today=today,
        session=session,
        as_of=as_of,
        known_at=known_at,
    )
    return advised(read) if "preference" in sought else read


def advised(query: Query) -> Query:
    """Return a query as one by which advice is wanted, so that what the asker likes decides.

    The asker's own turns count, not what the assistant said; the words by which advice is asked for weigh little; and a
    time that is named is the one to plan for ("this weekend"), unless the query speaks of the past.
    """
    terms, framed = _weighed(query.terms, advice=True)
    known = dict(query.expansions)
    return replace(
        query,
        seeks=query.seeks | {"preference"},
        own=True,
        addressed=False,
        terms=terms,
        expansions=tuple((framed | known).items()),
        days=query.days if PAST_TENSE.search(query.text) else None,
    )


def _worded(text: str, meant: Meant, state: UserState, asker: str) -> Query:
    """Return what the words of a query say, of the query itself and of what it means."""
    cues, implied = read_cues(text, state.columns.speakers), read_cues(meant.text, state.columns.speakers)
    terms, framed = _weighed(cues.terms, advice=False)
    entities = entities_of(meant.wording, state, asker=asker)
    others = {stem: ALIAS for names in aliases(entities, text, state).values() for stem in names}
    left = framed | others | meant.expansions
    return Query(
        text=text,
        wording=rephrase(meant.wording, state),
        terms=terms,
        expansions=tuple((stem, weight) for stem, weight in left.items() if stem not in terms),
        speakers=cues.speakers or implied.speakers,
        own=implied.own,
        addressed=cues.addressed,
        entities=tuple(_label(key, state) for key in entities),
    )


def encoded(query: Query, vector: NDArray[np.float32], *, encoder: str, lexicon: Lexicon | None = None) -> Query:
    """Return a query with its vector, and what it is about in kind.

    Args:
        query: what was read.
        vector: its encoded wording, `(dims,) float32` of unit length.
        encoder: the name of what made the vector.
        lexicon: where hypernyms are looked up, if at all.
    """
    return replace(query, vector=vector, concepts=concepts_of(query.wording, vector, encoder=encoder, lexicon=lexicon))


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


def _seeks(text: str, meant: Meant, state: UserState) -> frozenset[str]:
    """Return what kind of thing answers a query; advice is wanted by the asker, not by somebody who is named."""
    wanted = seeks(text) or seeks(meant.text)
    about_others = not SELF.search(meant.text) and bool(read_cues(meant.text, state.columns.speakers).speakers)
    return wanted - {"preference"} if about_others else wanted


def _weighed(terms: tuple[str, ...], *, advice: bool) -> tuple[tuple[str, ...], dict[str, float]]:
    """Return the stems that say what is asked, and those that only say how, with their weight."""
    frame = framing(advice=advice)
    kept = tuple(term for term in terms if term not in frame)
    return (kept, {term: FRAME for term in terms if term in frame}) if kept else (terms, {})


def _label(key: str, state: UserState) -> str:
    seen = state.beliefs.identity.seen.get(key)
    return seen.term.label if seen is not None else key


def _days(text: str, meant: Meant, state: UserState, today: date, asked_in: str, event: Event | None) -> Days | None:
    """Return the days that a query names: as a session, by their date, by an event, or as what was spoken of before."""
    named = named_session(text, state, asked_in) or read_days(text, today)
    if named is None and event is not None:
        return event.days
    return named or (read_days(meant.time, today) if meant.time else None)
