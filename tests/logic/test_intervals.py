import random
from datetime import date, timedelta
from itertools import combinations, product

import pytest

from doxa.core.values import Interval
from doxa.logic import (
    ANY_RELATION,
    Allen,
    Related,
    Theory,
    compose,
    converse,
    dated,
    interval_clash,
    possible,
    related,
    relations_between,
    start_of,
    tightened,
)
from doxa.logic.differences import at_least

SINCE_2020 = Interval(start=date(2020, 1, 1), start_precision="year")
UNTIL_MAY = Interval(end=date(2020, 5, 1), end_precision="month")


def days(first, last):
    return Interval(start=date(2020, 1, 1) + timedelta(first), end=date(2020, 1, 1) + timedelta(last))


def test_the_composition_table_is_allens():
    """The computed table has as many entries as the published one, and its best known ones."""
    assert sum(len(compose([one], [other])) for one, other in product(Allen, repeat=2)) == 409
    assert compose([Allen.BEFORE], [Allen.BEFORE]) == {Allen.BEFORE}
    assert compose([Allen.BEFORE], [Allen.AFTER]) == ANY_RELATION == compose([Allen.DURING], [Allen.CONTAINS])
    assert compose([Allen.MEETS], [Allen.MET_BY]) == {Allen.FINISHES, Allen.EQUALS, Allen.FINISHED_BY}
    assert compose([Allen.OVERLAPS], [Allen.DURING]) == {Allen.OVERLAPS, Allen.STARTS, Allen.DURING}


def test_composition_and_converse_keep_the_laws_of_the_algebra():
    """Equality is neutral, the converse of a converse is the relation, and it turns composition round."""
    for one, other in product(Allen, repeat=2):
        assert compose([one], [Allen.EQUALS]) == {one}
        assert converse(converse([one])) == {one}
        assert converse(compose([one], [other])) == compose(converse([other]), converse([one]))


@pytest.mark.parametrize(
    ("other", "relation"),
    [
        ((6, 8), "before"), ((5, 8), "meets"), ((4, 8), "overlaps"), ((2, 8), "starts"), ((0, 8), "during"),
        ((0, 5), "finishes"), ((2, 5), "equals"), ((3, 5), "finished by"), ((3, 4), "contains"),
        ((2, 4), "started by"), ((0, 4), "overlapped by"), ((0, 2), "met by"), ((0, 1), "after"),
    ],
)  # fmt: skip
def test_known_days_leave_one_relation(other, relation):
    """Two intervals with known ends have exactly one relation."""
    assert relations_between(days(2, 5), days(*other)) == {Allen(relation)}


def test_an_unknown_bound_excludes_only_what_it_must():
    """With one bound each there is room for everything, unless the known bounds already lie apart."""
    assert relations_between(Interval(), Interval()) == ANY_RELATION
    assert relations_between(SINCE_2020, UNTIL_MAY) == ANY_RELATION
    since_2021 = Interval(start=date(2021, 1, 1), start_precision="year")
    assert relations_between(since_2021, UNTIL_MAY) == {Allen.AFTER}
    assert relations_between(SINCE_2020, days(0, 400)) & {Allen.BEFORE, Allen.MEETS, Allen.OVERLAPS} == set()


def test_a_coarse_bound_is_some_day_of_its_unit():
    """Until May and since May may meet, overlap or leave a gap; until April and since May cannot overlap."""
    since_may = Interval(start=date(2020, 5, 1), start_precision="month")
    assert possible(UNTIL_MAY, [Allen.MEETS], since_may) and possible(UNTIL_MAY, [Allen.OVERLAPS], since_may)
    until_april = Interval(end=date(2020, 4, 1), end_precision="month")
    assert relations_between(until_april, since_may) == {Allen.BEFORE}
    next_day = Interval(start=date(2020, 5, 1))
    assert relations_between(Interval(end=date(2020, 4, 30)), next_day) == {Allen.BEFORE}
    assert relations_between(Interval(end=date(2020, 5, 1)), next_day) == {Allen.MEETS}


