"""A matrix of vectors that grows by rows."""

import numpy as np
import pytest

from doxa.memory import VectorMatrix
from doxa.memory.vectors import BLOCK, FIRST, from_bytes, to_bytes


@pytest.mark.parametrize("size", [0, 1, FIRST, FIRST + 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_scores_are_the_products_of_all_rows(size):
    """However many blocks there are, row i has place i and its own cosine."""
    rows = np.random.default_rng(7).standard_normal((size, 8)).astype(np.float32)
    matrix = VectorMatrix(8)
    assert [matrix.add(row) for row in rows] == list(range(size))
    query = np.ones(8, dtype=np.float32)
    assert len(matrix) == size and np.array_equal(matrix.rows(), rows)
    assert np.allclose(matrix.scores(query), rows @ query, atol=1e-5)


def test_a_vector_survives_its_storage():
    """Half precision changes a cosine by less than a thousandth."""
    vector = np.random.default_rng(7).standard_normal(384).astype(np.float32)
    vector /= np.linalg.norm(vector)
    assert abs(float(from_bytes(to_bytes(vector)) @ vector) - 1) < 1e-3
