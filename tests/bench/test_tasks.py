"""The task benchmark: scenarios are read, scored by the rules of the gold set, and played to systems."""

import importlib.util
import json
import random
from contextlib import nullcontext

import pytest

from doxa.core.config import Config, EncoderConfig, EngineConfig
from doxa.core.errors import FormatError, InputError
from doxa_bench.tasks import Played, read_scenarios, run_scenarios, score
from doxa_bench.tasks.linear import LinearHistory, read
from doxa_bench.tasks.mentions import is_given_as_current, is_mentioned
from doxa_bench.tasks.systems import SYSTEMS, Memory
from doxa_bench.tasks.values import match_sets, same, tokens

LUNCH = {
    "id": "s1",
    "domain": "lunch",
    "slot_aliases": {"lunch time": ["time"], "guests": ["people"]},
    "ops": ["vague"],
    "turns": ["Lunch at noon with Ana and Ben.", "Make it 2 pm.", "Who is coming?"],
    "expect": [
        {"after": 1, "intent": "new", "state": {"lunch time": "noon", "guests": ["Ana", "Ben"]}},
        {
            "after": 2,
            "intent": "update",
            "state": {"lunch time": "2 pm", "guests": ["Ana", "Ben"]},
            "absent": ["noon"],
            "history": {"lunch time": ["noon", "2 pm"]},
        },
        {
            "after": 3,
            "intent": "check",
            "state": {"lunch time": "2 pm", "guests": ["Ana", "Ben"]},
            "reply_contains": [["Ana"], ["Ben"]],
            "reply_not": ["noon"],
        },
    ],
}
FIRST = Played(intents=("new",), state={"lunch/time": "12:00", "lunch/people": ["Ben", "Ana"]})
SECOND = Played(
    intents=("update",),
    state={"lunch/time": "14:00", "lunch/people": ["Ben", "Ana"]},
    history={"lunch/time": ["12:00", "14:00"]},
)
THIRD = Played(intents=("check",), state=SECOND.state, reply="Ana and Ben, at 2 pm; it was noon before.")
RIGHT = [FIRST, SECOND, THIRD]


@pytest.fixture
def lunch(tmp_path):
    path = tmp_path / "lunch.jsonl"
    path.write_text(json.dumps(LUNCH) + "\n")
    return path


@pytest.fixture
def scenario(lunch):
    return read_scenarios(lunch)[0]


class Forest:
    """A forest of tasks that says what it is told to."""

    def __init__(self, played):
        self.left, self.now, self.given = list(played), None, []

    def tell(self, text, *, at=None, intent=None, said_before=""):
        self.now = self.left.pop(0)
        self.given.append(intent)
        return self

    @property
    def intents(self):
        return self.now.intents

    @property
    def text(self):
        return self.now.reply

    def state(self):
        return self.now.state

    def history(self):
        return self.now.history or {}

    def context(self, text, budget=400):
        return "lunch"


def test_a_scenario_is_read_with_the_names_and_kinds_of_its_slots(scenario):
    assert scenario.judged == ("guests", "lunch time") and scenario.sets == {"guests"}
    assert scenario.expect[2].intents == ("update",) and scenario.expect[1].state["guests"] == ("Ana", "Ben")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"expect": [{"after": 4}]}, "after turn 4 of 3"),
        ({"expect": [{"after": 2}, {"after": 1}]}, "behind one after turn 2"),
        ({"expect": [{"after": 1, "intent": "guess"}]}, "an intent 'guess'"),
        ({"turns": "Lunch."}, "'turns'"),
        ({"slot_aliases": {"time": "when"}}, "'slot_aliases'"),
    ],
)
def test_a_line_that_is_no_scenario_says_what_is_wrong_with_it(tmp_path, change, message):
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({**LUNCH, **change}) + "\n")
    with pytest.raises(FormatError, match=message) as raised:
        read_scenarios(path)
    assert "line 1" in str(raised.value)


def test_what_meets_every_expectation_has_no_violation(scenario):
    found = score(scenario, RIGHT)
    assert found.violations == () and found.notes == ()
    counts = {"hallucinations": 0, "confusions": 0, "consistent": 1, "slots_ok": 6, "slots_n": 6, "reply_ok": 1}
    assert {name: found.counts[name] for name in counts} == counts


def test_an_empty_output_omits_and_invents_nothing(scenario):
    found = score(scenario, [])
    assert found.counts["hallucinations"] == 0 and found.counts["slots_ok"] == 0 and not found.counts["consistent"]


