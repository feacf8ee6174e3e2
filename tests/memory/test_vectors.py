"""A matrix of vectors that grows by rows."""

from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.core.errors import FormatError, PackError
from doxa.memory import VectorMatrix
from doxa.memory.paged import Pack, PackWriter
from doxa.memory.rows import FIRST, from_bytes, to_bytes


def unit_rows(size: int, dims: int = 64, seed: int = 7) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((size, dims)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def topics(size: int, dims: int = 64, seed: int = 7) -> np.ndarray:
    """Rows about two hundred topics, as turns are."""
    random = np.random.default_rng(seed)
    rows = unit_rows(200, dims, seed=1)[random.integers(0, 200, size)] + 0.8 * unit_rows(size, dims, seed)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def filled(rows: np.ndarray, *, flat: int) -> VectorMatrix:
    matrix = VectorMatrix(rows.shape[1], flat=flat)
    for row in rows:
        matrix.add(row)
    return matrix


def written(matrix: VectorMatrix) -> bytes:
    file = BytesIO()
    writer = PackWriter(file)
    matrix.save(writer, "v")
    writer.close({})
    return file.getvalue()


def again(matrix: VectorMatrix, *, flat: int) -> VectorMatrix:
    """Return a matrix as it is once it was written and read."""
    loaded = VectorMatrix(64, flat=flat)
    loaded.load(Pack(written(matrix)), "v")
    return loaded


@pytest.mark.parametrize("size", [0, 1, FIRST, FIRST + 1, 4 * FIRST, 4 * FIRST + 1, 9 * FIRST + 3])
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
    rows = unit_rows(40_000)
    matrix = VectorMatrix(64)
    matrix.add(rows[:20_000])
    for row in rows[20_000:]:
        matrix.add(row)
    query = rows[30_123] + 0.1 * unit_rows(1, seed=9)[0]
    query /= np.linalg.norm(query)
    places, _ = matrix.nearest(query, 4000)
    assert 10_124 in places and 4000 <= matrix.read < 8000
    best = {max(0, row - 19_999) for row in np.argsort(-(rows @ query))[:10].tolist()}
    assert len(best & set(places.tolist())) >= 0.9 * len(best)


def test_what_is_compared_in_full_does_not_grow():
    """Four times the rows, the same number of them compared in full, but for what ties."""
    read = []
    for size in (20_000, 80_000):
        matrix = VectorMatrix(64)
        for part in np.split(unit_rows(size), 2000):
            matrix.add(part)
        matrix.nearest(unit_rows(1, seed=8)[0], 512)
        read.append(matrix.read)
    assert max(read) < 512 + 80_000 / 20


@pytest.mark.parametrize("count", [4_000, 8_000, 15_999, 16_999, 20_000])
def test_most_of_the_rows_may_be_wanted(count):
    rows = unit_rows(17_000)
    matrix = VectorMatrix(64)
    for row in rows:
        matrix.add(row)
    places, _ = matrix.nearest(rows[5], count)
    assert len(places) >= min(count, len(rows)) and 5 in places


def test_lists_find_what_a_search_in_full_finds():
    """Beyond a size only some lists are compared, and of the ten nearest hardly one is missed."""
    rows, queries = topics(12_000), topics(20, seed=8)
    matrix = filled(rows, flat=1024)
    lists = matrix._signs._counts
    assert len(lists) > 100 and max(lists) <= 110 and sum(lists) >= 12_000 - 1024 - 16
    exact = np.argsort(-(queries @ rows.T), axis=1)[:, :10]
    found = [set(matrix.nearest(query, 512)[0].tolist()) for query in queries]
    assert np.mean([len(found[at] & set(best)) for at, best in enumerate(exact.tolist())]) > 9.8


def test_what_a_search_compares_grows_with_the_root():
    """Of sixteen times the rows, four times as many are compared by sign, and those that lie flat."""
    compared = []
    for size in (8_000, 128_000):
        signs = VectorMatrix(16, flat=2048)
        for part in np.split(topics(size, dims=16), 20):
            signs.add(part)
        lists = signs._signs
        compared.append(sum(lists._counts[one] for one in lists._probed(topics(1, dims=16, seed=8)[0], 16)))
    assert compared[1] < 6 * compared[0] and len(lists._counts) < 5 * 128_000**0.5


@pytest.mark.parametrize("share", [0.5, 0.05, 0.002])
def test_a_filter_leaves_what_is_nearest_of_the_rest(share):
    rows, query = topics(12_000), topics(1, seed=8)[0]
    matrix = filled(rows, flat=1024)
    searched = np.random.default_rng(3).random(len(rows)) < share
    places, _ = matrix.nearest(query, 256, searched=searched)
    assert searched[places].all()
    best = np.flatnonzero(searched)[np.argsort(-(rows[searched] @ query))[:10]]
    assert len(set(best.tolist()) & set(places.tolist())) >= 8


def test_copies_of_one_text_are_split_all_the_same():
    """A user who says "ok" ten thousand times."""
    matrix = VectorMatrix(64, flat=1024)
    matrix.add(np.repeat(unit_rows(1), 10_000, axis=0))
    counts = matrix._signs._counts
    assert max(counts) <= 100 and sum(counts) >= 10_000 - 1024 - 16


@given(st.lists(st.integers(0, 12), max_size=30), st.integers(0, 99))
def test_a_matrix_is_the_same_once_it_was_saved(steps, seed):
    """Whenever it is saved and loaded, it answers as if it had never been."""
    random = np.random.default_rng(seed)
    plain, held = VectorMatrix(64, flat=64), VectorMatrix(64, flat=64)
    for step in steps:
        if step == 0:
            held = again(held, flat=64)
            continue
        for size in random.integers(1, 4, step):
            rows = unit_rows(int(size), seed=int(random.integers(0, 500)))
            assert plain.add(rows) == held.add(rows)
    query, mask = unit_rows(1, seed=seed)[0], random.random(len(plain)) < 0.3
    assert np.array_equal(plain.rows(), held.rows())
    for searched in (None, mask):
        (places, scores), (others, theirs) = (one.nearest(query, 20, searched=searched) for one in (plain, held))
        assert np.array_equal(places, others) and np.allclose(scores, theirs, atol=1e-6)
    assert written(plain) == written(held)


def test_damage_in_a_pack_is_no_answer():
    """A step that is none is found when its row is compared, and any byte when it is written again."""
    rows = unit_rows(4000)
    data = bytearray(written(filled(rows, flat=1 << 16)))
    loaded = VectorMatrix(64)
    at = data.index(to_bytes(rows[1500])[3:71]) + 64
    data[at : at + 4] = b"\xff\xff\xff\x7f"
    loaded.load(Pack(bytes(data)), "v")
    with pytest.raises(PackError, match="not what was written"):
        loaded.nearest(rows[1500], 200)
    with pytest.raises(PackError, match="not what was written"):
        written(loaded)


@pytest.mark.parametrize("shape", [(384,), (3, 384), (2, 5), (1, 5)], ids=str)
def test_a_vector_survives_its_storage(shape):
    """A byte a number changes a cosine by less than two thousandths, and what was stored is stored the same again."""
    rows = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True)
    stored = from_bytes(to_bytes(rows)).reshape(shape)
    assert np.abs((stored * rows).sum(axis=-1) - 1).max() < 2e-3
    assert np.array_equal(from_bytes(to_bytes(stored)), stored.ravel())


def test_vectors_of_half_precision_are_read():
    rows = unit_rows(3, dims=384)
    assert np.allclose(from_bytes(rows.astype("<f2").tobytes()).reshape(3, 384), rows, atol=1e-3)
    later = bytearray(to_bytes(rows))
    later[0] = 9
    with pytest.raises(FormatError, match="newer Doxa"):
        from_bytes(bytes(later))
