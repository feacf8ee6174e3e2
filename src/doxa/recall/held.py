"""Which facts a turn supports, and which turns tell nothing that is still believed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Fact, Status
from doxa.memory import UserState, encoded_texts, is_current

__all__ = ["TurnFacts"]

SUPERSEDED, RETRACTED = 1, 2
"""What a turn of which nothing stands is called: something of it was true once, or nothing ever was."""


@dataclass(slots=True)
class TurnFacts:
    """The facts of every turn that claims something, and whether any of them stands. Kept up to date by changes."""

    _facts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _over: NDArray[np.int8] = field(default_factory=lambda: np.zeros(64, dtype=np.int8))
    """By place: 0 where something stands or nothing was claimed, else `SUPERSEDED` or `RETRACTED`."""
    _outgoing: dict[str, None] = field(default_factory=dict)
    """Turns with a fact that ends, or gives way, on a day to come ("790 from October")."""
    _count: int = 0
    """How many turns nothing stands of."""
    _read: int = 0
    """How many changes were read."""

    def sync(self, state: UserState) -> None:
        """Read the changes that came since. Cost O(the turns of their facts)."""
        beliefs, touched = state.beliefs, dict(self._outgoing)
        for change in beliefs.changes[self._read :]:
            fact = beliefs.facts.get(change.fact.fact_id, change.fact)
            for turn_id in (*change.fact.turn_ids, *fact.turn_ids):
                touched[turn_id] = None
                supported = self._facts.get(turn_id, ())
                if fact.fact_id not in supported:
                    self._facts[turn_id] = (*supported, fact.fact_id)
        self._read = len(beliefs.changes)
        if len(state.places) > len(self._over):
            room = np.zeros(len(state.places) * 5 // 4 + 64 - len(self._over), dtype=np.int8)
            self._over = np.concatenate([self._over, room])
        for turn_id in touched:
            self._judge(turn_id, state)

    def _judge(self, turn_id: str, state: UserState) -> None:
        beliefs, turn, today = state.beliefs, state.turn(turn_id), state.today()
        place = None if turn is None else state.place(turn.ordinal)
        if place is None:
            return
        facts = [fact for key in self._facts[turn_id] if (fact := beliefs.facts.get(key)) and turn_id in fact.turn_ids]
        over = 0
        if turn and facts and all(is_over(fact, today) for fact in facts):
            # A turn of several passages says more than what was taken back, as history at least.
            never = len(encoded_texts(turn)) == 1 and all(fact.status is Status.RETRACTED for fact in facts)
            over = RETRACTED if never else SUPERSEDED
        self._count += bool(over) - bool(self._over[place])
        self._over[place] = over
        if any(ends_later(fact, today) for fact in facts):
            self._outgoing[turn_id] = None
        else:
            self._outgoing.pop(turn_id, None)

    def held(self, turn_id: str, state: UserState) -> tuple[str, ...]:
        """Return the ids of the held facts that a turn supports."""
        facts = (state.beliefs.facts.get(key) for key in self._facts.get(turn_id, ()))
        return tuple(fact.fact_id for fact in facts if fact and fact.status is Status.HELD and turn_id in fact.turn_ids)

    def stands(self, places: NDArray[np.intp], *, past: bool) -> NDArray[np.bool_]:
        """Tell for every place whether its turn claims nothing or something of it stands, `(k,) bool`. O(k).

        Args:
            places: any places.
            past: what was true once stands as well.
        """
        return np.asarray(self._over[places] != RETRACTED if past else self._over[places] == 0)

    @property
    def over(self) -> int:
        """How many turns nothing stands of. Cost O(1)."""
        return self._count


def is_over(fact: Fact, today: date | None) -> bool:
    """Tell whether a fact is believed no longer; what is to give way on a day to come is not over."""
    return fact.status in (Status.SUPERSEDED, Status.RETRACTED) and not is_current(fact, today)


def ends_later(fact: Fact, today: date | None) -> bool:
    """Tell whether a fact that is current ends on a day to come."""
    start, end = fact.valid.start, fact.valid.end
    return end is not None and start != end and today is not None and end > today
