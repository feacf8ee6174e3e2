"""What is measured on data that nobody developed on: counts of every item, and the share that they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from doxa.core.config import Config
from doxa_bench import run_everyday, run_replies, run_revision, run_tasks, run_understanding
from doxa_bench.metrics import bootstrap_error, f1_of_counts, ratio

__all__ = ["SETS", "Measured", "differ"]

HERE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Measured:
    """The counts of every item of a set, and the function from their sums to the measure."""

    rows: Sequence[Sequence[float]]
    of_counts: Callable[..., float | None]

    @property
    def value(self) -> float:
        """The measure over all items."""
        return self.of_counts(*(sum(column) for column in zip(*self.rows, strict=True))) or 0.0


def understanding(*paths: str) -> Measured:
    """Return the F1 of the claims of turns."""
    rows = [
        [counts[name] for name in ("matching", "scored", "found", "required")]
        for path in paths
        for counts in run_understanding(HERE / path, config=Config()).scores.by_item
    ]
    return Measured(rows, f1_of_counts)


def revision(*paths: str) -> Measured:
    """Return the share of probes after changes that are answered right."""
    rows = [
        [counts["right"], counts["probes"]]
        for path in paths
        for counts in run_revision(HERE / path, config=Config()).scores.by_dialogue
    ]
    return Measured(rows, ratio)


def tasks(*paths: str) -> Measured:
    """Return the share of slots of task scenarios that are right."""
    rows = [
        [one.counts["slots_ok"], one.counts["slots_n"]]
        for path in paths
        for one in run_tasks(HERE / path, systems=["ours"], config=Config()).systems["ours"].scores
    ]
    return Measured(rows, ratio)


def everyday() -> Measured:
    """Return the share of questions about everyday chats that are answered right."""
    halves = run_everyday(HERE / "everyday/held_out", config=Config()).halves
    chats = [chat for half in halves for chat in half.chats]
    rows = [[sum(mark.mark == "right" for mark in chat.answers), len(chat.answers)] for chat in chats]
    return Measured(rows, ratio)


def replies(*paths: str) -> Measured:
    """Return the share of replies that are called contradicted exactly if they are."""
    rows = [[float(one.right), 1.0] for path in paths for one in run_replies(HERE / path, config=Config()).checked]
    return Measured(rows, ratio)


SETS: Mapping[str, Callable[[], Measured]] = {
    "claims F1": lambda: understanding(*(f"understanding/set{number}.jsonl" for number in (3, 4, 5))),
    "revision": lambda: revision(*(f"revision/set{number}.jsonl" for number in (4, 5, 6))),
    "task slots": lambda: tasks("tasks/set2.jsonl", "tasks/set5.jsonl"),
    "replies": lambda: replies("replies/held_out.jsonl", "replies/held_out2.jsonl"),
    "answers": everyday,
}


def differ(whole: Measured, less: Measured) -> tuple[float, float]:
    """Return how much less is found, and its standard error: items are drawn again, both with the same draws."""
    width = len(whole.rows[0])
    pairs = [[*one, *other] for one, other in zip(whole.rows, less.rows, strict=True)]

    def lost(*sums: float) -> float:
        return (whole.of_counts(*sums[:width]) or 0.0) - (less.of_counts(*sums[width:]) or 0.0)

    return whole.value - less.value, bootstrap_error(pairs, lost)
