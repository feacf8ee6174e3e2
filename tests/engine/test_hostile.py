"""Texts that are hostile to who reads them cost no more than others, and it is said what of them was not read."""

import sys
from pathlib import Path

import pytest

from doxa.core.errors import InputError, TurnError
from doxa.engine import Doxa, read_filter
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


@pytest.mark.parametrize("where", ["speaker", "session"])
def test_a_name_that_is_a_text_is_refused(engine, where):
    """It would be kept with every turn and told with every fact."""
    names = {"speaker": "Kim", "session": "s", where: "x" * 1001}
    with pytest.raises(TurnError, match=f"{where} may have 1,000 characters, got 1,001"):
        engine.dialogue(user="named", session=names["session"]).absorb("I live in Oslo.", speaker=names["speaker"])
    assert engine.memory(user="named").turns() == []


def test_of_what_was_said_just_before_the_latest_is_looked_at(engine, monkeypatch):
    """Work, not seconds: 100,000 messages beside a question took 13 s. One that is no message is told by its place."""
    engine.dialogue(user="before").absorb("Kim lives in Oslo.")
    read = []
    monkeypatch.setattr("doxa.engine.intake._only_calls", lambda message: read.append(message))
    said = [{"role": "user", "content": f"I met Ana{n}."} for n in range(500)]
    engine.dialogue(user="before").ask("Where does Kim live?", said=[*said, {"role": "user", "content": "I met Kim."}])
    assert len(read) == 50 and read[-1]["content"] == "I met Kim."
    with pytest.raises(InputError, match="message 500"):
        engine.dialogue(user="before").ask("Where does she live?", said=[*said, {"role": "nobody"}])


def test_no_question_needs_more_turns_than_can_be_read(engine):
    """Each is kept with the feedback, and learnt from."""
    with pytest.raises(InputError, match="100 turns at most, got 101"):
        engine.memory(user="known").feedback("Where?", needed=["t"] * 101)


@pytest.mark.parametrize("given", [{"AND": [{"user_id": "ana"}] * 2000}, {"memory_ids": {"in": ["x"] * 2000}}])
def test_a_filter_is_looked_at_for_every_memory_and_so_it_is_short(given):
    """Conditions and values count alike, at any depth."""
    with pytest.raises(InputError, match="2,000 conditions and values"):
        read_filter(given)
    assert read_filter({"AND": [{"user_id": "ana"}] * 500}).users == ("ana",)


def test_a_rule_whose_cases_are_too_many_is_said_of_the_turn_that_met_it(engine, monkeypatch):
    """Not in the words of the rule, which another turn said and may be erased with."""
    monkeypatch.setattr("doxa.engine.absorb.turn.cut_short", lambda beliefs: ["a rule"])
    dialogue = engine.dialogue(user="joined")
    dialogue.absorb("I live in Oslo.", turn_id="one")
    dialogue.flush()
    assert engine.memory(user="joined").stats()["degraded"] == 1
    with engine.parts.log.user("joined") as state:
        assert state.degraded["one"].startswith("1 of the rules join more than is looked at")
