"""Measures against values worked out by hand."""

import math

import pytest

from doxa_bench.metrics import (
    bootstrap_error,
    f1,
    f1_of_counts,
    mean,
    ndcg_at,
    percentile,
    recall_at,
    reciprocal_rank,
    standard_error,
)


@pytest.mark.parametrize(
    ("ranking", "relevant", "k", "expected"),
    [
        (["a", "b", "c"], {"a"}, 3, 1.0),
        (["a", "b", "c"], {"a", "x"}, 3, 0.5),
        (["a", "b", "c"], {"c"}, 2, 0.0),
        (["a", "a", "a"], {"a", "b"}, 3, 0.5),
        ([], {"a"}, 10, 0.0),
    ],
)
def test_recall_is_the_share_that_was_found(ranking, relevant, k, expected):
    assert recall_at(ranking, relevant, k) == expected


@pytest.mark.parametrize(
    ("ranking", "relevant", "k", "expected"),
    [
        (["a"], {"a"}, 10, 1.0),
        (["x", "a"], {"a"}, 10, 1 / math.log2(3)),
        (["a", "x", "b"], {"a", "b"}, 10, (1 + 1 / 2) / (1 + 1 / math.log2(3))),
        (["a", "b"], {"a", "b", "c"}, 2, 1.0),
        (["a", "a"], {"a", "b"}, 10, 1 / (1 + 1 / math.log2(3))),
        (["x"], {"a"}, 10, 0.0),
    ],
)
def test_ndcg_has_binary_gains_and_an_ideal_of_what_fits(ranking, relevant, k, expected):
    assert ndcg_at(ranking, relevant, k) == pytest.approx(expected)


def test_reciprocal_rank_is_of_the_first_hit():
    assert reciprocal_rank(["x", "b", "a"], {"a", "b"}) == 0.5
    assert reciprocal_rank(["x"], {"a"}) == 0.0


@pytest.mark.parametrize(("percent", "expected"), [(0, 1.0), (50, 2.5), (95, 3.85), (100, 4.0), (200, 4.0)])
def test_percentiles_are_interpolated(percent, expected):
    assert percentile([4, 1, 3, 2], percent) == pytest.approx(expected)


def test_summaries_of_nothing_are_zero():
    assert percentile([], 50) == mean([]) == standard_error([]) == standard_error([1.0]) == 0.0


def test_the_standard_error_is_that_of_the_mean():
    assert standard_error([1, 2, 3, 4]) == pytest.approx(math.sqrt(5 / 3 / 4))


@pytest.mark.parametrize(("relevant", "k"), [(set(), 10), ({"a"}, 0)])
def test_undefined_measures_are_refused(relevant, k):
    with pytest.raises(ValueError, match="at least one relevant id"):
        recall_at(["a"], relevant, k)
    with pytest.raises(ValueError, match="at least one relevant id"):
        ndcg_at(["a"], relevant, k)


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(1.0, 0.5, 2 / 3), (0.0, 0.0, 0.0), (None, 0.0, 0.0), (0.5, None, None)],
)
def test_f1_is_the_harmonic_mean(precision, recall, expected):
    assert f1(precision, recall) == (expected and pytest.approx(expected))


def test_f1_of_counts_is_that_of_their_ratios():
    assert f1_of_counts(3, 4, 3, 6) == pytest.approx(0.6)
    assert f1_of_counts(0, 0, 0, 0) is None


def test_the_bootstrap_agrees_with_the_textbook_on_a_mean():
    """The standard error of a share of 0.5 over 100 is 0.05; equal rows have none, and the seed settles the draws."""
    rows = [(1.0, 1.0), (0.0, 1.0)] * 50

    def share(part, whole):
        return part / whole

    assert bootstrap_error(rows, share) == pytest.approx(0.05, rel=0.1)
    assert bootstrap_error(rows, share) == bootstrap_error(rows, share)
    assert bootstrap_error([(1.0, 2.0)] * 9, share) == 0.0
    assert bootstrap_error(rows[:1], share) == 0.0
