"""What every turn is about, in concepts, and whether its speaker states a liking, a limit or a habit in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Turn
from doxa.language import opening
from doxa.memory import Pack, PackWriter, UserState, encoded_texts
from doxa.recall.concepts.concepts import concepts_of, inventory
from doxa.recall.concepts.stances import stance_of
from doxa.recall.graph.adjacency import Adjacency
from doxa.recall.graph.sheet import Sheet

__all__ = ["TurnTags", "hashed", "labelled"]

KEPT = 6
"""Concepts of a turn that are kept: as many as `concepts_of` gives."""
STATED = 0.5
"""From so sure on a turn is listed under its concepts as one that states something."""

CONCEPTS = tuple(f"concept{number}" for number in range(KEPT))
WEIGHTS = tuple(f"weight{number}" for number in range(KEPT))


class Weighed(Protocol):
    """Counts of hashed names."""

    def shares(self, keys: NDArray[np.uint32], /) -> NDArray[np.float32]:
        """Return how much each key weighs against the heaviest, `(k,)` in 0..1."""
        ...


class TurnTags:
    """Concepts and stances by place, about 30 bytes a turn. Reading a turn costs below 0.5 ms, once."""

    def __init__(self) -> None:
        self._rows = Sheet({**dict.fromkeys(CONCEPTS, "i2"), **dict.fromkeys(WEIGHTS, "f4"), "stance": "f4"})
        self._stated = Adjacency()
        """The places that state something about a concept."""

    def __len__(self) -> int:
        return len(self._rows)

    def sync(self, state: UserState) -> None:
        """Read the turns that came since."""
        for place in range(len(self), len(state.places)):
            turn = state.turns[state.places[place]]
            turn = replace(turn, text=opening(turn.text))
            vectors = state.vectors.rows_of(place)
            # A turn that could not be encoded has one row of zeros.
            found = concepts_of(turn.text, vectors[0], encoder=state.encoder)
            rows = [inventory().place[name] for name, _ in found]
            stance = _stance(turn, vectors, state.encoder) if rows and turn.role == "user" else 0.0
            weights = [weight for _, weight in found]
            self._rows.add(
                **dict(zip(CONCEPTS, [*rows, *[-1] * KEPT], strict=False)),
                **dict(zip(WEIGHTS, [*weights, *[0.0] * KEPT], strict=False)),
                stance=stance,
            )
            if stance >= STATED:
                for row in rows:
                    self._stated.add(row, place)

    def of(self, place: int) -> dict[str, float]:
        """Return the concepts of a turn, each with its weight of 0 to 1."""
        known = inventory().concepts
        rows = [self._rows.get(column, place) for column in CONCEPTS]
        weights = [self._rows.get(column, place) for column in WEIGHTS]
        return {known[row].name: weight for row, weight in zip(rows, weights, strict=True) if row >= 0}

    def about(self, places: NDArray[np.intp], wanted: Mapping[str, float]) -> NDArray[np.float32]:
        """Return which share of some concepts turns are about, `(k,) float32` in 0..1. Cost O(k).

        Args:
            places: `(k,)`.
            wanted: concepts with their weights; unknown ones are left out.
        """
        asked = np.zeros(len(inventory().concepts) + 1, dtype=np.float32)  # the last one is for "no concept" (-1)
        for name, weight in wanted.items():
            if name in inventory():
                asked[inventory().place[name]] = weight
        total = asked.sum()
        if not total:
            return np.zeros(len(places), dtype=np.float32)
        rows, weights = self._columns(places)
        shared: NDArray[np.float32] = np.minimum(asked[rows], weights).sum(axis=0) / total
        return shared

    def weighed(self, places: NDArray[np.intp], counts: Weighed) -> NDArray[np.float32]:
        """Return the largest share that a concept of each turn has in some counts, times its weight, `(k,)` in 0..1."""
        shares = np.append(counts.shares(_hashes()), np.float32(0))  # the last one is for "no concept" (-1)
        rows, weights = self._columns(places)
        weighed: NDArray[np.float32] = (shares[rows] * weights).max(axis=0)
        return weighed

    def stances(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return how sure it is that the speaker states a liking, a limit or a habit, `(k,) float32` in 0..1."""
        stances: NDArray[np.float32] = self._rows.take("stance", places)
        return stances

    def stating(self, concepts: Iterable[str], most: int) -> NDArray[np.intp]:
        """Return turns that state something about some concepts, the `most` latest of each, in order."""
        rows = [inventory().place[name] for name in concepts if name in inventory()]
        return np.unique(self._stated.of(np.array(rows, dtype=np.intp), most)[1])

    def _columns(self, places: NDArray[np.intp]) -> tuple[NDArray[np.int16], NDArray[np.float32]]:
        """Return the concepts of some places and their weights, `(KEPT, k)` each."""
        rows = np.stack([self._rows.take(column, places) for column in CONCEPTS])
        return rows, np.stack([self._rows.take(column, places) for column in WEIGHTS])

    def save(self, writer: PackWriter, name: str) -> None:
        """Write them."""
        self._rows.save(writer, f"{name}.rows")
        self._stated.save(writer, f"{name}.stated")

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._rows.load(pack, f"{name}.rows")
        self._stated.load(pack, f"{name}.stated")


def labelled(concept: str) -> str:
    """Return a concept in words ("romantic films"); its name when it is none that Doxa comes with."""
    return inventory()[concept].label if concept in inventory() else concept


def hashed(key: str) -> int:
    """Return a key as 32 bits; the same on every machine."""
    return crc32(key.encode())


@cache
def _hashes() -> NDArray[np.uint32]:
    return np.array([hashed(concept.name) for concept in inventory().concepts], dtype=np.uint32)


def _stance(turn: Turn, vectors: NDArray[np.float32], encoder: str) -> float:
    """Return how sure the surest passage of a turn is."""
    texts = encoded_texts(turn)
    if len(texts) != len(vectors):
        return stance_of(turn.text, vectors[0], encoder=encoder).confidence
    passages = list(zip(texts, vectors, strict=True))
    return max(stance_of(text, vector, encoder=encoder).confidence for text, vector in passages[1:] or passages)
