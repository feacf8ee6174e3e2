"""Scores that are there already + what they should have chosen -> weights that mend them.

A residual softmax: the odds of each choice against staying with what the reader says are the reader's own, times
`exp(w . x)`. Weights of zero change nothing, and a ridge pulls all of them there, so what few examples say of rare
words moves little.

Source: ridge logistic regression (le Cessie and van Houwelingen 1992), fitted with the fixed bound on the curvature of
Boehning (1992) in the space of examples: each step lowers the loss, none needs a line search, and one factorisation
serves all steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["NOT_CHOSEN", "Choices", "Fitted", "fitted"]

RIDGES: Final = (0.3, 1.0, 3.0, 10.0, 30.0)
"""How strongly weights are pulled to zero; which is best is found by leaving parts of the examples out."""
FOLDS: Final = 5
STEPS: Final = 200
STILL: Final = 1e-4
"""A step that moves no score by more than this is the last."""
NOT_CHOSEN: Final = -40.0
"""The log odds of what is no choice."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Examples, each with what there is to choose from."""

    features: NDArray[np.float32]
    """`(n, size)`: what each is like."""
    odds: Matrix
    """`(n, choices)`: the log odds of each choice against staying, before anything is learned."""
    chosen: Matrix
    """`(n, choices)`: 1 for the right choice; a row of zeros is right to stay."""
    turns: NDArray[np.int64]
    """`(n,)`: a number of the turn of each; examples of one turn are never told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What was learned."""

    weights: NDArray[np.float32]
    """`(choices, size)`: what each feature adds to the log odds of each choice."""
    left_out: Matrix
    """`(n, choices)`: the log odds of each example's choices by weights that were fitted without it."""


def fitted(choices: Choices) -> Fitted:
    """Return the weights; zeros where none do better on examples that are left out.

    Deterministic. Cost: O(n^2 size) once, then some solves of n equations for each of 5 strengths and 5 folds.
    """
    rows = choices.features.astype(np.float64)
    kernel, folds = rows @ rows.T, choices.turns % FOLDS
    tried = [_left_out(kernel, choices, folds, ridge) for ridge in RIDGES]
    losses = [_loss(scores, choices.chosen) for scores in tried]
    best = int(np.argmin(losses))
    if losses[best] >= _loss(choices.odds, choices.chosen):
        nothing = np.zeros((choices.odds.shape[1], rows.shape[1]), dtype=np.float32)
        return Fitted(weights=nothing, left_out=choices.odds)
    dual = _solved(kernel, choices.odds, choices.chosen, RIDGES[best])
    return Fitted(weights=(dual.T @ rows).astype(np.float32), left_out=tried[best])


def _left_out(kernel: Matrix, choices: Choices, folds: NDArray[np.int64], ridge: float) -> Matrix:
    """Return the scores of each part of the examples, by weights that were fitted to the others."""
    scores = choices.odds.copy()
    for fold in range(FOLDS):
        out, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if len(out) and len(rest):
            dual = _solved(kernel[np.ix_(rest, rest)], choices.odds[rest], choices.chosen[rest], ridge)
            scores[out] += kernel[np.ix_(out, rest)] @ dual
    return scores


def _solved(kernel: Matrix, odds: Matrix, chosen: Matrix, ridge: float) -> Matrix:
    """Return what each example weighs, `(n, choices)`, at the least loss: the weights are their sum over examples."""
    bound = 0.25 if odds.shape[1] == 1 else 0.5
    step = np.linalg.inv(bound * kernel + ridge * np.eye(len(kernel)))
    dual, scores = np.zeros_like(odds), odds.copy()
    for _ in range(STEPS):
        move = step @ (chosen - _shares(scores) - ridge * dual)
        moved = kernel @ move
        dual += move
        scores += moved
        if np.abs(moved).max(initial=0.0) < STILL:
            break
    return dual


def _shares(scores: Matrix) -> Matrix:
    """Return the probability of each choice; what is missing to one is that of staying."""
    top = np.maximum(scores.max(1, keepdims=True), 0.0)
    risen = np.exp(scores - top)
    found: Matrix = risen / (risen.sum(1, keepdims=True) + np.exp(-top))
    return found


def _loss(scores: Matrix, chosen: Matrix) -> float:
    """Return the mean log loss."""
    every = np.hstack([np.zeros((len(scores), 1)), scores])
    right = (scores * chosen).sum(1)
    return float((np.logaddexp.reduce(every, axis=1) - right).mean())
