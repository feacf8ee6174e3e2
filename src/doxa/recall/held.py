"""Which facts a turn supports, and which turns tell nothing that is still believed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Status
from doxa.memory import UserState, is_current

__all__ = ["TurnFacts"]

GIVEN_UP = (Status.SUPERSEDED, Status.RETRACTED)


@dataclass(slots=True)
class TurnFacts:
    """The facts of every turn that claims something, and whether any of them stands. Kept up to date by changes."""

    _facts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _superseded: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(64, dtype=np.bool_))
    _outgoing: dict[str, None] = field(default_factory=dict)
    """Turns with a fact that gives way on a day to come ("790 from October")."""
    _count: int = 0
    """How many turns are superseded."""
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
        if len(state.places) > len(self._superseded):
            room = np.zeros(2 * len(state.places) - len(self._superseded), dtype=np.bool_)
            self._superseded = np.concatenate([self._superseded, room])
        for turn_id in touched:
            self._judge(turn_id, state)

    def _judge(self, turn_id: str, state: UserState) -> None:
        beliefs, turn, today = state.beliefs, state.turn(turn_id), state.today()
        place = None if turn is None else state.place(turn.ordinal)
        if place is None:
            return
        facts = [fact for key in self._facts[turn_id] if (fact := beliefs.facts.get(key)) and turn_id in fact.turn_ids]
        given_up = [fact for fact in facts if fact.status in GIVEN_UP]
        outgoing = any(is_current(fact, today) for fact in given_up)
        superseded = bool(facts) and len(given_up) == len(facts) and not outgoing
        self._count += superseded - int(self._superseded[place])
        self._superseded[place] = superseded
        if outgoing:
            self._outgoing[turn_id] = None
        else:
            self._outgoing.pop(turn_id, None)

    def held(self, turn_id: str, state: UserState) -> tuple[str, ...]:
        """Return the ids of the held facts that a turn supports."""
        facts = (state.beliefs.facts.get(key) for key in self._facts.get(turn_id, ()))
        return tuple(fact.fact_id for fact in facts if fact and fact.status is Status.HELD and turn_id in fact.turn_ids)

    def superseded(self, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Tell for every place whether its turn claims something and nothing of it is held, `(k,) bool`. O(k)."""
        return self._superseded[places]

    @property
    def any_superseded(self) -> bool:
        """Whether there is such a turn at all. Cost O(1)."""
        return self._count > 0
