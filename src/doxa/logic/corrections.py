"""A new belief that clashes with earlier ones -> the beliefs to give up so that the rest has a model.

Every function takes a theory in which the prior beliefs and the new one are already held, and leaves it as it is: the
caller forgets what the correction says. `prior` is in order of age, oldest first. Only the named beliefs and the hard
clauses count; other beliefs of the theory are neither looked at nor given up.

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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from doxa.core.errors import ConfigError
from doxa.logic.components import SOLVER
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
Weight = Callable[[Name], float]

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


def correct(
    policy: Policy, theory: Theory, prior: Sequence[Name], new: Name, *, weight: Weight | None = None
) -> Correction:
    """Return the correction that a policy chooses.

    Args:
        policy: its name.
        theory: holds `prior` and `new`, and stays as it is.
        prior: the beliefs that may be given up, oldest first.
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


def as_printed(theory: Theory, prior: Sequence[Name], new: Name) -> Correction:
    """Return what Algorithm 1 gives up: the oldest belief whose absence alone restores satisfiability, if there is one.

    It never rejects the new belief, and when two must go it gives up nothing and ends unsatisfiable (lines 7 to 16: the
    tentative drop is kept only if it already suffices). Candidates outside one minimal core are passed over: without
    them the core still clashes, so line 9 fails.

    Cost: 1 + (size of a core) satisfiability checks.
    Source: Baitalik et al. 2026, Algorithm 1, with the paper's order (oldest first).
    """
    prior, core = _scope(theory, prior, new)
    for name in _in(core or (), prior):
        if theory.consistent([*_without(prior, (name,)), new]):
            return Correction((name,), core or ())
    return Correction((), core or ())


def greedy(theory: Theory, prior: Sequence[Name], new: Name) -> Correction:
    """Return Algorithm 1, completed: it always ends satisfiable, and rejects what clashes with the hard clauses alone.

    Where one drop suffices it is Algorithm 1's own. Where none does, the oldest belief of a minimal core goes and
    Algorithm 1 is run again on the rest; at the end every dropped belief that fits after all comes back, newest first.
    Gives up a subset-minimal set, not always the smallest.

    Cost: (drops + 1) x (size of a core + 1) satisfiability checks and as many cores as drops.
    """
    prior, core = _scope(theory, prior, new)
    if not core:
        return Correction(rejected=core is not None)
    if not theory.consistent([new]):
        return Correction(_needed_anyway(theory, prior), core, rejected=True)
    dropped: list[Name] = []
    clash: tuple[Name, ...] | None = core
    while clash is not None:
        candidates = _in(clash, prior)
        kept = _without(prior, dropped)
        alone = (name for name in candidates if theory.consistent([*_without(kept, (name,)), new]))
        dropped.append(next(alone, candidates[0]))
        clash = theory.core([*_without(prior, dropped), new])
    return Correction(_in(_shrunk(theory, prior, new, dropped), prior), core)


def recency(theory: Theory, prior: Sequence[Name], new: Name) -> Correction:
    """Return the correction that keeps the newest beliefs: each in turn, newest first, stays if it fits those that did.

    The preferred subtheory (Brewka 1989, "Preferred subtheories: an extended logical framework for default reasoning")
    of the order of age, with the new belief first: unique, so it does not depend on how it is found.

    Cost: O(d log(n/d)) satisfiability checks to give up d of the n beliefs connected with the new one.
    """
    return _by_preference(theory, prior, new, lambda near: [new, *reversed(near)])


def trust(theory: Theory, prior: Sequence[Name], new: Name, weight: Weight) -> Correction:
    """Return the correction that keeps the most trusted beliefs: as `recency`, most trusted first, then newest.

    The new belief competes: less trusted than what it clashes with, it is rejected; as trusted, it wins, being newer.
    """
    return _by_preference(
        theory, prior, new, lambda near: sorted([new, *reversed(near)], key=lambda name: -weight(name))
    )


def minimal(theory: Theory, prior: Sequence[Name], new: Name, prefer: Weight | None = None) -> Correction:
    """Return a correction of the fewest beliefs; the new one stays.

    Args:
        theory: holds `prior` and `new`, and stays as it is.
        prior: the beliefs that may be given up, oldest first.
        new: the belief that came last.
        prefer: of two corrections as small, the one whose most preferred belief is less preferred is taken, and among
            beliefs as preferred (all of them without this argument) older ones go.

    Cost: see `_cheapest`.
    """
    prior, core = _scope(theory, prior, new)
    if not core:
        return Correction(rejected=core is not None)
    if not theory.consistent([new]):
        return Correction(_needed_anyway(theory, prior), core, rejected=True)
    given_up = _cheapest(theory, prior, (new,), _one, prefer or _one)
    return Correction(_in(given_up, prior), core)


def weighted(theory: Theory, prior: Sequence[Name], new: Name, weight: Weight) -> Correction:
    """Return the correction of the least total weight; the new belief competes with its own weight.

    Weights are 0 or more and are compared in millionths. Of corrections as light, one that keeps the new belief comes
    first, then one that gives up older beliefs. The maximum satisfiable subset by weight.

    Cost: see `_cheapest`.
    """
    prior, core = _scope(theory, prior, new)
    if not core:
        return Correction(rejected=core is not None)
    given_up = _cheapest(theory, [*prior, new], (), weight, _one)
    return Correction(_in(given_up, prior), core, rejected=new in given_up)


