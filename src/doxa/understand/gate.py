"""Claims + the turn that they were read out of -> claims with a calibrated confidence, the unsure ones tentative.

Reading proposes; a grader that has seen some thousand claims of everyday chats beside their turns, each labelled right,
noise or wrong by hand, says how well one fits its turn. Weighed with the form of the claim that gives the probability
that it is right and worth keeping: its confidence. Below a threshold the claim is kept as tentative: it can be found
and shown, and changes nothing (`revise.resolve`).

Source: the validation phase of Tag2Graph (Ontology-guided long-term memory, section 3.2, step I), which keeps or drops;
here nothing is dropped. How grader and weights (`gate.toml`) were made, and how well they hold out: `training/trust`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.backends.grader import GRADES, Grader, passage
from doxa.core.values import Act, Claim, Modality, Turn
from doxa.memory import relation_names
from doxa.understand.referents import named

__all__ = ["features", "weighed", "worded"]

RIGHT, WRONG = (GRADES["claim"].index(grade) for grade in ("right", "wrong"))
EXPLICIT = frozenset((Act.WITHDRAW,))
"""What a speaker does to earlier words by name; it says nothing that could be kept."""
FAR = 5.0
"""Most that log odds count."""


def weighed(
    claims: Sequence[Claim], turn: Turn, before: Turn | None, grader: Grader, *, firm: float
) -> tuple[Claim, ...]:
    """Return claims with the probability that they are right and worth keeping as their confidence.

    Args:
        claims: what was read out of the turn.
        turn: the turn itself.
        before: what was said right before it in its session, if anything.
        grader: tells how well a claim fits its turn.
        firm: least confidence of what is believed; what has less is tentative.

    Raises:
        BackendError: the grader failed.

    Cost: one call of the grader for each claim, all at once.
    """
    graded = [place for place, claim in enumerate(claims) if claim.act not in EXPLICIT]
    if not graded:
        return tuple(claims)
    said = passage(turn, before)
    rows = grader.grade("claim", [(worded(claims[place]), said) for place in graded])
    sure = {
        place: _probability(features(claims[place], turn, row.tolist(), among=len(graded)))
        for place, row in zip(graded, rows, strict=True)
    }
    return tuple(
        claim if place not in sure else replace(claim, confidence=sure[place], tentative=sure[place] < firm)
        for place, claim in enumerate(claims)
    )


def features(claim: Claim, turn: Turn, grades: Sequence[float], *, among: int) -> dict[str, float]:
    """Return what is weighed, by name: the grades of the claim beside its turn, and its form."""
    relation, subject, value = claim.relation.name, claim.subject.label, claim.object.label
    words = value.split()
    found: dict[str, float | bool] = {
        "bias": True,
        "right": _odds(grades[RIGHT]),
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
