"""The signs of many vectors, a bit a number, and those among them that are nearest to the signs of a query.

The latest rows lie flat and are compared with every query. Older ones lie in lists by what they are near to (an
inverted file), and of those only the nearest lists are compared, so a search grows with the root of the history.

Lists are never trained as a whole: rows are moved into them a batch at a time, and one that grew too long is split into
two. Any step takes some milliseconds, and what the lists are follows from the rows and their order alone, whenever
they were saved and loaded. Sources: Jegou et al. 2011, "Product Quantization for Nearest Neighbor Search" (inverted
files); Xu et al. 2023, "SPFresh: Incremental In-Place Update for Billion-Scale Vector Search" (splitting).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.memory.columns import grown
from doxa.memory.paged import Pack, PackWriter
from doxa.memory.rows import Rows

__all__ = ["FLAT", "Signs"]

FLAT = 131_072
"""So many of the latest rows lie flat, and all while there are no more: to compare them takes half as long as lists."""
BATCH = 1024, 64
"""So many more rows are moved into lists at once, and at most one part in so many of what may lie flat."""
SHORTEST = 128, 512
"""No list is split that is shorter, or than one part in so many of what may lie flat, if that is less."""
SHARE = 0.4
"""Beyond, one that is longer than this times the root of all rows, so there are about 3.6 roots of lists."""
REFINED = 4
"""Times as many rows as are moved into lists are compared anew with the lists beside their own."""
BESIDE = 64
"""Lists beside one that its rows are compared with."""
PROBED = 512
"""Lists that are compared with a query."""
TOGETHER = 32
"""Lists whose signs are laid together to be compared at once."""
ROUNDS = 6
"""Rounds of a split (2-means); more change next to nothing."""
CACHED = 16_384
"""Rows that are compared at a time, so that what is worked out in between stays near the processor."""
STRIDE = 32
"""Every 32nd row tells how near the nearest ones are."""
SAMPLED = 16_384
"""From so many rows on it is asked of a sample; below, of all."""

Numbers = NDArray[np.integer[Any]]


class Signs:
    """The signs of the rows of a matrix. A row takes `dims / 8` bytes, in a list 4 more.

    Args:
        rows: the rows themselves.
        dims: the length of a row.
        flat: so many of the latest rows are not in lists.
    """

    def __init__(self, rows: Rows, dims: int, *, flat: int = FLAT) -> None:
        self._flat_size = flat
        self._batch, self._shortest = (min(most, flat // parts) for most, parts in (BATCH, SHORTEST))
        self._rows = rows
        self._dims = dims
        self._words = -(-dims // 64)
        self._flat = np.zeros((self._words, 64), np.uint64)
        self._listed = 0
        """How many rows are in lists: the first ones."""
        self._size = 0
        self._centres = np.zeros((0, dims), np.float32)
        self._members: list[NDArray[np.int32]] = []
        self._signs: list[NDArray[np.uint64]] = []
        self._counts: list[int] = []
        self._pack: Pack | None = None
        self._name = ""
        self._refined = -1
        """The list that was refined last."""
        self._unchecked: dict[int, int] = {}
        """The lists that lie in the pack and were not looked at, and where each begins there."""

    def append(self, vectors: NDArray[np.float32]) -> None:
        """Append the signs of vectors, `(r, dims)`, which were appended to the rows before.

        Amortised cost O(r root(n) dims).
        """
        start = self._size - self._listed
        stop = start + len(vectors)
        if stop > self._flat.shape[1]:
            self._flat = grown(self._flat, stop)
        self._flat[:, start:stop] = self._signs_of(vectors)
        self._size += len(vectors)
        while self._size - self._listed >= self._flat_size + self._batch:
            self._list_oldest()

    def nearest(
        self,
        query: NDArray[np.float32],
        count: int,
        *,
        kept: Callable[[Numbers], NDArray[np.bool_]] | None = None,
        probed: int = PROBED,
    ) -> NDArray[np.intp]:
        """Return the `count` rows that are nearest by sign, in order, with all that tie with the last.

        Args:
            query: `(dims,) float32`.
            count: how many are wanted.
            kept: tells which of some rows are wanted; None wants all.
            probed: how many lists are compared.

        Not exact beyond `FLAT` rows. Cost O(root(n)) on the lists and their rows, a bit a number.
        """
        signs, rows = self._signs_of(query[None])[:, 0], np.arange(self._listed, self._size)
        far = differing(self._flat[:, : len(rows)], signs)
        if self._counts:
            lists = [self._list(one) for one in self._probed(query, probed)]
            rows = np.concatenate([rows, *(members for members, _ in lists)])
            parts = (np.concatenate([of for _, of in part], axis=1) for part in batched(lists, TOGETHER))
            far = np.concatenate([far, *(differing(part, signs) for part in parts)])
        if kept is not None:
            wanted = kept(rows)
            rows, far = rows[wanted], far[wanted]
        return np.sort(rows[least(far, count)])

    def _probed(self, query: NDArray[np.float32], count: int) -> list[int]:
        if len(self._counts) <= count:
            return list(range(len(self._counts)))
        near = self._centres[: len(self._counts)] @ query
        probed: list[int] = np.sort(np.argpartition(-near, count)[:count]).tolist()
        return probed

    def _signs_of(self, vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
        """Return the signs of vectors, `(words, r)`."""
        bits = np.zeros((len(vectors), self._words * 64), np.bool_)
        bits[:, : self._dims] = vectors > 0
        return np.packbits(bits, axis=1).view(np.uint64).T

    def _list_oldest(self) -> None:
        """Move the oldest rows that lie flat into the lists whose centres are nearest, and split what grew too long."""
        size = self._batch
        rows = np.arange(self._listed, self._listed + size)
        vectors, signs = self._rows.vectors(rows), self._flat[:, :size]
        if not self._counts:
            self._centres = np.zeros((1, self._dims), np.float32)
            self._put(0, rows, signs)
        else:
            into = (vectors @ self._centres[: len(self._counts)].T).argmax(axis=1)
            order = np.argsort(into, kind="stable")
            lists, starts = np.unique(into[order], return_index=True)
            for one, inside in zip(lists.tolist(), np.split(order, starts[1:]), strict=True):
                self._put(one, rows[inside], signs[:, inside])
        left = self._size - self._listed - size
        self._flat[:, :left] = self._flat[:, size : size + left].copy()
        self._listed += size
        most = max(self._shortest, int(SHARE * isqrt(self._size)))
        for one in [one for one, count in enumerate(self._counts) if count > most]:
            self._split(one, most)
        left = REFINED * size
        while left > 0:
            self._refined = (self._refined + 1) % len(self._counts)
            left -= self._counts[self._refined] + 1
            self._refine(self._refined)

    def _refine(self, one: int) -> None:
        """Move the rows of a list that are nearer to a list beside it, and put its centre in the middle of the others.

        List after list, that is what k-means does.
        """
        members, signs = self._list(one)
        if not len(members):
            return
        centres = self._centres[: len(self._counts)]
        near = centres @ self._centres[one]
        near[one] = np.inf
        beside = np.argpartition(-near, min(BESIDE, len(near) - 1))[:BESIDE]
        vectors = self._rows.vectors(members)
        into = beside[(vectors @ centres[beside].T).argmax(axis=1)]
        if (into == one).any():
            self._centres[one] = mean(vectors[into == one])
        if (into != one).any():
            self._clear(one)
            for number in np.unique(into).tolist():
                self._put(number, members[into == number], signs[:, into == number])

    def _put(self, one: int, rows: Numbers, signs: NDArray[np.uint64]) -> None:
        if one == len(self._counts):
            self._members.append(np.zeros(0, np.int32))
            self._signs.append(np.zeros((self._words, 0), np.uint64))
            self._counts.append(0)
        start = self._counts[one]
        stop = start + len(rows)
        if stop > len(self._members[one]):
            held, of_held = self._list(one)
            self._members[one], self._signs[one] = grown(held, stop), grown(of_held, stop)
        self._members[one][start:stop] = rows
        self._signs[one][:, start:stop] = signs
        self._counts[one] = stop

    def _split(self, one: int, most: int) -> None:
        """Split a list in two by what its rows are near to, and those again while they are too long."""
        left = [one]
        while left:
            one, other = left.pop(), len(self._counts)
            members, signs = self._list(one)
            vectors = self._rows.vectors(members)
            second = halves(vectors)
            self._clear(one)
            for number, inside in ((one, ~second), (other, second)):
                self._put(number, members[inside], signs[:, inside])
                if number == len(self._centres):
                    self._centres = np.concatenate([self._centres, np.zeros_like(self._centres[: number // 4 + 1])])
                self._centres[number] = mean(vectors[inside])
                if self._counts[number] > most:
                    left.append(number)

    def _clear(self, one: int) -> None:
        self._members[one], self._signs[one] = np.zeros(0, np.int32), np.zeros((self._words, 0), np.uint64)
        self._counts[one] = 0

    def _list(self, one: int) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
        """Return the rows of a list and their signs, `(k,)` and `(words, k)`."""
        count = self._counts[one]
        if self._pack is not None and (start := self._unchecked.pop(one, None)) is not None:
            self._pack.checked(f"{self._name}.members", start, start + count)
            self._pack.checked(f"{self._name}.signs", self._words * start, self._words * (start + count))
        return self._members[one][:count], self._signs[one][:, :count]

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them, list after list, so that each can be read in one go."""
        lists = [self._list(one) for one in range(len(self._counts))]
        writer.array(f"{name}.flat", self._flat[:, : self._size - self._listed])
        writer.value(f"{name}.refined", self._refined)
        writer.array(f"{name}.counts", np.array(self._counts, np.int64))
        writer.array(f"{name}.centres", self._centres[: len(lists)])
        writer.array(f"{name}.members", np.zeros(0, np.int32), *(members for members, _ in lists))
        writer.array(f"{name}.signs", np.zeros(0, np.uint64), *(signs.reshape(-1) for _, signs in lists))

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here. Lists stay there until rows are added to them."""
        self._pack, self._name = pack, name
        self._flat = pack.array(f"{name}.flat")
        self._centres = pack.array(f"{name}.centres").copy()
        self._counts = pack.array(f"{name}.counts").tolist()
        members, signs = pack.rows(f"{name}.members"), pack.rows(f"{name}.signs")
        starts = [0, *accumulate(self._counts)]
        bounds = list(pairwise(starts))
        self._members = [members[start:stop] for start, stop in bounds]
        self._signs = [
            signs[self._words * start : self._words * stop].reshape(self._words, stop - start) for start, stop in bounds
        ]
        self._unchecked = dict(enumerate(starts[:-1]))
        self._refined = pack.value(f"{name}.refined")
        self._listed = starts[-1]
        self._size = self._listed + self._flat.shape[1]


def differing(signs: NDArray[np.uint64], query: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return in how many signs each of some rows differs from a query, `(k,)`. Cost O(k dims / 64)."""
    size = signs.shape[1]
    far = np.zeros(size, np.uint16)
    differ, ones = np.empty(min(size, CACHED), np.uint64), np.empty(min(size, CACHED), np.uint8)
    for start in range(0, size, CACHED):
        part = far[start : start + CACHED]
        for words, word in zip(signs, query, strict=True):
            np.bitwise_xor(words[start : start + CACHED], word, out=differ[: len(part)])
            np.bitwise_count(differ[: len(part)], out=ones[: len(part)])
            part += ones[: len(part)]
    return far


