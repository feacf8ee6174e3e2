"""Tasks in the log: they are folded, shared, taken back with their turns, blocked with facts, moved, and erased."""

import asyncio
import json
import re
from datetime import UTC, datetime

import pytest

from doxa.core.errors import NotFoundError, TaskCycleError
from doxa.core.tasks import Dependency, NodeKind, TaskCommit, TaskStatus, TaskValue
from doxa.core.values import ToTasks, Turn
from doxa.engine import AsyncDoxa, Doxa
from doxa.engine.history.replay import erase_turns
from doxa.engine.tasking import flagged
from doxa.memory import Maintained
from doxa.tasks import Editor

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)
CANARY = "Zanzibar-7731"


def text(value):
    return TaskValue(text=value)


def turned(doxa, turn_id, act, *, said="Something to do.", user="ana", changes=(), to_tasks=None):
    """Have a turn do something to the tasks, as its processing does."""
    log = doxa.parts.log
    turn = Turn(
        turn_id=turn_id, user=user, session="s", speaker="Ana", role="user", text=said, at=AT, to_tasks=to_tasks
    )
    stored, _ = log.receive(turn)
    with log.user(user) as state:
        editor = Editor(state.tasks)
        given = act(editor)
        commit = TaskCommit(
            number=state.tasks.next_number, turn_id=turn_id, author="Ana", at=AT, text=said, edits=editor.edits()
        )
        log.append(user, state, Maintained(known_at=AT, about=stored, tasks=commit))
    return given


def trip(editor):
    root = editor.add("trip", kind=NodeKind.TASK)
    return root, editor.add("to", root, value=text("Ghent"))


def bodies(doxa, user="ana"):
    return [(row.kind, row.body) for row in doxa.parts.log.rows(user)]


def test_what_a_turn_does_is_stored_without_what_the_turn_says_already(doxa):
    root, to = turned(doxa, "t1", trip)
    turned(doxa, "t2", lambda e: e.set(to, text("Bruges")))
    stored = [body["tasks"] for kind, body in bodies(doxa) if kind == "maintained"]
    assert stored[1] == {"n": 2, "edits": [{"id": to, "set": {"value": {"text": "Bruges"}}}]}
    doxa.parts.log.forget_state("ana")
    forest = doxa.memory(user="ana").tasks()
    assert forest.state() == {"trip/to": "Bruges"} and forest.history("trip/to") == ["Ghent", "Bruges"]
    assert forest.commits[1].text == "Something to do." and forest.commits[1].author == "Ana"
    assert forest.tree()[0]["id"] == root


def test_two_people_share_tasks_and_every_change_has_its_author(doxa):
    ana, ben = (doxa.tasks(user="team", author=name) for name in ("ana", "ben"))
    _, to = ana.edit(trip)
    ben.edit(lambda e: e.set(to, text("Bruges")))
    assert ana.forest().state() == {"trip/to": "Bruges"}
    assert [commit.author for commit in ben.forest().commits] == ["ana", "ben"]
    assert doxa.tasks(user="ana").forest().state() == {}
    assert ana.undo().nodes == (to,) and ben.forest().state() == {"trip/to": "Ghent"}
    assert ben.redo().nodes == (to,) and ana.forest().state() == {"trip/to": "Bruges"}
    assert ana.rollback("trip/to", "Ghent") == [to] and ben.rollback(None, 2) == [to]
    assert [commit.author for commit in ben.forest().commits] == ["ana", "ben", "ana", "ben", "ana", "ben"]
    with pytest.raises(NotFoundError, match="no task at 'trip/from'"):
        ana.rollback("trip/from", 1)


def test_what_raises_or_changes_nothing_leaves_no_event(doxa):
    tasks = doxa.tasks(user="ana")
    root, to = tasks.edit(trip)
    with pytest.raises(TaskCycleError):
        tasks.edit(lambda e: (e.rename(root, "journey"), e.move(root, to)))
    tasks.edit(lambda e: e.set(to, text("Ghent")))
    assert [kind for kind, _ in bodies(doxa)] == ["tasked"]
    with pytest.raises(NotFoundError, match="to take back"):
        doxa.tasks(user="ben").undo()


def test_tasks_can_be_changed_first_of_all_where_another_memory_was_forgotten(doxa):
    """The log of a user may begin with a change by hand, whatever was erased before."""
    doxa.dialogue(user="ana").absorb("I live in Oslo.")
    doxa.memory(user="ana").forget(everything=True)
    doxa.tasks(user="ben").edit(lambda editor: editor.add("Trip"))
    assert [view.path for view in doxa.tasks(user="ben").forest()] == ["Trip"]


