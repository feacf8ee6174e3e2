"""A new belief that clashes with earlier ones -> the beliefs to give up so that the rest has a model.

Every function takes a theory in which the prior beliefs and the new one are already held, and leaves it as it is: the
caller forgets what the correction says. `prior` is in order of age, oldest first; None stands for all other beliefs in
the order in which they were believed, and is the quickest. Only the prior beliefs, the new one and the hard clauses
count; other beliefs of the theory are neither looked at nor given up.

`as_printed` is Algorithm 1 of the paper, kept to be measured against. All others end satisfiable whenever the hard
clauses do, and give up a subset-minimal set: put any one belief back and the rest clashes again (inclusion, relevance
and vacuity of Hansson's base revision, "A textbook of belief dynamics", 1999, section 4).

| policy | what is given up | the new belief |
|---|---|---|
| `recency` | older beliefs before newer ones | always stays |
| `minimal` | as few as possible | always stays |
| `trust` | less trusted before more trusted, one trusted belief outweighs any number of less trusted | competes |
| `weighted` | as little weight as possible in total | competes |
| `reject-new` | the new one | goes whenever it clashes |

"Always stays" has one exception, the one that the paper leaves open: a belief that clashes with the hard clauses alone
is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, get_args

from doxa.core.errors import ConfigError
from doxa.logic.components import SOLVER
from doxa.logic.hitting import cheapest_hit
from doxa.logic.theory import Name, Theory

__all__ = [
    "Correction",
    "Policy",
    "as_printed",
    "correct",
    "greedy",
    "minimal",
    "recency",
    "reject_new",
    "trust",
    "weighted",
]

Policy = Literal["recency", "trust", "minimal", "weighted", "reject-new"]
Prior = Sequence[Name] | None
Weight = Callable[[Name], float]
Rank = Callable[[Name, float], Any]
"""What a belief is ordered by, from its name and a number that is the larger the newer it is."""

MAX_CORES = 500
"""Cores that an order of preference is decided by, before the beliefs themselves are tried."""

MOST_BRANCHES = 500
"""Branches in which the lightest set is looked for, before a solver is asked."""
WEIGHT_STEPS = 1_000_000
"""Weights are compared to this many parts of one: the solver adds whole numbers, so that sums are exact."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What to do so that the beliefs have a model again."""

    given_up: tuple[Name, ...] = ()
    """Prior beliefs to forget, in order of age."""
    core: tuple[Name, ...] = ()
    """Why: a minimal set of beliefs that clash; empty when nothing did, or when the hard clauses do so alone."""
    rejected: bool = False
    """The new belief is to be forgotten."""


def correct(policy: Policy, theory: Theory, prior: Prior, new: Name, *, weight: Weight | None = None) -> Correction:
    """Return the correction that a policy chooses.

    Args:
        policy: its name.
        theory: holds `prior` and `new`, and stays as it is.
        prior: the beliefs that may be given up, oldest first; None for all others of the theory.
        new: the belief that came last.
        weight: how much a belief counts, for `trust` and `weighted`; 0 or more. Without it all beliefs count 1.

    Raises:
        ConfigError: there is no such policy.
        NotFoundError: a belief is not held in the theory.
    """
    weight = weight or _one
    match policy:
        case "recency":
            return recency(theory, prior, new)
        case "trust":
            return trust(theory, prior, new, weight)
        case "minimal":
            return minimal(theory, prior, new)
        case "weighted":
            return weighted(theory, prior, new, weight)
        case "reject-new":
            return reject_new(theory, prior, new)
    raise ConfigError(f"Expected a policy of revision ({', '.join(get_args(Policy))}), got {policy!r}.")


