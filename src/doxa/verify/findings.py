"""What a check finds of one clause, and the memory as a check sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Change, Claim, Fact, Turn, VerdictLabel
from doxa.memory import Beliefs, describe
from doxa.verify.sentences import Clause
from doxa.verify.witnesses import Witness

__all__ = ["Classify", "Finding", "Known", "quoted"]

Classify = Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]]
"""`(premise, hypothesis)` pairs -> `(n, 3)`: P(entailment), P(neutral), P(contradiction), rows that sum to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What decides a clause."""

    label: VerdictLabel
    because: tuple[str, ...] = ()
    reason: str = ""
    by: Literal["logic", "wording", "nli", "promise", "history"] = "logic"
    p: float = 1.0
    """How sure it is, 0 to 1; of a neutral one P(entailment)."""
    against: float = 0.0
    """P(contradiction) of a neutral one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The memory as a check sees it; the engine injects what the other verbs do."""

    beliefs: Beliefs
    user: str
    """Name of the user, as the facts have it."""
    agent: str
    at: datetime
    """The memory's clock: the time of the reply."""
    read: Callable[[Clause, str], Sequence[Claim]]
    """Gives what a clause claims, after the clauses before it (their text)."""
    revised: Callable[[Sequence[Claim]], Sequence[Change]]
    """Gives what claims would change if the user made them; nothing is changed."""
    turn: Callable[[str], Turn | None]
    said: Callable[[str], Sequence[Turn]]
    """Gives turns that bear on a text, best first, withdrawn ones left out."""
    own: Sequence[Turn] = ()
    """Earlier turns of the agent, oldest first."""
    after: Callable[[Turn], Sequence[Turn]] = field(default=lambda turn: ())
    """Gives the turns of its session that came right after a turn, withdrawn ones left out."""
    witnesses: Callable[[str], Sequence[Witness]] | None = None
    """Gives graded turns that bear on a sentence; None where nothing grades them."""
    classify: Classify | None = None
    """The NLI model; None where none is asked."""

    @property
    def today(self) -> date:
        """The day of the reply."""
        return self.at.date()


def quoted(fact: Fact, known: Known) -> str:
    """Return what the memory holds and whose words it rests on: 'Ana lives in Bonn (Ana on 2 June 2024: “...”)'."""
    if fact.premises:
        facts = [known.beliefs.facts[key] for key in fact.premises if key in known.beliefs.facts]
        told = "; ".join(quoted(one, known) for one in facts if not one.premises)
        return f"{describe(fact)}, which follows from what was said" + (f": {told}" if told else "")
    claims = [claim for claim in known.beliefs.supporting(fact) if claim.turn_id]
    turn = known.turn(claims[-1].turn_id) if claims else next(filter(None, map(known.turn, fact.turn_ids)), None)
    if turn is None:
        return describe(fact)
    said = claims[-1].span if claims and len(turn.text) > 200 else turn.text
    return f"{describe(fact)} ({turn.speaker} on {turn.at.day} {turn.at:%B %Y}: “{said[:200].rstrip('. ')}”)"
