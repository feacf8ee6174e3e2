"""Claims + the turn that they were read out of -> claims with a calibrated confidence, the unsure ones tentative.

Reading proposes; a grader that has seen some thousand claims of everyday chats beside their turns, each labelled right,
noise or wrong by hand, says how well one fits its turn. Weighed with the form of the claim that gives the probability
that it is right and worth keeping: its confidence. Below a threshold the claim is kept as tentative: it can be found
and shown, and changes nothing (`revise.resolve`). The same holds of what a turn seems to take back or to put right
(`amending`).

Source: the validation phase of Tag2Graph (Ontology-guided long-term memory, section 3.2, step I), which keeps or drops;
here nothing is dropped. How grader and weights (`gate.toml`) were made, and how well they hold out: `training/trust`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends.grader import GRADES, Grader, passage
from doxa.core.values import Act, Claim, Modality, Turn
from doxa.memory import relation_names
from doxa.understand.amending import amends
from doxa.understand.referents import named

__all__ = ["MARKS", "features", "odds_of", "weighed", "worded"]

RIGHT, WRONG = (GRADES["claim"].index(grade) for grade in ("right", "wrong"))
MARKS = {Act.WITHDRAW: "taken back", Act.CORRECT: "put right"}
"""How a grader reads what a speaker does to earlier words."""
GRADED_CHARS, BEFORE_CHARS = 800, 100
"""Of a longer turn, of which a grader would read the last 192 tokens alone, a claim's words and so many before them."""
FAR = 5.0
"""Most that log odds count."""
Encode = Callable[[str], NDArray[np.float32]]
"""Gives the vector `(dims,)` of a text."""


def weighed(
    claims: Sequence[Claim], turn: Turn, before: Turn | None, grader: Grader, encode: Encode, *, firm: float
) -> tuple[Claim, ...]:
    """Return claims with the probability that they are right and worth keeping as their confidence.

    Args:
        claims: what was read out of the turn.
        turn: the turn itself.
        before: what was said right before it in its session, if anything.
        grader: tells how well a claim fits its turn.
        encode: gives the vector of the turn by the built-in encoder; asked where something is taken back or put right.
        firm: least confidence of what is believed; what has less is tentative.

    Raises:
        BackendError: the grader or the encoder failed.

    Cost: one call of the grader for each claim, two for a correction that is none, and at most one of the encoder.
    """
    if not claims:
        return ()
    if any(claim.act in MARKS for claim in claims):
        claims = _meant(claims, turn, before, grader, encode(turn.text), firm)
    plain = [claim for claim in claims if claim.act not in MARKS]
    sure = {
        claim: _probability(features(claim, turn, row, among=len(claims)))
        for claim, row in zip(plain, _graded(plain, turn, before, grader), strict=True)
    }
    marked = (replace(one, confidence=sure.get(one, one.confidence)) for one in claims)
    return tuple(replace(one, tentative=one.confidence < firm) for one in marked)


def _meant(
    claims: Sequence[Claim], turn: Turn, before: Turn | None, grader: Grader, vector: NDArray[np.float32], firm: float
) -> list[Claim]:
    """Return claims with how likely what they take back or put right is meant; what corrects nothing is news."""
    acts = [claim for claim in claims if claim.act in MARKS]
    rows = _graded(acts, turn, before, grader)
    sure = {claim: amends(turn.text, vector, odds_of(row)) for claim, row in zip(acts, rows, strict=True)}
    return [
        replace(claim, act=Act.STATE, replaces=None)
        if claim.act is Act.CORRECT and sure[claim] < firm
        else replace(claim, confidence=sure.get(claim, claim.confidence))
        for claim in claims
    ]


def _graded(claims: Sequence[Claim], turn: Turn, before: Turn | None, grader: Grader) -> list[list[float]]:
    pairs = [(worded(claim), passage(_beside(turn, claim), before)) for claim in claims]
    rows: list[list[float]] = grader.grade("claim", pairs).tolist()
    return rows


def _beside(turn: Turn, claim: Claim) -> Turn:
    """Return a turn that is too long for a grader with the part alone in which a claim is said."""
    if len(turn.text) <= GRADED_CHARS or (at := turn.text.find(claim.span)) < 0:
        return turn
    start = max(0, at - BEFORE_CHARS)
    start = turn.text.find(" ", start, at) + 1 or start if start else 0
    return replace(turn, text=turn.text[start : at + len(claim.span)])


def odds_of(grades: Sequence[float]) -> float:
    """Return the log odds by a grader that a claim is right, bounded."""
    return _odds(grades[RIGHT])


def features(claim: Claim, turn: Turn, grades: Sequence[float], *, among: int) -> dict[str, float]:
    """Return what is weighed, by name: the grades of the claim beside its turn, and its form."""
    relation, subject, value = claim.relation.name, claim.subject.label, claim.object.label
    words = value.split()
    found: dict[str, float | bool] = {
        "bias": True,
        "right": odds_of(grades),
        "wrong": _odds(grades[WRONG]),
        "read": claim.confidence,
        "among": min(among, 6) / 6,
        "sentence": min(len(claim.span.split()), 30) / 30,
        "turn": min(len(turn.text.split()), 60) / 60,
        "listed": relation in _listed(),
        "noun": claim.relation.label == relation.replace("_", " "),
        "state": relation == "has_state",
        "is_a": relation == "is_a",
        "has": relation == "has",
        "denied": not claim.polarity,
        "planned": claim.modality is Modality.PLANNED,
        "wished": claim.modality is Modality.DESIRED,
        "possible": claim.modality is Modality.POSSIBLE,
        "ended": claim.ended,
        "dated": claim.valid.start is not None or claim.valid.end is not None,
        "corrects": claim.act is not Act.STATE,
        "of_speaker": claim.subject.key == turn.speaker.casefold(),
        "of_owned": "'s " in subject,
        "of_named": named(subject),
        "of_thing": len(subject.split()) == 1 and subject.islower(),
        "of_many": len(subject.split()) > 3,
        "nothing": not words,
        "long": min(len(words), 8) / 8,
        "number": bool(re.search(r"\d", value)),
        "name": named(value),
        "word": len(words) == 1 and value.islower(),
        "broken": bool(re.search(r"[()\[\]{}:;!?…]|\.\.", f"{subject} {value}")),
        "said": value.casefold() in turn.text.casefold(),
        "machine": claim.role in ("assistant", "tool"),
        "asked": "?" in turn.text,
    }
    return {name: float(part) for name, part in found.items()}


def worded(claim: Claim) -> str:
    """Return a claim in words, with all that it claims, as a grader reads it."""
    marks = [] if claim.polarity else ["not"]
    marks += [] if claim.modality is Modality.ASSERTED else [str(claim.modality)]
    marks += ["no longer"] if claim.ended else []
    marks += [str(claim.valid)] if str(claim.valid) else []
    marks += [MARKS[claim.act]] if claim.act in MARKS else []
    told = f"{claim.subject} | {claim.relation} | {claim.object}"
    return f"{told} ({', '.join(marks)})" if marks else told


def _probability(given: Mapping[str, float]) -> float:
    weights = _model()["weights"]
    return 1.0 / (1.0 + math.exp(-sum(weights.get(name, 0.0) * value for name, value in given.items())))


def _odds(p: float) -> float:
    clipped = min(max(p, 1e-4), 1 - 1e-4)
    return min(max(math.log(clipped / (1 - clipped)), -FAR), FAR)


@cache
def _listed() -> frozenset[str]:
    return frozenset(relation_names())


@cache
def _model() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("gate.toml").read_text(encoding="utf-8"))
