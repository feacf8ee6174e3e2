"""The contract of a store, over every implementation, and what only a file can do."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from doxa.backends import load
from doxa.backends.store import Head, NewRow, Vector, connect, owner_name
from doxa.backends.store.salvage import LAYOUT
from doxa.core.errors import (
    ConfigError,
    StaleLeaseError,
    StoreConflictError,
    StoreDamagedError,
    StoreError,
    StoreForeignError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreVersionError,
)
from doxa.core.sealing import MemoryKey

AT = datetime(2024, 5, 1, 9, 30, 0, 123456, tzinfo=UTC)
SCOPE = "default/ana"
KEY = MemoryKey(f"x'{'5a' * 32}'")  # the bits themselves: nothing is derived, which takes its time for every file


def turn(text="hello", at=AT):
    """Make the row of a received turn."""
    return NewRow(kind="turn", known_at=at, body={"session": "s", "text": text})


def maintained(about, **body):
    """Make the row that says that a turn was processed."""
    return NewRow(kind="maintained", known_at=AT, body=body, about=about)


@pytest.fixture(params=["memory", "file", "encrypted", "postgres"])
def store(request, tmp_path):
    """Every implementation of the store, empty."""
    if request.param == "postgres":
        location = request.getfixturevalue("postgres_url")
    else:
        location = ":memory:" if request.param == "memory" else str(tmp_path / "memory.db")
    opened = load("store", f"sql:{location}", key=KEY if request.param == "encrypted" else None)
    yield opened
    opened.close()


def test_what_is_received_can_be_read(store):
    """A turn comes back with its text, time to the microsecond, and place."""
    received = store.receive(SCOPE, turn("Grüße 🌍 \x00"), turn_id="t1")
    (row,) = store.read(SCOPE)
    assert (row.turn_id, row.ordinal, row.known_at, row.body["text"]) == ("t1", 1, AT, "Grüße 🌍 \x00")
    assert received.row == row and not received.duplicate


def test_the_same_turn_id_twice_is_one_turn(store):
    """The stored row comes back, whatever was sent the second time."""
    store.receive(SCOPE, turn("first"), turn_id="t1")
    again = store.receive(SCOPE, turn("second"), turn_id="t1")
    assert again.duplicate and again.row.body["text"] == "first"
    assert len(store.read(SCOPE)) == 1


def test_a_turn_without_an_id_gets_one(store):
    """The id says the session and the place in the log."""
    assert store.receive(SCOPE, turn(), turn_id=None).row.turn_id == "s:1"


def test_scopes_are_apart(store):
    """The same turn id in two scopes is two turns."""
    store.receive(SCOPE, turn("a"), turn_id="t1")
    store.receive("default/ben", turn("b"), turn_id="t1")
    assert [row.body["text"] for row in store.read("default/ben")] == ["b"]
    assert store.scopes() == [SCOPE, "default/ben"]


def test_an_append_that_saw_the_last_state_succeeds_and_an_older_one_is_refused(store):
    """Optimistic version: receiving in between is no conflict, another change of state is."""
    first = store.receive(SCOPE, turn(), turn_id="t1").row.ordinal
    store.receive(SCOPE, turn(), turn_id="t2")
    state = store.append(SCOPE, maintained(first), expected_state=0).ordinal
    with pytest.raises(StoreConflictError):
        store.append(SCOPE, maintained(first), expected_state=0)
    store.append(SCOPE, maintained(2), expected_state=state)
    assert store.pending() == []


def test_pending_names_scopes_with_unprocessed_turns(store):
    """What a crash leaves behind is found again."""
    store.receive(SCOPE, turn(), turn_id="t1")
    assert store.pending() == [SCOPE]


def test_vectors_come_back_by_model(store):
    """A vector is stored with its turn, and one of another model is not given."""
    store.receive(SCOPE, turn(), turn_id="t1")
    store.append(SCOPE, maintained(1), expected_state=0, vector=("m1", b"\x01\x02"))
    assert store.vectors(SCOPE, model="m1") == [Vector(ordinal=1, data=b"\x01\x02")]
    assert store.vectors(SCOPE, model="m2") == []
    store.put_vectors(SCOPE, model="m2", vectors=[Vector(ordinal=1, data=b"\x03")])
    assert store.vectors(SCOPE, model="m2") == [Vector(ordinal=1, data=b"\x03")]


def test_rewriting_removes_rows_and_vectors_and_leaves_a_mark(store):
    """What was removed is gone, what was replaced reads new, and readers can tell that the past changed."""
    for n in (1, 2):
        store.receive(SCOPE, turn(f"text {n}"), turn_id=f"t{n}")
    state = store.append(SCOPE, maintained(1), expected_state=0, vector=("m", b"1")).ordinal
    counts = store.rewrite(SCOPE, delete=[1, state], replace={2: {"text": "new"}}, expected=3)
    assert counts == {"vectors": 1, "turn": 1, "maintained": 1}
    assert [(row.kind, row.body) for row in store.read(SCOPE)] == [("turn", {"text": "new"}), ("erased", {})]


def test_rewriting_refuses_when_somebody_wrote(store):
    """Nothing is removed when the log grew in between."""
    store.receive(SCOPE, turn(), turn_id="t1")
    with pytest.raises(StoreConflictError):
        store.rewrite(SCOPE, delete=[1], replace={}, expected=0)
    assert len(store.read(SCOPE)) == 1


def test_erasing_a_scope_leaves_nothing(store):
    """The scope is as if it had never been."""
    store.receive(SCOPE, turn(), turn_id="t1")
    assert store.erase(SCOPE)["turn"] == 1
    assert store.scopes() == [] and store.read(SCOPE) == [] and store.head(SCOPE).ordinal == 0


def test_records_are_kept_by_key_and_shelf(store):
    """Written over, removed, and found by how their keys begin, whatever signs are in them."""
    store.keep_records(SCOPE, "one", {"b": b"2", "a_1": b"\x00\xff", "ax1": b"3", "A_1": b"6"})
    store.keep_records(SCOPE, "one", {"b": None, "ax1": b"4"})
    store.keep_records(SCOPE, "two", {"b": b"5"})
    assert list(store.records(SCOPE, "one").items()) == [("A_1", b"6"), ("a_1", b"\x00\xff"), ("ax1", b"4")]
    assert store.records(SCOPE, "one", prefix="a_") == {"a_1": b"\x00\xff"}
    assert store.records(SCOPE, "one", keys=["b", "ax1"]) == {"ax1": b"4"}
    assert store.last_record(SCOPE, "one", prefix="a") == ("ax1", b"4")
    assert store.last_record(SCOPE, "one", prefix="b") is None
    assert store.records("default/bo", "one") == {} and store.scopes() == []


def test_more_records_than_a_statement_has_room_for(store):
    """They are written and read in parts."""
    bodies = {f"{n:05}": b"x" for n in range(1201)}
    store.keep_records(SCOPE, "one", bodies)
    assert store.records(SCOPE, "one", keys=list(bodies)) == bodies
    assert store.erase_records(SCOPE, "one", prefix="000") == 100


def test_records_are_written_only_where_what_is_there_is_as_expected(store):
    """All or none; None stands for a record that there is not."""
    assert store.keep_records(SCOPE, "one", {"a": b"1", "b": b"2"}, expected={"a": None, "z": None})
    for wrong in ({"a": None}, {"a": b"2"}, {"a": b"1", "z": b"9"}):
        assert not store.keep_records(SCOPE, "one", {"a": b"3", "b": None}, expected=wrong)
    assert store.records(SCOPE, "one") == {"a": b"1", "b": b"2"}
    assert store.keep_records(SCOPE, "one", {"a": b"3", "b": None}, expected={"a": b"1"})
    assert store.records(SCOPE, "one") == {"a": b"3"} and store.records(SCOPE, "two") == {}


def test_of_writers_who_expect_the_same_record_one_is_let_through(store):
    """A number that many writers raise loses none of them."""

    def raise_it(_):
        while True:
            before = store.records(SCOPE, "one").get("n")
            after = str(int(before or b"0") + 1).encode()
            if store.keep_records(SCOPE, "one", {"n": after}, expected={"n": before}):
                return

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(raise_it, range(24)))
    assert store.records(SCOPE, "one") == {"n": b"24"}


def test_records_are_erased_with_the_log(store):
    """And counted; those of others stay."""
    store.receive(SCOPE, turn(), turn_id="t1")
    store.keep_records(SCOPE, "one", {"a": b"1"})
    store.keep_records("default/bo", "one", {"a": b"2"})
    assert store.erase(SCOPE) == {"vectors": 0, "turn": 1, "records": 1}
    assert store.records(SCOPE, "one") == {} and store.records("default/bo", "one") == {"a": b"2"}


def test_a_log_begun_anew_is_told_apart_from_the_erased_one(store):
    """Its rows lie after those of the old one, with a mark for readers that still hold the old state."""
    for n in (1, 2):
        store.receive(SCOPE, turn(), turn_id=f"t{n}")
    store.erase(SCOPE)
    assert store.pending() == []
    row = store.receive(SCOPE, turn("new"), turn_id="t1").row
    assert row.ordinal > 2 and [r.kind for r in store.read(SCOPE, after=2)] == ["erased", "turn"]
    assert store.scopes() == store.pending() == [SCOPE]


def test_the_first_change_of_a_log_is_taken_when_another_log_was_erased(store):
    """It is refused once, since the log begins after the erased one, and taken when it is tried again."""
    store.receive("other", turn(), turn_id="t1")
    store.erase("other")
    change = NewRow(kind="tasked", known_at=AT, body={})
    with pytest.raises(StoreConflictError):
        store.append(SCOPE, change, expected_state=store.head(SCOPE).state)
    store.append(SCOPE, change, expected_state=store.head(SCOPE).state)
    assert [row.kind for row in store.read(SCOPE)] == ["erased", "tasked"]


def test_no_log_is_begun_for_what_was_made_of_an_erased_turn(store):
    """Its processing may end after the erasure."""
    store.receive(SCOPE, turn(), turn_id="t1")
    store.erase(SCOPE)
    with pytest.raises(StoreConflictError):
        store.append(SCOPE, maintained(1), expected_state=0)
    assert store.scopes() == []


def test_a_turn_may_be_refused_when_something_was_erased(store):
    """A reply to an erased question is not stored, and no log is begun for it."""
    asked = store.receive(SCOPE, turn(), turn_id="t1").row.ordinal
    assert not store.receive(SCOPE, turn(), turn_id="t2", unless_erased_after=asked).duplicate
    store.rewrite(SCOPE, delete=[asked], replace={}, expected=2)
    with pytest.raises(StoreConflictError):
        store.receive(SCOPE, turn(), turn_id="t3", unless_erased_after=asked)
    store.erase(SCOPE)
    with pytest.raises(StoreConflictError):
        store.receive(SCOPE, turn(), turn_id="t3", unless_erased_after=asked)
    assert store.scopes() == []


def test_no_vector_is_written_for_a_turn_that_was_erased(store):
    """It was encoded anew while somebody erased it."""
    store.receive(SCOPE, turn(), turn_id="t1")
    store.erase(SCOPE)
    store.put_vectors(SCOPE, model="m", vectors=[Vector(ordinal=1, data=b"1")])
    assert store.vectors(SCOPE, model="m") == []


def test_two_first_writers_of_one_scope_are_both_served(store, monkeypatch):
    """The one whose row was there already (Postgres lets both through) tries again."""
    store.receive(SCOPE, turn(), turn_id="t0")
    real, calls = store._locked_head, []

    def blind(connection, scope):
        calls.append(scope)
        return Head() if len(calls) == 1 else real(connection, scope)

    monkeypatch.setattr(store, "_locked_head", blind)
    assert store.receive(SCOPE, turn(), turn_id="t1").row.ordinal == 2 and len(calls) == 2


def test_a_lease_keeps_a_living_process_out_and_a_dead_one_does_not(store):
    """Only one owner at a time; the lease of a process that is gone is taken over."""
    store.receive(SCOPE, turn(), turn_id="t1")
    ours = owner_name()
    assert store.lease(SCOPE, owner=ours, seconds=60)
    assert not store.lease(SCOPE, owner="another-host/1", seconds=60)
    store.lease(SCOPE, owner=ours, seconds=0)
    host = ours.partition("/")[0]
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert store.lease(SCOPE, owner=f"{host}/{ended.pid}/1", seconds=60)
    assert store.lease(SCOPE, owner=ours, seconds=60)


def test_two_holders_of_one_process_are_two(store):
    """Each has a name of its own, and the second waits for the first."""
    store.receive(SCOPE, turn(), turn_id="t1")
    first, second = owner_name(), owner_name()
    assert store.lease(SCOPE, owner=first, seconds=60) and not store.lease(SCOPE, owner=second, seconds=60)
    assert store.lease(SCOPE, owner=second, seconds=0) == 0  # what is not ours cannot be given back
    assert not store.lease(SCOPE, owner=second, seconds=60)


def test_the_token_of_a_lease_grows_with_every_change_of_holder(store):
    """It stays the same while the lease is renewed, also late where nobody has come between."""
    store.receive(SCOPE, turn(), turn_id="t1")
    assert [store.lease(SCOPE, owner="a/1/1", seconds=seconds) for seconds in (1e-6, 1e-6, 60)] == [1, 1, 1]
    assert store.lease(SCOPE, owner="b/1/1", seconds=60) == 0
    store.lease(SCOPE, owner="a/1/1", seconds=0)
    assert [store.lease(SCOPE, owner=owner, seconds=1e-6) for owner in ("a/1/1", "b/1/1", "a/1/1")] == [2, 3, 4]
    assert store.head(SCOPE).fence == 4


def test_there_is_no_lease_of_a_log_that_is_not_there(store):
    """Nor is one begun."""
    assert store.lease(SCOPE, owner="a/1/1", seconds=60) == 0
    assert store.head(SCOPE) == Head() and store.scopes() == []


def test_a_holder_that_was_away_too_long_writes_nothing(store):
    """Also where the state is still as it expects; who holds the lease now writes, and its token is in the log."""
    store.receive(SCOPE, turn(), turn_id="t1")
    paused = store.lease(SCOPE, owner="a/1/1", seconds=1e-6)
    current = store.lease(SCOPE, owner="b/1/1", seconds=60)
    with pytest.raises(StaleLeaseError) as refused:
        store.append(SCOPE, replace(maintained(1), fence=paused), expected_state=0, vector=("m", b"1"))
    assert (refused.value.fence, refused.value.latest) == (paused, current)
    assert store.head(SCOPE).maintained == 0 and store.vectors(SCOPE, model="m") == []
    written = store.append(SCOPE, replace(maintained(1), fence=current), expected_state=0)
    assert store.read(SCOPE, after=1) == [written] and written.fence == current


def test_failures_are_counted_until_a_turn_is_processed(store):
    """They are of the turns that wait, and go when these are processed, erased, or forgiven."""
    for n in (1, 2):
        store.receive(SCOPE, turn(), turn_id=f"t{n}")
    assert store.fail("default/nobody", "x") == 0 and store.failures() == []
    assert [store.fail(SCOPE, reason) for reason in ("first", "disk full")] == [1, 2]
    (failure,) = store.failures()
    assert (failure.scope, failure.times, failure.reason) == (SCOPE, 2, "disk full")
    assert abs(failure.at - datetime.now(UTC)) < timedelta(minutes=1)
    store.append(SCOPE, maintained(1), expected_state=0)
    assert store.failures() == [] and store.fail(SCOPE, "again") == 1
    assert store.forgive(SCOPE) and not store.forgive(SCOPE) and store.failures() == []
    store.fail(SCOPE, "again")
    store.rewrite(SCOPE, delete=[2], replace={}, expected=3)
    assert store.failures() == []


def test_a_failure_whose_reason_no_text_of_a_database_can_be_is_counted(store):
    store.receive(SCOPE, turn(), turn_id="t1")
    assert [store.fail(SCOPE, f"the model said {sign}") for sign in ("\0", "\ud83d", "é")] == [1, 2, 3]
    assert store.failures()[0].reason == "the model said é"


def test_pending_turns_that_somebody_holds_are_not_free(store):
    for scope in (SCOPE, "default/ben", "default/cleo"):
        store.receive(scope, turn(), turn_id="t1")
    store.lease(SCOPE, owner="a/1/1", seconds=60)
    store.lease("default/ben", owner="a/1/1", seconds=1e-6)
    assert store.pending(free=True) == ["default/ben", "default/cleo"] and len(store.pending()) == 3


def test_of_many_who_ask_for_a_lease_at_once_one_gets_it(store):
    """No token is given twice."""
    store.receive(SCOPE, turn(), turn_id="t1")
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda n: store.lease(SCOPE, owner=f"h{n}/1/1", seconds=60), range(8)))
    assert sorted(got) == [0] * 7 + [1]


def test_a_change_without_a_lease_is_let_through_while_somebody_holds_one(store):
    """What a person corrects waits for no reading of turns."""
    store.receive(SCOPE, turn(), turn_id="t1")
    store.lease(SCOPE, owner="a/1/1", seconds=60)
    change = NewRow(kind="tasked", known_at=AT, body={})
    assert store.append(SCOPE, change, expected_state=0).fence is None


def test_a_log_that_is_written_whole_keeps_its_tokens_and_goes_on_above_them(store):
    """Along a log they never fall."""
    store.receive(SCOPE, turn(), turn_id="t1")
    fence = [store.lease(SCOPE, owner=f"{name}/1/1", seconds=1e-6) for name in "abc"][-1]
    store.append(SCOPE, replace(maintained(1), fence=fence), expected_state=0)
    store.restore("default/ben", store.read(SCOPE))
    assert store.read("default/ben") == store.read(SCOPE)
    assert store.lease("default/ben", owner="a/1/1", seconds=60) == fence + 1


def test_threads_lose_nothing(store):
    """Eight threads that receive at once leave every turn, once, without a gap."""

    def send(worker):
        for n in range(25):
            store.receive(SCOPE, turn(), turn_id=f"{worker}:{n}")

    threads = [threading.Thread(target=send, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row.ordinal for row in store.read(SCOPE)] == list(range(1, 201))


def test_a_time_before_1970_is_kept(store):
    """Negative times are times."""
    store.receive(SCOPE, turn(at=AT - timedelta(days=40_000)), turn_id="t1")
    assert store.read(SCOPE)[0].known_at == AT - timedelta(days=40_000)


OTHER_PROCESS = """
import sys
from doxa.backends import load
from doxa.core.sealing import MemoryKey
path, said = sys.argv[1:]
store = load("store", f"sql:{path}", key=MemoryKey(said) if said else None)
print(*[row.turn_id for row in store.read("default/ana")])
store.close()
"""


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
def test_a_process_that_opens_a_file_twice_keeps_its_locks(tmp_path, key):
    """Else another process that closes it takes the write-ahead log away, with what is received from then on."""
    path = tmp_path / "memory.db"
    said = "" if key is None else key.said

    def elsewhere():
        command = [sys.executable, "-c", OTHER_PROCESS, str(path), said]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()

    with closing(load("store", f"sql:{path}", key=key)) as store:
        store.receive(SCOPE, turn(), turn_id="t1")
        load("store", f"sql:{path}", key=key).close()
        assert elsewhere() == ["t1"]
        store.receive(SCOPE, turn(), turn_id="t2")
        assert elsewhere() == ["t1", "t2"]


def test_a_foreign_file_is_refused_and_left_as_it_is(tmp_path):
    """Text, another program's database and a folder are not overwritten."""
    text = tmp_path / "notes.txt"
    text.write_text("Dear diary, this is not a database.")
    with pytest.raises(StoreForeignError, match="not a Doxa memory"):
        load("store", f"sql:{text}")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE events (x)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(StoreForeignError, match="another program"):
        load("store", f"sql:{other}")
    assert text.read_text().startswith("Dear diary") and other.read_bytes() == before
    with pytest.raises(StoreForeignError, match="folder"):
        load("store", f"sql:{tmp_path}")


