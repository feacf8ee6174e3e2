"""What is taken back by hand: facts, turns, sources, the last change; and what that would change."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.core.config import Config, EncoderConfig
from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Status
from doxa.engine import Doxa

LIBRARY = (
    ("Ben", "The library closes at 18:00.", "2024-03-01"),
    ("Chiara", "The library closes at 18:00.", "2024-03-01"),
    ("Ben", "The bridge toll is 7 euros.", "2024-03-02"),
    ("Ben", "If it rains on a Sunday, I stay in.", "2024-03-02"),
)
MOVES = (
    ("Ana", "I live in Lisbon.", "2024-01-10"),
    ("Ana", "I work at Siemens.", "2024-01-10"),
    ("Ana", "I moved to Berlin.", "2024-06-02"),
)


def tell(doxa, turns, user="ana"):
    chat = doxa.dialogue(user=user, speaker=turns[0][0])
    for place, (speaker, text, day) in enumerate(turns, start=1):
        chat.absorb(text, speaker=speaker, at=day, turn_id=f"t{place}")
    chat.flush()
    return doxa.memory(user=user)


def held(memory, **which):
    return [memory.describe(fact) for fact in memory.facts(**which) if not fact.premises]


def snapshot(doxa, memory):
    """Everything that is believed or was true, the rules, the claims in their order, and which turns are trusted."""
    facts = {fact.fact_id: fact for fact in memory.facts(current=False) if fact.status is not Status.RETRACTED}
    with doxa.parts.log.user(memory.user) as state:
        claims = {slot: list(said) for slot, said in state.beliefs.claims.items() if said}
        trusted = [turn.turn_id for turn in state.turns.values() if turn.turn_id not in state.withdrawn]
        return facts, memory.rules(), claims, trusted


def test_a_speaker_is_withdrawn_with_all_turns(doxa):
    """What somebody else says as well stays; what rested on him alone goes, his rules too."""
    memory = tell(doxa, LIBRARY)
    changes = memory.withdraw(source="ben", reason="he was guessing")
    assert [change.reason for change in changes if "toll" in str(change.fact)] == ["he was guessing"]
    assert any("library" in line for line in held(memory)) and not any("toll" in line for line in held(memory))
    assert memory.rules() == [] and {key for item in memory.search("bridge toll") for key in item.turn_ids} == {"t2"}
    chat = doxa.dialogue(user="ana", speaker="Ben")
    chat.absorb("The bridge toll is 8 euros.", at="2024-04-01")
    chat.flush()
    assert any("8 euros" in line for line in held(memory))


def test_a_quoted_source_is_withdrawn_without_the_rest_of_the_turn(doxa):
    """The speaker's own word in the same turn is kept."""
    memory = tell(doxa, [("Ana", "Dad says the cabin was built in 1952. I live in Ulm.", "2024-03-01")])
    assert any("1952" in line for line in held(memory))
    memory.withdraw(source="Ana's father")
    assert not any("1952" in line for line in held(memory)) and any("Ulm" in line for line in held(memory))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [({}, InputError), ({"turn_id": "t1", "source": "Ben"}, InputError), ({"source": "Zoe"}, NotFoundError)],
    ids=["nothing", "both", "nobody"],
)
def test_what_cannot_be_withdrawn_is_an_error(doxa, wrong, error):
    memory = tell(doxa, LIBRARY)
    with pytest.raises(error):
        memory.withdraw(**wrong)


def test_an_unknown_source_is_met_with_those_that_are_known(doxa):
    with pytest.raises(NotFoundError, match="'Ben', 'Chiara'"):
        tell(doxa, LIBRARY).withdraw(source="Zoe")


def test_what_only_follows_cannot_be_retracted_by_itself(doxa):
    """The error names what it rests on; without that it is gone."""
    turns = [
        ("Colm", "If Zoe passes the test, I get a dog.", "2024-05-01"),
        ("Colm", "Zoe passed the test.", "2024-05-02"),
    ]
    memory = tell(doxa, turns)
    (dog,) = [fact for fact in memory.facts() if fact.premises]
    (premise,) = [fact for fact in memory.facts() if not fact.premises]
    with pytest.raises(InputError, match=rf"{premise.fact_id} .*turn t1"):
        memory.retract(dog.fact_id)
    memory.retract(premise.fact_id)
    assert memory.facts() == []


