"""Rows of a log: as data, as what they do to the tasks, and as a file that is imported again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from doors.base import decoded, encoded, opened, ours
from doxa.backends.store import Row
from doxa.core.errors import DoxaError
from doxa.engine.history import transfer
from doxa.memory import UserState, event_of, fold_row
from doxa.memory.taskcodec import commit_from, commit_to

__all__ = ["BROKEN", "Exports", "Forests", "Rows", "folded", "told_rows"]

MEMORY = Path(__file__).parents[3] / "tests" / "fuzz" / "corpus" / "memory.jsonl"
"""An export of a memory in which every kind of row is."""
BROKEN = (*transfer.BROKEN, DoxaError)
"""What who reads rows that Doxa did not write takes for damage."""
AT = datetime(2024, 1, 1, tzinfo=UTC)
WORDS = (
    *("claims", "rules", "changes", "tasks", "edits", "set", "new", "gone", "valid", "known", "support", "metadata"),
    *(
        "t0",
        "t3",
        "n1",
        "n2",
        "held",
        "retracted",
        "assert",
        "user",
        "2024-05-01T10:00:00+00:00",
        "day",
        "task",
        "item",
    ),
)
MOST = 200
"""Inputs that go into one engine; then it is another one."""


def told_rows() -> tuple[dict[str, Any], list[list[dict[str, Any]]]]:
    """Return the header of the export, and its rows in groups: one row each, after what it rests on."""
    header, *records = map(json.loads, MEMORY.read_text(encoding="utf-8").splitlines())
    turns = {one["turn_id"]: one for one in records if one["kind"] == "turn"}
    read = {one["about"]: one for one in records if one["kind"] == "maintained"}
    groups = [[turns[key], one] for key, one in read.items()]
    first, tasks = [turns["t0"], read["t0"]], [turns["t3"], read["t3"], turns["t4"], read["t4"]]
    others = [one for one in records if one["kind"] not in ("turn", "maintained")]
    return header, [*groups, tasks, *([*(tasks if one["kind"] == "tasked" else first), one] for one in others)]


def folded(records: Sequence[Any]) -> tuple[UserState, list[Row]]:
    """Fold records as an import does, and return the state and the rows."""
    state, rows, ordinals = UserState(user="ana", dims=1), [], dict[str, int]()
    for place, one in enumerate(records, start=1):
        kind, turn_id = str(one["kind"]), one.get("turn_id")
        if kind == "turn":
            ordinals[str(turn_id)] = place
        about = ordinals[one["about"]] if kind == "maintained" else None
        at = datetime.fromisoformat(one["at"]).astimezone(UTC)
        row = Row(ordinal=place, kind=kind, known_at=at, body=dict(one["body"]), about=about, turn_id=turn_id)
        fold_row(state, row)
        rows.append(row)
    return state, rows


class Rows:
    """Records of a log, folded; what is folded is written, read and folded again."""

    words: Sequence[str] = WORDS

    def __init__(self, models: bool) -> None:
        """Open it; there is no engine behind it."""
        self.seeds: Sequence[bytes] = encoded(*told_rows()[1])

    def __call__(self, data: bytes) -> None:
        try:
            state, rows = folded(decoded(data))
        except BROKEN:
            return
        for row in rows:
            if row.kind not in ("turn", "erased"):
                with _broken():
                    json.dumps(event_of(row, state.turns.get(row.about or 0)).body())

    def close(self) -> None:
        """Nothing is open."""


class Forests:
    """Commits of tasks, one after the other, on a forest that grows with them."""

    words: Sequence[str] = WORDS

    def __init__(self, models: bool) -> None:
        """Open it; there is no engine behind it."""
        told = [one["body"]["tasks"] for group in told_rows()[1] for one in group if one["body"].get("tasks")]
        first = [one for one in told if one.get("edits")]
        self.seeds: Sequence[bytes] = encoded(first[:1], first[:2], first[:3], first[-2:])

    def __call__(self, data: bytes) -> None:
        state = UserState(user="ana", dims=1)
        try:
            for one in decoded(data):
                commit = commit_from(one, state.tasks)
                state.tasks.apply(commit)
                json.dumps(commit_to(commit))
        except BROKEN:
            return
        with _broken():
            forest = state.tasks.snapshot()
            forest.state(), forest.tree(hidden=True)

    def close(self) -> None:
        """Nothing is open."""


class _broken:
    """Let pass what who reads rows takes for damage."""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, BROKEN)


class Exports:
    """An export, imported and looked at: `[header, record, ...]`, or bytes."""

    words: Sequence[str] = WORDS

    def __init__(self, models: bool) -> None:
        """Open it: an engine and a folder."""
        self._models, self._count = models, 0
        self._folder = Path(mkdtemp(prefix="fuzz-"))
        self._doxa = opened(models)
        header, groups = told_rows()
        self.seeds: Sequence[bytes] = [*encoded(*([header, *group] for group in groups)), *self._graphs(groups)]

    def _graphs(self, groups: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[bytes]:
        memory = self._doxa.memory(user="seed")
        lines = [{"format": "doxa-export/1", "user": "ana"}, *groups[0]]
        memory.import_(self._file("\n".join(map(json.dumps, lines)).encode()))
        for format in ("turtle", "nquads", "jsonld"):
            yield memory.export(self._folder / "seed.out", format=format).read_bytes()  # type: ignore[arg-type]

    def _file(self, data: bytes) -> Path:
        path = self._folder / "in.jsonl"
        path.write_bytes(data)
        return path

    def __call__(self, data: bytes) -> None:
        given = decoded(data)
        if isinstance(given, list):
            data = "\n".join(map(json.dumps, given)).encode()
        self._count += 1
        if self._count % MOST == 0:
            self._doxa.close()
            self._doxa = opened(self._models)
        user = f"u{self._count}"
        with ours():
            self._doxa.memory(user=user).import_(self._file(data))
            self._look(user)

    def _look(self, user: str) -> None:
        """Read all that was imported, write it again, and go on talking."""
        memory, tasks = self._doxa.memory(user=user), self._doxa.tasks(user=user)
        for fact in memory.facts(current=False):
            memory.describe(fact), memory.why(fact.fact_id)
        for rule in memory.rules():
            memory.describe(rule)
        memory.summary(history=True), memory.entities(), memory.history(), memory.stats(), memory.disputes()
        memory.inferred(), memory.promotions(active=False), memory.untold(), memory.search("Where do I live?")
        tasks.summary(), tasks.state(), tasks.history(), tasks.forest().tree(hidden=True)
        for format in ("jsonl", "turtle", "markdown"):
            memory.export(self._folder / "out", format=format)  # type: ignore[arg-type]
        self._doxa.dialogue(user=user).absorb("I live in Rome.")
        self._doxa.wait(user, rest_s=0.0)
        memory.undo()
        if turns := memory.turns(withdrawn=True):
            memory.forget(turn_id=turns[0].turn_id)

    def close(self) -> None:
        """Close the engine."""
        self._doxa.close()
        rmtree(self._folder)
