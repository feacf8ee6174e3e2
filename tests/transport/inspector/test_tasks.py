"""The page of the tasks: what it shows, what is changed by hand there, and the way back."""

import json
import re
from html import unescape

import pytest
from tests.transport.inspector.conftest import HOSTILE

from doxa.core.tasks import Dependency, NodeKind, TaskStatus, TaskValue

PLAN = (
    "Plan a team dinner on Friday at 7 pm for 8 people.",
    "The taxi leaves 2 hours after the dinner.",
    "If it rains, book an indoor room.",
)


@pytest.fixture
def tasks(doxa):
    """The tasks of ana."""
    return doxa.tasks(user="ana")


@pytest.fixture
def planned(tasks):
    """A dinner with a time, a taxi that follows it, and what waits for rain, made by hand; by path, the ids."""

    def act(editor):
        dinner = editor.add("team dinner", kind=NodeKind.TASK)
        for name, text in (("day", "Friday"), ("time", "7 pm"), ("people", "8 people"), ("taxi", "9 pm")):
            made[name] = editor.add(name, dinner, value=tasks.value(text))
        rule = Dependency(on=made["time"], kind="derived", shift=2.0, unit="hour", text="2 hours after the dinner")
        editor.depend(made["taxi"], rule)
        room = editor.add("book an indoor room", dinner, kind=NodeKind.TASK)
        editor.depend(room, Dependency(on="", kind="condition", text="it rains"))

    made: dict[str, str] = {}
    tasks.edit(act)
    return {view.path: view.node.node_id for view in tasks.forest()}


@pytest.fixture
def spoken(tasks):
    """The same, as it is told; by path, the ids."""
    for text in PLAN:
        tasks.tell(text)
    return {view.path: view.node.node_id for view in tasks.forest()}


