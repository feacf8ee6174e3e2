"""Turns read by a language model: what it is shown, what of its acts is carried out, and what is refused.

No model is asked here: a scripted one stands in for it, and most tests begin with what a model would have said.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.tasks import TaskCommit, TaskStatus
from doxa.memory import TaskForest, commit_from, commit_to
from doxa.tasks import Reading, Step, carry_out, material_of, read_with_model, take, unsure
from doxa.tasks.prompted.acts import ACTS
from doxa.tasks.prompted.material import MOST_SHOWN, places_of
from doxa.tasks.prompted.reading import CHANGING, INTENTS, SAYING

AT = datetime(2026, 11, 22, 12, tzinfo=UTC)


class Talk:
    """A conversation whose turns a model has read; every commit goes through its stored form."""

    def __init__(self, parser: Any) -> None:
        self.parser, self.forest = parser, TaskForest()

    def __call__(self, text: str, *acts: dict[str, Any], **more: Any) -> Step:
        """Carry out acts, whose quote is the turn and which are sure unless they say otherwise."""
        done = self.read(text, *acts, **more)
        assert done.step is not None, done.refused
        self.commit(text, done.step)
        return done.step

    def read(self, text: str, *acts: dict[str, Any], **more: Any) -> Any:
        full = tuple({"quote": text, "confidence": 0.9, **act} for act in acts)
        stored = Reading.from_data(Reading(acts=full, by="trim/1 scripted").to_data())
        assert stored is not None
        return carry_out(stored, text, self.forest, self.parser, AT, **more)

    def refused(self, text: str, *acts: dict[str, Any]) -> str:
        """Return why acts are not carried out."""
        before = self.forest.state()
        done = self.read(text, *acts)
        assert done.step is None and self.forest.state() == before
        return str(done.refused)

    def commit(self, text: str, step: Step) -> None:
        commit = TaskCommit(
            number=self.forest.next_number, at=AT, text=text, intents=step.intents, edits=step.edits, reply=step.reply,
            focus=step.focus, undoes=step.undoes, asked=step.asked, by=step.by,
        )  # fmt: skip
        self.forest.apply(commit_from(json.loads(json.dumps(commit_to(commit))), self.forest))

    @property
    def state(self) -> dict[str, Any]:
        return self.forest.state()


def act(intent: str, *targets: str, **fields: Any) -> dict[str, Any]:
    return {"intent": intent, **({"targets": list(targets)} if targets else {}), **fields}


def new(*names: str, under: str | None = None, **fields: Any) -> dict[str, Any]:
    return act("new", names=list(names), under=under, **fields)


TIME, DAY, CREW = "budget review/time", "budget review/day", "budget review/participants"


@pytest.fixture
def talk(parser: Any) -> Talk:
    talk = Talk(parser)
    talk(
        "Schedule a budget review on Monday at 9 am with Ines and Omar.",
        new("budget review", kind="task"),
        new("time", under="+1", value="9 am"),
        new("day", under="+1", value="Monday"),
        new("participants", under="+1", kind="slot"),
        new("Ines", "Omar", under="+4", kind="item"),
    )
    talk(
        "For the camping trip we pack a tent, a stove and a lamp.",
        new("camping trip", kind="task"),
        new("tent", "stove", "lamp", under="+1"),
    )
    return talk


# -- acts


def test_what_is_new_stands_where_the_acts_put_it(talk: Talk):
    assert talk.state == {
        TIME: "9 am",
        DAY: "Monday",
        CREW: ["Ines", "Omar"],
        "camping trip": ["tent", "stove", "lamp"],
    }
    assert talk.forest.commits[0].by == "trim/1 scripted" and talk.forest.commits[0].intents == ("new",)


def test_a_shift_is_worked_out_here_and_not_by_the_model(talk: Talk):
    step = talk("Make it two hours later.", act("update", TIME, value="two hours later"))
    assert talk.state[TIME] == "11 am" and step.reply == "Budget review time is now 11 am."


def test_a_value_that_the_model_worked_out_is_taken_where_it_is_right(talk: Talk):
    assert "value" in talk.refused("Make it two hours later.", act("update", TIME, value="noon"))
    talk("Make it two hours later.", act("update", TIME, value="11 am"))
    assert talk.state[TIME] == "11 am"


def test_a_rollback_takes_the_value_from_the_history(talk: Talk):
    talk("Put it on Friday.", act("update", DAY, value="Friday"))
    assert "never was" in talk.refused("Back to the day we had.", act("rollback", DAY, value="Tuesday"))
    talk("Back to the day we had.", act("rollback", DAY))
    assert talk.state[DAY] == "Monday"


def test_an_undo_is_done_by_the_history(talk: Talk):
    talk("Put it on Friday.", act("update", DAY, value="Friday"))
    step = talk("Undo that.", act("undo", value="Sunday"))
    assert talk.state[DAY] == "Monday" and step.undoes == 3
    assert "one change back" in talk.refused("Undo that, and that.", act("undo"), act("undo"))


def test_what_was_taken_out_comes_back(talk: Talk):
    talk("Drop the stove.", act("remove", "camping trip/stove"))
    assert talk.state["camping trip"] == ["tent", "lamp"]
    talk("The stove is back.", act("rollback", "~camping trip/stove"))
    assert talk.state["camping trip"] == ["tent", "stove", "lamp"]
    talk("Just the lamp.", act("reset", "camping trip/lamp", under="camping trip"))
    talk("Pack the stove again.", new("stove", under="camping trip"))
    assert talk.state["camping trip"] == ["stove", "lamp"]
    assert sum(node.name == "stove" for node in talk.forest.nodes.values()) == 1


def test_something_takes_the_place_of_something_everywhere_or_in_one_list(talk: Talk):
    talk("Put the tent on the review list too.", act("new", "camping trip/tent", under="budget review"))
    talk("Take a tarp for the trip instead.", act("replace", "camping trip/tent", names=["tarp"], under="camping trip"))
    assert (talk.state["budget review"], talk.state["camping trip"]) == (["tent"], ["tarp", "stove", "lamp"])


def test_a_task_is_divided_and_made_one_again(talk: Talk):
    talk(
        "Split the review into costs and plans; Omar does the costs.",
        act("split", "budget review", names=["costs", "plans"]),
        act("new", f"{CREW}/Omar", under="+1"),
    )
    assert talk.state["costs/participants"] == ["Omar"]
    talk("Make it one again.", act("merge", "costs", "plans"))
    assert talk.state[CREW] == ["Ines", "Omar"] and "costs/participants" not in talk.state


def test_what_follows_something_moves_with_it(talk: Talk):
    talk(
        "The dinner is always the day after the review.",
        new("dinner", kind="task"),
        new("day", under="+1", kind="slot", follows=DAY, value="the day after"),
    )
    step = talk("The review is on Wednesday.", act("update", "budget review", value="Wednesday"))
    assert talk.state["dinner/day"] == "Thursday" and "since budget review day moved" in step.reply


def test_an_instruction_waits_for_its_condition(talk: Talk):
    held = new("pack the tarp", condition="it rains", under="camping trip")
    assert "it rains" in talk("If it rains, pack the tarp.", held).reply
    assert "tarp" not in str(talk.state)
    (waiting,) = [path for path, key in places_of(talk.forest).items() if talk.forest.node(key).waits]
    talk("It rains.", act("update", waiting, holds=True))
    assert "tarp" in talk.state["camping trip"]


def test_what_needs_something_waits_for_it(talk: Talk):
    talk("The trip needs the review to be done.", act("update", "camping trip", needs=["budget review"]))
    talk("Drop the review.", act("remove", "budget review"))
    (trip,) = [node for node in talk.forest.nodes.values() if node.name == "camping trip"]
    assert trip.status is TaskStatus.BLOCKED


def test_a_loop_has_the_bound_that_was_said(talk: Talk):
    write = new("Write and check", kind="loop", value="three times")
    talk("Write and check it three times at most.", write)
    (loop,) = [node for node in talk.forest.nodes.values() if node.bound is not None]
    assert loop.bound == 3
    assert "no bound" in talk.refused("Write and check it.", write)


def test_a_question_in_a_turn_is_answered_from_the_state_after_its_changes(talk: Talk):
    step = talk(
        "Move it to Friday. Which day is the budget review?",
        act("update", DAY, value="Friday", quote="Move it to Friday"),
        act("check", DAY, quote="Which day is the budget review?"),
    )
    assert step.intents == ("update", "check") and step.reply.count("Friday") == 2


@pytest.mark.parametrize("intent", SAYING)
def test_what_only_says_something_carries_no_edits(talk: Talk, intent: str):
    """Whatever else such an act holds."""
    loaded = act(intent, DAY, value="Friday", names=["Friday"], status="done", under="camping trip", needs=[TIME])
    step = talk("The full summary on Friday", loaded)
    assert step.edits == () and talk.state[DAY] == "Monday"


def test_a_part_of_a_value_may_be_that_of_the_old_one(talk: Talk):
    talk("We meet in Harbour Lane 18.", new("address", under="budget review", value="Harbour Lane 18"))
    talk("The house number is 81.", act("update", "budget review/address", value="Harbour Lane 81"))
    assert talk.state["budget review/address"] == "Harbour Lane 81"
    assert "a value" in talk.refused("It is 81.", act("update", "budget review/address", value="Mill Lane 81"))


def test_a_task_may_be_called_by_another_form_of_a_word_that_was_said(talk: Talk):
    """And an item may not, since that is a thing and no doing."""
    talk("I am applying to the museum.", new("application", kind="task"))
    assert "application" in [talk.forest.node(root).name for root in talk.forest.roots()]
    assert "a name" in talk.refused("I am applying to the museum.", new("apartment", kind="task"))
    assert "a name" in talk.refused("We are packing.", new("package", under="camping trip", kind="item"))


def test_a_question_is_answered_with_what_the_model_says_it_is_about(talk: Talk):
    """The value comes from the state, whatever the model may have thought."""
    step = talk("Is that before the holidays?", act("check", DAY, value="Sunday"))
    assert "Budget review day is Monday." in step.reply and "Sunday" not in step.reply


# -- what is refused


@pytest.mark.parametrize(
    ("text", "wrong", "why"),
    [
        ("Wasn't it on Tuesday?", act("update", DAY, value="Tuesday"), "a question changes nothing"),
        ("When is the review?", act("undo"), "a question changes nothing"),
        ("Put it on Friday.", act("update", DAY, value="Thursday"), "a value is neither"),
        ("Put it on Friday.", act("update", DAY, value=""), "a value is missing"),
        ("Put it on Friday.", act("update", DAY, value="Friday", quote="on Sunday"), "its quote is not"),
        ("Put it on Friday.", act("update", "budget review/colour", value="Friday"), "is not there"),
        ("Put it on Friday.", act("update", "+1", value="Friday"), "what no act before it adds"),
        ("Put it on Friday.", act("update", value="Friday"), "names no task"),
        ("Put it on Friday.", act("update", DAY), "what changes"),
        ("Later, please.", act("update", DAY, value="two days later"), "an amount is not in the turn"),
        ("Two days later.", act("update", CREW, value="two days later"), "nothing that could be moved"),
        ("Pack a kettle.", new("boat", under="camping trip"), "a name is neither"),
        ("Pack a kettle.", new(" . ", under="camping trip"), "a name is missing"),
        ("Pack a kettle.", new("kettle", kind="item"), "which list"),
        ("Pack a kettle.", new("kettle " * 60, under="camping trip"), "longer than"),
        ("Pack a kettle.", act("new"), "adds nothing"),
        ("Pack it.", act("new", "camping trip/tent"), "where to put"),
        ("The trip is under the tent.", act("update", "camping trip", under="camping trip/tent"), "TaskCycleError"),
        ("The tent needs the tent.", act("update", "camping trip/tent", needs=["camping trip/tent"]), "TaskCycleError"),
        ("The tent is the tent.", act("replace", "camping trip/tent", names=["tents"]), "place of itself"),
        ("Swap the tent.", act("replace", "camping trip/tent"), "takes the place of what"),
        ("The tent is out there.", act("remove", "camping trip/tent", under="budget review"), "not in that list"),
        ("Drop it.", act("remove"), "names no task"),
        ("Back to it.", act("rollback", TIME), "no earlier value"),
        ("Only Ines.", act("reset", f"{CREW}/Ines", under="camping trip"), "not of that list"),
        ("Clear it.", act("reset"), "which list"),
        ("Split it.", act("split", "budget review", names=["budget"]), "into which parts"),
        ("One of it.", act("merge", "budget review"), "made one"),
        ("It rains.", act("update", "budget review", holds=True), "waits for nothing"),
        ("If so, go.", new("go home", condition="so"), "not in the words"),
        ("A day after it.", new("x", under="budget review", kind="slot", follows=DAY, value="2 days after"), "a name"),
    ],
)
def test_what_does_not_hold_is_refused_whole(talk: Talk, text: str, wrong: dict[str, Any], why: str):
    """An act before it that would hold is not carried out either, and the reason repeats no word of the model's."""
    right = act("update", TIME, value="9 am", quote="")
    reason = talk.refused(text, wrong)
    assert reason.startswith(f"act 1 ({wrong['intent']}): ") and why in reason
    said = {**right, "quote": text}
    assert talk.refused(text, said, wrong).startswith(("act 2", "act 1 (update): a question"))


