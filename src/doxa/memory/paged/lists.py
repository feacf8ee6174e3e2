"""Lists of numbers by text, of which the bulk may lie in a pack."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from sys import intern
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from doxa.memory.paged.keys import Keys
from doxa.memory.paged.pack import Pack, PackWriter

__all__ = ["Lists"]


class Lists:
    """A list of rows for every key, each row one number a column. Appending costs O(1).

    Args:
        columns: the type of every column, as of `array.array`: "I" is 32 bits, "H" 16.
    """

    def __init__(self, columns: str = "I") -> None:
        self._columns = columns
        self._keys = Keys()
        self._pack: Pack | None = None
        self._name = ""
        self._items: dict[int, NDArray[Any]] = {}
        self._base = 0
        self._tail: dict[int, tuple[array[int], ...]] = {}
        """What was appended to the list of a number since it was loaded, or all of it if that is in `_anew`."""
        self._anew: set[int] = set()

    def __len__(self) -> int:
        """Return how many keys ever had a list."""
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def latest(self) -> Iterator[str]:
        """Give the keys that have a list, those that came last first."""
        numbers = reversed(range(len(self._keys)))
        return (key for key in map(self._keys.__getitem__, numbers) if key in self)

    def __contains__(self, key: str) -> bool:
        return self.count(key) > 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Lists):
            return NotImplemented
        return {key: self.rows(key) for key in self if key in self} == {
            key: other.rows(key) for key in other if key in other
        }

    def append(self, key: str, *row: int) -> None:
        """Append a row to the list of a key."""
        number = self._keys.add(key)
        tail = self._tail.get(number)
        if tail is None:
            tail = self._tail[number] = tuple(array(kind) for kind in self._columns)
        for column, value in zip(tail, row, strict=True):
            column.append(value)

    def number(self, key: str) -> int | None:
        """Return the number of a key that ever had a list; None for any other."""
        return self._keys.get(key)

    def key_at(self, number: int) -> str:
        """Return the key of a number."""
        return self._keys[number]

    def get(self, key: str) -> Sequence[int]:
        """Return the first column of a list, in place: it must not be changed, and may grow with the list. O(log n)."""
        number = self._keys.get(key)
        if number is None:
            return ()
        start, stop = self._bounds(number)
        tail = self._tail.get(number)
        if stop == start:
            return () if tail is None else tail[0]
        base = self._stretch(0, start, stop).data
        return base if tail is None else _Joined(base, tail[0])

    def rows(self, key: str) -> list[tuple[int, ...]]:
        """Return the rows of a list."""
        return list(zip(*(column.tolist() for column in self.arrays(key)), strict=True))

    def arrays(self, key: str, *, latest: int | None = None) -> list[NDArray[Any]]:
        """Return the columns of a list, or of its `latest` rows, `(k,)` each; they do not grow with the list."""
        number = self._keys.get(key)
        if number is None:
            return [np.empty(0, kind) for kind in self._columns]
        start, stop = self._bounds(number)
        tail = self._tail.get(number)
        if tail is None:
            start = start if latest is None else max(start, stop - latest)
            return [self._stretch(at, start, stop) for at in range(len(self._columns))]
        size = len(tail[0])
        left = stop - start if latest is None else max(0, min(stop - start, latest - size))
        first = 0 if latest is None else max(0, size - latest)
        added = [np.array(column[first:], kind) for column, kind in zip(tail, self._columns, strict=True)]
        if not left:
            return added
        return [np.concatenate([self._stretch(at, stop - left, stop), one]) for at, one in enumerate(added)]

    def stretches(self, key: str) -> Iterator[list[NDArray[Any]]]:
        """Give the columns of a list in parts, without a copy: those of the pack, then what came since.

        A part must be let go before the list grows.
        """
        number = self._keys.get(key)
        if number is None:
            return
        start, stop = self._bounds(number)
        if stop > start:
            yield [self._stretch(at, start, stop) for at in range(len(self._columns))]
        tail = self._tail.get(number)
        if tail is not None and len(tail[0]):
            yield [np.frombuffer(column, kind) for column, kind in zip(tail, self._columns, strict=True)]

    def count(self, key: str) -> int:
        """Return how long the list of a key is. O(log n)."""
        number = self._keys.get(key)
        if number is None:
            return 0
        start, stop = self._bounds(number)
        tail = self._tail.get(number)
        return stop - start + (0 if tail is None else len(tail[0]))

    def put(self, key: str, rows: Iterable[int | tuple[int, ...]]) -> None:
        """Replace the list of a key."""
        number = self._keys.add(key)
        self._anew.add(number)
        self._tail[number] = tuple(array(kind) for kind in self._columns)
        for row in rows:
            self.append(key, *((row,) if isinstance(row, int) else row))

    def remove(self, key: str, value: int) -> None:
        """Remove the row of a list whose first column has a value, the first of them. O(its rows).

        Raises:
            ValueError: there is none.
        """
        rows = self.rows(key)
        del rows[[row[0] for row in rows].index(value)]
        self.put(key, rows)

    def drop(self, key: str, values: Collection[int]) -> None:
        """Remove all rows of a list whose first column has one of some values. O(its rows)."""
        columns = self.arrays(key)
        kept = ~np.isin(columns[0], list(values))
        self.put(key, zip(*(column[kept].tolist() for column in columns), strict=True))

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        self._keys.save(writer, f"{name}.keys")
        owners = np.repeat(np.arange(self._base), self._counts())
        kept = ~np.isin(owners, sorted(self._anew)) if self._anew else np.ones(len(owners), np.bool_)
        lengths = [len(tail[0]) for tail in self._tail.values()]
        owners = np.concatenate([owners[kept], np.repeat(np.array(list(self._tail), np.int64), lengths)])
        order = np.argsort(owners, kind="stable")
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(owners, minlength=len(self._keys)))])
        writer.array(f"{name}.starts", starts)
        for at, kind in enumerate(self._columns):
            base = [self._stretch(at, 0, len(kept))[kept]] if self._base else []
            parts = [*base, *(np.array(tail[at], kind) for tail in self._tail.values())]
            writer.array(f"{name}.{at}", np.concatenate([np.empty(0, kind), *parts])[order])

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._pack, self._name = pack, intern(name)
        self._keys.load(pack, f"{name}.keys")
        self.__dict__.pop("_starts", None)
        self._items = {}
        self._base = pack.length(f"{name}.starts") - 1
        self._tail, self._anew = {}, set()

    @cached_property
    def _starts(self) -> memoryview:
        """Where each list of the pack begins, and where the last one ends. It is read when it is first needed."""
        return memoryview(b"") if self._pack is None else self._pack.array(f"{self._name}.starts").data

    def _counts(self) -> NDArray[np.int64]:
        starts = np.frombuffer(self._starts, np.int64) if self._base else np.zeros(1, np.int64)
        return starts[1:] - starts[:-1]

    def _bounds(self, number: int) -> tuple[int, int]:
        if number >= self._base or number in self._anew:
            return 0, 0
        return self._starts[number], self._starts[number + 1]

    def _stretch(self, column: int, start: int, stop: int) -> NDArray[Any]:
        if stop <= start:
            return np.empty(0, self._columns[column])
        assert self._pack is not None
        name = f"{self._name}.{column}"
        if (items := self._items.get(column)) is None:
            items = self._items[column] = self._pack.rows(name)
        self._pack.checked(name, start, stop)
        return items[start:stop]


class _Joined(Sequence[int]):
    """Numbers of a pack with those that came since."""

    __slots__ = ("_base", "_tail")

    def __init__(self, base: Sequence[int], tail: Sequence[int]) -> None:
        self._base = base
        self._tail = tail

    def __len__(self) -> int:
        return len(self._base) + len(self._tail)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at: int | slice) -> int | list[int]:
        size = len(self._base)
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        if at < 0:
            at += len(self)
        return self._base[at] if at < size else self._tail[at - size]

    def __iter__(self) -> Iterator[int]:
        yield from self._base
        yield from self._tail
