"""What waits for a person, page by page in both directions; who has several names; and what was done lately."""

import random
from itertools import pairwise

import pytest

from doxa.core.errors import InputError, NotFoundError
from doxa.engine import View
from doxa.engine.history import deeds as reading
from doxa.engine.history.deeds import deeds


def labels(page):
    return [item.facts[0].object.label for item in page.items]


@pytest.fixture
def queue(told):
    """Twelve things that may be misread, of two people, three at each moment."""
    for number in range(12):
        who = "Mia" if number % 2 else "Noé"
        told.say(told.claim(who, "likes", f"tea {number}", tentative=True), days=number % 3 == 0)
    return told


@pytest.mark.parametrize("oldest", [False, True], ids=["latest", "oldest"])
def test_pages_lead_back_as_they_lead_on(queue, oldest):
    """What is of one moment too."""
    everything = [f"tea {number}" for number in range(12)]
    everything = everything if oldest else everything[::-1]
    page, seen = queue.view.review(oldest=oldest, limit=5), []
    assert page.previous == ""
    while True:
        seen.append(page)
        if not page.next:
            break
        page = queue.view.review(oldest=oldest, limit=5, after=page.next)
    assert [label for page in seen for label in labels(page)] == everything
    for before, page in pairwise(seen):
        assert queue.view.review(oldest=oldest, limit=5, before=page.previous) == before


def test_a_page_leads_back_though_what_it_began_with_was_erased(queue):
    """All of its moment comes again, and nothing is left out."""
    last = queue.view.review(oldest=True, limit=11)
    cursor = queue.view.review(oldest=True, after=last.next).previous
    queue.memory.forget(turn_id=queue.view.review().items[0].facts[0].turn_ids[0])
    assert labels(queue.view.review(oldest=True, before=cursor)) == [f"tea {number}" for number in range(11)]
    assert labels(queue.view.review(before=cursor)) == ["tea 10", "tea 9"]


def test_only_what_is_about_those_who_are_found(queue):
    """By any of their names, whatever its accents; totals of the kinds stay those of all."""
    assert labels(queue.view.review(query="noe")) == [f"tea {number}" for number in range(10, -1, -2)]
    assert labels(queue.view.review(query="zoe")) == []
    queue.say(queue.same("Mia", "Maria"))
    page = queue.view.review(query="maria", limit=4)
    assert (labels(page), page.total) == ([f"tea {number}" for number in range(11, 4, -2)], 6)
    assert page.totals["tentative"] == 12
    assert [str(fact.relation) for fact in page.items[0].identities] == ["is the same as"]


def test_what_says_which_names_are_ones_is_a_queue_of_its_own(told):
    told.say(told.claim("Mia", "likes", "tea"), told.claim("Maria", "likes", "jazz"))
    told.say(told.same("Mia", "Maria", tentative=True))
    told.say(told.claim("Mia", "likes", "chess", tentative=True))
    page = told.view.review("names")
    assert [str(item.facts[0].relation) for item in page.items] == ["is the same as"]
    assert (page.total, page.names, page.totals["tentative"]) == (1, 1, 2)
    told.memory.merge("Mia", "Maria")
    assert told.view.review("names").total == 0
    (one,) = told.view.joined().items
    assert {one.entity.label, *one.entity.aliases} == {"Mia", "Maria"}
    assert all(fact.polarity for fact in one.identities) and one.identities


def test_those_with_several_names_come_by_name_page_by_page(told):
    names = [f"Person {number:02}" for number in range(7)]
    for name in names:
        told.say(told.claim(name, "likes", "tea"), told.claim(f"Z{name}", "likes", "tea"), told.same(name, f"Z{name}"))
    found, after = [], ""
    while True:
        page = told.view.joined(after=after, limit=3)
        found += [one.entity.label for one in page.items]
        assert page.total == 7
        if not (after := page.next):
            break
    assert sorted(found) == found == names
    assert [one.entity.label for one in told.view.joined("03").items] == ["Person 03"]


@pytest.mark.parametrize("wrong", [{"after": "x", "before": "x"}, {"before": "x"}, {"kind": "other"}], ids=str)
def test_a_page_that_there_is_not_is_an_error(queue, wrong):
    with pytest.raises(InputError, match="expected"):
        queue.view.review(**wrong)


