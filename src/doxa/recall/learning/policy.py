"""Training of the router: the gradient of expected reward over plans, in numpy (appendix A.2).

Every plan is replayed for every training query, so the reward of each is known. The gradient can then be sampled, as
the paper does (REINFORCE, equations 8 and 9), or summed over the plans, which is its expectation without the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from doxa.recall.weights import HIDDEN, Router

__all__ = ["PolicySpec", "fit_router", "logit_gradient", "network_gradient", "softmax"]

Array = NDArray[np.float64]
Layers = list[tuple[Array, Array]]
STEADY = 1e-3
"""Standard deviation up to which an input counts as one that never varied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySpec:
    """How a router is trained."""

    sampled: bool = False
    """REINFORCE with a moving baseline; else the gradient in expectation over all plans."""
    epsilon: float = 0.1
    """How often a sampled plan is drawn at random (appendix B.1). Serving never explores."""
    epochs: int = 60
    batch: int = 64
    rate: float = 2e-3
    decay: float = 1e-3
    """Pull towards where training began (0 for a new router), per step and unit of rate."""
    memory: float = 0.95
    """How much of the baseline stays after each batch."""
    temper: float = 5.0
    """Rewards differ by hundredths; they are multiplied by this, which sharpens the policy and moves no optimum."""
    seed: int = 0


def fit_router(
    features: NDArray[np.float32],
    rewards: Array,
    *,
    names: Sequence[str],
    plans: Sequence[str],
    spec: PolicySpec = PolicySpec(),
    start: Router | None = None,
) -> Router:
    """Return a router that maximises the mean reward of the plans it takes.

    Args:
        features: `(n, f)`, one row a query, see `psi`.
        rewards: `(n, plans)`, equation 6 for every plan, by counterfactual replay.
        names: of the features.
        plans: their names.
        spec: how to train.
        start: a router to go on from; its scales are kept. Features or plans that differ begin anew.

    Returns:
        A router with two hidden layers. Deterministic for a seed.

    Cost O(epochs n (128^2 + 128 (f + plans))); 60 epochs over 1,000 queries take about 3 s on one core.

    Source: appendix A.2. Equation 9 draws from the policy itself; B.1 gives an exploration rate without its place, here
    a draw is random with that chance and its gradient is that of the mixture.
    """
    same = start is not None and start.names == tuple(names) and start.plans == tuple(plans)
    mean, scale = (start.mean, start.scale) if same and start is not None else _scales(features)
    inputs = ((features - mean) / scale).astype(np.float64)
    random = np.random.default_rng(spec.seed)
    layers = _layers(start) if same and start is not None else _fresh((len(names), HIDDEN, HIDDEN, len(plans)), random)
    if not same:  # an input that never varied was never learned from: what chance gave it must not speak
        layers[0][0][features.std(axis=0) <= STEADY] = 0
    _descend(layers, inputs, rewards, spec, random, anchored=same)
    frozen = tuple((matrix.astype(np.float32), bias.astype(np.float32)) for matrix, bias in layers)
    return Router(names=tuple(names), plans=tuple(plans), mean=mean, scale=scale, layers=frozen)


def _descend(
    layers: Layers, inputs: Array, rewards: Array, spec: PolicySpec, random: np.random.Generator, *, anchored: bool
) -> None:
    """Move the layers, in place, up the reward."""
    anchor = [matrix.copy() if anchored else np.zeros_like(matrix) for matrix, _ in layers]
    adam, baseline = _Adam(layers, spec.rate), float(rewards.mean()) if len(rewards) else 0.0
    for _ in range(spec.epochs):
        order = random.permutation(len(inputs))
        for first in range(0, len(order), spec.batch):
            rows = order[first : first + spec.batch]
            logits, hidden = _forward(inputs[rows], layers)
            if spec.sampled:
                taken = _draw(logits, spec.epsilon, random)
                slopes = logit_gradient(logits, rewards[rows], taken=taken, baseline=baseline, epsilon=spec.epsilon)
                got = float(rewards[rows, taken].mean())
                baseline = spec.memory * baseline + (1 - spec.memory) * got
            else:
                slopes = logit_gradient(logits, rewards[rows])
            gradient = network_gradient(inputs[rows], hidden, layers, -spec.temper * slopes / len(rows))
            for (slope, _), (matrix, _), origin in zip(gradient, layers, anchor, strict=True):
                slope += spec.decay * (matrix - origin)
            adam.step(gradient)


