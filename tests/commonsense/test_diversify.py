from itertools import combinations
from math import comb, e

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from doxa.commonsense.diversify import greedy_map, kernel_of, sample_k

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 8)
SCALES = st.floats(-6, 6)


def gram(seed, size, *, scale=0.0, rank=8):
    """Return a random positive semidefinite kernel whose items are of very different lengths."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(size, rank)) * np.exp(draw.normal(size=(size, 1))) * 10.0**scale
    return rows @ rows.T


def log_volume(kernel, chosen):
    """Return `log det(I + L_S)`, what `greedy_map` maximises: 0 for nothing, and never less for more."""
    part = np.asarray(chosen, dtype=np.int64)
    return float(np.linalg.slogdet(np.eye(len(part)) + kernel[np.ix_(part, part)])[1])


def best_volume(kernel, k):
    return max(log_volume(kernel, chosen) for chosen in combinations(range(len(kernel)), min(k, len(kernel))))


def shares(kernel, k):
    """Return the exact probability of each set of `k`."""
    sets = list(combinations(range(len(kernel)), k))
    volumes = np.array([np.linalg.det(kernel[np.ix_(one, one)]) for one in sets])
    return sets, volumes / volumes.sum()


def check_greedy(kernel, k):
    chosen = greedy_map(kernel, k)
    assert len(set(chosen)) == len(chosen) == min(k, len(kernel))
    assert log_volume(kernel, chosen) >= (1 - 1 / e) * best_volume(kernel, k) - 1e-9


@given(SEEDS, SIZES, st.integers(0, 4), SCALES, st.integers(1, 8))
def test_greedy_comes_within_its_bound_of_brute_force(seed, size, k, scale, rank):
    check_greedy(gram(seed, size, scale=scale, rank=rank), k)


@given(SEEDS, SIZES, st.integers(0, 4), st.floats(0, 8), st.integers(1, 6))
def test_greedy_comes_within_its_bound_on_kernels_of_relevance_and_vectors(seed, size, k, sharpness, dims):
    draw = np.random.default_rng(seed)
    check_greedy(kernel_of(draw.random(size), draw.normal(size=(size, dims)), sharpness=sharpness), k)


@given(SEEDS, SIZES, st.floats(-3, 3), st.integers(1, 8))
def test_each_step_of_greedy_adds_the_most_volume_there_is_to_add(seed, size, scale, rank):
    kernel = gram(seed, size, scale=scale, rank=rank)
    chosen = greedy_map(kernel, size)
    for step, item in enumerate(chosen):
        before = chosen[:step]
        gains = [log_volume(kernel, [*before, other]) for other in range(size) if other not in before]
        assert log_volume(kernel, [*before, item]) == pytest.approx(max(gains), rel=1e-9, abs=1e-7)


@given(SEEDS, SIZES, st.integers(0, 8))
def test_greedy_goes_on_where_a_smaller_k_stopped(seed, size, k):
    kernel = gram(seed, size)
    assert greedy_map(kernel, k) == greedy_map(kernel, size)[:k]


def test_ties_go_to_the_lower_number():
    assert greedy_map(np.eye(5), 3) == [0, 1, 2]
    assert greedy_map(np.ones((4, 4)), 3) == [0, 1, 2]
    assert greedy_map(np.zeros((3, 3)), 2) == [0, 1]


@pytest.mark.parametrize("size", [0, 3])
def test_no_item_or_more_than_there_are_can_be_asked_for(size):
    assert greedy_map(np.eye(size), 0) == []
    assert greedy_map(np.eye(size), size + 4) == list(range(size))
    with pytest.raises(ValueError, match="k of 0 or more, got -1"):
        greedy_map(np.eye(size), -1)


@given(SEEDS, st.integers(2, 6), st.floats(0.0, 0.1))
def test_a_copy_is_not_chosen_while_an_unlike_item_of_like_relevance_is_left(seed, copies, less):
    draw = np.random.default_rng(seed)
    first, second = np.linalg.qr(draw.normal(size=(4, 2)))[0].T
    relevance = [0.9] * copies + [0.9 - less]
    chosen = greedy_map(kernel_of(relevance, [first] * copies + [second]), 2)
    assert copies in chosen


@given(SEEDS, SIZES, st.floats(0, 6))
def test_the_kernel_holds_relevance_on_its_diagonal_and_likeness_beside_it(seed, size, sharpness):
    draw = np.random.default_rng(seed)
    relevance, vectors = draw.random(size), draw.normal(size=(size, 5)) * 10.0 ** draw.uniform(-3, 3, size=(size, 1))
    kernel = kernel_of(relevance, vectors, sharpness=sharpness)
    lengths = np.exp(sharpness * relevance)
    assert np.diag(kernel) == pytest.approx(lengths**2)
    cosines = kernel / np.outer(lengths, lengths)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert cosines == pytest.approx(unit @ unit.T, abs=1e-9)
    assert np.linalg.eigvalsh(kernel).min() >= -1e-9 * lengths.max() ** 2


@pytest.mark.parametrize(
    ("kernel", "k"),
    [
        pytest.param(gram(5, 5), 2, id="full rank"),
        pytest.param(gram(6, 5, rank=3), 3, id="all its rank"),
    ],
)
def test_samples_are_as_frequent_as_their_volume_says(kernel, k):
    sets, expected = shares(kernel, k)
    drawn = [tuple(sample_k(kernel, k, seed=seed)) for seed in range(4_000)]
    found = np.array([drawn.count(one) for one in sets])
    assert found.sum() == 4_000
    # the mean total variation of 4,000 fair draws over 10 sets is about 0.02
    assert np.abs(found / 4_000 - expected).sum() / 2 < 0.04


def test_samples_are_exact_where_eigenvalues_lie_eight_orders_of_magnitude_apart():
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 5)))[0]
    kernel = turn @ np.diag([1e4, 1.0, 0.5, 1e-2, 1e-4]) @ turn.T
    sets, expected = shares(kernel, 2)
    drawn = [tuple(sample_k(kernel, 2, seed=seed)) for seed in range(2_000)]
    assert np.abs(np.array([drawn.count(one) for one in sets]) / 2_000 - expected).sum() / 2 < 0.05


@given(SEEDS, st.integers(1, 40), st.integers(0, 12), SCALES)
def test_a_sample_holds_k_different_items_and_depends_on_the_seed_alone(seed, size, k, scale):
    assume(k <= size)
    kernel = gram(seed, size, scale=scale, rank=size)
    assume(np.linalg.cond(kernel) < 1e8)
    chosen = sample_k(kernel, k, seed=seed)
    assert chosen == sorted(set(chosen)) == sample_k(kernel, k, seed=seed)
    assert len(chosen) == k
    assert all(0 <= item < size for item in chosen)


def test_other_seeds_give_other_samples():
    kernel = gram(3, 8)
    assert len({tuple(sample_k(kernel, 2, seed=seed)) for seed in range(200)}) > comb(8, 2) / 4


@pytest.mark.parametrize("scale", [-6, 0, 6])
def test_a_sample_is_not_larger_than_the_rank(scale):
    kernel = gram(4, 6, rank=2, scale=scale)
    assert len(sample_k(kernel, 2, seed=0)) == 2
    with pytest.raises(ValueError, match="from 0 to 2, the rank of the kernel; got 3"):
        sample_k(kernel, 3, seed=0)
    with pytest.raises(ValueError, match="got -1"):
        sample_k(kernel, -1, seed=0)


def test_kernels_of_nothing_give_nothing():
    assert kernel_of([], np.empty((0, 4))).shape == (0, 0)
    assert log_volume(np.eye(3), []) == 0.0
    assert sample_k(np.empty((0, 0)), 0, seed=0) == []
    assert sample_k(np.zeros((3, 3)), 0, seed=0) == []
    with pytest.raises(ValueError, match="from 0 to 0"):
        sample_k(np.zeros((3, 3)), 1, seed=0)
