"""Facts in time: what is told from an index is what telling the whole past again finds."""

import random
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import ChangeKind, Interval, Status
from doxa.core.views import Standpoint
from doxa.engine.viewing.chronicle import Chronicle, chronicle_of

from .conftest import Told
from .test_index import do_something

DAY = timedelta(days=1)


class Live(Told):
    """A memory that is told everything at the moment at which it is true that it was told."""

    def now(self):
        return datetime.now(UTC)


@pytest.fixture
def live(told):
    return Live(told.doxa)


def stripped(fact):
    """A fact without the turns that it rests on, which a timeline does not tell."""
    return replace(fact, turn_ids=())


def every(page_of):
    """Return the items of all pages, and check what the pages say of themselves."""
    items, after, first = [], "", None
    while first is None or after:
        page = page_of(after=after, limit=3)
        first = first or page
        items += page.items
        after = page.next
    assert len(items) == first.total == page.total
    return items


def known(told, at, **more):
    return every(partial(told.view.timeline, at, **more))


def moments(told, chance, most=12):
    """Return some moments at which something changed, and some before and after them."""
    with told.log.user(told.user) as state:
        changed = [change.known_at for change in state.beliefs.changes if change.known_at is not None]
    near = [at + chance.choice((-1, 0, 0, 1)) * timedelta(microseconds=1) for at in changed]
    return [None, *(chance.sample(near, most) if len(near) > most else near)]


def days(told, chance):
    return [told.now().date(), *(date(2024, chance.randint(1, 12), chance.randint(1, 28)) for _ in range(2))]


@pytest.mark.parametrize("seed", range(4))
def test_what_was_known_at_a_moment_is_what_telling_the_past_again_finds(live, seed):
    """Whatever happened since: retracting, withdrawing, undoing, joining and parting names, erasing."""
    chance = random.Random(seed)
    for round_ in range(30):
        with suppress(InputError, NotFoundError):  # nothing to undo, names that stand for several
            do_something(live, chance)
        live.view.timeline(Standpoint(true=date(2024, 1, 1)))  # what is kept is brought up to date again and again
        if round_ % 15 != 14:
            continue
        for moment in moments(live, chance, 4):
            at = Standpoint(known=moment, true=chance.choice(days(live, chance)))
            assert not live.view.timeline(at).mixed
            found = known(live, at)
            wanted = live.memory.facts(current=False, known_at=moment)
            assert {one.fact.fact_id: stripped(one.fact) for one in found} == {
                fact.fact_id: stripped(fact) for fact in wanted
            }
            holding = live.memory.facts(as_of=at.true, known_at=moment)
            assert {one.fact.fact_id for one in found if one.holds} == {fact.fact_id for fact in holding}
            assert {one.fact.fact_id for one in known(live, at, holding=True)} == {fact.fact_id for fact in holding}
            assert live.view.timeline(at).holding == len(holding)
            assert all((one.stage == "never") == (one.fact.status is Status.RETRACTED) for one in found)


@pytest.mark.parametrize("seed", range(2))
def test_what_differs_is_what_differs_between_all_facts_of_both(live, seed):
    """With what made it so: a change that came after the first standpoint, unless only the days of the world differ."""
    chance = random.Random(100 + seed)
    for _ in range(30):
        with suppress(InputError, NotFoundError):
            do_something(live, chance)
    for _ in range(5):
        asked = [
            Standpoint(known=chance.choice(moments(live, chance)), true=chance.choice(days(live, chance))) for _ in "12"
        ]
        page = live.view.differences(*asked)
        first, second = page.first, page.second
        assert {first, second} == set(asked)
        assert first.known is not None or second.known is None
        was, now = (
            {fact.fact_id: fact for fact in live.memory.facts(as_of=one.true, known_at=one.known)}
            for one in (first, second)
        )
        found = {}
        for one in every(partial(live.view.differences, *asked)):
            fact = one.after or one.before
            assert fact.fact_id not in found
            found[fact.fact_id] = one.kind
            if one.by_day:
                assert stands(one.before) == stands(one.after)
            else:
                assert first.known is not None
                assert one.change.known_at > first.known
                assert second.known is None or one.change.known_at <= second.known
        assert found == slowly_differing(was, now)


