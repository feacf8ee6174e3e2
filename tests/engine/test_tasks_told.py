"""Turns that are told to the tasks: one transaction with their facts, replies from the log, taken back and erased."""

import asyncio
import json

import pytest

from doxa.core.config import TasksConfig
from doxa.core.errors import BackendError, InputError, NotFoundError, TurnError
from doxa.core.tasks import Dependency, NodeKind, TaskStatus, TaskValue, ValueKind
from doxa.engine import AsyncDoxa, Doxa
from doxa.engine.tasking import taken_apart
from doxa.memory import TaskForest
from doxa.tasks import Editor, Step

CANARY = "Zanzibar"


@pytest.fixture
def tasks(doxa):
    return doxa.tasks(user="ana")


def events(doxa, user="ana"):
    return [row for row in doxa.parts.log.rows(user) if row.kind == "maintained"]


def test_a_turn_is_carried_out_with_what_it_says_of_the_world_in_one_event(doxa, tasks):
    reply = tasks.tell("Plan a dinner for Friday. I moved to Bonn.", at="2025-03-03T09:00")
    assert tasks.state() == {"dinner/day": "Friday"} and tasks.history() == {"dinner/day": ["Friday"]}
    assert [str(fact.object) for fact in doxa.memory(user="ana").facts()] == ["Bonn"]
    (event,) = events(doxa)
    assert event.body["changes"] and event.body["tasks"]["edits"]
    assert "new" in reply.intents and reply.edits and "dinner" in str(reply).lower() and not reply.asks
    (commit,) = tasks.forest().commits
    assert (commit.author, commit.at.hour, commit.reply) == (
        "Ana",
        9,
        reply.text,
    ) and "dinner" in tasks.summary().lower()


def test_a_question_changes_nothing_and_is_kept(doxa, tasks):
    tasks.tell("Plan a dinner for Friday.")
    reply = tasks.tell("Which day is the dinner?")
    assert reply.intents == ("check",) and reply.edits == () and "Friday" in reply.text
    assert tasks.forest().commits[-1].text == "Which day is the dinner?" and len(tasks.forest().commits) == 2


def test_what_was_told_is_told_again_from_the_log(doxa, tasks):
    told = [
        tasks.tell("Plan a dinner for Friday."),
        tasks.tell("Which day is the dinner?", said_before="Anything else?"),
    ]
    before = tasks.forest()
    doxa.parts.log.forget_state("ana")
    again = tasks.forest()
    assert again == before and [commit.reply for commit in again.commits] == [reply.text for reply in told]
    with doxa.parts.log.user("ana") as state:
        assert [turn.to_tasks.said_before for turn in state.turns.values()] == ["", "Anything else?"]


def test_a_turn_that_was_received_before_a_crash_is_told_at_the_next_start(config, tmp_path, monkeypatch):
    with monkeypatch.context() as patch, Doxa.open(tmp_path / "m.db", config=config) as doxa:
        patch.setattr(doxa, "wait", lambda user, **_: None)
        patch.setattr(doxa._maintenance, "schedule", lambda user, **_: None)
        with pytest.raises(NotFoundError):
            doxa.tasks(user="ana").tell("Plan a dinner for Friday.")
        assert events(doxa) == []
    with Doxa.open(tmp_path / "m.db", config=config) as doxa:
        doxa.flush()
        assert doxa.tasks(user="ana").state() == {"dinner/day": "Friday"}


def test_what_is_said_elsewhere_is_not_told_to_the_tasks(doxa, tasks):
    dialogue = doxa.dialogue(user="ana")
    dialogue.absorb("Plan a dinner for Friday.")
    dialogue.flush()
    assert tasks.forest().commits == () and "tasks" not in events(doxa)[0].body


