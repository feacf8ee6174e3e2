"""The events of the log: each reads back from its row as it was, and the stored form never changes."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doxa.backends.store import Row
from doxa.core.feedback import Feedback
from doxa.core.promotions import Promotion, Support
from doxa.core.tasks import TaskCommit, TaskEdit, TaskNode
from doxa.core.values import Atom, Change, ChangeKind, Claim, Fact, Relation, Rule, Term, Turn
from doxa.memory import (
    EVENTS,
    Accepted,
    Annotated,
    Demoted,
    Distrusted,
    FeedbackGiven,
    Identified,
    Maintained,
    Note,
    Promoted,
    Retracted,
    SetAside,
    Tasked,
    Undone,
    UserState,
    Withdrawn,
    event_of,
    fold_row,
)

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)
ANA, TEA, LIKES = Term("ana", "Ana"), Term("tea", "tea"), Relation("likes", "likes")
TURN = Turn(turn_id="t1", user="ana", session="s", speaker="Ana", role="user", text="I like tea.", at=AT, ordinal=1)
CLAIM = Claim(subject=ANA, relation=LIKES, object=TEA, turn_id="t1", speaker="Ana", span="I like tea.")
BY_HAND_CLAIM = replace(CLAIM, speaker="ana", accepted="accepted by hand")
RULE = Rule(then=(Atom(subject=ANA, relation=LIKES, object=TEA),), turn_id="t1", speaker="Ana")
FACT = Fact(fact_id="f1", subject=ANA, relation=LIKES, object=TEA, turn_ids=("t1",))
CHANGE = Change(kind=ChangeKind.ASSERT, turn_id="t1", fact=FACT)
GONE = TaskEdit(node_id="n1", before=None, after=None)
NODE = TaskEdit(node_id="n1", before=None, after=TaskNode(node_id="n1", name="trip"))
COMMIT = TaskCommit(number=1, turn_id="t1", author="Ana", at=AT, text=TURN.text, edits=(NODE,))
BY_HAND = TaskCommit(number=2, at=AT, edits=(GONE,))
NOTE = Note(
    intents=("inform",),
    by="p m",
    prompt_tokens=1,
    completion_tokens=2,
    dropped=("no",),
    judged_by="j m",
    judge_prompt_tokens=3,
    judge_completion_tokens=4,
    route="said to them",
)
TOLD = Feedback(channel="used", at=AT, session="s", asked="t1", turn_ids=("t1",), edges=(("f1", "likes"),))
PROMOTION = Promotion(
    promotion_id="p1_1",
    subject=ANA,
    relation="prefers",
    concept="drinks",
    label="drinks",
    score=0.9,
    support=(Support(turn_id="t1", fact_ids=("f1",)),),
    known_at=AT,
)
MAINTAINED = Maintained(
    known_at=AT,
    about=TURN,
    claims=[CLAIM],
    rules=[RULE],
    changes=[CHANGE],
    denials=1,
    extraction={"by": "p m"},
    note=NOTE,
    degraded="late",
    tasks=COMMIT,
    task_reading={"acts": []},
)
EXAMPLES = [
    MAINTAINED,
    Maintained(known_at=AT, about=TURN),
    Withdrawn(known_at=AT, target="t1", reason="wrong", changes=[CHANGE], tasks=BY_HAND),
    Distrusted(known_at=AT, target="Ana", reason="wrong", changes=[CHANGE], tasks=BY_HAND),
    Retracted(known_at=AT, target="f1", reason="wrong", changes=[CHANGE], tasks=BY_HAND),
    Identified(known_at=AT, claims=[CLAIM], reason="one person", changes=[CHANGE]),
    Undone(known_at=AT, undoes="maintained", target="t1", reason="undone", changes=[CHANGE], tasks=BY_HAND),
    Undone(known_at=AT, undoes="identified", claims=[CLAIM], reason="undone", changes=[CHANGE]),
    Accepted(known_at=AT, claims=[BY_HAND_CLAIM], changes=[CHANGE], beside=True, tasks=BY_HAND),
    Undone(known_at=AT, undoes="accepted", claims=[BY_HAND_CLAIM], reason="undone", changes=[CHANGE]),
    FeedbackGiven(known_at=AT, told=[TOLD]),
    Promoted(known_at=AT, promotions=[PROMOTION]),
    Promoted(known_at=AT, enabled="p1_1"),
    Demoted(known_at=AT, target="p1_1", reason="no", automatic=True),
    Tasked(known_at=AT, tasks=BY_HAND),
    Annotated(known_at=AT, target="t1", metadata={"topic": "tea"}),
    SetAside(known_at=AT, target="shared:acme/t1", reason="it is ten"),
]
STORED = (Path(__file__).parent / "events.jsonl").read_text(encoding="utf-8").splitlines()


def stored(event):
    return json.dumps({"kind": event.kind, "body": event.body()}, ensure_ascii=False)


def row_of(data, **columns):
    return Row(ordinal=2, known_at=AT, kind=data["kind"], body=data["body"], **columns)


def test_every_kind_has_an_example():
    assert {type(event) for event in EXAMPLES} == set(EVENTS.values())


@pytest.mark.parametrize(
    ("event", "line"), list(zip(EXAMPLES, STORED, strict=True)), ids=[one.kind for one in EXAMPLES]
)
def test_the_stored_form_of_an_event_stays_as_it_is(event, line):
    """Also the order of its keys: a log that is read and written again is the same, byte for byte."""
    assert stored(event) == line
    again = event_of(row_of(json.loads(line)), event.about)
    assert type(again) is type(event) and stored(again) == line
    assert not again.is_empty


def test_what_is_not_stored_takes_its_default():
    for kind in EVENTS:
        event = event_of(row_of({"kind": kind, "body": {}}))
        assert event.body() == {} and event.known_at == AT


def test_a_row_of_an_unknown_kind_changes_nothing():
    """Such as the mark of what was erased."""
    state, fresh = UserState(user="ana", dims=1), UserState(user="ana", dims=1)
    fold_row(state, row_of({"kind": "erased", "body": {}}))
    assert (state.ordinal, state.state) == (2, 2) and state.counts() == fresh.counts()


def test_events_forget_what_is_gone():
    fresh = UserState(user="ana", dims=1)
    assert FeedbackGiven(known_at=AT, told=[TOLD]).without({"t1"}, ["f1"]).is_empty
    assert FeedbackGiven(known_at=AT, told=[TOLD]).without({"t2"}, []).told[0].edges == ()
    assert Promoted(known_at=AT, promotions=[PROMOTION], enabled="p1_1").supported(fresh).is_empty
    assert Demoted(known_at=AT, target="p1_1").supported(fresh).is_empty
