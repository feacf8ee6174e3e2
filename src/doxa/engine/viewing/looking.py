"""What every part of `View` stands on: the memory of a user with the index beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from doxa.core.errors import NotFoundError
from doxa.core.values import Fact, Turn
from doxa.core.views import (
    Subject,
)
from doxa.engine.history.entities import entity_of
from doxa.engine.history.replay import NO_TURN
from doxa.engine.history.withdrawal import NO_FACT
from doxa.engine.intake import require_text
from doxa.engine.viewing.index import ViewIndex, index_of
from doxa.engine.viewing.names import Entry, label_of
from doxa.engine.wiring.parts import Parts
from doxa.memory import Beliefs, UserState

__all__ = ["Looking", "subject_of"]


class Looking:
    """The memory of one user, to be looked at."""

    def __init__(self, parts: Parts, user: str) -> None:
        self._parts = parts
        self.user = user

    @contextmanager
    def opened(self) -> Iterator[Self]:
        """Give itself on a memory in which nothing changes until the block ends. Cost: one query."""
        with self._parts.log.user(self.user):
            yield self

    @contextmanager
    def _indexed(self) -> Iterator[tuple[UserState, ViewIndex]]:
        with self._parts.log.user(self.user) as state:
            yield state, index_of(state)

    def _fact(self, fact_id: str, state: UserState) -> Fact:
        if (fact := state.beliefs.facts.get(fact_id)) is None:
            raise NotFoundError(NO_FACT.format(user=self.user, fact_id=fact_id))
        return fact

    def _turn(self, turn_id: str, state: UserState) -> Turn:
        if (turn := state.turn(turn_id)) is None:
            raise NotFoundError(NO_TURN.format(user=self.user, turn_id=turn_id))
        return turn

    def _entry(self, name: str, beliefs: Beliefs, index: ViewIndex) -> Entry:
        """Return what is told of whoever has a key or name."""
        require_text(name, "entity")
        for key in (beliefs.key(name), beliefs.key(name.strip().casefold()), name):
            if (found := index.entry(key)) is not None:
                return found
        called = index.directory.called(name)
        if called is not None:
            return index.directory.entries[called]
        raise NotFoundError(
            f"User {self.user!r} has nobody and nothing called {name!r}. `doxa entities` lists the names."
        )


def subject_of(entry: Entry, beliefs: Beliefs) -> Subject:
    """Return what is shown of somebody by name."""
    entity = entity_of(entry.key, label_of(entry.key, beliefs), entry.held, beliefs)
    return Subject(entity=entity, firm=entry.firm, tentative=entry.tentative, past=entry.past)
