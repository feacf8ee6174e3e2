"""Questions over time -> windows of fixed length, each with its measures and a sample that grows thin with age.

The sample is the shadow set of appendix B.5. The paper holds 200 queries and renews them weekly; here every window
keeps a uniform sample of its own questions, all of them while it is young and fewer the older it is. What was asked
lately is there in full, to learn from and to judge by, and what was usual long ago is still there in part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from doxa.core.drift import Shadow, Window
from doxa.memory import microseconds

__all__ = ["WindowSpec", "bucket_of", "filled", "measured", "quota", "rank_of", "thinned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowSpec:
    """How long a window is, and how much of it is kept."""

    hours: float = 24.0
    """Length by the clock of the memory; windows begin at multiples of it."""
    questions: int = 50
    """A window that has so many is full, and the next one begins."""
    young: int = 3
    """Windows that keep all of their questions."""
    windows: int = 120
    """Windows whose measures are kept; with the defaults a few hundred questions, some 100 KB for a user at most."""


def bucket_of(at: datetime, spec: WindowSpec) -> int:
    """Return which stretch of the clock a moment falls into."""
    return microseconds(at) // (timedelta(hours=spec.hours) // timedelta(microseconds=1))


def filled(
    questions: Sequence[Shadow], new: Sequence[Shadow], spec: WindowSpec
) -> tuple[list[list[Shadow]], list[Shadow]]:
    """Return the windows that new questions close, in order, and what the open one holds then.

    A question that comes late, with an earlier time than the open window's, stays in that one: windows follow each
    other as the questions came, so that the same questions give the same windows. O(questions + new).

    Args:
        questions: those of the open window.
        new: those that came since, in order.
        spec: how long a window is.
    """
    closed: list[list[Shadow]] = []
    held = list(questions)
    for one in new:
        if held and (len(held) >= spec.questions or bucket_of(one.at, spec) > bucket_of(held[0].at, spec)):
            closed.append(held)
            held = []
        held.append(one)
    return closed, held


def measured(number: int, questions: Sequence[Shadow]) -> Window:
    """Return the measures of a window with at least one question. O(questions)."""
    count = len(questions)
    judged = [one.recall for one in questions if one.judged]
    apart = [one.disagreement for one in questions if one.disagreement is not None]
    return Window(
        number=number,
        start=min(one.at for one in questions),
        end=max(one.at for one in questions),
        asked=count,
        judged=len(judged),
        recall=sum(judged) / len(judged) if judged else 0.0,
        abstained=sum(one.outcome == "abstained" for one in questions) / count,
        unsupported=sum(one.outcome == "unsupported" for one in questions) / count,
        missed=sum(one.outcome == "missed" for one in questions) / count,
        compared=len(apart),
        disagreement=sum(apart) / len(apart) if apart else 0.0,
        p95_ms=float(np.percentile([one.ms for one in questions], 95)),
        kept=count,
    )


def quota(age: int, spec: WindowSpec) -> int:
    """Return how many questions a window keeps of which `age` younger ones are closed."""
    return spec.questions if age < spec.young else spec.questions // (age - spec.young + 2)


def thinned(questions: Sequence[Shadow], age: int, spec: WindowSpec) -> list[Shadow]:
    """Return what a window of an age keeps, in order: a uniform sample that each older age takes a part of.

    Questions that cannot be asked again are left out first: they are counted in the measures. Deterministic.
    """
    asked = [one for one in questions if one.query or one.asked]
    chosen = sorted(asked, key=rank_of)[: quota(age, spec)]
    picked = set(map(id, chosen))
    return [one for one in asked if id(one) in picked]


def rank_of(one: Shadow) -> int:
    """Return a number that is even over questions and hangs on nothing but which question it is."""
    name = "\x1f".join((one.asked, one.query, one.at.isoformat()))
    return int.from_bytes(hashlib.sha256(name.encode(errors="surrogatepass")).digest()[:8], "big")
