"""What is left of a damaged file: every row that is whole, wherever it lies, and none that was erased."""

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from doxa.backends import load
from doxa.backends.store import NewRow
from doxa.backends.store.pages import Pages, layouts
from doxa.backends.store.salvage import LAYOUT
from doxa.backends.store.sql.rows import values_of
from doxa.core.errors import InputError, NotFoundError, StoreForeignError

SCOPE = "default/ana"
AT = datetime(2024, 1, 1, tzinfo=UTC)
PAGE = 4096


def turn(text):
    return NewRow(kind="turn", known_at=AT, body={"text": text})


def opened(path):
    return closing(load("store", f"sql:{path}"))


@pytest.fixture
def path(tmp_path):
    """A log of turns, some of which do not fit in a page, with what is kept beside it."""
    path = tmp_path / "memory.db"
    with opened(path) as store:
        for n in range(24):
            store.receive(SCOPE, turn(f"turn {n} " + "word " * (n % 5 * 300)), turn_id=f"t{n}")
        store.keep_answers(SCOPE, {f"a_{n}": {"id": n} for n in range(5)}, latest=9)
        store.keep_records(SCOPE, "s", {f"k{n}": b"x" * n * 500 for n in range(9)})
        store.keep_key("k_1", {"hash": "h"})
    return path


def salvaged(path):
    return load("salvage", f"sql:{path}")


def texts(log):
    return {row.turn_id: row.body["text"] for row in log.rows if row.turn_id}


def test_the_columns_are_those_of_a_file(path):
    """They are found by their place."""
    with closing(sqlite3.connect(path)) as connection:
        for table, columns in LAYOUT.items():
            assert [row[1] for row in connection.execute(f"PRAGMA table_info({table})")] == [*columns]


def test_of_a_whole_file_nothing_is_missing(path):
    with opened(path) as store:
        rows, records = store.read(SCOPE), store.records(SCOPE, "s")
    found = salvaged(path)
    (log,) = found.logs().values()
    assert log.rows == rows and not log.lost and not found.damaged and not found.complaints()
    assert {one["key"]: one["body"] for one in log.records} == records and len(log.answers) == 5


def test_what_is_in_the_write_ahead_log_alone_is_found(path, tmp_path):
    with opened(path) as store:
        store.receive(SCOPE, turn("newest"), turn_id="newest")
        copy = tmp_path / "copy.db"
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{copy}{end}")
    assert texts(salvaged(copy).logs()[SCOPE])["newest"] == "newest"
    log = copy.with_name("copy.db-wal")
    log.write_bytes(log.read_bytes()[:-100])  # a torn end: what was not whole was never acknowledged
    assert "newest" not in texts(salvaged(copy).logs()[SCOPE])


def test_a_row_is_lost_only_where_one_of_its_bytes_is(path):
    """Each sector in turn: of the page that leads to others, of the head of a page, of a row, of a chain."""
    whole = texts(salvaged(path).logs()[SCOPE])
    places = {}
    for record in Pages(path).records():
        if len(record.values) > 6 and record.values[2] == "turn":
            places[record.values[3]] = record.spans
    data = path.read_bytes()
    for start in range(0, len(data), 3 * 512):
        path.write_bytes(data[:start] + bytes(512) + data[start + 512 :])
        touched = {name for name, spans in places.items() if any(a < start + 512 and start < b for a, b in spans)}
        log = salvaged(path).logs()[SCOPE]
        assert {name: whole[name] for name in whole.keys() - touched}.items() <= texts(log).items()
        assert texts(log).items() <= whole.items()


@pytest.mark.parametrize(("at", "said"), [(16, b"\x02\x00"), (16, b"\x20\x00"), (16, b"\x00\x03"), (20, b"\x0c")])
def test_a_header_that_says_another_layout_hides_nothing(path, at, said):
    """The first page may hold any bytes: how long pages are, and how much of them is used."""
    whole = texts(salvaged(path).logs()[SCOPE])
    data = path.read_bytes()
    path.write_bytes(data[:at] + said + data[at + len(said) :])
    assert texts(salvaged(path).logs()[SCOPE]) == whole


def test_a_file_with_pages_of_another_size_is_read(path):
    whole = texts(salvaged(path).logs()[SCOPE])
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA journal_mode = DELETE; PRAGMA page_size = 1024; VACUUM;")
    assert layouts(path)[0] == (1024, 0)
    assert texts(salvaged(path).logs()[SCOPE]) == whole


