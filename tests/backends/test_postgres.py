"""What only a store in Postgres does: parts, one pool, time-outs, lost servers, telling of changes."""

import os
import queue
import threading
import time
from contextlib import closing
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from doxa.backends import load
from doxa.backends.store import Change, NewRow, Row, Vector, connect
from doxa.core.errors import (
    ClosedError,
    InputError,
    StoreError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnavailableError,
)

AT = datetime(2024, 5, 1, 9, 30, tzinfo=UTC)
SCOPE = "default/ana"
USER_TABLES = ("events", "vectors", "answers", "records", "heads")


def turn(text="hello"):
    return NewRow(kind="turn", known_at=AT, body={"session": "s", "text": text})


def opened(url, **settings):
    return closing(load("store", f"sql:{url}", **settings))


def asked(url, query):
    """Return the rows of a query, beside the store."""
    engine = sa.create_engine(connect.parse_url(url))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        result = connection.exec_driver_sql(query)
        found = result.all() if result.returns_rows else []
    engine.dispose()
    return [tuple(row) for row in found]


def parts_of(url):
    """Return how many parts each table is cut into."""
    found = asked(url, "SELECT inhparent::regclass::text, count(*) FROM pg_inherits GROUP BY 1")
    return {table: count for table, count in found if table in USER_TABLES}


def test_a_new_database_is_cut_by_user_with_the_user_in_every_key(empty_postgres_url):
    with opened(empty_postgres_url, partitions=3) as store:
        assert store.describe()["partitions"] == 3
    assert parts_of(empty_postgres_url) == dict.fromkeys(USER_TABLES, 3)
    keys = asked(
        empty_postgres_url,
        "SELECT indrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true) FROM pg_index "
        "JOIN pg_class ON pg_class.oid = indrelid WHERE relkind = 'p'",
    )
    assert {table for table, _ in keys} == set(USER_TABLES) and {first for _, first in keys} == {"scope"}


def test_the_parts_of_a_database_stay_as_they_were_made(empty_postgres_url):
    with opened(empty_postgres_url, partitions=3):
        pass
    with opened(empty_postgres_url, partitions=7) as store:
        assert store.describe()["partitions"] == 3


def test_plain_tables_are_made_for_who_cuts_them_otherwise(empty_postgres_url):
    with opened(empty_postgres_url, partitions=0) as store:
        store.receive(SCOPE, turn(), turn_id="t1")
        store.erase(SCOPE)
        assert store.describe()["partitions"] == 0
    assert parts_of(empty_postgres_url) == {}