def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path):
    """A torn file is not repaired by writing over it."""
    path = tmp_path / "memory.db"
    store = load("store", f"sql:{path}")
    for n in range(50):
        store.receive(SCOPE, turn("x" * 500), turn_id=f"t{n}")
    store.close()
    whole = path.read_bytes()
    torn = whole[:100] + b"\xff" * 4000 + whole[4100:]
    path.write_bytes(torn)
    with pytest.raises(StoreDamagedError, match="damaged"), closing(load("store", f"sql:{path}")) as damaged:
        damaged.read(SCOPE)
    assert path.read_bytes() == torn


def test_a_newer_format_is_refused(tmp_path):
    """A file of a later Doxa is not touched, and the message says to upgrade."""
    path = tmp_path / "memory.db"
    load("store", f"sql:{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'm999'")
    connection.close()
    with pytest.raises(StoreVersionError, match="pip install --upgrade doxa"):
        load("store", f"sql:{path}")


def test_a_format_that_became_newer_just_before_it_is_brought_up_to_date_is_refused(tmp_path, monkeypatch):
    """A process of a later Doxa was faster."""
    path, real, looks = tmp_path / "memory.db", connect.version_of, []
    load("store", f"sql:{path}").close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = 'm999'")

    def version_of(connection):
        looks.append(real(connection))
        return "m007" if len(looks) == 1 else looks[-1]

    monkeypatch.setattr(connect, "version_of", version_of)
    with pytest.raises(StoreVersionError, match="pip install --upgrade doxa"):
        load("store", f"sql:{path}")
    assert looks == ["m999", "m999"]


