"""`doxa bench tasks`: the table of the paper, every violation with --details, and what is refused."""

import json

import pytest

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
