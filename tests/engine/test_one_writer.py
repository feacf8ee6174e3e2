"""One writer of a user's turns at a time: who was held up for longer than a lease writes nothing any more."""

import threading
from contextlib import ExitStack

import pytest

from doxa.backends import load
from doxa.engine import Doxa
from doxa.engine.absorb import maintenance

SCOPE = "default/ana"
TOLD = [f"I like game{n}." for n in range(5)]


@pytest.fixture
def opened(location, light):
    """A function that opens one more engine on the database."""
    with ExitStack() as stack:
        yield lambda **given: stack.enter_context(Doxa.open(location, config=light(**given)))


@pytest.fixture
def held_up(monkeypatch):
    """The first engine that reads a turn: it waits there until the test lets it go on."""
    real, woken, paused = maintenance.absorb, threading.Event(), threading.Event()

    def absorb(turn, vector, parts, **given):
        if not paused.is_set():
            paused.set()
            assert woken.wait(20)
        return real(turn, vector, parts, **given)

    monkeypatch.setattr(maintenance, "absorb", absorb)
    yield paused, woken
    woken.set()


def rows(location):
    store = load("store", f"sql:{location}")
    found = store.read(SCOPE)
    store.close()
    return found


def test_a_holder_that_wakes_after_its_lease_writes_nothing_and_loses_nothing(location, opened, held_up):
    paused, woken = held_up
    first, second = opened(lease_s=0.2), opened(lease_s=0.2)
    for n, text in enumerate(TOLD):
        first.dialogue(user="ana").absorb(text, turn_id=f"t{n}")
    assert paused.wait(10)
    second.wait("ana")
    woken.set()
    first.wait("ana")
    first.dialogue(user="ana").absorb("I live in Porto.", turn_id="last")
    first.flush()
    second.flush()
    found = rows(location)
    assert [row.about for row in found if row.kind == "maintained"] == [
        row.ordinal for row in found if row.kind == "turn"
    ]
    fences = [row.fence for row in found if row.fence is not None]
    assert fences == sorted(fences) and fences[0] == 2  # none was written under the first token
    assert first.work("ana").failed == "" and len(first.memory(user="ana").facts()) == 6


def test_a_holder_that_was_held_up_for_less_than_its_lease_writes(location, opened, held_up):
    paused, woken = held_up
    first, second = opened(), opened()
    first.dialogue(user="ana").absorb(TOLD[0])
    assert paused.wait(10)
    assert not second._parts.log.store.lease(SCOPE, owner="other/1/1", seconds=30)
    woken.set()
    first.flush()
    second.flush()
    assert [row.fence for row in rows(location) if row.kind == "maintained"] == [1]


def test_a_failure_gives_the_lease_back(location, opened, monkeypatch):
    """So that others need not wait for it to run out."""

    def fails(*_, **__):
        raise RuntimeError("no")

    first = opened()
    with monkeypatch.context() as patch:
        patch.setattr(maintenance, "absorb", fails)
        first.dialogue(user="ana").absorb(TOLD[0])
        with pytest.raises(RuntimeError):
            first.wait("ana")
    assert first._parts.log.store.lease(SCOPE, owner="other/1/1", seconds=1e-6) == 2
    opened().wait("ana")
    assert [row.fence for row in rows(location) if row.kind == "maintained"] == [3]