@pytest.mark.parametrize(
    ("turn", "played", "kinds", "marks"),
    [
        (1, Played(intents=("update",), state=FIRST.state), {"state", "absent"}, {"hallucination", "confusion"}),
        (1, Played(intents=("check",), state=SECOND.state), {"intent"}, {"confusion"}),
        (1, Played(intents=("update",), state={"lunch/time": "2 pm"}), {"state"}, {"confusion"}),
        (2, Played(intents=("check",), state=SECOND.state, reply="Ana, Ben, noon."), {"reply_not"}, {"hallucination"}),
        (2, Played(intents=("check",), state=SECOND.state, reply="Ana."), {"reply_contains"}, set()),
        (2, Played(intents=("check",), state=FIRST.state, reply="Ana, Ben"), {"state"}, {"hallucination", "confusion"}),
    ],
    ids=["stale", "taken-for-a-question", "lost-a-set", "says-what-was", "says-too-little", "changed-by-a-question"],
)  # fmt: skip
def test_a_wrong_turn_is_called_what_it_is(scenario, turn, played, kinds, marks):
    handed_in = [*RIGHT[:turn], played, *RIGHT[turn + 1 :]]
    found = score(scenario, handed_in)
    assert {one.kind for one in found.violations if one.turn == turn + 1} == kinds
    assert {one.kind for one in found.notes if one.turn == turn + 1} == marks


def test_a_wrong_value_counts_where_it_first_appears(scenario):
    stale = Played(intents=("update",), state=FIRST.state)
    found = score(scenario, [FIRST, stale, Played(intents=("check",), state=FIRST.state, reply=THIRD.reply)])
    assert found.counts["hallucinations"] == 1 and found.counts["slots_ok"] == 4


def test_a_history_with_another_order_is_a_violation(scenario):
    wrong = Played(intents=("update",), state=SECOND.state, history={"lunch/time": ["2 pm", "noon", "2 pm"]})
    assert [one.kind for one in score(scenario, [FIRST, wrong, THIRD]).violations] == ["history"]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("2 PM", "14:00", True),
        ("June 10th", "2024-06-10", True),
        ("twelve months", "12 months", True),
        ("1,500 euros", "1500", True),
        ("train to Ghent", "Ghent to train", False),
        ("blue jacket", "jacket, blue", True),
        ("ana@example.com", "ana@example.org", False),
    ],
)
def test_values_are_the_same_by_their_normal_form(one, other, equal):
    assert same(one, other, {}) is equal


def test_sets_match_one_to_one_and_loosely_only_where_that_is_allowed():
    assert match_sets(["celery", "milk"], ["milk", "milk"], {}) == (["celery"], ["milk"])
    assert match_sets(["white paint"], ["matte white paint"], {}) == (["white paint"], ["matte white paint"])
    assert match_sets(["white paint"], ["matte white paint"], {}, loose=True) == ([], [])
    assert tokens("the and of") == ("the", "and", "of")


@pytest.mark.parametrize(
    ("reply", "current"),
    [
        ("It starts at noon.", True),
        ("It was noon; now it is 2 pm.", False),
        ("Not at noon.", False),
        ("It was at 1. Noon it is.", True),
        ("The afternoon is free.", False),
    ],
)
def test_a_reply_gives_as_current_what_it_neither_denies_nor_puts_in_the_past(reply, current):
    assert is_given_as_current(reply, "noon", was_set=True) is current
    assert is_mentioned("12 of them", "12") and not is_mentioned("1,250 or 2.12", "12")


def test_a_memory_is_played_turn_by_turn_and_its_intents_can_be_overridden(scenario):
    forest = Forest(RIGHT)
    played = Memory(lambda user: forest, intents=lambda id, turn: f"{id}-{turn}").play(scenario)
    assert forest.given == ["s1-1", "s1-2", "s1-3"] and [turn.reply for turn in played] == ["", "", THIRD.reply]
    assert all(turn.tokens > 0 for turn in played) and score(scenario, played).counts["consistent"] == 1


def test_a_conversation_reaches_the_tasks_by_itself(scenario):
    config = Config(encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=30))
    told = []
    for name in ("ours", "respond"):
        with SYSTEMS[name](config, 0) as system:
            told.append(system.play(scenario))
    assert [turn.state for turn in told[0]] == [turn.state for turn in told[1]] and any(told[0][-1].state)


