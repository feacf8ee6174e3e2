import pytest

from doxa.core.errors import ConfigError
from doxa.logic import Correction, Lit, Theory, as_printed, correct, greedy, minimal, recency, trust, weighted

A, B, C, D = (Lit(atom) for atom in "ABCD")
POLICIES = ("recency", "trust", "minimal", "weighted", "reject-new")


def theory(*hard, **beliefs):
    found = Theory()
    for clause in hard:
        found.require(clause)
    for name, literal in beliefs.items():
        found.believe(name, literal)
    return found


def kept(held, correction):
    gone = {*correction.given_up, *([held.names[-1]] if correction.rejected else [])}
    return [name for name in held.names if name not in gone]


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_given_up_without_a_clash(policy):
    """What fits is taken as it is."""
    held = theory([~A, B], a=A, b=B)
    assert correct(policy, held, ["a"], "b") == Correction()


def test_algorithm_1_as_printed_gives_up_the_oldest_that_suffices():
    """One drop restores: the oldest belief of the core goes."""
    held = theory([~A, ~B, ~C], a=A, b=B, other=D, c=C)
    assert as_printed(held, ["a", "b", "other"], "c") == Correction(("a",), ("a", "b", "c"))


def two_must_go():
    return theory([~A, ~C], [~B, ~C], a=A, b=B, c=C), ["a", "b"], "c"


def test_algorithm_1_as_printed_ends_unsatisfiable_when_two_must_go():
    """No single drop restores, so it drops nothing; completed, it drops both."""
    held, prior, new = two_must_go()
    printed, ours = as_printed(held, prior, new), greedy(held, prior, new)
    assert not held.consistent(kept(held, printed)) and printed.given_up == ()
    assert held.consistent(kept(held, ours)) and ours.given_up == ("a", "b")


def test_algorithm_1_as_printed_keeps_a_literal_that_the_rules_refute():
    """It cannot reject; completed, it does and gives up nothing else."""
    held = theory(~C, a=A, c=C)
    assert not held.consistent(kept(held, as_printed(held, ["a"], "c")))
    assert greedy(held, ["a"], "c") == Correction((), ("c",), rejected=True)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_the_hard_clauses_refute_is_rejected(policy):
    """The new belief goes, whatever the policy; nothing else does."""
    held = theory(~C, a=A, c=C)
    assert correct(policy, held, ["a"], "c") == Correction((), ("c",), rejected=True)


@pytest.mark.parametrize("policy", POLICIES)
def test_hard_clauses_that_clash_cannot_be_corrected(policy):
    """No belief is to blame, so none is given up; the new one is not taken."""
    held = theory(C, ~C, a=A, b=B)
    assert correct(policy, held, ["a"], "b") == Correction((), (), rejected=True)


def test_recency_keeps_the_newest_and_minimal_the_most():
    """One new belief against two older ones that clash with a third in between."""
    held = theory([~A, ~C, ~D], [~B, ~C, ~D], a=A, b=B, c=C, d=D)
    assert recency(held, ["a", "b", "c"], "d").given_up == ("a", "b")
    assert minimal(held, ["a", "b", "c"], "d").given_up == ("c",)


def test_minimal_prefers_among_equals():
    """Of two corrections of one belief the less preferred belief goes; without a preference the older."""
    held = theory([~A, ~B, ~C], a=A, b=B, c=C)
    assert minimal(held, ["a", "b"], "c").given_up == ("a",)
    assert minimal(held, ["a", "b"], "c", {"a": 2.0, "b": 1.0}.get).given_up == ("b",)


def test_trust_lets_one_trusted_belief_outweigh_many():
    """By trust the one stays, by weight the many do."""
    weight = {"one": 3.0, "a": 2.0, "b": 2.0, "new": 9.0}.get
    held = theory([~A, ~B, ~D], [~C, ~B, ~D], one=B, a=A, b=C, new=D)
    assert trust(held, ["one", "a", "b"], "new", weight).given_up == ("a", "b")
    assert weighted(held, ["one", "a", "b"], "new", weight).given_up == ("one",)