def test_a_change_that_the_model_is_not_sure_of_is_asked_back(talk: Talk):
    step = talk("Maybe put the review on Friday.", act("update", DAY, value="Friday", confidence=0.3))
    assert step.edits == () and step.asked == step.reply and "Budget review day is now Friday." in step.asked
    assert (talk.state[DAY], step.confidence) == ("Monday", 0.3)
    assert talk("Yes.", act("update", DAY, value="Friday")).edits and talk.state[DAY] == "Friday"


@pytest.mark.parametrize("text", ["How about Friday?", "Shall we say Friday?", "Why don't we do it on Friday?"])
def test_a_change_that_a_question_proposes_is_asked_back(talk: Talk, text: str):
    """However sure the model is; a yes to it may take its words."""
    step = talk(text, act("update", DAY, value="Friday", confidence=1.0))
    assert step.edits == () and "Budget review day is now Friday." in step.asked and talk.state[DAY] == "Monday"
    assert talk("Yes, do.", act("update", DAY, value="Friday")).edits and talk.state[DAY] == "Friday"


def test_a_name_comes_without_its_article(talk: Talk):
    talk("Pack the kettle.", new("the kettle", under="camping trip"))
    assert talk.state["camping trip"][-1] == "kettle"


def test_how_sure_it_has_to_be_is_a_setting(talk: Talk):
    vague = act("update", DAY, value="Friday", confidence=0.3)
    assert talk("Maybe put the review on Friday.", vague, doubted=0.2).edits