def test_what_happened_on_a_date_lies_within_it():
    """An event of a month lies in its year; on a day it lasts that day."""
    day = Interval(start=date(2020, 5, 3), end=date(2020, 5, 3))
    may = Interval(start=date(2020, 5, 1), end=date(2020, 5, 1), start_precision="month", end_precision="month")
    assert relations_between(day, Interval(start=date(2020, 5, 1), end=date(2020, 6, 1))) == {Allen.DURING}
    assert relations_between(day, may) == ANY_RELATION - {
        Allen.CONTAINS, Allen.OVERLAPS, Allen.OVERLAPPED_BY, Allen.FINISHED_BY, Allen.STARTED_BY
    }  # fmt: skip
    assert relations_between(may, Interval(start=date(2021, 1, 1))) == {Allen.BEFORE}


def test_bounds_the_wrong_way_round_leave_nothing():
    """An interval that ends before it starts has no relation to anything."""
    assert relations_between(days(5, 2), Interval()) == frozenset()
    assert not possible(days(5, 2), ANY_RELATION, Interval())


def test_dates_and_relations_clash_in_one_theory():
    """The job came after the studies, but the dates say otherwise."""
    held = Theory()
    held.believe("studies", *dated("studies", Interval(start=date(2015, 10, 1), end=date(2020, 7, 1))))
    held.believe("job", *dated("job", Interval(start=date(2018, 1, 1), start_precision="year")))
    held.believe("flat", *dated("flat", SINCE_2020))
    held.believe("order", *related("job", [Allen.AFTER, Allen.MET_BY], "studies"))
    assert held.core() == ("studies", "job", "order")
    held.forget("job")
    assert held.explain(at_least(start_of("job"), date(2020, 7, 1))) == ("studies", "order")


def test_relations_of_three_intervals_clash_with_a_core():
    """Two orders and a relation that they exclude; the fourth statement has nothing to do with it."""
    told = [
        Related("ab", "a", frozenset({Allen.BEFORE, Allen.MEETS}), "b"),
        Related("bd", "b", frozenset({Allen.DURING}), "d"),
        Related("bc", "b", frozenset({Allen.BEFORE}), "c"),
        Related("ac", "a", frozenset({Allen.OVERLAPS, Allen.AFTER}), "c"),
    ]
    assert interval_clash(told) == ("ab", "bc", "ac") and tightened(told) is None
    assert interval_clash(told[:3]) is None and tightened(told[:3])["a", "c"] == {Allen.BEFORE}
    assert interval_clash([Related("odd", "a", frozenset({Allen.BEFORE}), "a")]) == ("odd",)


@pytest.mark.parametrize("seed", range(30))
def test_path_consistency_never_refutes_what_a_theory_can_satisfy(seed):
    """Path consistency is sound, complete for single relations, and a theory's core is minimal."""
    chance = random.Random(seed)
    size = 1 if seed % 2 else 4
    told = [
        Related(pair, pair[0], frozenset(chance.sample(list(Allen), chance.randint(1, size))), pair[1])
        for pair in combinations("abcd", 2)
        if chance.random() < 0.8
    ]
    held = Theory()
    for statement in told:
        held.believe(statement.name, *related(statement.left, statement.relations, statement.right))
    refuted = tightened(told) is None
    assert not (refuted and held.consistent())
    if size == 1:
        assert refuted != held.consistent()
    core = held.core()
    if core is not None:
        assert not held.consistent(core)
        assert all(held.consistent(rest) for rest in combinations(core, len(core) - 1))


@pytest.mark.parametrize("seed", range(10))
def test_relations_of_coarse_intervals_agree_with_trying_all_days(seed):
    """Every relation that some days show is found, and no other."""
    chance = random.Random(seed)

    def interval():
        first, last = sorted(chance.sample(range(6), 2))
        start, end = chance.choice((first, None)), chance.choice((last, None))
        return (start, end), Interval(
            start=None if start is None else date(2020, 1, 1 + start),
            end=None if end is None else date(2020, 1, 1 + end),
        )

    (one, left), (other, right) = interval(), interval()

    def choices(ends):
        return [
            pair for pair in combinations(range(-3, 9), 2) if ends[0] in (None, pair[0]) and ends[1] in (None, pair[1])
        ]

    seen = set()
    for first, second in product(choices(one), choices(other)):
        seen |= relations_between(days(*first), days(*second))
    assert relations_between(left, right) == seen
