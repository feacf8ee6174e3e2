"""What is noted about a turn, what is kept word for word, and what no fact tells."""

import pytest

from doxa.core.errors import InputError, NotFoundError
from doxa.engine import Doxa


def tell(doxa, *texts, user="ana", **more):
    dialogue = doxa.dialogue(user=user)
    receipts = [dialogue.absorb(text, **more) for text in texts]
    dialogue.flush()
    return [receipt.turn_id for receipt in receipts]


def test_metadata_is_kept_with_its_turn_in_every_process(config, tmp_path):
    """It is read back as it was given, by whoever opens the database."""
    given = {"topic": "home", "tags": ["a", {"b": 1.5}], "deep": {"odd": "\ud800"}}
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        tell(doxa, "I live in Rome.", metadata=given)
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        (turn,) = doxa.memory(user="ana").turns()
        assert turn.metadata == {**given, "deep": {"odd": "?"}}


@pytest.mark.parametrize(
    "given", [{"a": float("nan")}, {"a": {1, 2}}, ["a"], {"a": "x" * 3_000_000}], ids=["nan", "set", "list", "too much"]
)
def test_metadata_that_cannot_be_kept_is_refused(doxa, given):
    """Nothing is stored then."""
    with pytest.raises(InputError, match="metadata"):
        tell(doxa, "I live in Rome.", metadata=given)
    assert doxa.memory(user="ana").turns() == []


def test_metadata_is_changed_by_hand(doxa):
    """The new takes the place of the old, and nothing that is believed changes."""
    (turn_id,) = tell(doxa, "I live in Rome.", metadata={"a": 1})
    memory = doxa.memory(user="ana")
    before = memory.facts()
    assert memory.annotate(turn_id, {"b": 2}).metadata == {"b": 2}
    assert memory.turns()[0].metadata == {"b": 2} and memory.facts() == before
    with pytest.raises(NotFoundError):
        memory.annotate("nothing", {})
    with pytest.raises(InputError):
        memory.annotate(turn_id, {"a": float("inf")})


def test_notes_are_no_change_to_undo_or_to_look_back_at(doxa):
    """`undo` takes the turn back, and what was believed then is told as before."""
    (turn_id,) = tell(doxa, "I live in Rome.", at="2024-01-01")
    memory = doxa.memory(user="ana")
    memory.annotate(turn_id, {"b": 2})
    assert [str(fact.object) for fact in memory.facts(known_at="2999-01-01")] == ["Rome"]
    memory.undo()
    assert memory.facts() == []


def test_notes_are_erased_with_their_turn_alone(doxa):
    """Neither what it was stored with nor what was noted later outlives it; those of other turns do."""
    first, second = tell(doxa, "I live in Rome.", "I like tea.", metadata={"mark": "secret-one"})
    memory = doxa.memory(user="ana")
    memory.annotate(first, {"mark": "secret-two"})
    memory.annotate(second, {"mark": "kept"})
    memory.forget(turn_id=first)
    assert "secret-two" not in str(doxa.parts.log.rows("ana"))
    assert [turn.metadata for turn in memory.turns()] == [{"mark": "kept"}]


@pytest.mark.parametrize("format", ["jsonl", "turtle", "jsonld"])
def test_an_export_holds_metadata_notes_and_what_is_word_for_word(doxa, tmp_path, format):
    """An import into an empty memory restores all three."""
    dialogue = doxa.dialogue(user="ana")
    dialogue.absorb("I live in Rome.", metadata={"a": [1]})
    kept = dialogue.absorb("I live in Bonn.", verbatim=True).turn_id
    dialogue.flush()
    memory = doxa.memory(user="ana")
    memory.annotate(kept, {"b": "2"})
    path = memory.export(tmp_path / "out", format=format)
    copy = doxa.memory(user="bob")
    copy.import_(path)
    assert [(one.text, one.metadata, one.verbatim) for one in copy.turns()] == [
        ("I live in Rome.", {"a": [1]}, False),
        ("I live in Bonn.", {"b": "2"}, True),
    ]
    assert [str(fact.object) for fact in copy.facts()] == ["Rome"]


def test_word_for_word_is_found_and_makes_no_fact(doxa):
    """It stays so when an earlier turn is erased and later ones are understood again."""
    (first,) = tell(doxa, "I like tea.")
    tell(doxa, "I live in Rome.", verbatim=True)
    memory = doxa.memory(user="ana")
    memory.forget(turn_id=first)
    assert memory.facts() == [] and [one.text for one in memory.search("live")] == ["Ana: I live in Rome."]


def test_what_no_fact_tells_is_told_by_its_words(doxa):
    """Facts tell "I live in Rome"; the rest is given with it while that is believed, and without it afterwards."""
    tell(doxa, "What a gruesome day.", "I live in Rome. The weather, oh well, hmm.", "I like tea.", at="2024-01-01")
    memory = doxa.memory(user="ana")
    whole = ["What a gruesome day.", "I live in Rome. The weather, oh well, hmm."]
    assert list(memory.untold().values()) == whole
    tell(doxa, "I moved to Bonn.", at="2024-05-01")
    assert list(memory.untold().values()) == ["What a gruesome day.", "The weather, oh well, hmm."]


def test_what_was_taken_back_by_hand_is_not_told_by_words_either(doxa):
    """Neither after `retract` nor after `withdraw`."""
    told, day = tell(doxa, "I live in Rome. The weather, oh well, hmm.", "What a gruesome day.")
    memory = doxa.memory(user="ana")
    (fact,) = memory.facts()
    memory.retract(fact.fact_id)
    assert list(memory.untold()) == [day]
    memory.undo()
    assert list(memory.untold()) == [told, day]
    memory.withdraw(turn_id=day)
    assert list(memory.untold()) == [told]


def test_a_correction_takes_back_and_remembers(doxa):
    """A fact or a turn gives way to what is so instead; a text that cannot be stored takes nothing back."""
    dialogue, memory = doxa.dialogue(user="ana"), doxa.memory(user="ana")
    (day,) = tell(doxa, "I live in Rome. What a gruesome day, oh dear.")
    (fact,) = memory.facts()
    with pytest.raises(InputError):
        dialogue.correct(" ", fact_id=fact.fact_id)
    with pytest.raises(InputError, match="either"):
        dialogue.correct("I live in Bonn.")
    assert memory.facts() == [fact]
    dialogue.correct("I live in Bonn.", fact_id=fact.fact_id, metadata={"a": 1})
    dialogue.flush()
    assert [str(one.object) for one in memory.facts()] == ["Bonn"] and memory.turns()[-1].metadata == {"a": 1}
    dialogue.correct("What a splendid day.", turn_id=day)
    dialogue.flush()
    assert [turn.text for turn in memory.turns()] == ["I live in Bonn.", "What a splendid day."]


def test_a_message_that_only_calls_a_tool_is_left_out(doxa):
    """The messages around it are remembered."""
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}
    assert len(doxa.dialogue(user="ana").add([{"role": "user", "content": "Book it."}, call])) == 1


def test_details_that_no_fact_tells_keep_their_words(doxa):
    """A sentence is told by its facts only where they say nearly all of it."""
    hike = "Last summer we hiked the Kungsleden, which is what one does before the knees go and the rain wins."
    tell(doxa, hike, "I live in Rome.", "My sister Eva works at Siemens.")
    memory = doxa.memory(user="ana")
    assert {"Kungsleden", "Rome", "Siemens"} <= {str(fact.object) for fact in memory.facts(current=False)}
    assert list(memory.untold().values()) == [hike]
