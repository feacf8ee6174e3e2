import json
import signal
import time

import pytest

from doxa.core.errors import StoreFullError
from doxa.engine import Dialogue


def test_a_transcript_goes_in_once(cli):
    """Reading it again adds nothing."""
    path = cli.transcript()
    first, second = cli.json("ingest", path), cli.json("ingest", path)
    assert first["turns"] == {"new": 4, "known": 0, "failed": 0}
    assert first["facts"] >= 3
    assert first["revisions"] >= 1
    assert second["turns"] == {"new": 0, "known": 4, "failed": 0}
    assert (second["facts"], second["revisions"]) == (0, 0)


def test_the_summary_is_one_line(cli):
    """Standard error stays empty when nobody watches and nothing is wrong."""
    done = cli("ingest", cli.transcript())
    assert done.stdout.startswith("4 new turns, 0 known, 0 failed; +")
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_what_cannot_be_read_is_listed_and_the_rest_goes_in(cli):
    """Exit code 3, with file and line."""
    path = cli.file("mixed.jsonl", '{"role": "user", "content": "I live in Rome."}\n{broken\n')
    done = cli("ingest", path)
    assert done.exit_code == 3
    assert done.stdout.startswith("1 new turn, 0 known, 1 failed")
    assert f"{path}:2: " in done.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [("latin.txt", "Ana: ol\xe1\nBo: hello\n".encode("latin-1")), ("empty.txt", b""), ("binary.txt", b"\0\1\2" * 50)],
    ids=["not-utf8", "empty", "binary"],
)
def test_bad_bytes_are_partly_done(cli, name, content):
    """They are reported, not swallowed."""
    done = cli("ingest", cli.file(name, content))
    assert done.exit_code == 3
    assert name in done.stderr


def test_problems_are_in_the_json(cli):
    """Beside the counts."""
    found = cli.json("ingest", cli.file("bad.jsonl", '{"role": "user", "content": "Hi."}\n{\n'), code=3)
    assert found["turns"]["failed"] == 1
    assert len(found["problems"]) == 1


def test_a_turn_that_is_read_in_part_is_told(cli):
    """No fact is made of what stands behind; it is kept, can be searched, and is no problem of the file."""
    long = " ".join(f"Kim{n} lives in Town{n}." for n in range(200))
    path = cli.file("long.jsonl", json.dumps({"role": "user", "content": long}) + "\n")
    done = cli("ingest", path, "--date", "2024-05-01")
    assert done.exit_code == 0
    assert done.stderr == "1 turn understood in part; all of it can be searched. Why: doxa inspect, page Health.\n"
    assert cli.json("ingest", path)["in_part"] == 0


def test_a_known_id_with_another_text_is_a_problem(ana):
    """The stored turn is kept."""
    path = ana.transcript([("D1:1", "2024-03-02T09:00:00", "user", "Ana", "I live in Rome.")])
    found = ana.json("ingest", path, code=3)
    assert found["turns"] == {"new": 0, "known": 0, "failed": 1}
    assert "already stored with another text" in found["problems"][0]


def test_another_conversation_under_known_ids_is_told_how_to_stay_apart(cli):
    """Two files of one name are the usual reason for a clash."""
    (cli.folder / "other").mkdir()
    cli("ingest", cli.file("chat.txt", "Ana: I live in Rome.\n"))
    done = cli("ingest", cli.file("other/chat.txt", "Bo: I live in Oslo.\n"))
    assert done.exit_code == 3
    assert "--session NAME" in done.stderr
    assert cli("ingest", "other/chat.txt", "--session", "bo").exit_code == 0


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_a_database_that_fails_in_the_middle_says_what_was_kept(cli, monkeypatch, as_json):
    """Exit code 1, the error, the count and the command that goes on."""
    given, absorb = [], Dialogue.absorb

    def failing(self, text, **fields):
        if len(given) == 2:
            raise StoreFullError("No room is left.")
        given.append(text)
        return absorb(self, text, **fields)

    monkeypatch.setattr(Dialogue, "absorb", failing)
    path = cli.file("my chat.txt", "Ana: I live in Rome.\nBo: Nice.\nAna: I have a cat.\n")
    done = cli("ingest", path, "--session", "s", *(["--json"] if as_json else []))
    assert done.exit_code == 1
    if as_json:
        found = json.loads(done.stdout)
        assert (found["turns"]["new"], found["error"]["type"], found["facts"]) == (2, "StoreFullError", None)
    else:
        assert done.stdout.startswith("2 new turns, 0 known, 0 failed; ")
        assert "Error: No room is left." in done.stderr
        assert f"Stopped: 2 turns kept. To resume, run the same command again: doxa ingest '{path}'" in done.stderr
        assert done.stderr.strip().endswith("--session s")


def test_standard_input_is_a_transcript(cli):
    """The same text piped twice is one session."""
    text = "Ana: I live in Rome.\nBo: Nice.\n"
    assert cli.json("ingest", "-", input=text)["turns"]["new"] == 2
    assert cli.json("ingest", "-", input=text)["turns"] == {"new": 0, "known": 2, "failed": 0}


def test_missing_file_and_unknown_format_are_errors(cli):
    """No memory is made for them."""
    assert cli("ingest", "none.jsonl").exit_code == 1
    assert cli("ingest", cli.transcript(), "--format", "nope").exit_code == 1
    assert not cli.db.exists()


def test_every_locomo_conversation_is_a_user(cli, locomo):
    """Named by its sample id; others are pointed to it."""
    found = cli.json("ingest", locomo)
    assert found["users"] == ["conv-1"]
    assert "Choose another with --user: conv-1" in cli("facts", "--user", "nobody").stderr


def test_limit_stops_early_and_the_next_run_goes_on(cli):
    """Resuming is the same command."""
    path = cli.transcript()
    assert cli.json("ingest", path, "--limit", 3)["turns"]["new"] == 3
    assert cli.json("ingest", path)["turns"] == {"new": 1, "known": 3, "failed": 0}


def test_ctrl_c_keeps_what_was_received(cli):
    """Exit code 130, and a line that says how to go on; afterwards nothing is missing and nothing is twice."""
    turns = [(f"D1:{n}", "2024-03-02T09:00:00", "user", "Ana", f"I met number {n} today.") for n in range(500)]
    path = cli.transcript(turns)
    process = cli.process("ingest", path)
    deadline = time.monotonic() + 30
    while not cli.db.exists() or cli.db.stat().st_size < 100_000:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"To resume, run the same command again: doxa ingest" in err
    kept = int(out.split()[0].replace(b",", b""))
    found = cli.json("ingest", path)["turns"]
    assert 0 < kept < 500
    assert found == {"new": 500 - kept, "known": kept, "failed": 0}
