"""`doxa bench tasks`: the table of the paper, every violation with --details, and what is refused."""

import io
import json

import pytest
from rich.console import Console

from doxa_bench.cli.tasks import show_tasks

SCENARIO = {
    "id": "s1",
    "domain": "lunch",
    "slot_aliases": {"lunch time": ["time"]},
    "turns": ["Lunch time: noon.", "No, the lunch time is 2 pm.", "Put the lunch time back to what it was."],
    "expect": [
        {"after": 1, "intent": "new", "state": {"lunch time": "noon"}},
        {"after": 2, "intent": "update", "state": {"lunch time": "2 pm"}},
        {"after": 3, "intent": "rollback", "state": {"lunch time": "noon"}, "absent": ["2 pm"]},
    ],
}
COMMAND = ("bench", "tasks", "--systems", "flat-history", "--no-record")


@pytest.fixture
def gold(cli):
    cli.file("dev.jsonl", json.dumps(SCENARIO) + "\n")
    return cli.folder


def test_the_table_of_the_paper_is_printed(cli, gold):
    """A linear history follows a new mention and restores nothing."""
    shown = cli(*COMMAND, "--data", gold).stdout
    assert "0/1" in shown and "2/3 = 0.667" in shown and "estimate_tokens" in shown and "Put the" not in shown
    found = cli.json(*COMMAND, "--data", gold)
    assert found["systems"]["flat-history"]["confusions"] == 1 and "details" not in found


def test_details_show_the_turn_what_was_expected_and_what_came(cli, gold):
    """With the reasons why it counts."""
    shown = cli(*COMMAND, "--data", gold, "--details").stdout
    assert "3. Put the lunch time back" in shown and "expected noon, came 2 pm" in shown and "missed target" in shown


def test_what_was_handed_in_can_be_written(cli, gold):
    """In the form that a scorer of the gold set reads."""
    out = cli.folder / "out.jsonl"
    cli(*COMMAND, "--data", gold / "dev.jsonl", "--predictions", out)
    (line,) = map(json.loads, out.read_text().splitlines())
    assert line["id"] == "s1" and [turn["state"]["lunch time"] for turn in line["turns"]] == ["noon", "2 pm", "2 pm"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--set", "nope", "--data", "."), "--set"),
        (("--data", ".", "--rounds", "6"), "--rounds"),
        ((), "--data"),
        (("--data", ".", "--systems", "flat-history,nope"), "nope"),
    ],
)
def test_what_does_not_fit_a_set_is_refused(cli, gold, more, message, monkeypatch):
    """With the name of the option."""
    monkeypatch.chdir(gold)
    done = cli("bench", "tasks", "--no-record", *more)
    assert done.exit_code != 0 and message in done.stderr


def shown(found):
    out = io.StringIO()
    show_tasks(Console(file=out, width=160), {"tokenizer": "pieces", "seed": 0, "revision": None, **found})
    return out.getvalue()


def test_forms_show_every_round_and_what_the_last_prompt_holds():
    """Beside the numbers of the paper."""
    rounds = [{"round": 1, "text": "My name is Ana.", "flat": 40, "ours": 30, "saving": 0.25}]
    totals = [{"rounds": 6, "flat": 900, "ours": 450, "saving": 0.5, "held": 2, "fields": 3, "stale": 1, "replaced": 4}]
    paper = {"flat": 899, "ours": 725, "saving": 0.194}
    state = {"slots": 0.75, "slots_ok": 3, "slots_n": 4, "by_round": [[0, 0], [1, 1], [2, 3]], "hallucinations": 1}
    state |= {"closing_reply": False, "tokens": 1234}
    text = shown({"set": "forms", "rounds": rounds, "totals": totals, "paper": paper, "states": {"react": state}})
    (row,) = (line.split() for line in text.splitlines() if line.startswith("react"))
    assert row == ["react", "3/4", "=", "0.750", "1/1", "2/3", "1", "no", "1,234"]
    assert "25.0%" in text and "50.0%" in text and "2/3" in text and "1/4" in text and "899" in text and "19.4%" in text


def test_revised_values_are_shown_beside_the_most_recent_mention_with_what_went_wrong():
    """By slot, with what was left out of the data."""
    row = {"n": 3, "lost": 1, "kept": 0, "asked": 0, "ours": 0.667, "ours_95": [0.1, 0.9]}
    row |= {"recent": 1.0, "recent_95": None}
    miss = {"dialogue": "d1", "slot": "S/city", "text": "No, Ghent.", "new": ["Ghent"], "old": ["Bonn"]}
    miss |= {"outcome": "kept", "held": "trip/to: Bonn"}
    found = {"set": "sgd", "dialogues": 2, "turns_per_s": 9.0, "at the turn": row, "slots": {"city": row},
             "left_out": {"file not there": 5}, "details": [miss]}  # fmt: skip
    text = shown(found)
    assert "0.667 (0.10-0.90)" in text and "1.000" in text and "5 file not there" in text
    assert "d1 S/city, kept: No, Ghent." in text and "expected Ghent (was Bonn); held trip/to: Bonn" in text


def test_forms_are_measured_on_the_engine(cli):
    """Its contexts shrink the later rounds; the rounds and their turns are those that were drawn."""
    found = cli.json("bench", "tasks", "--set", "forms", "--rounds", "6", "--no-record")
    assert [row["round"] for row in found["rounds"]] == [1, 2, 3, 4, 5, 6]
    assert all(row["ours"] < row["flat"] for row in found["rounds"][3:]) and found["totals"][-1]["held"] > 0


def test_every_system_plays_on_the_engine(cli):
    """The memory knows what it was told; taken for something at random, it knows less."""
    turns = ["Plan a dinner for Friday.", "Move the dinner to Saturday.", "Plan a hike for Monday.", "Undo that."]
    days = ["Friday", "Saturday", "Saturday", "Saturday"]
    expect = [{"after": n, "state": {"dinner/day": day}} for n, day in enumerate(days, start=1)]
    data = cli.file("dev.jsonl", json.dumps({"id": "s", "domain": "plans", "turns": turns, "expect": expect}) + "\n")
    found = cli.json("bench", "tasks", "--data", data, "--no-record")
    right = {name: row["counts"]["slots_ok"] for name, row in found["systems"].items()}
    assert list(right) == ["ours", "respond", "no-dag", "random-intent", "flat-history"]
    assert right["ours"] == right["respond"] == right["no-dag"] == 4 > right["random-intent"]