def test_other_processes_see_the_same_tasks(config, tmp_path):
    with Doxa.open(tmp_path / "m.db", config=config) as one, Doxa.open(tmp_path / "m.db", config=config) as other:
        _, to = one.tasks(user="team").edit(trip)
        other.tasks(user="team").edit(lambda e: e.set(to, text("Bruges")))
        one.tasks(user="team").edit(lambda e: e.add("by", e.node(to).parents[0], value=text("train")))
        assert other.tasks(user="team").forest() == one.tasks(user="team").forest()
        assert one.tasks(user="team").forest().state() == {"trip/to": "Bruges", "trip/by": "train"}


def test_the_asynchronous_twin_does_the_same(config):
    async def story():
        async with AsyncDoxa.open(":memory:", config=config) as doxa:
            tasks = doxa.tasks(user="team", author="ana")
            await tasks.edit(trip)
            return tasks.author, (await tasks.forest()).state(), (await doxa.memory(user="team").tasks()).state()

    assert asyncio.run(story()) == ("ana", {"trip/to": "Ghent"}, {"trip/to": "Ghent"})


def test_a_turn_that_is_withdrawn_takes_what_it_did_to_the_tasks_along_and_back(doxa):
    _, to = turned(doxa, "t1", trip)
    turned(doxa, "t2", lambda e: (e.set(to, text("Bruges")), e.add("by", e.node(to).parents[0], value=text("train"))))
    turned(doxa, "t3", lambda e: e.add("nights", e.node(to).parents[0], value=text("2")))
    memory = doxa.memory(user="ana")
    memory.withdraw(turn_id="t2")
    assert memory.tasks().state() == {"trip/to": "Ghent", "trip/nights": "2"}
    memory.undo()
    assert list(memory.tasks().state().items()) == [("trip/to", "Bruges"), ("trip/by", "train"), ("trip/nights", "2")]
    memory.withdraw(source="Ana")
    assert memory.tasks().state() == {}
    doxa.parts.log.forget_state("ana")
    assert memory.tasks().state() == {} and memory.tasks().history("trip/to") == ["Ghent", "Bruges", "Ghent", "Bruges"]


def test_what_rests_on_a_fact_is_blocked_when_it_is_retracted_and_goes_on_when_it_is_back(doxa):
    chat = doxa.dialogue(user="ana", speaker="Ana")
    chat.absorb("I live in Lisbon.", at="2025-01-01", turn_id="f1")
    chat.flush()
    memory = doxa.memory(user="ana")
    (fact,) = memory.facts(relation="lives in")

    def act(editor):
        _, to = trip(editor)
        editor.depend(to, Dependency(on=fact.fact_id, kind="fact"))
        return to

    to = doxa.tasks(user="ana").edit(act)
    statuses = []
    for change in (lambda: memory.retract(fact.fact_id), memory.undo, lambda: memory.withdraw(turn_id="f1")):
        change()
        statuses.append(next(view.node.status for view in memory.tasks().nodes if view.node.node_id == to))
    assert statuses == [TaskStatus.BLOCKED, TaskStatus.ACTIVE, TaskStatus.BLOCKED]


def test_changes_of_facts_say_what_they_flag(doxa):
    chat = doxa.dialogue(user="ana", speaker="Ana")
    chat.absorb("I live in Lisbon.", at="2025-01-01", turn_id="f1")
    chat.absorb("I moved to Berlin.", at="2025-02-01", turn_id="f2")
    chat.flush()
    with doxa.parts.log.user("ana") as state:
        lisbon = next(f for f in state.beliefs.facts.values() if str(f.object) == "Lisbon")
        editor = Editor(state.tasks)
        _, to = trip(editor)
        editor.depend(to, Dependency(on=lisbon.fact_id, kind="fact"))
        changes = [c for c in state.beliefs.changes_by("f2") if c.fact.fact_id == lisbon.fact_id]
        assert changes and [moved.node_id for moved in flagged(editor, changes)] == [to]


@pytest.mark.parametrize("format", ["jsonl", "turtle"])
def test_an_export_holds_the_tasks_and_their_past(doxa, tmp_path, format):
    _, to = turned(doxa, "t1", trip)
    doxa.tasks(user="ana", author="ben").edit(lambda e: e.set(to, text("Bruges")))
    path = doxa.memory(user="ana").export(tmp_path / "out", format=format)
    doxa.memory(user="twin").import_(path)
    mine, twin = doxa.memory(user="ana").tasks(), doxa.memory(user="twin").tasks()
    assert twin == mine and twin.commits[1].author == "ben"


def canary_trip(editor):
    root = editor.add("trip", kind=NodeKind.TASK)
    to = editor.add("to", root, value=text(CANARY))
    return root, to, editor.add(f"visa for {CANARY}", root, kind=NodeKind.ITEM)


