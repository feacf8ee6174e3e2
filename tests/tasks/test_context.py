"""The part of the forest that answers a turn: what is in it, what is not, how long it is, and what it costs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.core.tasks import Dependency, NodeKind, TaskCommit, TaskValue
from doxa.core.tokens import estimate_tokens
from doxa.memory import TaskForest
from doxa.tasks import Editor, context_of

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)


def text(value: str) -> TaskValue:
    return TaskValue(text=value)


@pytest.fixture
def office(desk):
    """A meeting and a cart, both revised."""
    meeting = desk.task("team meeting", time="2 PM", day="Thursday")
    who = desk.do(lambda e: e.add("participants", meeting["team meeting"]))
    for name in ("Alice", "Bob", "Carol"):
        desk.do(lambda e, name=name: e.add(name, who, kind=NodeKind.ITEM))
    desk.do(lambda e: e.set(meeting["time"], text("4 PM")))  # commit 6
    cart = desk.task("cart", "charger stand case", shop="Corner Store")
    desk.do(lambda e: e.remove(cart["charger"]))  # commit 8
    desk.meeting, desk.cart, desk.who = meeting, cart, who
    return desk


def test_a_task_is_one_line_with_all_that_stands(office):
    shown = context_of(office.forest, "Tell me about the team meeting")
    assert shown.splitlines()[0] == "- team meeting: time 4 PM; day Thursday; participants Alice, Bob, Carol"


def test_what_was_not_asked_for_is_not_there(office):
    shown = context_of(office.forest, "What time is the team meeting?", focus=[office.meeting["time"]])
    assert "time 4 PM" in shown and "cart" not in shown and "2 PM" not in shown


@pytest.mark.parametrize(
    ("turn", "answer"),
    [
        ("When is the team meeting?", "4 PM"),
        ("Who is at the meeting?", "Bob"),
        ("Is Bob coming?", "Bob"),
        ("Do we have Thursday?", "Thursday"),
        ("What is in the cart?", "stand, case"),
        ("Where do I buy the case, at the corner?", "Corner Store"),
    ],
)
def test_a_turn_finds_its_answer_by_names_other_names_and_values(office, turn, answer):
    assert answer in context_of(office.forest, turn)


@pytest.mark.parametrize(
    "turn", ["What is in the cart?", "Add the charger", "Move the meeting", "hello", "the charger"]
)
def test_what_is_gone_is_not_there(office, turn):
    shown = context_of(office.forest, turn)
    assert "charger" not in shown and "2 PM" not in shown


def test_the_past_is_there_where_it_is_asked_for(office):
    assert "time 4 PM (2 PM until turn 6)" in context_of(office.forest, "What time was the team meeting originally?")
    assert "charger until turn 8" in context_of(office.forest, "Why is the charger not in the cart?")


def test_why_is_answered_with_the_words_that_did_it():
    forest = TaskForest()
    editor = Editor(forest)
    time = editor.add("time", editor.add("dinner", kind=NodeKind.TASK), value=text("7 PM"))
    forest.apply(TaskCommit(number=1, at=AT, edits=editor.edits(), text="Dinner at 7 PM."))
    editor = Editor(forest)
    editor.set(time, text("8 PM"))
    forest.apply(TaskCommit(number=2, at=AT, edits=editor.edits(), text="Ana is late, make it 8 PM."))
    assert context_of(forest, "Why is dinner at eight?").splitlines() == [
        "- dinner: time 8 PM (7 PM until turn 2)",
        "  turn 2: “Ana is late, make it 8 PM.”",
    ]
    assert "late" not in context_of(forest, "When is dinner?")


def test_a_removed_task_is_told_of_only_where_the_past_is_asked_for(office):
    office.do(lambda e: e.remove(office.meeting["team meeting"]))
    assert "meeting" not in context_of(office.forest, "Is there a team meeting?")
    shown = context_of(office.forest, "What time was the team meeting?")
    assert "- team meeting (removed in turn 9)" in shown and "4 PM until turn 9" in shown


def test_it_goes_on_from_what_was_spoken_of(office):
    shown = context_of(office.forest, "make it an hour later", focus=[office.meeting["time"]])
    assert shown.startswith("- team meeting: time 4 PM")
    assert context_of(office.forest, "make it cheaper") == "- cart: stand, case; shop Corner Store"


def test_what_depends_on_it_comes_with_it(office):
    dinner = office.task("dinner", place="Luigi")
    office.do(lambda e: e.add("start", dinner["dinner"], value=text("6 PM")))
    start = office.forest.child(dinner["dinner"], "start")
    office.do(lambda e: e.depend(start, Dependency(on=office.meeting["time"], kind="derived", shift=120.0)))
    assert "6 PM" in context_of(office.forest, "Move the team meeting time", focus=[office.meeting["time"]])
    shown = context_of(office.forest, "When does the dinner start?", focus=[start])
    assert "start 6 PM (follows team meeting time)" in shown and "time 4 PM" in shown


def test_a_shared_item_is_shown_in_every_list(desk):
    soup, pie = desk.task("soup", "leek"), desk.task("pie", "apple")
    desk.do(lambda e: e.link(soup["leek"], pie["pie"]))
    assert set(context_of(desk.forest, "Where is the leek used?").splitlines()) >= {
        "- soup: leek",
        "- pie: apple, leek",
    }


def test_tasks_under_a_task_are_indented(desk):
    trip = desk.task("trip", day="Friday")
    hike = desk.do(lambda e: e.add("hike", trip["trip"], kind=NodeKind.TASK))
    desk.do(lambda e: e.add("trail", hike, value=text("North Rim")))
    assert context_of(desk.forest, "Show me the whole trip") == "- trip: day Friday\n  - hike: trail North Rim"
    assert context_of(desk.forest, "Which trail?") == "- trip: day Friday\n  - hike: trail North Rim"


def test_an_item_has_its_details_behind_it(desk):
    cart = desk.task("cart", "case")
    desk.do(lambda e: e.add("colour", cart["case"], value=text("black")))
    desk.do(lambda e: e.add("size", cart["case"], value=text("L")))
    assert context_of(desk.forest, "cart") == "- cart: black case (size L)"


def test_a_stated_condition_is_told(desk):
    party = desk.task("party", place="garden")
    tent = desk.do(lambda e: e.add("rent a tent", party["party"], kind=NodeKind.TASK))
    desk.do(lambda e: e.depend(tent, Dependency(on="", kind="condition", text="it rains")))
    assert "- rent a tent (only if: it rains)" in context_of(desk.forest, "party")


def test_a_long_list_is_cut_at_a_whole_value_and_says_so(desk):
    desk.task("shopping", " ".join(f"thing{n}" for n in range(40)))
    shown = context_of(desk.forest, "What is on the shopping list?", budget=20)
    names = shown.removeprefix("- shopping: ").split(" and ")
    assert names[1] == f"{40 - len(names[0].split(', '))} more"
    assert "thing33" in context_of(desk.forest, "Is thing33 on the shopping list?", budget=20)


def test_the_smallest_budgets_give_the_best_value(office):
    turn = "What time is the team meeting?"
    assert [context_of(office.forest, turn, budget=n) for n in (0, 1, 2, 3, 8)] == [
        "",
        "",
        "4 PM",
        "time 4 PM",
        "- team meeting: time 4 PM",
    ]


def test_no_tasks_no_words():
    assert context_of(TaskForest(), "When is the meeting?") == ""


WORDS = ["pasta", "lamp", "Friday", "4 PM", "time", "day", "soup", "Ana", "note", "red"]
NEW = ["ruby", "opal", "jade"]


@settings(max_examples=60, deadline=None)
@given(
    acts=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30), st.sampled_from(WORDS)), max_size=25),
    turn=st.lists(st.sampled_from([*WORDS, *NEW, "the", "list", "all"]), max_size=5).map(" ".join),
    budget=st.integers(0, 120),
)
def test_no_script_makes_it_too_long_or_brings_back_what_is_gone(acts, turn, budget):
    forest = TaskForest()
    stale: set[str] = set()
    for at, (kind, which, word) in enumerate(acts):
        editor = Editor(forest)
        keys = list(forest.nodes)
        key = keys[which % len(keys)] if keys else None
        if kind == 0 or key is None:
            editor.add(word, kind=NodeKind.TASK)
        elif kind == 1:
            editor.add(f"{word}{at}", key, kind=NodeKind.ITEM if which % 2 else NodeKind.SLOT, value=text(f"value{at}"))
        elif kind == 2:
            editor.set(key, text(f"value{at}"))
        elif kind == 3:
            editor.remove(key)
        else:
            editor.restore(key)
        forest.apply(TaskCommit(number=at + 1, at=AT, edits=editor.edits()))
    standing = {node.value.text for key, node in forest.nodes.items() if node.value and forest.visible(key)}
    stale = {f"value{at}" for at in range(len(acts))} - standing
    shown = context_of(forest, turn, budget=budget)
    assert estimate_tokens(shown) <= budget
    assert not stale & set(shown.replace(";", " ").replace(",", " ").replace(")", " ").replace("(", " ").split())


class Counted(TaskForest):
    """A forest that counts how often a node is read."""

    read = 0

    def node(self, node_id: str):
        self.read += 1
        return super().node(node_id)

    def visible(self, node_id: str) -> bool:
        self.read += 1
        return super().visible(node_id)


def large(tasks: int, wide: int) -> Counted:
    """Return tasks with a slot and items each, and one that many depend on and that is under a very long list."""
    forest = Counted()
    editor = Editor(forest)
    root = editor.add("warehouse", kind=NodeKind.TASK)
    price = editor.add("price", root, value=text("10 EUR"))
    for number in range(wide):
        item = editor.add(f"crate {number}", root, kind=NodeKind.ITEM)
        editor.depend(item, Dependency(on=price, kind="before"))
    for number in range(tasks):
        task = editor.add(f"job {number}", kind=NodeKind.TASK)
        editor.add("time", task, value=text(f"{number} minutes"))
        for name in ("hammer", "nail"):
            editor.add(name, task, kind=NodeKind.ITEM)
    forest.apply(TaskCommit(number=1, at=AT, edits=editor.edits(), focus=(root,)))
    return forest


TURNS = [
    "What time is job 17?",
    "job time hammer nail",
    "Is crate 55 in the warehouse?",
    "What is the price?",
    "Why was the price changed?",
    "Show me everything",
    "hello",
]


@pytest.mark.parametrize("turn", TURNS)
def test_what_is_looked_at_does_not_grow_with_the_forest(turn):
    read = []
    for size in (250, 2500):
        forest = large(size, size)
        forest.read = 0
        context_of(forest, turn)
        read.append(forest.read)
    assert read[1] <= 12_000 and read[1] <= read[0] * 1.5 + 2_000


def test_a_word_of_very_many_nodes_finds_the_latest_where_no_other_word_is_known():
    forest = large(400, 0)
    assert forest.node(forest.find("job zebra")[0]).name == "job 399"


def test_the_answer_is_found_among_ten_thousand_nodes():
    forest = large(2500, 2500)
    assert len(forest.nodes) > 10_000
    assert "- job 17: hammer, nail; time 17 minutes" in context_of(forest, "What time is job 17?")
    assert "job 18" not in context_of(forest, "What time is job 17?")
    assert "crate 2155" in context_of(forest, "Is crate 2155 in the warehouse?", budget=30)
    assert "price 10 EUR" in context_of(forest, "What is the price?")
