"""Feedback -> new weights, if they are no worse: what `doxa learn` does (section 4.2, appendix B.5).

numpy and scipy on a few hundred queries: seconds on one core, and never on the request path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from doxa.core.feedback import Lesson
from doxa.recall.learning.align import Aligned, AlignSpec, Batch, align, batch_of, disagreement
from doxa.recall.learning.policy import PolicySpec, fit_router
from doxa.recall.learning.replays import Replay, features_of, measure, queries_of, rewards_of
from doxa.recall.route import FEATURES, PLANS, error_route_rate
from doxa.recall.weights import Scorer, Weights

__all__ = ["LearnSpec", "aligned_weights", "figures", "refresh", "routed_weights"]

Array = NDArray[np.float64]
TINY = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnSpec:
    """How weights are refreshed, and when new ones are refused."""

    shadow: float = 0.25
    """Share of the queries, the latest, that the old and the new weights are compared on; neither learns from it."""
    least: int = 40
    """Queries below which nothing is learned: fewer say more about chance than about the user."""
    align: AlignSpec = field(default_factory=lambda: AlignSpec(decay=1e-2))
    policy: PolicySpec = field(default_factory=lambda: PolicySpec(epochs=20, rate=5e-4))
    slower: float = 1.1
    """How much more work the new weights may cause; the latency of a plan is that of its candidates."""


def refresh(
    current: Weights,
    replays: Sequence[Replay],
    spec: LearnSpec = LearnSpec(),
    *,
    held: Sequence[Replay] | None = None,
    failed: int = 0,
) -> tuple[Weights, Lesson]:
    """Return weights that have learned from replays, and what was done and why.

    Args:
        current: the weights in use; learning goes on from them and is pulled towards them.
        replays: one a query, oldest first. The latest of them are held out as the shadow set.
        spec: how.
        held: the shadow set; by default the latest of the replays, which then are not learned from.
        failed: questions beside the shadow set that failed, and of which nobody knows what was needed: they count 0.

    Returns:
        The new weights, or `current` itself where there is too little to learn from, or where the new ones find less
        on the shadow set or cost more.

    Deterministic. Cost: that of `align` and `fit_router`.

    Source: appendix B.5 refreshes the scorer and the router from the latest feedback; the refusal is ours.
    """
    known = len(replays) + len(held or ())
    if known < spec.least or (held is not None and not (held and replays)):
        reason = f"{known} answers with feedback are too few to learn from; it takes {spec.least}."
        return current, Lesson(accepted=False, reason=reason, trained=0, shadow=0)
    last = max(1, round(len(replays) * spec.shadow))
    train, shadow = (replays[:-last], replays[-last:]) if held is None else (replays, held)
    new = routed_weights(aligned_weights(current, train, spec.align), train, spec.policy)
    before, after = (figures(weights, shadow, failed=failed) for weights in (current, new))
    refused = _worse(before, after, spec)
    lesson = Lesson(
        accepted=not refused,
        reason=f"The weights in use stay: {refused}." if refused else _gained(before, after),
        trained=len(train),
        shadow=len(shadow) + failed,
        before=before,
        after=after,
    )
    return (current if refused else new), lesson


def aligned_weights(current: Weights, replays: Sequence[Replay], spec: AlignSpec) -> Weights:
    """Return weights whose scorers and mix are fitted to replays; the router stays as it is.

    Every row of the mix keeps its ratio to the mean of the rows. The unified score keeps its spread, since
    thresholds are set against it. Cost: that of `align`.
    """
    start, batch = _fitted(current, replays)
    wide = [_scale(features, batch.there) for features in (batch.graph, batch.dense)]
    even = replace(batch, graph=batch.graph / wide[0], dense=batch.dense / wide[1])
    found = align(even, replace(start, graph=start.graph * wide[0], dense=start.dense * wide[1]), spec)
    found = replace(found, graph=found.graph / wide[0], dense=found.dense / wide[1])
    mix = found.mix * _spread(start.scores(batch)[2], batch.there) / _spread(found.scores(batch)[2], batch.there)
    order = _order(current.views)
    rows = current.mix[:, [current.views.index(view) for view in order]]
    mean = rows.mean(axis=0)
    known = np.abs(mean) > TINY
    graph, dense = _names(current, replays)
    return replace(
        current,
        views=order,
        mix=(mix * np.where(known, rows / np.where(known, mean, 1), 1)).astype(np.float32),
        graph=Scorer(names=graph, weight=found.graph.astype(np.float32)),
        dense=Scorer(names=dense, weight=found.dense.astype(np.float32)),
    )


def routed_weights(current: Weights, replays: Sequence[Replay], spec: PolicySpec) -> Weights:
    """Return weights whose router is fitted to what every plan finds in replays under them. Cost: `fit_router`."""
    features = np.stack([replay.psi for replay in replays])
    rewards = rewards_of(replays, current)
    router = fit_router(features, rewards, names=FEATURES, plans=tuple(PLANS), spec=spec, start=current.router)
    return replace(current, router=router)


def figures(weights: Weights, replays: Sequence[Replay], *, failed: int = 0) -> dict[str, float]:
    """Return the figures that drift is watched by (appendix B.5), each a mean over replays.

    Recall@10, nDCG@10, the share of the candidate budget that was spent, the disagreement of the graph and the dense
    view (as their scores are, and brought to unit spread), and how often another plan would have been better.
    Questions beside the replays that failed count 0 in Recall@10 and nDCG@10.
    """
    outcome = measure(replays, weights)
    chosen = [list(PLANS).index(name) for name in outcome.plans]
    start, batch = _fitted(weights, replays)
    scores = start.scores(batch)
    answered = len(replays) / max(len(replays) + failed, 1)
    return {
        "recall": outcome.recall * answered,
        "ndcg": outcome.ndcg * answered,
        "cost": outcome.cost,
        "disagreement": disagreement(*scores, batch.there),
        "disagreement_steady": disagreement(*scores, batch.there, steady=True),
        "error_routes": error_route_rate(chosen, rewards_of(replays, weights)),
    }


def _worse(before: Mapping[str, float], after: Mapping[str, float], spec: LearnSpec) -> str:
    """Return what the new weights do worse on the shadow set, in words; empty when nothing."""
    if after["recall"] < before["recall"]:
        return f"the new ones find less of what was needed ({after['recall']:.3f}, was {before['recall']:.3f})"
    if after["recall"] == before["recall"] and after["ndcg"] < before["ndcg"]:
        return f"the new ones rank it lower (nDCG@10 {after['ndcg']:.3f}, was {before['ndcg']:.3f})"
    if after["cost"] > before["cost"] * spec.slower:
        return f"the new ones look at more candidates ({after['cost']:.2f} of the budget, was {before['cost']:.2f})"
    return ""


def _gained(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    found = f"Recall@10 {after['recall']:.3f} (was {before['recall']:.3f})"
    return f"The new weights are in use: on later queries than they learned from, {found}."


def _order(views: Sequence[str]) -> tuple[str, ...]:
    """Return the views as `align` orders them: graph, dense, then the others."""
    return ("graph", "dense", *(view for view in views if view not in ("graph", "dense")))


def _names(weights: Weights, replays: Sequence[Replay]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the features of both views: those of the scorers, and those that replays hold beside them."""
    known = [scorer.names for scorer in (weights.graph, weights.dense)]
    held = [features_of(replays[0], view) for view in ("graph", "dense")]
    graph, dense = (tuple(dict.fromkeys((*old, *new))) for old, new in zip(known, held, strict=True))
    return graph, dense


def _fitted(weights: Weights, replays: Sequence[Replay]) -> tuple[Aligned, Batch]:
    """Return weights and replays as `align` reads them."""
    graph, dense = _names(weights, replays)
    base = dict(zip(weights.views, weights.mix.mean(axis=0), strict=True))
    start = Aligned(
        graph=_row(weights.graph, graph),
        dense=_row(weights.dense, dense),
        mix=np.array([base.get(view, 0.0) for view in _order(weights.views)], dtype=np.float64),
    )
    return start, batch_of(queries_of(replays, _order(weights.views)[2:], graph, dense))


def _row(scorer: Scorer, names: Sequence[str]) -> Array:
    known = dict(zip(scorer.names, map(float, scorer.weight), strict=True))
    return np.array([known.get(name, 0.0) for name in names])


def _scale(features: Array, there: NDArray[np.bool_]) -> Array:
    spread = features[there].std(axis=0) if there.any() else np.ones(features.shape[-1])
    return np.where(spread > 1e-6, spread, 1.0)


def _spread(scores: Array, there: NDArray[np.bool_]) -> float:
    return float(scores[there].std()) + 1e-9
