"""What a person is like, in concepts: promotions, with the statements that they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from doxa.core.values import Term, Turn

__all__ = ["Promotion", "PromotionReason", "Support", "Tie"]

Tie = Literal["prefers", "dislikes", "avoids", "does"]
"""How somebody relates to a concept: a taste, a distaste, a limit, or a habit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """One turn that speaks for a promotion, and the facts that it does so by; none where it does by its words alone."""

    turn_id: str
    fact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """A relation of a person to a concept, lifted from several statements ("Ana prefers romantic films").

    It is no fact: nothing is revised by it, and it stands only as long as enough of its support does.
    """

    promotion_id: str
    subject: Term
    relation: Tie
    concept: str
    """Its name in the hierarchy, a domain or a kind of one: "film/romance"."""
    label: str
    """The concept in words: "romantic films"."""
    score: float
    """How likely the statements are to tell of something lasting, 0 to 1, when it was last looked at."""
    support: tuple[Support, ...] = ()
    """Turns in the order in which they were said."""
    known_at: datetime | None = None
    active: bool = True
    """False when it was demoted, or too little of its support is still believed."""
    demoted: str = ""
    """Why it was demoted; empty when it was not."""

    @property
    def polarity(self) -> bool:
        """True for tastes and habits, False for distastes and limits."""
        return self.relation in ("prefers", "does")

    @property
    def turn_ids(self) -> tuple[str, ...]:
        """The turns that it rests on."""
        return tuple(one.turn_id for one in self.support)

    @property
    def fact_ids(self) -> tuple[str, ...]:
        """The facts that it rests on."""
        return tuple(dict.fromkeys(key for one in self.support for key in one.fact_ids))

    def __str__(self) -> str:
        return f"{self.subject} {self.relation} {self.label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionReason:
    """Why a promotion stands where it stands."""

    promotion: Promotion
    turns: tuple[Turn, ...] = ()
    """What was said for it and is still trusted."""
    lost: tuple[str, ...] = ()
    """Ids of the turns that no longer speak for it: withdrawn, or what they said is no longer believed."""
    text: str = ""

    def __str__(self) -> str:
        return self.text
