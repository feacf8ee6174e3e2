from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from doxa.core.errors import FormatError, NotFoundError
from doxa.recall.learning.align import LAMBDA
from doxa.recall.weights import (
    ALIGNED,
    LEADS,
    START,
    Router,
    Scorer,
    Weights,
    WeightSlot,
    load_weights,
    save_weights,
    shipped,
)


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def full(seed: int = 0) -> Weights:
    random = np.random.default_rng(seed)
    sizes = [(3, 128), (128, 128), (128, 2)]
    layers = tuple(
        (random.normal(0, 0.1, size).astype(np.float16).astype(np.float32), np.zeros(size[1], dtype=np.float32))
        for size in sizes
    )
    return Weights(
        graph=Scorer(names=("path", "hops"), weight=array(1, -0.5)),
        dense=Scorer(names=("cosine",), weight=array(2)),
        router=Router(
            names=("a", "b", "c"), plans=("x", "y"), mean=array(0, 0, 0), scale=array(1, 2, 1), layers=layers
        ),
        edges={"likes": 1.5, "aliasOf": 0.5},
        encoder="hash",
        note="made by a test",
    )


def test_what_was_saved_is_what_is_loaded(tmp_path: Path) -> None:
    save_weights(full(), tmp_path / "some.npz")
    loaded = load_weights(tmp_path / "some.npz", encoder="hash")
    assert loaded.checksum() == full().checksum()
    assert loaded.edges == {"likes": 1.5, "aliasOf": 0.5}
    assert loaded.router is not None and loaded.router.plans == ("x", "y")


def test_the_start_is_equation_1_as_printed() -> None:
    weights = Weights()
    parts = np.array([weights.of("graph")[view] for view in ("graph", "dense", "profile")])
    assert (parts / parts.sum()).round(2).tolist() == [0.55, 0.35, 0.10]
    assert weights.mix.shape == (len(LEADS), len(START))


def test_the_shipped_weights_can_be_read_and_are_small() -> None:
    assert set(shipped().of("dense")) >= {"graph", "dense", "profile"}
    assert shipped() is shipped()
    assert shipped().router is not None
    assert shipped(ALIGNED).checksum() != shipped().checksum()
    assert f"lambda_{LAMBDA:g}" == ALIGNED
    with pytest.raises(NotFoundError):
        shipped("no such")


def test_a_scorer_is_linear_in_features_by_name() -> None:
    scorer = Scorer(names=("path", "hops"), weight=array(2, -1))
    scores = scorer.score({"hops": array(1, 3), "unknown": array(9, 9), "path": array(0.5, 1)})
    assert scores.tolist() == [0.0, -1.0]


def test_a_view_that_is_switched_off_counts_nothing() -> None:
    scorer = Scorer(names=("path", "hops"), weight=array(2, -1))
    assert scorer.score({"other": array(1, 1)}).tolist() == [0.0, 0.0]
    assert scorer.score({"path": array(1)}).tolist() == [2.0]


def test_the_unified_score_is_equation_1() -> None:
    weights = Weights(
        views=("graph", "dense", "profile"),
        mix=np.array([[0.55, 0.35, 0.10]] * 3, dtype=np.float32),
        dense=Scorer(names=("dense",), weight=array(1)),
    )
    scores = {"graph": array(0.82, 0.12), "dense": array(0.41, 0.76), "profile": array(0.10, 0.04)}
    assert weights.unified(scores, "graph").round(2).tolist() == pytest.approx([0.60, 0.34], abs=0.01)  # table 1


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "some.npz"
    save_weights(full(), path)
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays["mix"] = arrays["mix"] + 1
    np.savez(path, **arrays)
    with pytest.raises(FormatError, match="checksum does not fit"):
        load_weights(path)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (replace(full(), mix=np.zeros((2, 7), dtype=np.float32)), r"mix: expected shape \(3, 7\), got \(2, 7\)"),
        (replace(full(), dense=Scorer(names=("a", "b"), weight=array(1))), r"dense.weight: expected shape \(2,\)"),
        (replace(full(), dense=Scorer(names=("a",), weight=array(np.nan))), "dense.weight: expected finite numbers"),
    ],
    ids=["mix", "scorer", "not a number"],
)
def test_arrays_that_do_not_fit_are_not_written(broken: Weights, said: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=said):
        save_weights(broken, tmp_path / "some.npz")
    assert not list(tmp_path.iterdir())


def test_weights_of_another_encoder_are_refused(tmp_path: Path) -> None:
    save_weights(full(), tmp_path / "some.npz")
    with pytest.raises(FormatError, match="encoder 'builtin', got some for 'hash'"):
        load_weights(tmp_path / "some.npz", encoder="builtin")


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", a=np.zeros(2))
    for name in ("text.npz", "other.npz"):
        with pytest.raises(FormatError, match="expected weights of recall"):
            load_weights(tmp_path / name)
    with pytest.raises(NotFoundError, match="There is no file"):
        load_weights(tmp_path / "none.npz")


def test_a_search_in_flight_keeps_the_weights_that_it_began_with() -> None:
    """Readers see one whole value or another, never a mix of two, while others swap."""
    values = [Weights(mix=np.full((3, 7), n, dtype=np.float32), note=str(n)) for n in range(50)]
    slot, torn, stop = WeightSlot(values[0]), [], threading.Event()

    def read() -> None:
        while not stop.is_set():
            weights = slot.get()
            if not (weights.mix == float(weights.note)).all():
                torn.append(weights.note)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for value in values[1:]:
        assert slot.swap(value)
    stop.set()
    for reader in readers:
        reader.join()
    assert torn == [] and slot.get() is values[-1]


def test_a_swap_gives_way_to_one_that_came_first() -> None:
    old, mine, theirs = Weights(), Weights(note="mine"), Weights(note="theirs")
    slot = WeightSlot(old)
    assert slot.swap(theirs, expected=old)
    assert not slot.swap(mine, expected=old)
    assert slot.get() is theirs


def test_two_layers_of_128_are_evaluated_as_written() -> None:
    router = full().router
    assert router is not None
    features = array(0.3, -1, 2)
    hidden = (features - router.mean) / router.scale
    for matrix, bias in router.layers[:2]:
        hidden = np.array([max(0.0, float(value)) for value in hidden @ matrix + bias], dtype=np.float32)
    assert np.allclose(router.logits(features), hidden @ router.layers[2][0] + router.layers[2][1], atol=1e-5)