def old_database(url, revision):
    """Make a database as an earlier Doxa did, and return an engine on it."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(connect.Path(connect.__file__).parent / "migrations"))
    engine = sa.create_engine(connect.parse_url(url))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    return engine


def test_a_database_of_an_earlier_doxa_is_cut_with_all_it_holds(empty_postgres_url):
    engine = old_database(empty_postgres_url, "m005")
    with engine.begin() as connection:
        for user in range(20):
            connection.exec_driver_sql(
                f"INSERT INTO heads VALUES ('t/{user}', 1, 0, 1, 0, NULL, NULL);"
                f"INSERT INTO events VALUES ('t/{user}', 1, 'turn', 'a', NULL, 0, '{{}}');"
                f"INSERT INTO vectors VALUES ('t/{user}', 1, 'm', 'x');"
                f"INSERT INTO answers VALUES ('t/{user}', 1, 'a_1', '{{}}');"
                f"INSERT INTO records VALUES ('t/{user}', 's', 'k', 'x', 'a')"
            )
    engine.dispose()
    with opened(empty_postgres_url, partitions=4) as store:
        assert len(store.scopes()) == len(store.pending()) == 20
        for scope in store.scopes():
            assert [row.turn_id for row in store.read(scope)] == ["a"]
            assert store.vectors(scope, model="m") == [Vector(ordinal=1, data=b"x")]
            assert store.answers(scope, "a_1") == [{}] and store.records(scope, "s") == {"k": b"x"}
            assert store.receive(scope, turn(), turn_id="a").duplicate
    assert parts_of(empty_postgres_url) == dict.fromkeys(USER_TABLES, 4)


def test_names_are_ordered_by_code_points_and_prefixes_found_by_an_index(postgres_url):
    with opened(postgres_url) as store:
        store.keep_records(SCOPE, "s", {f"{n:04}": b"" for n in range(2000)})
        store.keep_records(SCOPE, "s", dict.fromkeys(("ä", "Z", "a", "_", "a\U0010fffe"), b""))
        assert list(store.records(SCOPE, "s", prefix="a")) == ["a", "a\U0010fffe"]
        assert store.last_record(SCOPE, "s", prefix="") == ("ä", b"")
    asked(postgres_url, "ANALYZE records")
    plan = asked(
        postgres_url,
        f"EXPLAIN SELECT key FROM records WHERE scope = '{SCOPE}' AND shelf = 's' AND key >= '0001' AND key < '00019'",
    )
    (condition,) = [line for (line,) in plan if "Index Cond" in line]
    assert "key" in condition


@pytest.mark.parametrize("count", [3, 5000], ids=["inserted", "copied"])
def test_many_rows_are_written_as_few_are(postgres_url, count):
    texts = [f"Grüße 🌍 \t\n\\N \x00 {n}" for n in range(count)]
    rows = [
        Row(ordinal=n, kind="turn", turn_id=f"t{n}", known_at=AT, body={"text": text})
        for n, text in enumerate(texts, 1)
    ]
    vectors = [Vector(ordinal=row.ordinal, data=bytes([row.ordinal % 256, 0])) for row in rows]
    with opened(postgres_url) as store:
        store.receive_many("t/many", {str(row.turn_id): row for row in rows})
        store.restore("t/whole", rows)
        store.put_vectors("t/whole", model="m", vectors=vectors)
        store.put_vectors("t/whole", model="m", vectors=vectors)
        assert store.read("t/many") == store.read("t/whole") == rows
        assert store.vectors("t/whole", model="m") == vectors


@pytest.mark.parametrize(
    "call",
    [
        lambda store, scope: store.receive(scope, turn(), turn_id="t1"),
        lambda store, scope: store.receive_many(scope, {f"t{n}": turn() for n in range(40)}),
        lambda store, scope: store.keep_records(scope, "s", {"k": b"v"}),
        lambda store, scope: store.keep_answers(scope, {"a": {}}, latest=5),
    ],
    ids=["turn", "turns", "records", "answers"],
)
def test_a_scope_that_postgres_has_no_room_for_is_refused_before_it_begins(postgres_url, call):
    with opened(postgres_url) as store:
        with pytest.raises(InputError, match=r"tenant and a user of 400 characters .* got 401"):
            call(store, f"{'%C3%A9' * 50}/{'u' * 100}")
        call(store, f"{'%C3%A9' * 50}/{'u' * 99}")


CONNECTED = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'doxa'"


def test_stores_of_one_database_share_one_pool(postgres_url):
    with (
        opened(postgres_url, pool_size=2, pool_overflow=0) as one,
        opened(postgres_url, pool_size=2, pool_overflow=0) as two,
    ):
        for store in (one, two, one, two):
            store.scopes()
        assert asked(postgres_url, CONNECTED) == [(1,)]
        assert one.describe()["pool"] == {"size": 2, "overflow": 0, "in_use": 0}
    until = time.monotonic() + 5  # the server hears of it a moment later
    while (left := asked(postgres_url, CONNECTED)) != [(0,)] and time.monotonic() < until:
        time.sleep(0.02)
    assert left == [(0,)]


@pytest.fixture(params=["SQL_ASCII", "LATIN1"])
def narrow_url(request, postgres):
    """The address of a database that cannot store every text."""
    name = f"t_narrow_{os.getpid()}"
    postgres.execute(
        f"CREATE DATABASE {name} ENCODING '{request.param}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    yield postgres.url(name)
    postgres.drop(name)


def test_a_database_that_cannot_store_every_text_is_refused_and_left_as_it_is(narrow_url):
    with pytest.raises(StoreError, match=r"UTF8, got .*ENCODING 'UTF8'"):
        load("store", f"sql:{narrow_url}")
    assert asked(narrow_url + "&client_encoding=utf8", "SELECT relname FROM pg_class WHERE relname = 'heads'") == []


def test_texts_are_sent_in_utf8_whatever_the_database_takes_at_first(empty_postgres_url, postgres):
    name = sa.make_url(empty_postgres_url).database
    postgres.execute(f"ALTER DATABASE {name} SET client_encoding = 'LATIN1'")
    with opened(empty_postgres_url, partitions=0) as store:
        store.receive("default/日", turn("日本"), turn_id="名")
        ((row,), scopes) = store.read("default/日"), store.scopes()
        assert (row.turn_id, row.body["text"], scopes) == ("名", "日本", ["default/日"])


@pytest.mark.parametrize(
    "said", ["client_encoding=latin1", "options=-c%20client_encoding%3Dlatin1"], ids=["name", "option"]
)
def test_an_encoding_that_the_address_says_goes_first(postgres_url, said):
    with opened(f"{postgres_url}&{said}") as store, store._read() as connection:
        assert connection.exec_driver_sql("SHOW client_encoding").scalar() == "LATIN1"


def test_a_closed_store_makes_no_connection(postgres_url):
    with opened(postgres_url) as store:
        pass
    with pytest.raises(ClosedError):
        store.scopes()


def test_an_empty_pool_is_told_with_its_settings(postgres_url):
    with (
        opened(postgres_url, pool_size=1, pool_overflow=0, pool_timeout_s=0.1) as store,
        store._engine.connect(),
        pytest.raises(StoreLockedError, match="store.pool_size"),
    ):
        store.receive(SCOPE, turn(), turn_id="t1")


@pytest.mark.parametrize(
    ("settings", "statement", "says"),
    [
        ({"statement_s": 0.1}, "SELECT pg_sleep(5)", "store.statement_s"),
        ({"timeout_s": 0.1}, f"SELECT 1 FROM heads WHERE scope = '{SCOPE}' FOR UPDATE", "store.timeout_s"),
    ],
    ids=["slow", "locked"],
)
@pytest.mark.parametrize("pgbouncer", [False, True], ids=["session", "pgbouncer"])
def test_a_time_out_says_which_it_was(postgres_url, settings, statement, says, pgbouncer):
    with opened(postgres_url, pgbouncer=pgbouncer, **settings) as store, opened(postgres_url) as other:
        store.receive(SCOPE, turn(), turn_id="t1")
        with other._write() as holder:
            holder.execute(sa.text(f"SELECT 1 FROM heads WHERE scope = '{SCOPE}' FOR UPDATE"))
            with pytest.raises(StoreLockedError, match=says), store._write() as connection:
                connection.exec_driver_sql(statement)


def test_a_transaction_that_does_nothing_is_ended(postgres_url):
    with opened(postgres_url, idle_s=0.1, retry_s=0) as store:

        def idle():
            with store._write() as connection:
                connection.exec_driver_sql("SELECT 1")
                time.sleep(0.5)
                connection.exec_driver_sql("SELECT 1")

        with pytest.raises(StoreLockedError, match="store.idle_s"):
            idle()
        assert store.scopes() == []


def test_a_database_that_may_only_be_read_says_so(postgres_url):
    with (
        opened(f"{postgres_url}&options=-c%20default_transaction_read_only%3Don") as store,
        pytest.raises(StoreReadOnlyError, match="primary"),
    ):
        store.receive(SCOPE, turn(), turn_id="t1")


def test_a_server_that_is_not_there_is_told_at_once():
    with pytest.raises(StoreUnavailableError, match="does not answer"):
        load("store", "sql:postgresql://ana@127.0.0.1:1/doxa")


def kill_others(url):
    """End every other connection to a database, as a restart of the server does."""
    asked(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
    )


def test_calls_go_on_when_the_server_has_dropped_every_connection(postgres_url):
    with opened(postgres_url) as store:
        for n, call in enumerate(
            [
                lambda: store.receive(SCOPE, turn(), turn_id="t1"),
                lambda: store.head(SCOPE),
                lambda: store.append(SCOPE, NewRow(kind="tasked", known_at=AT, body={}), expected_state=0),
                lambda: store.receive(SCOPE, turn(), turn_id=None),
                lambda: store.keep_records(SCOPE, "s", {"a": b"1"}, expected={"a": None}),
                lambda: store.receive_many(SCOPE, {"t2": turn()}),
            ]
        ):
            kill_others(postgres_url)
            assert call(), n
        assert [row.turn_id for row in store.read(SCOPE)] == ["t1", None, "s:3", "t2"]


def test_a_turn_whose_writing_nobody_knows_of_is_sent_again_and_stored_once(postgres_url):
    """The connection is lost after the server has written, before it says so."""
    with opened(postgres_url) as store:
        real, lost = store._commit, []

        def commit(transaction):
            real(transaction)
            if not lost:
                lost.append(1)
                raise StoreUnavailableError("lost", uncertain=True)

        store._commit = commit
        assert store.receive(SCOPE, turn(), turn_id="t1").duplicate and lost
        lost.clear()
        with pytest.raises(StoreUnavailableError):
            store.receive(SCOPE, turn(), turn_id=None)
        assert [row.turn_id for row in store.read(SCOPE)] == ["t1", "s:2"]


def test_first_writers_of_one_log_are_all_served(postgres_url):
    with opened(postgres_url) as one, opened(postgres_url, retry_s=9.0) as two:
        calls = [
            lambda store, n: store.receive(f"t/{n}", turn(), turn_id="t1"),
            lambda store, n: store.receive_many(f"t/{n}", {"t2": turn()}),
            lambda store, n: store.keep_answers(f"t/{n}", {"a": {}}, latest=5),
        ]
        failures = []

        def run(store, call):
            try:
                for n in range(20):
                    call(store, n)
            except StoreError as exc:
                failures.append(exc)

        threads = [threading.Thread(target=run, args=(store, call)) for store in (one, two) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert all({row.turn_id for row in one.read(f"t/{n}")} == {"t1", "t2"} for n in range(20))


def test_nothing_outlives_a_log_that_is_erased_while_others_write(postgres_url):
    with opened(postgres_url) as one, opened(postgres_url, retry_s=9.0) as two:
        over = threading.Event()

        def write():
            n = 0
            while not over.is_set():
                n += 1
                row = two.receive(SCOPE, turn(), turn_id=f"t{n}").row
                two.put_vectors(SCOPE, model="m", vectors=[Vector(ordinal=row.ordinal, data=b"1")])

        thread = threading.Thread(target=write)
        thread.start()
        for _ in range(30):
            one.erase(SCOPE)
        over.set()
        thread.join()
        one.erase(SCOPE)
    assert asked(postgres_url, "SELECT scope FROM events UNION SELECT scope FROM vectors") == []


def next_change(heard, wanted, seconds=10.0):
    """Return the next change that is as wanted."""
    until = time.monotonic() + seconds
    while True:
        change = heard.get(timeout=max(0.01, until - time.monotonic()))
        if wanted(change):
            return change


def test_every_move_of_a_log_is_told_to_others(postgres_url):
    heard = queue.Queue()
    with opened(postgres_url) as one, opened(postgres_url, retry_s=9.0) as two:
        stop = one.listen(heard.put)
        assert heard.get(timeout=10) is None
        for move, ordinal in (
            (lambda: two.receive(SCOPE, turn(), turn_id="t1"), 1),
            (lambda: two.receive_many(SCOPE, {"t2": turn()}), 2),
            (lambda: two.append(SCOPE, NewRow(kind="tasked", known_at=AT, body={}), expected_state=0), 3),
            (lambda: two.rewrite(SCOPE, delete=[1], replace={}, expected=3), 4),
            (lambda: two.erase(SCOPE), 0),
        ):
            move()
            assert heard.get(timeout=10) == Change(scope=SCOPE, ordinal=ordinal)
        two.keep_records(SCOPE, "s", {"a": b"1"})
        two.restore("t/a b", [Row(ordinal=1, kind="turn", turn_id="t", known_at=AT, body={})])
        two.receive("t/a b", turn(), turn_id="t")
        assert heard.get(timeout=10) == Change(scope="t/a b", ordinal=6)
        stop()
        two.receive(SCOPE, turn(), turn_id="t9")
    assert heard.empty()


def test_many_moves_of_a_log_at_once_are_told_in_few_words(postgres_url, monkeypatch):
    monkeypatch.setattr("doxa.backends.store.channel.LIMIT", 20)  # so that they are told more slowly than they come
    heard = queue.Queue()
    with opened(postgres_url) as one, opened(postgres_url, retry_s=9.0) as two:
        one.listen(heard.put)
        assert heard.get(timeout=10) is None
        for n in range(1, 101):
            two._tell(SCOPE, n)
        assert next_change(heard, lambda change: change.ordinal == 100).scope == SCOPE
        two._tell("t/last", 1)
        assert heard.get(timeout=10).scope == "t/last"
        for n in range(10_050):
            two._tell(f"t/{n}", n)
        assert next_change(heard, lambda change: change is None) is None


def test_what_was_written_before_closing_is_told(postgres_url):
    heard = queue.Queue()
    with opened(postgres_url) as one:
        one.listen(heard.put)
        assert heard.get(timeout=10) is None
        with opened(postgres_url, retry_s=9.0) as two:
            two.receive(SCOPE, turn(), turn_id="t1")
        assert heard.get(timeout=10) == Change(scope=SCOPE, ordinal=1)


def test_who_was_cut_off_listens_again_and_is_told_that_anything_may_have_changed(postgres_url):
    heard = queue.Queue()
    with opened(postgres_url) as store:
        store.listen(heard.put)
        assert heard.get(timeout=10) is None
        kill_others(postgres_url)
        assert next_change(heard, lambda change: change is None) is None
        store.receive(SCOPE, turn(), turn_id="t1")
        assert next_change(heard, lambda change: change is not None) == Change(scope=SCOPE, ordinal=1)
    assert not [thread for thread in threading.enumerate() if thread.name == "doxa-channel"]


@pytest.fixture
def many_files():
    """More open files than `select` knows."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip(f"this machine lets a process open {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    yield
    for one in held:
        os.close(one)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_changes_are_told_to_a_process_with_many_open_files(many_files, postgres_url):
    heard = queue.Queue()
    with opened(postgres_url) as one, opened(postgres_url, retry_s=9.0) as two:
        one.listen(heard.put)
        assert heard.get(timeout=10) is None
        for n in range(3):
            two.receive(SCOPE, turn(), turn_id=f"t{n}")
            assert heard.get(timeout=10) == Change(scope=SCOPE, ordinal=n + 1)


def test_nothing_is_told_where_that_is_switched_off(postgres_url):
    heard = queue.Queue()
    with opened(postgres_url) as store, opened(postgres_url, notify=False) as silent:
        silent.listen(lambda _: heard.put("never"))()
        store.listen(heard.put)
        assert heard.get(timeout=10) is None
        silent.receive(SCOPE, turn(), turn_id="t1")
        store.receive("t/last", turn(), turn_id="t1")
        assert heard.get(timeout=10).scope == "t/last"


def test_the_space_of_erased_rows_is_freed(postgres_url):
    size = "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relname LIKE 'events_p%%' AND relkind = 'r'"
    with opened(postgres_url) as store:
        for user in range(20):
            store.receive_many(f"t/{user}", {f"t{n}": turn("x" * 500) for n in range(50)})
        before = dict(asked(postgres_url, size))
        assert all(before.values())
        for user in range(20):
            store.erase(f"t/{user}")
        assert not any(dict(asked(postgres_url, size)).values())


def test_a_server_that_goes_before_that_space_is_freed_is_told_in_our_words(postgres_url, monkeypatch):
    """The rows are gone by then; the same command again frees it."""
    import psycopg

    def gone(*_):
        raise psycopg.OperationalError("connection failed: server closed the connection unexpectedly")

    monkeypatch.setattr("doxa.backends.store.sql.erasing.own_connection", gone)
    with opened(postgres_url) as store:
        store.receive_many(SCOPE, {"t1": turn()})
        with pytest.raises(StoreLockedError, match="were erased"):
            store.erase(SCOPE)
        assert store.head(SCOPE).received == 0


def test_a_lock_of_somebody_else_is_not_waited_for_without_end_to_free_that_space(postgres_url):
    with opened(postgres_url, timeout_s=0.2) as store, opened(postgres_url) as other:
        store.receive(SCOPE, turn(), turn_id="t1")
        with other._write() as holder:
            holder.exec_driver_sql("LOCK TABLE keys IN SHARE UPDATE EXCLUSIVE MODE")
            with pytest.raises(StoreLockedError, match=r"were erased.*store\.timeout_s"):
                store.erase(SCOPE)
        store.wipe(SCOPE)
        assert store.head(SCOPE).received == 0


def test_a_time_out_of_the_whole_database_does_not_keep_that_space(empty_postgres_url, postgres):
    name = sa.make_url(empty_postgres_url).database
    postgres.execute(f"ALTER DATABASE {name} SET statement_timeout = 1")
    with opened(empty_postgres_url, partitions=0) as store:
        store.receive_many(SCOPE, {f"t{n}": turn("x" * 500) for n in range(50)})
        store.erase(SCOPE)
        with store._read() as connection:
            assert connection.exec_driver_sql("SELECT pg_relation_size('events')").scalar() == 0


def test_who_may_not_free_that_space_is_told_so(postgres_url, postgres, caplog):
    """A role that does not own the tables: the server only warns, and leaves them out. What is erased is gone."""
    url = sa.make_url(postgres_url)
    postgres.execute("CREATE ROLE writer LOGIN")
    try:
        postgres.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO writer", database=url.database
        )
        with opened(url.set(username="writer").render_as_string(hide_password=False)) as store:
            store.receive(SCOPE, turn(), turn_id="t1")
            assert store.erase(SCOPE)["turn"] == 1 and store.head(SCOPE).received == 0
            assert "permission denied" in caplog.text and "owns its tables" in caplog.text
    finally:
        postgres.execute("DROP OWNED BY writer", database=url.database)
        postgres.execute("DROP ROLE writer")


@pytest.mark.parametrize("how", ["fast", "immediate"], ids=["restart", "crash"])
def test_a_server_that_is_started_anew_loses_and_doubles_nothing(own_postgres, how):
    url, sent, failures = own_postgres.url(own_postgres.take()), [], []
    over = threading.Event()
    with opened(url, retry_s=60) as store:

        def send(worker):
            n = 0
            try:
                while not over.is_set():
                    n += 1
                    store.receive(f"t/{worker % 2}", turn(), turn_id=f"{worker}:{n}")
                    sent.append((f"t/{worker % 2}", f"{worker}:{n}"))
            except StoreError as exc:
                failures.append(exc)

        threads = [threading.Thread(target=send, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        while len(sent) < 50:
            time.sleep(0.01)
        own_postgres.restart(how)
        before = len(sent)
        while len(sent) < before + 50 and not failures:
            time.sleep(0.01)
        over.set()
        for thread in threads:
            thread.join()
        assert failures == []
        for scope in ("t/0", "t/1"):
            rows = store.read(scope)
            assert sorted(row.turn_id for row in rows) == sorted(key for where, key in sent if where == scope)
            assert [row.ordinal for row in rows] == list(range(1, len(rows) + 1))
            assert store.head(scope).received == len(rows)