def as_printed(theory: Theory, prior: Prior, new: Name) -> Correction:
    """Return what Algorithm 1 gives up: the oldest belief whose absence alone restores satisfiability, if there is one.

    It never rejects the new belief, and when two must go it gives up nothing and ends unsatisfiable (lines 7 to 16: the
    tentative drop is kept only if it already suffices). Candidates outside one minimal core are passed over: without
    them the core still clashes, so line 9 fails.

    Cost: 1 + (size of a core) satisfiability checks.
    Source: Baitalik et al. 2026, Algorithm 1, with the paper's order (oldest first).
    """
    clash = _clash(theory, prior, new)
    alone = (name for name in clash.candidates if clash.fits([name]))
    return Correction(tuple(islice(alone, 1)), clash.core or ())


def greedy(theory: Theory, prior: Prior, new: Name) -> Correction:
    """Return Algorithm 1, completed: it always ends satisfiable, and rejects what clashes with the hard clauses alone.

    Where one drop suffices it is Algorithm 1's own. Where none does, the oldest belief of a minimal core goes and
    Algorithm 1 is run again on the rest; at the end every dropped belief that fits after all comes back, newest first.
    Gives up a subset-minimal set, not always the smallest.

    Cost: (drops + 1) x (size of a core + 1) satisfiability checks and as many cores as drops.
    """
    clash = _clash(theory, prior, new)
    if not clash.core or clash.refuted:
        return clash.rejection()
    dropped: list[Name] = []
    core: tuple[Name, ...] | None = clash.core
    while core is not None:
        candidates = clash.told(core)
        alone = (name for name in candidates if clash.fits([*dropped, name]))
        dropped.append(next(alone, candidates[0]))
        core = clash.core_without(dropped)
    for name in reversed(clash.told(dropped)):
        others = [one for one in dropped if one != name]
        if clash.fits(others):
            dropped = others
    return Correction(clash.told(dropped), clash.core)


def recency(theory: Theory, prior: Prior, new: Name) -> Correction:
    """Return the correction that keeps the newest beliefs: each in turn, newest first, stays if it fits those that did.

    The preferred subtheory (Brewka 1989, "Preferred subtheories: an extended logical framework for default reasoning")
    of the order of age, with the new belief first: unique, so it does not depend on how it is found.

    Cost: see `_Clash.preferred`.
    """
    return _clash(theory, prior, new).preferred(lambda _, age: age)


def trust(theory: Theory, prior: Prior, new: Name, weight: Weight) -> Correction:
    """Return the correction that keeps the most trusted beliefs: as `recency`, most trusted first, then newest.

    The new belief competes: less trusted than what it clashes with, it is rejected; as trusted, it wins, being newer.
    """
    return _clash(theory, prior, new).preferred(lambda name, age: (weight(name), age))


def reject_new(theory: Theory, prior: Prior, new: Name) -> Correction:
    """Return the correction that gives up the new belief when it clashes with the prior ones."""
    return _clash(theory, prior, new).preferred(lambda name, age: (name != new, age))


def minimal(theory: Theory, prior: Prior, new: Name, prefer: Weight | None = None) -> Correction:
    """Return a correction of the fewest beliefs; the new one stays.

    Args:
        theory: holds `prior` and `new`, and stays as it is.
        prior: the beliefs that may be given up, oldest first; None for all others of the theory.
        new: the belief that came last.
        prefer: of two corrections as small, the one whose most preferred belief is less preferred is taken, and among
            beliefs as preferred (all of them without this argument) older ones go.

    Cost: see `_Clash.lightest`.
    """
    clash = _clash(theory, prior, new)
    if not clash.core or clash.refuted:
        return clash.rejection()
    rank = prefer or _one
    given_up = clash.lightest(_one, lambda name, age: (rank(name), age), fixed=new)
    return Correction(clash.told(given_up), clash.core)


def weighted(theory: Theory, prior: Prior, new: Name, weight: Weight) -> Correction:
    """Return the correction of the least total weight; the new belief competes with its own weight.

    Weights are 0 or more and are compared in millionths. Of corrections as light, one that keeps the new belief comes
    first, then one that gives up older beliefs. The maximum satisfiable subset by weight.

    Cost: see `_Clash.lightest`.
    """
    clash = _clash(theory, prior, new)
    if not clash.core:
        return clash.rejection()
    given_up = clash.lightest(weight, lambda _, age: age)
    return Correction(clash.told(given_up), clash.core, rejected=new in given_up)


