"""How a question may be answered by others: what to ask first, and what that leaves to ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["HOLE", "Join", "Plan", "PlanKind"]

HOLE = "{}"
"""Where the answer to a sub-question goes."""
PlanKind = Literal["chain", "compare", "same", "shared", "path"]
Join = Literal["thing", "during", "before", "after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One way to take a question apart.

    - `chain`: ask `asks[0]`, put the answer into `rest`, ask that ("Where does Ruth's sister live?").
    - `compare`: ask all of `asks`, one for each of `names`, and take the one with more, or (`sign` -1) with less.
    - `same`: ask both of `asks`; the answer is whether they agree.
    - `shared`: ask all of `asks`; the answer is what all of them name.
    - `path`: look how `names` hang together.
    """

    kind: PlanKind
    asks: tuple[str, ...] = ()
    rest: str = ""
    """Of a chain: the question with `HOLE` where what was described stood, `HOLE` alone where nothing else is asked; of
    one in time: without the clause."""
    join: Join = "thing"
    """What the answer gives to the rest of a chain: a thing, or the time at, before or after which it is asked."""
    noun: str = ""
    """Of a chain: the noun of what was described ("uncle" in "the uncle who mended my roof"); empty for a role."""
    names: tuple[str, ...] = ()
    sign: int = 1
    needed: bool = True
    """Whether an answer that does without it leaves a part of the question out. Names for somebody's somebody ("Leo's
    boss") are often known as they stand."""
    tests: bool = False
    """It wants yes or no: whether the first of the names has more."""
