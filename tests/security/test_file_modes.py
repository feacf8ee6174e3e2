"""What Doxa writes is its owner's alone to read, whatever the umask; what was there keeps its mode."""

import os
import stat
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from doxa.backends.llm import Message
from doxa.backends.llm.recorded import Recorder
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.errors import StoreReadOnlyError
from doxa.core.private import private_folder
from doxa.engine import Doxa, Keys, migrate
from doxa.integrations.mem0.placing import placed
from doxa.memory import replacing
from doxa.transport.spooling import spooled

from .conftest import light

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes of files")


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=lambda mask: f"umask {mask:03o}")
def umask(request):
    """What a process lets others do with the files that it makes, by default."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path):
    """Return who may do what with a file or folder."""
    return stat.S_IMODE(path.stat().st_mode)


def loose(folder):
    """Return everything in a folder that others than its owner may touch."""
    return {str(path.relative_to(folder)): oct(mode(path)) for path in folder.rglob("*") if mode(path) & 0o077}


@contextmanager
def home(folder):
    """Give a folder as the working directory and as the place of temporary files."""
    before = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


def test_everything_that_a_session_leaves_is_private(umask, tmp_path, monkeypatch, client, secret_for):
    """Database, log, snapshots, weights, marks, exports, an import and an export over HTTP, a recording, keys."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr("tempfile.tempdir", str(private_folder(folder / "temporary")))
    seen = {}
    with home(folder), Doxa.open(folder / "memory.db", config=light()) as doxa:
        Keys(doxa).add(users=["ana"])
        memory, talk = doxa.memory(user="ana"), doxa.dialogue(user="ana")
        for number in range(20):
            talk.absorb(f"I have a sister called Kim{number}.", turn_id=f"t{number}")
        talk.respond("Where do I live?")
        talk.flush()
        weights = doxa.parts.learned.of("ana")
        doxa.parts.learned.put("ana", weights, expected=weights)
        memory.teaching().mark_missed("t1", subject="Ana", relation="has sister", object="Kim1")
        for format, name in {"jsonl": "a.jsonl", "turtle": "a.ttl", "markdown": "a.md", "messages": "b.jsonl"}.items():
            memory.export(folder / name, format=format)
        memory.export(folder / "notes" / "of ana", format="notes")
        spooling = spooled(memory, "jsonl")
        seen |= loose(folder)
        http = client(doxa, secret_for(doxa, "ana", "bo"))
        http.post("/v1/memory/import", content=(folder / "a.jsonl").read_bytes(), headers={"Doxa-User": "bo"})
        assert http.get("/v1/memory/export", headers={"Doxa-User": "ana"}).status_code == 200
        assert http.get("/inspect?user=ana").status_code in (200, 303)
        Recorder(ScriptedModel(["Rome."]), folder / "recorded" / "answers").complete(
            [Message(role="user", content="Where?")], max_tokens=8
        )
        placed({"vector_store": {"provider": "qdrant", "config": {"path": str(folder / "mem0" / "store")}}})
        Doxa.open(folder / "mem0" / "store" / "doxa.db", config=light()).close()
        assert (folder / "memory.db-wal").exists() and Path(spooling.path).exists()
        seen |= loose(folder)
    seen |= loose(folder)
    assert seen == {}
    kinds = {path.suffix for path in folder.rglob("*") if path.is_file()}
    assert {".db", ".npz", ".before", ".fold", ".jsonl", ".ttl", ".md", ".toml"} <= kinds


def test_a_database_that_is_moved_is_private(umask, tmp_path):
    """The file that `doxa migrate` makes."""
    with Doxa.open(tmp_path / "one.db", config=light()) as doxa:
        doxa.dialogue(user="ana").absorb("I live in Rome.")
    migrate(str(tmp_path / "one.db"), str(tmp_path / "two.db"), config=light())
    assert loose(tmp_path) == {}


def test_a_file_that_is_there_keeps_its_mode(umask, tmp_path):
    """Whoever let a group read a memory or an export did so on purpose."""
    place, export = tmp_path / "memory.db", tmp_path / "memory.jsonl"
    with Doxa.open(place, config=light()) as doxa:
        doxa.dialogue(user="ana").absorb("I live in Rome.")
    place.chmod(0o640)
    export.touch()
    export.chmod(0o644)
    with Doxa.open(place, config=light()) as doxa:
        doxa.dialogue(user="ana").absorb("I like tea.")
        doxa.memory(user="ana").export(export)
        assert {mode(path) for path in tmp_path.glob("memory.db*") if path.is_file()} == {0o640}
    assert (mode(place), mode(export)) == (0o640, 0o644)


def test_folders_above_are_private_and_those_that_are_there_are_left(umask, tmp_path):
    """`mkdir` gives parents the mode of the umask."""
    tmp_path.chmod(0o755)
    made = private_folder(tmp_path / "a" / "b" / "c")
    assert [mode(one) for one in (made, made.parent, made.parent.parent)] == [0o700] * 3 and mode(tmp_path) == 0o755
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        private_folder(tmp_path / "file")


def test_what_cannot_be_written_is_an_error_of_ours(tmp_path):
    """And leaves nothing behind."""
    with pytest.raises(StoreReadOnlyError), replacing(tmp_path / "none" / "file"):
        raise AssertionError("there is no folder to write to")
    assert [*tmp_path.iterdir()] == []