@dataclass(frozen=True, slots=True)
class _Clash:
    """A theory whose prior beliefs and new one clash, if there is a core."""

    theory: Theory
    new: Name
    ages: Mapping[Name, int] | None = None
    """Places of the prior beliefs of components that may clash; None when all others of the theory are prior."""
    apart: frozenset[Name] = frozenset()
    """Beliefs of the theory that do not count."""
    core: tuple[Name, ...] | None = None

    def fits(self, gone: Iterable[Name]) -> bool:
        """Tell whether everything but some beliefs is consistent."""
        return self.theory.consistent(without=[*self.apart, *gone])

    def core_without(self, gone: Iterable[Name]) -> tuple[Name, ...] | None:
        """Return a core of everything but some beliefs, or None."""
        return self.theory.core(without=[*self.apart, *gone])

    @property
    def candidates(self) -> tuple[Name, ...]:
        """The prior beliefs of the core, oldest first."""
        return self.told(self.core or ())

    @property
    def refuted(self) -> bool:
        """True when the hard clauses alone exclude the new belief."""
        if self.core and self.new in self.core:
            return len(self.core) == 1  # a minimal core of several has no smaller one in it
        return not self.theory.consistent([self.new])

    def told(self, some: Iterable[Name]) -> tuple[Name, ...]:
        """Return those of some beliefs that are prior, oldest first."""
        return tuple(sorted((name for name in some if name != self.new), key=self.age))

    def age(self, name: Name) -> float:
        """Return a number that is the larger the newer a belief is."""
        return math.inf if name == self.new else self.theory.age(name) if self.ages is None else self.ages[name]

    def rejection(self) -> Correction:
        """Return the correction that rejects the new belief, unless nothing clashes at all.

        Prior beliefs go only if they clash among themselves, and none where the hard clauses clash.
        """
        if not self.core:
            return Correction(rejected=self.core is not None)
        if self.fits([self.new]):
            return Correction((), self.core, rejected=True)
        return self.preferred(lambda name, age: (name != self.new, age))

    def preferred(self, rank: Rank) -> Correction:
        """Return the correction that keeps each belief, highest rank first, if it fits those that it kept before.

        That is the set given up whose highest ranks are lowest, so the cores tell it, one or two in nearly all cases;
        when there are too many, the beliefs are halved instead of looking for more of them (Felfernig, Schubert and
        Zehentner 2012, "An efficient diagnosis algorithm for inconsistent constraint sets", FastDiag: O(d log(n/d))
        satisfiability checks to give up d of n beliefs). Both give the same.
        """
        if not self.core:
            return self.rejection()
        given_up = self.lightest(_nothing, rank, limit=MAX_CORES)
        return Correction(self.told(given_up), self.core, rejected=self.new in given_up)

    def lightest(
        self, weight: Weight, rank: Rank, *, fixed: Name | None = None, limit: int | None = None
    ) -> frozenset[Name]:
        """Return the lightest set of beliefs without which the others are consistent; not with `fixed` in it.

        Implicit hitting sets: the lightest set that meets every core found so far is taken away; if the rest still
        clashes, its core is added, else the set is optimal. The theory's own solver answers, so a conflict among few
        beliefs of many costs little. Of sets as light, the one whose highest rank is lowest; unique.

        Cost: one core for each time the rest clashes, and an optimum for each time that a set that hit the cores so far
        does not do: branches first, RC2 where there are too many; NP-hard, exponential in the number of overlapping
        cores at worst.
        Source: Davies and Bacchus 2011, "Solving MaxSAT by solving a sequence of simpler SAT instances", CP.
        """
        core, cores = self.core, list[list[Name]]()
        taken: frozenset[Name] = frozenset()
        while core is not None:
            apart = set(taken)
            while core is not None:  # one of each goes, so that no optimum is needed before the rest fits
                cores.append([name for name in core if fixed is None or name != fixed])
                apart.add(min(cores[-1], key=lambda name: (weight(name), rank(name, self.age(name)))))
                core = self.core_without(apart)
            if limit is not None and len(cores) > limit:
                return frozenset(_halved(self, rank))
            taken = _lightest_hit(cores, weight, self.ranked({name for one in cores for name in one}, rank))
            core = self.core_without(taken)
        return taken

    def ranked(self, names: Iterable[Name], rank: Rank) -> list[Name]:
        """Return names, lowest rank first."""
        return sorted(names, key=lambda name: rank(name, self.age(name)))


