"""The index of a memory: what was brought up to date is what would be made anew, and what a slow look finds."""

import random
from contextlib import suppress
from dataclasses import replace
from datetime import date

import pytest

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Act, Interval, Modality, Status
from doxa.engine.answer.disputes import disputes_of
from doxa.engine.history.entities import entities
from doxa.engine.history.explain import explain
from doxa.engine.viewing.index import ViewIndex, standing_of
from doxa.memory import is_current, is_identity

PEOPLE = ("Ana", "Mia", "Leo", "Noé Blanc", "Mia Blanc", "Rex", "Ana's sister", "the baker")
PLACES = ("Lisbon", "Bonn", "Oslo", "São Paulo")
STANDINGS = ("firm", "tentative", "past")


def in_order(places):
    return [fact_id for _, _, fact_id in places]


def shape(index, beliefs):
    """Return all that an index says; numbers of places count only by their order."""
    return {
        "facts": {key: (one.fact, one.standing, one.keys, one.bears) for key, one in index.filed.items()},
        "about": {one: {key: in_order(places) for key, places in index.about[one].items()} for one in STANDINGS},
        "doubtful": in_order(index.doubtful),
        "tentative": in_order(index.tentative),
        "disputes": [(place[2], sides) for place, sides in index.disputes(beliefs)],
        "entries": index.directory.entries,
        "order": index.directory.order,
        "found": index.directory.page("a", None, 1000),
        "turns": {turn_id: set(facts) for turn_id, facts in index.by_turn.items()},
        "statuses": +index.statuses,
        "standings": +index.standings,
        "revisions": index.revisions,
    }


def agree(told):
    """Check the index against one that is made anew, and against the facts themselves."""
    index = told.index()
    with told.log.user(told.user) as state:
        beliefs, today = state.beliefs, state.today()
        anew = ViewIndex()
        anew.sync(state)
        assert shape(index, beliefs) == shape(anew, beliefs)
        facts = list(beliefs.facts.values())
        for key in {term.key for fact in facts for term in (fact.subject, fact.object)}:
            for standing in STANDINGS:
                wanted = {
                    fact.fact_id
                    for fact in facts
                    if key in (fact.subject.key, fact.object.key)
                    and not is_identity(fact)
                    and standing_of(fact, today) == standing
                }
                assert set(in_order(index.about[standing].get(key, []))) == wanted
        known = {key: entry.held for key, entry in index.directory.entries.items() if entry.held}
        assert known == {one.key: one.facts for one in entities(beliefs)}
        for one in told.view.people(limit=1000).items:
            shown = {standing: told.view.about(one.entity.key, standing, limit=1000) for standing in STANDINGS}
            assert all(len(page.items) == page.total == getattr(one, name) for name, page in shown.items())
        asked = {frozenset(fact.fact_id for fact in one.facts) for one in disputes_of(state)}
        assert {frozenset(sides) for _, sides in index.disputes(beliefs)} == asked
        assert index.revisions == sum(change.revises for change in beliefs.changes)
        for fact in facts:
            assert all(fact.fact_id in index.by_turn[turn_id] for turn_id in fact.turn_ids)
            found = explain(fact, state)
            assert found.displaced == slowly_displaced(fact, beliefs)
            assert found.conclusions == tuple(one for one in facts if fact.fact_id in one.premises)


def slowly_displaced(fact, beliefs):
    """Return what a fact has displaced by a look at every other."""
    return tuple(
        other
        for other in beliefs.facts.values()
        if other is not fact
        and other.status is not Status.HELD
        and fact.fact_id not in other.premises
        and fact.fact_id in beliefs.changes_of(other.fact_id)[-1].because
    )


def some_claim(told, chance):
    """Return a claim of any kind."""
    who, other, place = chance.choice(PEOPLE), chance.choice(PEOPLE), chance.choice(PLACES)
    made = chance.choice(
        [
            told.claim(who, "lives_in", place, functional=True),
            told.claim(who, "works_at", place, functional=True),
            told.claim(who, "knows", other),
            told.claim(who, "likes", "tea"),
            told.claim("tea", "grown_in", place),
            told.claim(who, "visit", place, modality=Modality.PLANNED, valid=Interval(start=day(chance))),
            told.claim(who, "studies_at", place, valid=Interval(start=date(2024, 1, 1), end=day(chance))),
            told.same(who, other) if who != other else told.claim(who, "likes", "chess"),
        ]
    )
    match chance.randrange(8):
        case 0:
            return replace(made, polarity=False)
        case 1:
            return replace(made, tentative=True, confidence=0.3)
        case 2:
            return replace(made, act=Act.CORRECT)
        case _:
            return made


