"""`doxa tasks`: told, shown as a tree with its past and as graphs, taken back, and turn by turn."""

import io
import json
from datetime import UTC, datetime

import pytest
from rich.console import Console

from doxa.core.tasks import Dependency, NodeKind, TaskCommit, TaskValue
from doxa.memory import TaskForest
from doxa.tasks import Editor
from doxa.transport.cli.task_views import dot, mermaid, show_forest
from doxa.transport.differences import differences

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)


@pytest.fixture
def dinner(cli):
    """Tasks that were told three turns."""
    for text in ("Plan a dinner for Friday.", "Buy rice and celery for the dinner.", "Replace celery with mushrooms."):
        assert cli("tasks", "tell", text).exit_code == 0
    return cli


def test_what_is_told_is_answered_and_what_it_changed_is_listed(cli):
    done = cli("tasks", "tell", "Plan a dinner for Friday.", "--at", "2025-03-03", "--author", "Ben")
    reply, *changes = done.stdout.splitlines()
    assert "dinner" in reply.lower() and changes == ["  + dinner", "  + dinner/day: Friday"]
    found = cli.json("tasks", "tell", "Move the dinner to Saturday.")
    assert found["changes"] == [{"mark": "~", "path": "dinner/day", "change": "Friday -> Saturday"}]
    assert found["asks"] is False and "Saturday" in found["text"]
    first, second = cli.json("tasks", "log")
    assert (first["author"], first["at"][:10], second["author"]) == ("Ben", "2025-03-03", "Ben")


def test_the_tree_shows_the_past_and_what_is_out_of_sight_on_demand(dinner):
    shown = dinner("tasks").stdout
    assert "mushrooms" in shown and "celery" not in shown
    assert "celery (until turn 3) -> mushrooms" in dinner("tasks", "--history").stdout
    assert "✗ celery  (replaced)" in dinner("tasks", "--hidden").stdout
    found = dinner.json("tasks", "--history")
    assert found["state"]["dinner"] == ["rice", "mushrooms"]
    assert found["history"]["dinner"] == [["rice", "celery"], ["rice", "mushrooms"]]
    assert found == json.loads(dinner("tasks", "--history", "--format", "json").stdout)


def test_the_last_change_is_taken_back(dinner):
    shown = dinner("tasks", "undo").stdout
    assert "Undone: turn 3." in shown and "+ dinner/celery" in shown and "- dinner/mushrooms" in shown
    assert dinner.json("tasks")["state"]["dinner"] == ["rice", "celery"]
    assert dinner.json("tasks", "undo")["undone"] == 2
    log = dinner("tasks", "log").stdout
    assert "3. Ana, " in log and '"Replace celery with mushrooms."' in log and "by hand (takes back 3)" in log
    dinner("tasks", "undo")
    done = dinner("tasks", "undo")
    assert done.exit_code == 1 and "take back" in done.stderr


def test_nothing_is_there_before_anything_is_told(cli):
    assert cli("tasks").exit_code == 1 and "no memory" in cli("tasks").stderr
    cli("tasks", "tell", "Hello.")
    assert cli("tasks").stdout == "There are no tasks.\n"


@pytest.mark.parametrize(
    "arguments", [("tell",), ("undo", "it"), ("log", "--hidden"), ("tell", "Hello.", "--format", "dot")]
)
def test_what_does_not_fit_is_refused(dinner, arguments):
    done = dinner("tasks", *arguments)
    assert done.exit_code == 1 and "doxa tasks" in done.stderr and done.stdout == ""


def test_a_turn_that_could_not_be_read_ends_with_another_code(cli, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("broken")

    monkeypatch.setattr("doxa.engine.reading.tasks.take", fail)
    done = cli("tasks", "tell", "Plan a dinner.")
    assert done.exit_code == 3 and "not understood" in done.stdout and "broken" in done.stderr


@pytest.fixture
def shared():
    """A forest with a node under two tasks, a rule, and a name that has to be escaped."""
    forest = TaskForest()

    def commit(act):
        editor = Editor(forest)
        given = act(editor)
        forest.apply(TaskCommit(number=forest.next_number, at=AT, edits=editor.edits()))
        return given

    def build(editor):
        one, other = editor.add("one", kind=NodeKind.TASK), editor.add('the "other"', kind=NodeKind.TASK)
        rice = editor.add("rice", one, kind=NodeKind.ITEM)
        editor.link(rice, other)
        editor.depend(other, Dependency(on=one, kind="before"))
        return one, rice

    one, rice = commit(build)
    commit(lambda editor: (editor.done(one), editor.set(rice, TaskValue(text="2 kg"))))
    return forest.snapshot()


def shown(forest, **options):
    out = io.StringIO()
    show_forest(Console(file=out, width=100), forest, **options)
    return out.getvalue()


def test_marks_sharing_and_dependencies_are_shown(shared):
    text = shown(shared)
    assert "✓ one  (done)" in text and text.count("rice: 2 kg  (shared)") == 2 and "(after one)" in text


def test_pictures_have_every_node_once_and_every_edge(shared):
    chart, graph = mermaid(shared), dot(shared)
    assert chart.count('"rice: 2 kg"') == graph.count('"rice: 2 kg"') == 1
    assert "n1 --> n3" in chart and "n2 --> n3" in chart and "n1 -. before .-> n2" in chart and "#quot;other" in chart
    assert "n1 -> n3;" in graph and 'n1 -> n2 [style=dashed, label="before"];' in graph and '\\"other' in graph


def test_a_difference_names_what_is_otherwise(shared):
    told = [str(one) for commit in shared.commits for one in differences(commit.edits, shared)]
    assert sorted(told[:3]) == ["+ one", "+ one/rice", '+ the "other"']
    assert told[3:] == ["~ one: active -> done", "~ one/rice: nothing -> 2 kg"]
