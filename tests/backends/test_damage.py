"""Rows that are not what was written: found when they are read, whatever was done to them."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from doxa.backends import load
from doxa.backends.store import NewRow
from doxa.backends.store.salvage import Salvage
from doxa.core.errors import StoreDamagedError

SCOPE = "default/ana"
AT = datetime(2024, 1, 1, tzinfo=UTC)


def turn(text="hello"):
    return NewRow(kind="turn", known_at=AT, body={"text": text})


def understood(about):
    return NewRow(kind="maintained", known_at=AT, body={"said": "x"}, about=about)


def opened(path):
    return closing(load("store", f"sql:{path}"))


@pytest.fixture
def path(tmp_path):
    """A database with a log of six rows and something in every other table."""
    path = tmp_path / "memory.db"
    with opened(path) as store:
        for n in range(3):
            row = store.receive(SCOPE, turn(f"turn {n}"), turn_id=f"t{n}").row
            vector = ("m", b"\x00\x3c")
            store.append(SCOPE, understood(row.ordinal), expected_state=store.head(SCOPE).state, vector=vector)
        store.keep_answers(SCOPE, {"a_1": {"id": "a_1"}}, latest=5)
        store.keep_records(SCOPE, "s", {"k": b"kept"})
        store.keep_key("k_1", {"hash": "h"})
    return path


def changed(path, statement, *given):
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement, given).rowcount > 0


READS = {
    "log": lambda store: store.read(SCOPE),
    "known turn": lambda store: store.receive(SCOPE, turn("turn 1"), turn_id="t1"),
    "known turns": lambda store: store.receive_many(SCOPE, {"t1": turn("turn 1")}),
    "head": lambda store: store.head(SCOPE),
    "new turn": lambda store: store.receive(SCOPE, turn(), turn_id="new"),
    "answer": lambda store: store.answers(SCOPE, "a_1"),
    "answers": lambda store: store.latest_answers(SCOPE, limit=5),
    "record": lambda store: store.records(SCOPE, "s", keys=["k"]),
    "last record": lambda store: store.last_record(SCOPE, "s", prefix=""),
    "key": lambda store: store.keys("k_1"),
    "erasure": lambda store: store.rewrite(SCOPE, delete=[2], replace={3: {"text": "new"}}, expected=6),
}


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ('UPDATE events SET body = \'{"text": "turn 9"}\' WHERE ordinal = 3', ["log", "known turn", "known turns"]),
        ("UPDATE events SET body = 'no json' WHERE ordinal = 3", ["log", "known turn", "known turns"]),
        ("UPDATE events SET body = x'ff00' WHERE ordinal = 3", ["log", "known turn", "known turns", "erasure"]),
        ("UPDATE events SET known_at = known_at + 1 WHERE ordinal = 3", ["log"]),
        ("UPDATE events SET known_at = 'soon' WHERE ordinal = 3", ["log"]),
        ("UPDATE events SET about = 5 WHERE ordinal = 4", ["log"]),
        ("UPDATE events SET digest = NULL WHERE ordinal = 4", ["log"]),
        ("UPDATE events SET digest = 7 WHERE ordinal = 4", ["log"]),
        ("UPDATE events SET scope = 'default/bob' WHERE ordinal = 4", ["log"]),
        ("DELETE FROM events WHERE ordinal = 3", ["log"]),
        ("DELETE FROM events WHERE ordinal = 1", ["log"]),
        ("DELETE FROM events WHERE ordinal = 6", ["log"]),
        ("DELETE FROM events WHERE ordinal > 2", ["log"]),
        ("DELETE FROM events", ["log"]),
        ("DELETE FROM heads WHERE scope = 'default/ana'", ["head", "new turn"]),
        ("UPDATE heads SET ordinal = 4", ["head", "new turn"]),
        ("UPDATE heads SET maintained = 3", ["head", "new turn"]),
        ("UPDATE heads SET fence = 'x'", ["head", "new turn"]),
        ("UPDATE answers SET body = '{}'", ["answer", "answers"]),
        ("UPDATE records SET body = x'00'", ["record", "last record"]),
        ("UPDATE records SET body = 'text'", ["record", "last record"]),
        ("UPDATE keys SET body = '{}'", ["key"]),
    ],
)
def test_what_is_not_as_it_was_written_is_found_when_it_is_read(path, statement, reads):
    """Nothing raw comes out, and nothing else than what was written."""
    changed(path, statement)
    for name in reads:
        with opened(path) as store, pytest.raises(StoreDamagedError, match="check-file") as found:
            READS[name](store)
        assert found.value.what in str(found.value)


def test_a_damaged_vector_is_missing_so_that_it_is_made_anew(path):
    changed(path, "UPDATE vectors SET data = x'00' WHERE ordinal = 3")
    with opened(path) as store:
        assert [vector.ordinal for vector in store.vectors(SCOPE, model="m")] == [1, 5]


def test_what_is_whole_of_others_is_read_beside_it(path):
    with opened(path) as store:
        store.receive("default/bob", turn("mine"), turn_id="t")
    changed(path, "UPDATE events SET body = '{}' WHERE scope = ?", SCOPE)
    with opened(path) as store:
        assert [row.body for row in store.read("default/bob")] == [{"text": "mine"}]


@pytest.mark.parametrize("gone", [[1, 2], [3, 4], [5, 6], [1, 2, 3, 4, 5, 6], [3], []])
def test_rows_that_were_erased_are_not_missed(path, gone):
    """What followed them follows what was before them."""
    with opened(path) as store:
        kept = [row.ordinal for row in store.read(SCOPE) if row.ordinal not in gone]
        new = {kept[-1]: {"said": "anew"}} if kept else {}
        store.rewrite(SCOPE, delete=gone, replace=new, expected=6)
        assert [row.ordinal for row in store.read(SCOPE)] == [*kept, 7]
        store.receive(SCOPE, turn("later"), turn_id="later")
        rows = store.read(SCOPE)
        assert [row.ordinal for row in rows] == [*kept, 7, 8]
        assert [row.body for row in rows if row.ordinal in new] == list(new.values())
    changed(path, "DELETE FROM events WHERE ordinal = ?", kept[0] if kept else 7)
    with opened(path) as store, pytest.raises(StoreDamagedError):
        store.read(SCOPE)


def test_rows_of_a_time_before_there_were_digests_are_read_and_get_one_when_they_are_written_anew(path):
    changed(path, "UPDATE events SET digest = NULL, previous = NULL")
    changed(path, "UPDATE heads SET undigested = ordinal, digest = NULL")
    with opened(path) as store:
        store.receive(SCOPE, turn("later"), turn_id="later")
        assert [row.ordinal for row in store.read(SCOPE)] == [1, 2, 3, 4, 5, 6, 7]
        store.rewrite(SCOPE, delete=[3, 4], replace={6: {"said": "anew"}}, expected=7)
        assert [row.ordinal for row in store.read(SCOPE)] == [1, 2, 5, 6, 7, 8]
    changed(path, "UPDATE events SET body = '{}' WHERE ordinal = 6")
    with opened(path) as store, pytest.raises(StoreDamagedError, match="row 6"):
        store.read(SCOPE)


def test_a_row_without_a_digest_that_cannot_be_read_is_damaged_as_well(path):
    changed(path, "UPDATE events SET digest = NULL, previous = NULL, body = '{' WHERE ordinal = 2")
    changed(path, "UPDATE heads SET undigested = ordinal")
    with opened(path) as store, pytest.raises(StoreDamagedError, match="row 2"):
        store.read(SCOPE)


def test_a_name_in_the_schema_that_is_no_text_is_damage(path):
    """SQLite quotes it in what it says, which Python cannot decode then."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET name = CAST(x'be76' AS TEXT), sql = 'CREATE' WHERE name = 'keys'")
    with pytest.raises(StoreDamagedError, match="check-file"):
        load("store", f"sql:{path}")
    left = Salvage(path)
    assert left.complaints() and {*left.logs()} == {SCOPE}