def test_a_missing_folder_says_so(tmp_path):
    """No folder is made behind the user's back."""
    with pytest.raises(StoreError, match="does not exist"):
        load("store", f"sql:{tmp_path / 'nowhere' / 'memory.db'}")


@pytest.mark.parametrize(
    "url", ["nosuchdatabase://host/name", "mysql://host/name", ""], ids=["unknown", "mysql", "empty"]
)
def test_a_database_that_is_not_supported_is_a_config_error(url):
    """The message says what may be given."""
    with pytest.raises(ConfigError, match=r"[Ee]xpected"):
        load("store", f"sql:{url}")


def test_a_locked_file_is_an_error_that_says_what_to_do(tmp_path):
    """A writer that does not let go is reported after the time-out, and nothing was written."""
    path = tmp_path / "memory.db"
    store = load("store", f"sql:{path}", timeout_s=0.1)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLockedError, match="store.timeout_s"):
        store.receive(SCOPE, turn(), turn_id="t1")
    holder.execute("ROLLBACK")
    holder.close()
    assert store.read(SCOPE) == []
    store.close()


def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path):
    """When no page is left the turn is refused, and the ones before it are all there."""
    path = tmp_path / "memory.db"
    store = load("store", f"sql:{path}")
    store.receive(SCOPE, turn("kept"), turn_id="t1")
    with store._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreFullError):
        store.receive(SCOPE, turn("x" * 1_000_000), turn_id="t2")
    assert [row.turn_id for row in store.read(SCOPE)] == ["t1"]
    store.close()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_says_so(tmp_path):
    """The error names the folder."""
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(StoreReadOnlyError):
        load("store", f"sql:{folder / 'memory.db'}")
    shutil.rmtree(folder, ignore_errors=True)


