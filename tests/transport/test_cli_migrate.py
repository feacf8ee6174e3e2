"""`doxa migrate`: what it prints and the codes that it ends with."""

from datetime import UTC, datetime

from doxa.backends import load
from doxa.backends.store import NewRow


def test_a_memory_is_copied_and_answers_the_same(cli, postgres_url):
    cli("ingest", cli.transcript(), "--db", cli.db)
    done = cli("migrate", cli.db, postgres_url)
    assert done.exit_code == 0, done.output
    assert "1 copied, 0 the same already" in done.stdout and "TO has all of FROM" in done.stdout
    answers = [cli.json("ask", "Where does Ana live?", "--db", db)["text"] for db in (cli.db, postgres_url)]
    assert answers[0] == answers[1] and "Bonn" in answers[0]
    facts = [cli.json("facts", "--db", db) for db in (cli.db, postgres_url)]
    assert facts[0] == facts[1]


def test_what_differs_is_named_and_ends_with_partly_done(cli):
    other = cli.folder / "other.db"
    cli("ingest", cli.transcript(), "--db", cli.db)
    cli("ingest", cli.transcript(), "--db", other, "--user", "bo")
    missing = cli("migrate", cli.db, other, "--verify")
    assert missing.exit_code == 3 and "default/ana: TO holds nothing of it" in missing.stdout
    cli("ingest", cli.file("more.txt", "Ana: I live in Rome."), "--db", other)
    found = cli.json("migrate", cli.db, other, code=3)
    assert found["complete"] is False
    assert [(one["scope"], one["state"]) for one in found["moved"] if one["what"] == "log"] == [
        ("default/ana", "differs")
    ]


def test_what_postgres_cannot_hold_is_named_and_ends_with_partly_done(cli, postgres_url):
    store = load("store", f"sql:{cli.db}")
    said = NewRow(kind="turn", known_at=datetime(2024, 5, 1, tzinfo=UTC), body={"text": "hello"})
    for scope, turn_id in (("default/ana", "a\0b"), ("default/bo", "t1")):
        store.receive(scope, said, turn_id=turn_id)
    store.close()
    done = cli("migrate", cli.db, postgres_url)
    assert done.exit_code == 3 and "1 copied" in done.stdout and "TO has all" not in done.stdout
    assert "default/ana: TO cannot hold it" in done.stdout and "NUL" in done.stdout
    found = cli.json("migrate", cli.db, postgres_url, code=3)
    assert found["complete"] is False
    told = {one["scope"]: (one["state"], "reason" in one) for one in found["moved"] if one["what"] == "log"}
    assert told == {"default/ana": ("refused", True), "default/bo": ("same", False)}


def test_a_source_that_is_not_there_is_an_error(cli):
    done = cli("migrate", cli.folder / "none.db", cli.db)
    assert done.exit_code == 1 and "There is no memory" in done.stderr and not cli.db.exists()
