"""What speaks for and against a clause of a reply, as numbers -> the probability that it contradicts the memory.

The alignment with what was said and the NLI model each see something, and neither is right alone: a logistic regression
weighs them. Its weights (`weights.toml`) were fitted on replies to made-up dialogues and on real replies of assistants,
none of them from a benchmark (`training/replies`). Where logic or wording find a contradiction, or logic understood a
clause as a whole, nothing is weighed: they are right nearly always where they speak, and know what no sentence tells
(rules, what is over, what was taken back).
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from doxa.verify.conflicts import Conflict
from doxa.verify.findings import Finding

__all__ = ["Evidence", "p_contradicted"]

SURE = 4.6
"""Most that a probability of the model counts, as log odds: 0.01 to 0.99."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is found of one clause."""

    finding: Finding | None = None
    """What supports a part of it, by logic or wording."""
    conflict: Conflict = field(default_factory=Conflict)
    entailed: float = 0.5
    """P(entailment) by what was said that bears on it."""
    contradicted: float = 0.5
    """P(contradiction)."""

    @property
    def features(self) -> dict[str, float]:
        """The numbers that are weighed, by name."""
        return {
            "partly_for": float(self.finding is not None),
            "entailed": _odds(self.entailed),
            "contradicted": _odds(self.contradicted),
            **self.conflict.features,
        }


def p_contradicted(evidence: Evidence) -> float:
    """Return the probability, 0 to 1, that a clause contradicts what is known. Cost O(features)."""
    weights = _weights()
    total = weights["bias"] + sum(weights[name] * value for name, value in evidence.features.items())
    return 1.0 / (1.0 + math.exp(-total))


def _odds(p: float) -> float:
    clipped = min(max(p, 1e-6), 1 - 1e-6)
    return min(max(math.log(clipped / (1 - clipped)), -SURE), SURE)


@cache
def _weights() -> dict[str, float]:
    table = tomllib.loads(files("doxa.verify").joinpath("weights.toml").read_text(encoding="utf-8"))
    return {**table["fitted"], **table["given"]}
