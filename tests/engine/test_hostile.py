"""Texts that are hostile to who reads them cost no more than others, and it is said what of them was not read."""

import sys
from pathlib import Path

import pytest

from doxa.engine import Doxa
from doxa.language import MOST_SENTENCES, split_text

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "fire"))
from shapes import SHAPES

CHARS = 40_000
RUNNING_ON = [name for name, shape in SHAPES.items() if len(split_text(shape(CHARS))) < MOST_SENTENCES]
"""Shapes of few sentences; what has many costs what any text of so many does (`benchmarks/fire/hostile.py`)."""


@pytest.fixture(scope="module")
def engine(light):
    with Doxa.open(":memory:", config=light()) as opened:
        yield opened


@pytest.mark.timeout(30)
@pytest.mark.parametrize("shape", RUNNING_ON)
def test_a_text_that_runs_on_is_taken_in_asked_about_and_found(engine, shape):
    """What is quadratic in a turn or a question runs into the time-out: 100,000 spaces once took 211 s."""
    text = SHAPES[shape](CHARS)
    dialogue, memory = engine.dialogue(user=shape), engine.memory(user=shape)
    dialogue.absorb("I live in Oslo.", turn_id="plain")
    dialogue.absorb(text, turn_id="hostile")
    dialogue.flush()
    assert memory.turn("hostile").text == text
    assert memory.stats()["pending"] == 0
    assert memory.search(text) is not None and dialogue.ask(text).text


def test_a_long_turn_is_read_from_its_beginning_and_it_is_said(engine):
    """What stands behind is found by search, and no fact is made of it."""
    lines = [f"Kim{number} lives in Town{number}." for number in range(400)]
    dialogue, memory = engine.dialogue(user="long"), engine.memory(user="long")
    dialogue.absorb(" ".join(lines), turn_id="long")
    dialogue.flush()
    towns = {fact.object.label for fact in memory.facts()}
    assert "Town0" in towns and "Town119" in towns and "Town120" not in towns
    assert [turn_id for item in memory.search("Town399") for turn_id in item.turn_ids] == ["long"]
    assert memory.stats()["degraded"] == 1
    with engine.parts.log.user("long") as state:
        assert "the rest is kept and can be searched" in state.degraded["long"]


def test_what_of_a_reply_is_not_checked_is_said(engine):
    """The sentences beyond the first ones, and one that runs on."""
    memory = engine.memory(user="checked")
    verdict = memory.check("You live in Oslo. " * 70)
    assert len(verdict.sentences) == 61
    assert verdict.sentences[-1].label == "neutral" and "only the first 60" in verdict.sentences[-1].reason
    (alone,) = memory.check("You live in Oslo and " + "like tea and " * 100 + "sing.").sentences
    assert alone.label == "neutral" and "more than 1,000 characters" in alone.reason
