"""Human-logic alignment: does what was retrieved bear on where the people take the conversation? (section IV-E)

    S_align = |K & T| / |T|     over the transitions T that an event entails with more than theta (equation 5)

The paper leaves open what "align with the ground-truth event" pairs up. Here every transition has one event, the one
that entails it best; it is counted in T where that is with more than theta, and in K & T where the same event entails
a retrieved sentence with more than theta as well. Events are what the reasoner infers from the conversation before it
chooses, the same for all systems, which all are given what it chose. Transitions are, offline, what is said next in
the dialogue itself: the sentences of its second half with four words or more (the paper has a model label phrases).

An NLI model finds some texts entailed by whatever is said, even by nothing ("Fun is good."): the bias of hypotheses
(Poliak et al. 2018). A text that the empty premise entails with more than theta therefore counts nowhere, neither as a
transition nor as knowledge. Without that, five sentences drawn at random align with 0.21 of the transitions of
DailyDialog; with it, with 0.05.

"No threshold" is: entailment is the most likely of the three classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from doxa.backends.nli import Judge

__all__ = ["ARGMAX", "THRESHOLDS", "Entailment", "Transitions", "counts"]

THRESHOLDS = tuple(round(0.1 * step, 1) for step in range(1, 10))
ARGMAX = "no threshold"
LEVELS: tuple[float | str, ...] = (*THRESHOLDS, ARGMAX)
NOTHING = ""
LEAST = THRESHOLDS[0]
"""An event that entails no transition with more is never asked about."""

Table = NDArray[np.float32]


@dataclass(slots=True)
class Entailment:
    """An NLI model that remembers: many systems retrieve the same sentences."""

    classify: Judge
    kept: dict[tuple[str, str], NDArray[np.float32]] = field(default_factory=dict)

    def __call__(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Table:
        """Return P(entailment), P(neutral), P(contradiction) of all pairs, `(premises, hypotheses, 3)`."""
        pairs = [(one, other) for one in premises for other in hypotheses]
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.kept]
        if new:
            self.kept.update(zip(new, self.classify(new), strict=True))
        rows = [self.kept[pair] for pair in pairs]
        return np.array(rows, dtype=np.float32).reshape(len(premises), len(hypotheses), 3)

    def forget(self) -> None:
        """Drop what is kept: the next dialogue has other events."""
        self.kept.clear()


@dataclass(frozen=True, slots=True)
class Transitions:
    """The transitions of a dialogue that have an event, with how far it entails them."""

    events: tuple[str, ...]
    """One for each transition; it may be the same."""
    table: Table
    """By its event, `(t, 3)`."""
    alone: Table
    """By nothing at all, `(t, 3)`."""

    @classmethod
    def of(cls, transitions: Sequence[str], events: Sequence[str], entails: Entailment) -> Transitions:
        """Find the event of each transition. Cost: an NLI pair for each of both."""
        if not transitions or not events:
            nothing = np.empty((0, 3), dtype=np.float32)
            return cls((), nothing, nothing)
        table = entails(events, transitions)
        best = table[:, :, 0].argmax(axis=0)
        rows = table[best, np.arange(len(transitions))]
        kept = np.flatnonzero((rows[:, 0] > LEAST) | _likeliest(rows))
        alone = entails([NOTHING], transitions)[0]
        return cls(tuple(events[best[place]] for place in kept), rows[kept], alone[kept])


def counts(found: Transitions, sentences: Sequence[str], entails: Entailment) -> dict[str, tuple[int, int]]:
    """Return for each threshold, and for none, how many transitions are aligned and how many there are.

    Cost: an NLI pair for each sentence and event of a transition, and one for each sentence alone.
    """
    if not found.events or not sentences:
        return {str(one): (0, int(_above(found, one).sum())) for one in LEVELS}
    events = list(dict.fromkeys(found.events))
    table = entails(events, sentences)[[events.index(event) for event in found.events]]
    alone = entails([NOTHING], sentences)[0]
    result: dict[str, tuple[int, int]] = {}
    for threshold in LEVELS:
        there = _above(found, threshold)
        met = (_passes(table, threshold) & ~_passes(alone, threshold)).any(axis=1)
        result[str(threshold)] = int((there & met).sum()), int(there.sum())
    return result


def _above(found: Transitions, threshold: float | str) -> NDArray[np.bool_]:
    """Tell which transitions their event entails, and nothing alone does."""
    return _passes(found.table, threshold) & ~_passes(found.alone, threshold)


def _passes(table: Table, threshold: float | str) -> NDArray[np.bool_]:
    """Tell where there is entailment, of `(..., 3)`."""
    if isinstance(threshold, str):
        return _likeliest(table)
    passes: NDArray[np.bool_] = table[..., 0] > threshold
    return passes


def _likeliest(table: Table) -> NDArray[np.bool_]:
    likeliest: NDArray[np.bool_] = table.argmax(axis=-1) == 0
    return likeliest
