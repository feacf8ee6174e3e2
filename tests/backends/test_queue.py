"""The contract of a queue, over both: on a file, and shared by all processes on a Postgres database."""

import threading
import time
from contextlib import contextmanager
from itertools import pairwise

import pytest
import sqlalchemy as sa

from doxa.backends import load
from doxa.core.errors import StoreUnavailableError


class Waiting:
    """Scopes that wait, and the calls that were made for them."""

    def __init__(self, *scopes):
        self.scopes = list(scopes)
        self.calls = []
        self.guard = threading.Lock()

    def __call__(self):
        return list(self.scopes)

    def done(self, scope):
        with self.guard:
            self.calls.append(scope)
            if scope in self.scopes:
                self.scopes.remove(scope)

    def empty(self):
        return not self.scopes


@pytest.fixture(params=["polled", "postgres"])
def name(request):
    """The name of every queue."""
    if request.param == "polled":
        yield "polled"
        return
    url, server = request.getfixturevalue("postgres_url"), request.getfixturevalue("postgres")
    yield f"postgres:{url}"
    server.execute("DROP SCHEMA IF EXISTS doxa_queue CASCADE", database=sa.make_url(url).database)


@contextmanager
def running(name, work, waiting, **settings):
    """A queue that runs in a thread until the block ends."""
    queue, trouble = load("queue", name), []

    def run():
        try:
            queue.run(work, waiting, **{"most": 1, "every_s": 0.05} | settings)
        except StoreUnavailableError as exc:
            trouble.append(exc)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield trouble
    finally:
        queue.stop()
        thread.join(20)
        assert not thread.is_alive()


def until(found, seconds=10):
    end = time.monotonic() + seconds
    while not found() and time.monotonic() < end:
        time.sleep(0.01)
    assert found()


def test_what_waits_is_worked_on_and_what_comes_later_too(name):
    waiting = Waiting("t/ana", "t/ben ü")
    with running(name, waiting.done, waiting):
        until(waiting.empty)
        waiting.scopes.append("t/cleo")
        until(waiting.empty)
    assert sorted(waiting.calls) == ["t/ana", "t/ben ü", "t/cleo"]


def test_a_scope_comes_again_after_the_time_that_it_asked_for(name):
    """And once, however often it is found to wait meanwhile."""
    waiting, times = Waiting("t/ana"), []

    def work(scope):
        times.append(time.monotonic())
        if len(times) < 3:
            return 0.3
        return waiting.done(scope)

    with running(name, work, waiting):
        until(waiting.empty)
    assert len(times) == 3 and min(later - sooner for sooner, later in pairwise(times)) >= 0.29


def test_what_fails_ends_nothing_but_its_call(name):
    waiting = Waiting("t/ana", "t/ben")

    def work(scope):
        if scope == "t/ana":
            waiting.done(scope)
            raise RuntimeError("no")
        return waiting.done(scope)

    with running(name, work, waiting) as trouble:
        until(waiting.empty)
    assert sorted(waiting.calls) == ["t/ana", "t/ben"] and trouble == []


def test_no_scope_is_worked_on_twice_at_a_time(name):
    """By two processes on one database, or by the threads of one."""
    waiting, inside, most = Waiting(*(f"t/{n}" for n in range(12))), [], []

    def work(scope):
        inside.append(scope)
        most.append(len(inside))
        assert inside.count(scope) == 1
        time.sleep(0.02)
        inside.remove(scope)
        return waiting.done(scope)

    with running(name, work, waiting, most=3) as trouble:
        if name == "polled":
            until(waiting.empty)
        else:
            with running(name, work, waiting, most=3) as others:
                until(waiting.empty)
            assert others == []
    assert trouble == [] and len(set(waiting.calls)) == 12 and 1 < max(most) <= 6


def test_stopping_waits_for_the_call_under_way(name):
    waiting, ended = Waiting("t/ana"), []

    def work(scope):
        waiting.done(scope)
        time.sleep(0.3)
        ended.append(scope)

    with running(name, work, waiting):
        until(waiting.empty)
    assert ended == ["t/ana"]


@pytest.mark.parametrize("how", ["fast", "immediate"], ids=["restart", "crash"])
def test_a_server_that_is_started_anew_loses_no_work(own_postgres, how):
    name = f"postgres:{own_postgres.url(own_postgres.make())}"
    waiting = Waiting("t/before")
    with running(name, waiting.done, waiting) as trouble:
        until(waiting.empty)
        own_postgres.restart(how)
        waiting.scopes.append("t/after")
        until(waiting.empty, seconds=20)
    assert trouble == []


def test_connections_that_are_cut_again_and_again_end_nothing_while_there_is_work_between(own_postgres, monkeypatch):
    from doxa.backends.queue import shared

    monkeypatch.setattr(shared, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(shared, "LONGEST_PAUSE_S", 0.05)
    waiting = Waiting()
    cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'doxa-worker'"
    with running(f"postgres:{own_postgres.url(own_postgres.make())}", waiting.done, waiting) as trouble:
        for n in range(shared.TRIES + 2):
            waiting.scopes.append(f"t/{n}")
            until(lambda: waiting.empty() or trouble)
            assert trouble == []
            ((count,),) = own_postgres.execute(cut)
            assert count
    assert len(set(waiting.calls)) == shared.TRIES + 2


def test_a_database_that_stays_away_is_an_error_that_says_what_to_do(monkeypatch, tmp_path):
    from doxa.backends.queue import shared

    monkeypatch.setattr(shared, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(shared, "LONGEST_PAUSE_S", 0.001)
    with pytest.raises(StoreUnavailableError, match="start the worker again"):
        load("queue", f"postgres:postgresql:///doxa?host={tmp_path}").run(print, list, most=1, every_s=1)
