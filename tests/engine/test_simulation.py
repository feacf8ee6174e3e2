"""The engine in a world where disk, power, clock, network and processes fail: see `benchmarks/fire/simulation`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "fire"))
from simulation.disk import available
from simulation.play import play

STEPS = 40
SEEDS = range(12)
pytestmark = pytest.mark.skipif(not available(), reason="the SQLite of this Python cannot be reached from outside")


@pytest.mark.parametrize("first", range(0, len(SEEDS), 6))
def test_what_is_acknowledged_is_there_once_and_stays_whatever_fails(tmp_path, first):
    """Six seeds; `python benchmarks/fire/simulation --seed N --steps 40 --verbose` tells what happened in one."""
    played = [play(seed, steps=STEPS, folder=tmp_path / "world") for seed in SEEDS[first : first + 6]]
    assert {one.seed: one.wrong for one in played if one.wrong} == {}
    assert all(one.steps == STEPS for one in played)


def test_the_seed_alone_says_what_happens(tmp_path):
    """Twice the same, after other seeds too: turns that are kept, that are understood, and that a model reads."""
    kinds = ("log", "mind", "model")
    once = [play(7, steps=STEPS, folder=tmp_path / "world", kind=kind).digest for kind in kinds]
    again = [play(7, steps=STEPS, folder=tmp_path / "other", kind=kind).digest for kind in reversed(kinds)]
    assert again[::-1] == once


def test_a_turn_that_is_lost_is_found_out(tmp_path, monkeypatch):
    """The simulation sees what it is for: a store that acknowledges what it has not written."""
    from doxa.backends.store.sql import log

    real = log.insert_event
    told = []

    def forgetful(connection, scope, ordinal, row, turn_id, **linked):
        if turn_id is not None:
            told.append(turn_id)
        if len(told) != 2:
            real(connection, scope, ordinal, row, turn_id, **linked)

    monkeypatch.setattr(log, "insert_event", forgetful)
    assert play(3, steps=STEPS, folder=tmp_path / "world").wrong
