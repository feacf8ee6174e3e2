"""collections: numbered texts with vectors and lists of numbers, in a database that many processes read.

Loaded by name through `doxa.backends.load("collections", url)`:

| name | what it is |
|---|---|
| `postgresql` | Postgres with pgvector: vectors of half precision, and an HNSW index (extra `postgres`) |

Collections are read only: a *shelf* of them is written in one transaction under a name, and takes the place of the one
before. Whoever has that one open reads on in it until the next but one comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Collection", "Item", "Shelf", "Shelves"]

Ids = Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One row of a collection; its number is its place."""

    text: str
    vector: NDArray[np.float32]
    """`(dims,)`, of unit length; kept in half precision."""
    first: Sequence[int] = ()
    second: Sequence[int] = ()
    """Two lists of numbers, whatever they are of."""
    number: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """What is to be written."""

    items: Iterable[Item]
    nearest: bool = False
    """Whether the nearest are looked for: then it is indexed for that."""
    found: bool = False
    """Whether texts are looked for."""


class Shelf(Protocol):
    """Collections as they were when they were opened. Safe between threads."""

    @property
    def card(self) -> Mapping[str, Any]:
        """What was written with them."""

    def count(self, collection: str) -> int:
        """Return how many items there are."""

    def items(self, collection: str, ids: Ids) -> list[Item]:
        """Return the items of some numbers, in the order of these. One query."""

    def vectors(self, collection: str) -> NDArray[np.float32]:
        """Return the vectors of all items, `(n, dims)`. One query."""

    def numbers(self, collection: str) -> NDArray[np.float32]:
        """Return the `number` of all items, `(n,)`. One query."""

    def places(self, collection: str, texts: Sequence[str]) -> list[int]:
        """Return the numbers of the items with some texts, -1 where there is none. One query."""

    def sizes(self, collection: str, ids: Ids) -> NDArray[np.int64]:
        """Return how long the second list of each of some items is. One query."""

    def cosines(self, collection: str, ids: Ids, targets: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of some items with unit vectors `(t, dims)`, `(ids, t)`, by the database. One query."""

    def nearest(self, collection: str, target: NDArray[np.float32], most: int) -> list[tuple[int, float]]:
        """Return the items nearest to a unit vector, best first, each with its cosine. One query, by the index."""


class Shelves(Protocol):
    """The shelves of one database."""

    def open(self, name: str) -> Shelf | None:
        """Return the shelf of a name as it is now; None where there is none."""

    def write(self, name: str, collections: Mapping[str, Collection], *, card: Mapping[str, Any], dims: int) -> None:
        """Write a shelf, all or nothing, in the place of the one of that name.

        Raises:
            StoreError: the database failed, or has no pgvector; what was there is as it was.
        """

    def close(self) -> None:
        """Give back the connections; may be called twice."""
