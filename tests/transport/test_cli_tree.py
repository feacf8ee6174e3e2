"""The tree of a search, as `doxa ask --trace` shows it and as JSON has it."""

import json

import pytest
from rich.console import Console

from doxa.core.trace import Step, Trace
from doxa.transport.cli.tree import show_tree, tree_of

DATA = {
    "states": [
        {"id": 0, "standing": "expanded"},
        {"id": 1, "parent": 0, "standing": "answer", "depth": 1, "do": "answer", "action": "ANSWER", "answer": "Bonn",
         "turns": ["t1"], "value": 0.4, "p": 1.0, "log_p": 0.0},
        {"id": 2, "parent": 0, "standing": "expanded", "depth": 1, "do": "recall", "action": "RECALL: Who is it?",
         "observation": "Eva", "facts": ["f1"], "turns": ["t2"], "value": 0.7, "p": 0.6, "log_p": -0.51},
        {"id": 3, "parent": 0, "standing": "pruned", "depth": 1, "do": "think", "action": "THINK: \x1b[31mred",
         "value": 0.1, "p": 0.2, "log_p": -1.6},
        {"id": 4, "parent": 2, "standing": "answer", "depth": 2, "do": "answer", "action": "ANSWER", "answer": "Graz",
         "turns": ["t2"], "value": 0.95, "p": 0.9, "log_p": -0.62},
        {"id": 5, "parent": 2, "standing": "merged", "same_as": 1, "depth": 2, "do": "answer", "action": "ANSWER",
         "p": 0.1, "log_p": -2.8},
    ],
    "best": 4,
    "stopped_because": "no open state can lead to a better answer",
    "order": "beam",
    "expanded": 2,
    "calls": {"policy": 2, "value": 4, "writer": 0},
}  # fmt: skip


@pytest.fixture
def shown(capsys):
    """The tree as it is printed into a pipe."""
    show_tree(Console(markup=False, width=200), DATA)
    return capsys.readouterr().out.splitlines()


def line(shown, words):
    """Return the only line that holds some words."""
    (found,) = [text for text in shown if words in text]
    return found


def test_the_chosen_way_is_marked(shown):
    """From the root to the best answer, and nothing beside it."""
    assert [text.split("(")[0].strip("│├└─ ") for text in shown if "→" in text] == [
        "→ 2 RECALL: Who is it?",
        "→ 4 ANSWER",
    ]


def test_each_state_has_its_probability_and_value(shown):
    assert "p 0.60, value 0.70" in line(shown, "RECALL")
    assert "given up" in line(shown, "THINK") and "as 1" in line(shown, "5 ANSWER")


def test_an_answer_stands_below_its_state_with_its_sources(shown):
    place = shown.index(line(shown, "Graz"))
    assert "4 ANSWER" in shown[place - 1] and "t2" in shown[place + 1]
    assert shown[place - 1].index("→") > line(shown, "RECALL").index("→")


def test_the_head_says_what_it_cost_and_why_it_ended(shown):
    assert shown[0] == "search: 6 states; 2 expanded; policy 2, value 4; no open state can lead to a better answer"


def test_what_was_said_does_not_command_the_terminal(shown):
    assert not any("\x1b[31m" in text for text in shown)


def test_a_state_whose_parent_came_later_is_in_its_place(capsys):
    """A state may be found again nearer to the root, below one that has a greater number."""
    states = [DATA["states"][0], {**DATA["states"][1], "parent": 2}, DATA["states"][2]]
    show_tree(Console(markup=False, width=200), DATA | {"states": states, "best": 1})
    out = capsys.readouterr().out
    assert out.index("RECALL") < out.index("1 ANSWER")


def test_the_last_search_of_a_trace_is_the_one_that_counts():
    steps = (Step(name="reason", ms=1, detail={"tree": {"best": 0}}), Step(name="search", ms=1, detail={"tree": DATA}))
    assert tree_of(Trace(steps)) == DATA and tree_of(Trace()) is None
    assert json.loads(json.dumps(Trace(steps).to_dict()))["steps"][1]["detail"]["tree"]["best"] == 4
