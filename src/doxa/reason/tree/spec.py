"""How far and how wide the tree is searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["TreeSpec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSpec:
    """The knobs of a search; the defaults of the first four are D-SMART's (appendix B)."""

    beam: int = 3
    """States that are expanded together (B)."""
    branching: int = 3
    """Moves that are tried from each state (S)."""
    depth: int = 5
    """Most moves on the way to an answer (Dmax)."""
    expansions: int = 12
    """States that are expanded in all (Mexp). Appendix B names it and Algorithm 2 does not use it; as a count of
    states, not of levels, it is the tighter reading of equation 6."""
    order: Literal["beam", "best-first"] = "beam"
    """Level by level, or always the most promising state of all levels."""
    discount: float = 0.97
    """What every move costs an answer: its value counts times `discount ** depth`."""
    prune: float = 0.8
    """An open state is given up when it is worth less than this share of the best answer; 0 gives up none."""
    seed: int = 0
    """Decides between states that are alike in every other respect."""

    @property
    def most_calls(self) -> int:
        """Most calls of roles in one search: Mexp x B x 2S (equation 6)."""
        return self.expansions * self.beam * 2 * self.branching
