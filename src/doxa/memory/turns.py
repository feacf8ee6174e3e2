"""Every turn of a memory, by its place in the log and by its id; those of a pack are read when they are asked for."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, ValuesView
from typing import Any

import numpy as np

from doxa.core.values import Turn
from doxa.memory.codec import turn_from, turn_to
from doxa.memory.columns import microseconds, moment
from doxa.memory.paged import Form, Keys, Pack, PackWriter, Records

__all__ = ["Turns"]


class Turns(Mapping[int, Turn]):
    """Turns by ordinal, in the order in which they were received, which is that of their ordinals. Adding costs O(1).

    Args:
        user: whose they are.
    """

    def __init__(self, user: str) -> None:
        def read(data: Any) -> Turn:
            turn_id, ordinal, at, body = data
            return turn_from(body, turn_id=turn_id, user=user, ordinal=ordinal, at=moment(at))

        form: Form[Turn] = Form(lambda turn: [turn.turn_id, turn.ordinal, microseconds(turn.at), turn_to(turn)], read)
        self._turns: Records[Turn] = Records(form)
        self._ids = Keys()
        self._ordinals = array("q")

    def __len__(self) -> int:
        return len(self._ordinals)

    def __iter__(self) -> Iterator[int]:
        return iter(self._ordinals)

    def __reversed__(self) -> Iterator[int]:
        return reversed(self._ordinals)

    def __contains__(self, ordinal: object) -> bool:
        return isinstance(ordinal, int) and self._row(ordinal) is not None

    def __getitem__(self, ordinal: int) -> Turn:
        row = self._row(ordinal)
        if row is None:
            raise KeyError(ordinal)
        return self._turns[row]

    def values(self) -> TurnValues:
        """Return the turns in order, which may be turned round."""
        return TurnValues(self)

    def ordinal_of(self, turn_id: str) -> int | None:
        """Return the ordinal of the turn of an id; None where there is none."""
        row = self._ids.get(turn_id)
        return None if row is None else self._ordinals[row]

    def by_id(self, turn_id: str) -> Turn | None:
        """Return the turn of an id, or None."""
        row = self._ids.get(turn_id)
        return None if row is None else self._turns[row]

    def between(self, first: int, last: int) -> array[int]:
        """Return the ordinals from `first` to `last`, both included."""
        return self._ordinals[bisect_left(self._ordinals, first) : bisect_left(self._ordinals, last + 1)]

    def add(self, turn: Turn) -> None:
        """Take in a turn that came after all others, or another version of one that is there."""
        if (row := self._row(turn.ordinal)) is not None:
            self._turns.replace(row, turn)
            return
        self._ids.add(turn.turn_id)
        self._ordinals.append(turn.ordinal)
        self._turns.append(turn)

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        self._turns.save(writer, f"{name}.turns")
        self._ids.save(writer, f"{name}.ids")
        writer.array(f"{name}.ordinals", np.array(self._ordinals, np.int64))

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._turns.load(pack, f"{name}.turns")
        self._ids.load(pack, f"{name}.ids")
        self._ordinals = pack.numbers(f"{name}.ordinals")

    def _row(self, ordinal: int) -> int | None:
        row = bisect_left(self._ordinals, ordinal)
        return row if row < len(self._ordinals) and self._ordinals[row] == ordinal else None


class TurnValues(ValuesView[Turn]):
    """The turns in order; `reversed` gives the latest first."""

    _mapping: Turns

    def __iter__(self) -> Iterator[Turn]:
        return iter(self._mapping._turns)

    def __reversed__(self) -> Iterator[Turn]:
        return reversed(self._mapping._turns)
