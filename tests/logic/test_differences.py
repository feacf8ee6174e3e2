import random
from datetime import date
from itertools import combinations, product

import pytest

from doxa.core.errors import InputError
from doxa.logic import ORIGIN, Difference, Lit, Theory, aged, at_least, at_most, between, correct, exactly

ANN, BOB = "birth of Ann", "birth of Bob"


def theory(**beliefs):
    found = Theory()
    for name, clauses in beliefs.items():
        found.believe(name, *([clauses] if isinstance(clauses, Lit) else clauses))
    return found


def test_an_order_that_runs_in_a_circle_clashes():
    """Three orders make a circle; the shortest circle is the core."""
    held = theory(
        ab=at_most("a", -1, "b"), bc=at_most("b", -1, "c"), cd=at_most("c", -1, "d"), ca=at_most("c", -1, "a")
    )
    assert held.core() == ("ab", "bc", "ca")


def test_an_age_and_a_birthday_clash():
    """Ages on two days and a year of birth are checked together."""
    held = theory(
        child=aged(ANN, 7, date(2020, 5, 1)),
        older=at_least(ANN, 700, BOB),
        other=at_most("x", 3),
        born=between(BOB, date(2013, 1, 1), date(2013, 12, 31)),
    )
    assert held.core() == ("child", "older", "born")
    held.forget("older")
    assert held.consistent() and held.entails(at_most(ANN, date(2013, 5, 1)))
    assert held.explain(at_least(ANN, date(2012, 5, 2))) == ("child",)
    assert not held.entails(at_least(ANN, date(2012, 5, 3)))


@pytest.mark.parametrize(
    ("day", "years", "first", "last"),
    [
        (date(2024, 5, 1), 30, date(1993, 5, 2), date(1994, 5, 1)),
        (date(2024, 2, 29), 1, date(2022, 3, 1), date(2023, 2, 28)),
        (date(2023, 2, 28), 18, date(2004, 2, 29), date(2005, 2, 28)),
    ],
)
def test_an_age_bounds_the_day_of_birth(day, years, first, last):
    """The bounds are those of the calendar, leap days too."""
    held = theory(age=aged(ANN, years, day))
    for born, possible in ((first, True), (last, True)):
        assert held.consistent(also=exactly(ANN, born)) == possible
        assert not held.consistent(also=exactly(ANN, born.toordinal() + (1 if born == last else -1)))


def test_a_rule_may_speak_of_numbers():
    """A bound stands in a clause like any proposition: who is under 18 may not vote."""
    minor = at_least(ANN, date(2006, 1, 1))
    held = theory(law=[[~minor, Lit("votes", False)]], votes=Lit("votes"), born=exactly(ANN, date(2007, 3, 4)))
    assert held.core() == ("law", "votes", "born")
    held.forget("born")
    assert held.explain(at_most(ANN, date(2005, 12, 31))) == ("law", "votes")
    assert correct("recency", held, ["law"], "votes").given_up == ()


def test_what_is_not_whole_has_no_next_number():
    """Between 1 and 2 lies another number, but no other day."""
    strictly = {"strict": True}
    days = theory(low=at_least("x", 1, **strictly), high=at_most("x", 2, **strictly))
    real = theory(low=at_least("x", 1, whole=False, **strictly), high=at_most("x", 2, whole=False, **strictly))
    assert not days.consistent() and real.consistent()
    assert real.entails(at_least("x", 1.0, whole=False)) and not real.entails(at_least("x", 1.5, whole=False))
    assert days.core() == ("low", "high")


def test_decimals_are_taken_as_they_are_written():
    """Three tenths are one tenth and two tenths."""
    sums = theory(
        a=exactly("x", 0.1, whole=False), b=exactly("y", 0.2, "x", whole=False), c=exactly("y", 0.3, whole=False)
    )
    assert sums.consistent()


