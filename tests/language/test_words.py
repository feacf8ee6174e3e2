"""What is known of words: their forms, and lists that everybody reads."""

import pytest

from doxa.language import (
    base_forms,
    from_third_person,
    past_of,
    sentence_places,
    split_text,
    stems,
    stems_of,
    third_person,
)
from doxa.language.verbs import base_of, forms_of
from doxa.language.words import ADVERBS, HEDGES, MODALS


@pytest.mark.parametrize(
    ("base", "third", "past"),
    [("go", "goes", "went"), ("study", "studies", "studied"), ("stop", "stops", "stopped"), ("like", "likes", "liked")],
)
def test_verbs_are_inflected(base: str, third: str, past: str) -> None:
    assert (third_person(base), past_of(base)) == (third, past)


@pytest.mark.parametrize("base", ["go", "study", "live in", "watch", "be"])
def test_a_third_person_leads_back_to_its_verb(base: str) -> None:
    """Whatever follows the verb stays."""
    first, _, rest = base.partition(" ")
    assert from_third_person(f"{third_person(first)} {rest}".strip()) == base


def test_irregular_forms_lead_to_their_verb() -> None:
    """One that is its own past ("put") is not among them."""
    assert base_forms()["built"] == "build"
    assert "put" not in base_forms()
    assert base_of("went", "past") == "go"
    assert forms_of("stone") == []


def test_stems_leave_out_function_words() -> None:
    """Words that mean one thing have one stem where that is asked for."""
    assert stems("The kids' bicycles were ours") == ["kid", "bicycl", "our"]
    assert stems_of("The kids' bicycles") == {"child", "bike"}


def test_a_sentence_does_not_end_behind_an_abbreviation() -> None:
    """It ends at the next mark."""
    assert split_text("I saw Dr. Roth at 5 p.m. today. It went well!") == [
        "I saw Dr. Roth at 5 p.m. today.",
        "It went well!",
    ]


def test_lists_hold_what_they_are_named_for() -> None:
    """A hedge is an adverb, a modal verb is none."""
    assert HEDGES - {"supposedly", "allegedly", "reportedly"} <= ADVERBS
    assert not ADVERBS & set(MODALS)


def test_sentences_have_their_places():
    """From the first to the last character of each, as they stand."""
    text = " I saw Dr.\n Roth. \n\n It went well! “Really?” No"
    assert [text[start:end] for start, end in sentence_places(text)] == [
        "I saw Dr.\n Roth.",
        "It went well!",
        "“Really?”",
        "No",
    ]
    assert len(sentence_places(text)) == len(split_text(text)) and sentence_places(" \n") == []
