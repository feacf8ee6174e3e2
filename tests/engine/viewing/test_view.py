"""Pages of a memory: people, facts about them, what needs a person, and what changed."""

import random
from dataclasses import replace

import pytest

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Status
from doxa.engine import View


def pages(call, *, limit):
    """Return all items of a list, page by page; each says the same total."""
    found, after, totals = [], "", set()
    while True:
        page = call(after=after, limit=limit)
        found += page.items
        totals.add(page.total)
        if not page.next:
            assert totals == {len(found)}
            return found
        assert len(page.items) == limit
        after = page.next


def labels(page):
    return [one.entity.label for one in page.items]


def objects(page):
    return [fact.object.label for fact in page.items]


@pytest.fixture
def town(told):
    """Forty people of whom different numbers of things are known."""
    chance = random.Random(5)
    for number in range(40):
        some = [told.claim(f"Person {number:02}", "likes", f"thing {chance.randrange(99)}") for _ in range(number % 4)]
        told.say(told.claim(f"Person {number:02}", "lives_in", "Bonn", functional=True), *some)
    return told


def test_an_empty_memory_has_empty_pages(told):
    assert told.view.people().items == () and told.view.review().items == () and told.view.latest().items == ()
    assert told.view.counts().facts == told.view.counts().turns == 0


def test_people_come_with_those_of_whom_most_is_believed_first(town):
    """Then by name."""
    found = pages(town.view.people, limit=7)
    assert [one.entity.label for one in found] == [
        one.entity.label for one in sorted(found, key=lambda one: (-one.firm, one.entity.label))
    ]
    assert {one.entity.key for one in found} == {one.key for one in town.memory.entities()}
    assert [one.entity for one in found] == [town.view.entity(one.entity.key).entity for one in found]
    assert {one.entity.key: one.entity for one in found} == {one.key: one for one in town.memory.entities()}


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_pages_of_people_are_complete(town, limit):
    """With a query too, and none comes twice."""
    for query in ("", "person 1", "3"):
        found = [one.entity.key for one in pages(lambda **page: town.view.people(query, **page), limit=limit)]  # noqa: B023
        assert sorted(found) == sorted(key for key in town.index().directory.entries if query in key)


def test_names_are_found_as_they_are_typed(told):
    """Those that begin so first, then those with such a word, then those with it within; accents do not matter."""
    for name in ("Ana Silva", "Silvana", "Noé Śilva", "Marsilva", "Olé"):
        told.say(told.claim(name, "likes", "tea"))
    told.say(told.claim("Marsilva", "likes", "chess"))
    assert labels(told.view.people("SILV")) == ["Silvana", "Ana Silva", "Noé Śilva", "Marsilva"]
    assert labels(told.view.people("noe s")) == ["Noé Śilva"]
    assert labels(told.view.people("olé")) == labels(told.view.people("  ole ")) == ["Olé"]
    assert told.view.people("nobody").total == 0


def test_other_names_are_found_too(told):
    """Of one entity, which comes once."""
    told.say(told.claim("Mia", "likes", "tea"), told.claim("Leo", "knows", "Mimi Blanc"))
    told.memory.merge("Mia", "Mimi Blanc")
    (found,) = told.view.people("mi").items
    assert {found.entity.label, *found.entity.aliases} == {"Mia", "Mimi Blanc"}
    assert told.view.entity("mimi BLANC") == told.view.entity("Mia") == found
    told.memory.split("Mia", "Mimi Blanc")
    assert told.view.people("mi").total == 2


def test_nobody_of_that_name_is_an_error(told):
    told.say(told.claim("Mia", "likes", "tea"))
    with pytest.raises(NotFoundError, match="nobody and nothing called 'Leo'"):
        told.view.entity("Leo")
    with pytest.raises(InputError):
        told.view.about(" ")


def test_facts_about_somebody_come_the_latest_first_by_where_they_stand(told):
    """As subject or object; what is disputed, set aside or unsure is tentative."""
    told.say(told.claim("Mia", "lives_in", "Lisbon", functional=True))
    told.say(told.claim("Leo", "knows", "Mia"))
    told.say(told.claim("Mia", "lives_in", "Bonn", functional=True))
    told.say(told.claim("Mia", "likes", "tea", tentative=True))
    told.say(told.claim("Mia", "likes", "chess"), role="assistant", speaker="Doxa")
    view = told.view
    assert objects(view.about("mia")) == ["Bonn", "Mia"]
    assert objects(view.about("Mia", "tentative")) == ["chess", "tea"]
    assert objects(view.about("Mia", "past")) == ["Lisbon"]
    found = view.entity("Mia")
    assert (found.firm, found.tentative, found.past) == (2, 2, 1)
    assert objects(view.about("Bonn")) == ["Bonn"]