def test_who_says_a_fact_is_told_with_where(told):
    for who in ("Hana", "Jiro", "Ana"):
        told.say(told.claim("Mia", "likes", "tea"), speaker=who)
    (fact,) = told.view.about("Mia").items
    voices = told.view.voices([fact], limit=2)[fact.fact_id]
    assert [voice.turn.speaker for voice in voices] == ["Ana", "Jiro"]
    assert tuple(voice.quote for voice in voices) == told.view.quotes(fact, limit=2)


def test_what_was_done_lately_is_told_and_what_undo_takes_back(told):
    """Turns only where they are the next to go, or of a session that is asked for."""
    told.say(told.claim("Mia", "likes", "tea", tentative=True))
    assert [(deed.kind, deed.last) for deed in told.view.deeds()] == [("maintained", True)]
    (item,) = told.view.review().items
    told.memory.accept(item.key, reason="she said so")
    told.memory.retract(item.key)
    assert [(deed.kind, deed.last) for deed in told.view.deeds()] == [("retracted", True), ("accepted", False)]
    assert [deed.kind for deed in told.view.deeds(session="s")] == ["retracted", "accepted", "maintained"]
    told.memory.undo()
    assert [(deed.kind, deed.stands, deed.last) for deed in told.view.deeds()] == [
        ("retracted", False, False), ("accepted", True, True),
    ]  # fmt: skip
    assert told.view.deeds()[0].target == item.key
    told.say(told.claim("Mia", "likes", "jazz"))
    last = told.view.deeds()[0]
    assert (last.kind, last.last) == ("maintained", True)
    assert View(told.doxa.parts, "bo").deeds() == ()


@pytest.mark.parametrize("seed", range(4))
def test_what_stands_is_the_same_however_far_is_read_at_once(told, monkeypatch, seed):
    """As a stack that is folded from the beginning has it."""
    chance, stack = random.Random(seed), []
    for number in range(60):
        match chance.choice(["say", "nothing", "retract", "undo", "undo"]):
            case "say":
                stack.append(told.say(told.claim("Mia", "likes", f"tea {number}")))
            case "nothing":
                told.say()
            case "retract" if held := told.memory.facts():
                told.memory.retract(chance.choice(held).fact_id)
                stack.append("retracted")
            case "undo":
                told.memory.undo()
                del stack[-1:]
    for near in (1, 7, 256):
        monkeypatch.setattr(reading, "NEAR", near)
        with told.log.user("ana") as state:
            found = list(deeds(told.log, "ana", state))
        assert len({one.row.ordinal for one in found}) == len(found)
        standing = [one.row for one in found if one.stands]
        told_by = {turn.ordinal: turn.turn_id for turn in told.memory.turns(withdrawn=True)}
        assert [told_by.get(row.about, row.kind) for row in reversed(standing)] == stack


def test_undo_finds_what_was_done_long_ago(told):
    """Though many turns since then changed nothing."""
    told.say(told.claim("Mia", "likes", "tea"))
    (fact,) = told.memory.facts()
    told.memory.retract(fact.fact_id)
    for _ in range(reading.NEAR):
        told.say()
    assert [str(change.kind) for change in told.memory.undo()] == ["restore"]
    assert [one.fact_id for one in told.memory.facts()] == [fact.fact_id]


@pytest.mark.parametrize("same", [True, False], ids=["merge", "split"])
def test_a_preview_of_names_says_what_would_change_and_changes_nothing(told, same):
    told.say(told.claim("Mia", "likes", "tea"), told.claim("Maria", "likes", "tea"))
    if not same:
        told.memory.merge("Mia", "Maria")
    act, word = (told.memory.merge, "merge") if same else (told.memory.split, "split")
    before = told.memory.history()
    previewed = told.memory.what_if(**{word: ("Mia", "Maria")})
    assert told.memory.history() == before and previewed
    assert [str(change) for change in act("Mia", "Maria")] == [str(change) for change in previewed]
    assert told.memory.what_if(**{word: ("Mia", "Maria")}) == []


@pytest.mark.parametrize(
    ("names", "error"),
    [(("Mia", "Zoe"), NotFoundError), (("Mia", "Mia"), InputError), (("Mia",), InputError), ("Mia", InputError)],
    ids=str,
)
def test_names_that_cannot_be_joined_are_an_error(told, names, error):
    told.say(told.claim("Mia", "likes", "tea"))
    with pytest.raises(error):
        told.memory.what_if(merge=names)
