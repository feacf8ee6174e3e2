"""Baselines of the task benchmark that ask a language model: what they are shown, and what is read of their talk."""

import json
from contextlib import contextmanager

import pytest

from doxa.backends.llm import Request, posed
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config
from doxa.core.errors import BackendError, BackendUnavailableError, ConfigError
from doxa_bench.models import GIVE_UP_AFTER, Asked
from doxa_bench.tasks import read_scenarios, run_scenarios, score
from doxa_bench.tasks.baselines import BASELINES, STEPS, Conversation
from doxa_bench.tasks.systems import SYSTEMS

LUNCH = {
    "id": "s1",
    "domain": "lunch",
    "slot_aliases": {"lunch time": ["time"]},
    "turns": ["Lunch at noon with Ana and Ben.", "Make it 2 pm."],
    "expect": [
        {"after": 1, "intent": "new", "state": {"lunch time": "noon", "guests": ["Ana", "Ben"]}},
        {
            "after": 2,
            "intent": "update",
            "state": {"lunch time": "2 pm", "guests": ["Ana", "Ben"]},
            "absent": ["noon"],
            "reply_contains": [["2 pm"]],
        },
    ],
}


def held(time, *intents, guests=("Ana", "Ben")):
    slots = [{"slot": "lunch time", "values": [time]}, {"slot": "guests", "values": list(guests)}]
    return json.dumps({"slots": slots, "intents": list(intents)})


def step(action, said):
    return json.dumps({"thought": "so far so good", "action": action, "input": said})


FLAT = [json.dumps({"reply": "Lunch is at noon."}), held("noon", "new"), json.dumps({"reply": "Now 2 pm."})]
COT = [
    json.dumps({"thoughts": "A new plan.", "reply": "Lunch is at noon."}),
    held("noon", "new"),
    json.dumps({"thoughts": "It was noon.", "reply": "Now 2 pm."}),
]
REACT = [
    step("reply", "Lunch is at noon."),
    held("noon", "new"),
    step("look", "noon"),
    step("note", "time = 2 pm"),
    step("reply", "Now 2 pm."),
]


@pytest.fixture
def lunch(tmp_path):
    path = tmp_path / "lunch.jsonl"
    path.write_text(json.dumps(LUNCH) + "\n")
    return path


@pytest.fixture
def scenario(lunch):
    return read_scenarios(lunch)[0]


def play(name, scenario, replies):
    model = ScriptedModel(replies)
    system = Conversation(Asked(model), BASELINES[name])
    return system.play(scenario), [[one.content for one in request.messages] for request in model.requests], system


@pytest.mark.parametrize(("name", "replies"), [("base-flat", FLAT), ("cot", COT), ("react", REACT)])
def test_a_baseline_that_replies_rightly_has_no_violation_and_sees_all_that_was_said(scenario, name, replies):
    played, asked, system = play(name, scenario, [*replies, held("2 pm", "update")])
    assert score(scenario, played).violations == () and [turn.reply for turn in played] == [
        "Lunch is at noon.",
        "Now 2 pm.",
    ]
    first, last = asked[0], asked[2]
    assert first[1:] == [LUNCH["turns"][0]]
    assert last[1] == LUNCH["turns"][0] and "Lunch is at noon." in last[2] and last[3] == LUNCH["turns"][1]
    assert played[0].tokens < played[1].tokens and system.models == {"llm": "scripted"}
    assert system.calls["made"] == len(asked) and system.calls["failed"] == 0


def test_the_reading_names_the_slots_and_stays_out_of_the_conversation(scenario):
    played, asked, _ = play("base-flat", scenario, [*FLAT, held("2 pm", "update")])
    material = json.loads(asked[1][1])
    assert material["slots"] == [{"slot": "guests", "set": True}, {"slot": "lunch time", "set": False}]
    assert material["conversation"][-1] == {"who": "assistant", "says": "Lunch is at noon."}
    assert not any("lunch time" in text for text in asked[2])
    assert played[0].state == {"lunch time": "noon", "guests": ["Ana", "Ben"]}