def test_a_parser_that_fails_loses_no_turn(doxa, tasks, monkeypatch):
    tasks.tell("Plan a dinner for Friday.")

    def fail(sentences):
        raise BackendError("no model")

    with monkeypatch.context() as patch:
        patch.setattr(doxa.parts.parser, "parse", fail)
        reply = tasks.tell("The dinner is on Saturday.")
    assert "not understood" in reply.text and "no model" in reply.degraded and reply.edits == ()
    assert tasks.state() == {"dinner/day": "Friday"} and tasks.forest().commits[-1].text == "The dinner is on Saturday."
    assert tasks.tell("Which day is the dinner?").degraded == ""


def test_a_fact_that_is_given_up_blocks_the_task_that_rests_on_it(doxa, tasks):
    dialogue = doxa.dialogue(user="ana")
    dialogue.absorb("I live in Bonn.")
    dialogue.flush()
    (fact,) = doxa.memory(user="ana").facts()

    def rest(editor):
        root = editor.add("party", kind=NodeKind.TASK, value=TaskValue(text="at home"))
        editor.depend(root, Dependency(on=fact.fact_id, kind="fact"))

    tasks.edit(rest)
    reply = tasks.tell("I moved to Rome.")
    (view,) = tasks.forest().nodes
    assert view.node.status is TaskStatus.BLOCKED and "party is blocked" in reply.text


def test_a_turn_is_taken_back_with_its_facts_and_its_tasks(doxa, tasks):
    tasks.tell("Plan a dinner for Friday.")
    tasks.tell("Plan a hike.")
    doxa.memory(user="ana").undo()
    assert [root["name"] for root in tasks.forest().tree()] == ["dinner"]


def test_what_is_erased_is_in_no_later_turn(doxa, tasks):
    tasks.tell("Plan a dinner for Friday.")
    tasks.tell(f"Plan a trip to {CANARY}.")
    tasks.tell("Add Carol to the dinner.", said_before=f"So you go to {CANARY}.")
    turn = next(row.turn_id for row in doxa.parts.log.rows("ana") if CANARY in row.body.get("text", ""))
    doxa.memory(user="ana").forget(turn_id=turn)
    assert CANARY not in json.dumps([row.body for row in doxa.parts.log.rows("ana")])
    assert [root["name"] for root in tasks.forest().tree()] == ["dinner"]
    assert len(tasks.forest().commits) == 2 and "Carol" in json.dumps(tasks.state())


def test_two_people_tell_the_same_tasks(doxa):
    ana, ben = (doxa.tasks(user="team", author=name) for name in ("Ana", "Ben"))
    ana.tell("Plan a dinner for Friday.")
    ben.tell("Add Carol to the dinner.")
    assert [commit.author for commit in ana.forest().commits] == ["Ana", "Ben"] and ana.state() == ben.state()


@pytest.mark.parametrize("format", ["jsonl", "turtle"])
def test_an_exported_memory_knows_what_was_told(doxa, tasks, tmp_path, format):
    tasks.tell("Plan a dinner for Friday.", said_before="Hello.")
    path = doxa.memory(user="ana").export(tmp_path / "out", format=format)
    doxa.memory(user="ben").import_(path)
    with doxa.parts.log.user("ben") as state:
        assert [turn.to_tasks.said_before for turn in state.turns.values()] == ["Hello."]
    assert doxa.tasks(user="ben").state() == {"dinner/day": "Friday"}


def test_an_intent_that_is_given_is_what_the_turn_is_taken_for(tasks):
    tasks.tell("Plan a dinner for Friday.")
    assert tasks.tell("Plan a hike.", intent="check").edits == () and tasks.state() == {"dinner/day": "Friday"}
    tasks.tell("Which day is the dinner?", intent="new")
    assert tasks.state()["dinner/Which day is the dinner?"] == "Which day is the dinner?"
    with pytest.raises(InputError, match="intent"):
        tasks.tell("Plan a hike.", intent="undo")
    with pytest.raises(TurnError):
        tasks.tell(" ")


