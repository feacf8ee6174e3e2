"""The verdict of logic and wording on a sentence + graded turns that bear on it -> the verdict that is given.

Logic is right about what it was given, and what it was given may have been misread. Where the turns that bear on a
sentence were read surely its verdict stands. Elsewhere a grader reads the turns themselves, and a multinomial
regression over what both say gives the probability that the sentence is true by what was said, false, only planned, or
not known. It is called contradicted or supported where that is sure enough, and uncertain where something speaks
against it and nothing is sure: then both sides are shown, and nothing is held back.

Source: ours; the weights (`witnesses.toml`) were fitted on annotated chats and on replies to clean dialogues by
`training/trust`, which says how well they hold out.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import fsum
from typing import Any

from doxa.core.values import Interval, SentenceVerdict, Turn

__all__ = ["LABELS", "Witness", "features", "heard"]

LABELS = ("true", "false", "planned", "unknown")
"""What a sentence is by what was said; the order of the rows of weights."""
BEARS = 0.5
"""Probability that a turn bears on a sentence from which it is heard as the latest word."""
FAR = 6.0
"""Most that log odds count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A turn and what it says to a sentence, as probabilities that sum to 1 with that of saying nothing."""

    turn: Turn
    supported: float
    contradicted: float
    planned: float
    read: float = 0.0
    """Confidence of the surest claim that was read out of it; 0 where none was."""

    @property
    def bears(self) -> float:
        """How likely it says anything to the sentence."""
        return self.supported + self.contradicted + self.planned


def heard(sentence: SentenceVerdict, witnesses: Sequence[Witness]) -> SentenceVerdict:
    """Return the verdict on a sentence once the turns that bear on it are heard. Deterministic. O(witnesses).

    Args:
        sentence: what logic and wording say of a statement.
        witnesses: turns that bear on it, in any order.
    """
    least = _model()["least"]
    if _read(witnesses) >= least["read"]:
        return sentence
    p = dict(zip(LABELS, _probabilities(features(sentence, witnesses)), strict=True))
    against = max(witnesses, key=lambda one: one.contradicted, default=None)
    held = max(witnesses, key=lambda one: one.supported, default=None)
    told = replace(sentence, p_entailment=p["true"], p_contradiction=p["false"])
    if p["false"] >= least["contradicted"]:
        return _against(told, against, "contradicted")
    if p["true"] >= least["supported"]:
        if sentence.label == "supported" or held is None:
            return replace(told, label="supported")
        return replace(told, label="supported", because=(held.turn.turn_id,), reason=_said(held.turn), by="turns")
    if sentence.label == "contradicted" or p["false"] >= least["uncertain"]:
        return _against(told, against, "uncertain")
    return replace(told, label="neutral", because=(), reason="", by="")


def features(sentence: SentenceVerdict, witnesses: Sequence[Witness]) -> dict[str, float]:
    """Return what is weighed, by name."""
    order = sorted(witnesses, key=lambda one: one.turn.ordinal)
    last = next((one for one in reversed(order) if one.bears >= BEARS), None)
    support = max((one.supported for one in order), default=0.0)
    conflict = max((one.contradicted for one in order), default=0.0)
    plan = max((one.planned for one in order), default=0.0)
    first_for = next((one.turn.ordinal for one in order if one.supported == support), 0)
    first_against = next((one.turn.ordinal for one in order if one.contradicted == conflict), 0)
    found = {
        "bias": 1.0,
        "support": _odds(support),
        "conflict": _odds(conflict),
        "plan": _odds(plan),
        "last_support": _odds(last.supported) if last else 0.0,
        "last_conflict": _odds(last.contradicted) if last else 0.0,
        "last_plan": _odds(last.planned) if last else 0.0,
        "none": float(last is None),
        "conflict_later": float(first_against > first_for),
        "entailed": sentence.p_entailment,
        "against": sentence.p_contradiction,
    }
    read = _read(witnesses)
    for by in ("logic", "wording", "nli"):
        found[f"supported_by_{by}"] = float(sentence.label == "supported" and sentence.by == by)
        found[f"contradicted_by_{by}"] = float(sentence.label == "contradicted" and sentence.by == by)
    for name in ("supported_by_wording", "contradicted_by_wording", "support", "conflict"):
        found[f"{name}_read"] = found[name] * read  # words are compared well where they are read well
    found["read"] = read
    found["contradicted_by_other"] = float(sentence.label == "contradicted" and sentence.by in ("history", "promise"))
    return found


def _read(witnesses: Sequence[Witness]) -> float:
    """Return how surely some turns were read, on average; what bears more on the sentence counts for more."""
    total = fsum(one.bears for one in witnesses)
    return fsum(one.bears * one.read for one in witnesses) / total if total else 0.0


def _against(sentence: SentenceVerdict, against: Witness | None, label: Any) -> SentenceVerdict:
    """Return a sentence with what speaks against it: the finding of logic, or else the turn that does most."""
    if sentence.label == "contradicted":
        reason = sentence.reason
        if label == "uncertain" and against is not None and against.turn.turn_id not in sentence.because:
            reason = f"{reason}; but {_said(against.turn)}" if reason else _said(against.turn)
        return replace(sentence, label=label, reason=reason)
    if against is None:
        return replace(sentence, label=label)
    return replace(sentence, label=label, because=(against.turn.turn_id,), reason=_said(against.turn), by="turns")


def _said(turn: Turn) -> str:
    return f"{turn.speaker} said on {Interval.format(turn.at.date(), 'day')}: “{' '.join(turn.text.split())[:200]}”"


def _probabilities(given: Mapping[str, float]) -> list[float]:
    weights = _model()["weights"]
    scores = [sum(weights[label].get(name, 0.0) * value for name, value in given.items()) for label in LABELS]
    most = max(scores)
    shares = [math.exp(score - most) for score in scores]
    return [share / sum(shares) for share in shares]


def _odds(p: float) -> float:
    clipped = min(max(p, 1e-4), 1 - 1e-4)
    return min(max(math.log(clipped / (1 - clipped)), -FAR), FAR)


@cache
def _model() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.verify").joinpath("witnesses.toml").read_text(encoding="utf-8"))
