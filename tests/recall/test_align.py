from __future__ import annotations

from math import log

import numpy as np
import pytest

from doxa.recall.learning.align import Aligned, AlignSpec, Batch, Query, align, batch_of, disagreement, loss


def queries(count: int = 20, seed: int = 0, *, graph: int = 3, dense: int = 4) -> list[Query]:
    random, found = np.random.default_rng(seed), []
    for _ in range(count):
        k = int(random.integers(5, 12))
        needed = np.zeros(k, dtype=np.bool_)
        needed[random.choice(k, int(random.integers(0, 3)), replace=False)] = True
        arrays = [random.normal(size=(k, width)).astype(np.float32) for width in (graph, dense, 2)]
        found.append(Query(graph=arrays[0], dense=arrays[1], rest=arrays[2], needed=needed, cited=needed))
    return found


def one(graph: list[float], dense: list[float], cited: list[bool]) -> tuple[Aligned, Batch]:
    """Return a query whose scores are its only features."""
    query = Query(
        graph=np.array(graph, dtype=np.float32)[:, None],
        dense=np.array(dense, dtype=np.float32)[:, None],
        rest=np.zeros((len(graph), 0), dtype=np.float32),
        needed=np.zeros(len(graph), dtype=np.bool_),
        cited=np.array(cited),
    )
    return Aligned(graph=np.ones(1), dense=np.ones(1), mix=np.zeros(2)), batch_of([query])


@pytest.mark.parametrize("cells", ["cited", "all"])
@pytest.mark.parametrize("weight", [0.0, 0.1, 5.0])
def test_the_gradient_is_that_of_the_loss(weight: float, cells: str) -> None:
    random = np.random.default_rng(1)
    batch, spec = batch_of(queries()), AlignSpec(weight=weight, cells=cells)  # type: ignore[arg-type]
    weights = Aligned(graph=random.normal(size=3), dense=random.normal(size=4), mix=random.normal(size=4))
    _, gradient = loss(weights, batch, spec)
    flat, step = weights.flat(), 1e-6
    for place in range(len(flat)):
        moved = np.zeros_like(flat)
        moved[place] = step
        above, below = (loss(weights.like(flat + sign * moved), batch, spec)[0] for sign in (1, -1))
        assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-6)


def test_consistency_is_the_divergence_of_cited_evidence_against_the_rest() -> None:
    """P_g = (1/2, 1/4, 1/4) and P_d = (1/4, 1/2, 1/4) with the first cited: cells (1/2, 1/2) and (1/4, 3/4)."""
    weights, batch = one([log(2), 0, 0], [0, log(2), 0], [True, False, False])
    value = loss(weights, batch, AlignSpec(weight=1.0))[0]
    assert value == pytest.approx((1 / 2 - 1 / 4) * log(2) + (1 / 2 - 3 / 4) * log((1 / 2) / (3 / 4)), abs=1e-6)


def test_the_printed_form_compares_all_candidates_once_for_each_citation() -> None:
    """Equations 4 and 5: the same term for every cited item."""
    both = loss(*one([log(2), 0, 0], [0, log(2), 0], [True, True, False]), AlignSpec(weight=1.0, cells="all"))[0]
    single = loss(*one([log(2), 0, 0], [0, log(2), 0], [True, False, False]), AlignSpec(weight=1.0, cells="all"))[0]
    assert single == pytest.approx(2 * (1 / 2 - 1 / 4) * log(2), abs=1e-6)
    assert both == pytest.approx(2 * single, abs=1e-6)


def test_how_the_rest_is_ordered_does_not_count() -> None:
    same = [
        loss(*one([1, 0, 2], dense, [True, False, False]), AlignSpec(weight=1.0))[0] for dense in ([1, 0, 2], [1, 2, 0])
    ]
    assert same == pytest.approx([0, 0], abs=1e-9)


def test_nothing_is_aligned_where_nothing_was_cited() -> None:
    assert loss(*one([3, 0], [0, 3], [False, False]), AlignSpec(weight=1.0))[0] == pytest.approx(0, abs=1e-9)


def test_alignment_brings_the_views_together_on_queries_that_it_has_not_seen() -> None:
    """Two views with one good feature each and a common one: agreement without giving up the ranking."""
    random = np.random.default_rng(2)

    def world(count: int) -> Batch:
        found = []
        for _ in range(count):
            needed = np.arange(20) == random.integers(20)
            shared = needed + random.normal(0, 0.5, 20)
            graph = np.stack([shared, random.normal(size=20)], axis=-1).astype(np.float32)
            dense = np.stack([shared, random.normal(size=20)], axis=-1).astype(np.float32)
            found.append(
                Query(graph=graph, dense=dense, rest=np.zeros((20, 0), dtype=np.float32), needed=needed, cited=needed)
            )
        return batch_of(found)

    train, test = world(100), world(200)
    start = Aligned(graph=np.ones(2), dense=np.ones(2), mix=np.ones(2))
    found = align(train, start, AlignSpec(weight=0.1))
    before, after = (disagreement(*weights.scores(test), test.there, steady=True) for weights in (start, found))
    assert after < 0.5 * before
    assert _top(found, test) >= _top(start, test)


def _top(weights: Aligned, batch: Batch) -> float:
    best = weights.scores(batch)[2].argmax(axis=-1)
    return float((batch.needed[np.arange(len(batch)), best] > 0).mean())


def test_flat_scores_do_not_pass_for_agreement() -> None:
    """Dividing both views by ten lowers the plain measure, and not the one at unit spread."""
    random = np.random.default_rng(3)
    graph, dense = random.normal(size=(2, 30, 12))
    plain = [disagreement(graph / by, dense / by, graph + dense) for by in (1, 10)]
    steady = [disagreement(graph / by, dense / by, graph + dense, steady=True) for by in (1, 10)]
    assert plain[1] < plain[0] / 20
    assert steady[0] == pytest.approx(steady[1])


def test_padding_changes_nothing() -> None:
    few = queries(6)
    weights = Aligned(graph=np.ones(3), dense=np.ones(4), mix=np.ones(4))
    alone = [loss(weights, batch_of([query]), AlignSpec())[0] for query in few]
    assert loss(weights, batch_of(few), AlignSpec())[0] == pytest.approx(float(np.mean(alone)))


def test_agreeing_views_do_not_disagree() -> None:
    scores = np.random.default_rng(4).normal(size=(5, 15))
    assert disagreement(scores, scores, scores) == pytest.approx(0, abs=1e-9)
