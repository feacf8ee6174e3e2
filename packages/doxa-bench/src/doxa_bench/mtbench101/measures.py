"""Scored replies -> means with intervals: over all dialogues, by task, by turn.

Runs of one dialogue are averaged first; intervals are bootstrap intervals over dialogues, whose turns go together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from doxa_bench.metrics import bootstrap_interval, mean, ratio
from doxa_bench.paper.tables import Cell

__all__ = [
    "MEASURES",
    "PUBLISHED",
    "DialogueResult",
    "TurnResult",
    "against",
    "by_task",
    "by_turn",
    "measured",
    "overall",
    "plain",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What one reply was worth; None where it was not measured."""

    turn: int
    """From 1."""
    f1: float
    bleu: float | None = None
    cs: float | None = None
    label: str | None = None
    p_entailment: float | None = None
    p_contradiction: float | None = None
    score: float | None = None
    """The judge's, 1 to 10."""
    seconds: float = 0.0
    """Until the reply was there."""
    maintenance_s: float = 0.0
    """Until the memory had taken the turn in, after the reply."""
    calls: int = 0
    """Calls to a language model for the reply, answered ones."""
    tokens: int = 0
    """Of those calls, prompts included."""
    repeated: bool = False
    """Word for word an earlier reply of the same dialogue, which an NLI model takes for entailed by it."""
    failed: str = ""
    """Why there is no reply; it is scored as an empty one."""
    degraded: str = ""
    """What did not work on the way to it and was done without."""
    noted: bool = False
    """The memory, or the tree, had something to say to it."""
    facts: int | None = None
    """Facts that the memory believed after it; None without a memory of facts."""
    cs_published: float | None = None
    """CS with the windows of the paper: all of the dialogue and all of the reply in one pair."""
    label_published: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueResult:
    """What one system made of one dialogue in one run."""

    system: str
    run: int
    id: str
    task: str
    turns: tuple[TurnResult, ...]

    @property
    def score(self) -> float | None:
        """The judge's score of the dialogue: that of its worst turn. Source: Bai et al. 2024, section 4."""
        given = [turn.score for turn in self.turns if turn.score is not None]
        return min(given) if given else None

    @property
    def facts(self) -> int | None:
        """Facts that the memory ended with; None without a memory of facts."""
        return self.turns[-1].facts if self.turns else None

    def measure(self, name: str) -> float | None:
        """Return one of `MEASURES` of the dialogue; None where it was not measured."""
        if name == "score":
            return self.score
        return _of_turns(self.turns, name)


MEASURES = {
    "score": "Score",
    "cs": "CS",
    "der": "DER",
    "contradicted": "contradicted",
    "repeated": "repeated",
    "f1": "F1",
    "bleu": "BLEU",
}
"""Measure -> head of its column. `score`: of the judge, 1 to 10; all others 0 to 1."""
PUBLISHED = ("cs_published", "der_published")
"""The same two with the windows of the paper, where they were measured."""
LABELS = {
    "der": ("label", "entailment"),
    "contradicted": ("label", "contradiction"),
    "der_published": ("label_published", "entailment"),
}
"""Measure -> field of a turn, and the label that counts."""


def measured(results: Iterable[DialogueResult], value: Callable[[DialogueResult], float | None]) -> Cell | None:
    """Return the mean over dialogues, each averaged over its runs; None where nothing was measured."""
    return _cell(list(_means(results, value).values()))


def against(
    results: Iterable[DialogueResult], others: Iterable[DialogueResult], value: Callable[[DialogueResult], float | None]
) -> Cell | None:
    """Return by how much a system is above another over the dialogues that both have; None where there are none.

    The interval is over differences of the same dialogue, so that what makes a dialogue hard is in neither.
    """
    one, other = _means(results, value), _means(others, value)
    return _cell([one[key] - other[key] for key in one if key in other])


def _means(results: Iterable[DialogueResult], value: Callable[[DialogueResult], float | None]) -> dict[str, float]:
    by_dialogue: dict[str, list[float]] = {}
    for result in results:
        if (found := value(result)) is not None:
            by_dialogue.setdefault(result.id, []).append(found)
    return {key: mean(values) for key, values in by_dialogue.items()}


def _cell(means: Sequence[float]) -> Cell | None:
    if not means:
        return None
    low, high = bootstrap_interval([[one, 1.0] for one in means], ratio) or (None, None)
    return Cell(value=mean(means), low=low, high=high)


def overall(results: Sequence[DialogueResult]) -> dict[str, Cell | None]:
    """Return every measure over some dialogues."""
    return {name: measured(results, lambda one, name=name: one.measure(name)) for name in MEASURES}  # type: ignore[misc]


def by_task(results: Sequence[DialogueResult]) -> dict[str, dict[str, Cell | None]]:
    """Return every measure of each task."""
    tasks: dict[str, list[DialogueResult]] = {}
    for result in results:
        tasks.setdefault(result.task, []).append(result)
    return {task: overall(found) for task, found in tasks.items()}


def by_turn(results: Sequence[DialogueResult]) -> dict[int, dict[str, Cell | None]]:
    """Return every measure of the first turns, the second turns and so on; the judge's score is that of the turn."""
    last = max((len(result.turns) for result in results), default=0)
    found: dict[int, dict[str, Cell | None]] = {}
    for number in range(1, last + 1):
        there = [result for result in results if len(result.turns) >= number]
        found[number] = {
            name: measured(there, lambda one, name=name, at=number - 1: _of_turns(one.turns[at : at + 1], name))  # type: ignore[misc]
            for name in MEASURES
        }
    return found


def _of_turns(turns: Sequence[TurnResult], name: str) -> float | None:
    if name in LABELS:
        field_, wanted = LABELS[name]
        labels = [label for turn in turns if (label := getattr(turn, field_)) is not None]
        return sum(label == wanted for label in labels) / len(labels) if labels else None
    values = [value for turn in turns if (value := getattr(turn, name)) is not None]
    return fsum(values) / len(values) if values else None


def plain(cells: Mapping[str, Cell | None]) -> dict[str, Any]:
    """Return measures as plain JSON data: `name` and `name_95`; those that were not measured are left out."""
    found: dict[str, Any] = {}
    for name, cell in cells.items():
        if cell is not None:
            found[name] = round(cell.value, 4)
            found[f"{name}_95"] = (
                None if cell.low is None or cell.high is None else [round(cell.low, 4), round(cell.high, 4)]
            )
    return found
