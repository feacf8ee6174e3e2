"""A transaction that SQLite could not commit is over: nothing of it is left, and nobody has to wait for it."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from doxa.backends import load
from doxa.backends.store import NewRow
from doxa.core.errors import StoreLockedError

SCOPE = "default/ana"


def turn(text):
    """Make the row of a received turn."""
    return NewRow(kind="turn", known_at=datetime(2024, 5, 1, tzinfo=UTC), body={"session": "s", "text": text})


class Connection(sqlite3.Connection):
    """One whose next commit is refused, as SQLite does where somebody else is in the way: the transaction stays."""

    refused = False

    def commit(self):
        if Connection.refused and self.in_transaction:
            Connection.refused = False
            raise sqlite3.OperationalError("database is locked")
        super().commit()


@pytest.fixture
def store(tmp_path):
    """A store whose connections refuse a commit when they are told to."""

    def connected(dialect, record, arguments, given):
        return sqlite3.connect(*arguments, factory=Connection, **given)

    sa.event.listen(sa.Engine, "do_connect", connected)
    try:
        with closing(load("store", f"sql:{tmp_path / 'memory.db'}")) as opened:
            yield opened
    finally:
        sa.event.remove(sa.Engine, "do_connect", connected)


def test_a_refused_commit_leaves_no_lock_behind(store, tmp_path):
    """Once it did, until the process next wrote: every other one was kept out, and read on by itself what it saw."""
    Connection.refused = True
    with pytest.raises(StoreLockedError):
        store.receive(SCOPE, turn("refused"), turn_id="t1")
    with closing(load("store", f"sql:{tmp_path / 'memory.db'}", timeout_s=0.1)) as other:
        assert other.receive(SCOPE, turn("taken"), turn_id="t2").row.ordinal == 1
    assert [row.turn_id for row in store.read(SCOPE)] == ["t2"]


def test_what_is_written_after_a_refused_commit_is_written(store):
    """The connection that was refused is used again."""
    Connection.refused = True
    with pytest.raises(StoreLockedError):
        store.receive(SCOPE, turn("refused"), turn_id="t1")
    assert not store.receive(SCOPE, turn("taken"), turn_id="t1").duplicate
    assert [row.body["text"] for row in store.read(SCOPE)] == ["taken"]
