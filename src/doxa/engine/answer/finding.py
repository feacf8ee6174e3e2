"""A query -> the evidence for it: the user's own, and that of the memories that everybody reads beneath theirs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from doxa.core.access import pseudonym
from doxa.core.errors import BackendError
from doxa.core.shared import qualified
from doxa.core.values import Evidence, Fact, Turn
from doxa.engine.answer.rewriting import rewrite
from doxa.engine.answer.searching import Within
from doxa.engine.reading.turns import readable
from doxa.engine.shared.hiding import hidden, visible
from doxa.engine.shared.layers import shared_with
from doxa.engine.wiring.parts import Parts
from doxa.language import pared
from doxa.memory import UserState
from doxa.recall import Query, Rewriting, encoded, is_incomplete, read_query, recall

__all__ = ["encoded_query", "held_by", "more_of", "of_memory", "search"]

logger = logging.getLogger("doxa")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """What is looked for, in whichever memory."""

    text: str
    asker: str
    recent: Sequence[Turn]
    rewriting: Rewriting | None
    k: int
    at: datetime | None
    as_of: date | None
    known_at: datetime | None
    within: Within
    superseded: bool


def search(
    query: str,
    parts: Parts,
    *,
    user: str,
    k: int,
    recent: Sequence[Turn] | None = None,
    as_of: date | None = None,
    known_at: datetime | None = None,
    within: Within = Within(),  # noqa: B008  # frozen
    superseded: bool = False,
    shared: bool = True,
) -> list[Evidence]:
    """Return the evidence for a query, best first; one that goes on from something goes on from the latest turns.

    There is no trace, so what fails on the way (the encoder, the language model) is logged as a warning. What is bound
    to a session is looked for in the user's own memory alone. Of a very long query the beginning and the end are read.

    Cost: one search of each memory that is read.
    """
    query = pared(query)
    with parts.log.user(user) as state:
        asker, at = state.person() or "", state.now()
        if recent is None:
            recent = state.latest(parts.config.engine.context_turns) if is_incomplete(query) else ()
        recent = [readable(turn) for turn in recent]
    rewriting = rewrite(query, recent, parts, asker=asker)
    if rewriting is not None and rewriting.failed:
        logger.warning("search for user %s: %s", pseudonym(parts.log.scope(user)), rewriting.failed)
    sought = _Sought(
        text=query, asker=asker, recent=recent, rewriting=rewriting, k=k, at=at, as_of=as_of, known_at=known_at,
        within=within, superseded=superseded,
    )  # fmt: skip
    found, _ = _found(sought, user, parts)
    beneath: list[Evidence] = []
    for memory in shared_with(parts, user) if shared and within.session is None else ():
        evidence, facts = _found(sought, memory, parts)
        with parts.log.user(user) as state:
            out_of_sight = {qualified(memory, key) for key in hidden(facts, memory, state)}
            beneath += visible([of_memory(item, memory) for item in evidence], out_of_sight, state)
    return more_of(found, beneath, k)


def more_of(own: Sequence[Evidence], beneath: Sequence[Evidence], most: int) -> list[Evidence]:
    """Return the best of the evidence of all memories; of two pieces that are alike the own one goes first."""
    return sorted([*own, *beneath], key=lambda item: -item.score)[:most] if beneath else list(own)


def _found(sought: _Sought, user: str, parts: Parts) -> tuple[list[Evidence], list[Fact]]:
    """Return the evidence of one memory, and the facts that it supports, under their ids there."""
    with parts.log.user(user) as state:
        read = read_query(
            sought.text, state, recent=sought.recent, rewriting=sought.rewriting, asker=sought.asker,
            at=sought.at or state.now(), as_of=sought.as_of, known_at=sought.known_at,
        )  # fmt: skip
    note: dict[str, object] = {}
    read = encoded_query(sought.within.narrow(read), parts, note)
    if "degraded" in note:
        logger.warning("search for user %s: %s", pseudonym(parts.log.scope(user)), note["degraded"])
    with parts.log.user(user) as state:
        spec = replace(parts.recall, top_k=sought.k, superseded=sought.superseded)
        evidence = recall(read, state, spec=spec, weights=parts.learned.of(user))
        return evidence, held_by(evidence, state)


def held_by(evidence: Sequence[Evidence], state: UserState) -> list[Fact]:
    """Return the facts that pieces of evidence support, each once."""
    keys = dict.fromkeys(key for item in evidence for key in item.fact_ids)
    return [state.beliefs.facts[key] for key in keys if key in state.beliefs.facts]


def of_memory(item: Evidence, memory: str) -> Evidence:
    """Return evidence of a shared memory with its name, and the ids for everybody."""
    return replace(
        item,
        turn_ids=tuple(qualified(memory, key) for key in item.turn_ids),
        fact_ids=tuple(qualified(memory, key) for key in item.fact_ids),
        memory=memory,
    )


def encoded_query(query: Query, parts: Parts, note: dict[str, object]) -> Query:
    """Return the query with its vector; without one when the encoder failed, and `note` says so."""
    try:
        vector: NDArray[np.float32] = parts.queries.encode([query.wording])[0]
    except BackendError as exc:
        note["degraded"] = f"the encoder failed, so only words are searched: {exc}"
        return query
    return encoded(query, vector, encoder=parts.encoder.name, lexicon=parts.lexicon())
