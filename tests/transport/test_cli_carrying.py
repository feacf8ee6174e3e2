"""Moving in and out by the command line: what is stored, what is told, and with which exit code it ends."""

import json
import uuid
from hashlib import sha512
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from doxa.engine.history import moving
from doxa.transport.cli import carrying


def memory(number, text, user="ana", at="2024-01-01T00:00:00Z", **more):
    """A memory as mem0 gives it out."""
    return {"id": str(uuid.UUID(int=number)), "memory": text, "user_id": user, "created_at": at, **more}


def archive(cli, *records, name="mem0.json"):
    """A file with memories of mem0."""
    return cli.file(name, json.dumps({"results": records}))


def objects(cli, user="ana"):
    """What is believed of a user."""
    return {fact["object"] for fact in cli.json("facts", "--user", user)}


def test_an_archive_is_moved_in_once(cli):
    path = archive(cli, memory(1, "I live in Rome."), memory(2, "I play chess.", user="bo"))
    first = cli("import", path)
    assert first.exit_code == 0
    assert "mem0: 2 new turns, 0 known (user ana, bo); stored in " in first.stdout
    again = cli.json("import", path)
    assert again["turns"] == {"new": 0, "known": 2, "clashes": 0, "undated": 0}
    assert (again["format"], again["users"], again["problems"], again["understood"]) == (
        "mem0",
        ["ana", "bo"],
        [],
        True,
    )
    assert "Rome" in objects(cli) and "chess" in objects(cli, "bo")


def test_all_of_an_archive_can_be_one_users(cli):
    path = archive(cli, memory(1, "I live in Rome."), memory(2, "I play chess.", user="bo"))
    assert cli.json("import", path, "--one-user", "--user", "zoe")["users"] == ["zoe"]
    assert cli.json("stats", "--user", "zoe")["turns"] == 2


@pytest.mark.parametrize("date", ["2020-05-01", "1 May 2020"])
def test_undated_turns_are_told_and_can_be_dated(cli, date):
    path = archive(cli, memory(1, "I live in Rome.", at=None))
    assert "1 turn without a date: taken as said now" in cli("import", path).stderr
    done = cli("import", path, "--user", "zoe", "--one-user", "--date", date)
    assert done.exit_code == 0 and "without a date" not in done.stderr
    (turn,) = [json.loads(line) for line in exported(cli, "messages", user="zoe").read_text().splitlines()]
    assert turn["at"].startswith("2020-05-01")


def test_a_date_that_is_none_is_an_error_and_nothing_is_stored(cli):
    done = cli("import", archive(cli, memory(1, "I live in Rome.")), "--date", "May")
    assert done.exit_code == 1 and "whole date" in done.stderr
    assert cli.json("stats")["turns"] == 0


def test_what_is_stored_can_be_understood_later(cli):
    path = archive(cli, memory(1, "I live in Rome."))
    done = cli("import", path, "--later")
    assert done.exit_code == 0 and "understood at the next start" in done.stderr
    assert cli.json("import", path, "--later")["understood"] is False
    assert "Rome" in objects(cli)


def test_problems_are_told_and_the_rest_is_moved_in(cli):
    odd = [memory(n, " ") for n in range(2, 30)]
    done = cli("import", archive(cli, memory(1, "I live in Rome."), *odd, {"milk": 2}))
    assert done.exit_code == 3
    assert "1 new turn" in done.stdout and "'milk'" in done.stderr and "... and 9 more" in done.stderr
    assert len(cli.json("import", "mem0.json", code=3)["problems"]) == 29


def test_what_is_not_carried_is_told(cli):
    done = cli("import", archive(cli, memory(1, "I live in Rome.", embedding=[0.1])))
    assert done.exit_code == 0 and "Not carried: 1 embeddings" in done.stderr
    assert cli.json("import", "mem0.json")["not_carried"] == {"embeddings (Doxa makes its own)": 1}
    assert cli("import", "mem0.json", "--quiet").stderr == ""


def test_what_was_changed_there_is_named_and_can_be_taken(cli):
    cli("import", archive(cli, memory(1, "I live in Rome.")))
    path = archive(cli, memory(1, "I live in Oslo."))
    key = f"mem0/{uuid.UUID(int=1)}"
    done = cli("import", path)
    assert done.exit_code == 3 and f"left as stored here: {key}." in done.stderr
    assert cli.json("import", path, code=3)["clashes"] == [key]
    assert cli("forget", "--turn", key, "--yes").exit_code == 0
    assert cli("import", path).exit_code == 0
    assert "Oslo" in objects(cli) and "Rome" not in objects(cli)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("empty.json", "", "an empty file"),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(range(32)) * 9, "a binary file"),
        ("list.csv", "id,memory\n1,I live in Rome\n", "no such line"),
        ("none.json", '{"results": []}', "'results'"),
    ],
)
def test_where_nothing_can_be_read_it_is_an_error(cli, name, content, told):
    done = cli("import", cli.file(name, content))
    assert done.exit_code == 1 and told in done.stderr and "0 new turns" in done.stdout


def test_wrong_input_is_named(cli):
    path = archive(cli, memory(1, "I live in Rome."))
    done = cli("import", path, "--format", "mem1")
    assert done.exit_code == 1 and "langgraph" in done.stderr and "'mem1'" in done.stderr
    assert cli("import", path, "--format", "letta").exit_code == 1
    (cli.folder / "folder").mkdir()
    done = cli("import", "folder")
    assert done.exit_code == 1 and "0 files" in done.stderr
    assert cli.json("import", path, "--format", "mem1", code=1)["error"]["type"] == "FormatError"


