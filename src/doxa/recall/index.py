"""What recall keeps of one user beside the state, brought up to date by what is new."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from doxa.memory import UserState
from doxa.recall.graph import MemoryGraph
from doxa.recall.held import TurnFacts
from doxa.recall.traits import TurnTraits

__all__ = ["RecallIndex", "index_of"]

KEY = "recall"


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

    facts: TurnFacts = field(default_factory=TurnFacts)
    graph: MemoryGraph = field(default_factory=MemoryGraph)
    traits: TurnTraits = field(default_factory=TurnTraits)

    def sync(self, state: UserState) -> None:
        """Bring every member up to date with the turns and changes that came since."""
        self.facts.sync(state)
        self.graph.sync(state)
        self.traits.sync(state)
