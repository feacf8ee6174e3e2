"""Messages told by mem0's client."""

import time

import pytest
from mem0.exceptions import MemoryNotFoundError, ValidationError

from doxa.core.errors import BackendUnavailableError
from doxa.engine import Doxa

MINE = {"user_id": "ana"}


def test_an_addition_lists_the_memories_that_it_made(ana):
    """The answer of `add` names every fact with its event, and each can be read at once."""
    told = ana.add("I live in Rome. My sister is Eva.", user_id="ana")
    assert [(one["memory"], one["event"]) for one in told["results"]] == [
        ("Ana lives in Rome", "ADD"),
        ("Ana's sister is Eva", "ADD"),
    ]
    assert [ana.get(one["id"])["memory"] for one in told["results"]] == ["Ana lives in Rome", "Ana's sister is Eva"]


def test_a_change_of_the_world_is_an_addition_and_an_update(ana):
    """What no longer holds is told as an UPDATE beside the ADD of what took its place."""
    old = ana.add("I live in Rome.", user_id="ana", timestamp=1672531200)["results"][0]["id"]
    told = ana.add("I moved to Bonn.", user_id="ana", timestamp=1714521600)["results"]
    events = {one["event"]: one for one in told}
    assert events["ADD"]["memory"] == "Ana lives in Bonn since 1 May 2024"
    assert (events["UPDATE"]["id"], events["UPDATE"]["memory"]) == (old, "Ana lived in Rome until 1 May 2024")


def test_a_correction_that_is_said_is_a_deletion(ana):
    """What never was true is told as a DELETE."""
    old = ana.add("My sister Eva works at Siemens.", user_id="ana")["results"]
    wrong = next(one["id"] for one in old if "Siemens" in one["memory"])
    told = ana.add("Forget that Eva works at Siemens.", user_id="ana")["results"]
    assert (wrong, "DELETE") in [(one["id"], one["event"]) for one in told]


def test_what_is_known_already_is_no_event_that_changes_anything(ana):
    """A fact that is said again is told as NONE, under the id that it had."""
    first = ana.add("I live in Rome.", user_id="ana")["results"][0]
    again = ana.add("I live in Rome.", user_id="ana")["results"]
    assert [(one["id"], one["event"]) for one in again] == [(first["id"], "NONE")]


def test_a_message_that_became_no_fact_is_a_memory_itself(ana, texts):
    """Nothing that was said is lost: the words are a memory, and search finds them."""
    told = ana.add("What a gruesome day.", user_id="ana")["results"]
    assert [(one["memory"], one["event"]) for one in told] == [("What a gruesome day.", "ADD")]
    assert texts(ana.search("gruesome day", filters=MINE)) == ["What a gruesome day."]


def test_infer_false_keeps_the_messages_as_they_are(ana, texts):
    """Without inference the message is the memory, and nothing is concluded from it."""
    told = ana.add("I live in Rome.", user_id="ana", infer=False)["results"]
    assert [(one["memory"], one["event"]) for one in told] == [("I live in Rome.", "ADD")]
    assert texts(ana.get_all(filters=MINE)) == ["I live in Rome."]
    ana.add("I live in Bonn.", user_id="ana")
    assert sorted(texts(ana.get_all(filters=MINE))) == ["Ana lives in Bonn", "I live in Rome."]


def test_messages_keep_their_roles_names_agent_app_and_run(ana, place):
    """The assistant's words are the agent's, and every message is of its run."""
    said = [{"role": "user", "content": "What a day."}, {"role": "assistant", "content": "So it is, alas, for all."}]
    ana.add(said, user_id="ana", agent_id="bot", app_id="web", run_id="r1", metadata={"topic": "days"})
    assert [(one.role, one.speaker, one.session) for one in place.engine().memory(user="ana").turns()] == [
        ("user", "Ana", "r1"),
        ("assistant", "bot", "r1"),
    ]
    for one in ana.get_all(filters=MINE)["results"]:
        assert [one[name] for name in ("user_id", "agent_id", "app_id", "run_id")] == ["ana", "bot", "web", "r1"]
        assert one["metadata"] == {"topic": "days"}


def test_a_timestamp_says_when_a_thing_was_said(ana):
    """The memory is as old as its timestamp, in seconds or as a text."""
    seconds = ana.add("I live in Rome.", user_id="ana", timestamp=1672531200)["results"][0]["id"]
    text = ana.add("What a gruesome day.", user_id="ana", timestamp="2023-02-01T10:00:00Z")["results"][0]["id"]
    assert ana.get(seconds)["created_at"] == "2023-01-01T00:00:00+00:00"
    assert ana.get(text)["created_at"] == "2023-02-01T10:00:00+00:00"


