"""A mapping from texts to values of which the bulk may lie in a pack."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, ValuesView
from typing import Any, TypeVar, overload

import numpy as np

from doxa.memory.paged.keys import Keys
from doxa.memory.paged.pack import Pack, PackWriter
from doxa.memory.paged.records import PLAIN, Form, Records

__all__ = ["Table"]

V = TypeVar("V")
D = TypeVar("D")


class Table(MutableMapping[str, V]):
    """Keys in the order in which they first came; each has a row of its own for ever, removed or not.

    Values must not be changed in place: what lies in a pack is read anew. `table[key] = value` puts another one there.
    """

    def __init__(self, form: Form[V] = PLAIN) -> None:
        self._keys = Keys()
        self._values: Records[V] = Records(form)
        self.gone: set[int] = set()
        """Rows whose keys were removed."""

    def __len__(self) -> int:
        return len(self._values) - len(self.gone)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.row(key) is not None

    def __getitem__(self, key: str) -> V:
        row = self.row(key)
        if row is None:
            raise KeyError(key)
        return self._values[row]

    def __setitem__(self, key: str, value: V) -> None:
        row = self._keys.add(key)
        if row == len(self._values):
            self._values.append(value)
        else:
            self._values.replace(row, value)
            self.gone.discard(row)

    def __delitem__(self, key: str) -> None:
        row = self.row(key)
        if row is None:
            raise KeyError(key)
        self.gone.add(row)

    def __iter__(self) -> Iterator[str]:
        return (self._keys[row] for row in self.rows())

    def __reversed__(self) -> Iterator[str]:
        return (self._keys[row] for row in reversed(range(len(self._values))) if row not in self.gone)

    @overload
    def get(self, key: str, /) -> V | None: ...
    @overload
    def get(self, key: str, default: V | D, /) -> V | D: ...
    def get(self, key: str, default: Any = None, /) -> Any:
        """Return the value of a key, or else `default`."""
        row = self.row(key)
        return default if row is None else self._values[row]

    def values(self) -> _Values[V]:
        """Return the values in order, which may be turned round."""
        return _Values(self)

    @property
    def size(self) -> int:
        """How many rows there are, those of removed keys with them."""
        return len(self._values)

    def row(self, key: str) -> int | None:
        """Return the row of a key; None where it is not there."""
        row = self._keys.get(key)
        return None if row in self.gone else row

    def number(self, key: str) -> int | None:
        """Return the row of a key that is there or was; None for one that never was."""
        return self._keys.get(key)

    def rows(self) -> Iterator[int]:
        """Give the rows that are there, in order."""
        return (row for row in range(len(self._values)) if row not in self.gone)

    def key_at(self, row: int) -> str:
        """Return the key of a row."""
        return self._keys[row]

    def held(self) -> Iterator[V]:
        """Give the values in order. Cost O(all of them): some microseconds for each that lies in a pack."""
        if not self.gone:
            return iter(self._values)
        return (value for row, value in enumerate(self._values) if row not in self.gone)

    def at(self, row: int) -> V:
        """Return the value of a row."""
        return self._values[row]

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        self._keys.save(writer, f"{name}.keys")
        self._values.save(writer, f"{name}.values")
        writer.array(f"{name}.gone", np.array(sorted(self.gone), np.int64))

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._keys.load(pack, f"{name}.keys")
        self._values.load(pack, f"{name}.values")
        self.gone = set(pack.array(f"{name}.gone").tolist())


class _Values(ValuesView[V]):
    _mapping: Table[V]

    def __iter__(self) -> Iterator[V]:
        return self._mapping.held()

    def __reversed__(self) -> Iterator[V]:
        table = self._mapping
        return (table.at(row) for row in reversed(range(table.size)) if row not in table.gone)
