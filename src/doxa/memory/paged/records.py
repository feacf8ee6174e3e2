"""Values in a row that only grows: those of a pack are read when they are asked for, later ones are held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from sys import intern
from typing import Any, Generic, TypeVar, overload

import msgspec
import numpy as np

from doxa.memory.paged.pack import Pack, PackWriter

__all__ = ["Form", "Records"]

V = TypeVar("V")
KEPT = 4096
"""Values of a pack that are held once they were read; beyond, all are let go."""


@dataclass(frozen=True, slots=True)
class Form(Generic[V]):
    """How a value is plain data, and back."""

    to: Callable[[V], Any]
    of: Callable[[Any], V]


PLAIN: Form[Any] = Form(lambda value: value, lambda value: value)


class _Comparable(Sequence[V]):
    """Values in a row that equal any other ones that are the same in the same order."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == their for one, their in zip(self, other, strict=True))


class Records(_Comparable[V]):
    """A list that is appended to; a value may be replaced, and none is ever removed.

    Reading one that lies in a pack costs some microseconds, and it is the same object only as long as it is held.
    """

    def __init__(self, form: Form[V] = PLAIN) -> None:
        self._form = form
        self._pack: Pack | None = None
        self._name = ""
        self._base = 0
        """How many lie in the pack."""
        self._tail: list[V] = []
        self._replaced: dict[int, V] = {}
        self._read: dict[int, V] = {}

    def __len__(self) -> int:
        return self._base + len(self._tail)

    @overload
    def __getitem__(self, row: int) -> V: ...
    @overload
    def __getitem__(self, row: slice) -> list[V]: ...
    def __getitem__(self, row: int | slice) -> V | list[V]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        if row < 0:
            row += len(self)
        if row >= self._base:
            return self._tail[row - self._base]
        if row < 0:
            raise IndexError(row)
        if row in self._replaced:
            return self._replaced[row]
        if (known := self._read.get(row)) is not None:
            return known
        if len(self._read) >= KEPT:
            self._read.clear()
        value = self._read[row] = self._decoded(row)
        return value

    def __iter__(self) -> Iterator[V]:
        """Give the values in order; those that are read for it are not held."""
        for row in range(self._base):
            yield self._replaced[row] if row in self._replaced else self._decoded(row)
        yield from self._tail

    def chosen(self, rows: Sequence[int]) -> Sequence[V]:
        """Return the values of some rows, each read when it is asked for."""
        return _Chosen(self, rows)

    def append(self, value: V) -> int:
        """Append a value and return its row."""
        self._tail.append(value)
        return len(self) - 1

    def replace(self, row: int, value: V) -> None:
        """Put another value in the place of one."""
        if row >= self._base:
            self._tail[row - self._base] = value
        else:
            self._replaced[row] = value

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them. Those that lie in a pack already are copied as they are."""
        size, base = len(self), self._base
        lengths = np.empty(size, np.int64)
        lengths[:base] = np.diff(np.frombuffer(self._bounds, np.int64)) if base else 0
        new = {row: self._encoded(value) for row, value in self._replaced.items()}
        tail = [self._encoded(value) for value in self._tail]
        for row, data in new.items():
            lengths[row] = len(data)
        lengths[base:] = [len(data) for data in tail]

        def parts() -> Iterator[bytes | memoryview]:
            start = 0
            for row in sorted(new):
                yield self._stretch(start, row)
                yield new[row]
                start = row + 1
            yield self._stretch(start, base)
            yield b"".join(tail)

        writer.array(f"{name}.bounds", np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]))
        writer.blob(f"{name}.data", parts())

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._pack, self._name = pack, intern(name)
        self.__dict__.pop("_bounds", None)
        self._base = pack.length(f"{name}.bounds") - 1
        self._tail, self._replaced, self._read = [], {}, {}

    @cached_property
    def _bounds(self) -> memoryview:
        """Where each value of the pack begins, and where the last one ends. It is read when it is first needed."""
        return memoryview(b"") if self._pack is None else self._pack.array(f"{self._name}.bounds").data

    def _encoded(self, value: V) -> bytes:
        return msgspec.msgpack.encode(self._form.to(value))

    def _decoded(self, row: int) -> V:
        assert self._pack is not None
        data = self._pack.read(f"{self._name}.data", self._bounds[row], self._bounds[row + 1])
        return self._form.of(msgspec.msgpack.decode(data))

    def _stretch(self, start: int, stop: int) -> bytes | memoryview:
        if self._pack is None or start >= stop:
            return b""
        return self._pack.read(f"{self._name}.data", self._bounds[start], self._bounds[stop])


class _Chosen(_Comparable[V]):
    """Some of the values of records, in place."""

    __slots__ = ("_records", "_rows")

    def __init__(self, records: Records[V], rows: Sequence[int]) -> None:
        self._records = records
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> V: ...
    @overload
    def __getitem__(self, at: slice) -> list[V]: ...
    def __getitem__(self, at: int | slice) -> V | list[V]:
        if isinstance(at, slice):
            return [self._records[row] for row in self._rows[at]]
        return self._records[self._rows[at]]