def reject_new(theory: Theory, prior: Sequence[Name], new: Name) -> Correction:
    """Return the correction that gives up the new belief when it clashes with the prior ones."""
    return _by_preference(theory, prior, new, lambda near: [*reversed(near), new])


def _scope(theory: Theory, prior: Sequence[Name], new: Name) -> tuple[list[Name], tuple[Name, ...] | None]:
    """Return the prior beliefs of components that may clash, and a core of them and the new belief, as `Theory.core`.

    Components that are known to have a model need no correction: it may be as large as the whole memory.
    """
    if theory.consistent():
        return [], None
    unsettled = frozenset(theory.unsettled())
    near = [name for name in prior if name in unsettled]
    return near, theory.core([*near, new])


def _by_preference(
    theory: Theory, prior: Sequence[Name], new: Name, arrange: Callable[[Sequence[Name]], Sequence[Name]]
) -> Correction:
    prior, core = _scope(theory, prior, new)
    if not core:
        return Correction(rejected=core is not None)
    given_up = frozenset(_least_preferred(theory, arrange(prior)))
    return Correction(_in(given_up, prior), core, rejected=new in given_up)


def _least_preferred(theory: Theory, preferred: Sequence[Name]) -> list[Name]:
    """Return what must go so that the rest is consistent, where a belief yields to those before it.

    Halves the beliefs instead of trying them one by one (Felfernig, Schubert and Zehentner 2012, "An efficient
    diagnosis algorithm for inconsistent constraint sets", FastDiag).
    """

    def gone(kept: list[Name], some: Sequence[Name]) -> list[Name]:
        if not some or theory.consistent([*kept, *some]):
            return []
        if len(some) == 1:
            return list(some)
        half = len(some) // 2
        early = gone(kept, some[:half])
        return early + gone(kept + _without(some[:half], early), some[half:])

    return gone([], preferred)


def _needed_anyway(theory: Theory, prior: Sequence[Name]) -> tuple[Name, ...]:
    """Return what the prior beliefs must give up without the new one: nothing, as long as they were consistent."""
    if theory.consistent(prior):
        return ()
    return _in(frozenset(_least_preferred(theory, list(reversed(prior)))), prior)


def _shrunk(theory: Theory, prior: Sequence[Name], new: Name, dropped: Sequence[Name]) -> list[Name]:
    """Return the dropped beliefs less those that fit after all; the newest come back first."""
    gone = list(dropped)
    for name in reversed(_in(dropped, prior)):
        without = _without(gone, (name,))
        if theory.consistent([*_without(prior, without), new]):
            gone = without
    return gone


def _cheapest(
    theory: Theory, candidates: Sequence[Name], fixed: Sequence[Name], weight: Weight, prefer: Weight
) -> frozenset[Name]:
    """Return the lightest set of candidates without which the rest and `fixed` are consistent.

    Implicit hitting sets: the lightest set that meets every core found so far is taken away; if the rest still clashes,
    its core is added, else the set is optimal. The theory's own solver answers, so a conflict among few beliefs of many
    costs little. Of sets as light, the one that keeps what is preferred, then what is later in `candidates`; unique.

    Cost: one core and one run of RC2 for each time the rest clashes; NP-hard, exponential in the number of overlapping
    cores at worst.
    Source: Davies and Bacchus 2011, "Solving MaxSAT by solving a sequence of simpler SAT instances", CP.
    """
    ages = {name: age for age, name in enumerate(candidates)}
    wanted = sorted(candidates, key=lambda name: (prefer(name), ages[name]))
    ranks = {name: rank for rank, name in enumerate(wanted)}
    cores: list[list[Name]] = []
    taken: frozenset[Name] = frozenset()
    while (core := theory.core([*_without(candidates, taken), *fixed])) is not None:
        cores.append([name for name in core if name in ages and name not in fixed])
        taken = _lightest_hit(cores, weight, ranks)
    return taken


def _lightest_hit(cores: Sequence[Sequence[Name]], weight: Weight, ranks: Mapping[Name, int]) -> frozenset[Name]:
    """Return the lightest set with a member of every core; of those as light, the one whose highest rank is lowest.

    The ranks are added below the weights as powers of two, so the optimum is unique and no solver's whim decides.

    Source: Ignatiev, Morgado and Marques-Silva 2019, "RC2: an efficient MaxSAT solver", JSAT 11.
    """
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    members = sorted({name for core in cores for name in core}, key=lambda name: ranks[name])
    numbers = {name: number for number, name in enumerate(members, 1)}
    formula = WCNF()
    for core in cores:
        formula.append([numbers[name] for name in core])
    for name, number in numbers.items():
        steps = round(weight(name) * WEIGHT_STEPS)
        formula.append([-number], weight=(steps << len(members)) + (1 << (number - 1)))
    with RC2(formula, solver=SOLVER) as solver:
        chosen = frozenset(solver.compute())
    return frozenset(name for name, number in numbers.items() if number in chosen)


def _in(some: Iterable[Name], prior: Sequence[Name]) -> tuple[Name, ...]:
    """Return those of the prior beliefs that are among some, oldest first."""
    wanted = frozenset(some)
    return tuple(name for name in prior if name in wanted)


def _without(names: Sequence[Name], some: Iterable[Name]) -> list[Name]:
    gone = frozenset(some)
    return [name for name in names if name not in gone]


def _one(_: Name) -> float:
    return 1.0
