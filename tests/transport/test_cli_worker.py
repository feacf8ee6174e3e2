"""`doxa worker`, and what `doxa doctor` says of those whose turns failed."""

import signal
import time
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from doxa.backends import load
from doxa.backends.store import NewRow

AT = datetime(2024, 5, 1, tzinfo=UTC)
BODY = {"session": "s", "speaker": "Ana", "role": "user", "text": "I live in Lisbon."}


@pytest.fixture
def shared(postgres, postgres_url):
    """A Postgres database on which workers may be."""
    yield postgres_url
    postgres.execute("DROP SCHEMA IF EXISTS doxa_queue CASCADE", database=sa.make_url(postgres_url).database)


def received(location):
    """Leave a turn behind that a process received, and return its store."""
    store = load("store", f"sql:{location}")
    store.receive("default/ana", NewRow(kind="turn", known_at=AT, body=BODY), turn_id="t1")
    return store


@pytest.mark.parametrize("where", ["file", "postgres"])
def test_a_worker_processes_what_another_process_received(cli, request, where):
    """And ends at SIGTERM, with no trouble."""
    location = cli.db if where == "file" else request.getfixturevalue("shared")
    store = received(location)
    process = cli.process("worker", "--db", location)
    end = time.monotonic() + 60
    while store.pending() and time.monotonic() < end and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert store.pending() == [] and process.returncode == 0, err
    store.close()


def test_doctor_names_who_was_given_up_and_how_to_try_again(cli, monkeypatch):
    from doxa.engine.absorb import maintenance

    def fails(*_, **__):
        raise RuntimeError("no")

    monkeypatch.setattr(maintenance, "absorb", fails)
    with_failures = received(cli.db)
    for _ in range(5):
        with_failures.fail("default/ana", "BackendReplyError: [bold]nothing of use")
    with_failures.close()
    (told,) = [check for check in cli.json("doctor", code=1)["checks"] if check["name"] == "waiting turns"]
    assert told["state"] == "failed" and told["fix"].endswith("doxa worker --retry ana")
    assert "ana: 5 times, given up" in told["detail"] and "BackendReplyError: [bold]nothing of use" in told["detail"]
    assert cli("worker", "--retry", "ana").exit_code == 0
    again = cli("worker", "--retry", "ana")
    assert again.exit_code == 1 and "No turns of user 'ana' have failed" in again.stderr


def test_doctor_says_that_none_has_failed(cli):
    received(cli.db).close()
    (told,) = [check for check in cli.json("doctor")["checks"] if check["name"] == "waiting turns"]
    assert (told["state"], told["detail"]) == ("ok", "none has failed")


def test_a_worker_is_for_all_users(cli):
    done = cli("worker", "--user", "ana")
    assert done.exit_code == 1 and "takes no --user" in done.stderr
