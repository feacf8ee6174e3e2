"""Turns that one process received and another one processes."""

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from doxa.backends import load
from doxa.backends.store import NewRow
from doxa.core.errors import BackendReplyError, StoreLockedError
from doxa.core.values import Turn
from doxa.engine import Doxa, Worker, stuck, try_again
from doxa.engine.absorb import maintenance
from doxa.engine.api import worker
from doxa.memory.codec import turn_to


@pytest.fixture
def config(light):
    return light(lease_s=5)


@pytest.fixture
def location(request, location):
    """The same without the queue that a test leaves there."""
    yield location
    if "://" in location:
        name = sa.make_url(location).database
        request.getfixturevalue("postgres").execute("DROP SCHEMA IF EXISTS doxa_queue CASCADE", database=name)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Nothing has to be waited for."""
    for name in ("FIRST_PAUSE_S", "LONGEST_PAUSE_S", "LOOKED_EVERY_S", "BUSY_S", "BETWEEN_S"):
        monkeypatch.setattr(worker, name, 0.02)


@contextmanager
def at_work(location, config, **settings):
    """A worker that runs until the block ends."""
    running = Worker.open(location, config=config)
    thread = threading.Thread(target=lambda: running.run(**settings))
    thread.start()
    try:
        yield running
    finally:
        running.stop()
        thread.join(20)
        running.close()
        assert not thread.is_alive()


def received(location, *scopes, turns=1):
    """Leave turns behind as a process does that dies after it has received them."""
    store = load("store", f"sql:{location}")
    for scope in scopes:
        for n in range(turns):
            at = datetime(2024, 1, 1, 0, n // 60, n % 60, tzinfo=UTC)
            said = Turn(turn_id="", user="", session="s", speaker="Ana", role="user", text=f"I like game{n}.", at=at)
            store.receive(scope, NewRow(kind="turn", known_at=at, body=turn_to(said)), turn_id=f"t{n}")
    return store


def until(found, seconds=15):
    end = time.monotonic() + seconds
    while not found() and time.monotonic() < end:
        time.sleep(0.02)
    assert found()


def processed(store, scope):
    return [row.about for row in store.read(scope) if row.kind == "maintained"]


def test_what_a_process_left_behind_is_processed_for_all_users_of_all_tenants(location, config):
    store = received(location, "default/ana", "default/ben/x", "an%2Fother/ana", turns=3)
    with at_work(location, config):
        until(lambda: not store.pending())
    for scope in ("default/ana", "default/ben/x", "an%2Fother/ana"):
        assert processed(store, scope) == [1, 2, 3]
    store.close()


def test_a_long_backlog_is_processed_block_by_block_and_once_by_two_workers(location, config, monkeypatch):
    """What is claimed at a time is bounded in turns and in characters."""
    monkeypatch.setattr(maintenance, "BLOCK", 8)
    monkeypatch.setattr(maintenance, "BLOCK_CHARS", 50)
    real, sizes = maintenance.Maintenance._process_block, []

    def noted(self, tenure, block):
        sizes.append(sum(len(turn.text) for turn in block))
        return real(self, tenure, block)

    monkeypatch.setattr(maintenance.Maintenance, "_process_block", noted)
    store = received(location, "default/ana", "default/ben", turns=20)
    with at_work(location, config, most=2), at_work(location, config):
        until(lambda: not store.pending())
    assert processed(store, "default/ana") == processed(store, "default/ben") == list(range(1, 21))
    assert max(sizes) <= 50
    store.close()


def test_a_user_that_fails_is_tried_again_given_up_told_of_and_forgiven(location, config, monkeypatch):
    """Other users go on meanwhile."""
    real, tries = maintenance.absorb, []

    def fails(turn, *given, **others):
        if turn.user == "ana" and len(tries) < worker.ATTEMPTS:
            tries.append(turn.turn_id)
            raise BackendReplyError("the model said nothing of use")
        return real(turn, *given, **others)

    monkeypatch.setattr(maintenance, "absorb", fails)
    store = received(location, "default/ana", "default/ben")
    with at_work(location, config):
        until(lambda: len(tries) == worker.ATTEMPTS and store.failures()[0].times == worker.ATTEMPTS)
        until(lambda: store.pending() == ["default/ana"])
        time.sleep(0.2)
        assert len(tries) == worker.ATTEMPTS  # left alone
        (failure,) = store.failures()
        assert failure.reason == "BackendReplyError: the model said nothing of use"
        tries.extend(["no more"])
        assert store.forgive("default/ana")
        until(lambda: not store.pending())
    assert store.failures() == [] and processed(store, "default/ana") == [1]
    store.close()


def test_who_is_stuck_is_known_to_every_engine_on_the_database(location, config, monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("no")

    store = received(location, "default/ana", "other/ben")
    monkeypatch.setattr(maintenance, "absorb", fails)
    for _ in range(worker.ATTEMPTS):
        store.fail("default/ana", "RuntimeError: no")
    store.fail("other/ben", "RuntimeError: no")
    store.close()
    with Doxa.open(location, config=config) as doxa:
        told = {(one.tenant, one.user): (one.times, one.given_up, one.reason) for one in stuck(doxa)}
        assert told == {
            ("default", "ana"): (worker.ATTEMPTS, True, "RuntimeError: no"),
            ("other", "ben"): (1, False, "RuntimeError: no"),
        }
        assert try_again(doxa, "ana") and not try_again(doxa, "ana") and not try_again(doxa, "zoe")
        assert [one.user for one in stuck(doxa)] == ["ben"]


def test_a_worker_leaves_alone_whom_another_process_is_at(location, config):
    store = received(location, "default/ana", "default/ben")
    assert store.lease("default/ana", owner="elsewhere/1/1", seconds=60)
    with at_work(location, config):
        until(lambda: store.pending() == ["default/ana"])
        store.lease("default/ana", owner="elsewhere/1/1", seconds=0)
        until(lambda: not store.pending())
    store.close()


@pytest.mark.parametrize("asked", ["pending", "failures"])
def test_a_database_that_is_busy_when_it_is_asked_what_waits_is_asked_again(location, config, monkeypatch, asked):
    store = received(location, "default/ana")
    running, looks = Worker.open(location, config=config), []
    real = getattr(running._store, asked)

    def busy(**given):
        looks.append(1)
        if len(looks) == 1:
            raise StoreLockedError("All connections of this process are in use; nothing was written. Try again.")
        return real(**given)

    monkeypatch.setattr(running._store, asked, busy)
    thread = threading.Thread(target=running.run)
    thread.start()
    until(lambda: not store.pending() or not thread.is_alive())
    running.stop()
    thread.join(20)
    running.close()
    assert processed(store, "default/ana") == [1] and len(looks) > 1
    store.close()
