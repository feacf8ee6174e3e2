"""The answers that are kept, page by page."""

import pytest

from doxa.core.config import Config, EncoderConfig, GraderConfig, ReaderConfig
from doxa.core.errors import InputError
from doxa.engine import Doxa, View
from doxa.engine.viewing.order import cursor_of


@pytest.fixture
def doxa():
    """An engine to which Ana said where she lives."""
    settings = Config(
        encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), reader=ReaderConfig(name="none")
    )
    with Doxa.open(":memory:", config=settings) as engine:
        engine.dialogue(user="ana").absorb("I live in Berlin.", at="2024-01-05", turn_id="t1")
        engine.dialogue(user="ana").flush()
        yield engine


def questions(listing):
    """Return what was asked, as listed."""
    return [one.answer.question for one in listing.items]


def test_all_answers_come_once_the_latest_first(doxa):
    asked = [f"Where do I live{'?' * count}" for count in range(1, 8)]
    for one in asked:
        doxa.dialogue(user="ana").ask(one)
    view, found, after = View(doxa.parts, "ana"), [], ""
    while True:
        page = view.answers(after=after, limit=3)
        found += questions(page)
        if not (after := page.next):
            break
    assert found == asked[::-1]


def test_an_answer_is_found_by_what_was_asked_or_said(doxa):
    doxa.dialogue(user="ana").ask("Where do I live?")
    doxa.dialogue(user="ana").ask("What is my sister called?")
    view = View(doxa.parts, "ana")
    assert questions(view.answers("SISTER")) == ["What is my sister called?"]
    assert questions(view.answers("berlin")) == ["Where do I live?"]
    assert questions(view.answers("Oslo")) == []


def test_a_search_goes_on_behind_answers_that_do_not_fit(doxa):
    doxa.dialogue(user="ana").ask("Where do I live?")
    for count in range(1, 8):
        doxa.dialogue(user="ana").ask(f"What is my sister called{'?' * count}")
    found = View(doxa.parts, "ana").answers("live", limit=2)
    assert questions(found) == ["Where do I live?"]
    assert not found.next


def test_nobody_sees_the_answers_of_another(doxa):
    doxa.dialogue(user="ana").ask("Where do I live?")
    assert not View(doxa.parts, "ben").answers().items


@pytest.mark.parametrize("after", ["x", "WyJhIl0", "WzEsMl0"])
def test_what_is_no_cursor_is_refused(doxa, after):
    with pytest.raises(InputError, match="after"):
        View(doxa.parts, "ana").answers(after=after)


def test_a_cursor_beyond_every_place_begins_at_the_latest(doxa):
    doxa.dialogue(user="ana").ask("Where do I live?")
    assert questions(View(doxa.parts, "ana").answers(after=cursor_of(10**30))) == ["Where do I live?"]


def test_ids_name_turns_and_facts_and_nothing_that_is_gone(doxa):
    view = View(doxa.parts, "ana")
    (fact,) = doxa.memory(user="ana").facts()
    named = view.named(["t1", fact.fact_id, "t9", "f1_none"])
    assert set(named) == {"t1", fact.fact_id}
    assert named["t1"].text == "I live in Berlin."
