"""Rows in columns of numbers that grow together; those of a pack are read in place."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.memory import Pack, PackWriter, grown

__all__ = ["Sheet"]


class Sheet:
    """Rows of numbers, one a column. Adding costs amortised O(1), and copies nothing of what lies in a pack."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        """Take the type of every column by its name ("i4", "f4")."""
        self._packed: dict[str, NDArray[Any]] = {}
        self._copied: set[str] = set()
        """Columns that were written to since: they lie in the pack no more."""
        self._base = 0
        """How many rows lie in the pack."""
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(16, dtype=kind) for name, kind in columns.items()}
        self._late = 0
        """How many came since."""

    def __len__(self) -> int:
        return self._base + self._late

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return a whole column, `(n,)`, which must not be written to. It is copied when rows came after a pack."""
        late = self._columns[column][: self._late]
        if not self._base:
            return late
        return np.concatenate([self._packed[column], late]) if self._late else self._packed[column]

    def take(self, column: str, rows: NDArray[np.integer[Any]] | slice) -> NDArray[Any]:
        """Return the numbers of some rows, of the shape of `rows`; any number for a row below 0. Cost O(rows).

        Of a slice that is a column without a copy, unless rows came after a pack.
        """
        if isinstance(rows, slice):
            return self[column][rows]
        late, base = self._columns[column], self._base
        if not base:
            return np.asarray(late[rows])
        packed = self._packed[column]
        if not self._late:
            return np.asarray(packed[rows])
        new = rows >= base
        found = packed[np.where(new, 0, rows)]
        if new.any():
            found[new] = late[rows[new] - base]
        return np.asarray(found)

    def get(self, column: str, row: int) -> Any:
        """Return one number."""
        held = self._columns[column] if row >= self._base else self._packed[column]
        return held[row - self._base if row >= self._base else row].item()

    def put(self, column: str, row: int, value: float) -> None:
        """Replace one number. The first one of a column that lies in a pack copies the column."""
        if row >= self._base:
            self._columns[column][row - self._base] = value
            return
        packed = self._packed[column]
        if packed[row] == packed.dtype.type(value):
            return
        if column not in self._copied:
            packed = self._packed[column] = packed.copy()
            self._copied.add(column)
        packed[row] = value

    def add(self, **row: float) -> int:
        """Append a row and return its number."""
        place = self._late
        if place == len(next(iter(self._columns.values()))):
            self._columns = {name: grown(column, place + 1) for name, column in self._columns.items()}
        for name, value in row.items():
            self._columns[name][place] = value
        self._late += 1
        return self._base + place

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all rows."""
        for column, late in self._columns.items():
            packed = [self._packed[column]] if self._base else []
            writer.array(f"{name}.{column}", *packed, late[: self._late])

    def load(self, pack: Pack, name: str) -> None:
        """Take the rows of a pack in place of all that are here."""
        self._packed = _Packed(pack, name)
        self._columns = {column: np.zeros(16, dtype=late.dtype) for column, late in self._columns.items()}
        self._base, self._late = pack.length(f"{name}.{next(iter(self._columns))}"), 0
        self._copied = set()

    @property
    def nbytes(self) -> int:
        """Bytes of it that lie in memory, not in a pack."""
        own = [self._packed[name] for name in self._copied]
        return sum(column.nbytes for column in (*self._columns.values(), *own))


class _Packed(dict[str, NDArray[Any]]):
    """The columns of a pack by name, each read when it is first needed."""

    def __init__(self, pack: Pack, name: str) -> None:
        self._pack, self._name = pack, intern(name)

    def __missing__(self, column: str) -> NDArray[Any]:
        found = self[column] = self._pack.array(f"{self._name}.{column}")
        return found
