"""Turns of which nothing is believed any more are no evidence, unless the past is asked about."""

from collections.abc import Iterator

import pytest

from doxa.core.config import Config
from doxa.engine import Doxa, Memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    """What Ana said of her home and her drink, of which only the last is true."""
    with Doxa.open(":memory:", config=Config()) as doxa:
        chat = doxa.dialogue(user="ana")
        for number, text in enumerate(
            [
                "I live in Berlin.",
                "I like tea.",
                "I moved to Porto in March.",
                "My sister lives in Berlin.",
                "I work as a nurse.",
                "Sorry, I meant that I work as a teacher.",
            ]
        ):
            chat.absorb(text, speaker="Ana", turn_id=f"t{number}", at=f"2024-0{number + 1}-01T12:00")
        doxa.flush()
        yield doxa.memory(user="ana")


def ids(memory: Memory, query: str, **options: object) -> list[str]:
    return [evidence.turn_ids[0] for evidence in memory.search(query, **options)]


@pytest.mark.parametrize("query", ["Where do I live?", "my home", "Berlin", "live"])
def test_what_was_superseded_is_not_in_default_results(memory, query):
    """What is held still is, whoever it is about."""
    found = ids(memory, query)
    assert "t0" not in found and "t3" in found


def test_what_was_corrected_is_not_in_default_results(memory):
    found = ids(memory, "What is my work?")
    assert "t4" not in found and "t5" in found


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("Where did I use to live?", {}),
        ("Where did I live before?", {}),
        ("Which city have I lived in?", {}),
        ("Where do I live?", {"as_of": "2024-02-01"}),
        ("Where do I live?", {"known_at": "2024-02-01"}),
        ("Where do I live?", {"superseded": True}),
    ],
)
def test_the_past_is_found_when_it_is_asked_about(memory, query, options):
    assert "t0" in ids(memory, query, **options)


@pytest.mark.parametrize("query", ["What was my job?", "What did I work as before?", "Did I use to be a nurse?"])
def test_what_never_was_true_is_not_found_by_asking_about_the_past(memory, query):
    """It was corrected, not superseded; only who asks for everything, or for what was known then, gets it."""
    assert "t4" not in ids(memory, query)
    assert "t4" in ids(memory, query, superseded=True)
    assert "t4" in ids(memory, query, known_at="2024-05-15")


def test_what_comes_to_hold_again_is_found_again(memory):
    """Taking the last turn back brings the earlier one back."""
    memory.withdraw(turn_id="t2")
    found = ids(memory, "Where do I live?")
    assert "t0" in found and "t2" not in found


def test_evidence_names_the_facts_that_its_turn_supports(memory):
    """Held facts alone; a turn that is only history has none."""
    held = {fact.fact_id: fact.turn_ids for fact in memory.facts()}
    by_turn = {evidence.turn_ids[0]: evidence.fact_ids for evidence in memory.search("live", superseded=True)}
    assert by_turn["t0"] == () and by_turn["t2"]
    assert all(turn_id in held[key] for turn_id, keys in by_turn.items() for key in keys)
