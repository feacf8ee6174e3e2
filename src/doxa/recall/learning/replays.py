"""Counterfactual replays: one query, every plan, what each would have found.

A replay keeps what every view made of every candidate. Which candidates a plan sees follows from their ranks, so all
plans are judged from one search, under any weights, without searching again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from doxa.memory import UserState
from doxa.recall.doubt import doubt
from doxa.recall.learning import align
from doxa.recall.plan import Plan
from doxa.recall.queries.query import Query
from doxa.recall.route import (
    BUDGET,
    EXPANSION,
    PLANS,
    STATIC,
    WIDEST,
    cost_of,
    glance_of,
    plan_of,
    psi,
    reward,
)
from doxa.recall.search import look_up
from doxa.recall.spec import RecallSpec
from doxa.recall.weights import Weights

__all__ = ["Outcome", "Replay", "features_of", "measure", "play", "queries_of", "replay_of", "rewards_of"]

Array = NDArray[np.float64]
TOP = 10
WHOLE = 1000
"""More places than all views propose together at their widest: a replay leaves none of them out."""
OWN = {
    "graph": frozenset("graph graph_subject graph_relation graph_sought graph_taste graph_walk".split()),
    "dense": frozenset("dense dense_near sentence".split()),
}
"""Scores that only one of the two views can give: paths to a turn, and how close it is in meaning."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replay:
    """One query of a log, with the candidates of all views at the largest budgets of any plan."""

    psi: NDArray[np.float32]
    """The router's features."""
    ranks: Mapping[str, NDArray[np.int32]]
    """Rank of every candidate among what each view proposed, `(k,)` by view, from 0; -1 where it was not proposed."""
    scores: Mapping[str, NDArray[np.float32]]
    """What every view gives every candidate, `(k,)` by name."""
    needed: NDArray[np.bool_]
    """Which candidates an answer had to rest on, `(k,)`."""
    cited: NDArray[np.bool_]
    """Which were cited and verified, `(k,)`."""
    total: int
    """How much was needed, found or not."""
    expanded: bool = False
    """An expansion would have been triggered; without it, a plan that allows one finds what the same plan finds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What some weights make of some replays."""

    recall: float
    """Mean Recall@10."""
    ndcg: float
    """Mean nDCG@10."""
    cost: float
    """Mean candidates scored, as a share of the full budget: the part of the latency that a plan decides."""
    plans: tuple[str, ...]
    """The plan that each query was given."""


def replay_of(
    query: Query,
    state: UserState,
    *,
    needed: Collection[str],
    cited: Collection[str] | None = None,
    spec: RecallSpec = RecallSpec(),  # noqa: B008  # frozen
) -> Replay:
    """Return the replay of a query: one search with every view at its widest, and what was needed marked in it.

    Args:
        query: the query, with its vector; `known_at` keeps what came later out of it.
        state: the memory it is asked of.
        needed: the ids of the turns that an answer has to rest on.
        cited: those that an answer did rest on; by default all that were needed.
        spec: how to search.

    Cost: one search with a pool that holds all that any plan may see.
    """
    widest = replace(WIDEST, budgets={view: int(size * EXPANSION) for view, size in WIDEST.budgets.items()})
    whole = replace(spec, pool=WHOLE, deadline_ms=0.0)
    found = look_up(query, state, spec=whole, plan=widest)
    rows = {place: row for row, place in enumerate(found.places.tolist())}
    ranks = {view: np.full(len(rows), -1, dtype=np.int32) for view in found.proposed}
    for view, candidates in found.proposed.items():
        for rank, place in enumerate(candidates.places.tolist()):
            ranks[view][rows[place]] = rank
    turn_ids = [state.turns[state.places[place]].turn_id for place in rows]
    marked = np.array([turn_id in needed for turn_id in turn_ids], dtype=np.bool_)
    used = marked if cited is None else np.array([turn_id in cited for turn_id in turn_ids], dtype=np.bool_)
    return Replay(
        psi=psi(glance_of(found.look, found.proposed)),
        ranks=ranks,
        scores=found.scores,
        needed=marked,
        cited=used,
        total=len(set(needed)),
        expanded=bool(doubt(found.scores, found.total)) if len(rows) else False,
    )


def features_of(replay: Replay, view: str) -> Mapping[str, NDArray[np.float32]]:
    """Return the features of a view (phi of appendix A.1): its own scores, and those that belong to neither view.

    What a turn is like, who said it and how much it tells makes it good evidence whichever view found it. Without such
    features the two views have nothing in common that could bring them together, and alignment would only flatten them.
    """
    other = OWN["dense" if view == "graph" else "graph"]
    return {name: scores for name, scores in replay.scores.items() if name not in other}