def test_pages_of_facts_are_complete(told):
    """Also of what was said at one moment."""
    for _ in range(6):
        told.say(*(told.claim("Mia", "knows", f"N{random.randrange(10**9)}") for _ in range(5)), days=0)
    for limit in (1, 4, 30):
        found = pages(lambda **page: told.view.about("Mia", **page), limit=limit)
        assert {fact.fact_id for fact in found} == {fact.fact_id for fact in told.memory.facts(subject="Mia")}


def disputed(told, what):
    told.say(told.claim(what, "located_in", "room 4", functional=True), speaker="Hana")
    told.say(told.claim(what, "located_in", "room 6", functional=True), speaker="Jiro", days=0)


def test_a_dispute_waits_for_a_person_with_its_question(told):
    """As `Memory.disputes` has it."""
    disputed(told, "The workshop")
    told.say(told.claim("Mia", "likes", "tea", tentative=True))
    told.say(told.claim("Mia", "likes", "chess"), role="assistant", speaker="Doxa")
    page = told.view.review()
    assert [one.kind for one in page.items] == ["doubtful", "tentative", "disputed"]
    assert page.totals == {"disputed": 1, "doubtful": 1, "tentative": 1} and page.total == 3
    (dispute,) = told.memory.disputes()
    assert (page.items[2].question, page.items[2].facts) == (dispute.question, dispute.facts)
    for kind in ("disputed", "doubtful", "tentative"):
        only = told.view.review(kind)
        assert [one.kind for one in only.items] == [kind] and only.total == 1 and only.totals == page.totals


def test_the_queue_goes_on_behind_what_was_settled_meanwhile(told):
    """Nothing is skipped and nothing comes again."""
    for number in range(9):
        disputed(told, f"The workshop {number}")
        told.say(told.claim("Mia", "likes", f"tea {number}", tentative=True))
    everything = [one.key for one in pages(told.view.review, limit=4)]
    assert len(set(everything)) == 18
    first = told.view.review(limit=4)
    for one in first.items:
        told.memory.retract(one.facts[0].fact_id)
    left, after = [], first.next
    while after:
        page = told.view.review(after=after, limit=4)
        left += [one.key for one in page.items]
        after = page.next
    assert left == everything[4:]


def test_a_cursor_outlives_what_it_stood_on(told):
    """Though the turn was erased, what is older follows."""
    turns = [told.say(told.claim("Mia", "likes", f"tea {number}")) for number in range(6)]
    page = told.view.about("Mia", limit=3)
    told.memory.forget(turn_id=turns[3])
    assert objects(told.view.about("Mia", after=page.next)) == ["tea 2", "tea 1", "tea 0"]


def test_a_cursor_of_another_list_is_an_error(town):
    """As is any other text."""
    stranger = town.view.people(limit=1).next
    for call in (town.view.review, town.view.latest, lambda after: town.view.about("Bonn", after=after)):
        for after in (stranger, "x", "é", "W10", "bnVsbA"):
            with pytest.raises(InputError, match="after: expected"):
                call(after=after)


@pytest.mark.parametrize("call", ["people", "review", "latest"])
def test_a_limit_is_a_whole_number_from_one_on(told, call):
    with pytest.raises(InputError, match="limit"):
        getattr(told.view, call)(limit=0)


def test_facts_of_a_turn_are_those_that_rest_on_it(told):
    first = told.say(told.claim("Mia", "likes", "tea"), told.claim("Mia", "likes", "chess"))
    again = told.say(told.claim("Mia", "likes", "chess"))
    assert [fact.object.label for fact in told.view.facts_of_turn(first)] == ["tea", "chess"]
    assert [fact.object.label for fact in told.view.facts_of_turn(again)] == ["chess"]
    told.memory.withdraw(turn_id=again)
    assert told.view.facts_of_turn(again) == ()
    with pytest.raises(NotFoundError):
        told.view.facts_of_turn("nowhere")


def test_what_changed_comes_the_latest_first(town):
    """All of it, page by page."""
    assert pages(town.view.latest, limit=9) == list(reversed(town.memory.history()))


def test_counts_are_those_of_the_memory(town):
    disputed(town, "The workshop")
    counts, facts = town.view.counts(), town.memory.facts(current=False)
    assert counts.turns == 42 and counts.waiting == 0 and counts.entities == len(town.memory.entities())
    assert counts.facts == len(facts) == sum(counts.by_status.values()) == sum(counts.by_standing.values())
    assert counts.revisions == town.memory.stats()["revisions"] and counts.to_review["disputed"] == 1


