from __future__ import annotations

import numpy as np
import pytest

from doxa.recall.learning.policy import PolicySpec, fit_router, logit_gradient, network_gradient, softmax
from doxa.recall.learning.policy import _forward as forward

PLANS = ("a", "b", "c")
NAMES = ("x", "y")


def expected(logits: np.ndarray, rewards: np.ndarray) -> float:
    return float((softmax(logits) * rewards).sum())


def test_the_gradient_in_expectation_is_that_of_the_expected_reward() -> None:
    random = np.random.default_rng(0)
    logits, rewards = random.normal(size=(4, 3)), random.random((4, 3))
    gradient = logit_gradient(logits, rewards)
    for place in np.ndindex(4, 3):
        moved = np.zeros((4, 3))
        moved[place] = 1e-6
        slope = (expected(logits + moved, rewards) - expected(logits - moved, rewards)) / 2e-6
        assert gradient[place] == pytest.approx(slope, abs=1e-7)


def test_equation_9_by_hand() -> None:
    """pi = (1/2, 1/2), the second plan drawn with reward 1, baseline 0.4: 0.6 (0 - 1/2, 1 - 1/2)."""
    gradient = logit_gradient(np.zeros((1, 2)), np.array([[0.0, 1.0]]), taken=np.array([1]), baseline=0.4)
    assert gradient[0] == pytest.approx([-0.3, 0.3])


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("baseline", [0.0, 0.7])
def test_drawn_gradients_have_the_mean_of_the_objective_they_explore(epsilon: float, baseline: float) -> None:
    """Summed over all draws with their chances, equation 9 is the slope of the reward of the mixture, any baseline."""
    random = np.random.default_rng(1)
    logits, rewards = random.normal(size=(1, 3)), random.random((1, 3))
    chances = (1 - epsilon) * softmax(logits)[0] + epsilon / 3
    drawn = [logit_gradient(logits, rewards, taken=np.array([a]), baseline=baseline, epsilon=epsilon) for a in range(3)]
    mean = sum(chance * gradient for chance, gradient in zip(chances, drawn, strict=True))
    assert np.allclose(mean, (1 - epsilon) * logit_gradient(logits, rewards))


def test_back_propagation_is_the_gradient_of_the_network() -> None:
    random = np.random.default_rng(2)
    layers = [(random.normal(size=size), random.normal(size=size[1])) for size in ((2, 5), (5, 4), (4, 3))]
    inputs, rewards = random.normal(size=(6, 2)), random.random((6, 3))
    logits, hidden = forward(inputs, layers)
    gradient = network_gradient(inputs, hidden, layers, logit_gradient(logits, rewards))
    for (matrix, bias), (by_matrix, by_bias) in zip(layers, gradient, strict=True):
        for array, slopes in ((matrix, by_matrix), (bias, by_bias)):
            place = tuple(random.integers(size) for size in array.shape)
            values = []
            for sign in (1, -1):
                array[place] += sign * 1e-6
                values.append(expected(forward(inputs, layers)[0], rewards))
                array[place] -= sign * 1e-6
            assert slopes[place] == pytest.approx((values[0] - values[1]) / 2e-6, abs=1e-6)


def log_of(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return queries where the sign of `x` says which of the first two plans works; the third never does."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(count, 2)).astype(np.float32)
    rewards = np.stack([features[:, 0] > 0, features[:, 0] <= 0, np.zeros(count)], axis=-1).astype(np.float64)
    return features, rewards + random.normal(0, 0.05, rewards.shape)


@pytest.mark.parametrize("sampled", [False, True], ids=["in expectation", "REINFORCE"])
def test_a_router_learns_which_plan_works_when(sampled: bool) -> None:
    features, rewards = log_of(300, 3)
    spec = PolicySpec(sampled=sampled, epochs=30)
    router = fit_router(features, rewards, names=NAMES, plans=PLANS, spec=spec)
    later, worth = log_of(200, 4)
    chosen = router.logits(later).argmax(axis=-1)
    assert worth[np.arange(200), chosen].mean() > 0.9
    assert worth.mean(axis=0).max() < 0.6  # what the best single plan is worth


def test_an_input_that_never_varied_has_no_say_however_it_varies_later() -> None:
    features, rewards = log_of(100, 5)
    features[:, 1] = 0.25
    router = fit_router(features, rewards, names=NAMES, plans=PLANS, spec=PolicySpec(epochs=3))
    moved = features.copy()
    moved[:, 1] = np.linspace(-1, 1, len(moved))
    assert (router.logits(moved) == router.logits(features)).all()
    moved[:, 0] += 1
    assert (router.logits(moved) != router.logits(features)).any()


def test_training_is_the_same_for_a_seed_and_goes_on_from_a_router() -> None:
    features, rewards = log_of(100, 5)
    one, other = (fit_router(features, rewards, names=NAMES, plans=PLANS, spec=PolicySpec(epochs=3)) for _ in range(2))
    assert all((a[0] == b[0]).all() for a, b in zip(one.layers, other.layers, strict=True))
    further = fit_router(features, rewards, names=NAMES, plans=PLANS, spec=PolicySpec(epochs=1), start=one)
    assert further.mean is one.mean
    assert 0 < np.abs(further.layers[0][0] - one.layers[0][0]).max() < 0.2