def test_a_forgotten_turn_is_gone_from_all_that_was_done_after_it(doxa):
    """Later turns and changes by hand that repeat it, take it back, move it or rest on it hold nothing of it."""
    base = turned(doxa, "t0", lambda e: e.add("cart", kind=NodeKind.TASK))
    root, to, visa = turned(doxa, "t1", canary_trip, said=f"I go to {CANARY}, for which I need a visa.")
    turned(doxa, "t2", lambda e: e.set(to, text("Ghent")))
    tasks = doxa.tasks(user="ana", author="ben")
    tasks.rollback("trip/to", CANARY)
    other = turned(doxa, "t3", lambda e: e.add("stop", base, value=text("Lille")))
    tasks.edit(lambda e: e.swap(to, other))
    tasks.edit(lambda e: e.copy(root, "next trip"))
    tasks.edit(lambda e: (e.move(visa, base), e.add("tent", base, kind=NodeKind.ITEM)))
    tasks.edit(lambda e: e.add("photo", visa, kind=NodeKind.ITEM))
    assert doxa.memory(user="ana").tasks().state()["cart/stop"] == CANARY
    certificate = doxa.memory(user="ana").forget(turn_id="t1")
    assert CANARY not in json.dumps(bodies(doxa)) and certificate.turn_ids == ("t1",)
    forest = doxa.memory(user="ana").tasks()
    assert forest.state()["cart/stop"] == "Lille" and forest.state()["cart"] == ["tent"]
    assert CANARY not in repr(forest)
    ids = {view.node.node_id for view in (*forest.nodes, *forest.hidden)}
    assert all(parent in ids for view in forest.nodes for parent in view.node.parents)
    numbers = [commit.number for commit in forest.commits]
    assert numbers == sorted(set(numbers))


def test_what_took_a_forgotten_turn_back_goes_with_it_and_other_undoing_stays(doxa):
    _, to = turned(doxa, "t1", trip)
    turned(doxa, "t2", lambda e: e.set(to, text(CANARY)))
    tasks = doxa.tasks(user="ana")
    tasks.undo()
    turned(doxa, "t3", lambda e: e.set(to, text("Bruges")))
    tasks.undo()
    tasks.redo()
    doxa.memory(user="ana").forget(turn_id="t2")
    forest = doxa.memory(user="ana").tasks()
    assert CANARY not in json.dumps(bodies(doxa))
    assert forest.history("trip/to") == ["Ghent", "Bruges", "Ghent", "Bruges"]


def test_what_was_worked_out_from_a_forgotten_value_goes_with_it(doxa):
    """By hand, one thing was to be a day after another: the erased day could be told from it."""

    def later(value, amount, unit):
        return text(str(int(value.text) + int(amount)))

    def rule(editor):
        after, third = editor.add("pack"), editor.add("leave")
        editor.depend(after, Dependency(on=day, kind="derived", shift=1))
        editor.depend(third, Dependency(on=after, kind="derived", shift=1))
        editor.propagate(later)

    day = turned(doxa, "t1", lambda e: e.add("shop", value=text("2")))
    turned(doxa, "t2", lambda e: e.set(day, text("4117")))
    tasks = doxa.tasks(user="ana")
    tasks.edit(rule)
    assert tasks.forest().state() == {"shop": "4117", "pack": "4118", "leave": "4119"}
    doxa.memory(user="ana").forget(turn_id="t2")
    kept = json.dumps([body.get("tasks") for _, body in bodies(doxa)])
    assert "411" not in re.sub(r":\d\d\.\d{6}\b", "", kept)  # when it was done may hold any digits
    assert tasks.forest().state() == {"shop": "2"}
    tasks.edit(lambda e: (e.set(day, text("7")), e.propagate(later)))
    assert tasks.forest().state() == {"shop": "7", "pack": "8", "leave": "9"}


def test_later_turns_are_read_again_where_there_is_a_reader(doxa):
    """An hour later than what is forgotten is an hour later than what was there before."""
    _, to = turned(doxa, "t1", lambda e: (None, e.add("time", value=text("1"))))
    turned(doxa, "t2", lambda e: e.set(to, text("5")))
    turned(doxa, "t3", lambda e: e.set(to, text("6")), to_tasks=ToTasks())

    def reader(turn, state, event):
        editor = Editor(state.tasks)
        editor.set(to, text(str(int(editor.value(to).text) + 1)))
        return TaskCommit(number=state.tasks.next_number, turn_id=turn.turn_id, at=turn.at, edits=editor.edits())

    erase_turns(doxa.parts.log, "ana", ["t2"], doxa.parts.parser, context_turns=4, task_reader=reader)
    assert doxa.memory(user="ana").tasks().history("time") == ["1", "2"]
