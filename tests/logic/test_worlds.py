"""Ten thousand random worlds of 5 to 60 atoms: after every step of every dialogue the beliefs have a model.

The worlds are those of the paper's experiment (Baitalik et al. 2026, "Synthetic propositional worlds"): Horn rules and
constraints with a model, and an answerer that errs. The judge is not the theory: small worlds are checked against all
assignments, larger ones by another solver that is made anew for every step.
"""

import random
from functools import cache

import pytest
from pysat.solvers import Solver

from doxa.logic import Lit, Theory, correct, greedy

POLICIES = ("recency", "minimal", "weighted", "trust", "reject-new", "greedy")
SMALL, LARGE, STEPS = 8_500, 1_500, 10


def world(seed):
    """Return the number of atoms, the rules as lists of numbers, and ten answers, a fifth of them wrong."""
    chance = random.Random(seed)
    size = chance.randint(5, 8) if seed < SMALL else chance.randint(9, 60)
    truth = [chance.random() < 0.5 for _ in range(size)]
    rules = []
    while len(rules) < size:
        some = chance.sample(range(size), chance.choice((2, 2, 3)))
        rule = [-(atom + 1) for atom in some]
        if chance.random() < 0.7:
            rule[-1] = -rule[-1]  # an implication; else a constraint
        if any(truth[abs(literal) - 1] == (literal > 0) for literal in rule):
            rules.append(rule)
    answers = []
    for _ in range(STEPS):
        atom = chance.randrange(size)
        right = truth[atom] == (chance.random() < 0.8)
        answers.append(atom + 1 if right else -(atom + 1))
    return size, rules, answers


@cache
def assignments(literal, size):
    """Return, as bits of one number, the assignments to `size` atoms under which a literal holds."""
    atom = abs(literal) - 1
    return sum(1 << row for row in range(1 << size) if bool(row >> atom & 1) == (literal > 0))


class Assignments:
    """A judge that tries them all."""

    def __init__(self, size, rules):
        self.size, self.models = size, (1 << (1 << size)) - 1
        for rule in rules:
            holds = 0
            for literal in rule:
                holds |= assignments(literal, size)
            self.models &= holds

    def satisfiable(self, literals):
        models = self.models
        for literal in literals:
            models &= assignments(literal, self.size)
        return models != 0


class OtherSolver:
    """A judge that has no state."""

    def __init__(self, _, rules):
        self.rules = rules

    def satisfiable(self, literals):
        with Solver(name="cadical153", bootstrap_with=[*self.rules, *([literal] for literal in literals)]) as solver:
            return solver.solve()


def dialogue(seed):
    """Hold a dialogue; return the steps after which the beliefs had no model, and the beliefs that went."""
    size, rules, answers = world(seed)
    judge = (Assignments if size <= 8 else OtherSolver)(size, rules)
    policy = POLICIES[seed % len(POLICIES)]
    inconsistent = gone = 0
    with Theory() as held:
        for rule in rules:
            held.require([Lit(abs(literal), literal > 0) for literal in rule])
        for turn, answer in enumerate(answers):
            prior = held.names
            held.believe(turn, Lit(abs(answer), answer > 0))
            if policy == "greedy":
                correction = greedy(held, prior, turn)
            else:
                correction = correct(policy, held, prior, turn, weight=lambda name: 1.0 + name % 3)
            fits = judge.satisfiable([*(answers[name] for name in prior), answer])
            assert fits == (not correction.given_up and not correction.rejected)
            for name in (*correction.given_up, *([turn] if correction.rejected else ())):
                held.forget(name)
                gone += 1
            inconsistent += not judge.satisfiable([answers[name] for name in held.names])
    return inconsistent, gone


@pytest.mark.parametrize("part", range(10))
def test_no_step_of_ten_thousand_worlds_is_inconsistent(part):
    """Nothing inconsistent in any of 100,000 steps, and beliefs do go: the worlds are not harmless."""
    seeds = range(part, SMALL + LARGE, 10)
    results = [dialogue(seed) for seed in seeds]
    assert len(results) == 1_000 and sum(inconsistent for inconsistent, _ in results) == 0
    assert sum(gone for _, gone in results) > 1_000