@pytest.mark.parametrize("kept_back", ["before", "after"])
def test_what_was_erased_does_not_come_back(path, kept_back):
    """Not out of the place where a row lay once."""
    with opened(path) as store:
        store.rewrite(SCOPE, delete=[3, 4, 24], replace={}, expected=24)
        if kept_back == "before":
            store.receive(SCOPE, turn("later"), turn_id="later")
    log = salvaged(path).logs()[SCOPE]
    assert not {"t2", "t3", "t23"} & texts(log).keys() and not log.lost
    data = path.read_bytes()
    for start in range(PAGE, len(data), 2 * PAGE):
        path.write_bytes(data[:start] + bytes(16) + data[start + 16 :])  # the head of a page, so that it is searched
        assert not {"t2", "t3", "t23"} & texts(salvaged(path).logs()[SCOPE]).keys()


def test_a_row_with_a_value_of_another_kind_is_damaged(path):
    """One bit makes a text of bytes; nothing else tells that a record, an answer or a key is not what was written."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE records SET body = CAST(body AS TEXT) WHERE key = 'k3'")
        connection.execute("UPDATE keys SET body = CAST(body AS BLOB)")
    found = salvaged(path)
    assert found.damaged == {"records": 1, "keys": 1}
    assert len(found.logs()[SCOPE].records) == 8


def test_what_is_missing_is_named(path):
    """By the id of the turn where the index has it still."""
    data = path.read_bytes()
    at = data.index(b"turn 17 ")
    path.write_bytes(data[:at] + b"turn 71 " + data[at + 8 :])
    found = salvaged(path)
    log = found.logs()[SCOPE]
    assert log.lost == {18: "t17"} and found.damaged == {"events": 1}
    assert "t17" not in texts(log) and len(log.rows) == 23


def test_what_is_left_is_written_to_a_file_that_is_whole(path, tmp_path):
    data = path.read_bytes()
    at = data.index(b"turn 17 ")
    path.write_bytes(data[:at] + b"turn 71 " + data[at + 8 :])
    found = salvaged(path)
    new = tmp_path / "new.db"
    found.write(new, found.logs())
    again = salvaged(new)
    assert not again.complaints() and not again.damaged
    assert again.logs()[SCOPE].rows == found.logs()[SCOPE].rows and not again.logs()[SCOPE].lost
    with opened(new) as store:
        assert len(store.records(SCOPE, "s")) == 9 and len(store.answers(SCOPE)) == 5
        assert store.keys() == {"k_1": {"hash": "h"}}
        assert store.receive(SCOPE, turn("x"), turn_id="new").row.ordinal == 25
    with pytest.raises(InputError, match="already"):
        found.write(new, {})


def test_rows_of_a_time_before_there_were_digests_are_kept(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE events SET digest = NULL, previous = NULL")
        connection.execute("UPDATE heads SET digest = NULL, undigested = ordinal")
        connection.execute("DELETE FROM events WHERE ordinal = 9")
        connection.execute(
            "INSERT INTO events SELECT scope, 9, kind, 't8', about, known_at, '{', fence, NULL, NULL "
            "FROM events WHERE ordinal = 10"
        )
    found = salvaged(path)
    log = found.logs()[SCOPE]
    assert len(log.rows) == 23 and log.lost == {9: "t8"} and found.damaged == {"events": 1}


def test_words_that_are_no_words_any_more_are_damage(path):
    """Of a text that is not UTF-8, and of one whose last page is cut off behind it."""
    data = path.read_bytes()
    at = data.index(b'{"id":3}')
    path.write_bytes(data[:at] + b"\xff" + data[at + 1 :])
    assert salvaged(path).damaged == {"answers": 1}


def test_an_answer_is_not_taken_for_a_turn(path):
    """Where it is not known how far a log goes, the index of turns says so; that of answers looks like it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM heads")
    log = salvaged(path).logs()[SCOPE]
    assert log.disordered and not log.lost and len(log.rows) == 24


def test_of_a_turn_that_was_taken_in_twice_the_first_counts_and_the_order_stays(path):
    twice = values_of(SCOPE, 24, turn("turn 3 "), "t3", previous=23)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP INDEX events_turn")
        new = "UPDATE events SET turn_id = :turn_id, body = :body, digest = :digest WHERE ordinal = 24"
        connection.execute(new, twice)
    log = salvaged(path).logs()[SCOPE]
    assert log.disordered and [row.ordinal for row in log.rows] == [*range(1, 24)]


@pytest.mark.parametrize(("location", "error"), [(":memory:", InputError), ("nowhere.db", NotFoundError)])
def test_only_a_file_is_looked_at(location, error):
    with pytest.raises(error):
        salvaged(location)


def test_what_is_no_file_of_ours_holds_nothing(tmp_path):
    for name, data in (("empty", b""), ("short", b"SQLite format 3\0")):
        path = tmp_path / name
        path.write_bytes(data)
        found = salvaged(path)
        assert not found.logs() and not found.damaged
    path = tmp_path / "text"
    path.write_bytes(b"hello " * 9000)
    with pytest.raises(StoreForeignError):
        salvaged(path)
