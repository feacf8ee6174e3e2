"""What a check of a memory against its ontology finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from doxa.core.values import Fact

__all__ = ["Consistency", "Inconsistency", "Method"]

Method = Literal["owl-rl", "owl-dl"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inconsistency:
    """Facts that cannot all hold, and why."""

    rule: str
    """The rule of OWL 2 RL that found it (`prp-fp`, `cax-adc`), or `owl-dl`."""
    facts: tuple[Fact, ...]
    """What clashes; without any one of them, this clash is gone. None when the axioms clash by themselves."""
    text: str
    """The same in plain words."""
    minimal: bool = True
    """False when the search for a smaller set was cut short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Whether facts agree with the axioms of an ontology, by which method."""

    method: Method
    consistent: bool
    facts: int
    """How many facts were looked at."""
    inconsistencies: tuple[Inconsistency, ...] = ()
    inferred: int = 0
    """How many facts follow from them (OWL 2 RL only)."""
    seconds: float = 0.0