def pool(replay: Replay, plan: Plan) -> NDArray[np.bool_]:
    """Return which candidates a plan sees, `(k,)`: turn about by rank, the leading view first, as search does it.

    O(k log k).
    """
    further = EXPANSION if plan.expand and replay.expanded else 1.0
    views = sorted(replay.ranks, key=lambda view: view != plan.lead)
    turns = np.full(len(replay.needed), np.inf)
    for number, view in enumerate(views):
        ranks = replay.ranks[view]
        proposed = (ranks >= 0) & (ranks < int(plan.budget(view) * further))
        turns = np.where(proposed, np.minimum(turns, ranks * len(views) + number), turns)
    seen: NDArray[np.bool_] = np.isfinite(turns)
    seen[np.argsort(turns, kind="stable")[int(BUDGET * further) :]] = False
    # Turns around the best ones, which no view proposed, join any plan.
    beside: NDArray[np.bool_] = np.logical_and.reduce([ranks < 0 for ranks in replay.ranks.values()])
    return np.logical_or(seen, beside)


def play(replay: Replay, plan: Plan, weights: Weights) -> tuple[float, float]:
    """Return Recall@10 and nDCG@10 of a plan; what the views did not bring counts as missed. O(k log k)."""
    if not replay.total:
        return 0.0, 0.0
    scores = np.where(pool(replay, plan), weights.unified(replay.scores, plan.lead), -np.inf)
    order = np.argsort(-scores, kind="stable")[:TOP]
    hits = replay.needed[order] & np.isfinite(scores[order])
    gains = 1 / np.log2(np.arange(2, TOP + 2))
    ideal = gains[: min(replay.total, TOP)].sum()
    return float(hits.sum() / replay.total), float(gains[: len(hits)][hits].sum() / ideal)


def rewards_of(replays: Sequence[Replay], weights: Weights, plans: Iterable[str] = PLANS) -> Array:
    """Return equation 6 for every query and plan, `(n, plans)`.

    What is rewarded is the mean of Recall@10 and nDCG@10: recall alone does not tell a plan that puts the evidence
    first from one that puts it tenth. Latency is that of the work, in shares of the full budget, so that the same
    log gives the same rewards on every machine.
    """
    named = [plan_of(name) for name in plans]
    found = np.array([[sum(play(replay, plan, weights)) / 2 for plan in named] for replay in replays])
    work = np.array([[_work(replay, plan) for plan in named] for replay in replays])
    costs = np.array([cost_of(plan) for plan in named])
    rewards: Array = reward(found, costs, work)
    return rewards.reshape(len(replays), len(named))


def _work(replay: Replay, plan: Plan) -> float:
    return float(pool(replay, plan).sum()) / BUDGET


def measure(replays: Sequence[Replay], weights: Weights, *, plan: str | None = None) -> Outcome:
    """Return what weights find in replays, each query with the plan that the router gives it, or all with one plan."""
    names = [plan or _routed(replay, weights) for replay in replays]
    pairs = [play(replay, plan_of(name), weights) for replay, name in zip(replays, names, strict=True)]
    found = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return Outcome(
        recall=float(found[:, 0].mean()) if len(found) else 0.0,
        ndcg=float(found[:, 1].mean()) if len(found) else 0.0,
        cost=float(np.mean([_work(r, plan_of(n)) for r, n in zip(replays, names, strict=True)])) if names else 0.0,
        plans=tuple(names),
    )


def _routed(replay: Replay, weights: Weights) -> str:
    router = weights.router
    return STATIC if router is None else router.plans[int(np.argmax(router.logits(replay.psi)))]


def queries_of(
    replays: Sequence[Replay], others: Sequence[str], graph: Sequence[str], dense: Sequence[str]
) -> list[align.Query]:
    """Return replays as `align` reads them.

    Args:
        replays: what was replayed.
        others: the views beside the two, in the order of the mix.
        graph: the features of the graph view, in order; one that a replay lacks is 0.
        dense: those of the dense view.
    """
    return [
        align.Query(
            graph=_table(features_of(replay, "graph"), graph, replay),
            dense=_table(features_of(replay, "dense"), dense, replay),
            rest=_table(replay.scores, others, replay),
            needed=replay.needed,
            cited=replay.cited,
        )
        for replay in replays
    ]


def _table(columns: Mapping[str, NDArray[np.float32]], names: Sequence[str], replay: Replay) -> NDArray[np.float32]:
    table = np.zeros((len(replay.needed), len(names)), dtype=np.float32)
    for number, name in enumerate(names):
        if name in columns:
            table[:, number] = columns[name]
    return table
