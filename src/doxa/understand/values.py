"""What understanding gives back."""

from __future__ import annotations

from dataclasses import dataclass

from doxa.core.values import Act, Claim, Modality, Rule

__all__ = ["Statement", "Understanding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence that says something, after distilling; the first person is still as spoken."""

    text: str
    act: Act = Act.STATE
    modality: Modality = Modality.ASSERTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """What one turn says, does and asks."""

    claims: tuple[Claim, ...] = ()
    rules: tuple[Rule, ...] = ()
    statements: tuple[Statement, ...] = ()
    intents: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
