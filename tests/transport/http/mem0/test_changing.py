"""Memories corrected and deleted by mem0's client."""

import pytest
from mem0.exceptions import AuthenticationError, MemoryNotFoundError, ValidationError

MINE = {"user_id": "ana"}


def made(ana, text, **more):
    """Return the id of the first memory that a text makes."""
    return ana.add(text, user_id="ana", **more)["results"][0]["id"]


def test_an_update_corrects_under_the_same_id(ana, texts):
    """What was believed is given by no read any more, and the id stands for what is so instead."""
    memory_id = made(ana, "I live in Rome.", metadata={"topic": "home"}, run_id="r1")
    told = ana.update(memory_id, text="I live in Bonn.")
    assert (told["id"], told["memory"], told["metadata"], told["run_id"]) == (
        memory_id,
        "Ana lives in Bonn",
        {"topic": "home"},
        "r1",
    )
    assert ana.get(memory_id)["memory"] == "Ana lives in Bonn"
    listed = ana.get_all(filters=MINE)
    assert [one["id"] for one in listed["results"]] == [memory_id] and texts(listed) == ["Ana lives in Bonn"]
    assert texts(ana.search("Where do I live? In Rome?", filters=MINE)) == ["Ana lives in Bonn"]


def test_updates_in_a_row_are_told_by_the_history(ana):
    """Every text that a memory had is in its history, oldest first."""
    memory_id = made(ana, "I live in Rome.")
    ana.update(memory_id, text="I live in Bonn.")
    ana.update(memory_id, text="What a gruesome day.")
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in ana.history(memory_id)] == [
        ("ADD", None, "Ana lives in Rome"),
        ("UPDATE", "Ana lives in Rome", "I live in Bonn."),
        ("UPDATE", "I live in Bonn.", "What a gruesome day."),
    ]
    assert ana.get(memory_id)["memory"] == "What a gruesome day."


def test_words_without_a_fact_are_updated_as_well(ana, texts):
    """A message that is a memory itself is withdrawn, and what it is corrected to takes its place."""
    memory_id = made(ana, "What a gruesome day.")
    assert ana.update(memory_id, text="What a splendid day.")["memory"] == "What a splendid day."
    assert texts(ana.search("gruesome day", filters=MINE)) == ["What a splendid day."]
    assert [one["new_memory"] for one in ana.history(memory_id)] == ["What a gruesome day.", "What a splendid day."]


def test_a_message_that_was_kept_as_it_is_stays_so(ana, texts):
    """The correction of a message that was added without inference is not inferred from either."""
    memory_id = made(ana, "I live in Rome.", infer=False)
    ana.update(memory_id, text="I live in Bonn.")
    assert texts(ana.get_all(filters=MINE)) == ["I live in Bonn."]


def test_a_text_that_cannot_be_stored_changes_nothing(ana):
    """The old value is not taken back for a new one that is refused."""
    memory_id = made(ana, "I live in Rome.")
    with pytest.raises(ValidationError, match="characters"):
        ana.update(memory_id, text="I live in " + "x" * 2_000_001)
    with pytest.raises(ValidationError, match="timestamp"):
        ana.update(memory_id, text="I live in Bonn.", timestamp="soon")
    assert ana.get(memory_id)["memory"] == "Ana lives in Rome"


def test_metadata_of_one_memory_is_updated_alone(ana):
    """Two memories of one message have metadata of their own from then on, and filters go by it."""
    told = ana.add("I live in Rome. My sister is Eva.", **MINE, metadata={"a": 1})["results"]
    one, other = (entry["id"] for entry in told)
    assert ana.update(one, metadata={"b": 2})["metadata"] == {"b": 2}
    assert ana.get(other)["metadata"] == {"a": 1}
    found = ana.get_all(filters={**MINE, "metadata": {"b": 2}})["results"]
    assert [entry["id"] for entry in found] == [one]
    assert ana.update(one, text="I live in Bonn.")["metadata"] == {"b": 2}