def test_an_unsure_question_asks_nothing_back(talk: Talk):
    step = talk("Which day is it?", act("check", DAY, confidence=0.1))
    assert not step.asked and "Monday" in step.reply


def test_a_turn_may_be_read_as_nothing(talk: Talk):
    step = talk("Thanks.")
    assert (step.intents, step.edits, step.reply) == (("chat",), (), "Noted.")


# -- what is shown, and asked


def shown(talk: Talk, text: str, budget: int = 2000) -> Any:
    return material_of(
        text, talk.forest, at=AT, speaker="Ana", said_before="", budget=budget, count_tokens=lambda one: len(one) // 4
    )


def test_a_model_is_shown_the_tasks_with_ids_and_what_was_said_last(talk: Talk):
    talk("Put it on Friday.", act("update", DAY, value="Friday"))
    talk("Drop the stove.", act("remove", "camping trip/stove"))
    material = shown(talk, "And back.")
    assert material.data["tasks"] == [
        "n1 task: budget review",
        "  n2 slot: time = 9 am",
        "  n3 slot: day = Friday; was Monday",
        "  n4 slot: participants",
        "    n5 item: Ines",
        "    n6 item: Omar",
        "n7 task: camping trip",
        "  n8 item: tent",
        "  n10 item: lamp",
    ]
    assert material.data["gone"] == ["n9 item: stove; removed from camping trip"]
    assert material.data["before"] == ["Drop the stove.", "Stove is out."]
    assert material.places["n3"] == DAY and material.places["n9"] == "~camping trip/stove"