def logit_gradient(
    logits: Array,
    rewards: Array,
    *,
    taken: NDArray[np.intp] | None = None,
    baseline: float = 0.0,
    epsilon: float = 0.0,
) -> Array:
    """Return the gradient of the expected reward by every logit, `(n, plans)`.

    Args:
        logits: `(n, plans)`.
        rewards: `(n, plans)`.
        taken: the plan that was drawn for each row: equation 9 with a baseline. None sums equation 8 over all plans.
        baseline: what is taken off the reward that was drawn; it changes the variance, not the mean.
        epsilon: how often the draw was random.
    """
    policy = softmax(logits)
    if taken is None:
        value = (policy * rewards).sum(axis=-1, keepdims=True)
        expected: Array = policy * (rewards - value)
        return expected
    rows = np.arange(len(logits))
    drawn = policy[rows, taken]
    share = (1 - epsilon) * drawn / ((1 - epsilon) * drawn + epsilon / logits.shape[-1])
    chosen = np.zeros_like(policy)
    chosen[rows, taken] = 1
    sampled: Array = ((rewards[rows, taken] - baseline) * share)[:, None] * (chosen - policy)
    return sampled


def network_gradient(inputs: Array, hidden: Sequence[Array], layers: Layers, slopes: Array) -> Layers:
    """Return the gradient by every weight and bias, for the gradient by the logits (back-propagation)."""
    gradient: Layers = []
    for number in range(len(layers) - 1, -1, -1):
        before = hidden[number - 1] if number else inputs
        gradient.append((before.T @ slopes, slopes.sum(axis=0)))
        if number:
            slopes = (slopes @ layers[number][0].T) * (before > 0)
    return gradient[::-1]


def softmax(logits: Array) -> Array:
    """Return the softmax over the last axis."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: Array = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def _scales(features: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    spread = features.std(axis=0)
    return features.mean(axis=0), np.where(spread > STEADY, spread, 1).astype(np.float32)


def _layers(router: Router) -> Layers:
    return [(matrix.astype(np.float64), bias.astype(np.float64)) for matrix, bias in router.layers]


def _fresh(sizes: Sequence[int], random: np.random.Generator) -> Layers:
    """Return layers by He's rule; the last one starts at 0, so that every plan is as good as any other."""
    pairs = list(pairwise(sizes))
    layers = [(random.normal(0, (2 / a) ** 0.5, (a, b)), np.zeros(b)) for a, b in pairs[:-1]]
    return [*layers, (np.zeros(pairs[-1]), np.zeros(pairs[-1][1]))]


def _forward(inputs: Array, layers: Layers) -> tuple[Array, list[Array]]:
    hidden: list[Array] = []
    for matrix, bias in layers[:-1]:
        inputs = np.maximum(inputs @ matrix + bias, 0)
        hidden.append(inputs)
    matrix, bias = layers[-1]
    return inputs @ matrix + bias, hidden


def _draw(logits: Array, epsilon: float, random: np.random.Generator) -> NDArray[np.intp]:
    policy = (1 - epsilon) * softmax(logits) + epsilon / logits.shape[-1]
    thresholds = random.random((len(logits), 1)) * policy.sum(axis=-1, keepdims=True)
    drawn: NDArray[np.intp] = np.minimum((policy.cumsum(axis=-1) < thresholds).sum(axis=-1), logits.shape[-1] - 1)
    return drawn


class _Adam:
    """Adam (Kingma et al. 2015) over layers, in place."""

    def __init__(self, layers: Layers, rate: float) -> None:
        self._parameters = [array for layer in layers for array in layer]
        self._first = [np.zeros_like(array) for array in self._parameters]
        self._second = [np.zeros_like(array) for array in self._parameters]
        self._rate, self._steps = rate, 0

    def step(self, gradient: Layers) -> None:
        """Move every parameter against its gradient."""
        self._steps += 1
        slopes = [array for layer in gradient for array in layer]
        rate = self._rate * (1 - 0.999**self._steps) ** 0.5 / (1 - 0.9**self._steps)
        for array, slope, first, second in zip(self._parameters, slopes, self._first, self._second, strict=True):
            first += 0.1 * (slope - first)
            second += 0.001 * (slope * slope - second)
            array -= rate * first / (np.sqrt(second) + 1e-8)
