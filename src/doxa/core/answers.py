"""What was answered, what it rested on, and whether that still stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from doxa.core.values import Citation, Fact

__all__ = ["Answered", "AnswerReason"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer as it was given, kept with the trace of how it came to be."""

    answer_id: str
    question: str
    text: str
    at: datetime
    """The moment of the memory that the question was asked at."""
    session: str
    speaker: str
    """Who asked."""
    agent: str
    value: str | None = None
    citations: tuple[Citation, ...] = ()
    standing: Mapping[str, str] = field(default_factory=dict)
    """Fact id -> how each fact that it cites stood then."""
    consulted: tuple[str, ...] = ()
    """The ids of all turns that it could draw on, cited or not."""
    asked: str | None = None
    """The id of the turn that asked; None where the question was not remembered."""
    said: tuple[tuple[str, str], ...] = ()
    """What it went on from without that being remembered: `(speaker, text)`, oldest first."""
    as_of: date | None = None
    known_at: datetime | None = None
    confidence: float = 0.0
    abstained: bool = False
    disputed: bool = False
    verdict: str = "neutral"
    trace: Mapping[str, Any] = field(default_factory=dict)
    """The steps as plain data, the search included; see `Trace.to_dict`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReason:
    """Why an answer was given, and whether it still stands."""

    answer: Answered
    facts: tuple[Fact, ...] = ()
    """The facts that it cites, as they stand now."""
    stale: tuple[str, ...] = ()
    """What has changed since of what it rests on, in sentences; empty while it stands."""
    text: str = ""

    def __str__(self) -> str:
        return self.text
