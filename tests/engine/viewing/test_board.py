"""The tasks of a memory, page by page."""

import pytest

from doxa.core.errors import InputError, NotFoundError
from doxa.core.tasks import Dependency, NodeKind, TaskValue
from doxa.engine import View


@pytest.fixture
def tasks(doxa):
    """The tasks of ana."""
    return doxa.tasks(user="ana")


@pytest.fixture
def board(doxa):
    """What is shown of them."""
    return View(doxa.parts, "ana").board()


def lines(outline):
    """Return the lines of an outline as depth and name."""
    return [(row.depth, row.node.name) for row in outline.rows]


def trip(editor):
    """Two tasks that share a node, which holds another one."""
    trip, party = editor.add("trip", kind=NodeKind.TASK), editor.add("party", kind=NodeKind.TASK)
    car = editor.add("car", trip)
    editor.add("seats", car, value=TaskValue(text="4"))
    editor.link(car, party)
    return trip, party, car


def test_what_is_shared_is_under_each_of_those_and_opened_once(tasks, board):
    tasks.edit(trip)
    outline = board.outline()
    assert lines(outline) == [(0, "trip"), (1, "car"), (2, "seats"), (0, "party"), (1, "car")]
    assert [row.again for row in outline.rows] == [False, False, False, False, True]
    assert [node.name for node in outline.rows[1].under] == ["trip", "party"]
    assert outline.total == 5


def test_a_page_begins_with_what_its_first_line_is_under(tasks, board):
    tasks.edit(trip)
    page = board.outline(2, limit=2)
    assert [(row.node.name, row.above) for row in page.rows] == [
        ("trip", True),
        ("car", True),
        ("seats", False),
        ("party", False),
    ]
    assert board.outline(10, limit=2).rows == ()


def test_the_page_of_a_node_is_found(tasks, board):
    keys = tasks.edit(lambda editor: [editor.add(f"job {number}") for number in range(10)])
    assert board.outline(limit=3, of=keys[7]).start == 6
    assert board.outline(3, limit=3, of="n999").start == 3


def test_what_is_out_of_sight_is_shown_on_request_where_it_was(tasks, board):
    _, _, car = tasks.edit(trip)
    tasks.edit(lambda editor: editor.remove(car))
    assert lines(board.outline()) == [(0, "trip"), (0, "party")]
    hidden = board.outline(hidden=True)
    assert lines(hidden) == [(0, "trip"), (1, "car"), (2, "seats"), (0, "party"), (1, "car")]
    assert [row.visible for row in hidden.rows] == [True, False, False, True, False]


def test_a_node_tells_its_values_latest_first_and_who_follows_it(tasks, board):
    key = tasks.edit(lambda editor: editor.add("day", value=TaskValue(text="1")))
    other = tasks.edit(lambda editor: editor.add("leave"))
    needed = Dependency(on=key, kind="derived", shift=1.0)
    tasks.edit(lambda editor: editor.depend(other, needed))
    for text in ("2", "3"):
        tasks.edit(lambda editor, text=text: editor.set(key, TaskValue(text=text)))
    card = board.card(key, limit=2)
    assert [(span.value, span.commit.number) for span in card.spans] == [("3", 5), ("2", 4)]
    assert (card.values, card.steps) == (3, 3)
    assert [(one.needed, one.node.name) for one in card.followers] == [(needed, "leave")]
    with pytest.raises(NotFoundError, match="n999"):
        board.card("n999")


def test_what_was_done_is_paged_and_says_what_is_taken_back(tasks, board):
    first = tasks.edit(lambda editor: editor.add("a"))
    tasks.edit(lambda editor: editor.add("b"))
    tasks.undo(1)
    page = board.steps(limit=2)
    assert [(one.commit.number, one.taken_back) for one in page.items] == [(3, None), (2, None)]
    rest = board.steps(limit=2, after=page.next)
    assert [(one.commit.number, one.taken_back) for one in rest.items] == [(1, 3)]
    assert rest.next == ""
    assert [one.commit.number for one in board.steps(of=first).items] == [3, 1]
    tasks.redo()
    assert board.step(1).taken_back is None
    assert board.step(3).taken_back == 4
    assert [board.step(number).takes_back for number in (1, 3, 4)] == [False, True, False]
    with pytest.raises(InputError):
        board.steps(after="here")
    with pytest.raises(NotFoundError):
        board.step(9)


def test_what_was_said_and_changed_nothing_is_left_out_unless_asked_for(tasks, board):
    tasks.tell("Plan a dinner for Friday.")
    tasks.tell("Which day is the dinner?")
    assert [one.commit.number for one in board.steps().items] == [1]
    assert [one.commit.number for one in board.steps(talk=True).items] == [2, 1]


def test_a_change_names_what_it_touched_and_what_that_is_under_or_depends_on(tasks, board):
    _, party, car = tasks.edit(trip)
    tasks.edit(lambda editor: editor.unlink(car, party))
    called = board.step(2).called
    assert called.paths == {car: "trip/car"}
    assert set(called.names.values()) == {"car", "trip", "party"}


def test_a_picture_begins_with_a_node_and_its_task(tasks, board):
    _, party, _ = tasks.edit(trip)
    crowd = board.crowd(of=party, limit=2)
    assert [row.node.name for row in crowd.rows] == ["party", "car"]
    assert crowd.left == 2
