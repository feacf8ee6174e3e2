"""Replies against a memory: what contradicts it, what agrees with it, and what claims nothing."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from doxa import Doxa
from doxa.core.config import Config, GraderConfig
from doxa.engine import Memory

PLAIN = Config(grader=GraderConfig(name="none"))
"""Logic, wording and the NLI model alone."""

TOLD = [
    ("2024-01-10", "I've been living in Paris since 2019. My rent is 900 euros a month."),
    ("2024-03-02", "My sister Mia works at Siemens. I'm a vegetarian."),
    ("2024-06-02", "I moved to Berlin yesterday. My flight to Oslo is on 12 July."),
    ("2024-06-03", "There are 31 pupils in my class."),
]


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Doxa.open(":memory:", config=PLAIN) as doxa:
        dialogue = doxa.dialogue(user="ana", speaker="Ana")
        for day, text in TOLD:
            dialogue.absorb(text, at=day)
        dialogue.flush()
        yield doxa.memory(user="ana")


@pytest.mark.parametrize(
    ("reply", "held"),
    [
        ("You live in Paris.", "Berlin"),
        ("Since you live in Munich, the trip is short.", "Berlin"),
        ("Your rent is 950 euros a month.", "900 euros"),
        ("Your flight to Oslo is on 14 July.", "12 July"),
        ("You eat meat.", "vegetarian"),
        ("You never lived in Paris.", "Paris"),
        ("You moved to Berlin in March.", "Berlin"),
        ("With 45 pupils in your class you need a second teacher.", "31 pupils"),
    ],
)
def test_a_reply_that_contradicts_the_memory_is_found(memory, reply, held):
    """With what contradicts it, in words and by its ids."""
    found = memory.check(f"Good to hear from you! {reply} Shall we go on?")
    assert found.label == "contradicted" and found.consistency < 0.5
    (wrong,) = [one for one in found.sentences if one.label == "contradicted"]
    assert held in wrong.reason and "2024" in wrong.reason
    assert wrong.because and wrong.p_contradiction > wrong.p_entailment


@pytest.mark.parametrize(
    "reply",
    [
        "You live in Berlin.",
        "You lived in Paris until June.",
        "You used to live in Paris, and now you live in Berlin.",
        "Your rent is €900.",
        "You're flying to Oslo in July.",
        "Do you live in Munich?",
        "Perhaps you live in Munich by now.",
        "If you lived in Munich, the trip would be short.",
        "You should move to Munich.",
        "Munich has two large rivers.",
        "You were born in Rome.",
        "That sounds lovely!",
    ],
)
def test_what_agrees_or_claims_nothing_is_no_contradiction(memory, reply):
    assert memory.check(reply).label != "contradicted"


def test_each_sentence_has_a_verdict_of_its_own(memory):
    found = memory.check("Hello Ana! You live in Berlin. You live in Paris. How are you?")
    assert [one.label for one in found.sentences] == ["neutral", "supported", "contradicted", "neutral"]
    assert [one.kind for one in found.sentences] == ["talk", "statement", "statement", "question"]


@pytest.fixture(scope="module")
def seller() -> Iterator[Memory]:
    with Doxa.open(":memory:", config=PLAIN) as doxa:
        dialogue = doxa.dialogue(user="rohan", speaker="Rohan")
        dialogue.absorb("I bought a used Skoda for 9,400 euros.", at="2024-01-10")
        dialogue.absorb("I sold the Skoda to my cousin Vivek.", at="2024-03-10")
        dialogue.absorb("I teach maths at a secondary school.", at="2024-03-11")
        dialogue.flush()
        yield doxa.memory(user="rohan")


def test_what_was_given_away_is_owned_no_longer(seller):
    """A sale is no reason to believe that the seller has the thing, and its later word counts."""
    found = seller.check("You still own the Skoda, so use it for the move.")
    assert found.label == "contradicted" and "sold" in found.reason


def test_another_relation_in_like_words_is_no_rival(seller):
    """ "Works as" and "works at" have a value each."""
    assert seller.check("You work as a maths teacher.").label != "contradicted"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("You paid 11,900 euros for the Skoda.", "9,400 euros"),
        ("With the 11,900 euros that the Skoda cost you, I'd have bought a bike.", "9,400 euros"),
    ],
)
def test_a_number_in_place_of_another_is_found_where_no_fact_was_read(seller, reply, said):
    """In a statement, and where it is taken for granted in advice."""
    found = seller.check(reply)
    assert found.label == "contradicted" and said in found.reason


def test_what_the_assistant_said_first_decides_on_what_it_says_later():
    """The case study of the examples."""
    path = Path(__file__).parents[2] / "examples" / "case_study.py"
    spec = importlib.util.spec_from_file_location("case_study", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.check() == ["supported", "uncertain"]
