"""Advice from what somebody is like: a suggestion with what they said, and nothing where nothing is known."""

import pytest

from doxa.engine import Doxa


@pytest.fixture(scope="module")
def ana():
    """Ana, who said a few things about films and food; Ben, who said nothing."""
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="ana", speaker="Ana")
        for day, text in enumerate(
            ("I loved Alien and The Thing, horror is really my thing.", "I can't stand musicals.", "My bike is red."), 1
        ):
            chat.absorb(text, at=f"2026-03-0{day}")
        chat.flush()
        yield chat


def test_a_question_for_advice_is_answered_from_what_was_said(ana):
    """With the kind of thing as the value, and the turns that say so cited."""
    reply = ana.ask("What should I watch tonight?")
    assert not reply.abstained and reply.value == "horror films"
    assert any("horror is really my thing" in one.text for one in reply.citations)
    assert "red" not in reply.text


def test_a_limit_is_told_as_one(ana):
    """What somebody cannot stand is quoted, and is not suggested."""
    reply = ana.ask("Suggest a film for me.")
    assert "musical" not in (reply.value or "") and "can't stand musicals" in reply.text


def test_what_is_no_question_for_advice_is_left_open(ana):
    assert ana.ask("When was I born?").abstained


def test_a_question_in_another_language_gets_no_advice():
    """What is wanted is not read: "where do I live?" looks as much like it as anything."""
    said = (
        "I live in Leeds, in a flat on Elm Street.",
        "I bought a canoe last week.",
        "I can't stand eggs, and I'm off dairy.",
        "I love jazz concerts.",
        "My sister is called Mia.",
    )
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="sam", speaker="Sam")
        for text in said:
            chat.absorb(text, at="2025-03-01")
        chat.flush()
        asked = [chat.ask(text) for text in ("Wo wohne ich?", "Où est-ce que j'habite ?")]
    assert all(reply.abstained and reply.value is None for reply in asked)
    assert any("another language" in str(step.degraded) for reply in asked for step in reply.trace.steps)


def test_nothing_is_suggested_to_somebody_of_whom_nothing_is_known():
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="ben", speaker="Ben")
        chat.absorb("My bike is red.", at="2026-03-01")
        chat.flush()
        assert chat.ask("What should I watch tonight?").abstained


def test_a_promoted_taste_is_told_with_statements_that_search_found(doxa):
    """Of several that speak for it the one that answers the question best, and the limit beside it."""
    chat = doxa.dialogue(user="eve", speaker="Eve")
    for day, text in enumerate(
        (
            "I love romantic films.",
            "My favourite love story on screen is Casablanca.",
            "I really enjoyed that romantic comedy with the bookshop.",
            "I adore a good romance movie on a Sunday.",
            "I can't stand horror movies.",
        )
    ):
        doxa.dialogue(user="eve", speaker="Eve", session=f"s{day}").absorb(text, at=f"2026-0{day + 1}-10")
    doxa.flush()
    memory = doxa.memory(user="eve")
    (romance,) = [one for one in memory.promotions() if one.concept == "film/romance"]
    reply = chat.ask("What film should I watch tonight?")
    found = [turn_id for one in memory.search("What film should I watch tonight?") for turn_id in one.turn_ids]
    cited = [one.turn_id for one in reply.citations]
    assert "You like" in reply.text and "romantic" in (reply.value or "")
    assert cited[0] == next(turn_id for turn_id in found if turn_id in romance.turn_ids)
    assert len(cited) == len(set(cited)) <= 4 and set(cited) <= set(found)