def test_an_asynchronous_addition_can_be_polled_until_it_is_done(ana):
    """PENDING comes with an event that tells in the end what the answer would have told."""
    told = ana.add("I live in Rome.", user_id="ana", async_mode=True, metadata={"a": 1})
    assert told["status"] == "PENDING" and "results" not in told
    for _ in range(100):
        event = ana.client.get(f"/v1/event/{told['event_id']}/").json()
        if event["status"] != "PENDING":
            break
        time.sleep(0.05)
    assert event["status"] == "SUCCEEDED" and event["metadata"] == {"a": 1}
    assert [(one["memory"], one["event"]) for one in event["results"]] == [("Ana lives in Rome", "ADD")]


def test_what_cannot_be_understood_yet_is_stored_and_pending(ana, texts, monkeypatch):
    """It is no error, which would have the client send everything again."""

    def unreachable(*_: object, **__: object) -> None:
        raise BackendUnavailableError("no model")

    with monkeypatch.context() as patched:
        patched.setattr(Doxa, "wait", unreachable)
        told = ana.add("What a gruesome day.", user_id="ana")
    assert told["status"] == "PENDING" and "no model" in told["message"]
    assert texts(ana.get_all(filters=MINE)) == ["What a gruesome day."]


def test_the_same_message_id_again_is_the_same_message(ana, place):
    """A repeated request stores nothing twice and names the event of the first."""
    message = [{"role": "user", "content": "I live in Rome.", "id": "m1"}]
    first, again = (ana.add(message, user_id="ana") for _ in range(2))
    assert first["event_id"] == again["event_id"]
    assert len(place.engine().memory(user="ana").turns()) == 1


def test_an_expired_memory_is_shown_on_request_alone(ana, texts):
    """After its last day a memory is left out, unless it is asked for."""
    told = ana.add("What a gruesome day.", user_id="ana", expiration_date="2020-01-31")["results"][0]
    ana.add("What a splendid day.", user_id="ana", expiration_date="2999-01-31")
    assert texts(ana.get_all(filters=MINE)) == ["What a splendid day."]
    assert texts(ana.search("day", filters=MINE)) == ["What a splendid day."]
    assert told["id"] in [one["id"] for one in ana.get_all(filters=MINE, show_expired=True)["results"]]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"custom_categories": [{"food": "what is eaten"}]}, "metadata"),
        ({"custom_instructions": "only food"}, "ontology"),
        ({"enable_graph": True}, "graph"),
        ({"whatever": 1}, "whatever"),
        ({"timestamp": "soon"}, "timestamp"),
        ({"expiration_date": "soon"}, "expiration_date"),
        ({"metadata": {"_mem0": {}}}, "_mem0"),
        ({"filters": {"user_id": "bob"}}, "filters"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_what_cannot_be_heeded_is_refused_and_nothing_is_stored(ana, place, more, said):
    """An option without a meaning here is an error that names it, never ignored."""
    with pytest.raises(ValidationError, match=said):
        ana.add("I live in Rome.", user_id="ana", **more)
    assert place.engine().memory(user="ana").turns() == []


CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {}}]}


def test_a_message_that_only_calls_a_tool_is_left_out(ana, texts):
    """What is said beside it is remembered."""
    ana.add([{"role": "user", "content": "What a gruesome day."}, CALL], user_id="ana")
    assert texts(ana.get_all(filters=MINE)) == ["What a gruesome day."]


def test_metadata_times_messages_is_no_more_than_a_body(ana, place):
    """It is kept with each of them: a small request would fill the disk otherwise."""
    lines = [{"role": "assistant", "content": f"x{n}"} for n in range(100)]
    with pytest.raises(ValidationError, match="fewer messages at once, or less metadata"):
        ana.add(lines, user_id="ana", metadata={"a": "b" * 200_000}, async_mode=True)
    assert place.engine().memory(user="ana").turns() == []
    ana.add(lines[:2], user_id="ana", metadata={"a": "b" * 200_000}, async_mode=True)
    ana.add(lines[2], user_id="ana", metadata={"a": "b" * 200_000}, async_mode=True)
    assert len(place.engine().memory(user="ana").turns()) == 3


def test_messages_without_words_are_refused(ana):
    """An addition that would store nothing is an error."""
    with pytest.raises(ValidationError, match="none of the messages has words"):
        ana.add([CALL], user_id="ana")


def test_the_event_of_deleted_messages_is_gone(ana):
    """An event tells nothing of what was erased."""
    event = ana.add("I live in Rome.", user_id="ana", async_mode=True)["event_id"]
    ana.delete_all(user_id="ana")
    found = ana.client.get(f"/v1/event/{event}/")
    assert found.status_code == 404 and "deleted" in found.json()["detail"]
    with pytest.raises(MemoryNotFoundError):
        ana.get(event)