def test_an_expiration_date_is_set_and_cleared(ana, texts):
    """`None` takes it away again."""
    memory_id = made(ana, "I live in Rome.")
    ana.update(memory_id, expiration_date="2020-01-31")
    assert texts(ana.get_all(filters=MINE)) == []
    ana.update(memory_id, expiration_date=None)
    assert texts(ana.get_all(filters=MINE)) == ["Ana lives in Rome"]


def test_a_time_without_a_text_is_refused(ana):
    """A timestamp says when the new text was said."""
    with pytest.raises(ValidationError, match="give text as well"):
        ana.update(made(ana, "I live in Rome."), timestamp=1672531200)


def test_a_deleted_memory_is_gone_from_every_read_and_from_the_log(ana, place, texts):
    """Its message rests in no list, no search, no history, and not in the database."""
    ana.add("My sister is Eva.", user_id="ana")
    memory_id = made(ana, "I live in Rome.")
    assert ana.delete(memory_id)["erased_messages"] == 1
    for asked in (ana.get, ana.history, ana.delete):
        with pytest.raises(MemoryNotFoundError):
            asked(memory_id)
    assert texts(ana.get_all(filters=MINE, latest_only=False)) == ["Ana's sister is Eva"]
    assert texts(ana.search("Rome, or who is my sister?", filters=MINE)) == ["Ana's sister is Eva"]
    engine = place.engine()
    assert "Rome" not in str(engine.parts.log.rows("ana"))


def test_the_message_of_a_deleted_memory_is_kept_while_it_tells_something_else(ana, place, texts):
    """It is erased with the last of its facts, and until then none of its words are given again."""
    said = "I live in Rome. My sister is Eva. The weather there, well, hmm."
    ids = {one["memory"]: one["id"] for one in ana.add(said, user_id="ana")["results"]}
    assert ana.delete(ids["Ana lives in Rome"]) | {"message": ""} == {
        "message": "",
        "erased_messages": 0,
        "kept_messages": 1,
    }
    assert texts(ana.get_all(filters=MINE)) == ["Ana's sister is Eva"]
    assert texts(ana.search("Where do I live? Rome?", filters=MINE)) == ["Ana's sister is Eva"]
    with pytest.raises(MemoryNotFoundError):
        ana.get(ids["Ana lives in Rome"])
    assert ana.delete(ids["Ana's sister is Eva"])["erased_messages"] == 1
    assert place.engine().memory(user="ana").turns(withdrawn=True) == []


def test_words_beside_facts_are_deleted_without_the_facts(ana, texts):
    """What a message says beside its facts is a memory, and goes alone."""
    told = ana.add("I live in Rome. The weather there, well, hmm.", user_id="ana")["results"]
    words = next(one for one in told if "weather" in one["memory"])
    assert ana.delete(words["id"])["kept_messages"] == 1
    assert texts(ana.get_all(filters=MINE)) == ["Ana lives in Rome"]
    assert texts(ana.search("weather", filters=MINE)) == ["Ana lives in Rome"]


def test_a_deleted_correction_takes_what_it_corrected_along(ana, place):
    """All that a memory ever was is erased with it."""
    memory_id = made(ana, "I live in Rome.")
    ana.update(memory_id, text="I live in Bonn.")
    ana.delete(memory_id)
    assert place.engine().memory(user="ana").turns(withdrawn=True) == []
    assert not {"Rome", "Bonn"} & set(str(place.engine().parts.log.rows("ana")).split())


def test_a_deleted_rule_is_gone(ana, place):
    """What was said in general is a memory by its words."""
    memory_id = made(ana, "If it rains, I stay in.")
    assert ana.delete(memory_id)["erased_messages"] == 1
    assert place.engine().memory(user="ana").rules() == []


@pytest.mark.parametrize(("linked", "left"), [(False, ["Ana lives in Rome"]), (True, [])])
def test_what_a_deleted_memory_had_replaced_comes_back_unless_it_is_deleted_too(ana, texts, linked, left):
    """`delete_linked` deletes what was superseded as well."""
    ana.add("I live in Rome.", user_id="ana", timestamp=1672531200)
    told = ana.add("I moved to Bonn.", user_id="ana", timestamp=1714521600)["results"]
    new = next(one["id"] for one in told if one["event"] == "ADD")
    ana.delete(new, delete_linked=linked)
    assert texts(ana.get_all(filters=MINE)) == left


