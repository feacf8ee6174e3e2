"""What recall keeps of one user beside the state, brought up to date by what is new."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from doxa.core.values import Status
from doxa.memory import UserState
from doxa.recall.graph import MemoryGraph

__all__ = ["RecallIndex", "index_of"]

KEY = "recall"
GIVEN_UP = (Status.SUPERSEDED, Status.RETRACTED)


def index_of(state: UserState) -> RecallIndex:
    """Return the index of a memory, brought up to date. Cost O(what is new since the last call)."""
    index = cast("RecallIndex", state.kept.setdefault(KEY, RecallIndex()))
    index.sync(state)
    return index


@dataclass(slots=True)
class RecallIndex:
    """What search looks up and the state does not hold. It is made from the state and can be made anew at any time.

    Members are synced one by one; each keeps a cursor of its own and costs O(what is new).
    """

    facts: TurnFacts = field(default_factory=lambda: TurnFacts())
    graph: MemoryGraph = field(default_factory=MemoryGraph)

    def sync(self, state: UserState) -> None:
        """Bring every member up to date with the turns and changes that came since."""
        self.facts.sync(state)
        self.graph.sync(state)


@dataclass(slots=True)
class TurnFacts:
    """Which facts every turn supports, and which turns say nothing that is still held."""

    _facts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _superseded: set[str] = field(default_factory=set)
    _changes: int = 0

    def sync(self, state: UserState) -> None:
        """Read the changes that came since. Cost O(their facts' turns)."""
        beliefs, touched = state.beliefs, dict[str, None]()
        for change in beliefs.changes[self._changes :]:
            fact = change.fact
            known = beliefs.facts.get(fact.fact_id)
            for turn_id in known.turn_ids if known else fact.turn_ids:
                touched[turn_id] = None
                supported = self._facts.get(turn_id, ())
                if fact.fact_id not in supported:
                    self._facts[turn_id] = (*supported, fact.fact_id)
        self._changes = len(beliefs.changes)
        for turn_id in touched:
            statuses = [beliefs.facts[key].status for key in self._facts[turn_id] if key in beliefs.facts]
            gone = bool(statuses) and all(status in GIVEN_UP for status in statuses)
            (self._superseded.add if gone else self._superseded.discard)(turn_id)

    def held(self, turn_id: str, state: UserState) -> tuple[str, ...]:
        """Return the ids of the held facts that a turn supports."""
        facts = (state.beliefs.facts.get(key) for key in self._facts.get(turn_id, ()))
        return tuple(fact.fact_id for fact in facts if fact and fact.status is Status.HELD)

    @property
    def superseded(self) -> set[str]:
        """Ids of the turns that claim something of which nothing is held."""
        return self._superseded