def test_what_is_shown_keeps_to_the_budget_and_what_the_turn_names_comes_first(parser: Any):
    talk = Talk(parser)
    names = [f"thing{number}" for number in range(300)]
    for start in range(0, 300, 20):
        part = names[start : start + 20]
        talk(f"Plan list{start} with {', '.join(part)}.", new(f"list{start}", kind="task"), new(*part, under="+1"))
    wide, narrow = shown(talk, "Drop thing155.", 100_000), shown(talk, "Drop thing155.", 200)
    assert len(wide.data["tasks"]) <= MOST_SHOWN and len(narrow.text()) // 4 <= 260
    for material in (wide, narrow):
        assert any("thing155" in line for line in material.data["tasks"])
    assert shown(talk, "word " * 400, 200) is None


def test_a_model_can_name_only_what_it_is_shown(talk: Talk):
    """The schema says so; an answer that names anything else is asked for again, and then there is no reading."""
    model = ScriptedModel([json.dumps({"acts": [{**act("remove", "n99"), "quote": "Drop it", "confidence": 1}]})] * 2)
    found = read_with_model(model, shown(talk, "Drop it."), max_tokens=500)
    assert found.acts == () and "asked twice" in found.failed and found.calls == 2
    assert "n99" in model.requests[1].messages[-1].content or "enum" in model.requests[1].messages[-1].content


