"""A search that finds nothing leaves the answer that facts gave."""

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.engine import Doxa


@pytest.mark.parametrize(
    ("said", "question", "value"),
    [
        ("My flight to Chengdu is on the 16th of May.", "When is Li's flight to Chengdu?", "16 May 2024"),
        ("There are four of us in the company.", "How many people work in Li's company?", "four"),
    ],
    ids=["when", "how many"],
)
def test_an_unsure_answer_from_facts_outlives_a_search_without_one(said, question, value):
    """The search looks for a better answer and gives up; what the facts say is still known."""
    with Doxa.open(":memory:", config=Config(encoder=EncoderConfig(name="hash"))) as doxa:
        chat = doxa.dialogue(user="li", speaker="Li")
        chat.absorb(said, at="2024-04-22")
        reply = chat.ask(question)
    assert reply.value == value and not reply.abstained


def test_what_is_only_met_on_the_way_is_no_answer(doxa):
    """Who the daughter is does not tell what she studies."""
    nora = doxa.dialogue(user="nora", speaker="Nora")
    nora.absorb("My boss has a daughter called Lise.", at="2024-02-20")
    nora.flush()
    assert nora.ask("What does the daughter of my boss study?").value != "Lise"