def test_the_oldest_schema_is_upgraded(tmp_path):
    """A file that only the first migration has seen opens and keeps its turns."""
    path = tmp_path / "memory.db"
    store = load("store", f"sql:{path}")
    store.receive(SCOPE, turn("old"), turn_id="t1")
    store.close()
    again = load("store", f"sql:{path}")
    assert [row.body["text"] for row in again.read(SCOPE)] == ["old"]
    again.close()


def test_a_file_of_this_version_is_opened_without_looking_for_migrations(tmp_path):
    """The newest migration is the one that the code names; else every start would look for others."""
    migrations = Path(connect.__file__).parent / "migrations" / "versions"
    assert max(path.stem.split("_")[0] for path in migrations.glob("m*.py")) == connect.HEAD


def test_a_new_file_is_made_as_the_migrations_would_make_it(tmp_path):
    """To the order of the columns, and without a migration that runs."""
    from alembic import command
    from alembic.config import Config

    for name in ("migrated", "new"):
        engine = sa.create_engine(f"sqlite:///{tmp_path / name}.db")
        if name == "migrated":
            config = Config()
            config.set_main_option("script_location", str(Path(connect.__file__).parent / "migrations"))
            with engine.begin() as connection:
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        else:
            load("store", f"sql:{tmp_path / name}.db").close()
        engine.dispose()
    migrated, new = (tables_of(tmp_path / f"{name}.db") for name in ("migrated", "new"))
    assert migrated == new
    assert {table: [column[1] for column in new[table][0]] for table in LAYOUT} == {
        table: list(columns) for table, columns in LAYOUT.items()
    }


