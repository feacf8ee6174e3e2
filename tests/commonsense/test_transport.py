import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from doxa.commonsense.transport import costs_of, exact, lower_bounds

DIMS = 6
SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(1, 6)


def wasserstein(first, second):
    """Return the exact distance (order 1) between two sets of unit vectors with equal weights, 0 to 1."""
    return exact(costs_of(first, second))


def texts(seed, *sizes):
    """Return texts as sets of unit vectors; some words are in several of them."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(8, DIMS))
    words = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return [words[draw.choice(len(words), size=size, replace=False)] for size in sizes]


def programmed(costs):
    """Return the least cost of a transport plan, as a linear program over all its entries."""
    rows, columns = costs.shape
    leave = np.kron(np.eye(rows), np.ones(columns))
    arrive = np.kron(np.ones(rows), np.eye(columns))
    masses = np.concatenate([np.full(rows, 1 / rows), np.full(columns, 1 / columns)])
    return linprog(costs.ravel(), A_eq=np.concatenate([leave, arrive]), b_eq=masses, bounds=(0, None)).fun


@settings(max_examples=30)
@given(SEEDS, SIZES, SIZES)
def test_the_distance_is_that_of_the_linear_program(seed, rows, columns):
    first, second = texts(seed, rows, columns)
    costs = np.linalg.norm(first[:, None].astype(np.float64) - second[None], axis=2) / 2
    assert wasserstein(first, second) == pytest.approx(programmed(costs), abs=1e-6)


@settings(max_examples=30)
@given(SEEDS, st.integers(1, 20), st.integers(1, 12), st.sampled_from([2, 50]))
def test_a_plan_is_as_cheap_as_the_linear_program_says(seed, rows, columns, kinds):
    """Also where many costs are equal, so that chains could go round in circles for nothing."""
    costs = np.random.default_rng(seed).integers(0, kinds, size=(rows, columns)) / 7
    assert exact(costs) == pytest.approx(programmed(costs), abs=1e-9)


@given(SEEDS, SIZES, SIZES, SIZES)
def test_it_is_a_metric_between_0_and_1(seed, one, two, three):
    first, second, third = texts(seed, one, two, three)
    there = wasserstein(first, second)
    assert 0.0 <= there <= 1.0
    assert there == pytest.approx(wasserstein(second, first), abs=1e-6)
    assert there <= wasserstein(first, third) + wasserstein(third, second) + 1e-6
    assert wasserstein(first, first[::-1]) == 0.0


def test_opposite_words_are_as_far_as_can_be_and_nothing_is_as_far():
    word = np.eye(1, DIMS, dtype=np.float32)
    assert wasserstein(word, -word) == pytest.approx(1.0)
    assert wasserstein(word, word[:0]) == wasserstein(word[:0], word) == wasserstein(word[:0], word[:0]) == 1.0


@given(SEEDS, SIZES, st.lists(st.integers(0, 5), max_size=6))
def test_a_lower_bound_is_never_above_the_distance(seed, size, sizes):
    one, *others = texts(seed, size, *sizes)
    owner = np.repeat(np.arange(len(others)), sizes)
    bounds = lower_bounds(costs_of(one, np.concatenate([one[:0], *others])), owner, len(others))
    distances = np.array([wasserstein(one, other) for other in others])
    assert bounds.shape == (len(others),)
    assert (bounds <= distances + 1e-6).all()
    assert (bounds >= 0.0).all()


@given(SEEDS, SIZES, SIZES)
def test_a_lower_bound_is_the_distance_where_one_text_is_a_word(seed, size, other):
    one, word, several = texts(seed, size, 1, other)
    bounds = lower_bounds(costs_of(one, np.concatenate([word, several])), np.array([0] + [1] * other), 2)
    assert bounds[0] == pytest.approx(wasserstein(one, word))
    nearest = costs_of(one, several)
    assert bounds[1] == pytest.approx(max(nearest.min(axis=0).mean(), nearest.min(axis=1).mean()))


def test_a_text_without_words_is_at_1_wherever_it_stands():
    one, word = texts(3, 4, 1)
    bounds = lower_bounds(costs_of(one, np.concatenate([word, word])), np.array([1, 3]), 5)
    assert bounds[[0, 2, 4]].tolist() == [1.0, 1.0, 1.0]
    assert bounds[1] == bounds[3] == pytest.approx(wasserstein(one, word))
    assert lower_bounds(costs_of(one[:0], word), np.array([0]), 1).tolist() == [1.0]
