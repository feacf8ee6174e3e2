"""Changes that were read from a turn and hardly meant."""

from datetime import UTC, datetime

import pytest

from doxa import backends
from doxa.core.tasks import Dependency, NodeKind, TaskCommit, TaskValue
from doxa.memory import TaskForest
from doxa.tasks import Editor, take
from doxa.tasks.plausible import MOST, without
from doxa.tasks.trim import by_amount

AT = datetime(2026, 3, 3, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def encoder():
    encoder = backends.load("encoder", "builtin")
    yield encoder
    encoder.close()


@pytest.fixture(scope="module")
def parser():
    return backends.load("parser", "builtin")


def told(forest, text, parser, **given):
    step = take(text, forest, parser, AT, **given)
    forest.apply(
        TaskCommit(
            number=forest.next_number, at=AT, text=text, intents=step.intents, edits=step.edits, focus=step.focus
        )
    )
    return step


def test_what_is_only_told_along_the_way_is_left_out(encoder, parser):
    forest, said = TaskForest(), "That's lonely for poor Sanjay. Put those two tables back together, as table 2."
    told(forest, "Seating plan: table 1 has Ana and Ben, table 2 has Felix and Sanjay.", parser)
    everything = take(said, forest, parser, AT)
    step = take(said, forest, parser, AT, encode=encoder.encode)
    assert "onely" in everything.reply and "onely" not in step.reply
    assert set(step.edits) < set(everything.edits)
    assert step.left_out == len(everything.edits) - len(step.edits)


@pytest.mark.parametrize(
    "text", ["Add milk and six eggs to my shopping list.", "Plan a trip to Rome on 3 May at 10 am."]
)
def test_what_is_asked_for_is_done_as_without_it(encoder, parser, text):
    assert (
        take(text, TaskForest(), parser, AT, encode=encoder.encode).edits == take(text, TaskForest(), parser, AT).edits
    )


def test_what_is_under_a_node_that_is_not_made_is_not_made_either():
    editor = Editor(TaskForest())
    party = editor.add("party", kind=NodeKind.TASK)
    other = editor.add("trip", kind=NodeKind.TASK)
    cake = editor.add("cake", party, kind=NodeKind.ITEM)
    editor.add("quantity", cake, value=TaskValue(text="2"))
    assert [edit.node_id for edit in without(editor.edits(), {party})] == [other]


def test_what_follows_a_change_that_is_left_out_stays_as_it_was(parser):
    forest = TaskForest()
    editor = Editor(forest)
    day = editor.add("party day", value=TaskValue(text="3 May"))
    cake = editor.add("cake day", value=TaskValue(text="3 May"))
    editor.depend(cake, Dependency(on=day, kind="derived"))
    forest.apply(TaskCommit(number=1, at=AT, intents=("new",), edits=editor.edits()))
    editor = Editor(forest)
    editor.set(day, TaskValue(text="4 May"))
    editor.propagate(by_amount)
    assert {edit.node_id for edit in editor.edits()} == {day, cake}
    assert without(editor.edits(), {day}) == ()


def test_vectors_are_made_once_and_of_so_many_changes_at_most(encoder, parser):
    asked = []

    def encode(texts):
        asked.append(len(texts))
        return encoder.encode(texts)

    items = ", ".join(f"item{number}" for number in range(30))
    take(f"Add {items} to my shopping list.", TaskForest(), parser, AT, encode=encode)
    assert asked == [MOST + 1]
