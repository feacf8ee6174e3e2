"""What would go if turns were erased, told before; and turns found by what somebody may know of them."""

from datetime import UTC, date, datetime

import pytest

from doxa.core.errors import BackendError, InputError, NotFoundError
from doxa.engine import Records, View


@pytest.fixture
def doxa(told):
    return told.doxa


@pytest.fixture
def chat(doxa):
    """A dialogue of Ana, in which all that was said is understood at once."""
    talk = doxa.dialogue(user="ana", session="s")

    def say(text, turn_id, at="2024-01-01", **more):
        talk.absorb(text, turn_id=turn_id, at=at, **more)
        talk.flush()

    return say


@pytest.fixture
def view(doxa):
    return View(doxa.parts, "ana")


def labels(facts):
    return {f"{fact.relation.label} {fact.object.label}" for fact in facts}


def test_what_only_these_turns_say_goes_and_what_others_say_stays(told):
    lost = told.say(told.claim("Ana", "likes", "Tea"), told.claim("Ana", "knows", "Bo"))
    told.say(told.claim("Ana", "knows", "Bo"))
    found = told.view.would_forget([lost])
    assert labels(found.erased) == {"likes Tea"} and found.erased_count == 1
    assert labels(found.kept) == {"knows Bo"} and found.kept_count == 1
    assert [turn.turn_id for turn in found.turns] == [lost] and found.later == 1


def test_what_they_had_ended_is_told(told):
    told.say(told.claim("Ana", "lives_in", "Porto", functional=True))
    moved = told.say(told.claim("Ana", "lives_in", "Faro", functional=True))
    found = told.view.would_forget([moved])
    assert labels(found.erased) == {"lives in Faro"} and labels(found.otherwise) == {"lives in Porto"}


def test_looking_changes_nothing_and_is_what_comes_true(chat, doxa, view):
    chat("I live in Lisbon.", "t1")
    chat("I live in Lisbon. I have a dog called Rex.", "t2")
    memory = doxa.memory(user="ana")
    before, version = {fact.fact_id for fact in memory.facts(current=False)}, doxa.parts.log.head("ana")
    found = view.would_forget(["t2"])
    assert {fact.fact_id for fact in memory.facts(current=False)} == before
    assert doxa.parts.log.head("ana") == version
    certificate = memory.forget(turn_id=["t2"])
    gone = before - {fact.fact_id for fact in memory.facts(current=False)}
    assert gone == {fact.fact_id for fact in found.erased} and gone
    assert certificate.erased["turns"] == found.turn_count


def test_replies_of_doxa_and_answers_and_records_go_along(chat, doxa, view):
    chat("I live in Lisbon.", "t1")
    chat("I have a dog.", "t2")
    doxa.dialogue(user="ana", session="s").respond("Where do I live?", turn_id="t3")
    doxa.flush()
    Records(doxa, user="ana", shelf="own").put({"a": b"1", "b": b"2"}, said_by={"a": "t1"})
    found = view.would_forget(["t1"])
    assert found.turn_ids == ("t1",) and found.replies == 1 and found.turns[-1].generated
    assert found.answers == 1 and found.records == 1
    assert view.would_forget(["t3"]).records == 0


def test_what_follows_from_a_rule_goes_with_the_turn_that_states_it(chat, view):
    chat("Rex is a dog.", "t1")
    chat("All dogs are animals.", "t2")
    follows = [fact for fact in view.about("rex").items if fact.premises]
    assert follows
    assert {fact.fact_id for fact in follows} <= {fact.fact_id for fact in view.would_forget(["t2"]).erased}


def test_everything_is_all_there_is(chat, view):
    chat("I live in Lisbon.", "t1")
    chat("I moved to Faro.", "t2", at="2024-02-01")
    found, counts = view.would_forget(None, limit=1), view.counts()
    assert (found.turn_count, found.erased_count) == (counts.turns, counts.facts)
    assert len(found.turns) == len(found.erased) == 1


def test_unknown_turns_are_refused(chat, view):
    chat("I live in Lisbon.", "t1")
    with pytest.raises(NotFoundError, match="nobody-said"):
        view.would_forget(["nobody-said"])
    assert view.would_forget(["t1", "nobody-said"]).turn_ids == ("t1",)


def test_turns_are_found_by_what_is_known_of_them(chat, view, doxa):
    chat("I live in Lisbon.", "t1", at="2024-01-01")
    chat("I flew to Lisbon and Faro.", "t2", at="2024-02-01")
    doxa.dialogue(user="ana", session="other", speaker="Bo").absorb("Faro is nice.", turn_id="t3", at="2024-03-01")
    doxa.flush()

    def ids(*words, **known):
        return [turn.turn_id for turn in view.turns(*words, **known).items]

    assert ids() == ["t3", "t2", "t1"]
    assert ids("lisbon") == ["t2", "t1"] and ids("faro lisbon") == ["t2"] and ids("Madrid") == []
    assert ids(session="s") == ["t2", "t1"] and ids(speaker="bo") == ["t3"]
    assert ids(since=date(2024, 2, 1)) == ["t3", "t2"] and ids("faro", until=date(2024, 2, 1)) == ["t2"]


def test_pages_of_turns_leave_none_out(told):
    said = [told.say(told.claim("Ana", "likes", f"Thing{number}")) for number in range(7)]
    found, after = [], ""
    while True:
        page = told.view.turns(after=after, limit=3)
        found += [turn.turn_id for turn in page.items]
        if not (after := page.next):
            break
    assert found == said[::-1]


def test_a_long_search_is_cut_and_goes_on(told, monkeypatch):
    monkeypatch.setattr("doxa.engine.viewing.forgetting.SCANNED", 2)
    first = told.say(told.claim("Bo", "likes", "Tea"), speaker="Bo")
    for number in range(4):
        told.say(told.claim("Ana", "likes", f"Thing{number}"))
    page, pages = told.view.turns(speaker="Bo"), 1
    while not page.items and page.next:
        page, pages = told.view.turns(speaker="Bo", after=page.next), pages + 1
    assert [turn.turn_id for turn in page.items] == [first] and pages == 3


@pytest.mark.parametrize("after", ["nonsense", "WyJhIl0"], ids=["no cursor", "of another list"])
def test_a_foreign_cursor_is_refused(told, after):
    for call in (told.view.turns, told.view.degraded):
        with pytest.raises(InputError, match="after"):
            call(after=after)


def test_turns_that_were_not_processed_in_full_are_listed(doxa, view, monkeypatch):
    """Here the encoder fails; with the next turn it works again."""
    talk, encode = doxa.dialogue(user="ana"), type(doxa.parts.encoder).encode

    def fails(*_):
        raise BackendError("it is away")

    monkeypatch.setattr(type(doxa.parts.encoder), "encode", fails)
    talk.absorb("I live in Lisbon.", turn_id="t1", at=datetime(2024, 1, 1, tzinfo=UTC))
    talk.flush()
    monkeypatch.setattr(type(doxa.parts.encoder), "encode", encode)
    talk.absorb("I have a dog.", turn_id="t2")
    talk.flush()
    found = view.degraded()
    assert [one.turn.turn_id for one in found.items] == ["t1"] and found.total == 1
    assert "it is away" in found.items[0].why