def test_a_linear_history_holds_the_last_mention_and_its_prompt_grows(scenario):
    played = LinearHistory().play(scenario)
    assert played[0].state["lunch time"] == "noon" and played[1].state["lunch time"] == "2 pm"
    assert "guests" not in played[2].state and played[2].intents == ("check",)  # no turn has the name
    assert read(scenario, ["The guests: Ana, Ben and Cy.", "Drop Ben.", "Was Cy a guest?"])["guests"] == ["Ana", "Cy"]
    assert played[0].tokens < played[1].tokens < played[2].tokens


def test_a_run_compares_systems_and_tells_every_violation(lunch, tmp_path):
    known = {"right": lambda config, seed: nullcontext(Memory(lambda user: Forest(RIGHT), models={"parser": "p"})),
             "still": lambda config, seed: nullcontext(Memory(lambda user: Forest([FIRST] * 3)))}  # fmt: skip
    report = run_scenarios(lunch, config=Config(), known=known)
    found = report.to_dict(details=True)
    assert [(name, row["consistent"]) for name, row in found["systems"].items()] == [("right", 1), ("still", 0)]
    assert found["systems"]["right"]["slots"] == 1.0 and found["systems"]["still"]["hallucinations"] == 1
    assert report.models == found["models"] == {"parser": "p"}
    (detail,) = found["details"]
    miss = next(one for one in detail["turns"][0]["violations"] if one["kind"] == "state")
    assert (detail["system"], detail["turns"][0]["text"]) == ("still", "Make it 2 pm.")
    assert (miss["slot"], miss["expected"], miss["came"]) == ("lunch time", "2 pm", "12:00")
    report.write_predictions(tmp_path / "out.jsonl", "right")
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [turn["intents"] for turn in json.loads(line)["turns"]] == [["new"], ["update"], ["check"]]
    with pytest.raises(InputError, match="'left'"):
        run_scenarios(lunch, systems=["left"], config=Config(), known=known)


def _handed_in(entry, noise, rng):
    """Return what a system with so many mistakes would hand in for a scenario, as plain data."""
    values = [value for one in entry["expect"] for value in one.get("state", {}).values()]
    names = [*entry["slot_aliases"], *(name for names in entry["slot_aliases"].values() for name in names)]
    expected, turns, state, history = {one["after"]: one for one in entry["expect"]}, [], {}, {}
    for number in range(1, len(entry["turns"]) + 1):
        one = expected.get(number, {})
        state = dict(one.get("state", state))
        for slot in [slot for slot in state if rng.random() < noise]:
            value = state.pop(slot)
            state[rng.choice([slot, f"plan/{rng.choice(names)}"])] = rng.choice(
                [value, None, "none", rng.choice(values)]
            )
        for slot, value in state.items():
            history[slot] = [*history.get(slot, []), value]
        labels = one.get("intent_all") or one.get("intent") or []
        reply = one.get("reply_example", "")
        turns.append(
            {
                "intents": ["update"] if rng.random() < noise else [labels] if isinstance(labels, str) else labels,
                "state": dict(state),
                "reply": " ".join([*one.get("reply_not", []), reply]) if rng.random() < noise else reply,
                "history": {slot: list(seen) for slot, seen in history.items()},
            }
        )
    return turns


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5], ids=["perfect", "a-tenth-wrong", "half-wrong"])
def test_the_scores_are_those_of_the_reference_scorer(data_dir, noise):
    folder = data_dir.parent / "gold" / "tasks"
    if not (folder / "score.py").is_file():
        pytest.skip(f"no reference scorer in {folder}")
    spec = importlib.util.spec_from_file_location("reference_scorer", folder / "score.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    rng = random.Random(7)
    for path in sorted(folder.glob("*.jsonl")):
        entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for entry, scenario in zip(entries, read_scenarios(path), strict=True):
            handed_in = _handed_in(entry, noise, rng)
            theirs = reference.score(entry, handed_in)
            ours = score(scenario, [Played(**{**turn, "intents": tuple(turn["intents"])}) for turn in handed_in])
            assert {name: int(theirs[name]) for name in ours.counts} == dict(ours.counts), entry["id"]
            empty = reference.score(entry, [{} for _ in entry["turns"]])
            assert {name: int(empty[name]) for name in ours.counts} == dict(score(scenario, []).counts), entry["id"]
