"""Which facts a turn supports, and which turns tell nothing that is still believed."""

from __future__ import annotations

from datetime import date

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import ChangeKind, Fact, Status
from doxa.memory import Beliefs, Pack, PackWriter, UserState, encoded_texts, is_current
from doxa.recall.graph.adjacency import Adjacency
from doxa.recall.graph.sheet import Sheet

__all__ = ["TurnFacts"]

TOLD = (ChangeKind.ASSERT, ChangeKind.SUPPORT)
SUPERSEDED, RETRACTED = 1, 2
"""What a turn of which nothing stands is called: something of it was true once, or nothing ever was."""


class TurnFacts:
    """The facts of every turn that claims something, and whether any of them stands. Kept up to date by changes."""

    def __init__(self) -> None:
        self._facts = Adjacency()
        """The facts of turns, as rows of `Beliefs.facts`, by the ordinals of the turns."""
        self._over = Sheet({"over": "i1", "disputed": "i1"})
        """By place: 0 where something stands or nothing was claimed, else `SUPERSEDED` or `RETRACTED`; and whether
        anything that is held of it is disputed."""
        self._outgoing: dict[int, None] = {}
        """Turns with a fact that ends, or gives way, on a day to come ("790 from October")."""
        self._count = 0
        """How many turns nothing stands of."""
        self._read = 0
        """How many changes were read."""

    def sync(self, state: UserState) -> None:
        """Read the changes that came since. Cost O(the turns of their facts)."""
        while len(self._over) < len(state.places):
            self._over.add(over=0, disputed=0)
        touched = dict(self._outgoing)
        for row, turns in self._changed(state.beliefs).items():
            for turn_id in turns:
                ordinal = state.turns.ordinal_of(turn_id)
                if ordinal is None:
                    continue
                touched[ordinal] = None
                if row not in self._rows(ordinal):
                    self._facts.add(ordinal, row)
        for ordinal in touched:
            self._judge(ordinal, state)

    def _changed(self, beliefs: Beliefs) -> dict[int, dict[str, None]]:
        """Return the facts that changed since the last call, each with the turns that it names or named."""
        facts = beliefs.facts
        changed: dict[int, dict[str, None]] = {}
        fell: set[int] = set()
        for number in range(self._read, len(beliefs.changes)):
            change = beliefs.changes[number]
            row = facts.number(change.fact.fact_id)
            if row is None:
                continue
            if row not in changed:
                changed[row] = dict.fromkeys(() if row in facts.gone else facts.at(row).turn_ids)
            changed[row] |= dict.fromkeys(change.fact.turn_ids)
            if change.kind not in TOLD and row not in fell:  # turns that it no longer names may stand by it alone
                fell.add(row)
                before = (one.fact.turn_ids for one in beliefs.changes_of(change.fact.fact_id))
                changed[row] |= dict.fromkeys(turn_id for turn_ids in before for turn_id in turn_ids)
        self._read = len(beliefs.changes)
        return changed

    def _rows(self, ordinal: int) -> list[int]:
        """Return the facts that were ever told in a turn, in the order in which they came to be."""
        return sorted(self._facts.of_one(ordinal))

    def _supported(self, ordinal: int, state: UserState) -> list[Fact]:
        """Return the facts that a turn supports."""
        facts, turn_id = state.beliefs.facts, state.turns[ordinal].turn_id
        return [
            facts.at(row) for row in self._rows(ordinal) if row not in facts.gone and turn_id in facts.at(row).turn_ids
        ]

    def _judge(self, ordinal: int, state: UserState) -> None:
        today, place = state.today(), state.place(ordinal)
        if place is None:
            return
        facts = self._supported(ordinal, state)
        over = 0
        if facts and all(is_over(fact, today) for fact in facts):
            # A turn of several passages says more than what was taken back, as history at least.
            never = all(fact.status is Status.RETRACTED for fact in facts)
            over = RETRACTED if never and len(encoded_texts(state.turns[ordinal])) == 1 else SUPERSEDED
        self._count += bool(over) - bool(self._over.get("over", place))
        self._over.put("over", place, over)
        self._over.put("disputed", place, any(fact.disputed and fact.status is Status.HELD for fact in facts))
        if any(ends_later(fact, today) for fact in facts):
            self._outgoing[ordinal] = None
        else:
            self._outgoing.pop(ordinal, None)

    def held(self, turn_id: str, state: UserState) -> tuple[str, ...]:
        """Return the ids of the held facts that a turn supports, in the order in which they came to be."""
        ordinal = state.turns.ordinal_of(turn_id)
        facts = [] if ordinal is None else self._supported(ordinal, state)
        return tuple(fact.fact_id for fact in facts if fact.status is Status.HELD)

    def stands(self, places: NDArray[np.intp] | slice, *, past: bool) -> NDArray[np.bool_]:
        """Tell for every place whether its turn claims nothing or something of it stands, `(k,) bool`. O(k).

        Args:
            places: any places.
            past: what was true once stands as well.
        """
        over = self._over.take("over", places)
        return np.asarray(over != RETRACTED if past else over == 0)

    def disputed(self, place: int) -> bool:
        """Tell whether a fact that a turn supports is held and disputed. O(1)."""
        return bool(self._over.get("disputed", place))

    @property
    def over(self) -> int:
        """How many turns nothing stands of. Cost O(1)."""
        return self._count

    def save(self, writer: PackWriter, name: str) -> None:
        """Write them."""
        self._facts.save(writer, f"{name}.facts")
        self._over.save(writer, name)
        writer.value(f"{name}.values", (list(self._outgoing), self._count, self._read))

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._facts.load(pack, f"{name}.facts")
        self._over.load(pack, name)
        outgoing, self._count, self._read = pack.value(f"{name}.values")
        self._outgoing = dict.fromkeys(outgoing)


def is_over(fact: Fact, today: date | None) -> bool:
    """Tell whether a fact is believed no longer; what is to give way on a day to come is not over."""
    return fact.status in (Status.SUPERSEDED, Status.RETRACTED) and not is_current(fact, today)


def ends_later(fact: Fact, today: date | None) -> bool:
    """Tell whether a fact that is current ends on a day to come."""
    start, end = fact.valid.start, fact.valid.end
    return end is not None and start != end and today is not None and end > today
