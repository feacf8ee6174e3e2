"""What recall keeps of one user beside the state, brought up to date by what is new."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from doxa.memory import Pack, PackWriter, UserState
from doxa.recall.feedback import EdgeStrengths
from doxa.recall.graph.graph import MemoryGraph
from doxa.recall.graph.tags import TurnTags
from doxa.recall.held import TurnFacts
from doxa.recall.profile import Profile
from doxa.recall.timeline import Timeline
from doxa.recall.traits import TurnTraits

__all__ = ["RecallIndex", "index_of"]

KEY = "recall"
FORMAT = 1
MEMBERS = ("facts", "traits", "tags", "profile", "strengths", "timeline", "graph")


def index_of(state: UserState) -> RecallIndex:
    """Return the index of a memory, brought up to date. Cost O(what is new since the last call)."""
    index = cast("RecallIndex | None", state.kept.get(KEY))
    if index is None:
        index = state.kept[KEY] = RecallIndex.of(state.packed)
    index.sync(state)
    return index


@dataclass(slots=True)
class RecallIndex:
    """What search looks up and the state does not hold. It is made from the state and can be made anew at any time.

    Members are synced one by one; each keeps a cursor of its own and costs O(what is new).
    """

    facts: TurnFacts = field(default_factory=TurnFacts)
    traits: TurnTraits = field(default_factory=TurnTraits)
    tags: TurnTags = field(default_factory=TurnTags)
    profile: Profile = field(default_factory=Profile)
    strengths: EdgeStrengths = field(default_factory=EdgeStrengths)
    timeline: Timeline = field(default_factory=Timeline)
    graph: MemoryGraph = field(init=False)
    _batches: int = 0

    def __post_init__(self) -> None:
        self.graph = MemoryGraph(self.tags.of)

    @classmethod
    def of(cls, pack: Pack | None) -> RecallIndex:
        """Return the index that a pack has, as of when that was written; an empty one where it has none of this form.

        Cost O(its arrays), and no turn or fact is read.
        """
        index, about = cls(), f"{KEY}.about"
        if pack is not None and about in pack and (told := pack.value(about))[0] == FORMAT:
            _, index._batches = told
            for member in MEMBERS:
                getattr(index, member).load(pack, f"{KEY}.{member}")
        return index

    def save(self, writer: PackWriter, /) -> None:
        """Write it. Cost O(its bytes)."""
        writer.value(f"{KEY}.about", (FORMAT, self._batches))
        for member in MEMBERS:
            getattr(self, member).save(writer, f"{KEY}.{member}")

    def sync(self, state: UserState) -> None:
        """Bring every member up to date with the turns and changes that came since."""
        self.facts.sync(state)
        self.tags.sync(state)
        self.timeline.sync(state)
        self.graph.sync(state)
        self.traits.sync(state)
        self.profile.sync(state, self.tags)
        if len(state.feedback) != self._batches:
            self.strengths.sync(state.feedback)
            self.graph.learn(self.strengths.all)
            self._batches = len(state.feedback)
