"""The moves of the reasoning tree: four of the paper, and three that it lacks.

EXPAND ENTITY, FIND PATH, THINK and ANSWER are those of D-SMART (section "Reasoning Tree for Memory Traversal"). RECALL
asks the memory a question of its own, COMPUTE calculates exactly, and ASK turns to the user where the memory cannot
settle it: the paper's agent has to guess in all three cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from doxa.core.values import Term

__all__ = [
    "Action",
    "Answer",
    "Ask",
    "Compute",
    "ExpandEntity",
    "FindPath",
    "Recall",
    "Think",
    "is_terminal",
    "name_of",
]


@dataclass(frozen=True, slots=True)
class ExpandEntity:
    """Look at what is known of an entity, `hops` facts away at most."""

    entity: Term
    hops: int = 1

    def __str__(self) -> str:
        return f"EXPAND ENTITY [{self.entity}]" + (f" {self.hops} hops" if self.hops > 1 else "")


@dataclass(frozen=True, slots=True)
class FindPath:
    """Look for the `k` shortest chains of facts between two entities, whatever way their relations point."""

    source: Term
    target: Term
    k: int = 3

    def __str__(self) -> str:
        return f"FIND PATH [{self.source}] [{self.target}]"


@dataclass(frozen=True, slots=True)
class Think:
    """Put down what follows from the state, or what to do next."""

    thought: str

    def __str__(self) -> str:
        return f"THINK: {self.thought}"


@dataclass(frozen=True, slots=True)
class Recall:
    """Ask the memory a question of its own; `day` is the day of the world that it is asked about."""

    query: str
    day: date | None = None

    def __str__(self) -> str:
        return f"RECALL: {self.query}" + (f" ({self.day.isoformat()})" if self.day else "")


@dataclass(frozen=True, slots=True)
class Compute:
    """Calculate over the facts of the state: a question or an expression in words."""

    expression: str

    def __str__(self) -> str:
        return f"COMPUTE: {self.expression}"


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the user, since sources disagree or something is missing; ends the search as an answer does."""

    text: str

    def __str__(self) -> str:
        return f"ASK: {self.text}"


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer from the state."""

    def __str__(self) -> str:
        return "ANSWER"


Action = ExpandEntity | FindPath | Think | Recall | Compute | Ask | Answer
NAMES: dict[type[Action], str] = {
    ExpandEntity: "expand_entity", FindPath: "find_path", Think: "think", Recall: "recall", Compute: "compute",
    Ask: "ask", Answer: "answer",
}  # fmt: skip


def name_of(action: Action) -> str:
    """Return the kind of an action as it is written in traces and prompts ("find_path")."""
    return NAMES[type(action)]


def is_terminal(action: Action) -> bool:
    """Tell whether nothing follows an action: it gives an answer, or asks the user."""
    return isinstance(action, (Answer, Ask))
