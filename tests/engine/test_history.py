"""Several processes on one file that are killed and stopped: see `benchmarks/fire/history.py`."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "fire"))
import history
from journals import KINDS, History, Told, check

from doxa.backends import load
from doxa.backends.store import NewRow


@pytest.mark.timeout(120)
def test_histories_of_processes_that_are_killed_add_up(tmp_path):
    """Three processes, one of them with an engine."""
    given = ["--processes", "3", "--engines", "1", "--operations", "250", "--minutes", "0.5", "--every-s", "0.4"]
    report = history.run(history.read_options([*given, "--folder", str(tmp_path)]))
    assert report["wrong"] == dict.fromkeys(KINDS, 0), report
    assert report["acknowledged"] > 20 and report["trouble"]["killed"]


@pytest.fixture
def store():
    """A store in memory with two turns of one user."""
    opened = load("store", "sql::memory:")
    for turn_id in ("a", "b"):
        body = {"text": f"{turn_id} of u"}
        opened.receive("default/u", NewRow(kind="turn", known_at=history.AT, body=body), turn_id=turn_id)
    yield opened
    opened.close()


KNOWN = Told(sent=1, known=2)
ERASED = replace(KNOWN, erasing=3, erased=4)


@pytest.mark.parametrize(
    ("told", "read", "wrong"),
    [
        ({}, (3, 4, 0, ["a", "b"]), {}),
        ({"c": KNOWN}, (3, 4, 0, ["a", "b"]), {"lost": 1}),
        ({}, (3, 4, 0, ["a"]), {"stale reads": 1}),
        ({}, (1, 4, 0, ["a"]), {}),
        ({"b": ERASED}, (5, 6, 0, ["a", "b"]), {"erased, and there": 1, "reads of what was erased": 1}),
        ({}, (3, 4, 0, ["b", "a"]), {"reads out of order": 1}),
        ({}, (3, 4, 0, ["a", "b", "x"]), {"reads of what was never sent": 1}),
        ({}, (3, 4, 0, ["a", "b", "b"]), {"read twice": 1}),
    ],
    ids=["all well", "lost", "stale", "concurrent", "erased", "order", "invented", "twice"],
)  # fmt: skip
def test_what_does_not_add_up_is_found_out(store, told, read, wrong):
    history_ = History(turns={"u": {"a": KNOWN, "b": KNOWN, **told}}, reads={"u": [read]})
    assert {kind: count for kind, count in check(history_, store).items() if count} == wrong
