"""Work on many users through Ray Data: what comes of it is what one process would have made."""

import json
from pathlib import Path

import pytest

CITIES = ("Lisbon", "Bonn", "Oslo", "Rome")


@pytest.fixture(scope="module")
def here(tmp_path_factory, made_cluster):
    """A folder with the transcripts of four users, and `doxa` in it."""
    found = made_cluster(tmp_path_factory.mktemp("bulk"))
    for number, city in enumerate(CITIES):
        turns = [f"I live in {city}.", "I work at Siemens.", f"I met Person{number} today."]
        lines = [json.dumps({"id": f"{n}", "role": "user", "content": text}) for n, text in enumerate(turns)]
        (found.folder / f"user-{number}.jsonl").write_text("\n".join(lines))
    return found


def told(done) -> dict[str, object]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def files(here) -> list[Path]:
    return sorted(here.folder.glob("user-*.jsonl"))


def test_transcripts_of_many_users_go_in_once_on_all_workers(here):
    first = told(here.command("cluster", "ingest", *files(here), "--workers", "2", "--json"))
    assert (first["users"], first["new"], first["known"], first["failed"]) == (4, 12, 0, 0)
    again = told(here.command("cluster", "ingest", *files(here), "--workers", "2", "--json"))
    assert (again["new"], again["known"]) == (0, 12)
    for number, city in enumerate(CITIES):
        answer = told(here.command("ask", "Where do I live?", "--user", f"user-{number}", "--json"))
        assert answer["value"] == city
    folded = told(here.command("cluster", "fold", "--json"))
    assert (folded["users"], folded["turns"]) == (4, 12)


def test_a_file_that_is_not_there_is_said_before_anything_is_done(here):
    done = here.command("cluster", "ingest", "nowhere.jsonl")
    assert done.returncode == 1
    assert "There is no file" in done.stderr


def test_files_are_for_ingest_alone(here):
    assert "doxa cluster ingest FILE" in here.command("cluster", "status", "some.jsonl").stderr
    assert "doxa cluster ingest FILE" in here.command("cluster", "ingest").stderr