def test_what_a_model_says_is_kept_in_paths(talk: Talk):
    said = [
        {**act("update", "n3", value="Friday", status=None), "quote": "on Friday", "confidence": 0.9},
        {**new("kettle", under="n7", needs=["n8"]), "quote": "pack a kettle", "confidence": 0.8},
    ]
    model = ScriptedModel([json.dumps({"acts": said})])
    found = read_with_model(model, shown(talk, "Do it on Friday, pack a kettle."), max_tokens=500)
    assert (found.by, found.calls) == ("trim/1 scripted", 1) and found.prompt_tokens > 0
    assert found.acts[0] == {
        "intent": "update", "targets": [DAY], "value": "Friday", "quote": "on Friday", "confidence": 0.9,
    }  # fmt: skip
    assert found.acts[1]["under"] == "camping trip" and found.acts[1]["needs"] == ["camping trip/tent"]
    assert Reading.from_data(json.loads(json.dumps(found.to_data()))) == found
    assert Reading.from_data({}) is None


def test_a_failed_reading_is_refused_with_its_reason(talk: Talk):
    done = carry_out(Reading(failed="no server"), "Drop it.", talk.forest, talk.parser, AT)
    assert (done.step, done.refused) == (None, "no server")


def test_the_grammar_is_unsure_of_what_it_makes_nothing_of():
    sure = Step(intents=("update",), confidence=0.9)
    assert not unsure(sure) and unsure(sure, sure=0.95)
    assert unsure(Step(intents=("chat",))) and unsure(Step(intents=("update",), asked="Which one?"))


# -- laws

TEXTS = [
    "Schedule a budget review on Monday at 9 am with Ines and Omar.",
    "Put it on Friday, two hours later, and pack a kettle.",
    "Drop the stove. Which day is the review?",
    "Undo that.",
    "If it rains, pack the tarp for the camping trip.",
]
QUESTIONS = ["Which day is the review?", "Wasn't it on Friday at 4 pm?", "Why is the kettle on the list?"]
WORDS = st.sampled_from(
    ["", "kettle", "tarp", "stove", "review", "Friday", "two hours later", "4 pm", "9 am", "Zanzibar", "three times",
     "x" * 300]
)  # fmt: skip
PLACES = st.sampled_from(
    [TIME, DAY, CREW, f"{CREW}/Ines", "budget review", "camping trip", "camping trip/tent", "~camping trip/stove",
     "camping trip/stove", "+1", "+2", "+9", "+x", "nowhere", "", "~"]
)  # fmt: skip


@st.composite
def garbage(draw: Any, text: str) -> dict[str, Any]:
    """Draw an act that fits the schema in form, and need not fit anything else."""
    quote = draw(st.sampled_from([text, text, *text.split(), "elsewhere"]))
    found: dict[str, Any] = {"intent": draw(st.sampled_from(INTENTS)), "quote": quote}
    found["confidence"] = draw(st.floats(0, 1))
    fields: dict[str, Any] = {
        "targets": st.lists(PLACES, max_size=3),
        "under": PLACES,
        "names": st.lists(WORDS, max_size=3),
        "value": WORDS,
        "kind": st.sampled_from(["task", "item", "slot", "loop"]),
        "status": st.sampled_from(["done", "active"]),
        "needs": st.lists(PLACES, max_size=2),
        "follows": PLACES,
        "condition": WORDS,
        "holds": st.booleans(),
    }
    for name in draw(st.sets(st.sampled_from(sorted(fields)), max_size=5)):
        found[name] = draw(fields[name])
    return found


def told(talk: Talk, text: str, acts: list[dict[str, Any]]) -> bool:
    """Tell a turn as a model read it, hold the laws against what came of it, and say whether it changed anything."""
    before = talk.state
    done = talk.read(text, *acts)
    assert talk.state == before, "the forest that is read over was changed"
    if done.step is None:
        assert done.refused
        return False
    if text in QUESTIONS or all(one["intent"] in SAYING for one in acts):
        assert done.step.edits == ()
    talk.commit(text, done.step)
    forest = talk.forest
    for key, node in forest.nodes.items():
        assert key not in forest.ancestors(key) and all(parent in forest.nodes for parent in node.parents)
        assert key not in needed(forest, key), "it waits for itself"
        assert "Zanzibar" not in node.name and (node.value is None or "Zanzibar" not in node.value.text)
        assert all(forest.get(one.on) is not None for one in node.depends if one.on)
    assert TaskForest(forest.commits).state() == forest.state()
    return bool(done.step.edits)