def slowly_differing(was, now):
    """Return how facts differ, by a look at each."""
    kinds = dict.fromkeys(now.keys() - was.keys(), "added") | dict.fromkeys(was.keys() - now.keys(), "gone")
    return kinds | {key: "otherwise" for key in was.keys() & now.keys() if stands(was[key]) != stands(now[key])}


def stands(fact):
    return fact.valid, fact.status, fact.disputed


@pytest.mark.parametrize("seed", range(2))
def test_brought_up_to_date_it_is_what_it_would_be_made_anew(told, seed):
    """Turns that are told late too; then nothing is shown that only what was known later tells."""
    chance = random.Random(200 + seed)
    for _ in range(24):
        with suppress(InputError, NotFoundError):
            do_something(told, chance)
        with told.log.user(told.user) as state:
            kept, anew = chronicle_of(state), Chronicle()
            anew.sync(state.beliefs)
            assert all(
                (kept.column(name) == anew.column(name)).all() for name in ("since", "until", "fact", "ended_by")
            )
            changes = state.beliefs.changes
        for moment in moments(told, chance, 3)[1:]:
            rows = kept.known(kept.rows(None), moment)
            assert all(kept.change(row, changes).known_at <= moment for row in rows)
            assert len({kept.change(row, changes).fact.fact_id for row in rows}) == len(rows)


@pytest.mark.parametrize("seed", range(2))
def test_where_turns_were_told_late_a_moment_says_so_unless_it_is_told_exactly(told, seed):
    """A moment that is not mixed tells what telling the past again finds, in any memory."""
    chance = random.Random(300 + seed)
    for _ in range(24):
        with suppress(InputError, NotFoundError):
            do_something(told, chance)
    exact = 0
    for moment in moments(told, chance, 10):
        at = Standpoint(known=moment, true=date(2024, 3, 1))
        if told.view.timeline(at).mixed:
            continue
        exact += 1
        wanted = {fact.fact_id: stripped(fact) for fact in told.memory.facts(current=False, known_at=moment)}
        assert {one.fact.fact_id: stripped(one.fact) for one in known(told, at)} == wanted
    assert exact


def test_what_is_told_late_is_known_from_when_it_was_said(told):
    """And a moment between it and what was told before it is mixed."""
    told.say(told.claim("Mia", "likes", "tea"), days=30)
    told.say(told.claim("Leo", "likes", "tea"), days=-20)
    day = told.now().date()
    at = Standpoint(known=told.now(), true=day)
    assert [one.fact.subject.label for one in known(told, at)] == ["Leo"]
    assert told.view.timeline(at).mixed
    assert not told.view.timeline(Standpoint(known=told.now() - DAY, true=day)).mixed
    assert not told.view.timeline(Standpoint(known=told.now() + 20 * DAY, true=day)).mixed


def test_a_fact_is_told_as_it_stood_then(told):
    told.say(told.claim("Mia", "lives_in", "Bonn", functional=True))
    then = told.now()
    told.say(told.claim("Mia", "lives_in", "Oslo", functional=True), days=10)
    day = told.now().date()
    (before,) = known(told, Standpoint(known=then, true=day))
    assert (before.fact.object.label, before.stage, before.holds) == ("Bonn", "firm", True)
    bonn, oslo = known(told, Standpoint(true=day))
    assert (bonn.fact.object.label, bonn.stage, bonn.holds) == ("Bonn", "past", False)
    assert (oslo.fact.object.label, oslo.stage, oslo.holds) == ("Oslo", "firm", True)