def test_one_variable_is_of_one_kind():
    """A variable that stood for days cannot stand for any number; nothing is stored then."""
    held = theory(a=at_most("x", 3))
    with pytest.raises(InputError, match="whole=False"):
        held.believe("b", at_most("x", 2.5, whole=False))
    assert held.names == ("a",) and held.consistent(also=[at_most("x", 2)])


def test_bounds_connect_only_while_they_are_held():
    """Neither a forgotten bound nor one that was only asked about connects anything."""
    held = theory(x=at_most("x", 3), xy=at_most("x", 1, "y"), y=at_most("y", 3))
    assert held.connected(["x"]) == ["x", "xy", "y"]
    held.forget("xy")
    assert not held.entails(at_most("x", 2, "y")) and held.core(also=[at_most("x", 9, "y")]) is None
    assert held.connected(["x"]) == ["x"]
    held.believe("xy", at_most("x", 1, "y"))
    assert held.connected(["x"]) == ["x", "y", "xy"]


def test_a_bound_reads_as_a_formula():
    """People can read it."""
    assert str(at_most("x", 3).atom) == "x - 0 <= 3" and str(at_most("x", 3, "y", whole=False, strict=True).atom) == (
        "x - y < 3"
    )
    assert Difference("x", ORIGIN, 3).denied() == Difference(ORIGIN, "x", -4)


def test_bounds_alone_cost_one_question_each():
    """A chain of three hundred orders is checked without a search."""
    held = Theory()
    for i in range(300):
        held.believe(i, at_most(i, -1, i + 1))
        assert held.consistent()
    assert held.work.solves <= 300
    held.believe("back", at_most(300, 0, 0))
    assert held.core() == (*range(300), "back")


WIDTH = 5
VARIABLES = ("x", "y", "z")
SWITCHES = ("p", "q")


def _random_literal(chance):
    if chance.random() < 0.3:
        return Lit(chance.choice(SWITCHES), chance.random() < 0.5)
    left, right = chance.sample((*VARIABLES, ORIGIN), 2)
    literal = Lit(Difference(left, right, chance.randint(-WIDTH, WIDTH)))
    return ~literal if chance.random() < 0.3 else literal


def _true(literal, values):
    atom = literal.atom
    if isinstance(atom, Difference):
        return ((values[atom.left] - values[atom.right]) <= atom.most) == literal.positive
    return values[atom] == literal.positive


def _satisfiable(clauses):
    """Try all values: the variables are within the width of 0 by the hard clauses of the test."""
    for numbers in product(range(WIDTH), repeat=len(VARIABLES)):
        for bits in product((False, True), repeat=len(SWITCHES)):
            values = {ORIGIN: 0, **dict(zip(VARIABLES, numbers, strict=True)), **dict(zip(SWITCHES, bits, strict=True))}
            if all(any(_true(literal, values) for literal in clause) for clause in clauses):
                return True
    return False


@pytest.mark.parametrize("seed", range(40))
def test_random_bounds_in_clauses_agree_with_all_values(seed):
    """Consistency, cores, entailment and models agree with trying every value."""
    chance = random.Random(seed)
    hard = [[one] for variable in VARIABLES for one in between(variable, 0, WIDTH - 1)]
    held, said = Theory(), {}
    for clause in hard:
        held.require(clause)
    for name in range(10):
        said[name] = [_random_literal(chance) for _ in range(chance.choice((1, 1, 2, 3)))]
        held.believe(name, said[name])
        if name in (3, 6):
            held.forget(name - 2)
            del said[name - 2]
        core, query = held.core(), _random_literal(chance)

        def holds(names, *also):
            return _satisfiable([*hard, *(said[one] for one in names), *([one] for one in also)])

        assert (core is None) == holds(said) == held.consistent()
        assert held.entails(query) != holds(said, ~query)
        if core is not None:
            assert not holds(core)
            assert all(holds(rest) for rest in combinations(core, len(core) - 1))
        else:
            model = held.model()
            # A clause that holds an atom and its denial says nothing, so the model may leave the atom out.
            told = [[model.get(lit.atom, lit.positive) == lit.positive for lit in said[name]] for name in said]
            assert all(map(any, told))
