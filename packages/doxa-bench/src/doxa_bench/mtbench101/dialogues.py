"""The dialogues of MT-Bench-101: JSON Lines with `task`, `id` and `history`, a list of `user` and `bot` texts.

Source: Bai et al. 2024, "MT-Bench-101: A Fine-Grained Benchmark for Evaluating Large Language Models in Multi-Turn
Dialogues": 1,388 dialogues, 4,208 turns, 13 tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from doxa.core.errors import FormatError
from doxa_bench.gold import read_entries

__all__ = ["TASKS", "BenchDialogue", "Exchange", "read_benchmark"]

FILE = "mtbench101.jsonl"
TASKS = {
    "CM": "Context Memory",
    "AR": "Anaphora Resolution",
    "SI": "Separate Input",
    "TS": "Topic Shift",
    "CC": "Content Confusion",
    "CR": "Content Rephrasing",
    "FR": "Format Rephrasing",
    "SC": "Self-correction",
    "SA": "Self-affirmation",
    "MR": "Mathematical Reasoning",
    "GR": "General Reasoning",
    "IC": "Instruction Clarification",
    "PI": "Proactive Interaction",
}
"""Abbreviation -> name, in the paper's order."""


class Exchange(NamedTuple):
    """What the user says, and the reference reply."""

    user: str
    bot: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchDialogue:
    """One dialogue of one task."""

    id: str
    task: str
    turns: tuple[Exchange, ...]

    @property
    def texts(self) -> list[str]:
        """Everything that is said in it, in order."""
        return [text for turn in self.turns for text in turn]


def read_benchmark(path: Path, *, limit: int | None = None) -> list[BenchDialogue]:
    """Return the dialogues of a file, or of `mtbench101.jsonl` in a folder.

    Args:
        path: the file or folder.
        limit: most dialogues; they are taken from every task in turn, so that few of them still show all tasks.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no such dialogue, or an id comes twice; the message names it.
    """
    dialogues = read_entries(path / FILE if path.is_dir() else path, _dialogue)
    return dialogues if limit is None else _from_every_task(dialogues, limit)


def _from_every_task(dialogues: list[BenchDialogue], limit: int) -> list[BenchDialogue]:
    seen: dict[str, int] = {}
    ranks = {}
    for dialogue in dialogues:
        ranks[dialogue.id] = seen[dialogue.task] = seen.get(dialogue.task, -1) + 1
    first = {dialogue.id for dialogue in sorted(dialogues, key=lambda one: ranks[one.id])[:limit]}
    return [dialogue for dialogue in dialogues if dialogue.id in first]


def _dialogue(entry: Mapping[str, Any]) -> BenchDialogue:
    turns = tuple(Exchange(str(turn["user"]), str(turn["bot"])) for turn in entry["history"])
    if entry["task"] not in TASKS:
        raise FormatError(f"expected a task out of {', '.join(TASKS)}, got {entry['task']!r}.")
    if not turns:
        raise FormatError(f"expected a dialogue of at least one turn; {entry['id']!r} has none.")
    return BenchDialogue(id=str(entry["id"]), task=str(entry["task"]), turns=turns)
