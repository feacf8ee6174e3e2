"""Questions of the past -> replays: each asked again of what was known when it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from time import perf_counter

from doxa.core.drift import Shadow
from doxa.engine.history.shadow import text_of
from doxa.engine.wiring.parts import Parts
from doxa.recall import Query, Replay, encoded, read_query, replay_of

__all__ = ["LATEST", "encoded_queries", "replays_of_feedback", "replays_of_shadows"]

LATEST = 500
"""Answers with feedback that are learned from, the latest ones."""
BEFORE = timedelta(microseconds=1)


def replays_of_feedback(parts: Parts, user: str) -> tuple[list[Replay], list[float]]:
    """Return a replay of each of the latest queries with feedback, oldest first, and how long each search took.

    Raises:
        BackendError: the encoder failed.
    """
    with parts.log.user(user) as state:
        told = [(one, text) for batch in state.feedback for one in batch if (text := text_of(one, state))][-LATEST:]
        queries = [read_query(text, state, at=one.at, known_at=one.at - BEFORE) for one, text in told]
    marks = [(one.turn_ids, one.turn_ids if one.channel == "used" else ()) for one, _ in told]
    return _replays(parts, user, queries, marks)


def replays_of_shadows(parts: Parts, user: str, shadows: Sequence[Shadow]) -> list[Replay]:
    """Return a replay of each of some sampled questions; of those of which it is known what search had to find.

    Raises:
        BackendError: the encoder failed.
    """
    with parts.log.user(user) as state:
        asked = [(one, text) for one in shadows if one.labelled and (text := text_of(one, state))]
        # A remembered question is itself known from the moment on that it was asked at.
        queries = [
            read_query(text, state, at=one.at, known_at=one.at - BEFORE if one.asked else one.at) for one, text in asked
        ]
    marks = [(one.turn_ids, one.turn_ids if one.answered else ()) for one, _ in asked]
    return _replays(parts, user, queries, marks)[0]


def _replays(
    parts: Parts, user: str, queries: Sequence[Query], marks: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> tuple[list[Replay], list[float]]:
    """Return a replay of each query, and how long each search took.

    Every query is asked of what was known when it was asked, so that nothing later helps or hides it. The lock is
    given back between two queries: searches and new turns wait for one replay at most.
    """
    replays: list[Replay] = []
    seconds: list[float] = []
    for asked, (needed, cited) in zip(encoded_queries(queries, parts), marks, strict=True):
        with parts.log.user(user) as state:
            start = perf_counter()
            replays.append(replay_of(asked, state, needed=needed, cited=cited, spec=parts.recall))
            seconds.append(perf_counter() - start)
    return replays, seconds


def encoded_queries(queries: Sequence[Query], parts: Parts) -> list[Query]:
    """Return queries as a search has them: with their vectors, and what they are about in kind."""
    if not queries:
        return []
    vectors = parts.queries.encode([query.wording for query in queries])
    name, lexicon = parts.encoder.name, parts.lexicon()
    return [encoded(query, row, encoder=name, lexicon=lexicon) for query, row in zip(queries, vectors, strict=True)]