def day(chance):
    return date(2024, chance.randint(1, 12), chance.randint(1, 28))


def do_something(told, chance):
    """Change the memory in one way or another."""
    facts = [fact for fact in told.memory.facts(current=False) if not fact.premises]
    turns = [turn.turn_id for turn in told.memory.turns()]
    match chance.randrange(14):
        case 0 if facts:
            told.memory.retract(chance.choice(facts).fact_id)
        case 1 if turns:
            told.memory.withdraw(turn_id=chance.choice(turns))
        case 2 if told.memory.history():
            told.memory.undo()
        case 3 | 4:
            some = [one.key for one in told.memory.entities() if one.key in {name.casefold() for name in PEOPLE}]
            if len(some) > 1:
                one, other = chance.sample(some, 2)
                (told.memory.merge if chance.random() < 0.6 else told.memory.split)(one, other)
        case 5 if len(turns) > 3:
            told.memory.forget(turn_id=chance.choice(turns))
        case 6:
            told.say(some_claim(told, chance), role="assistant", speaker="Doxa")
        case 7:
            told.say(some_claim(told, chance), speaker=chance.choice(("Hana", "Jiro")), days=0)
        case 8:
            told.say(days=chance.randint(1, 60))
        case _:
            told.say(*(some_claim(told, chance) for _ in range(chance.randint(1, 3))))


@pytest.mark.parametrize("seed", range(6))
def test_brought_up_to_date_it_is_what_it_would_be_made_anew(told, seed):
    """After whatever happens to a memory; and a slow look finds the same."""
    chance = random.Random(seed)
    for _ in range(24):
        with suppress(InputError, NotFoundError):  # nothing to undo, names that stand for several
            do_something(told, chance)
        agree(told)


def test_only_new_changes_are_looked_at(told):
    """However many facts there are."""
    for number in range(50):
        told.say(told.claim(f"P{number}", "likes", "tea"))
    filed = told.index().filings
    assert told.index().filings == filed == 50
    told.say(told.claim("Mia", "lives_in", "Bonn", functional=True))
    assert told.index().filings == filed + 1
    told.say(told.claim("Mia", "lives_in", "Oslo", functional=True))
    assert told.index().filings == filed + 3


def test_the_day_ends_what_has_an_end(told):
    """Though nothing happens to it, and nothing else is looked at."""
    told.say(told.claim("Mia", "studies_at", "Bonn", valid=Interval(start=date(2023, 1, 1), end=date(2024, 2, 1))))
    told.say(*(told.claim(f"P{number}", "likes", "tea") for number in range(20)))
    before = told.index()
    assert [one for one in STANDINGS if "mia" in before.about[one]] == ["firm"]
    filed = before.filings
    told.say(days=60)
    assert [one for one in STANDINGS if "mia" in told.index().about[one]] == ["past"]
    assert told.index().filings == filed + 1


def test_what_was_planned_for_a_day_is_past_after_it(told):
    """`is_current` says so of every day."""
    told.say(told.claim("Mia", "visit", "Oslo", modality=Modality.PLANNED, valid=Interval(start=date(2024, 1, 20))))
    for _ in range(40):
        told.say()
        with told.log.user(told.user) as state:
            (fact,) = state.beliefs.facts.values()
            assert ("mia" in told.index().about["firm"]) == is_current(fact, state.today())


def test_what_was_erased_is_in_no_order(told):
    """The index is made anew with the state."""
    gone = told.say(told.claim("Mia", "likes", "tea"))
    told.say(told.claim("Leo", "likes", "tea"))
    assert "mia" in told.index().directory.entries
    told.memory.forget(turn_id=gone)
    assert set(told.index().directory.entries) == {"leo"} and gone not in told.index().by_turn


def test_what_nobody_says_any_more_of_another_name_stays_with_the_entity(told):
    """It is past, and found by either name."""
    told.say(told.claim("Mia", "likes", "tea"))
    (gone,) = told.memory.facts()
    told.memory.retract(gone.fact_id)
    told.say(told.claim("Mia", "likes", "chess"), told.claim("Mia Blanc", "likes", "jazz"))
    told.memory.merge("Mia", "Mia Blanc")
    agree(told)
    for name in ("Mia", "Mia Blanc"):
        assert [fact.object.label for fact in told.view.about(name, "past").items] == ["tea"]
        assert told.view.entity(name).past == 1
