"""A matrix of vectors that grows by rows."""

from itertools import pairwise

import numpy as np
import pytest

from doxa.memory import VectorMatrix
from doxa.memory.vectors import BLOCK, FIRST, from_bytes, to_bytes


def unit_rows(size: int, dims: int = 64, seed: int = 7) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((size, dims)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("size", [0, 1, FIRST, FIRST + 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_scores_are_the_products_of_all_rows(size):
    """However many blocks there are, place i has row i and its own cosine, to a thousandth or two."""
    rows = unit_rows(size)
    matrix = VectorMatrix(64)
    assert [matrix.add(row) for row in rows] == list(range(size))
    query = unit_rows(1, seed=8)[0]
    assert len(matrix) == size and np.allclose(matrix.rows(), rows, atol=3e-3)
    assert np.allclose(matrix.scores(query), rows @ query, atol=5e-3)


def test_a_place_is_as_near_as_its_nearest_row():
    """The whole text is one row, and every passage another."""
    rows, matrix = unit_rows(60), VectorMatrix(64)
    bounds = [0, 1, 4, 5, 13, 60]
    for start, stop in pairwise(bounds):
        matrix.add(rows[start:stop])
    query = unit_rows(1, seed=8)[0]
    exact = rows @ query
    best = [exact[start:stop].max() for start, stop in pairwise(bounds)]
    assert np.allclose(matrix.best_at(np.arange(5), query), best, atol=5e-3)
    assert np.allclose(matrix.at(np.array([3, -1]), query), [exact[5], 0], atol=5e-3)
    places, scores = matrix.nearest(query, 60)
    assert places.tolist() == [0, 1, 2, 3, 4] and np.allclose(scores, best, atol=5e-3)


def test_the_nearest_by_sign_hold_the_nearest():
    """Of many rows a few are compared in full, and the ten that matter are among them."""
    rows, matrix = unit_rows(40_000), VectorMatrix(64)
    for row in rows:
        matrix.add(row)
    query = rows[123] + 0.1 * unit_rows(1, seed=9)[0]
    query /= np.linalg.norm(query)
    places, _ = matrix.nearest(query, 4000)
    assert 123 in places and matrix.read == len(places) and 4000 <= len(places) < 8000
    best = np.argsort(-(rows @ query))[:10]
    assert len(set(best) & set(places)) >= 9


def test_what_is_compared_in_full_does_not_grow():
    """Four times the rows, the same number of them compared in full, but for what ties."""
    read = []
    for size in (20_000, 80_000):
        matrix = VectorMatrix(64)
        for row in unit_rows(size):
            matrix.add(row)
        matrix.nearest(unit_rows(1, seed=8)[0], 512)
        read.append(matrix.read)
    assert max(read) < 512 + 80_000 / 20


def test_a_vector_survives_its_storage():
    """Half precision changes a cosine by less than a thousandth."""
    vector = np.random.default_rng(7).standard_normal(384).astype(np.float32)
    vector /= np.linalg.norm(vector)
    assert abs(float(from_bytes(to_bytes(vector)) @ vector) - 1) < 1e-3
