import pytest

from doxa.core.errors import NotFoundError
from doxa.logic import Lit, Theory

A, B, C, D = (Lit(atom) for atom in "ABCD")


def theory(**beliefs):
    found = Theory()
    for name, clauses in beliefs.items():
        found.believe(name, *([clauses] if isinstance(clauses, Lit) else clauses))
    return found


def test_a_literal_can_be_turned_round_and_reads_as_words():
    """The complement of a complement is the literal; a negative one says so."""
    assert ~~A == A and Lit("A", False) == ~A and str(~A) == "not A"


def test_an_empty_theory_is_consistent_and_entails_nothing():
    """Without clauses everything is possible."""
    empty = Theory()
    assert empty.consistent() and empty.core() is None and not empty.entails(A) and empty.model() == {}


def test_a_belief_and_its_denial_are_a_core():
    """Two beliefs that deny each other clash, and both are named."""
    held = theory(yes=A, no=~A, other=B)
    assert not held.consistent() and held.core() == ("yes", "no")


def test_what_follows_is_entailed_and_explained_by_what_it_follows_from():
    """An explanation holds the premises and the rule, and nothing else."""
    held = theory(a=A, rule=[[~A, B]], c=C)
    assert held.entails(B) and held.explain(B) == ("a", "rule")
    assert not held.entails(D) and held.explain(D) is None


def test_hard_clauses_are_never_named():
    """What is required clashes with beliefs, but only beliefs are given as the reason."""
    held = theory(a=A, b=B)
    held.require([~A, ~B])
    assert held.core() == ("a", "b")
    held.require(~A)
    assert held.core() == ("a",)
    held.require(A)
    assert held.core() == () and held.cores(limit=5) == [()] and held.model() is None


def test_literals_may_be_assumed_for_one_question():
    """What is assumed counts for that question only."""
    held = theory(a=A, rule=[[~A, B]])
    assert not held.consistent(also=[~B]) and held.core(also=[~B]) == ("a", "rule")
    assert held.consistent()
    assert held.core(also=[C, ~C]) == () and held.core(also=[C]) is None


def test_only_the_named_beliefs_count():
    """A question about some beliefs is not answered for others."""
    held = theory(yes=A, no=~A, b=B)
    assert held.consistent(["yes", "b"]) and held.core(["yes", "b"]) is None and held.core(["no", "yes"])
    assert held.entails(B, ["b"]) and not held.entails(B, ["yes"])


def test_some_beliefs_may_be_left_out():
    """To leave out is the same as to name the others."""
    held = theory(yes=A, no=~A, b=B, not_b=~B)
    assert held.core(without=["b"]) == ("yes", "no") and held.core(without=["yes"]) == ("b", "not_b")
    assert held.consistent(without=["yes", "b"]) and not held.consistent(["yes", "no", "b"], without=["b"])
    with pytest.raises(NotFoundError):
        held.consistent(without=["c"])


def test_believing_again_replaces_and_makes_newest():
    """One name stands for one belief, the last that was told."""
    held = theory(a=A, b=B)
    held.believe("a", ~A)
    assert held.names == ("b", "a") and held.entails(~A) and len(held) == 2


def test_a_forgotten_belief_counts_no_more():
    """Forgetting restores what was consistent before."""
    held = theory(yes=A, no=~A)
    held.forget("no")
    assert "no" not in held and held.consistent() and held.entails(A)


def test_an_unknown_name_is_told_of():
    """A name that nothing is believed under is an error of the caller."""
    with pytest.raises(NotFoundError, match="'b'; believe it first"):
        theory(a=A).forget("b")
    with pytest.raises(NotFoundError):
        theory(a=A).consistent(["b"])


def test_a_belief_may_say_nothing_or_the_impossible():
    """No clause at all holds everywhere, an empty clause nowhere; a tautology says nothing."""
    held = theory(nothing=[], same=[[A, ~A]])
    assert held.consistent() and held.connected(["nothing"]) == ["nothing"]
    held.believe("never", [])
    assert held.core() == ("never",)


def test_all_cores_are_enumerated():
    """Every minimal clash is found once, up to the limit."""
    held = theory(a=A, b=B, c=C, d=D, one=[[~A, ~B]], two=[[~C, ~D]], three=[[~A, ~C]])
    assert sorted(held.cores(limit=10)) == [("a", "b", "one"), ("a", "c", "three"), ("c", "d", "two")]
    assert len(held.cores(limit=2)) == 2 and held.cores(["a", "b"], limit=9) == []