def tables_of(path):
    """Return each table of a file with its columns and indexes, in their order."""
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: (
                connection.execute(f"PRAGMA table_xinfo({name})").fetchall(),
                {
                    index[1:]: connection.execute(f"PRAGMA index_xinfo({index[1]})").fetchall()
                    for index in connection.execute(f"PRAGMA index_list({name})")
                },
                connection.execute("SELECT wr FROM pragma_table_list WHERE name = ?", (name,)).fetchall(),
            )
            for name in names
        } | {"version": connection.execute("SELECT version_num FROM alembic_version").fetchall()}


def test_making_a_memory_loads_no_migrations(tmp_path):
    """What runs them is slow to import, and a new file needs none of it."""
    code = "import sys; from doxa.backends import load; load('store', sys.argv[1]); sys.exit('alembic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code, f"sql:{tmp_path}/memory.db"], check=False).returncode == 0


def test_opening_waits_for_another_process_that_makes_the_same_file(tmp_path):
    """Until the first of them has switched to the write-ahead log, SQLite itself would not wait."""
    path = tmp_path / "memory.db"
    first = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    first.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, first.rollback)
    release.start()
    try:
        load("store", f"sql:{path}").close()
    finally:
        release.join()
        first.close()


def test_a_memory_of_the_first_format_is_brought_up_to_date(tmp_path):
    """What it holds stays, and what is new has its table."""
    path = tmp_path / "memory.db"
    with closing(load("store", f"sql:{path}")) as store:
        store.receive(SCOPE, turn(), turn_id="t1")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE answers")
        connection.execute("DROP TABLE keys")
        connection.execute("DROP TABLE records")
        later = ("fence", "failures", "failed_at", "failure", "undigested", "digest")
        columns = [
            *(f"heads.{name}" for name in later),
            *(f"events.{name}" for name in ("fence", "previous", "digest")),
        ]
        for column in (*columns, "vectors.digest"):
            connection.execute("ALTER TABLE {} DROP COLUMN {}".format(*column.split(".")))
        connection.execute("UPDATE alembic_version SET version_num = 'm001'")
    with closing(load("store", f"sql:{path}")) as store:
        assert [row.turn_id for row in store.read(SCOPE)] == ["t1"]
        store.keep_answers(SCOPE, {"a_1": {"id": "a_1"}}, latest=5)
        assert store.answers(SCOPE, "a_1") == [{"id": "a_1"}]
        store.keep_key("k1", {"tenant": "t"})
        assert store.keys() == {"k1": {"tenant": "t"}}
        store.keep_records(SCOPE, "shelf", {"a": b"1"})
        assert store.records(SCOPE, "shelf") == {"a": b"1"}
        fence = store.lease(SCOPE, owner=owner_name(), seconds=60)
        assert store.append(SCOPE, replace(maintained(1), fence=fence), expected_state=0).fence == 1