def batched(lists: list[Any], size: int) -> Iterator[list[Any]]:
    """Give lists `size` at a time."""
    return (lists[start : start + size] for start in range(0, len(lists), size))


def least(far: NDArray[np.uint16], count: int) -> NDArray[np.intp]:
    """Return where the `count` least of some numbers are, in order; all that equal the last are among them."""
    if len(far) <= count:
        return np.arange(len(far))
    nth = 2 * count // STRIDE
    if len(far) >= SAMPLED and nth * STRIDE < len(far):  # a limit from a sample leaves few to be sorted
        near = np.flatnonzero(far <= np.partition(far[::STRIDE], nth)[nth])
        if len(near) >= count:
            return np.compress(far[near] <= np.partition(far[near], count - 1)[count - 1], near)
    return np.flatnonzero(far <= np.partition(far, count - 1)[count - 1])


def halves(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Tell of every vector whether it is in the second of two parts, `(k,)`, by 2-means on the sphere.

    It begins with the vector that is farthest from the mean and the one that is farthest from that. Where one part
    gets less than an eighth (copies of one text), the parts are the earlier half and the later one.
    """
    size = len(vectors)
    one = vectors[int((vectors @ mean(vectors)).argmin())]
    other = vectors[int((vectors @ one).argmin())]
    second = np.zeros(size, np.bool_)
    for _ in range(ROUNDS):
        second = vectors @ (other - one) > 0
        if not size // 8 < second.sum() < size - size // 8:
            return np.arange(size) >= size // 2
        one, other = mean(vectors[~second]), mean(vectors[second])
    return second


def mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean of vectors, in unit length where it has one."""
    middle: NDArray[np.float32] = vectors.mean(axis=0)
    length = float(np.linalg.norm(middle))
    return middle / length if length else middle
