"""How strong every edge is, by what answers told (section 3.2 step III, appendix A.3).

A fold of the feedback in the log: the same log gives the same strengths, and what is erased there is gone here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from doxa.core.feedback import Feedback
from doxa.memory import Pack, PackWriter

__all__ = ["EdgeStrengths", "FeedbackSpec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackSpec:
    """How fast edges learn, and how far one dialogue may move them."""

    rate: float = 0.01
    """Eta (appendix B.1) of a relation that nothing is known of."""
    penalty: float = 0.5
    """Lambda of equation 10, which the paper does not print a value of."""
    settled: int = 50
    """Signals after which the rate of a relation has fallen to 0.7 of what it was (1 / sqrt(1 + signals / settled))."""
    per_edge: int = 3
    """Signals of one dialogue that count for one edge."""
    per_dialogue: int = 30
    """Signals of one dialogue that count at all."""
    unseen: int = 64
    """Edges at strength 1 that the normalisation counts beside those with feedback."""
    floor: float = 0.1
    """No edge falls below this: what was wrong once may be right again."""


@dataclass(slots=True)
class EdgeStrengths:
    """The strength of every edge, relative to one that nothing was ever told about. Synced batch by batch."""

    spec: FeedbackSpec = field(default_factory=FeedbackSpec)
    _strengths: dict[str, float] = field(default_factory=dict)
    _square: float = 0.0
    """Sum of the squares of the strengths."""
    _signals: Counter[str] = field(default_factory=Counter)
    _by_dialogue: Counter[tuple[str, str]] = field(default_factory=Counter)
    _batches: int = 0

    def __len__(self) -> int:
        return len(self._strengths)

    def strength(self, edge: str) -> float:
        """Return how strong an edge is; 1 is what an edge without feedback has. O(1)."""
        return self._strengths.get(edge, 1.0)

    @property
    def all(self) -> Mapping[str, float]:
        """The strength of every edge that anything was told about, by its id."""
        return MappingProxyType(self._strengths)

    def sync(self, batches: Sequence[Sequence[Feedback]]) -> None:
        """Learn from the micro-batches that came since. Cost O(their edges), whatever was learned before.

        Args:
            batches: `state.feedback`, of which those that were seen before are the first.
        """
        for batch in batches[self._batches :]:
            self.learn(batch)
        self._batches = len(batches)

    def learn(self, batch: Sequence[Feedback]) -> None:
        """Move the edges of one micro-batch, then normalise (equations 10 and 11).

        Equation 10 adds eta to an edge that was used in a successful retrieval, and takes eta lambda from one that
        "should have been traversed but was missed". As printed that is backwards: the edge that was needed gets weaker
        each time it is needed, so it is found even less. Here a missed edge gains eta lambda (less than a used one,
        since a counterfactual is no proof), and the penalty goes to the edges that led to what was shown in its place.

        Equation 11 divides every strength by the length of all, which makes them depend on how many edges there are.
        Here they are divided by the root of their mean square, the same up to that factor, with `unseen` edges that
        nothing was told about among them. Kept is the ratio to such an edge, which dividing all does not change; what
        it does change is how far a step goes: the more has been learned, the less the next signal counts.
        """
        spec = self.spec
        unit = ((self._square + spec.unseen) / (len(self._strengths) + spec.unseen)) ** 0.5
        for edge, relation, sign in self._allowed(batch):
            rate = spec.rate / (1 + self._signals[relation] / spec.settled) ** 0.5
            self._signals[relation] += 1
            before = self._strengths.get(edge)
            after = max((1.0 if before is None else before) + unit * rate * sign, spec.floor)
            self._square += after**2 - (before or 0.0) ** 2
            self._strengths[edge] = after

    def save(self, writer: PackWriter, name: str) -> None:
        """Write them. Cost O(edges and dialogues that anything was told about)."""
        dialogues = [(*key, count) for key, count in self._by_dialogue.items()]
        writer.value(name, (self._strengths, self._square, self._signals, dialogues, self._batches))

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._strengths, self._square, signals, dialogues, self._batches = pack.value(name)
        self._signals = Counter(signals)
        self._by_dialogue = Counter({(dialogue, edge): count for dialogue, edge, count in dialogues})

    def _allowed(self, batch: Sequence[Feedback]) -> Iterator[tuple[str, str, float]]:
        """Yield edge, relation and direction of every signal that its dialogue may still give."""
        for told in batch:
            dialogue = told.session or told.at.date().isoformat()
            for edge, relation, sign in self._signals_of(told):
                here, in_all = (dialogue, edge), (dialogue, "")
                if self._by_dialogue[here] < self.spec.per_edge and self._by_dialogue[in_all] < self.spec.per_dialogue:
                    self._by_dialogue[here] += 1
                    self._by_dialogue[in_all] += 1
                    yield edge, relation, sign

    def _signals_of(self, told: Feedback) -> Iterator[tuple[str, str, float]]:
        gain = 1.0 if told.channel == "used" else self.spec.penalty
        for edge, relation in told.edges:
            yield edge, relation, gain
        for edge, relation in told.misled:
            yield edge, relation, -self.spec.penalty
