"""Propositions -> signed propositions: the literals that clauses are made of."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

__all__ = ["Lit"]


class Lit(NamedTuple):
    """A signed atom: that something holds, or (positive false) that it does not."""

    atom: Hashable
    positive: bool = True

    def __invert__(self) -> Lit:
        return Lit(self.atom, not self.positive)

    def __str__(self) -> str:
        return f"{'' if self.positive else 'not '}{self.atom}"
