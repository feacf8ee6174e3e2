"""A database copied into another one: every table, every pair, broken off, hindered."""

import hashlib
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from doxa.backends import load
from doxa.backends.store import NewRow, Vector
from doxa.core.errors import InputError, NotFoundError, StoreDamagedError, StoreError, StoreForeignError
from doxa.engine import migrate

AT = datetime(2024, 5, 1, 9, 30, 0, 123456, tzinfo=UTC)


def opened(location):
    return closing(load("store", f"sql:{location}"))


def turn(text="hello"):
    return NewRow(kind="turn", known_at=AT, body={"session": "s", "text": text})


def fill(location, users=3):
    """Write something into every table, with signs that databases treat differently."""
    with opened(location) as store:
        store.receive("default/gone", turn(), turn_id="t")
        store.erase("default/gone")
        for user in range(users):
            scope = f"default/ü {user}"
            for n in range(4):
                store.receive(scope, turn(f"Grüße 🌍 \x00 \t\\N {n}"), turn_id=f"t{n}")
            head = store.head(scope)
            fence = store.lease(scope, owner="elsewhere/1/1", seconds=60)
            change = NewRow(kind="maintained", known_at=AT, body={}, about=head.received - 1, fence=fence)
            store.append(scope, change, expected_state=head.state, vector=("m", b"\x00\xff"))
            store.keep_answers(scope, {"a_1": {"id": "a_1", "text": "é"}, "a_2": {"id": "a_2"}}, latest=5)
            keys = ("b", "A", "ä", "_", "a" * 400)
            store.keep_records(scope, "s", {key: key.encode() for key in keys}, said_by={"b": "t1"})
        store.keep_records("default/no log", "s", {"k": b"v"})
        store.keep_key("k1", {"tenant": "default", "label": "ü"})
        assert store.lease("default/ü 0", owner="elsewhere/1/1", seconds=60) == 1


def content(location):
    """Return all that the protocol gives of a database."""
    with opened(location) as store:
        scopes = [*store.scopes(), "default/no log"]
        return {
            "scopes": scopes,
            "keys": store.keys(),
            **{
                scope: (
                    store.read(scope),
                    store.vectors(scope, model="m"),
                    store.latest_answers(scope, limit=9),
                    store.records(scope, "s"),
                    store.count_records(scope, ["t1"]),
                    store.head(scope),
                )
                for scope in scopes
            },
        }


def states(found):
    return {one.scope or one.what: one.state for one in found.moved}


def filled(request, tmp_path, pair):
    """Return the addresses of a filled database and of one that is empty, or not there yet."""
    found = []
    for name, kind in zip(("from", "to"), pair.split(" to "), strict=True):
        fixture = "postgres_url" if name == "from" else "other_postgres_url"
        found.append(request.getfixturevalue(fixture) if kind == "postgres" else str(tmp_path / f"{name}.db"))
    fill(found[0])
    return found


@pytest.fixture(params=["file to file", "file to postgres", "postgres to file", "postgres to postgres"])
def any_places(request, tmp_path):
    return filled(request, tmp_path, request.param)


@pytest.fixture(params=["file to postgres", "postgres to file"])
def places(request, tmp_path):
    return filled(request, tmp_path, request.param)


def test_everything_is_there_afterwards_and_nothing_is_held_by_anybody(any_places):
    source, target = any_places
    found = migrate(source, target)
    assert found.complete and set(states(found).values()) == {"copied"}
    assert content(target) == content(source)
    with opened(target) as store:
        assert store.lease("default/ü 0", owner="another/1/1", seconds=60) == 2  # above what its log was written under
        assert store.receive("default/new", turn(), turn_id="t").row.ordinal > 1  # after what was erased
    assert migrate(source, target, only_compare=True).complete


def test_a_second_time_nothing_is_written(places):
    source, target = places
    first = migrate(source, target)
    second = migrate(source, target)
    assert set(states(second).values()) == {"same"}
    digests = [{one.scope: one.digest for one in found.moved if one.what == "log"} for found in (first, second)]
    assert digests[0] == digests[1] and len(digests[0]) == 4


