"""What answers tell about the search behind them, and what was learned from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

__all__ = ["Feedback", "Lesson"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What an answer told about the search behind it: recall learns from these."""

    channel: Literal["used", "missed"]
    """`used`: an answer cited it and was verified. `missed`: it was needed and was not found."""
    at: datetime
    session: str = ""
    """The dialogue that it comes from: one dialogue can move an edge only so far."""
    query: str = ""
    """What was asked, where no remembered turn asked it."""
    asked: str = ""
    """The id of the turn that asked."""
    turn_ids: tuple[str, ...] = ()
    """The evidence: what was used, or what was needed."""
    edges: tuple[tuple[str, str], ...] = ()
    """Ids of facts and promotions, each with its relation, that led to the evidence, or would have."""
    misled: tuple[tuple[str, str], ...] = ()
    """Those that led to what was shown in its place."""
    plan: str = ""
    """The plan that found it; of what was missed, the cheapest one that would have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What learning from feedback did, and why."""

    accepted: bool
    """The new weights are in use."""
    reason: str
    """In a sentence, for people."""
    trained: int = 0
    """Queries that were learned from."""
    shadow: int = 0
    """Later queries that the old and the new weights were compared on."""
    before: Mapping[str, float] = field(default_factory=dict)
    """Figures of the old weights on the shadow set: `recall`, `ndcg`, `cost`, `disagreement`, `error_routes`."""
    after: Mapping[str, float] = field(default_factory=dict)
    """The same of the new ones."""
