"""Literals that an answerer commits to -> a belief state, kept by the system under test.

Source: Baitalik et al. 2026, sections "Baseline: Unchecked Belief Accumulation" and "Solver-Augmented Belief Revision".
The paper leaves open whether a literal that is said again is a second entry of the belief list. It is one entry here,
for every system: with two, Algorithm 1 as printed could never give up what was said twice, since it drops one entry at
a time, and its 0 of 120 inconsistent dialogues could not come about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

from doxa.logic import Correction, Lit, Policy, Theory, as_printed, correct, greedy
from doxa_bench.worlds.world import Rule, World

__all__ = ["BASELINE", "PRINTED", "SYSTEMS", "Believer", "Dropped"]

BASELINE, PRINTED, GREEDY = "baseline", "algorithm1", "greedy"
POLICIES: tuple[Policy, ...] = get_args(Policy)
SYSTEMS = (BASELINE, PRINTED, *POLICIES, GREEDY)
"""`baseline` checks nothing, `algorithm1` is the paper's as printed, `greedy` that completed; others are policies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A literal that was given up, or that was not taken in, and why."""

    turn: int
    """The answer that led to it, from 1."""
    lit: Lit
    since: int
    """The answer by which it had been taken in; of one that was not, `turn`."""
    said: Lit
    """What that answer commits to; of a literal that was not taken in, that literal."""
    beliefs: tuple[Lit, ...]
    """With which of the beliefs that stayed it clashes, a smallest set; none where the rules alone refute it."""
    rules: tuple[str, ...]
    """By which rules it does, in words."""

    @property
    def rejected(self) -> bool:
        """True when it was not taken in at all."""
        return self.lit == self.said


class Believer:
    """The belief state of one dialogue under one system. `close` frees its solver.

    Args:
        system: one of `SYSTEMS`.
        world: its rules.
        logs: whether each literal that goes is noted with its reason, at the cost of a core each.

    The weight of a belief, where the policy has one, is how often it has been said (its corroboration). All of them
    come from one source, so `trust` decides nothing by itself here and falls back to recency.
    """

    def __init__(self, system: str, world: World, *, logs: bool = False) -> None:
        self.system = system
        self.log: list[Dropped] = []
        self.retractions = 0
        """Beliefs given up for a later one."""
        self.rejections = 0
        """Literals that were not taken in."""
        self.broken: str | None = None
        """Why the state first had no model any more: `rules` (the new literal goes against them), `several` (more than
        one belief would have to go, or nothing was checked)."""
        self._world, self._logs = world, logs
        self._theory = world.open_theory()
        self._said: dict[Lit, int] = {}
        self._held: dict[Lit, int] = {}
        """Each with the answer by which it was taken in."""

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

    def commit(self, lit: Lit, turn: int = 0) -> None:
        """Take in a literal, and revise; `turn` is the number of the answer that commits to it, for the log."""
        self._said[lit] = self._said.get(lit, 0) + 1
        if lit in self._held:
            self._held[lit] = self._held.pop(lit)  # said last
            return
        prior = self.held
        self._held[lit] = turn
        self._theory.believe(lit, lit)
        correction = self._correct(prior, lit)
        gone = {name: self._held.pop(name) for name in (*correction.given_up, *((lit,) if correction.rejected else ()))}
        for name in gone:
            self._theory.forget(name)
        if self._logs:
            self.log += [self._dropped(turn, name, since, lit) for name, since in gone.items()]
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

    def _dropped(self, turn: int, lit: Lit, since: int, said: Lit) -> Dropped:
        beliefs, rules = _clash(self._world.rules, self._held, lit)
        return Dropped(turn=turn, lit=lit, since=since, said=said, beliefs=beliefs, rules=rules)

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


def _clash(rules: Iterable[Rule], held: Iterable[Lit], lit: Lit) -> tuple[tuple[Lit, ...], tuple[str, ...]]:
    """Return the beliefs and rules of a smallest set that has no model together with a literal; empty if there is none.

    Cost: one core, over a theory that is built for it.
    """
    with Theory() as theory:
        for rule in rules:
            theory.believe(rule, *rule.clauses)
        for one in (*held, lit):
            theory.believe(one, one)
        core = theory.core() or ()
    beliefs = tuple(name for name in core if isinstance(name, Lit) and name != lit)
    return beliefs, tuple(name.text for name in core if isinstance(name, Rule))
