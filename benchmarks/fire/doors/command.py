"""The command line: arguments and standard input, in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import mkdtemp
from typing import Any

from typer.testing import CliRunner

from doors.archives import SHEETS, laid
from doors.base import Fault, Light, decoded, encoded
from doors.rows import MEMORY
from doxa.backends import load
from doxa.engine.wiring import parts
from doxa.transport.cli import app

__all__ = ["Cli"]

SERVING = "serve worker cluster inspect mcp bench demo learn --install-completion --show-completion".split()
"""Commands that go on until they are ended, or are long by themselves."""
RESET = 40
ENVIRON = {
    "DOXA_ENCODER": "hash", "DOXA_READER": "none", "DOXA_GRADER": "none", "DOXA_NLI": "none", "DOXA_DB": "memory.db",
    "DOXA_USER": "ana", "DOXA_RECALL_PROMOTE": "false", "COLUMNS": "100", "DOXA_LEXICON": "none",
}  # fmt: skip
LINES: Sequence[Sequence[str]] = [
    line.split("|")
    for line in """ingest|chat.jsonl
ingest|-|--format|text|--session|s|--date|2024-05-01|--limit|2
ask|Where do I live?|--as-of|2024-05-02
search|Oslo|--k|3
facts|--all
rules
disputes
summary|Ana|--max-tokens|50
entities
history|Ana|lives in
why|f1_x
stats
concepts
tasks
tasks|tell|Add milk.
tasks|undo
answers|--stale
sparql|SELECT * { ?p doxa:livesIn ?q }
verify
check|You live in Rome.
retract|f1_x
accept|f1_x|--reason|no
keep-both|a|b
withdraw|--turn|t0
withdraw|--source|Kim
undo
what-if|--say|I live in Lima.
merge|Kim|Ana
split|Kim|Ana
forget|--turn|t0|--yes
forget|--everything|--yes
export|out.jsonl|--format|jsonl
export|out.ttl|--format|turtle
import|memory.jsonl
import|archive|--format|auto
migrate|memory.db|other.db
migrate|memory.db|other.db|--verify
drift
teach|--list
amr|graph.amr
amr|-
kb|build|table.tsv|kb
keys|add|--user|ana
keys|list
doctor|--offline
version
chat
--version
--help
ask|--help
nonsense""".splitlines()
]
INPUTS = (
    "",
    "Ana: I live in Oslo.\nBo: Me too.\n",
    '{"role": "user", "content": "Hi."}\n',
    "I like tea.\n/facts\n/quit\n",
    "y\n",
)
SHARED = (
    ["--json"],
    ["--user", "ana"],
    ["--db", "memory.db"],
    ["--quiet"],
    ["--config", "doxa.toml"],
    ["--db", ":memory:"],
)


class Cli:
    """`{"a": [argument, ...], "i": standard input}`, in a folder with a memory and some files."""

    words: Sequence[str] = (
        *(
            "--json",
            "--user",
            "--db",
            "--config",
            "--format",
            "--session",
            "--date",
            "--as-of",
            "--known-at",
            "--yes",
            "--k",
        ),
        *(
            "memory.db",
            "chat.jsonl",
            "archive",
            "missing",
            ".",
            "-",
            "--",
            "-q",
            "ana",
            "t0",
            ":memory:",
            "sqlite:///x.db",
        ),
        *(line[0] for line in LINES if line),
    )

    def __init__(self, models: bool) -> None:
        """Open it: a folder with a memory."""
        self._folder, self._count = Path(mkdtemp(prefix="fuzz-")), 0
        self._fresh = self._folder / "fresh"
        self._fresh.mkdir()
        self._fill(self._fresh)
        self._copy()
        told = [{"a": [*line, *SHARED[at % 6]], "i": INPUTS[at % 5]} for at, line in enumerate(LINES)]
        self.seeds: Sequence[bytes] = encoded(*told, *({"a": line, "i": ""} for line in LINES))

    def _fill(self, folder: Path) -> None:
        (folder / "chat.jsonl").write_text(INPUTS[2], encoding="utf-8")
        (folder / "graph.amr").write_text("(w / want-01 :ARG0 (b / boy))\n", encoding="utf-8")
        (folder / "table.tsv").write_text("a\tb\tc\n", encoding="utf-8")
        (folder / "doxa.toml").write_text('user = "ana"\n', encoding="utf-8")
        (folder / "memory.jsonl").write_bytes(MEMORY.read_bytes())
        (folder / "archive").mkdir()
        laid(SHEETS[9], folder / "archive")
        with self._inside(folder):
            CliRunner().invoke(app, ["import", "memory.jsonl"], env=ENVIRON)

    def _copy(self) -> None:
        rmtree(self._folder / "work", ignore_errors=True)
        copytree(self._fresh, self._folder / "work")

    @contextmanager
    def _inside(self, folder: Path) -> Iterator[None]:
        before = Path.cwd()
        os.chdir(folder)
        parts.load = _loaded
        try:
            yield
        finally:
            os.chdir(before)
            parts.load = load

    def __call__(self, data: bytes) -> None:
        given: Any = decoded(data)
        told: Mapping[str, Any] = given if isinstance(given, dict) else {"a": ["ingest", "-"], "i": data}
        named = told.get("a")
        arguments = [str(one).replace("\0", "") for one in named] if isinstance(named, list) else ["ask", str(named)]
        if any(one in SERVING for one in arguments) or any(away(one) for one in arguments):
            return
        self._count += 1
        if self._count % RESET == 0:
            self._copy()
        sent = told.get("i", "")
        sent = sent if isinstance(sent, bytes) else str(sent).encode("utf-8", "replace")
        with self._inside(self._folder / "work"):
            done = CliRunner().invoke(app, arguments, input=sent, env=ENVIRON)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if done.exit_code not in (0, 1, 2, 3, 130):
            raise Fault(f"exit code {done.exit_code}")
        if done.exit_code == 1 and not done.output.strip():
            raise Fault("exit code 1 and not a word")

    def close(self) -> None:
        """Remove the folder."""
        rmtree(self._folder)


def away(argument: str) -> bool:
    """Tell whether an argument may lead out of the folder, or to a server."""
    return (
        argument.startswith(("/", "~"))
        or ".." in argument
        or ("://" in argument and not argument.startswith("sqlite:///x"))
    )


def _loaded(kind: str, name: str, **options: object) -> Any:
    return Light() if kind == "parser" else load(kind, name, **options)