def test_several_are_updated_and_deleted_at_once(ana, texts):
    """A batch does what each would do alone."""
    home, job = made(ana, "I live in Rome."), made(ana, "My sister is Eva.")
    told = ana.batch_update(
        [{"memory_id": home, "text": "I live in Bonn."}, {"memory_id": job, "metadata": {"who": "Eva"}}]
    )
    assert told == {"message": "Successfully updated 2 memories"}
    assert sorted(texts(ana.get_all(filters=MINE))) == ["Ana lives in Bonn", "Ana's sister is Eva"]
    assert ana.get(job)["metadata"] == {"who": "Eva"}
    assert ana.batch_delete([{"memory_id": home}, {"memory_id": job}]) == {"message": "Successfully deleted 2 memories"}
    assert texts(ana.get_all(filters=MINE)) == []


def test_a_batch_with_an_unknown_id_changes_nothing(ana, texts):
    """All of it is looked at first."""
    home = made(ana, "I live in Rome.")
    with pytest.raises(MemoryNotFoundError):
        ana.batch_update([{"memory_id": home, "text": "I live in Bonn."}, {"memory_id": "nonsense", "text": "x"}])
    with pytest.raises(MemoryNotFoundError):
        ana.batch_delete([{"memory_id": home}, {"memory_id": "nonsense"}])
    assert texts(ana.get_all(filters=MINE)) == ["Ana lives in Rome"]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({}, "at least one of"),
        ({"timestamp": 1672531200}, "give text as well"),
        ({"text": "x", "timestamp": "soon"}, "timestamp"),
        ({"text": "   "}, "words"),
        ({"text": "x" * 2_000_001}, "characters"),
        ({"metadata": {"_mem0": {}}}, "_mem0"),
    ],
    ids=["nothing", "time alone", "no time", "blank", "too long", "taken name"],
)
def test_a_batch_with_a_correction_that_cannot_be_made_changes_nothing(ana, texts, second, said):
    """All of them are looked at before the first is corrected."""
    home, job = made(ana, "I live in Rome."), made(ana, "My sister is Eva.")
    with pytest.raises(ValidationError, match=said):
        ana.batch_update([{"memory_id": home, "text": "I live in Bonn."}, {"memory_id": job, **second}])
    assert sorted(texts(ana.get_all(filters=MINE))) == ["Ana lives in Rome", "Ana's sister is Eva"]


def test_a_batch_corrects_a_memory_once(ana, texts):
    """The second correction would be one of what is no longer there."""
    home = made(ana, "I live in Rome.")
    with pytest.raises(ValidationError, match="each memory once"):
        ana.batch_update([{"memory_id": home, "text": f"I live in {place}."} for place in ("Bonn", "Oslo")])
    assert texts(ana.get_all(filters=MINE)) == ["Ana lives in Rome"]


def test_what_follows_from_other_facts_is_not_deleted_by_itself(ana):
    """Nobody said it: the error says what can be taken back instead."""
    ana.add("If Eva works at Siemens, she lives in Munich.", user_id="ana")
    ana.add("Eva works at Siemens.", user_id="ana")
    listed = ana.get_all(filters=MINE)["results"]
    follows = [one for one in listed if "Munich" in one["memory"] and "If" not in one["memory"]]
    assert len(follows) == 1
    for asked in (ana.delete, lambda one: ana.update(one, text="Eva lives in Bonn.")):
        with pytest.raises(ValidationError, match="follows from other facts"):
            asked(follows[0]["id"])


def test_a_key_that_may_not_erase_deletes_nothing(ana, place, texts):
    """It cannot promise that something is gone."""
    memory_id = made(ana, "I live in Rome.")
    writer = place.client("ana", rights=("read", "write"))
    for asked in (
        lambda: writer.delete(memory_id),
        lambda: writer.batch_delete([{"memory_id": memory_id}]),
        lambda: writer.delete_all(user_id="ana"),
        lambda: writer.delete_users(user_id="ana"),
    ):
        with pytest.raises(AuthenticationError, match="--right erase"):
            asked()
    assert texts(ana.get_all(filters=MINE)) == ["Ana lives in Rome"]