def _clash(theory: Theory, prior: Prior, new: Name) -> _Clash:
    """Return how beliefs clash; beliefs that are neither prior nor new do not count."""
    if theory.consistent():
        return _Clash(theory, new)
    if prior is None:
        return _Clash(theory, new, core=theory.core())
    unsettled = frozenset(theory.unsettled())
    ages = {name: age for age, name in enumerate(filter(unsettled.__contains__, prior))}
    apart = unsettled.difference(ages, (new,))
    return _Clash(theory, new, ages, apart, theory.core(without=apart))


def _halved(clash: _Clash, rank: Rank) -> list[Name]:
    """Return what `_Clash.preferred` gives up, found by halving the beliefs."""
    preferred = clash.ranked(frozenset(clash.theory.unsettled()) - clash.apart, rank)[::-1]

    def gone(kept: list[Name], some: Sequence[Name]) -> list[Name]:
        if not some or clash.theory.consistent([*kept, *some]):
            return []
        if len(some) == 1:
            return list(some)
        half = len(some) // 2
        early = gone(kept, some[:half])
        dropped = frozenset(early)
        return early + gone([*kept, *(name for name in some[:half] if name not in dropped)], some[half:])

    return gone([], preferred)


def _lightest_hit(cores: Sequence[Sequence[Name]], weight: Weight, by_rank: Sequence[Name]) -> frozenset[Name]:
    """Return the lightest set with a member of every core; of those as light, the one whose highest rank is lowest.

    The ranks are added below the weights as powers of two, so the optimum is unique and no solver's whim decides.

    Source: Ignatiev, Morgado and Marques-Silva 2019, "RC2: an efficient MaxSAT solver", JSAT 11.
    """
    steps = {name: round(weight(name) * WEIGHT_STEPS) for name in by_rank}
    if not any(steps.values()):
        return _lowest_hit(cores, by_rank)
    costs = {name: (steps[name] << len(by_rank)) + (1 << place) for place, name in enumerate(by_rank)}
    if (found := cheapest_hit(cores, costs, MOST_BRANCHES)) is not None:
        return found
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    numbers = {name: number for number, name in enumerate(by_rank, 1)}
    formula = WCNF()
    for core in cores:
        formula.append([numbers[name] for name in core])
    for name, number in numbers.items():
        formula.append([-number], weight=costs[name])
    with RC2(formula, solver=SOLVER) as solver:
        chosen = frozenset(solver.compute())
    return frozenset(name for name, number in numbers.items() if number in chosen)


def _lowest_hit(cores: Sequence[Sequence[Name]], by_rank: Sequence[Name]) -> frozenset[Name]:
    """Return the set with a member of every core whose highest rank is lowest, then the second highest, and so on.

    From the highest rank down, a name is spared unless it is the last one left of a core. Cost O(members of cores).
    """
    left = [len(core) for core in cores]
    places: dict[Name, list[int]] = {name: [] for name in by_rank}
    for place, core in enumerate(cores):
        for name in core:
            places[name].append(place)
    hit = set[Name]()
    for name in reversed(by_rank):
        if any(left[place] == 1 for place in places[name]):
            hit.add(name)
            for place in places[name]:
                left[place] = -1  # this core is hit; it asks for nothing more
        else:
            for place in places[name]:
                left[place] -= 1
    return frozenset(hit)


def _one(_: Name) -> float:
    return 1.0


def _nothing(_: Name) -> float:
    return 0.0