def test_answers_are_given_page_by_page_the_latest_first(store):
    store.keep_answers(SCOPE, {f"a_{n}": {"id": f"a_{n}"} for n in range(5)}, latest=10)
    store.keep_answers("default/ben", {"b_1": {"id": "b_1"}}, latest=10)
    first = store.latest_answers(SCOPE, limit=3)
    assert [body["id"] for _, body in first] == ["a_4", "a_3", "a_2"]
    rest = store.latest_answers(SCOPE, before=first[-1][0], limit=3)
    assert [body["id"] for _, body in rest] == ["a_1", "a_0"]


def test_an_answer_is_written_anew_in_its_place_and_never_brought_back(store):
    store.keep_answers(SCOPE, {f"a_{n}": {"id": f"a_{n}", "text": "long"} for n in range(3)}, latest=10)
    store.drop_answers(SCOPE, ["a_2"])
    store.amend_answers(SCOPE, {"a_0": {"id": "a_0", "text": "short"}, "a_2": {"id": "a_2", "text": "short"}})
    assert store.answers(SCOPE) == [{"id": "a_0", "text": "short"}, {"id": "a_1", "text": "long"}]


def test_a_record_goes_with_the_turn_that_says_it(store):
    first = store.receive(SCOPE, turn("one"), turn_id="a").row.ordinal
    store.receive(SCOPE, turn("two"), turn_id="b")
    store.receive("default/ben", turn("one"), turn_id="a")
    for scope in (SCOPE, "default/ben"):
        store.keep_records(scope, "s", {"1": b"one", "2": b"two", "3": b""}, said_by={"1": "a", "2": "b"})
    counts = store.rewrite(SCOPE, delete=[first], replace={}, expected=store.head(SCOPE).ordinal)
    assert counts["records"] == 1
    assert list(store.records(SCOPE, "s")) == ["2", "3"]
    assert list(store.records("default/ben", "s")) == ["1", "2", "3"]
    store.keep_records(SCOPE, "s", {"2": b"else"})  # no longer what the turn says
    store.rewrite(SCOPE, delete=[first + 1], replace={}, expected=store.head(SCOPE).ordinal)
    assert list(store.records(SCOPE, "s")) == ["2", "3"]