def test_beliefs_are_connected_through_clauses():
    """Rules and hard clauses connect; what was forgotten does not."""
    held = theory(a=A, rule=[[~A, B]], b=B, c=C, d=D)
    held.require([C, D])
    assert held.connected(["a"]) == ["a", "rule", "b"] and held.connected(["d"]) == ["c", "d"]
    held.forget("rule")
    assert held.connected(["a"]) == ["a"]


def test_a_model_satisfies_what_is_asked():
    """Every atom gets a value, and the beliefs hold under it."""
    held = theory(a=A, rule=[[~A, B]], c=~C, not_b=~B)
    assert held.model() is None
    model = held.model(["a", "rule", "c"])
    assert model == {"A": True, "B": True, "C": False}


def test_a_closed_theory_builds_its_solvers_anew():
    """Closing frees memory, not knowledge."""
    with theory(a=A, no=~A) as held:
        assert held.core() == ("a", "no")
    assert held.core() == ("a", "no")


def test_the_core_does_not_depend_on_what_was_asked_before():
    """Two theories with one history of beliefs and different questions give the same core."""
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]

    def told(ask):
        held = Theory()
        for i, j in pairs:
            held.believe((i, j), [~Lit(i), Lit(j)])
            if ask:
                held.explain(Lit(j)), held.model(), held.consistent(also=[Lit(i), ~Lit(j)])
        held.believe("start", Lit(0))
        if ask:
            held.consistent()
        held.believe("end", ~Lit(5))
        return held.core(), held.explain(Lit(3), ["start", *pairs]), held.cores(limit=3)

    assert told(ask=True) == told(ask=False)


def test_a_new_belief_asks_no_solver_while_the_witness_can_be_kept():
    """Work is counted: a thousand beliefs that fit cost no question at all."""
    held = Theory()
    for i in range(1000):
        held.believe(i, Lit(i, i % 3 > 0))
        held.believe(("rule", i), [~Lit(i), Lit(i + 1), Lit(("other", i))])
        assert held.consistent()
    assert held.work.solves == 0


def test_a_clash_asks_only_its_own_component():
    """The literals assumed do not grow with the beliefs that are not connected."""

    def assumed(others):
        held = theory(a=A, rule=[[~A, B]])
        for i in range(others):
            held.believe(i, Lit(i))
        held.consistent()
        held.believe("no", ~B)
        assert held.core() == ("a", "rule", "no")
        return held.work.assumed, held.work.solves, held.work.loaded

    assert assumed(10) == assumed(5000)


def test_forgetting_does_not_pile_up():
    """A belief that is replaced for ever leaves a solver no larger than what is held."""
    held = theory(a=A, rule=[[~A, B]])
    for turn in range(2000):
        held.believe("b", Lit("B", turn % 2 == 0))
        assert held.consistent() == (turn % 2 == 0)
    assert held.work.loaded < 3 * 2000


def test_the_core_is_looked_for_near_the_newest_belief():
    """In a chain of three thousand rules a clash at the end costs a few small questions, not the whole chain."""
    held = Theory()
    for i in range(3000):
        held.believe(i, [~Lit(i), Lit(i + 1)])
    held.believe("no", Lit(3000, False))
    assert held.consistent()
    before = held.work.assumed
    held.believe("yes", Lit(2998))
    assert held.core() == (2998, 2999, "no", "yes")
    assert held.work.assumed - before < 2 * 3002 + 300


def test_a_question_about_some_beliefs_does_not_pay_for_what_clashes_elsewhere():
    """A theory may hold much that clashes; who asks about a few beliefs is answered from those alone."""
    held = Theory()
    for i in range(500):
        held.require([Lit(("a", i)), Lit(("b", i))])
        held.believe(("yes", i), Lit(("a", i)))
        held.believe(("no", i), ~Lit(("a", i)))
    assert held.consistent([("yes", 3), ("no", 4)]) and not held.consistent([("yes", 3), ("no", 3)])
    before = held.work.solves
    for _ in range(500):
        assert held.core([("yes", 7), ("no", 8), ("no", 7)]) == (("yes", 7), ("no", 7))
    assert held.work.solves - before <= 500 * 6
    held.require(~Lit(("b", 9)))
    held.require(~Lit(("a", 9)))
    assert held.core([("yes", 7)]) == () and not held.consistent([])


def test_a_model_of_some_beliefs_keeps_the_hard_clauses_of_the_others():
    """A clash that nobody asked about leaves values that break no hard clause."""
    held = theory(a=A, b=B, c=C)
    held.require([~A, ~B])
    held.require([~C, D])
    assert held.consistent(["a"]) and not held.consistent()
    model = held.model(["c"])
    assert not (model["A"] and model["B"]) and model["C"] and model["D"]
