"""What a run of MT-Bench-101 measured, as values and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doxa_bench.mtbench101.complexity import Selection
from doxa_bench.mtbench101.lexical import bleu_signature, has_bleu
from doxa_bench.mtbench101.measures import DialogueResult, by_task, by_turn, overall, plain
from doxa_bench.paper.tables import Table

__all__ = ["MtbenchReport", "RefinedReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MtbenchReport:
    """What was measured and written. `to_dict()` is the form that is printed and kept."""

    data: str
    dialogues: int
    turns: int
    runs: int
    results: Mapping[str, tuple[DialogueResult, ...]]
    selection: Selection
    tables: tuple[Table, ...]
    files: tuple[Path, ...]
    left_out: Mapping[str, str]
    """What was not measured -> why."""
    stand_in: bool
    """A model that only stands in for one had a part in it."""
    counts: Mapping[str, int]
    seconds: float
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data; `_95` is a bootstrap interval over dialogues."""
        return {
            "benchmark": "mtbench101",
            "data": self.data,
            "dialogues": self.dialogues,
            "turns": self.turns,
            "runs": self.runs,
            "stand_in": self.stand_in,
            "systems": {name: _system(found) for name, found in self.results.items()},
            "refined": self.selection.to_dict(),
            "tables": {table.name: table.to_dict() for table in self.tables},
            "files": [str(path) for path in self.files],
            "left_out": dict(self.left_out),
            "bleu": bleu_signature() if has_bleu() else None,
            "counts": dict(self.counts),
            "seconds": round(self.seconds, 1),
            "models": dict(self.models),
            **self.environment,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinedReport:
    """The refined subset of appendix C. `to_dict()` is the form that is printed and kept."""

    data: str
    selection: Selection
    table: Table
    files: tuple[Path, ...]
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return {
            "benchmark": "mtbench101-refined",
            "data": self.data,
            **self.selection.to_dict(),
            "tables": {self.table.name: self.table.to_dict()},
            "files": [str(path) for path in self.files],
            "left_out": {} if self.selection.judged else {"stage 1": "no judged replies of base in the folder"},
            "models": dict(self.models),
            **self.environment,
        }


def _system(found: Sequence[DialogueResult]) -> dict[str, Any]:
    return {
        "runs": len({one.run for one in found}),
        "failed_replies": sum(bool(turn.failed) for one in found for turn in one.turns),
        "degraded_replies": sum(bool(turn.degraded) for one in found for turn in one.turns),
        "noted_replies": sum(turn.noted for one in found for turn in one.turns),
        "without_fact": _without_fact(found),
        **plain(overall(found)),
        "tasks": {task: plain(cells) for task, cells in by_task(found).items()},
        "turns": {str(turn): plain(cells) for turn, cells in by_turn(found).items()},
    }


def _without_fact(found: Sequence[DialogueResult]) -> dict[str, int]:
    """Return run -> dialogues at whose end the memory believed nothing; empty for what has no memory of facts."""
    runs = dict[str, int]()
    for one in found:
        if one.facts is not None:
            runs[str(one.run + 1)] = runs.get(str(one.run + 1), 0) + (one.facts == 0)
    return runs