def test_one_that_was_broken_off_goes_on(places):
    """It stops in the middle of a user, of whom nothing stays."""
    source, target = places

    class BrokenOffError(Exception):
        pass

    seen = []

    def told(step, done, whole):
        seen.append((done, whole))
        if len(seen) == 2:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        migrate(source, target, told=told)
    half = migrate(source, target, only_compare=True)
    assert not half.complete and {"same", "missing"} <= set(states(half).values())
    again = migrate(source, target)
    assert again.complete and {"same", "copied"} <= set(states(again).values())
    assert content(target) == content(source)


def test_what_the_target_holds_of_a_user_is_never_written_over(places):
    source, target = places
    with opened(target) as store:
        store.receive("default/ü 1", turn("mine"), turn_id="t0")
        store.keep_records("default/ü 2", "s", {"b": b"mine"})
        store.keep_key("k1", {"tenant": "mine"})
        store.keep_key("k2", {"tenant": "mine"})
    found = migrate(source, target)
    assert not found.complete
    assert {where: state for where, state in states(found).items() if state == "differs"} == {
        "default/ü 1": "differs",
        "default/ü 2": "differs",
        "keys": "differs",
    }
    with opened(target) as store:
        assert [row.body["text"] for row in store.read("default/ü 1")] == ["mine"]
        assert store.records("default/ü 2", "s") == {"b": b"mine"} and store.read("default/ü 2") == []
        assert store.keys()["k1"] == {"tenant": "mine"}
        assert len(store.read("default/ü 0")) == 6


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE events SET body = '{}' WHERE ordinal = 3 AND scope = 'default/ü 1'",
        "UPDATE events SET known_at = known_at + 1 WHERE ordinal = 3 AND scope = 'default/ü 1'",
        "UPDATE vectors SET data = 'x' WHERE scope = 'default/ü 1'",
        "UPDATE answers SET ordinal = ordinal + 5 WHERE scope = 'default/ü 1'",
        "UPDATE records SET turn_id = NULL WHERE scope = 'default/ü 1'",
        "UPDATE heads SET received = received - 1 WHERE scope = 'default/ü 1'",
        "DELETE FROM records WHERE key = '_' AND scope = 'default/ü 1'",
    ],
    ids=["text", "time", "vector", "place", "turn of a record", "head", "lost record"],
)
def test_the_smallest_difference_is_found(tmp_path, change):
    source, target = tmp_path / "from.db", tmp_path / "to.db"
    fill(source)
    migrate(str(source), str(target))
    with closing(sqlite3.connect(target)) as connection, connection:
        assert connection.execute(change).rowcount
    found = migrate(str(source), str(target), only_compare=True)
    assert [where for where, state in states(found).items() if state == "differs"] == ["default/ü 1"]


def test_the_source_stays_as_it_is_byte_for_byte(tmp_path, postgres_url):
    source = tmp_path / "from.db"
    fill(source)
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = 'm004'")
        connection.execute("DROP INDEX records_by_turn")
        connection.execute("ALTER TABLE records DROP COLUMN turn_id")
        later = ("fence", "failures", "failed_at", "failure", "undigested")
        columns = [*(f"heads.{name}" for name in later), "events.fence", "events.previous"]
        columns += [f"{table}.digest" for table in ("events", "vectors", "answers", "keys", "records", "heads")]
        for column in columns:
            connection.execute("ALTER TABLE {} DROP COLUMN {}".format(*column.split(".")))
    before = hashlib.sha256(source.read_bytes()).hexdigest()
    assert migrate(str(source), postgres_url).complete
    assert hashlib.sha256(source.read_bytes()).hexdigest() == before
    with opened(postgres_url) as store:
        assert list(store.records("default/ü 0", "s")) == ["A", "_", "a" * 400, "b", "ä"]
        assert store.lease("default/ü 0", owner="another/1/1", seconds=60) == 1


