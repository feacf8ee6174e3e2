"""CPU milliseconds to take in one more belief, against a solver that is rebuilt each time; and random worlds in bulk.

python benchmarks/revision.py --beliefs 10000 --rules 200
python benchmarks/revision.py --worlds 100000

A memory holds a literal on each of its atoms and some rules, which are beliefs as well. A quarter of what comes denies
something that was believed, a quarter repeats it, half is about a new atom; what clashes is corrected by `recency`,
and the correction is part of the time. "scattered": only rules connect atoms. "one component": hard clauses connect
every atom with the next one, the worst case for a solver by component. The rebuilt solver gets the same clauses as
numbers, compiled beforehand, and is only asked whether they clash: it corrects nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from statistics import median, quantiles

import pysat.examples.rc2  # noqa: F401 - imported here, so that no step pays for it
from pysat.solvers import Solver

from doxa.logic import Lit, Theory, correct, greedy

Clause = list[Lit]
POLICIES = ("recency", "trust", "minimal", "weighted", "reject-new", "greedy")
STEPS = 10
"""Turns of a dialogue in a world (Baitalik et al. 2026, T = 10)."""


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beliefs", type=int, default=10_000, help="beliefs held when the clock starts")
    parser.add_argument("--rules", type=int, default=200)
    parser.add_argument("--steps", type=int, default=2_000, help="new beliefs that are timed")
    parser.add_argument("--worlds", type=int, default=0, help="instead: dialogues in so many random worlds")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.worlds:
        rows = list(worlds(given.worlds))
    else:
        sizes = (given.beliefs // 10, given.beliefs, 3 * given.beliefs)
        shapes = ("scattered", "one component")
        rows = [speed(shape, size, given.rules, given.steps) for shape in shapes for size in sizes]
    if given.json:
        print(json.dumps(rows, indent=1))
    else:
        table(rows)


def table(rows: Sequence[dict[str, object]]) -> None:
    """Print rows as a Markdown table."""
    print("|", " | ".join(rows[0]), "|")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        print("|", " | ".join(f"{cell:.3f}" if isinstance(cell, float) else f"{cell}" for cell in row.values()), "|")


class Memory:
    """A theory, and the same clauses as numbers for a solver that is rebuilt."""

    def __init__(self) -> None:
        self.theory = Theory()
        self.numbers: dict[Hashable, int] = {}
        self.hard: list[list[int]] = []
        self.said: dict[Hashable, list[list[int]]] = {}

    def require(self, clause: Clause) -> None:
        """Add a hard clause to both."""
        self.theory.require(clause)
        self.hard.append(self.compiled(clause))

    def compiled(self, clause: Clause) -> list[int]:
        """Return a clause as numbers."""
        return [
            self.numbers.setdefault(lit.atom, len(self.numbers) + 1) * (1 if lit.positive else -1) for lit in clause
        ]

    def tell(self, name: Hashable, clauses: list[Clause]) -> bool:
        """Take in a belief and correct what clashes; tell whether nothing did."""
        theory = self.theory
        theory.believe(name, *clauses)
        if theory.consistent():
            return True
        correction = correct("recency", theory, None, name)
        for one in (*correction.given_up, *([name] if correction.rejected else ())):
            theory.forget(one)
        return False

    def rebuild(self, name: Hashable) -> bool:
        """Ask a solver that is made anew whether everything and one more belief fit."""
        with Solver(name="minisat22") as solver:
            solver.append_formula(self.hard)
            for clauses in self.said.values():
                solver.append_formula(clauses)
            solver.append_formula(self.said.get(name, []))
            return bool(solver.solve())


def speed(shape: str, beliefs: int, rules: int, steps: int) -> dict[str, object]:
    """Return what new beliefs cost in a memory of one shape and size."""
    chance = random.Random(beliefs)
    memory = filled(shape, beliefs, rules, chance)
    memory.theory.consistent()
    fits: list[float] = []
    clashes: list[float] = []
    rebuilt: list[float] = []
    work = memory.theory.work.solves
    for step, clauses in enumerate(news(memory, shape, beliefs, steps, chance)):
        name = ("told", step)
        memory.said[name] = [memory.compiled(clause) for clause in clauses]
        if step % (steps // 20) == 0:
            start = time.process_time()
            memory.rebuild(name)
            rebuilt.append(1e3 * (time.process_time() - start))
        start = time.process_time()
        fitted = memory.tell(name, clauses)
        (fits if fitted else clashes).append(1e3 * (time.process_time() - start))
        for one in [one for one in memory.said if one not in memory.theory] if not fitted else ():
            del memory.said[one]
    times = [*fits, *clashes]
    return {
        "shape": shape,
        "beliefs": beliefs,
        "rules": rules,
        "median ms": median(times),
        "p95 ms": quantiles(times, n=20)[-1],
        "max ms": max(times),
        "clashes": f"{len(clashes)} of {steps}",
        "clash, median ms": median(clashes),
        "solver calls": memory.theory.work.solves - work,
        "rebuilt, median ms": median(rebuilt),
        "ratio of medians": median(rebuilt) / median(times),
        "ratio of means": sum(rebuilt) / len(rebuilt) / (sum(times) / len(times)),
    }


def filled(shape: str, beliefs: int, rules: int, chance: random.Random) -> Memory:
    """Return a memory of literals under rules that they keep."""
    memory, truth = Memory(), {atom: chance.random() < 0.5 for atom in range(beliefs)}
    sentences: list[tuple[Hashable, Clause]] = [
        (("rule", rule), kept(chance.sample(range(beliefs), 3), truth, chance)) for rule in range(rules)
    ]
    sentences += [(atom, [Lit(atom, value)]) for atom, value in truth.items()]
    if shape == "one component":
        for atom in range(beliefs - 1):
            memory.require(kept([atom, atom + 1], truth, chance))
    for name, clause in sentences:
        memory.theory.believe(name, clause)
        memory.said[name] = [memory.compiled(clause)]
    return memory


def kept(atoms: Sequence[int], truth: dict[int, bool], chance: random.Random) -> Clause:
    """Return a clause on some atoms of which at least one literal is true."""
    literals = [Lit(atom, chance.random() < 0.5) for atom in atoms]
    if not any(truth[atom] == lit.positive for atom, lit in zip(atoms, literals, strict=True)):
        literals[0] = ~literals[0]
    return literals


def news(memory: Memory, shape: str, beliefs: int, steps: int, chance: random.Random) -> Iterator[list[Clause]]:
    """Yield sentences: of four, two on a new atom, one that repeats and one that denies what is believed."""
    for step in range(steps):
        atom = chance.randrange(beliefs)
        believed = Lit(atom, memory.theory.entails(Lit(atom)))
        if step % 2:
            new = Lit(("new", step), chance.random() < 0.5)
            yield [[new], [~new, believed]] if shape == "one component" else [[new]]
        else:
            yield [[believed if step % 4 else ~believed]]


def worlds(count: int) -> Iterator[dict[str, object]]:
    """Yield, for each policy, what dialogues in random worlds of 5 to 60 atoms came to; another solver judges."""
    for policy in POLICIES:
        total: Counter[str] = Counter()
        start = time.process_time()
        for seed in range(count // len(POLICIES)):
            total.update(dialogue(policy, random.Random(f"{policy} {seed}")))
        yield {
            "policy": policy,
            "worlds": count // len(POLICIES),
            "steps": total["steps"],
            "inconsistent": total["inconsistent"],
            "given up a dialogue": total["given up"] / (count // len(POLICIES)),
            "rejected a dialogue": total["rejected"] / (count // len(POLICIES)),
            "ms a step, the judge included": 1e3 * (time.process_time() - start) / total["steps"],
        }


def dialogue(policy: str, chance: random.Random) -> Counter[str]:
    """Hold a dialogue of ten answers, a fifth of them wrong, and count what happened."""
    size = chance.randint(5, 60)
    truth = {atom: chance.random() < 0.5 for atom in range(size)}
    memory, counts = Memory(), Counter[str]()
    for _ in range(size):
        memory.require(kept(chance.sample(range(size), chance.choice((2, 2, 3))), truth, chance))
    for turn in range(STEPS):
        atom = chance.randrange(size)
        prior = memory.theory.names
        memory.theory.believe(turn, literal := Lit(atom, truth[atom] == (chance.random() < 0.8)))
        memory.said[turn] = [memory.compiled([literal])]
        if policy == "greedy":
            correction = greedy(memory.theory, prior, turn)
        else:
            correction = correct(policy, memory.theory, prior, turn, weight=lambda name: 1.0 + hash(name) % 3)
        for one in (*correction.given_up, *([turn] if correction.rejected else ())):
            memory.theory.forget(one)
            del memory.said[one]
        counts["given up"] += len(correction.given_up)
        counts["rejected"] += correction.rejected
        counts["inconsistent"] += not memory.rebuild(turn)
        counts["steps"] += 1
    memory.theory.close()
    return counts


if __name__ == "__main__":
    main()