def test_many_turns_are_received_at_once_and_known_ones_given_back(store):
    """In order, in one transaction, none twice; what is known stays as it is."""
    first = store.receive(SCOPE, turn("one"), turn_id="a")
    found = store.receive_many(SCOPE, {"b": turn("two"), "a": turn("other"), "c": turn("three")})
    assert {key: (one.row.ordinal, one.duplicate) for key, one in found.items()} == {
        "a": (first.row.ordinal, True),
        "b": (2, False),
        "c": (3, False),
    }
    assert found["a"].row == first.row
    assert [row.turn_id for row in store.read(SCOPE)] == ["a", "b", "c"]
    assert store.head(SCOPE).received == 3
    assert all(one.duplicate for one in store.receive_many(SCOPE, {"b": turn("two"), "c": turn("three")}).values())
    assert store.receive(SCOPE, turn("four"), turn_id="d").row.ordinal == 4
    assert store.receive_many(SCOPE, {}) == {}


def test_more_turns_than_a_statement_takes_are_received(store):
    many = {f"t{number}": turn(str(number)) for number in range(1234)}
    assert not any(one.duplicate for one in store.receive_many(SCOPE, many).values())
    assert [row.turn_id for row in store.read(SCOPE)] == list(many)
    assert all(one.duplicate for one in store.receive_many(SCOPE, many).values())


def test_records_and_turns_are_counted(store):
    """Of one scope or some turns; what is not there counts for nothing."""
    for key in ("a", "b"):
        store.receive(SCOPE, NewRow(kind="turn", known_at=AT, body={}), turn_id=key)
    store.receive("other/ana", NewRow(kind="turn", known_at=AT, body={}), turn_id="a")
    store.keep_records(SCOPE, "one", {"x": b"1", "y": b"2", "z": b"3"}, said_by={"x": "a", "y": "b"})
    assert store.count_records(SCOPE) == 3 and store.count_records(SCOPE, ["a", "c"]) == 1
    assert store.count_records(SCOPE, []) == store.count_records("other/ana") == 0
    assert store.count_turns([SCOPE, "other/ana", "nobody"]) == {SCOPE: 2, "other/ana": 1}
