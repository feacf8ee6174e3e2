"""A message -> how likely it takes back or puts right what was said before.

"Sorry, I meant Bonn" does; "I take it you're coming" and "sorry to hear that" use the same words and do not. On chats
as people type them one in twenty of what wording takes for it was meant. A logistic regression over the sentence vector
of the built-in encoder, hashed words and pairs of words, and what a grader says of the claim beside the message, taught
on examples that were written and labelled by hand, tells them apart.

Source: ours. The examples, how the weights were fitted and how well they hold out: `training/trust`.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from doxa.understand.requests import hashed

__all__ = ["amends", "meant"]

Weights = tuple[NDArray[np.float32], float, NDArray[np.float64]]


def amends(text: str, vector: NDArray[np.float32], odds: float) -> float:
    """Return the probability that a message does to earlier words what it was read to do.

    Args:
        text: the message.
        vector: the same `(dims,) float32` by the built-in encoder.
        odds: log odds by a grader that the claim is right beside the message.

    Deterministic. O(words), and one product of two vectors.
    """
    _, _, mix = _model()
    return 1.0 / (1.0 + math.exp(-float(mix @ [1.0, meant(text, vector), odds])))


def meant(text: str, vector: NDArray[np.float32]) -> float:
    """Return the log odds that a message takes anything back or puts it right, by its words alone."""
    weights, bias, _ = _model()
    return float(np.r_[vector, hashed(text)] @ weights + bias)


@cache
def _model() -> Weights:
    with files("doxa.understand").joinpath("amending.npz").open("rb") as file, np.load(file) as data:
        return data["weights"] * data["scale"], float(data["bias"]), data["mix"].astype(np.float64)
