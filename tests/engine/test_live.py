"""What happens in a memory, told from any point on; its sessions and what was said in them."""

import pytest

from doxa.core.errors import InputError
from doxa.core.views import Point
from doxa.engine import Doxa, Live


@pytest.fixture(scope="module")
def doxa(light):
    """An engine in memory whose models cost nothing."""
    with Doxa.open(":memory:", config=light()) as engine:
        yield engine


@pytest.fixture
def told(doxa, request):
    """A memory of its own for each test, in which somebody moved and planned something."""
    user = f"ana-{abs(hash(request.node.name))}"
    for session, text in (
        ("spring", "I live in Porto."),
        ("summer", "I moved to Lisbon."),
        ("spring", "Bruno works at Mareluz."),
        ("summer", "Plan a dinner for Friday."),
    ):
        doxa.dialogue(user=user, session=session, speaker="Ana").respond(text)
    doxa.dialogue(user=user).flush()
    return Live(doxa.parts, user)


def all_of(live, then=None):
    return live.since(then or Point(), limit=10_000).happenings


def test_from_every_point_on_the_rest_is_told_once(told):
    happened = all_of(told)
    assert {one.kind for one in happened} == {"turn", "change", "task"}
    for at, one in enumerate(happened):
        assert all_of(told, Point.read(str(one.point))) == happened[at + 1 :]
    assert happened[-1].point == told.point()


def test_up_to_a_point_nothing_behind_it_is_told(told):
    happened = all_of(told)
    half = happened[len(happened) // 2].point
    before = told.since(Point(), until=half, limit=10_000)
    assert (*before.happenings, *all_of(told, half)) == happened
    assert before.point == half


def test_of_much_the_latest_is_told_and_the_rest_counted(told):
    happened = all_of(told)
    news = told.since(Point(), limit=3)
    assert news.happenings == happened[-3:]
    assert news.left_out == len(happened) - 3


def test_a_change_tells_what_it_clashed_with(told):
    ended = [one for one in all_of(told) if one.kind == "change" and one.what.kind == "close"]
    assert [str(other.object) for one in ended for other in one.others] == ["Lisbon"]


def test_a_change_of_tasks_names_its_nodes_by_their_paths(told):
    paths = [path for one in all_of(told) if one.kind == "task" for path in one.paths.values()]
    assert "dinner/day" in paths


def test_a_point_of_a_past_that_was_erased_is_lost(doxa, told):
    happened, before = all_of(told), told.point()
    first = next(one.what.turn for one in happened if one.kind == "turn")
    doxa.memory(user=told.user).forget(turn_id=first.turn_id)
    assert told.since(before).lost
    assert not told.since(told.point()).lost


def test_recent_tells_the_latest_changes_and_no_turns(told):
    changes = [one for one in all_of(told) if one.kind != "turn"]
    recent = told.recent(3).happenings
    assert [one.what for one in recent] == [one.what for one in changes[-3:]]


@pytest.mark.parametrize("text", ["", "1-2-3", "1-2-3-x/y", "a-1-1-0", "1-2-3-0-4", "²-1-1-0", "-1-1-1-0"])
def test_what_is_no_point_is_refused(text):
    with pytest.raises(InputError):
        Point.read(text)


def test_the_session_spoken_in_last_comes_first_page_by_page(doxa, told):
    assert [one.name for one in told.sessions().items] == ["summer", "spring"]
    doxa.dialogue(user=told.user, session="spring").absorb("Good morning.")
    first = told.sessions(limit=1)
    assert [one.name for one in first.items] == ["spring"] and first.total == 2
    rest = told.sessions(after=first.next, limit=1)
    assert [one.name for one in rest.items] == ["summer"] and not rest.next


def test_a_dialogue_is_paged_from_its_end(told):
    whole = told.said("summer", limit=100).items
    last = told.said("summer", limit=3)
    assert last.items == whole[-3:] and last.total == len(whole) == 4
    assert told.said("summer", before=int(last.next), limit=3).items == whole[:-3]
    assert told.said("nowhere").items == ()


def test_a_reply_has_its_answer_with_the_words_that_it_cites(doxa, told):
    doxa.dialogue(user=told.user, session="q", speaker="Ana").respond("Where do I live?")
    question, reply = told.said("q").items
    assert question.answer is None
    assert reply.answer.value == "Lisbon"
    assert reply.answer.citations[0].text == "I moved to Lisbon."


def test_what_waits_is_told_while_it_waits(doxa, told):
    with told.opened():  # nobody can understand anything meanwhile
        doxa.dialogue(user=told.user).absorb("I like tea.")
        news = told.since(told.point())
        assert [turn.text for turn in news.waiting] == ["I like tea."] and news.waits == 1
    doxa.dialogue(user=told.user).flush()
    assert told.since(told.point()).waits == 0
