"""Graders say how a claim, a question or a statement stands to one turn."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from doxa.backends import load
from doxa.backends.grader import GRADES, onnx, passage
from doxa.backends.grader.onnx import open_grader
from doxa.core.errors import BackendError, ClosedError, ConfigError
from doxa.core.values import Turn

WEIGHTS = Path(onnx.__file__).parent / onnx.MODEL
TURN = "Ana: I live in Oslo now, we moved in May."
AT = datetime(2025, 5, 3, 12, tzinfo=UTC)


def turn(text: str, *, speaker: str = "Ana", at: datetime = AT) -> Turn:
    return Turn(turn_id="t", user="ana", session="s", speaker=speaker, role="user", text=text, at=at)


def test_a_turn_is_read_after_the_one_before_it_of_that_day() -> None:
    """What was asked tells what "tuesday" answers; what was said on another day does not."""
    before = turn("When is the dentist?", speaker="Assistant", at=AT - timedelta(minutes=1))
    assert passage(turn("tuesday"), before) == "Assistant: When is the dentist? | Ana: tuesday"
    assert passage(turn("tuesday"), turn("hi", at=AT - timedelta(days=1))) == "Ana: tuesday"
    assert passage(turn("tues\n day")) == "Ana: tues day"


def test_a_scripted_grader_is_sure_of_what_it_was_told() -> None:
    """And of a default for the rest: claims are right, turns are about something else."""
    grader = load("grader", "scripted", grades={"Ana | lives in | Oslo": "wrong", "You live in Oslo.": "supported"})
    told, other = grader.grade("claim", [("Ana | lives in | Oslo", TURN), ("Ana | has | car", TURN)])
    assert told[GRADES["claim"].index("wrong")] > 0.9
    assert other[GRADES["claim"].index("right")] > 0.9
    (row,) = grader.grade("statement", [("You live in Oslo.", TURN)])
    assert row[GRADES["statement"].index("supported")] > 0.9
    (row,) = grader.grade("question", [("Where do I live?", TURN)])
    assert row[GRADES["question"].index("elsewhere")] > 0.9


def test_a_scripted_grader_takes_no_grade_that_there_is_not() -> None:
    """A slip in a test is told."""
    with pytest.raises(ConfigError, match="Expected grades out of"):
        load("grader", "scripted", grades={"x": "fine"})


@pytest.mark.parametrize("task", GRADES)
def test_rows_are_probabilities(task: str) -> None:
    """One row a pair, one column a grade; none for no pairs."""
    grader = load("grader", "builtin")
    rows = grader.grade(task, [("Ana | lives in | Oslo", TURN), ("You live in Oslo.", TURN)])
    assert rows.shape == (2, len(GRADES[task]))
    assert np.allclose(rows.sum(axis=1), 1, atol=1e-5)
    assert grader.grade(task, []).shape == (0, len(GRADES[task]))
    grader.close()


def test_a_pair_has_one_row_in_any_batch() -> None:
    """A replay gives the same, whatever else is graded with it."""
    grader = load("grader", "builtin", threads=2)
    pairs = [("Ana | lives in | Oslo", TURN), ("Ana | likes | tea", "Ana: tea, always tea"), ("x", "y" * 5000)]
    together = grader.grade("claim", pairs)
    alone = np.concatenate([grader.grade("claim", [pair]) for pair in reversed(pairs)])[::-1]
    assert np.array_equal(together, alone)
    grader.close()


def test_a_turn_answers_what_it_tells_sooner_than_what_it_does_not() -> None:
    """The built-in grader has learned something."""
    grader = load("grader", "builtin")
    here, elsewhere = grader.grade("question", [("where do i live now?", TURN), ("what is my cat called?", TURN)])
    assert here[1] > elsewhere[1]
    grader.close()


def test_a_closed_grader_says_so() -> None:
    """Both kinds."""
    for grader in (load("grader", "builtin"), load("grader", "scripted")):
        grader.close()
        grader.close()
        with pytest.raises(ClosedError):
            grader.grade("claim", [("a", "b")])


def test_an_incomplete_grader_says_how_to_make_it(tmp_path: Path) -> None:
    """The message names the folder and the recipe."""
    with pytest.raises(BackendError, match="training/trust"):
        open_grader("", folder=tmp_path)


def test_a_grader_on_other_weights_is_refused(tmp_path: Path) -> None:
    """Its adapters fit the trunk that they were learned on, and no other."""
    shutil.copytree(WEIGHTS, tmp_path / "own")
    card = json.loads((tmp_path / "own" / "model.json").read_text())
    card["trunk"]["sha256"] = "0" * 64
    (tmp_path / "own" / "model.json").write_text(json.dumps(card))
    grader = open_grader("", folder=tmp_path / "own")
    with pytest.raises(BackendError, match="trained on other weights"):
        grader.grade("claim", [("a", "b")])


def test_there_is_one_built_in_grader() -> None:
    """Another name is a slip."""
    with pytest.raises(ConfigError, match="no built-in grader"):
        open_grader("large")