ACTS = {
    "withdraw a turn": lambda memory: memory.withdraw(turn_id="t3"),
    "withdraw an early turn": lambda memory: memory.withdraw(turn_id="t1"),
    "withdraw a source": lambda memory: memory.withdraw(source="Ana"),
    "retract a fact": lambda memory: memory.retract(memory.facts(relation="lives in")[0].fact_id),
    "merge": lambda memory: memory.merge("Lisbon", "Siemens"),
    "split": lambda memory: memory.split("Lisbon", "Siemens"),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_undo_restores_what_was_believed(doxa, act):
    """Facts with their validity, claims in their order, and which turns are trusted."""
    memory = tell(doxa, MOVES)
    before = snapshot(doxa, memory)
    assert act(memory)
    assert snapshot(doxa, memory) != before
    assert memory.undo()
    assert snapshot(doxa, memory) == before
    with Doxa.open(":memory:", config=doxa.parts.config) as other:
        assert other.users() == []


def test_undo_takes_one_change_after_the_other_back(doxa):
    """By hand or by a turn, the last one first; then there is nothing more."""
    memory = tell(doxa, MOVES)
    memory.withdraw(turn_id="t1")
    memory.retract(memory.facts(relation="works at")[0].fact_id)
    for left in (["Siemens", "Berlin"], ["Siemens", "Berlin"], ["Lisbon", "Siemens"], ["Lisbon"], []):
        assert memory.undo()
        assert [str(fact.object) for fact in memory.facts() if not fact.premises] == left
    assert memory.undo() == []


def test_what_is_said_after_an_undo_is_undone_first(doxa):
    memory = tell(doxa, MOVES)
    memory.undo()
    chat = doxa.dialogue(user="ana", speaker="Ana")
    chat.absorb("I moved to Oslo.", at="2024-07-01", turn_id="t4")
    chat.flush()
    memory.undo()
    assert [str(fact.object) for fact in memory.facts(relation="lives in")] == ["Lisbon"]


STEPS = st.lists(st.sampled_from(["t1", "t2", "t3", "t4", "source", "fact", "say", "undo"]), max_size=7)


@pytest.fixture(scope="module")
def shared():
    """An engine for many users, and a counter of them."""
    with Doxa.open(":memory:", config=Config(encoder=EncoderConfig(name="hash"))) as doxa:
        yield doxa, count()


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_every_undo_restores_the_state_before(shared, steps):
    """Whatever was done before: a stack of snapshots is the model. Replaying the log gives the same."""
    doxa, users = shared
    memory = tell(doxa, LIBRARY, user=f"u{next(users)}")
    stack = []
    for number, step in enumerate(steps):
        if step == "undo":
            if stack:
                memory.undo()
                assert snapshot(doxa, memory)[:3] == stack[-1][:3]
                assert set(stack.pop()[3]) <= set(snapshot(doxa, memory)[3])
        else:
            before = snapshot(doxa, memory)
            if _done(step, number, doxa, memory):
                stack.append(before)
    with doxa.parts.log.user(memory.user) as state:
        facts = dict(state.beliefs.facts)
    doxa.parts.log.forget_state(memory.user)
    with doxa.parts.log.user(memory.user) as state:
        assert state.beliefs.facts == facts


def _done(step, number, doxa, memory):
    """Does something, and tells whether there was anything to do."""
    if step == "say":
        chat = doxa.dialogue(user=memory.user, speaker="Ben")
        chat.absorb(f"I live in Room {number}.", at="2024-05-01", turn_id=f"s{number}")
        chat.flush()
    elif step == "source":
        memory.withdraw(source="Ben")
    elif step == "fact":
        facts = [fact for fact in memory.facts() if not fact.premises]
        return bool(facts) and memory.retract(facts[0].fact_id) is not None
    else:
        with doxa.parts.log.user(memory.user) as state:
            gone = step in state.withdrawn
        memory.withdraw(turn_id=step)
        return not gone
    return True


def test_an_undo_survives_a_restart_an_export_and_an_erasure(config, tmp_path):
    """The log holds it, and the erasure of another turn tells it again."""
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        memory = tell(doxa, MOVES)
        memory.withdraw(source="Ana")
        memory.undo()
        memory.undo()
        believed = held(memory)
        assert believed == ["Ana lives in Lisbon", "Ana works at Siemens"]
        path = memory.export(tmp_path / "ana.jsonl")
        other = doxa.memory(user="other")
        other.import_(path)
        assert held(other) == believed
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        memory = doxa.memory(user="ana")
        assert held(memory) == believed
        memory.forget(turn_id="t2")
        assert held(memory) == ["Ana lives in Lisbon"]
        memory.forget(turn_id="t3")
        assert held(memory) == ["Ana lives in Lisbon"]


@pytest.mark.parametrize(
    ("question", "does"),
    [
        ({"withdraw": "t3"}, lambda memory: memory.withdraw(turn_id="t3")),
        ({"source": "Ana"}, lambda memory: memory.withdraw(source="Ana")),
        ({"retract": "fact"}, lambda memory: memory.retract(memory.facts(relation="lives in")[0].fact_id)),
    ],
    ids=["turn", "source", "fact"],
)
def test_a_preview_says_what_would_change_and_changes_nothing(doxa, question, does):
    memory = tell(doxa, MOVES)
    before, stats = snapshot(doxa, memory), memory.stats()
    if "retract" in question:
        question = {"retract": memory.facts(relation="lives in")[0].fact_id}
    previewed = memory.what_if(**question)
    assert snapshot(doxa, memory) == before and memory.stats() == stats
    assert [_told(change) for change in does(memory)] == [_told(change) for change in previewed]


def _told(change):
    return change.kind, change.fact.fact_id, change.fact.status, change.fact.valid


def test_a_preview_of_a_turn_says_what_it_would_change(doxa):
    """It is neither remembered nor recalled, and no later preview knows it."""
    memory = tell(doxa, MOVES)
    before, stats = snapshot(doxa, memory), memory.stats()
    for _ in range(2):
        told = [str(change) for change in memory.what_if(say="I moved to Oslo.")]
        assert any("Oslo" in line and line.startswith("assert") for line in told)
        assert any("Berlin" in line and line.startswith("close") for line in told)
    assert any("Zoe" in str(change.fact) for change in memory.what_if(say="I live in Ulm.", speaker="Zoe"))
    assert snapshot(doxa, memory) == before and memory.stats() == stats


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({}, InputError),
        ({"retract": "f1", "say": "x"}, InputError),
        ({"say": " "}, InputError),
        ({"retract": "f1"}, NotFoundError),
        ({"withdraw": "t9"}, NotFoundError),
        ({"source": "Zoe"}, NotFoundError),
    ],
    ids=str,
)
def test_what_cannot_be_previewed_is_an_error(doxa, wrong, error):
    memory = tell(doxa, MOVES)
    with pytest.raises(error):
        memory.what_if(**wrong)
