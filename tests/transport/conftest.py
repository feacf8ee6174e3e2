"""A command line on a memory of its own: no settings from outside, a small encoder, short transcripts."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from doxa.core.config import MemoryConfig
from doxa.transport.cli import app

ROOT = Path(__file__).parents[2]
SRC = [str(ROOT / "src"), str(ROOT / "packages/doxa-bench/src")]
TURNS = [
    ("D1:1", "2024-03-02T09:00:00", "user", "Ana", "I live in Lisbon."),
    ("D1:2", "2024-03-02T09:01:00", "assistant", "Helper", "How do you like it there?"),
    ("D1:3", "2024-03-02T09:02:00", "user", "Ana", "I work for Siemens."),
    ("D2:1", "2024-05-18T10:00:00", "user", "Ana", "I moved to Bonn on 18 May."),
]

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "I live in Lisbon."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "I live in Rome."},
            ],
        },
        "qa": [{"question": "Where does Ana live?", "answer": "Lisbon", "evidence": ["D1:1"], "category": 4}],
    }
]


class Cli:
    """`doxa` in this process; `db` is where its memory is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "memory.db"

    def __call__(self, *arguments: object, input: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)

    def json(self, *arguments: object, code: int = 0, input: str | bytes | None = None) -> Any:
        """Run a command with --json and return what it prints."""
        done = self(*arguments, "--json", input=input)
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    def file(self, name: str, content: str | bytes) -> Path:
        """Return a new file with a content."""
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def transcript(self, turns: list[tuple[str, str, str, str, str]] = TURNS) -> Path:
        """Return a file of messages."""
        keys = ("id", "at", "role", "name", "content")
        return self.file("ana.jsonl", "".join(json.dumps(dict(zip(keys, turn, strict=True))) + "\n" for turn in turns))

    def process(self, *arguments: object) -> "subprocess.Popen[bytes]":
        """Start `doxa` in a process of its own."""
        command = [sys.executable, "-m", "doxa", *map(str, arguments)]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join([*SRC, os.environ.get("PYTHONPATH", "")])}
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """An empty folder, and a memory in it that does not exist yet."""
    for name in [name for name in os.environ if name.startswith("DOXA_") or name == "OPENAI_API_KEY"]:
        monkeypatch.delenv(name)
    found = Cli(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOXA_ENCODER", "hash")
    monkeypatch.setenv("DOXA_DB", str(found.db))
    monkeypatch.setenv("DOXA_USER", "ana")
    monkeypatch.setenv("COLUMNS", "200")
    return found


@pytest.fixture
def ana(cli: Cli) -> Cli:
    """A memory that knows four turns of Ana."""
    assert cli("ingest", cli.transcript()).exit_code == 0
    return cli


@pytest.fixture
def locomo(cli: Cli) -> Path:
    """A LoCoMo file of one conversation with one question."""
    return cli.file("locomo.json", json.dumps(LOCOMO))


@pytest.fixture
def shared(doxa, monkeypatch):
    """A handbook that everybody reads, where an engine is there."""
    name = "acme-handbook"
    config = doxa.parts.config.model_copy(update={"memory": MemoryConfig(shared=(name,))})
    monkeypatch.setattr(doxa.parts, "config", config)
    doxa.dialogue(user=name, speaker="Handbook").absorb("The Lisbon office opens at nine.", turn_id="hours")
    doxa.dialogue(user=name).flush()