def test_why_is_what_the_memory_says(told):
    """Of what is displaced, derived and inferred."""
    told.say(told.claim("Mia", "works_at", "Siemens", functional=True))
    told.say(told.claim("Mia", "works_at", "Bosch", functional=True))
    facts = told.memory.facts(current=False)
    assert any(fact.status is Status.SUPERSEDED for fact in facts) and any(fact.premises for fact in facts)
    for fact in (*facts, *told.memory.inferred()):
        assert told.view.why(fact.fact_id) == told.memory.why(fact.fact_id)
    assert told.view.fact(facts[0].fact_id) == facts[0]
    with pytest.raises(NotFoundError):
        told.view.why("f1_none")


def test_one_user_sees_nothing_of_another(told):
    """Names, facts, turns and cursors."""
    told.say(told.claim("Mia", "likes", "tea"), told.claim("Mia", "likes", "chess"))
    other = View(told.doxa.parts, "bo")
    (fact, _), cursor = told.view.about("Mia").items, told.view.about("Mia", limit=1).next
    assert other.people().total == other.latest().total == 0
    for look in (
        lambda: other.fact(fact.fact_id),
        lambda: other.about("Mia", after=cursor),
        lambda: other.entity("Mia"),
    ):
        with pytest.raises(NotFoundError):
            look()
    with pytest.raises(NotFoundError):
        other.facts_of_turn(fact.turn_ids[0])
    assert other.quotes(fact) == ()


def test_calls_in_one_block_see_one_moment(told):
    """Nested calls do not wait for each other."""
    told.say(told.claim("Mia", "likes", "tea"))
    with told.view.opened() as view:
        assert view.people().total == view.counts().entities == 1


def test_a_fact_that_was_replaced_is_shown_as_it_is_now(told):
    """Said again, it rests on both turns."""
    turns = [told.say(told.claim("Mia", "likes", "tea")) for _ in range(2)]
    (fact,) = told.view.about("Mia").items
    assert fact == replace(fact, turn_ids=tuple(turns))


def test_facts_of_several_standings_come_as_one_list(told):
    told.say(told.claim("Ana", "lives_in", "Bonn", functional=True))
    told.say(told.claim("Ana", "likes", "tea", tentative=True))
    told.say(told.claim("Ana", "lives_in", "Rome", functional=True))
    both = pages(lambda **page: told.view.about("Ana", ["firm", "tentative"], **page), limit=1)
    assert [fact.object.label for fact in both] == ["Rome", "tea"]
    assert told.view.about("Ana", ["firm", "tentative", "past", "past"]).total == 3
    with pytest.raises(InputError):
        told.view.about("Ana", ["firm", "sure"])


def test_people_and_things_are_told_from_words(told):
    told.say(told.claim("Ana", "lives_in", "Bonn", functional=True), told.claim("Ana", "likes", "tea"))
    assert set(told.view.subjects(["ana", "bonn", "tea", "nobody"])) == {"ana", "bonn"}


def test_a_turn_stands_among_those_of_its_session(told):
    ids = [told.say(text=f"turn {number}") for number in range(6)]
    found = told.view.turn(ids[3], before=2, after=1)
    assert [one.text for one in found.before] == ["turn 1", "turn 2"]
    assert found.turn.text == "turn 3" and [one.text for one in found.after] == ["turn 4"]
    assert told.view.turn(ids[5], after=3).after == ()
    with pytest.raises(NotFoundError):
        told.view.turn("nowhere")


def test_what_a_turn_was_understood_to_say_goes_with_it(told):
    told.say(told.claim("Ana", "lives_in", "Bonn", functional=True))
    turn = told.say(told.claim("Ana", "lives_in", "Rome", functional=True), told.claim("Ana", "likes", "tea"))
    heard = told.view.understood(turn)
    assert [claim.object.label for claim in heard.claims] == ["Rome", "tea"]
    assert {fact.object.label for fact in heard.facts} == {"Rome", "tea"} and not heard.waits
    assert {str(change.kind) for change in heard.changes} == {"assert", "close"}
    told.memory.withdraw(turn_id=turn)
    assert told.view.understood(turn).claims == () and told.view.turn(turn).withdrawn is not None


def test_facts_are_found_by_their_ids_where_they_are(told):
    told.say(told.claim("Ana", "likes", "tea"))
    (fact,) = told.view.about("Ana").items
    assert told.view.known([fact.fact_id, "f1_none"]) == {fact.fact_id: fact}
