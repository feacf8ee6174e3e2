"""Encrypted files: SQLCipher's own format, clear refusals, and whatever is whole in one that is damaged."""

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime

import pytest
import sqlcipher3.dbapi2 as sqlcipher

from doxa.backends import load
from doxa.backends.store import NewRow
from doxa.backends.store.cipher import PageCipher, salt_of, unlock
from doxa.backends.store.pages import Pages
from doxa.core.errors import (
    MissingDependencyError,
    StoreDamagedError,
    StoreForeignError,
    StoreKeyError,
    StoreLockedError,
)
from doxa.core.sealing import MemoryKey

SCOPE = "default/ana"
AT = datetime(2024, 1, 1, tzinfo=UTC)
KEY = MemoryKey(f"x'{'5a' * 32}'")
OTHER = MemoryKey(f"x'{'5b' * 32}'")


def turn(text):
    return NewRow(kind="turn", known_at=AT, body={"text": text})


def opened(path, key=KEY):
    return closing(load("store", f"sql:{path}", key=key))


def salvaged(path, key=KEY):
    return load("salvage", f"sql:{path}", key=key)


def texts(log):
    return {row.turn_id: row.body["text"] for row in log.rows if row.turn_id}


def said(store, scope=SCOPE):
    return [row.body["text"] for row in store.read(scope)]


def plain(path, key=KEY):
    """Return all pages of a file as SQLite has them, those of its write-ahead log as well."""
    pages = Pages(path, PageCipher.of(path, key))
    return b"".join(pages._page(number) for number in range(1, len(pages) + 1)) + pages._data


@pytest.fixture
def path(tmp_path):
    """Turns of two users, some of which do not fit in a page, with what is kept beside them."""
    path = tmp_path / "memory.db"
    with opened(path) as store:
        for n in range(24):
            store.receive(SCOPE, turn(f"turn {n} " + "word " * (n % 5 * 300)), turn_id=f"t{n}")
        store.receive("default/bob", turn("I live in Rome."), turn_id="b")
        store.keep_records(SCOPE, "s", {f"k{n}": b"x" * n * 500 for n in range(9)})
        store.keep_key("k_1", {"hash": "h"})
    return path


def test_sqlcipher_opens_what_a_passphrase_encrypts_and_the_other_way_about(tmp_path):
    """Nobody depends on Doxa to read a memory."""
    ours, theirs, key = tmp_path / "ours.db", tmp_path / "theirs.db", MemoryKey("it's a 'quoted' pass-φράση")
    with opened(ours, key) as store:
        store.receive(SCOPE, turn("hello"), turn_id="t")
    quoted = key.said.replace("'", "''")
    with closing(sqlcipher.connect(str(ours))) as connection:
        connection.execute(f"PRAGMA key = '{quoted}'")
        assert connection.execute("SELECT turn_id FROM events").fetchall() == [("t",)]
        connection.execute(f"ATTACH '{theirs}' AS theirs KEY '{quoted}'")
        connection.execute("SELECT sqlcipher_export('theirs')")
        connection.execute("PRAGMA theirs.application_id = 0x446F7861")
    with opened(theirs, key) as store:
        assert said(store) == ["hello"]


@pytest.mark.parametrize("kind", ["store", "salvage", "hold"])
@pytest.mark.parametrize(
    ("was", "given", "says"),
    [(KEY, None, "no key was given"), (KEY, OTHER, "cannot be opened by the key"), (None, KEY, "rekey")],
    ids=["no key", "another key", "no encrypted file"],
)
def test_a_file_that_the_key_does_not_fit_is_refused_and_left_as_it_is(tmp_path, kind, was, given, says):
    path = tmp_path / "memory.db"
    with opened(path, was) as store:
        store.receive(SCOPE, turn("hello"), turn_id="t")
    if kind == "hold" and was is None:
        return  # it needs none
    before = path.read_bytes()
    with pytest.raises(StoreKeyError, match=says) as told:
        load(kind, f"sql:{path}", key=given)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]
    assert "5a5a" not in str(told.value) and "5b5b" not in str(told.value)


def test_a_file_that_is_no_memory_is_told_from_an_encrypted_one(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"I live in Rome. " * 1000)
    with pytest.raises(StoreForeignError):
        load("store", f"sql:{path}")
    with pytest.raises(StoreKeyError, match="no memory"):
        load("store", f"sql:{path}", key=KEY)
    assert path.read_bytes() == b"I live in Rome. " * 1000