def test_what_the_talk_has_wrong_counts_against_the_baseline(scenario):
    """A stale value, and a change that was taken for a question."""
    played, _, _ = play("base-flat", scenario, [*FLAT[:2], json.dumps({"reply": "At noon."}), held("noon", "check")])
    kinds = {one.kind for one in score(scenario, played).violations}
    assert kinds == {"intent", "state", "absent", "reply_contains"}


def test_a_chain_of_thought_and_the_steps_of_react_stay_in_the_conversation(scenario):
    _, asked, _ = play("cot", scenario, [*COT, held("2 pm", "update")])
    assert asked[2][2] == "A new plan.\nLunch is at noon."
    _, asked, _ = play("react", scenario, [*REACT, held("2 pm", "update")])
    assert asked[2][2] == "Thought 1: so far so good\nAction 1: reply[Lunch is at noon.]"
    assert asked[3][-2].endswith(
        "Action 1: look[noon]\nObservation 1: user: Lunch at noon with Ana and Ben. / "
        "assistant: Action 1: reply[Lunch is at noon.]"
    )
    assert asked[4][-2].endswith("Action 2: note[time = 2 pm]\nObservation 2: Noted.") and asked[4][-1] == "Step 3."


def test_react_can_only_reply_in_its_last_step(scenario):
    wandering = [step("look", "moonlight")] * (STEPS - 1)
    model = ScriptedModel([*wandering, step("reply", "Noon."), held("noon", "new"), *REACT[2:], held("2 pm", "update")])
    played = Conversation(Asked(model), BASELINES["react"]).play(scenario)
    allowed = [request.schema["properties"]["action"]["enum"] for request in model.requests[:STEPS]]
    assert allowed == [["note", "look", "reply"]] * (STEPS - 1) + [["reply"]] and played[0].reply == "Noon."
    assert "No earlier line has these words." in model.requests[1].messages[-2].content


@pytest.mark.parametrize("name", BASELINES)
def test_a_call_that_fails_is_counted_and_what_was_read_before_stays(scenario, name):
    """No reply then, and something that is not empty in the conversation."""
    first = {"base-flat": FLAT, "cot": COT, "react": REACT}[name][:2]
    played, asked, system = play(name, scenario, [*first, BackendError("away"), BackendError("away")])
    assert played[1].reply == "" and played[1].state == played[0].state and played[1].intents == ()
    assert system.calls["failed"] == 2 and all(text for texts in asked for text in texts)
    assert json.loads(asked[-1][-1])["conversation"][-1]["says"] == "(no reply)"


def test_a_model_that_is_away_ends_the_run():
    asked = Asked(ScriptedModel([BackendError("away")] * GIVE_UP_AFTER))
    assert [asked.text(posed("Say it."), max_tokens=5) for _ in range(GIVE_UP_AFTER - 1)] == [None] * 19
    with pytest.raises(BackendUnavailableError, match="none of 20 calls: away"):
        asked.object(Request(messages=posed("Say it."), schema={"type": "object"}))


def test_baselines_play_only_where_a_model_is_configured(lunch):
    """And say what to do where one is asked for by name."""
    played = []

    def note(name):
        @contextmanager
        def opened(config, seed):
            played.append(name)
            yield Conversation(Asked(ScriptedModel([*FLAT, held("2 pm", "update")])), BASELINES["base-flat"])

        return opened

    known = {name: note(name) for name in ("ours", "react")}
    run_scenarios(lunch, config=Config(), known=known)
    assert played == ["ours"]
    report = run_scenarios(lunch, config=Config.from_tree({"llm": {"name": "openai:m"}}), known=known, set="published")
    found = report.to_dict()
    assert played == ["ours", "ours", "react"] and found["systems"]["react"]["calls"]["made"] == 4
    assert found["models"] == {"llm": "scripted"} and found["paper"]["react"]["name"] == "ReAct"
    with (
        pytest.raises(ConfigError, match=r"bench tasks: cot: no language model is configured.*--systems"),
        SYSTEMS["cot"](Config(), 0),
    ):
        pass