def test_without_a_graph_what_is_shared_is_copied_and_nothing_depends():
    editor = Editor(TaskForest())
    one, other = editor.add("one", kind=NodeKind.TASK), editor.add("other", kind=NodeKind.TASK)
    rice = editor.add("rice", one, kind=NodeKind.ITEM)
    editor.add("brand", rice, value=TaskValue(text="Basmati"))
    editor.link(rice, other)
    editor.depend(other, Dependency(on="", kind="condition", text="it rains"))
    taken_apart(editor)
    assert editor.node(rice).parents == (one,) and editor.node(other).status is TaskStatus.ACTIVE
    (twin,) = editor.children(other)
    assert twin != rice and [editor.value(child).text for child in editor.children(twin)] == ["Basmati"]
    assert not any(node.depends or len(node.parents) > 1 for node in editor.layer.values())


@pytest.mark.parametrize(("dag", "parents"), [(True, [2]), (False, [1, 1])])
def test_the_setting_says_whether_tasks_may_share(config, monkeypatch, dag, parents):
    def take(text, forest, *_, **__):
        editor = Editor(forest)
        one, other = editor.add("one", kind=NodeKind.TASK), editor.add("other", kind=NodeKind.TASK)
        editor.link(editor.add("rice", one, kind=NodeKind.ITEM), other)
        return Step(intents=("new",), edits=editor.edits())

    monkeypatch.setattr("doxa.engine.reading.tasks.take", take)
    config = config.model_copy(update={"tasks": TasksConfig(dag=dag)})
    with Doxa.open(":memory:", config=config) as doxa:
        tasks = doxa.tasks(user="ana")
        tasks.tell("Both need rice.")
        assert tasks.state() == {"one": ["rice"], "other": ["rice"]}
        assert [len(view.node.parents) for view in tasks.forest() if view.node.name == "rice"] == parents


def test_the_asynchronous_twin_tells_as_well(config):
    async def story():
        async with AsyncDoxa.open(":memory:", config=config) as doxa:
            tasks = doxa.tasks(user="ana")
            await tasks.tell("Plan a dinner for Friday.")
            return await tasks.state()

    assert asyncio.run(story()) == {"dinner/day": "Friday"}


def test_what_is_changed_by_hand_is_followed_where_that_is_asked_for(tasks):
    tasks.tell("Plan a dinner on Friday at 7 pm. The taxi leaves 2 hours after the dinner.")
    key = next(view.node.node_id for view in tasks.forest() if view.path == "dinner/time")
    tasks.edit(lambda editor: editor.set(key, tasks.value("8 pm")))
    assert tasks.state()["dinner/taxi"] == "9 pm"
    tasks.edit(lambda editor: editor.set(key, tasks.value("6 pm")), follow=True)
    assert tasks.state()["dinner/taxi"] == "8 pm"
    assert tasks.undo().number == tasks.forest().commits[-1].number
    assert (tasks.state()["dinner/time"], tasks.state()["dinner/taxi"]) == ("8 pm", "9 pm")


def test_what_is_foreseen_is_not_done(tasks):
    tasks.tell("Plan a dinner for Friday.")
    before = tasks.forest()
    edits = tasks.foresee(lambda editor: (editor.undo(1), editor.edits())[1])
    assert [edit.after.status for edit in edits] == [TaskStatus.REMOVED] * 2
    assert tasks.forest() == before


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("8 pm", ValueKind.CLOCK, 1200.0),
        (" 30 euros ", ValueKind.MONEY, 30.0),
        ("8 people", ValueKind.QUANTITY, 8.0),
        ("a quiet table at 8 pm", ValueKind.TEXT, None),
        ("Porto", ValueKind.TEXT, None),
    ],
)
def test_a_text_is_read_as_the_value_that_it_is_as_a_whole(tasks, text, kind, amount):
    value = tasks.value(text)
    assert (value.text, value.kind, value.amount) == (text.strip(), kind, amount)


def test_a_value_needs_a_text(tasks):
    with pytest.raises(InputError):
        tasks.value(" ")
