"""What `respond` tells the tasks, and what it does not: one conversation, two memories."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doxa.core.config import TasksConfig
from doxa.core.errors import BackendError, InputError
from doxa.engine import AsyncDoxa, Doxa
from doxa.engine.wiring.parts import Parts

CANARY = "Zanzibar"
TALK = Path(__file__).parents[2] / "examples" / "ana.jsonl"


@pytest.fixture
def chat(doxa):
    return doxa.dialogue(user="ana")


@pytest.fixture
def memory(doxa):
    return doxa.memory(user="ana")


def route(reply):
    """The step of the trace that says where a turn went."""
    return next(step.detail for step in reply.trace.steps if step.name == "route")


def test_a_turn_that_opens_changes_or_asks_about_a_task_is_taken_by_the_tasks(chat, memory):
    opened = chat.respond("Plan a dinner for Friday.")
    moved = chat.respond("Move the dinner to Saturday.")
    asked = chat.respond("Which day is the dinner?")
    forest = memory.tasks()
    assert forest.state() == {"dinner/day": "Saturday"} and forest.history("dinner/day") == ["Friday", "Saturday"]
    assert [reply.intents for reply in (opened, moved, asked)] == [("new",), ("update",), ("check",)]
    assert "dinner" in opened.text.lower() and "Saturday" in moved.text and "Saturday" in asked.text
    assert [commit.reply for commit in forest.commits] == [reply.text for reply in (opened, moved, asked)]
    assert {route(reply)["to"] for reply in (opened, moved, asked)} == {"tasks"}
    assert "planned" in route(opened)["why"] and "dinner" in route(moved)["why"]


@pytest.mark.parametrize(
    "text",
    [
        "Plan a trip to Rome.",
        "Add milk to my shopping list.",
        "Let's set up the team meeting.",
        "I need to book a flight to Oslo.",
        "Could you book a table for four at Luigi's on Friday at 8?",
        "Packing list: socks, boots and a torch.",
        "I'm organising a party for Ben, budget 400 euros.",
        "Dinner is on Friday 20 June.",
    ],
)
def test_what_opens_a_task(chat, memory, text):
    reply = chat.respond(text)
    assert "new" in reply.intents and memory.tasks().nodes and route(reply)["to"] == "tasks"


@pytest.mark.parametrize(
    "text",
    [
        "I live in Lisbon.",
        "My sister moved to Oslo.",
        "clinic is the 27th now at quarter past nine. the consultant is at a conference",
        "Where do I live?",
        "I booked a flight to Rome yesterday.",
        "I need a break.",
        "My favourite foods: pasta and ice cream.",
        "Can you tell me a joke?",
        "Forget what I said about my job.",
        "Sold the car, got myself a bike.",
        "I love to dance, play music and read.",
        "You should try it.",
        "Make sure you get some rest.",
        "Correction: my brother is 32.",
        "My train left at 9:15.",
    ],
)
def test_what_is_said_of_the_world_opens_none(chat, memory, text):
    reply = chat.respond(text)
    assert memory.tasks().commits == () and route(reply)["to"] == "facts" and route(reply)["why"]


PEOPLE = st.sampled_from(["I", "My sister", "Ben", "My boss"])
PLACES = st.sampled_from(["Lisbon", "Oslo", "Bonn", "a village near Rome"])
SAID = st.sampled_from(
    [
        "{who} used to live in {where}.",
        "{who} went to {where} last summer.",
        "Was {who} in {where} in 2019?",
        "The weather in {where} is awful.",
        "{where} is where {who} met Leo, on 3 May 2019.",
        "Actually, it was {where}.",
        "{who} never liked {where}, too many cars.",
        "That's great! {where} must be lovely.",
    ]
)
TURNS = st.builds(lambda said, who, where: said.format(who=who, where=where), SAID, PEOPLE, PLACES)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(TURNS, min_size=1, max_size=6))
def test_a_conversation_about_facts_leaves_the_forest_empty(doxa, turns):
    user = f"u{abs(hash(tuple(turns)))}"
    chat = doxa.dialogue(user=user)
    for turn in turns:
        chat.respond(turn)
    chat.flush()
    assert doxa.memory(user=user).tasks().commits == ()


def test_a_long_conversation_about_facts_leaves_the_forest_empty(doxa, chat, memory):
    told = [json.loads(line) for line in TALK.read_text(encoding="utf-8").splitlines()]
    said = [one["content"] for one in told if one["role"] == "user"]
    for text in said:
        chat.respond(text)
    chat.flush()
    assert len(said) > 60 and memory.tasks().commits == ()


def test_facts_are_asked_about_in_the_middle_of_tasks(chat, memory):
    chat.respond("I live in Lisbon.")
    chat.respond("Plan a dinner for Friday.")
    reply = chat.respond("Where do I live?")
    assert reply.value == "Lisbon" and route(reply)["to"] == "facts" and len(memory.tasks().commits) == 1
    assert "Friday" in chat.respond("When is the dinner?").text


def test_what_a_turn_says_of_the_world_is_believed_when_it_goes_to_the_tasks(chat, memory):
    reply = chat.respond("Plan a dinner for Friday. I moved to Bonn.", at="2025-03-03T09:00")
    chat.flush()
    assert memory.tasks().state() == {"dinner/day": "Friday"} and "new" in reply.intents
    assert [str(fact.object) for fact in memory.facts()] == ["Bonn"]
    moved = chat.respond("I live in Rome now, so move the dinner to Saturday.", at="2025-03-04T09:00")
    assert memory.tasks().state() == {"dinner/day": "Saturday"} and moved.revisions


def test_what_the_tasks_were_just_asked_is_gone_on_from(chat, memory):
    chat.respond("Plan a dinner for Friday at 7 pm.")
    moved = chat.respond("Make it an hour later.")
    assert memory.tasks().state()["dinner/time"] == "8 pm" and "names" not in route(moved)["why"]
    chat.respond("Undo that.")
    assert memory.tasks().state()["dinner/time"] == "7 pm"
    assert memory.tasks().history("dinner/time") == ["7 pm", "8 pm", "7 pm"]


def test_a_pronoun_is_no_task_once_something_else_is_spoken_of(doxa, chat, memory):
    chat.respond("Plan a dinner for Friday.")
    for text in ("I grew up in Oslo.", "My sister is a nurse."):
        chat.respond(text)
    assert route(chat.respond("It is 80 kilometres away."))["to"] == "facts"
    other = doxa.dialogue(user="ana", session="another")
    assert route(other.respond("Make it 80."))["to"] == "facts"
    assert len(memory.tasks().commits) == 1


def test_a_question_that_both_could_answer_goes_to_what_knows_the_thing(chat):
    chat.respond("My sister's phone number is 555 0199.")
    chat.respond("Let's fill in the permit form. Name: Ann Lee, phone: 555 0137.")
    mine, hers = chat.respond("What is the phone on the form?"), chat.respond("What is my sister's phone number?")
    assert "555 0137" in mine.text and mine.intents == ("check",)
    assert hers.value == "555 0199" and hers.citations
    assert next(step.detail["to"] for step in hers.trace.steps if step.name == "choose") == "facts"


def test_asking_answers_from_the_tasks_and_keeps_nothing(chat, memory):
    chat.respond("Plan a dinner for Friday.")
    before = memory.tasks()
    reply = chat.ask("When is the dinner?")
    assert "Friday" in reply.text and reply.intents == ("check",) and memory.tasks() == before
    assert route(chat.ask("Move the dinner to Saturday."))["to"] == "facts" and memory.tasks() == before
    assert route(chat.ask("When is the dinner?", as_of="2020-01-01"))["to"] == "facts"


def test_the_caller_can_say_what_a_turn_is_said_to(chat, memory):
    assert route(chat.respond("Plan a dinner for Friday.", to="facts"))["to"] == "facts"
    assert memory.tasks().commits == ()
    told = chat.respond("I live in Lisbon.", to="tasks")
    assert [commit.text for commit in memory.tasks().commits] == ["I live in Lisbon."] and "told" in route(told)["why"]
    with pytest.raises(InputError, match="auto, tasks, facts"):
        chat.respond("Plan a dinner.", to="both")


def test_nothing_but_tell_reaches_the_tasks_where_that_is_set(config):
    with Doxa.open(":memory:", config=config.model_copy(update={"tasks": TasksConfig(route="off")})) as doxa:
        reply = doxa.dialogue(user="ana").respond("Plan a dinner for Friday.")
        assert "tasks.route" in route(reply)["why"] and doxa.memory(user="ana").tasks().commits == ()
        doxa.tasks(user="ana").tell("Plan a dinner for Friday.")
        assert route(doxa.dialogue(user="ana").ask("When is the dinner?"))["to"] == "facts"


def test_a_turn_that_is_not_processed_yet_is_answered_as_it_reads(config, tmp_path, monkeypatch):
    slow = config.model_copy(update={"engine": config.engine.model_copy(update={"settle_s": 0})})
    with Doxa.open(tmp_path / "m.db", config=slow) as doxa:
        monkeypatch.setattr(doxa._maintenance, "schedule", lambda user, **_: None)
        reply = doxa.dialogue(user="ana").respond("Plan a dinner for Friday.")
        assert reply.intents == ("new",) and "dinner" in reply.text.lower() and reply.trace.degraded
    with Doxa.open(tmp_path / "m.db", config=config) as doxa:
        doxa.flush()
        (commit,) = doxa.memory(user="ana").tasks().commits
        assert commit.reply == reply.text


def test_where_turns_went_is_told_from_the_log(doxa, chat, memory):
    said = ["Plan a dinner for Friday.", "I live in Lisbon.", "When is the dinner?"]
    told = [route(chat.respond(text, turn_id=f"t{number}")) for number, text in enumerate(said)]
    chat.flush()
    before = memory.tasks()
    doxa.parts.log.forget_state("ana")
    assert memory.tasks() == before
    again = [route(chat.respond(text, turn_id=f"t{number}")) for number, text in enumerate(said)]
    assert again == told and memory.tasks() == before


def test_what_is_erased_is_in_no_later_turn_and_these_are_read_again(doxa, chat, memory):
    chat.respond("Plan a dinner for Friday.", turn_id="t1")
    chat.respond(f"Plan a trip to {CANARY}.", turn_id="t2")
    chat.respond("Add Carol to the dinner.", turn_id="t3")
    chat.respond("Make the trip two days longer.", turn_id="t4")
    chat.flush()
    memory.forget(turn_id="t2")
    assert CANARY not in json.dumps([row.body for row in doxa.parts.log.rows("ana")])
    assert [root["name"] for root in memory.tasks().tree()] == ["dinner"]
    assert "Carol" in json.dumps(memory.tasks().state())


def test_a_condition_that_is_erased_is_in_nothing_that_is_kept_of_later_turns(doxa, chat, memory):
    chat.respond("Plan a dinner for Friday.")
    chat.respond(f"If the boat to {CANARY} is full, add a dessert to the dinner.", turn_id="t2")
    settled = chat.respond("The boat is full.")
    chat.flush()
    assert route(settled)["to"] == "tasks" and "dessert" in json.dumps(memory.tasks().state())
    memory.forget(turn_id="t2")
    assert CANARY not in json.dumps([row.body for row in doxa.parts.log.rows("ana")])
    assert "dessert" not in json.dumps(memory.tasks().state())


def test_a_turn_is_taken_back_with_what_it_did_to_the_tasks(chat, memory):
    chat.respond("Plan a dinner for Friday.")
    chat.respond("Move the dinner to Saturday.", turn_id="t2")
    chat.flush()
    memory.withdraw(turn_id="t2")
    assert memory.tasks().state() == {"dinner/day": "Friday"}


@pytest.mark.parametrize("format", ["jsonl", "turtle"])
def test_an_exported_memory_knows_where_turns_went(doxa, chat, memory, tmp_path, format):
    chat.respond("Plan a dinner for Friday.")
    chat.respond("I live in Lisbon.")
    chat.flush()
    path = memory.export(tmp_path / "out", format=format)
    other = doxa.memory(user="ben")
    other.import_(path)
    assert other.tasks().state() == {"dinner/day": "Friday"} and len(other.tasks().commits) == 1


def test_a_parser_that_fails_loses_no_turn(doxa, chat, memory, monkeypatch):
    def fail(sentences):
        raise BackendError("no model")

    with monkeypatch.context() as patch:
        patch.setattr(doxa.parts.parser, "parse", fail)
        reply = chat.respond("Plan a dinner for Friday.")
    assert route(reply)["to"] == "facts" and any("no model" in why for why in reply.trace.degraded)
    assert memory.tasks().commits == () and "new" in chat.respond("Plan a dinner for Friday.").intents


def test_two_users_share_no_tasks(doxa, chat):
    chat.respond("Plan a dinner for Friday.")
    other = doxa.dialogue(user="ben").respond("When is the dinner?")
    assert route(other)["to"] == "facts" and "Friday" not in other.text


def test_an_encoder_that_fails_holds_up_no_turn(chat, memory, monkeypatch):
    def fails(*_):
        raise BackendError("no weights")

    monkeypatch.setattr(Parts, "addressed", fails)
    assert "new" not in chat.respond("Plan a dinner for Friday.").intents
    assert not memory.tasks().nodes


def test_respond_and_tell_make_the_same_forest(doxa, chat, memory):
    said = [
        "Schedule a rehearsal on Monday at 6 pm with Nora, Felix and Ines.",
        "Felix can't make it at 6 pm. Move it to 8 pm.",
        "Add Dot too.",
        "Wasn't it on Tuesday?",
        "Drop Ines.",
        "Undo that.",
        "Who is in the rehearsal?",
    ]
    tasks = doxa.tasks(user="ben")
    told, replied = [tasks.tell(text) for text in said], [chat.respond(text) for text in said]
    assert memory.tasks().state() == tasks.state() and memory.tasks().past == tasks.forest().past
    assert [reply.text for reply in replied] == [reply.text for reply in told]
    assert [reply.intents for reply in replied] == [reply.intents for reply in told]


def test_the_asynchronous_twin_does_the_same(config):
    async def talk():
        async with AsyncDoxa.open(":memory:", config=config) as doxa:
            chat = doxa.dialogue(user="ana")
            reply = await chat.respond("Plan a dinner for Friday.")
            return reply.intents, (await doxa.memory(user="ana").tasks()).state()

    assert asyncio.run(talk()) == (("new",), {"dinner/day": "Friday"})