def words(page):
    """Return what a page says, without its marks."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", page)))


def test_tasks_are_shown_with_what_blocks_them_and_what_they_follow(ana, spoken):
    told = words(ana.page("tasks"))
    assert "time 7 pm" in told
    assert "taxi 9 pm" in told
    assert "follows time +2 hour" in told
    assert "blocked" in told
    assert "if it rains" in told


def test_a_shared_task_is_under_each_of_those_that_share_it(ana, tasks):
    def two(editor):
        party, dinner = editor.add("party", kind=NodeKind.TASK), editor.add("dinner", kind=NodeKind.TASK)
        wine = editor.add("wine", party, kind=NodeKind.ITEM)
        editor.add("colour", wine, value=TaskValue(text="red"))
        editor.link(wine, dinner)

    tasks.edit(two)
    told = words(ana.page("tasks"))
    assert told.count("by party, dinner") == 2
    assert "(the same as above)" in told
    assert told.count("colour red") == 1


def test_what_was_removed_is_shown_on_request(ana, tasks, planned):
    tasks.edit(lambda editor: editor.remove(planned["team dinner/people"]))
    assert "8 people" not in words(ana.page("tasks", show="graph"))
    assert "removed" in words(ana.page("tasks", show="graph", hidden="1"))


def test_a_memory_without_tasks_says_how_to_begin(ana):
    assert "There are no tasks yet" in ana.page("tasks")
    assert json.loads(ana.page("tasks/graph")) == {"nodes": [], "edges": [], "root": None}


def test_a_value_that_is_set_by_hand_moves_what_follows_it_and_is_taken_back_and_done_again(ana, tasks, planned):
    shown = ana.submit("tasks/edit", act=f"set {planned['team dinner/time']}", value="8 pm", back="/inspect/tasks")
    assert tasks.state()["team dinner/time"] == "8 pm"
    assert tasks.state()["team dinner/taxi"] == "10 pm"
    assert "The value is set." in shown.text

    number = re.search(r"change=(\d+)", str(shown.url))[1]
    undone = ana.submit("tasks/undo", number=number, back="/inspect/tasks")
    assert tasks.state()["team dinner/taxi"] == "9 pm"
    assert "Taken back." in undone.text

    again = re.search(r'action="/inspect/tasks/redo".*?name="number" value="(\d+)"', undone.text, re.DOTALL)[1]
    redone = ana.submit("tasks/redo", number=again, back="/inspect/tasks")
    assert tasks.state()["team dinner/taxi"] == "10 pm"
    assert "Done again." in redone.text


def test_what_was_changed_since_stays_when_a_change_is_taken_back(ana, tasks, planned):
    time, people = planned["team dinner/time"], planned["team dinner/people"]
    tasks.edit(lambda e: (e.set(time, TaskValue(text="6 pm")), e.set(people, TaskValue(text="9"))))
    number = tasks.forest().commits[-1].number
    ana.submit("tasks/edit", act=f"set {time}", value="5 pm")
    preview = words(ana.page("tasks/back", number=number, way="undo"))
    assert "it stays: team dinner/time (value)" in preview
    assert tasks.state()["team dinner/people"] == "9"

    done = words(ana.submit("tasks/undo", number=str(number), back="/inspect/tasks").text)
    assert "stays: team dinner/time (value)" in done
    assert tasks.state()["team dinner/people"] == "8 people"
    assert tasks.state()["team dinner/time"] == "5 pm"


def test_a_change_all_of_which_was_changed_since_is_not_taken_back(ana, tasks, planned):
    time = planned["team dinner/time"]
    tasks.edit(lambda e: e.set(time, TaskValue(text="6 pm")))
    number = tasks.forest().commits[-1].number
    tasks.edit(lambda e: e.set(time, TaskValue(text="5 pm")))
    response = ana.submit("tasks/undo", number=str(number))
    assert response.status_code == 400
    assert "team dinner/time (value)" in response.text
    assert tasks.state()["team dinner/time"] == "5 pm"


def test_all_goes_back_to_an_earlier_moment_after_it_was_shown_what_that_changes(ana, tasks, spoken):
    first = tasks.forest().commits[0].number
    preview = words(ana.page("tasks/back", number=first, way="rollback"))
    assert "team dinner/taxi" in preview
    assert "team dinner/taxi" in tasks.state()
    done = ana.submit("tasks/rollback", number=str(first), back="/inspect/tasks")
    assert "All is as it was then." in done.text
    assert "team dinner/taxi" not in tasks.state()
    assert ana.submit("tasks/rollback", number="99").status_code == 404


def test_the_history_says_what_each_turn_changed_and_leads_to_it(ana, tasks, spoken):
    page = ana.page("tasks")
    turn = tasks.forest().commits[1].turn_id
    assert f"/inspect/why?turn={turn.replace(':', '%3A')}" in page
    told = words(page)
    assert told.index(PLAN[2]) < told.index(PLAN[1]) < told.index(PLAN[0])
    assert "team dinner/taxi: 9 pm" in told


def test_the_history_goes_on_page_by_page_and_back_to_its_beginning(ana, tasks):
    for number in range(40):
        tasks.edit(lambda editor, number=number: editor.add(f"job {number:02}", kind=NodeKind.TASK))
    seen, page = [], ana.page("tasks", show="history")
    while True:
        history = page[page.index("What was done") :]
        seen += re.findall(r"<bdi>(job \d\d)</bdi>", history)
        further = re.search(r'href="/inspect/([^"]*)">Further back', page)
        if further is None:
            break
        page = ana.get(f"/inspect/{unescape(further[1])}").text
    assert seen == [f"job {number:02}" for number in range(39, -1, -1)]


def test_a_change_is_found_by_its_number(ana, tasks):
    for number in range(30):
        tasks.edit(lambda editor, number=number: editor.add(f"job {number:02}", kind=NodeKind.TASK))
    page = ana.page("tasks", commit=5)
    assert re.findall(r"<bdi>(job \d\d)</bdi>", page[page.index("What was done") :])[:2] == ["job 04", "job 03"]


def test_the_outline_is_paged_and_says_what_its_first_line_is_under(ana, tasks):
    def many(editor):
        root = editor.add("move", kind=NodeKind.TASK)
        return [editor.add(f"box {number:03}", root) for number in range(200)]

    keys = tasks.edit(many)
    page = ana.page("tasks", show="graph")
    assert "box 148" in page
    assert "box 149" not in page
    further = unescape(re.search(r'href="/inspect/([^"]*start[^"]*)">Further', page)[1])
    second = words(ana.get(f"/inspect/{further}").text)
    assert "move (further up)" in second
    assert "box 149" in second
    assert "box 148" not in second
    assert "box 199" in words(ana.page("tasks", node=keys[-1]))


def test_the_chosen_one_tells_its_values_with_the_turns_that_they_came_from(ana, tasks, spoken):
    tasks.tell("The dinner is at 8 pm.")
    told = words(ana.page("tasks", node=spoken["team dinner/time"]))
    past = told[told.index("What it was") :]
    assert past.index("8 pm") < past.index("The dinner is at 8 pm.") < past.index("7 pm") < past.index(PLAN[0])
    assert "Waits for it or follows ittaxi (+2 hour)" in told


def test_an_earlier_value_comes_back(ana, tasks, planned):
    time = planned["team dinner/time"]
    tasks.tell("The dinner is at 8 pm.")
    ana.submit("tasks/edit", act=f"again {time}", to="7 pm")
    assert tasks.state()["team dinner/time"] == "7 pm"
    assert tasks.state()["team dinner/taxi"] == "9 pm"


def test_all_that_a_form_does_to_a_task_is_done(ana, tasks, planned):
    dinner, time = planned["team dinner"], planned["team dinner/time"]

    def node(key):
        return next(one.node for one in (*tasks.forest().nodes, *tasks.forest().hidden) if one.node.node_id == key)

    ana.submit("tasks/edit", act="add", under=dinner, name="menu", kind="slot", value="soup")
    assert tasks.state()["team dinner/menu"] == "soup"
    ana.submit("tasks/edit", act=f"rename {time}", name="hour")
    assert (node(time).name, node(time).aliases) == ("hour", ("time",))
    ana.submit("tasks/edit", act="done", node=time)
    assert node(time).status is TaskStatus.DONE
    ana.submit("tasks/edit", act=f"active {time}")
    assert node(time).status is TaskStatus.ACTIVE
    ana.submit("tasks/edit", act="add", name="party", kind="task")
    ana.submit("tasks/edit", act=f"move {time}", under="party", how="also")
    assert len(node(time).parents) == 2
    ana.submit("tasks/edit", act=f"unlink {time}", under=dinner)
    assert tasks.state()["party/hour"] == "7 pm"
    ana.submit("tasks/edit", act=f"move {time}", under="")
    assert node(time).parents == ()
    ana.submit("tasks/edit", act=f"removed {time}")
    assert node(time).status is TaskStatus.REMOVED


def test_what_depends_is_said_and_taken_back_by_hand(ana, tasks, planned):
    people = planned["team dinner/people"]

    def needs():
        return next(one.node.depends for one in tasks.forest() if one.node.node_id == people)

    ana.submit("tasks/edit", act=f"depend {people}", kind="before", on="team dinner/taxi")
    assert needs() == (Dependency(on=planned["team dinner/taxi"], kind="before"),)
    ana.submit("tasks/edit", act=f"undepend {people}", place="0", on=planned["team dinner/taxi"])
    assert needs() == ()
    ana.submit("tasks/edit", act=f"depend {people}", kind="condition", text="all come")
    assert needs() == (Dependency(on="", kind="condition", text="all come"),)
    assert "if all come" in words(ana.page("tasks"))
    ana.submit("tasks/edit", act=f"holds {people}")
    assert needs() == ()
    ana.submit(
        "tasks/edit", act=f"depend {planned['team dinner/taxi']}", kind="derived", on="team dinner/day", shift="1"
    )
    ana.submit("tasks/edit", act=f"removed {planned['team dinner/time']}")
    told = words(ana.page("tasks", node=planned["team dinner/taxi"]))
    assert "follows day +1" in told


NONSENSE = [
    ("tasks/edit", {"act": "paint n1"}, 400),
    ("tasks/edit", {"act": "set n999", "value": "1"}, 404),
    ("tasks/edit", {"act": "set", "value": "1"}, 404),
    ("tasks/edit", {"act": "set n1", "value": "1" * 2001}, 400),
    ("tasks/edit", {"act": "add", "name": "x", "kind": "loop"}, 400),
    ("tasks/edit", {"act": "add", "name": "x", "kind": "thing"}, 400),
    ("tasks/edit", {"act": "move n1", "under": "n3"}, 400),
    ("tasks/edit", {"act": "move n1", "how": "also"}, 400),
    ("tasks/edit", {"act": "depend n1", "kind": "derived", "on": "n3", "shift": "nan"}, 400),
    ("tasks/edit", {"act": "depend n1", "kind": "fact", "on": "f999"}, 404),
    ("tasks/edit", {"act": "depend n3", "kind": "before", "on": ""}, 400),
    ("tasks/edit", {"act": "undepend n3", "place": "4", "on": "n1"}, 400),
    ("tasks/undo", {"number": "one"}, 400),
    ("tasks/undo", {"number": "999"}, 404),
]
"""Forms with the status that they lead to."""


def test_a_form_that_makes_no_sense_changes_nothing(ana, tasks, planned):
    before = tasks.forest()
    assert [(path, form, ana.submit(path, **form).status_code) for path, form, _ in NONSENSE] == NONSENSE
    assert tasks.forest() == before


def test_an_address_that_makes_no_sense_is_a_page_that_says_so(ana, planned):
    for query, status in (("show=all", 400), ("start=x", 400), ("after=x", 400), ("node=n999", 404), ("of=n999", 404)):
        response = ana.get(f"/inspect/tasks?{query}")
        assert response.status_code == status, query
        assert "This cannot be shown" in response.text


def test_nothing_is_changed_without_the_proof_that_a_page_of_ours_has(ana, tasks, planned):
    before = tasks.forest()
    ana.get("/inspect/tasks")
    for path in ("edit", "undo", "redo", "rollback"):
        response = ana.post(f"/inspect/tasks/{path}", data={"act": "removed n1", "number": "1"})
        assert response.status_code == 400
    assert tasks.forest() == before


def test_names_and_values_are_never_markup(ana, tasks):
    def act(editor):
        slots = []
        for text in HOSTILE:
            root = editor.add(text, kind=NodeKind.TASK, aliases=[text])
            slots.append(editor.add(text, root, value=TaskValue(text=text)))
            editor.depend(slots[-1], Dependency(on="", kind="condition", text=text))
        return slots

    slots = tasks.edit(act)
    number = tasks.forest().commits[-1].number
    pages = [
        *(ana.page("tasks", node=slot, field="value") for slot in slots),
        ana.page("tasks"),
        ana.page("tasks", node=slots[0], show="graph"),
        ana.page("tasks/back", number=number, way="undo"),
    ]
    for page in pages:
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "style=" not in page
    assert {one["label"] for one in json.loads(ana.page("tasks/graph"))["nodes"]} >= set(HOSTILE)


def test_the_graph_has_an_edge_for_all_that_is_under_follows_or_waits(ana, tasks, planned):
    tasks.edit(
        lambda e: e.depend(planned["team dinner/day"], Dependency(on=planned["team dinner/people"], kind="before"))
    )
    drawn = json.loads(ana.page("tasks/graph"))
    nodes = {one["id"]: one for one in drawn["nodes"]}
    kinds = {(nodes[e["source"]]["label"], nodes[e["target"]]["label"], e["kind"], e["label"]) for e in drawn["edges"]}
    assert ("team dinner", "time: 7 pm", "part", "") in kinds
    assert ("time: 7 pm", "taxi: 9 pm", "derived", "+2 hour") in kinds
    assert ("people: 8 people", "day: Friday", "before", "") in kinds
    assert ("it rains", "book an indoor room", "condition", "") in kinds
    assert nodes[planned["team dinner/book an indoor room"]]["state"] == "blocked"
    assert len({e["id"] for e in drawn["edges"]}) == len(drawn["edges"])


def test_a_graph_of_very_many_tasks_draws_the_chosen_one_and_says_what_is_left_out(ana, tasks):
    def many(editor):
        return [editor.add(f"job {number}", kind=NodeKind.TASK) for number in range(400)]

    last = tasks.edit(many)[-1]
    drawn = json.loads(ana.page("tasks/graph", of=last))
    assert len(drawn["nodes"]) == 300
    assert drawn["nodes"][0]["id"] == last
    assert drawn["root"] == last
    assert "Of 400, the first 300 are drawn" in words(ana.page("tasks", show="graph"))


def test_a_fact_that_a_task_rests_on_stands_beside_it(ana, doxa, tasks, told, planned):
    told("I live in Porto.")
    fact = doxa.memory(user="ana").facts()[0]
    ana.submit("tasks/edit", act=f"depend {planned['team dinner']}", kind="fact", on=fact.fact_id)
    assert f"/inspect/why?fact={fact.fact_id}" in ana.page("tasks")
    edges = json.loads(ana.page("tasks/graph"))["edges"]
    assert (f"fact:{fact.fact_id}", planned["team dinner"], "fact") in {
        (one["source"], one["target"], one["kind"]) for one in edges
    }


def test_the_tasks_of_another_are_not_shown_and_not_changed(browser, keys, tasks, planned):
    _, secret = keys.add(users=["ben"], rights=["read", "write"])
    ben = browser(rate=0)
    ben.cookies.set("doxa_key", secret)
    assert "team dinner" not in ben.page("tasks")
    assert ben.get("/inspect/tasks?user=ana").status_code == 403
    before = tasks.forest()
    assert ben.submit("tasks/edit", act="removed n1").status_code == 404
    assert ben.post("/inspect/tasks/edit?user=ana", data={"act": "removed n1"}).status_code in (400, 403)
    assert tasks.forest() == before


def test_who_may_only_read_changes_nothing(browser, keys, tasks, planned):
    _, secret = keys.add(users=["ana"], rights=["read"])
    reader = browser(rate=0)
    reader.cookies.set("doxa_key", secret)
    assert "team dinner" in reader.page("tasks")
    before = tasks.forest()
    assert reader.submit("tasks/edit", act="removed n1").status_code == 403
    assert reader.submit("tasks/undo", number="1").status_code == 403
    assert reader.submit("tasks/rollback", number="1").status_code == 403
    assert tasks.forest() == before


def test_a_very_deep_forest_is_shown(ana, tasks):
    def deep(editor):
        key = None
        for level in range(400):
            key = editor.add(f"level {level}", key, kind=NodeKind.TASK)
        return key

    last = tasks.edit(deep)
    page = ana.page("tasks", node=last)
    assert page.count("<ul") == page.count("</ul>")
    assert len(re.findall(r"<li[ >]", page)) == page.count("</li>")
    assert "level 399" in page
