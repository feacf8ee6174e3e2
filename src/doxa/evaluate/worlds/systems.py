"""Literals that an answerer commits to -> a belief state, kept by the system under test.

Source: Baitalik et al. 2026, sections "Baseline: Unchecked Belief Accumulation" and "Solver-Augmented Belief Revision".
The paper leaves open whether a literal that is said again is a second entry of the belief list. It is one entry here,
for every system: with two, Algorithm 1 as printed could never give up what was said twice, since it drops one entry at
a time, and its 0 of 120 inconsistent dialogues could not come about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from doxa.evaluate.worlds.world import World
from doxa.logic import Correction, Lit, Policy, as_printed, correct, greedy

__all__ = ["BASELINE", "PRINTED", "SYSTEMS", "Believer"]

BASELINE, PRINTED, GREEDY = "baseline", "algorithm1", "greedy"
POLICIES: tuple[Policy, ...] = get_args(Policy)
SYSTEMS = (BASELINE, PRINTED, *POLICIES, GREEDY)
"""`baseline` checks nothing, `algorithm1` is the paper's as printed, `greedy` that completed; others are policies."""


class Believer:
    """The belief state of one dialogue under one system. `close` frees its solver.

    The weight of a belief, where the policy has one, is how often it has been said (its corroboration). All of them
    come from one source, so `trust` decides nothing by itself here and falls back to recency.
    """

    def __init__(self, system: str, world: World) -> None:
        self.system = system
        self.retractions = 0
        """Beliefs given up for a later one."""
        self.rejections = 0
        """Literals that were not taken in."""
        self.broken: str | None = None
        """Why the state first had no model any more: `rules` (the new literal goes against them), `several` (more than
        one belief would have to go, or nothing was checked)."""
        self._theory = world.open_theory()
        self._said: dict[Lit, int] = {}
        self._held: dict[Lit, None] = {}

    @property
    def held(self) -> tuple[Lit, ...]:
        """What is believed, oldest first."""
        return tuple(self._held)

    @property
    def consistent(self) -> bool:
        """True when the rules and what is believed have a model."""
        return self._theory.consistent()

    @property
    def contradicted(self) -> bool:
        """True when some atom was said to be true and said to be false, whatever became of it."""
        return any(~lit in self._said for lit in self._said)

    def commit(self, lit: Lit) -> None:
        """Take in a literal, and revise."""
        self._said[lit] = self._said.get(lit, 0) + 1
        if lit in self._held:
            self._held[lit] = self._held.pop(lit)  # said last
            return
        prior = self.held
        self._held[lit] = None
        self._theory.believe(lit, lit)
        correction = self._correct(prior, lit)
        for name in (*correction.given_up, *((lit,) if correction.rejected else ())):
            del self._held[name]
            self._theory.forget(name)
        self.retractions += len(correction.given_up)
        self.rejections += correction.rejected
        if self.broken is None and not self.consistent:
            self.broken = "several" if self._theory.consistent([lit]) else "rules"

    def label(self, atom: str) -> bool | None:
        """Return what is believed of an atom: the last belief about it, None for none."""
        return next((lit.positive for lit in reversed(self.held) if lit.atom == atom), None)

    def entailed(self, atom: str) -> bool | None:
        """Return what the rules and the beliefs together entail of an atom; None for nothing."""
        yes, no = self._theory.entails(Lit(atom)), self._theory.entails(Lit(atom, False))
        return yes if yes != no else None

    def model(self) -> Mapping[object, bool] | None:
        """Return values that satisfy the rules and the beliefs; None when there are none."""
        return self._theory.model()

    def close(self) -> None:
        """Free the solver."""
        self._theory.close()

    def _correct(self, prior: tuple[Lit, ...], new: Lit) -> Correction:
        match self.system:
            case "baseline":
                return Correction()
            case "algorithm1":
                return as_printed(self._theory, prior, new)
            case "greedy":
                return greedy(self._theory, prior, new)
        policy: Policy = next(policy for policy in POLICIES if policy == self.system)
        weight = self._weight if policy == "weighted" else None
        return correct(policy, self._theory, prior, new, weight=weight)

    def _weight(self, name: object) -> float:
        return float(self._said[name])  # type: ignore[index]  # names are literals here
