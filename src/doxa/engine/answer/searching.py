"""What callers give with a query -> values: what was just said, and which turns alone are searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from doxa.core.errors import InputError
from doxa.core.values import EARLIEST, Turn
from doxa.engine.intake import MOST_SAID, Moment, clean, read_end, read_moment, require_text

if TYPE_CHECKING:
    from doxa.engine.wiring.parts import Parts
    from doxa.recall import Query

__all__ = ["Asides", "Before", "Within", "drawing", "drawn_on", "read_recent", "read_within"]

MACHINES = frozenset(["assistant", "system", "tool"])
"""Speakers that are called by their role."""
ASIDES = 8
"""Turns that are kept of what was asked without being remembered."""
DRAWN = "memories"
"""Where such a turn has the shared memories that it draws on, in its metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Which turns alone are searched; None is no bound."""

    session: str | None = None
    speaker: str | None = None
    """By name, without regard to case."""
    since: datetime | None = None
    until: datetime | None = None
    """The first and the last moment, both included."""

    def narrow(self, query: Query) -> Query:
        """Return a query that searches these turns alone."""
        return replace(query, session=self.session, said_by=self.speaker, since=self.since, until=self.until)


def read_within(*, session: str | None, speaker: str | None, since: Moment | None, until: Moment | None) -> Within:
    """Return which turns alone are searched.

    Raises:
        InputError: a name is empty, a time cannot be read, or `since` is after `until`.
    """
    for name, value in (("session", session), ("speaker", speaker)):
        if value is not None:
            require_text(value, f"search: {name}")
    first = None if since is None else read_moment(since, what="since")
    last = None if until is None else read_end(until, what="until")
    if first is not None and last is not None and first > last:
        raise InputError(f"search: expected since <= until, got {first.isoformat()} and {last.isoformat()}.")
    return Within(session=session, speaker=speaker, since=first, until=last)


def read_recent(recent: Sequence[tuple[str, str]] | None, *, user: str) -> tuple[Turn, ...] | None:
    """Return the latest of what was just said as turns, which are not stored; None when nothing is given.

    Raises:
        InputError: it is no list of `(speaker, text)`.
    """
    if recent is None:
        return None
    given = cast("object", recent)
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"search: recent: expected a list of (speaker, text), oldest first, got {recent!r}.")
    turns = []
    first = max(len(recent) - MOST_SAID, 0)
    for place, said in enumerate(recent[first:], start=first):
        pair: tuple[Any, ...] = tuple(said) if isinstance(cast("object", said), tuple | list) else ()
        if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise InputError(f"search: recent: expected (speaker, text), oldest first, got {said!r} at place {place}.")
        speaker, text = clean(pair[0]), clean(pair[1])
        turns.append(
            Turn(
                turn_id="",
                user=user,
                session="",
                speaker=speaker,
                role="assistant" if speaker.casefold() in MACHINES else "user",
                text=text,
                at=EARLIEST,
            )
        )
    return tuple(turns)


@dataclass(frozen=True, slots=True)
class Before:
    """How things stood before something was answered: by it is known later whether anything was erased since."""

    forgotten: int = 0
    """How often this process had erased something."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Where the logs of the user and of the shared memories stood: of what other processes erase these tell."""


class Asides:
    """What one dialogue asked without having it remembered: the latest questions and answers, in memory alone.

    They are gone with the dialogue, and as soon as anything is erased, since an answer may repeat it: whatever it is
    where this process does it, by others what is the user's or in a shared memory. Safe between threads.
    """

    def __init__(self, parts: Parts, user: str) -> None:
        self._parts = parts
        self._memories = (user, *parts.config.memory.shared)
        self._kept: tuple[tuple[Turn, ...], Before] = (), Before()

    def before(self) -> Before:
        """Return how things stand now; what is answered from here on is noted with it. Cost: O(shared memories)."""
        places: dict[str, int] = {}
        for name in self._memories:
            with self._parts.log.user(name) as state:
                places[name] = state.ordinal
        return Before(self._parts.forgotten, places)

    def note(self, turns: tuple[Turn, ...], before: Before) -> None:
        """Note a question with its answer, and how things stood before it."""
        self._kept = (*self.turns(), *turns)[-ASIDES:], before

    def turns(self) -> tuple[Turn, ...]:
        """Return what was asked and answered, oldest first; nothing when something was erased since."""
        turns, before = self._kept
        if not turns:
            return ()
        now = self.before()
        stands = before.forgotten == self._parts.forgotten and all(
            self._parts.log.still_has(name, place) for name, place in before.places.items()
        )
        turns = turns if stands else ()
        self._kept = turns, now
        return turns


def drawing(turn: Turn, memories: Sequence[str]) -> Turn:
    """Return a turn that is not stored with the shared memories that it draws on."""
    return replace(turn, metadata={DRAWN: tuple(memories)}) if memories else turn


def drawn_on(turns: Sequence[Turn]) -> tuple[str, ...]:
    """Return the shared memories that turns draw on which were not stored, each once."""
    return tuple(dict.fromkeys(name for turn in turns if not turn.turn_id for name in turn.metadata.get(DRAWN, ())))
