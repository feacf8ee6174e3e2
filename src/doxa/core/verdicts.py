"""What checking a text against the memory finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["SentenceKind", "SentenceVerdict", "Verdict", "VerdictLabel"]

VerdictLabel = Literal["supported", "neutral", "uncertain", "contradicted"]
"""Uncertain: something speaks against it, and it is not sure that it is wrong."""
SentenceKind = Literal["statement", "question", "hedge", "advice", "talk", "promise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceVerdict:
    """Whether one sentence of a text agrees with what the memory holds, and how that was found."""

    text: str
    label: VerdictLabel = "neutral"
    kind: SentenceKind = "statement"
    because: tuple[str, ...] = ()
    """The ids of the facts, rules and turns that support or contradict it: a smallest set that does."""
    reason: str = ""
    by: Literal["", "logic", "wording", "nli", "promise", "history", "turns"] = ""
    """What decided it: the theory of the memory, the values in what was said, the NLI model, an undertaking of the
    agent, what the agent said before, or turns as a grader reads them; empty where nothing did."""
    p_entailment: float = 0.0
    p_contradiction: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a text agrees with what the memory holds."""

    label: VerdictLabel = "neutral"
    """"contradicted" when one of its sentences is, else "uncertain", else "supported" when one is."""
    because: tuple[str, ...] = ()
    """The ids of the facts, rules and turns that support or contradict it."""
    reason: str = ""
    p_entailment: float = 0.0
    """Of the sentences that claim something, the mean; 1 or 0 where logic decided."""
    p_contradiction: float = 0.0
    """The largest among the sentences."""
    consistency: float = 0.5
    """CS of the text, 0 to 1 (D-SMART, equation 4)."""
    sentences: tuple[SentenceVerdict, ...] = ()
    """What was found of each sentence, in order."""
    due: tuple[str, ...] = ()
    """What the agent undertook to do by today and neither did so far nor does in this text, in words."""
    repaired: int = 0
    """How often the text was written again since it contradicted the memory (setting `verify.mode`)."""