def test_an_untrusted_new_belief_is_rejected():
    """Where beliefs compete, the lighter one goes; as trusted, the newer one stays."""
    held = theory(a=A, no=~A)
    for chosen in (trust, weighted):
        assert chosen(held, ["a"], "no", {"a": 1.0, "no": 0.5}.get) == Correction((), ("a", "no"), rejected=True)
        assert chosen(held, ["a"], "no", lambda _: 1.0) == Correction(("a",), ("a", "no"))


def test_other_beliefs_are_neither_looked_at_nor_given_up():
    """What is not in `prior` does not count, even where it clashes."""
    held = theory(x=C, y=~C, a=A, no=~A)
    assert correct("recency", held, ["a"], "no") == Correction(("a",), ("a", "no"))


@pytest.mark.parametrize("policy", POLICIES)
def test_without_prior_beliefs_all_others_are_meant(policy):
    """None is all other beliefs, in the order in which they were believed."""
    held = theory([~A, ~C, ~D], [~B, ~C, ~D], a=A, b=B, c=C, x=Lit("x"), d=D)
    assert correct(policy, held, None, "d") == correct(policy, held, ["a", "b", "c", "x"], "d") != Correction()


def test_an_unknown_policy_is_told_of():
    """The message lists those that exist."""
    with pytest.raises(ConfigError, match="recency, trust, minimal, weighted, reject-new"):
        correct("never", theory(a=A, b=B, c=~B), ["a", "b"], "c")


def test_greedy_takes_back_what_fits_after_all():
    """The nearest clash is with a and b, so a goes first; the farther ones make b and d go, and then a fits again."""
    new, middle, e = Lit("new"), Lit("middle"), Lit("E")
    held = theory(
        [~A, ~B, ~new], [~new, middle], [~middle, ~B, ~C], [~middle, ~D, ~e], a=A, d=D, e=e, b=B, c=C, new=new
    )
    correction = greedy(held, ["a", "d", "e", "b", "c"], "new")
    assert correction == Correction(("d", "b"), ("a", "b", "new"))


@pytest.mark.parametrize("policy", [*POLICIES, "greedy"])
def test_a_clash_in_a_large_component_costs_what_its_neighbourhood_costs(policy):
    """Hard clauses connect everything; the work to correct one denial is the same among 300 beliefs and among 3,000."""

    def work(size):
        held = Theory()
        for i in range(size):
            held.require([~Lit(i), Lit(("near", i)), Lit(i + 1)])
            held.believe(i, Lit(i))
        held.consistent()
        prior, before = held.names, (held.work.solves, held.work.assumed)
        held.believe("no", ~Lit(size // 2))
        correction = greedy(held, prior, "no") if policy == "greedy" else correct(policy, held, prior, "no")
        for name in (*correction.given_up, *(["no"] if correction.rejected else [])):
            held.forget(name)
        assert held.consistent() and len(held) == size
        return held.work.solves - before[0], held.work.assumed - before[1]

    assert work(300) == work(3000)
    assert work(300)[1] < 100


@pytest.mark.parametrize("policy", [*POLICIES, "greedy"])
def test_a_belief_that_refutes_very_many_is_corrected_with_few_questions(policy):
    """Two hundred beliefs go at once; a few solver calls for each of them, and no search among their combinations."""
    held, new = Theory(), Lit("new")
    for i in range(200):
        held.believe(i, Lit(i))
        held.require([~new, ~Lit(i)])
    held.believe("new", new)
    weight = {"new": 1000.0}
    if policy == "greedy":
        correction = greedy(held, None, "new")
    else:
        correction = correct(policy, held, None, "new", weight=lambda name: weight.get(name, 1.0))
    assert correction.rejected == (policy == "reject-new")
    assert correction.given_up == (() if correction.rejected else tuple(range(200)))
    assert held.work.solves < 8 * 200
