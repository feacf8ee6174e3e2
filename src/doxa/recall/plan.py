"""How much each view may propose for one query, and whether a second look is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["Plan"]

BUDGETS = MappingProxyType({"lexical": 32, "dense": 32, "speaker": 8, "time": 8})
"""Places that a view proposes unless a plan says otherwise; a view that is not listed gets `REST`."""
REST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a search spends. The default is the plan without a router."""

    lead: str = "lexical"
    """The view whose candidates come first into the union, and to which search falls back when time is short."""
    budgets: Mapping[str, int] = field(default_factory=lambda: BUDGETS)
    """View -> places that it may propose; 0 leaves a view out as a proposer (it still scores)."""
    expand: bool = True
    """One expansion is allowed when the views disagree or nothing stands out."""

    def budget(self, view: str) -> int:
        """Return how many places a view may propose."""
        return self.budgets.get(view, REST)
