"""How much sentences repeat each other: values worked out by hand, and laws that hold for all lists."""

import math
import random
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa_bench.knowledge.overlap import Rouge, rouge, rouge_tokens, semantic_overlap, token_overlap

WORDS = st.lists(st.sampled_from("abcd"), max_size=9)


def units(*rows: tuple[float, ...]) -> np.ndarray:
    """Rows at unit length."""
    matrix = np.array(rows, dtype=np.float32)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def random_sentences(seed: int, count: int) -> list[np.ndarray]:
    """Unit rows of tokens, one to six a sentence."""
    rng = np.random.default_rng(seed)
    return [units(*rng.normal(size=(rng.integers(1, 7), 5))) for _ in range(count)]


def subsequence(first: list[str], second: list[str]) -> int:
    """The longest common one by the textbook's table."""
    rows = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first, start=1):
        for j, other in enumerate(second, start=1):
            rows[i][j] = rows[i - 1][j - 1] + 1 if one == other else max(rows[i - 1][j], rows[i][j - 1])
    return rows[-1][-1]


def clipped(first: list, second: list) -> int:
    """How many grams two lists share, each as often as both have it."""
    rest, shared = list(second), 0
    for gram in first:
        if gram in rest:
            rest.remove(gram)
            shared += 1
    return shared


def f1(matches: int, first: int, second: int) -> float:
    """By way of precision and recall."""
    if not matches:
        return 0.0
    precision, recall = matches / first, matches / second
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # 5 of 6 and 6 words; "the cat", "on the", "the mat" of 5 and 5; the, cat, on, the, mat in order
        ("the cat sat on the mat", "the cat lay on the mat", (5 / 6, 3 / 5, 5 / 6)),
        # 3 of 4 and 4; "the gunman" alone of 3 and 3; "the gunman" or "police .. the" hold no third: 2 (Lin's example)
        ("police killed the gunman", "the gunman kill police", (3 / 4, 1 / 3, 2 / 4)),
        # "a" counts as often as both have it: 2 of 3 and 2; "a a" once of 2 and 1
        ("a a a", "a a", (2 * 2 / 5, 2 * 1 / 3, 2 * 2 / 5)),
        ("one", "one", (1.0, 0.0, 1.0)),
        ("dogs bark", "cats purr", (0.0, 0.0, 0.0)),
        ("", "cats purr", (0.0, 0.0, 0.0)),
        ("", "", (0.0, 0.0, 0.0)),
    ],
)
def test_rouge_by_hand(first, second, expected):
    assert rouge(rouge_tokens(first), rouge_tokens(second)) == pytest.approx(expected)


def test_words_are_runs_of_letters_and_digits_in_lower_case():
    assert rouge_tokens("Don't PAY 3.50 at the café-bar!") == ["don", "t", "pay", "3", "50", "at", "the", "caf", "bar"]


@given(WORDS, WORDS)
def test_rouge_is_what_its_definition_says(first, second):
    pairs = [list(pairwise(words)) for words in (first, second)]
    expected = (
        f1(clipped(first, second), len(first), len(second)),
        f1(clipped(*pairs), len(pairs[0]), len(pairs[1])),
        f1(subsequence(first, second), len(first), len(second)),
    )
    assert rouge(first, second) == pytest.approx(expected)


@given(WORDS, WORDS)
def test_rouge_is_symmetric_and_order_only_costs(first, second):
    found = rouge(first, second)
    assert found == rouge(second, first)
    assert 0 <= found.rouge_l <= found.rouge1 <= 1


def test_a_sentence_longer_than_a_machine_word_is_compared():
    rng = random.Random(5)
    first, second = ([rng.choice("abcdefgh") for _ in range(size)] for size in (200, 130))
    assert rouge(first, second).rouge_l == pytest.approx(2 * subsequence(first, second) / 330)


def test_token_overlap_is_the_mean_over_pairs():
    sentences = ["Cats purr.", "Cats purr!", "Dogs bark."]
    assert token_overlap(sentences) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert token_overlap(["Same words", "same words"]) == Rouge(1.0, 1.0, 1.0)


@pytest.mark.parametrize("sentences", [[], ["Cats purr."]], ids=["none", "one"])
def test_without_a_pair_there_is_no_overlap(sentences):
    assert token_overlap(sentences) is None
    assert semantic_overlap([units((1, 0))] * len(sentences)) is None


@given(st.lists(WORDS.map(" ".join), min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_token_overlap_does_not_ask_for_the_order_of_sentences(sentences, rng):
    shuffled = rng.sample(sentences, len(sentences))
    assert token_overlap(shuffled) == pytest.approx(token_overlap(sentences))


def test_semantic_overlap_by_hand():
    # First has tokens at 0 and 90 degrees, second one at 60. Nearest to 0: cos 60 = 1/2; to 90: cos 30. From the
    # second: the larger of both, cos 30. The F1 of a pair and of the pair turned round are the same.
    half, wide = 0.5, math.sqrt(3) / 2
    there, back = (half + wide) / 2, wide
    found = semantic_overlap([units((1, 0), (0, 1)), units((half, wide))])
    assert found.precision == pytest.approx((there + back) / 2)
    assert found.recall == found.precision
    assert found.f1 == pytest.approx(2 * there * back / (there + back))


def test_the_same_meaning_is_one_and_none_is_zero():
    assert semantic_overlap([units((1, 0), (0, 1)), units((0, 1), (1, 0))]) == pytest.approx((1, 1, 1))
    assert semantic_overlap([units((1, 0)), units((0, 1))]) == pytest.approx((0, 0, 0))
    assert semantic_overlap([units((1, 0)), units((-1, 0))]) == pytest.approx((-1, -1, 0))


def test_a_sentence_without_tokens_shares_nothing():
    empty = np.empty((0, 2), dtype=np.float32)
    same = units((1, 0))
    assert semantic_overlap([empty, same]) == (0, 0, 0)
    assert semantic_overlap([same, empty, same]) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert semantic_overlap([empty, empty]) == (0, 0, 0)


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_semantic_overlap_is_what_its_definition_says(seed, count):
    sentences = random_sentences(seed, count)
    scores = []
    for first, second in combinations(sentences, 2):
        precision = np.mean([max(float(a @ b) for b in second) for a in first])
        recall = np.mean([max(float(a @ b) for a in first) for b in second])
        score = 2 * precision * recall / (precision + recall) if min(precision, recall) > 0 else 0.0
        scores += [(precision, recall, score), (recall, precision, score)]
    assert semantic_overlap(sentences) == pytest.approx(np.mean(scores, axis=0), abs=1e-5)