def needed(forest: TaskForest, key: str) -> set[str]:
    """Return all that a node waits for, directly or not."""
    found: set[str] = set()
    waiting = [key]
    while waiting:
        more = {one.on for one in forest.node(waiting.pop()).depends if one.on} - found
        found |= more
        waiting += more
    return found


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_model_says_the_forest_stays_sound(parser: Any, data: Any):
    """Garbage that fits the schema: no circle, no orphan, no value that nobody said, nothing for a question."""
    talk = Talk(parser)
    talk(TEXTS[0], new("budget review", kind="task"), new("day", under="+1", value="Monday"))
    talk("We pack a tent and a stove for the camping trip.", new("camping trip", kind="task"), new("tent", under="+1"))
    for _ in range(3):
        text = data.draw(st.sampled_from(TEXTS + QUESTIONS))
        told(talk, text, data.draw(st.lists(garbage(text), max_size=3)))


FIELDS = {
    "new": ("names", "under", "value", "kind", "needs", "follows", "targets"),
    "update": ("targets", "value", "status", "under", "names", "needs", "follows"),
    "replace": ("targets", "names", "under"),
    "split": ("targets", "names"),
    "reset": ("under", "targets"),
    "remove": ("targets", "under"),
}
OFTEN = {"new": 3, "update": 2, "remove": 2, "replace": 1, "reset": 1, "split": 2}
"""How many of these fields, the first ones, an act always has."""


def plausible(chance: random.Random, talk: Talk, text: str) -> dict[str, Any]:
    """Return an act that names what is there, in words of the turn: wrong, and hard to tell from a right one."""
    intent = chance.choice((*CHANGING, "new", "update"))
    places = [*places_of(talk.forest), "+1"]
    words = [*text.rstrip(".").split(), "two hours later", "4 pm", "Zanzibar"]
    fields = FIELDS.get(intent, ("targets", "value"))
    least = OFTEN.get(intent, 1)
    taken = (*fields[:least], *(name for name in fields[least:] if chance.random() < 0.2))
    drawn: dict[str, Any] = {
        "targets": [chance.choice(places) for _ in range(1 + (intent in ("merge", "reset")) + (chance.random() < 0.2))],
        "under": chance.choice([None, *places]),
        "names": [chance.choice(words) for _ in range(2 if intent == "split" else 1)],
        "value": chance.choice(words),
        "kind": chance.choice(["task", "item", "slot"]),
        "status": chance.choice(["done", "active"]),
        "needs": [chance.choice(places)],
        "follows": chance.choice(places),
    }
    if intent == "update" and "names" in taken:
        taken = tuple(name for name in taken if name != "value")
    return {"intent": intent, "quote": text, "confidence": 0.9, **{name: drawn[name] for name in taken}}


@pytest.mark.parametrize("seed", range(6))
def test_wrong_but_plausible_acts_leave_the_forest_sound(parser: Any, seed: int):
    """Scripts of 500 turns with acts of which one in ten or more holds."""
    chance, talk = random.Random(seed), Talk(parser)
    talk(TEXTS[0], new("budget review", kind="task"), new("time", under="+1", value="9 am"))
    talk("We pack a tent and a stove for the camping trip.", new("camping trip", kind="task"), new("tent", under="+1"))
    changed = 0
    for _ in range(500):
        text = chance.choice(TEXTS + QUESTIONS[:1])
        changed += told(talk, text, [plausible(chance, talk, text) for _ in range(chance.choice((1, 1, 2)))])
    assert changed >= 40, "hardly any act was carried out, so this shows nothing"


def test_every_changing_intent_has_its_act():
    assert set(ACTS) == set(CHANGING) and not set(CHANGING) & set(SAYING)


def test_the_prompted_twin_takes_what_the_grammar_has_told(talk: Talk):
    """Turns of both kinds over one forest."""
    step = take("Move the budget review to Friday.", talk.forest, talk.parser, AT)
    talk.commit("Move the budget review to Friday.", step)
    assert talk.state[DAY] == "Friday" and step.by == ""
    talk("Back to the day before.", act("rollback", DAY))
    assert talk.state[DAY] == "Monday"
