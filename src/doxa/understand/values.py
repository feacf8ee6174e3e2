"""What understanding gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from doxa.core.values import Act, Claim, Modality, Rule

__all__ = ["Extraction", "Statement", "Understanding"]


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
    withdrawn_rules: tuple[str, ...] = ()
    """The ids of rules that the turn gives up ("forget that rule about the rooms")."""
    statements: tuple[Statement, ...] = ()
    intents: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    """What a model claimed and a check turned down, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What a language model or an AMR parser read out of a turn: plain data, before it is known who and what is meant.

    It depends on the turn, its context and what was believed near it; it is stored with the turn, and a replay asks no
    model again.
    """

    facts: tuple[Mapping[str, Any], ...] = ()
    """What `entries.facts_of` gives: as the model put it, and in the terms of the facts that it is about."""
    rules: tuple[Mapping[str, Any], ...] = ()
    """`if` and `then`, lists of propositions (before version 2 of the prompts clauses), with their quote."""
    saw: tuple[str, ...] = ()
    """Earlier turns whose facts live on in it; where one of them is erased it is of no use any more."""
    graphs: tuple[str, ...] = ()
    """AMR graphs in PENMAN notation, one for each sentence of the turn, which its `::snt` comment holds."""
    dropped: tuple[str, ...] = ()
    by: str = ""
    """Version of the prompts and name of the model, or the name of the AMR parser."""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failed: str = ""
    """Why the model or parser was of no use for this turn; empty when it was."""

    def to_data(self) -> dict[str, Any]:
        """Return plain data for JSON; what is empty is left out."""
        return {key: value for key, value in asdict(self).items() if value}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Extraction:
        """Return the extraction of `to_data`; fields that are not known are ignored."""
        return cls(
            facts=tuple(data.get("facts", ())),
            rules=tuple(data.get("rules", ())),
            saw=tuple(data.get("saw", ())),
            graphs=tuple(data.get("graphs", ())),
            dropped=tuple(data.get("dropped", ())),
            by=data.get("by", ""),
            calls=data.get("calls", 0),
            prompt_tokens=data.get("prompt_tokens", 0),
            completion_tokens=data.get("completion_tokens", 0),
            failed=data.get("failed", ""),
        )
