"""What acts do to the forest, seen in its state, its history, and after they are taken back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from doxa.core.errors import NotFoundError, TaskCycleError, TaskError
from doxa.core.tasks import (
    Dependency,
    NodeKind,
    TaskCommit,
    TaskEdit,
    TaskNode,
    TaskStatus,
    TaskValue,
    ValueKind,
)
from doxa.memory import TaskForest
from doxa.tasks import Editor, editing

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)


def text(value: str) -> TaskValue:
    return TaskValue(text=value)


def later(value: TaskValue, amount: float, unit: str) -> TaskValue:
    moved = (value.amount or 0.0) + amount
    return TaskValue(text=f"{moved:g}", kind=value.kind, amount=moved)


def number(amount: float) -> TaskValue:
    return TaskValue(text=f"{amount:g}", kind=ValueKind.NUMBER, amount=amount)


def test_a_list_is_exported_under_its_own_path_and_slots_under_theirs(desk):
    trip = desk.task("trip", "tent stove", day="Friday")
    assert desk.forest.state() == {"trip": ["tent", "stove"], "trip/day": "Friday"}
    desk.do(lambda e: e.add("size", trip["tent"], value=text("L")))
    assert desk.forest.state()["trip/tent/size"] == "L"


def test_an_item_is_called_by_its_colour_and_the_list_changes_with_it(desk):
    cart = desk.task("cart", "case")
    colour = desk.do(lambda e: e.add("colour", cart["case"], value=text("black")))
    assert desk.forest.state()["cart"] == ["black case"]
    desk.do(lambda e: e.set(colour, text("red")))
    assert desk.forest.timeline(cart["cart"]) == [(1, ["case"]), (2, ["black case"]), (3, ["red case"])]


def test_siblings_of_one_name_have_paths_of_their_own(desk):
    desk.task("workshop", day="Monday")
    second = desk.task("workshop", day="Tuesday")
    assert desk.forest.state() == {"workshop/day": "Monday", "workshop 2/day": "Tuesday"}
    assert desk.forest.path(second["day"]) == "workshop 2/day"


def test_history_is_of_values_in_order_with_those_that_came_back(desk):
    trip = desk.task("trip", to="Seattle")
    desk.do(lambda e: e.set(trip["to"], text("Boston")))
    desk.do(lambda e: e.rollback(trip["to"], "seattle"))
    assert desk.forest.history("trip/to") == ["Seattle", "Boston", "Seattle"]
    with pytest.raises(NotFoundError, match="never was 'Paris'"):
        desk.do(lambda e: e.rollback(trip["to"], "Paris"))


def test_what_was_removed_is_kept_and_comes_back_in_its_place(desk):
    cart = desk.task("cart", "tent stove rope")
    desk.do(lambda e: e.remove(cart["stove"]))
    assert desk.forest.state() == {"cart": ["tent", "rope"]}
    assert desk.forest.all_children(cart["cart"]) == [cart["tent"], cart["stove"], cart["rope"]]
    desk.do(lambda e: e.restore(cart["stove"]))
    assert desk.forest.state() == {"cart": ["tent", "stove", "rope"]}


def test_a_parent_takes_out_of_sight_what_is_under_nothing_else(desk):
    soup = desk.task("soup", "celery leek")
    stew = desk.task("stew", "beans")
    desk.do(lambda e: e.link(soup["celery"], stew["stew"]))
    desk.do(lambda e: e.remove(soup["soup"]))
    assert desk.forest.state() == {"stew": ["beans", "celery"]}
    assert not desk.forest.visible(soup["leek"])


def test_replacing_reaches_every_parent_or_the_one_that_is_meant(desk):
    soup = desk.task("soup", "celery leek")
    stew = desk.task("stew", "beans mushrooms")
    desk.do(lambda e: e.link(soup["celery"], stew["stew"]))
    before = desk.forest.state()
    desk.do(lambda e: e.replace(soup["celery"], "fennel", {stew["stew"]}))
    assert desk.forest.state() == {"soup": ["celery", "leek"], "stew": ["beans", "mushrooms", "fennel"]}
    desk.undo()
    assert desk.forest.state() == before
    new = desk.do(lambda e: e.replace(soup["celery"], "mushrooms"))
    assert desk.forest.state() == {"soup": ["mushrooms", "leek"], "stew": ["beans", "mushrooms"]}
    assert new == stew["mushrooms"] and desk.forest.node(soup["celery"]).status is TaskStatus.REPLACED
    desk.undo()
    assert desk.forest.state() == before


def test_what_waits_for_a_thing_waits_for_what_takes_its_place(desk):
    soup = desk.task("soup", "wash celery cook")
    washed, cooked = (Dependency(on=soup[name], kind="before") for name in ("wash", "celery"))
    desk.do(lambda e: (e.depend(soup["celery"], washed), e.depend(soup["cook"], cooked)))
    new = desk.do(lambda e: (e.replace(soup["celery"], "fennel"), e.propagate(later))[0])
    assert desk.forest.node(soup["cook"]).depends == (Dependency(on=new, kind="before"),)
    assert desk.forest.node(soup["cook"]).status is TaskStatus.ACTIVE
    assert desk.forest.node(new).depends == (washed,)
    desk.undo()
    assert desk.forest.node(soup["cook"]).depends == (cooked,)


def test_what_takes_a_place_is_never_taken_from_another_task(desk):
    soup, cart = desk.task("soup", "celery"), desk.task("cart", "fennel")
    new = desk.do(lambda e: e.replace(soup["celery"], "fennel"))
    desk.do(lambda e: e.add("colour", new, value=text("green")))
    assert new != cart["fennel"]
    assert desk.forest.state() == {"soup": ["green fennel"], "soup/fennel/colour": "green", "cart": ["fennel"]}
    assert desk.do(lambda e: e.replace(new, "celery")) == soup["celery"]


def test_undo_leaves_what_was_changed_since(desk):
    trip = desk.task("trip", to="Ghent", back="13th")
    desk.do(lambda e: (e.set(trip["to"], text("Bruges")), e.set(trip["back"], text("14th"))))
    desk.do(lambda e: e.set(trip["back"], text("15th")))
    undone = Editor(desk.forest).undo(2)
    assert undone.nodes == (trip["to"],) and undone.kept == ((trip["back"], "value"),)
    desk.undo(2)
    assert desk.forest.state() == {"trip/to": "Ghent", "trip/back": "15th"}


def test_undo_and_undo_again_go_further_back_and_redo_comes_back(desk):
    trip = desk.task("trip", to="A")
    for place in "BC":
        desk.do(lambda e, place=place: e.set(trip["to"], text(place)))
    seen = []
    for _ in range(2):
        desk.undo()
        seen.append(desk.forest.state()["trip/to"])
    assert seen == ["B", "A"] and desk.forest.undoable() == 1
    desk.undo(desk.forest.redoable())
    assert desk.forest.state()["trip/to"] == "B" and desk.forest.undoable() == 2


def test_a_swap_of_what_holds_a_list_keeps_what_is_under_it(desk):
    plan = desk.task("plan")
    first, second = desk.do(lambda e: [e.add(f"week {n}", plan["plan"], kind=NodeKind.TASK) for n in (1, 2)])
    cells = desk.do(lambda e: e.add("cells", first, kind=NodeKind.ITEM))
    desk.do(lambda e: e.add("genes", second, kind=NodeKind.ITEM))
    desk.do(lambda e: e.add("lab report", cells, kind=NodeKind.ITEM))
    desk.do(lambda e: e.swap(first, second))
    state = desk.forest.state()
    assert state == {"plan/week 1": ["genes"], "plan/week 2": ["cells"], "plan/week 2/cells": ["lab report"]}


def test_a_copy_has_its_own_slots_and_the_same_people(desk):
    one = desk.task("workshop", time="2 pm")
    people = desk.do(lambda e: e.add("participants", one["workshop"]))
    tom, mei = desk.do(lambda e: [e.add(name, people, kind=NodeKind.ITEM) for name in ("Tom", "Mei")])
    twin = desk.do(lambda e: e.copy(one["workshop"], "next workshop", without={"mei"}))
    desk.do(lambda e: e.set(e.child(twin, "time"), text("3 pm")))
    state = desk.forest.state()
    assert state["workshop/time"] == "2 pm" and state["next workshop/time"] == "3 pm"
    assert state["workshop/participants"] == ["Tom", "Mei"] and state["next workshop/participants"] == ["Tom"]
    assert len(desk.forest.node(tom).parents) == 2 and len(desk.forest.node(mei).parents) == 1


def test_parts_are_merged_into_the_whole_with_all_their_people(desk):
    one = desk.task("workshop", time="1 pm", room="4B")
    people = desk.do(lambda e: e.add("participants", one["workshop"]))
    for name in ("Tom", "Mei"):
        desk.do(lambda e, name=name: e.add(name, people, kind=NodeKind.ITEM))
    parts = desk.do(lambda e: e.split(one["workshop"], ["branding", "rest"], (one["time"], people)))
    desk.do(lambda e: e.add("time", parts[0], value=text("2 pm")))
    added = desk.do(lambda e: e.add("participants", parts[0]))
    desk.do(lambda e: e.add("Ada", added, kind=NodeKind.ITEM))
    assert desk.forest.state() == {
        "workshop/room": "4B",
        "workshop/branding/time": "2 pm",
        "workshop/branding/participants": ["Ada"],
    }
    assert desk.do(lambda e: e.merge(parts)) == one["workshop"]
    state = desk.forest.state()
    assert state == {"workshop/time": "1 pm", "workshop/room": "4B", "workshop/participants": ["Tom", "Mei", "Ada"]}


def test_a_reset_brings_back_what_is_kept(desk):
    cart = desk.task("cart", "tent stove rope", delivery="Friday")
    desk.do(lambda e: e.remove(cart["rope"]))
    desk.do(lambda e: e.reset(cart["cart"], [cart["tent"], cart["rope"]]))
    assert desk.forest.state() == {"cart": ["tent", "rope"], "cart/delivery": "Friday"}


def test_moving_brings_back_under_the_new_parent_alone(desk):
    plan = desk.task("plan", "cells evolution")
    report = desk.do(lambda e: e.add("lab report", plan["evolution"], kind=NodeKind.ITEM))
    desk.do(lambda e: e.remove(plan["evolution"]))
    desk.do(lambda e: e.move(report, plan["cells"]))
    assert desk.forest.state() == {"plan": ["cells"], "plan/cells": ["lab report"]}


def test_a_stored_commit_that_no_editor_makes_is_refused():
    first = TaskNode(node_id="n1", name="trip")
    under = {"parents": ("n2",), "places": (1.0,)}
    cases = {
        "not all of which there are": [replace(first, **under)],
        "under itself": [
            replace(first, **under),
            TaskNode(node_id="n2", name="day", parents=("n1",), places=(1.0,)),
        ],
    }
    for message, nodes in cases.items():
        edits = tuple(TaskEdit(node_id=node.node_id, before=None, after=node) for node in nodes)
        with pytest.raises(ValueError, match=message):
            TaskForest([TaskCommit(number=1, at=AT, edits=edits)])
    with pytest.raises(ValueError, match="commit 1 of the tasks came after 1"):
        TaskForest([TaskCommit(number=1, at=AT)] * 2)


def test_circles_are_refused_with_their_way_and_the_way_out(desk):
    trip = desk.task("trip", "flight")
    with pytest.raises(TaskCycleError, match="'flight' would be under itself|'trip' would be under itself") as caught:
        Editor(desk.forest).move(trip["trip"], trip["flight"])
    assert caught.value.names == ("trip", "flight", "trip")
    editor = Editor(desk.forest)
    first, second = editor.add("write"), editor.add("review")
    editor.depend(second, Dependency(on=first, kind="before"))
    with pytest.raises(TaskCycleError, match="loop node with a bound"):
        editor.depend(first, Dependency(on=second, kind="derived"))
    assert editor.node(first).depends == ()


def test_a_loop_is_gone_through_again_up_to_its_bound(desk):
    editor = Editor(desk.forest)
    loop = editor.add("drafts", kind=NodeKind.LOOP, bound=2)
    step = editor.add("write", loop, kind=NodeKind.ITEM)
    for turn in (1, 2):
        editor.done(step)
        assert editor.repeat(loop) == turn and editor.node(step).status is TaskStatus.ACTIVE
    with pytest.raises(TaskError, match="which is its bound"):
        editor.repeat(loop)


def test_derived_values_follow_along_a_chain_and_one_that_is_given_stays(desk):
    editor = Editor(desk.forest)
    start, middle, end = (editor.add(name, value=number(n)) for n, name in enumerate(("start", "middle", "end")))
    editor.depend(middle, Dependency(on=start, kind="derived", shift=2))
    editor.depend(end, Dependency(on=middle, kind="derived", shift=3))
    assert [m.node_id for m in editor.propagate(later)] == [middle, end]
    desk.commit(editor)
    editor = Editor(desk.forest)
    editor.set(start, number(10))
    moved = editor.propagate(later)
    assert [(m.node_id, m.because) for m in moved] == [(middle, start), (end, middle)]
    assert editor.value(end).text == "15"
    editor = Editor(desk.forest)
    editor.set(start, number(10))
    editor.set(middle, number(1))
    editor.propagate(later)
    assert editor.value(middle).text == "1" and editor.value(end).text == "4"


def test_what_waits_for_a_thing_that_is_gone_is_blocked_and_goes_on_when_it_is_back(desk):
    job = desk.task("job", "letter send")
    desk.do(lambda e: e.depend(job["send"], Dependency(on=job["letter"], kind="before")))

    def act(name):
        def carried_out(editor):
            getattr(editor, name)(job["letter"])
            return [(m.node_id, m.because, m.after.status) for m in editor.propagate(later)]

        return carried_out

    assert desk.do(act("remove")) == [(job["send"], job["letter"], TaskStatus.BLOCKED)]
    assert desk.do(act("restore")) == [(job["send"], job["letter"], TaskStatus.ACTIVE)]
    desk.do(lambda e: e.status(job["send"], TaskStatus.BLOCKED))
    assert desk.do(act("done")) == [(job["send"], job["letter"], TaskStatus.ACTIVE)]


def test_what_is_conditional_is_not_in_the_state_until_it_settles(desk):
    plan = desk.task("plan", "cells")
    editor = Editor(desk.forest)
    extra = editor.add("extra session", plan["plan"], kind=NodeKind.ITEM)
    editor.depend(extra, Dependency(on="", kind="condition", text="the mock goes badly"))
    desk.commit(editor)
    assert desk.forest.state() == {"plan": ["cells"]} and extra in desk.forest.children(plan["plan"])
    assert desk.do(lambda e: e.settle(extra, holds=True)) is None
    assert desk.forest.state() == {"plan": ["cells", "extra session"]}


def test_what_rests_on_a_fact_is_blocked_with_it(desk):
    meeting = desk.task("meeting", "Carol")
    desk.do(lambda e: e.depend(meeting["Carol"], Dependency(on="f1_abc", kind="fact")))
    assert [m.node_id for m in desk.do(lambda e: e.fact("f1_abc", holds=False))] == [meeting["Carol"]]
    assert desk.forest.node(meeting["Carol"]).status is TaskStatus.BLOCKED
    desk.do(lambda e: e.fact("f1_abc", holds=True))
    assert desk.forest.node(meeting["Carol"]).status is TaskStatus.ACTIVE


def test_a_checkpoint_takes_back_what_came_after_it(desk):
    cart = desk.task("cart", "tent")
    editor = Editor(desk.forest)
    editor.add("stove", cart["cart"], kind=NodeKind.ITEM)
    mark = editor.mark()
    editor.remove(cart["tent"])
    editor.add("rope", cart["cart"], kind=NodeKind.ITEM)
    assert editor.exported(cart["cart"]) == ["stove", "rope"]
    editor.back(mark)
    assert editor.exported(cart["cart"]) == ["tent", "stove"]
    assert len(editor.edits()) == 1 and desk.forest.state() == {"cart": ["tent"]}


def test_everything_goes_back_to_a_turn(desk):
    trip = desk.task("trip", "tent", to="Ghent")
    then = desk.forest.state()
    desk.do(lambda e: e.set(trip["to"], text("Bruges")))
    other = desk.task("cart", "rope")
    desk.do(lambda e: e.move(trip["tent"], other["cart"]))
    desk.do(lambda e: e.rollback(trip["trip"], 1))  # the move is taken back at both ends
    assert desk.forest.state() == {**then, "cart": ["rope"]}
    desk.do(lambda e: e.rollback(None, 1))
    assert desk.forest.state() == then == desk.forest.at(1).state()


def test_nodes_are_found_by_words_of_their_names_and_aliases(desk):
    trip = desk.task("trip", "sleeping_bags")
    desk.do(lambda e: (e.rename(trip["sleeping_bags"], "sleeping bag"), e.alias(trip["trip"], "hike")))
    assert desk.forest.find("the bags")[0] == trip["sleeping_bags"]
    assert desk.forest.find("hiking") == [trip["trip"]]
    assert desk.forest.recent(1) == [trip["trip"]]


def test_a_snapshot_has_paths_values_history_and_nested_data(desk):
    trip = desk.task("trip", "tent", to="Ghent")
    desk.do(lambda e: e.remove(trip["tent"]))
    shown = desk.forest.snapshot()
    assert shown.state() == {"trip/to": "Ghent"} and shown.history("trip") == [["tent"]]
    assert [node["name"] for node in shown.tree()[0]["children"]] == ["to"]
    assert [(n["name"], n["visible"]) for n in shown.tree(hidden=True)[0]["children"]] == [
        ("tent", False),
        ("to", True),
    ]


def test_undo_of_an_earlier_change_takes_back_its_share_of_what_was_added_to_since(desk):
    plan = desk.task("plan", "cells genes mock")
    soup, stew = desk.task("soup"), desk.task("stew")
    cells = plan["cells"]
    first, second = (Dependency(on=plan[name], kind="before") for name in ("genes", "mock"))
    desk.do(lambda e: (e.depend(cells, first), e.alias(cells, "biology"), e.link(cells, soup["soup"])))
    number = desk.forest.commits[-1].number
    desk.do(lambda e: (e.depend(cells, second), e.alias(cells, "cytology"), e.link(cells, stew["stew"])))
    desk.undo(number)
    node = desk.forest.node(cells)
    assert (node.depends, node.aliases) == ((second,), ("cytology",))
    assert node.parents == (plan["plan"], stew["stew"])


def test_undo_leaves_a_node_where_it_was_moved_since(desk):
    plan = desk.task("plan", "cells genes mock")
    report = desk.do(lambda e: e.add("report", plan["cells"], kind=NodeKind.ITEM))
    desk.do(lambda e: e.move(report, plan["genes"]))
    number = desk.forest.commits[-1].number
    desk.do(lambda e: e.move(report, plan["mock"]))
    assert Editor(desk.forest).undo(number).kept == ((report, "parents"),)
    desk.undo(number)
    assert desk.forest.node(report).parents == (plan["mock"],)


def test_a_shared_node_keeps_the_order_of_its_parents(desk):
    """The first one gives the path, after a rollback and after that is taken back."""
    soup, stew = desk.task("soup", "celery"), desk.task("stew")
    celery = soup["celery"]
    desk.do(lambda e: (e.link(celery, stew["stew"]), e.set(celery, text("2"))))
    before = desk.forest.state()
    assert before["soup/celery"] == "2"
    desk.do(lambda e: e.rollback(soup["soup"], 3))
    assert desk.forest.state() == before
    desk.do(lambda e: (e.unlink(celery, soup["soup"]), e.link(celery, soup["soup"])))
    assert desk.forest.state()["stew/celery"] == "2"
    desk.undo()
    assert desk.forest.state() == before


def test_undo_closes_no_circle(desk):
    """What was taken out of a task, which then went under it, stays out; so does what waited for what now waits."""
    plan = desk.task("plan", "cells genes")
    cells, genes = plan["cells"], plan["genes"]
    report = desk.do(lambda e: e.add("report", cells, kind=NodeKind.ITEM))
    needs = Dependency(on=cells, kind="before")
    desk.do(lambda e: e.depend(genes, needs))
    desk.do(lambda e: (e.move(report, None), e.undepend(genes)))
    number = desk.forest.commits[-1].number
    desk.do(lambda e: (e.move(cells, report), e.depend(cells, Dependency(on=genes, kind="before"))))
    undone = Editor(desk.forest).undo(number)
    assert set(undone.kept) == {(report, "parents"), (genes, "depends")}
    desk.undo(number)
    assert desk.forest.node(report).parents == () and desk.forest.node(genes).depends == ()


def test_what_was_added_and_changed_since_goes_as_a_whole(desk):
    cart = desk.task("cart", "tent")
    added = desk.do(lambda e: e.add("stove", cart["cart"], kind=NodeKind.ITEM))
    number = desk.forest.commits[-1].number
    desk.do(lambda e: e.add("size", added, value=text("L")))
    desk.undo(number)
    assert desk.forest.state() == {"cart": ["tent"]} and desk.forest.node(added).status is TaskStatus.REMOVED


def test_copies_of_copies_end(desk, monkeypatch):
    """Each pair of acts doubles what is there: some forty would fill any memory."""
    monkeypatch.setattr(editing, "MOST_COPIED", 200)

    def double(editor):
        editor.add("list", top := editor.add("plan"))
        slot = editor.add("slot", top)
        for number in range(40):
            editor.relink(editor.copy(slot, f"copy {number}"), {slot: 1.0})

    with pytest.raises(TaskError, match="200 nodes"):
        desk.do(double)
    assert desk.forest.nodes == {}


def test_how_deep_a_tree_is_can_be_bounded(desk):
    """What is moved counts with what is under it."""

    def deep(editor, levels):
        node = editor.add("root")
        for number in range(levels - 1):
            node = editor.add(f"level {number}", node)
        return node

    editor = Editor(desk.forest)
    deep(editor, 60)
    editor.check_depth(60)
    with pytest.raises(TaskError, match="59 levels"):
        editor.check_depth(59)
    desk.commit(editor)
    editor = Editor(desk.forest)
    editor.relink("n1", {deep(editor, 50): 1.0})
    editor.check_depth(110)
    with pytest.raises(TaskError, match="109 levels"):
        editor.check_depth(109)