def test_a_backup_of_ours_is_taken_as_it_is(ana):
    assert ana("export", "out.jsonl").exit_code == 0
    done = ana("import", "out.jsonl", "--user", "copy", "--later", "--one-user")
    assert done.exit_code == 0 and "--later" in done.stderr and "4 new turns" in done.stdout


def test_an_import_that_was_interrupted_goes_on_with_the_same_command(cli, monkeypatch):
    path = archive(cli, *(memory(n, f"Project {n} is in Rome.") for n in range(30)))
    monkeypatch.setattr(moving, "BLOCK", 10)
    taking, taken = moving._take, []

    def interrupt(*arguments, **more):
        if len(taken) == 2:
            raise KeyboardInterrupt
        taken.append(1)
        return taking(*arguments, **more)

    monkeypatch.setattr(moving, "_take", interrupt)
    done = cli("import", path)
    assert done.exit_code == 130 and "run the same command again" in done.stderr
    monkeypatch.setattr(moving, "_take", taking)
    turns = cli.json("import", path)["turns"]
    assert (turns["new"], turns["known"]) == (10, 20)


def test_who_does_not_wait_until_all_is_understood_has_all_stored(cli, monkeypatch):
    path = archive(cli, memory(1, "I live in Rome."))

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(carrying, "wait", interrupt)
        done = cli("import", path)
    assert done.exit_code == 130 and "All of it is stored" in done.stderr and "1 new turn" in done.stdout
    assert "Rome" in objects(cli)


def exported(cli, format, user="ana"):
    """The file, or the folder, of an export."""
    done = cli.json("export", f"out-{format}", "--format", format, "--user", user)
    assert done["format"] == format and done["bytes"] > 0
    return cli.folder / f"out-{format}"


@pytest.mark.parametrize(
    ("format", "read"),
    [
        *((name, "doxa") for name in ("jsonl", "turtle", "nquads", "jsonld")),
        *((name, name) for name in ("mem0", "openmemory", "langgraph", "mcp", "letta", "graphiti", "notes")),
        ("messages", "openai"),
    ],
)
def test_every_export_is_read_back(ana, format, read):
    path = exported(ana, format)
    done = ana("import", path, "--format", "doxa" if read == "doxa" else "auto", "--user", "copy", "--one-user")
    assert done.exit_code == 0, done.output
    assert read == "doxa" or done.stdout.startswith(f"{read}: ")
    shown = json.dumps(ana.json("search", "Bonn", "--user", "copy"))
    assert "Bonn" in shown
    again = ana.json("import", path, "--format", "doxa" if read == "doxa" else "auto", "--user", "copy", "--one-user")
    assert again["turns"] == 0 if read == "doxa" else again["turns"]["new"] == 0


def test_notes_go_into_a_folder_that_is_new_or_empty(ana):
    (ana.folder / "vault").mkdir()
    assert ana("export", "vault", "--format", "notes").exit_code == 0
    assert {path.suffix for path in (ana.folder / "vault").iterdir()} == {".md"}
    assert ana("export", "vault", "--format", "notes").exit_code == 1
    done = ana("export", "vault", "--format", "notes", "--force")
    assert done.exit_code == 1 and "new or empty" in done.stderr
    file = ana.file("file", "mine")
    assert ana("export", file, "--format", "notes", "--force").exit_code == 1
    assert file.read_text() == "mine"


def test_an_export_is_signed_and_verified_before_anything_is_written(cli, tmp_path):
    """A file that was altered is refused, and no database is made for it."""
    private = Ed25519PrivateKey.generate()
    key, public = tmp_path / "key.pem", tmp_path / "public.pem"
    key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    path, other = tmp_path / "out.jsonl", tmp_path / "other.db"
    cli("import", archive(cli, memory(1, "I live in Rome.")))
    done = cli.json("export", str(path), "--user", "ana", "--sign", str(key))
    assert done["signature"] == f"{path}.sig" and (tmp_path / "out.jsonl.sig").stat().st_size == 64
    path.unlink()
    assert "add --force" in cli("export", str(path), "--user", "ana", "--sign", str(key)).stderr and not path.exists()
    assert cli("export", str(path), "--user", "ana", "--sign", str(key), "--force").exit_code == 0
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"Rome", b"Roma"))
    refused = cli("import", str(path), "--db", str(other), "--user", "ana", "--verify", str(public))
    assert refused.exit_code == 1 and "does not fit" in refused.stderr and not other.exists()
    path.write_bytes(whole)
    assert cli.json("import", str(path), "--db", str(other), "--user", "ana", "--verify", str(public))["turns"] == 1


def test_the_archive_of_another_system_can_be_verified(cli, tmp_path):
    """Its signature lies beside it as well; without one nothing is taken."""
    private = Ed25519PrivateKey.generate()
    public = tmp_path / "public.pem"
    public.write_bytes(private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    path = archive(cli, memory(1, "I live in Rome."))
    assert "mem0.json.sig" in cli("import", path, "--verify", str(public)).stderr
    Path(f"{path}.sig").write_bytes(private.sign(sha512(Path(path).read_bytes()).digest()))
    assert cli.json("import", path, "--verify", str(public))["turns"]["new"] == 1
