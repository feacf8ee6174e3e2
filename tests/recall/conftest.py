"""A memory made of turns, and a search in it as the engine does it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from doxa.backends import load
from doxa.backends.encoder import Encoder
from doxa.core.values import Evidence, Turn
from doxa.memory import UserState
from doxa.recall import RecallSpec, read_query, recall

NOW = datetime(2023, 6, 1, 12, tzinfo=UTC)


class Bench:
    """One user's memory with an encoder, or without one (words alone)."""

    def __init__(self, encoder: Encoder | None) -> None:
        self.encoder = encoder
        self.state = UserState(user="ana", dims=encoder.dims if encoder else 4)

    def say(self, text: str, *, speaker: str = "Ana", session: str = "s1", at: datetime = NOW, **fields: object) -> str:
        ordinal = len(self.state.turns) + 1
        turn = Turn(
            **{"turn_id": f"t{ordinal}", "user": "ana", "role": "user", "ordinal": ordinal} | fields,
            session=session,
            speaker=speaker,
            text=text,
            at=at,
        )
        self.state.receive(turn)
        self.state.maintain(turn, [], [], self.encode(text))
        return turn.turn_id

    def search(self, text: str, *, spec: RecallSpec | None = None, **options: object) -> list[Evidence]:
        query = read_query(text, self.state, **options)
        return recall(replace(query, vector=self.encode(query.wording)), self.state, spec=spec or RecallSpec())

    def ids(self, query: str, **options: object) -> list[str]:
        return [evidence.turn_ids[0] for evidence in self.search(query, **options)]

    def encode(self, text: str) -> np.ndarray:
        if self.encoder is None:
            return np.zeros(4, dtype=np.float32)
        return self.encoder.encode([text])[0]


@pytest.fixture(scope="session")
def encoder() -> Iterator[Encoder]:
    """The encoder that ships."""
    encoder = load("encoder", "builtin")
    yield encoder
    encoder.close()


@pytest.fixture
def words() -> Bench:
    """A memory that is searched by words, speaker and time alone."""
    return Bench(None)


@pytest.fixture
def meaning(encoder: Encoder) -> Bench:
    """A memory that is searched by meaning as well."""
    return Bench(encoder)


@pytest.fixture
def bench_of(encoder: Encoder) -> Callable[[], Bench]:
    """Makes memories that are searched by meaning as well."""
    return lambda: Bench(encoder)
