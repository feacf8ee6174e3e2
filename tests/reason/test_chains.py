"""Questions that are answered over several sentences."""

import pytest

from doxa import Doxa
from doxa.memory import mention_index
from doxa.reason import best_chains

FACTS = (
    "The author of The Weir of Halm is Bettina Okoro.",
    "Bettina Okoro is married to Tomas Wray.",
    "Tomas Wray is a citizen of Renn.",
    "The capital of Renn is Selk.",
    "Tomas Wray died in the city of Port Oum.",
    "Ilse Varga is a citizen of Tarn.",
    "The capital of Tarn is Brae.",
    "Ilse Varga is married to Odo Finn.",
)


def told(doxa, *more):
    chat = doxa.dialogue(user="ana", speaker="Ana", agent="helper", session="facts")
    for text in (*FACTS, *more):
        chat.absorb(text, at="2026-01-01")
    chat.flush()
    return chat


@pytest.fixture(scope="module")
def chat():
    with Doxa.open(":memory:") as doxa:
        yield told(doxa)


@pytest.mark.parametrize(
    ("question", "value", "cited"),
    [
        ("In which city did the spouse of the author of The Weir of Halm die?", "Port Oum", 3),
        ("What is the capital of the country that Tomas Wray is a citizen of?", "Selk", 2),
        ("Which city is the capital of the country where Ilse Varga holds citizenship?", "Brae", 2),
    ],
)
def test_every_sentence_on_the_way_is_cited(chat, question, value, cited):
    reply = chat.ask(question)
    assert reply.value == value
    assert len(reply.citations) == cited and not reply.abstained


def test_each_step_is_what_was_said_last():
    with Doxa.open(":memory:") as doxa:
        chat = told(doxa, "The capital of Renn is Hove.", "The author of The Weir of Halm is Ilse Varga.")
        assert chat.ask("What is the capital of the country that Tomas Wray is a citizen of?").value == "Hove"
        assert chat.ask("Who is the spouse of the author of The Weir of Halm?").value == "Odo Finn"


def test_what_was_forgotten_leads_nowhere():
    with Doxa.open(":memory:") as doxa:
        chat = told(doxa)
        question = "What is the capital of the country that Tomas Wray is a citizen of?"
        (cited,) = (one for one in chat.ask(question).citations if "Selk" in one.text)
        doxa.memory(user="ana").forget(turn_id=cited.turn_id)
        assert chat.ask(question).value != "Selk"


def test_a_question_of_another_day_is_not_answered_by_what_was_said_last():
    with Doxa.open(":memory:") as doxa:
        chat = told(doxa, "The capital of Renn is Hove.")
        reply = chat.ask("What was the capital of Renn in 2019?")
        assert reply.abstained or "Hove" not in f"{reply.value}"


def test_vectors_are_made_of_sentences_that_may_be_told_alone():
    with Doxa.open(":memory:") as doxa:
        chat = told(doxa, *(f"Tomas Wray met Ilse Varga and Odo Finn in Port{number}." for number in range(30)))
        seen = []

        def encode(texts):
            seen.extend(texts)
            return doxa.parts.own_vectors(texts)

        with doxa.parts.log.user(chat.user) as state:
            index = mention_index(state)
            best_chains("Where did Tomas Wray die?", index, encode, lambda tie: len(tie.keys) == 2)
        assert len(index.ties) > 30
        assert seen and not any(" met " in text for text in seen)
