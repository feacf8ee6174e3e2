"""FactConsolidation of MemoryAgentBench: a list of facts, later ones in the place of earlier ones, and questions.

Source: Hu et al. 2025, "Evaluating Memory in LLM Agents via Incremental Multi-Turn Interactions", conflict resolution,
whose facts go back to Zhong et al. 2023, "Assessing Knowledge Editing in Language Models via Multi-Hop Questions".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doxa.core.errors import FormatError, NotFoundError

__all__ = ["MULTI", "SINGLE", "FactQuestion", "FactSet", "Told", "read_set"]

SINGLE, MULTI = "single-hop", "multi-hop"
FILES = {SINGLE: "factconsolidation_sh_6k.json", MULTI: "factconsolidation_mh_6k.json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A fact as it was drawn, and the sentence that tells it."""

    thing: str
    relation: str
    value: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuestion:
    """A question, and the answers that are accepted."""

    kind: str
    text: str
    accepted: tuple[str, ...]
    start: str = ""
    """Of a drawn question: the thing that it starts from."""
    way: tuple[str, ...] = ()
    """Of a drawn question: the relations that lead to the answer, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSet:
    """The sentences in the order in which they are told, and what is asked afterwards."""

    name: str
    facts: tuple[str, ...]
    questions: tuple[FactQuestion, ...]
    told: tuple[Told, ...] = ()
    """What the sentences of a drawn set say, one each; empty for a set that was read."""


def read_set(folder: Path) -> FactSet:
    """Return the two 6k sets of a folder as one: they tell the same facts.

    Raises:
        NotFoundError: a file is missing.
        FormatError: a file is not in the form of the benchmark.
    """
    tables = {kind: _read(folder / name) for kind, name in FILES.items()}
    try:
        lines = [str(table["context"]).splitlines()[1:] for table in tables.values()]
        if lines[0] != lines[1]:
            raise ValueError("the two files tell different facts")
        return FactSet(
            name="factconsolidation-6k",
            facts=tuple(line.partition(". ")[2] for line in lines[0] if line.strip()),
            questions=tuple(question for kind, table in tables.items() for question in _questions(kind, table)),
        )
    except (ValueError, KeyError, TypeError) as exc:
        raise FormatError(
            f"expected FactConsolidation in {folder}, {{'context', 'questions', 'answers'}}, got something else: "
            f"{exc!r}."
        ) from exc


def _read(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        raise NotFoundError(f"No FactConsolidation: expected {path}. `--facts N` draws a set of the same form instead.")
    try:
        table: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise FormatError(f"expected the JSON of FactConsolidation in {path}, got something else: {exc}.") from exc
    return table


def _questions(kind: str, table: Mapping[str, Any]) -> list[FactQuestion]:
    pairs = zip(table["questions"], table["answers"], strict=True)
    return [FactQuestion(kind=kind, text=text, accepted=tuple(map(str, accepted))) for text, accepted in pairs]