def test_a_source_that_is_being_written_is_copied_as_it_was_at_one_moment(tmp_path, postgres_url):
    source = tmp_path / "from.db"
    fill(source)
    with opened(source) as store:

        def told(step, done, whole):
            store.receive("default/ü 1", turn("late"), turn_id=f"late {done}")

        migrate(str(source), postgres_url, told=told)
        later = migrate(str(source), postgres_url, only_compare=True)
    assert states(later)["default/ü 0"] == "same" and not later.complete
    with opened(postgres_url) as store:
        assert store.head("default/ü 1").ordinal == store.read("default/ü 1")[-1].ordinal


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        ("default/an\0id", "NUL"),
        ("default/a\0name", "NUL"),
        ("default/a record", "NUL"),
        (f"{'t' * 200}/{'u' * 200}", "400 characters"),
    ],
    ids=["id", "name", "record", "long name"],
)
@pytest.mark.parametrize("turns", [1, 40], ids=["inserted", "copied"])
def test_what_postgres_cannot_hold_is_named_and_the_others_are_copied(tmp_path, postgres_url, scope, says, turns):
    """What is in a file of an earlier Doxa, which took it."""
    source = tmp_path / "from.db"
    with opened(source) as store:
        for one in ("a/before", "zoe/behind"):
            store.receive(one, turn(), turn_id="t")
        ids = "x\0y" if "\0id" in scope else "x"
        store.receive_many(scope, {f"{ids}{n}": turn() for n in range(turns)})
        store.keep_records(scope, "s", {"k\0" if "record" in scope else "k": b"v"})
    for only_compare, others in ((False, "copied"), (False, "same"), (True, "same")):
        found = migrate(str(source), postgres_url, only_compare=only_compare)
        assert {one.scope: one.state for one in found.moved if one.what == "log" and one.scope != scope} == {
            "a/before": others,
            "zoe/behind": others,
        }
        (left,) = [one for one in found.moved if one.scope == scope]
        assert not found.complete
        if only_compare:
            assert left.state in ("missing", "refused")
        else:
            assert left.state == "refused" and says in left.reason
    with opened(postgres_url) as store:
        assert store.scopes() == ["a/before", "zoe/behind"]


def test_what_cannot_be_copied_is_refused(tmp_path):
    source, text = tmp_path / "from.db", tmp_path / "notes.txt"
    fill(source)
    text.write_text("Dear diary, this is not a database.")
    for wrong, error in (
        ((source, source), InputError),
        ((source, tmp_path / "x" / ".." / "from.db"), InputError),
        ((":memory:", source), InputError),
        ((tmp_path / "none.db", tmp_path / "to.db"), NotFoundError),
        ((text, tmp_path / "to.db"), StoreForeignError),
        ((source, text), StoreForeignError),
        ((source, tmp_path / "nowhere" / "to.db"), StoreError),
    ):
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(error):
            migrate(*map(str, wrong))
    with pytest.raises(NotFoundError):
        migrate(str(source), str(tmp_path / "to.db"), only_compare=True)
    assert not (tmp_path / "none.db").exists() and not (tmp_path / "to.db").exists()


@pytest.mark.parametrize("lost", ["= 2", "> 2"], ids=["inside", "at the end"])
def test_a_log_of_which_a_row_is_missing_is_refused(tmp_path, lost):
    """Copied it would pass as whole: each row of a copy names the one before it anew."""
    source = tmp_path / "from.db"
    with opened(str(source)) as store:
        for number in range(4):
            store.receive("default/ana", turn(), turn_id=f"t{number}")
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute(f"DELETE FROM events WHERE ordinal {lost}")
    with pytest.raises(StoreDamagedError, match="default/ana"):
        migrate(str(source), str(tmp_path / "to.db"))
    with opened(str(tmp_path / "to.db")) as store:
        assert store.read("default/ana") == []


def test_more_rows_than_are_held_at_once_are_copied(tmp_path, postgres_url):
    source, seen = tmp_path / "from.db", []
    with opened(source) as store:
        store.receive_many("t/a", {f"t{n}": turn(str(n)) for n in range(5001)})
        store.put_vectors("t/a", model="m", vectors=[Vector(ordinal=n, data=b"xy") for n in range(1, 5002)])
    found = migrate(str(source), postgres_url, told=lambda step, done, whole: seen.append(done))
    assert found.complete and found.rows == 10003 and seen == [2000, 4000, 5001]
