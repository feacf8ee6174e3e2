"""The cheapest set that has a member of each of some sets."""

import random
from itertools import combinations

import pytest

from doxa.logic import Lit, Theory, weighted
from doxa.logic.hitting import cheapest_hit


@pytest.mark.parametrize("seed", range(60))
def test_it_costs_as_little_as_the_best_of_all_sets(seed):
    """Whatever the sets have in common."""
    chance = random.Random(seed)
    members = range(chance.randint(1, 9))
    costs = {member: chance.randint(0, 20) for member in members}
    sets = [chance.sample(members, chance.randint(1, min(4, len(members)))) for _ in range(chance.randint(1, 8))]
    every = [set(some) for size in range(len(members) + 1) for some in combinations(members, size)]
    least = min(sum(costs[one] for one in some) for some in every if all(some & set(one) for one in sets))
    found = cheapest_hit(sets, costs, 10_000)
    assert all(found & set(one) for one in sets)
    assert sum(costs[one] for one in found) == least


def test_it_gives_up_where_there_are_too_many_branches():
    """Whoever asks has a solver for that."""
    assert cheapest_hit([[1, 2], [2, 3], [3, 1]], dict.fromkeys((1, 2, 3), 1), branches=1) is None


def test_one_belief_that_refutes_a_thousand_needs_no_solver_for_sums(monkeypatch):
    """A run of RC2 for each of the thousand took 21 seconds."""
    monkeypatch.setattr("pysat.examples.rc2.RC2", None)
    theory = Theory()
    for number in range(1000):
        theory.require([Lit("new", False), Lit(number, False)])
        theory.believe(number, [Lit(number, True)])
    theory.believe("new", [Lit("new", True)])
    for own, rejected, gone in ((999.0, True, 0), (1001.0, False, 1000)):
        found = weighted(theory, None, "new", lambda name, own=own: own if name == "new" else 1.0)
        assert (found.rejected, len(found.given_up)) == (rejected, gone)