def test_without_the_extra_it_is_said_what_to_install(tmp_path, monkeypatch):
    for name in ("sqlcipher3", "sqlcipher3.dbapi2"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        load("store", f"sql:{tmp_path / 'memory.db'}", key=KEY)


def test_of_many_who_make_a_file_at_once_one_gives_it_its_salt(tmp_path):
    """A passphrase, whose bits depend on the salt."""
    path, key = tmp_path / "memory.db", MemoryKey("hunter2")

    def add(n):
        with opened(path, key) as store:
            store.receive(SCOPE, turn(f"turn {n}"), turn_id=f"t{n}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    with opened(path, key) as store:
        assert sorted(said(store)) == [f"turn {n}" for n in range(4)]


def test_nothing_of_a_file_and_its_log_can_be_read(path):
    with opened(path) as store:
        store.receive(SCOPE, turn("newest word"), turn_id="newest")
        files = [one.read_bytes() for one in path.parent.iterdir()]
        assert len(files) == 3 and not any(b"word" in one or b"events" in one for one in files)
        assert b"newest word" in plain(path)


def test_what_is_erased_is_in_no_page(path):
    """Freed space is zeroed before it is encrypted, and the write-ahead log is emptied."""
    with opened(path) as store:
        assert b"turn 17 " in plain(path)
        store.rewrite(SCOPE, delete=[18], replace={}, expected=24)
        assert b"turn 17 " not in plain(path) and b"turn 18 " in plain(path)
        store.erase(SCOPE)
        assert b"turn 18 " not in plain(path) and b"live in Rome" in plain(path)


@pytest.mark.parametrize(
    ("column", "name", "read"),
    [(3, "t9", lambda store: store.read(SCOPE)), (2, "k8", lambda store: store.records(SCOPE, "s"))],
    ids=["turn", "record"],
)
def test_a_page_that_is_damaged_touches_nobody_else(path, column, name, read):
    """Though SQLCipher refuses every page on a connection that has read it, whichever way it was asked."""
    (record,) = (
        one
        for one in Pages(path, PageCipher.of(path, KEY)).records()
        if len(one.values) > 5 and one.values[column] == name
    )
    data = bytearray(path.read_bytes())
    data[record.spans[-1][0]] ^= 1  # a page of a chain, which belongs to nothing else
    path.write_bytes(data)
    with opened(path) as store:
        for _ in range(3):
            with pytest.raises(StoreDamagedError, match="check-file"):
                read(store)
            assert said(store, "default/bob") == ["I live in Rome."] and store.keys() == {"k_1": {"hash": "h"}}


def test_what_is_whole_in_a_damaged_file_is_found(path, tmp_path):
    """A turn is lost where one of its own 16 bytes is touched; the rest of its page, and of all others, is there."""
    whole = texts(salvaged(path).logs()[SCOPE])
    assert len(whole) == 24 and not salvaged(path).complaints()
    (record,) = (
        one for one in Pages(path, PageCipher.of(path, KEY)).records() if len(one.values) > 6 and one.values[3] == "t3"
    )
    data = bytearray(path.read_bytes())
    data[record.spans[-1][1] - 40] ^= 1
    path.write_bytes(data)
    found = salvaged(path)
    log = found.logs()[SCOPE]
    assert texts(log) == {name: text for name, text in whole.items() if name != "t3"} and log.lost == {4: "t3"}
    assert any("is not what was encrypted" in one for one in found.complaints())
    new = tmp_path / "new.db"
    found.write(new, found.logs())
    assert texts(salvaged(new).logs()[SCOPE]) == texts(log)
    with pytest.raises(StoreKeyError):
        salvaged(new, None)


def test_what_is_in_the_write_ahead_log_alone_is_found(path, tmp_path):
    with opened(path) as store:
        store.receive(SCOPE, turn("newest"), turn_id="newest")
        copy = tmp_path / "copy.db"
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{copy}{end}")
    assert texts(salvaged(copy).logs()[SCOPE])["newest"] == "newest"


def test_a_file_is_held_by_one_and_only_while_nobody_has_it_open(path):
    with opened(path), pytest.raises(StoreLockedError, match="open"):
        load("hold", f"sql:{path}", key=KEY)
    with closing(load("hold", f"sql:{path}", key=KEY)), closing(sqlcipher.connect(str(path), timeout=0)) as other:
        unlock(other, KEY, salt_of(path, KEY))
        with pytest.raises(sqlcipher.OperationalError, match="locked"):
            other.execute("SELECT count(*) FROM events")
    with opened(path) as store:
        assert len(said(store)) == 24


def test_a_log_is_moved_from_one_key_to_another(path, tmp_path):
    """And compared by digest, as between any two databases."""
    new = tmp_path / "new.db"
    transfer = load("transfer", f"sql:{path}", target=str(new), key=KEY, target_key=OTHER)
    with closing(transfer):
        assert [transfer.move(scope).state for scope in transfer.scopes()] == ["copied", "copied"]
    with opened(path) as ours, opened(new, OTHER) as theirs:
        assert said(ours) == said(theirs) and said(ours, "default/bob") == said(theirs, "default/bob")
