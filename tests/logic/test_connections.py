"""What can take part in a clash is found without asking anybody whether there is one."""

from hypothesis import given
from hypothesis import strategies as st

from doxa.logic import Connections, Difference, Lit, Theory

LITERALS = st.builds(Lit, st.sampled_from("abcdef"), st.booleans())
CLAUSES = st.lists(st.lists(LITERALS, min_size=1, max_size=3, unique_by=lambda one: one.atom), max_size=9)


def connected(clauses):
    """Return the connections of clauses whose names are their places."""
    connections = Connections()
    for name, clause in enumerate(clauses):
        connections.add(name, [clause])
    return connections


@given(CLAUSES, LITERALS, st.sets(st.integers(0, 8)))
def test_every_minimal_clash_with_a_literal_is_among_what_is_found(clauses, literal, gone):
    """Whichever clauses count."""
    counting = [name for name in range(len(clauses)) if name not in gone]
    found = connected(clauses).clashing([(None, [literal])], counting.__contains__)
    with Theory() as theory:
        theory.require(literal)
        for name in counting:
            theory.believe(name, clauses[name])
        cores = theory.cores(counting, limit=200)
    with Theory() as theory:
        for name in counting:
            theory.believe(name, clauses[name])
        without = {frozenset(core) for core in theory.cores(counting, limit=200)}
    assert found <= set(counting)
    assert all(found.issuperset(core) for core in cores if frozenset(core) not in without)


@given(CLAUSES, LITERALS, LITERALS)
def test_a_way_leads_in_both_directions(clauses, one, other):
    """So what a change may decide is found from the change."""
    connections = connected(clauses)
    assert (~other in connections.around([[one]])) == (~one in connections.around([[other]]))


def test_what_nothing_denies_clashes_with_nothing():
    """Not at the end of a chain either."""
    chain = [[Lit(place, positive=False), Lit(place + 1)] for place in range(50)]
    assert connected(chain).clashing([(None, [Lit(0)])], lambda name: True) == set()
    closed = connected([*chain, [Lit(50, positive=False)]])
    assert closed.clashing([(None, [Lit(0)])], lambda name: True) == set(range(51))


def test_any_bound_may_clash_with_any_other():
    """By a sum that goes through others."""
    one, other = Difference("x", "y", 3), Difference("y", "z", -9)
    connections = connected([[Lit(one)], [Lit("a")]])
    assert connections.clashing([(None, [Lit(other)])], lambda name: True) == {0}
