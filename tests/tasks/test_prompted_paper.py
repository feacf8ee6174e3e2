"""The four conversations of the paper, as acts: what a model has to be able to say is said, and the state is right.

No model is asked: the acts are written by hand, as a careful reader would give them.
Source: Task Memory Engine, section 5 and appendix B.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from doxa.backends import load
from doxa.backends.parser import CachedParser
from doxa.core.tasks import TaskCommit
from doxa.memory import TaskForest, commit_from, commit_to
from doxa.tasks import Reading, Step, carry_out

AT = datetime(2025, 5, 5, 9, tzinfo=UTC)


def act(intent: str, *targets: str, quote: str = "", **fields: Any) -> dict[str, Any]:
    return {"intent": intent, "targets": list(targets), "quote": quote, "confidence": 0.95, **fields}


def task(name: str, number: int = 1) -> dict[str, Any]:
    return act("new_task", id=f"+{number}", name=name, under=None)


def slot(name: str, value: str | None, under: str, number: int = 1) -> dict[str, Any]:
    return act("new_slot", id=f"+{number}", name=name, value=value, under=under)


def items(*names: str, under: str, first: int = 5) -> dict[str, Any]:
    return act(
        "add_items", items=[{"id": f"+{first + at}", "name": name} for at, name in enumerate(names)], under=under
    )


def put(path: str, value: str) -> dict[str, Any]:
    return act("set_value", target=path, value=value)


Turn = tuple[str, list[dict[str, Any]]]
TRIP: list[Turn] = [
    ("Help me schedule a trip based on the information I provide.", [task("trip")]),
    ("destination: Set the destination to Seattle.", [slot("destination", "Seattle", "trip")]),
    ("start: I will depart from Chicago.", [slot("start", "Chicago", "trip")]),
    ("date: I want to leave on June 10th.", [slot("date", "June 10th", "trip")]),
    ("destination: Actually, make that San Francisco.", [put("trip/destination", "San Francisco")]),
    ("date: Change the departure date to June 15th.", [put("trip/date", "June 15th")]),
    ("destination: Sorry, go back to Seattle as originally planned.", [act("rollback", "trip/destination")]),
    ("hotel: Find a hotel near downtown.", [slot("hotel", "near downtown", "trip")]),
    ("start: By the way, wasn’t I departing from Boston?", [act("check", "trip/start")]),
    (
        "flight: Search for flights from Boston to San Francisco on June 10th.",
        [slot("flight", "from Boston to San Francisco on June 10th", "trip")],
    ),
    (
        "finalize: Can you generate a complete trip plan? What's my start, destination and start date?",
        [act("finalize", "trip")],
    ),
]
COOKING: list[Turn] = [
    ("To make soup, wash and chop celery.", [task("soup"), items("celery", under="+1")]),
    (
        "To make dumplings, chop tomatoes and peel & chop shrimp.",
        [task("dumplings"), items("tomatoes", "shrimp", under="+1")],
    ),
    ("Also use celery in dumplings.", [act("move", "soup/celery", under="dumplings", stays=True)]),
    (
        "Wait! There's no celery in the refrigerator at all. Let's all use mushrooms instead.",
        [act("replace", "soup/celery", id="+1", name="mushrooms", quote="Let's all use mushrooms instead")],
    ),
    ("Can you list all ingredients used in the soup?", [act("check", "soup")]),
    ("Did I ever say to remove celery from the dumplings?", [act("check", "~soup/celery")]),
    ("I think celery was never part of the soup. Can you double-check?", [act("check", "soup")]),
]
MEETING: list[Turn] = [
    (
        "Schedule a team meeting on Thursday at 2 PM with Alice, Bob, and Carol.",
        [
            task("team meeting"),
            slot("day", "Thursday", "+1", 2),
            slot("time", "2 PM", "+1", 3),
            slot("participants", None, "+1", 4),
            items("Alice", "Bob", "Carol", under="+4"),
        ],
    ),
    ("Carol can’t make it at 2 PM. Move it to 4 PM.", [put("team meeting/time", "4 PM")]),
    (
        "Actually, Bob is only free before 3. Split it into two parts—Bob from 2 to 2:45, the rest at 4.",
        [
            act("split", target="team meeting", parts=[{"id": "+1", "name": "Bob"}, {"id": "+2", "name": "rest"}]),
            slot("time", "2 to 2:45", "+1", 3),
            slot("time", "4", "+2", 4),
            act("move", "team meeting/participants/Bob", under="+1", stays=True),
            act("move", "team meeting/participants/Alice", "team meeting/participants/Carol", under="+2", stays=True),
        ],
    ),
    (
        "On second thought, just make it a single 3 PM meeting with everyone.",
        [act("merge", "Bob", "rest"), put("~team meeting/time", "3 PM")],
    ),
    ("Why does it still show two sessions?", [act("check", "team meeting")]),
]
CART: list[Turn] = [
    (
        "Add two iPhone cases (black and clear), a charger, and a MacBook stand to my cart.",
        [
            task("cart"),
            items("black iPhone case", "clear iPhone case", "charger", "MacBook stand", under="+1"),
        ],
    ),
    ("Remove the clear case and charger.", [act("remove", "cart/clear iPhone case", "cart/charger")]),
    (
        "Actually, keep the charger, and remove the black case instead.",
        [act("rollback", "~cart/charger"), act("remove", "cart/black iPhone case")],
    ),
    ("Now I’m not sure—what’s currently in my cart?", [act("check", "cart")]),
    (
        "Can you reset it to just the MacBook stand and charger?",
        [act("reset", "cart/MacBook stand", "cart/charger", under="cart")],
    ),
]


@pytest.fixture(scope="module")
def parser() -> Iterator[Any]:
    parser = CachedParser(load("parser", "builtin"))
    yield parser
    parser.close()


def played(parser: Any, turns: list[Turn]) -> tuple[TaskForest, list[Step]]:
    """Return the forest after some turns, and what each of them did."""
    forest, steps = TaskForest(), list[Step]()
    for text, acts in turns:
        reading = Reading(acts=tuple({**one, "quote": one["quote"] or text} for one in acts), by="trim/2 by hand")
        done = carry_out(reading, text, forest, parser, AT)
        assert done.step is not None, f"{text} {done.refused}"
        commit = TaskCommit(
            number=forest.next_number, at=AT, text=text, intents=done.step.intents, edits=done.step.edits,
            reply=done.step.reply, focus=done.step.focus, undoes=done.step.undoes,
        )  # fmt: skip
        forest.apply(commit_from(commit_to(commit), forest))
        steps.append(done.step)
    return forest, steps


def test_the_trip(parser: Any):
    forest, steps = played(parser, TRIP)
    assert forest.state() == {
        "trip/destination": "Seattle",
        "trip/start": "Chicago",
        "trip/date": "June 15th",
        "trip/hotel": "near downtown",
        "trip/flight": "from Boston to San Francisco on June 10th",
    }
    assert forest.history("trip/destination") == ["Seattle", "San Francisco", "Seattle"]
    assert "Chicago" in steps[8].reply and not steps[8].edits
    assert all(value in steps[10].reply for value in ("Seattle", "Chicago", "June 15th"))


def test_cooking(parser: Any):
    forest, steps = played(parser, COOKING)
    assert forest.state() == {
        "soup": ["mushrooms"],
        "dumplings": ["mushrooms", "tomatoes", "shrimp"],
    } or forest.state() == {
        "soup": ["mushrooms"],
        "dumplings": ["tomatoes", "shrimp", "mushrooms"],
    }
    assert "mushrooms" in steps[4].reply and "celery" not in steps[4].reply
    assert "celery" in steps[6].reply.lower() and not any(step.edits for step in steps[4:])


def test_the_meeting(parser: Any):
    parts, _ = played(parser, MEETING[:3])
    assert parts.state() == {
        "team meeting/day": "Thursday",
        "Bob/time": "2 to 2:45",
        "Bob/participants": ["Bob"],
        "rest/time": "4 pm",
        "rest/participants": ["Alice", "Carol"],
    }
    forest, steps = played(parser, MEETING)
    assert forest.state() == {
        "team meeting/day": "Thursday",
        "team meeting/time": "3 PM",
        "team meeting/participants": ["Alice", "Bob", "Carol"],
    }
    assert not steps[4].edits


def test_the_cart(parser: Any):
    forest, steps = played(parser, CART)
    assert sorted(forest.state()["cart"]) == ["MacBook stand", "charger"]
    assert "charger" in steps[3].reply and "clear" not in steps[3].reply and steps[4].intents == ("reset",)