def test_facts_of_one_question_follow_each_other_the_latest_question_first(told):
    told.say(told.claim("Mia", "lives_in", "Bonn", functional=True))
    told.say(told.claim("Mia", "likes", "tea"))
    told.say(told.claim("Leo", "likes", "jazz"))
    told.say(told.claim("Mia", "lives_in", "Oslo", functional=True))
    found = known(told, Standpoint(true=told.now().date()))
    assert [one.fact.object.label for one in found] == ["Bonn", "Oslo", "jazz", "tea"]
    assert [one.fact.object.label for one in known(told, found_at(told), of="mia")] == ["Bonn", "Oslo", "tea"]


def found_at(told):
    return Standpoint(true=told.now().date())


def test_what_is_about_either_name_of_one_is_told_of_both(told):
    told.say(told.claim("Mia", "likes", "tea"))
    told.say(told.claim("Mia Blanc", "likes", "jazz"))
    then = told.now()
    told.say(told.same("Mia", "Mia Blanc"))
    at = Standpoint(known=then, true=then.date())
    assert {one.fact.object.label for one in known(told, at, of="Mia Blanc")} == {"tea", "jazz"}
    assert {one.fact.object.label for one in known(told, found_at(told), of="Mia")} == {"tea", "jazz"}
    page = told.view.differences(at, Standpoint(true=then.date()), of="Mia")
    assert {one.change.kind for one in page.items} == {ChangeKind.MOVE}


def test_steps_lead_from_change_to_change(told):
    told.say(told.claim("Mia", "likes", "tea", valid=Interval(start=date(2023, 5, 1), end=date(2023, 8, 1))))
    first = told.now()
    told.say(told.claim("Leo", "likes", "tea"), days=5)
    second = told.now()
    page = told.view.timeline(Standpoint(true=date(2023, 6, 1)))
    assert (page.known.first, page.known.last, page.known.earlier, page.known.later) == (first, second, first, None)
    assert (page.true.earlier, page.true.later) == (date(2023, 5, 1), date(2023, 8, 1))
    page = told.view.timeline(Standpoint(known=first + DAY, true=date(2023, 5, 1)))
    assert (page.known.earlier, page.known.later) == (None, second)
    assert (page.true.earlier, page.true.later) == (None, date(2023, 8, 1))


def test_saying_it_again_changes_nothing_that_differs(told):
    told.say(told.claim("Mia", "likes", "tea"))
    then = told.now()
    told.say(told.claim("Mia", "likes", "tea"))
    assert told.view.differences(Standpoint(known=then, true=then.date()), Standpoint(true=then.date())).total == 0


def test_an_empty_memory_has_an_empty_timeline(told):
    at = told.view.standpoint()
    page = told.view.timeline(at)
    assert (page.items, page.total, page.known, page.true) == ((), 0, None, None)
    assert told.view.differences(at, at).total == 0


@pytest.mark.parametrize("name", ["known", "true"])
def test_a_time_that_is_none_is_refused(told, name):
    with pytest.raises(InputError, match=name):
        told.view.standpoint(**{name: "soon"})


@pytest.mark.parametrize("after", ["x", "W10", "WzEuNV0"])
def test_a_cursor_of_another_list_is_refused(told, after):
    at = told.view.standpoint()
    with pytest.raises(InputError, match="after"):
        told.view.timeline(at, after=after)
    with pytest.raises(InputError, match="after"):
        told.view.differences(at, at, after=after)


def test_only_new_changes_are_read(told):
    for number in range(20):
        told.say(told.claim(f"P{number}", "likes", "tea"))
    told.view.timeline(found_at(told))
    with told.log.user(told.user) as state:
        kept = chronicle_of(state)
    read = kept.read
    told.say(told.claim("Mia", "likes", "tea"))
    told.view.timeline(found_at(told))
    with told.log.user(told.user) as state:
        assert chronicle_of(state) is kept
        assert (read, kept.read) == (20, 21)
