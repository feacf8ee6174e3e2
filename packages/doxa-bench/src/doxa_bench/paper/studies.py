"""Dialogues of the implicit benchmark -> replays -> what the learned parts of search do, one by one.

A replay (`doxa.recall`) holds what every view made of every candidate of a question, so weights, plans and alignment
are compared on the same searches without searching again. What learns, learns from the training worlds; what is
reported comes from the test worlds.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from doxa.core.config import Config
from doxa.core.values import Turn
from doxa.engine import Doxa
from doxa.recall import (
    LAMBDA,
    PLANS,
    STATIC,
    VIEWS,
    AlignSpec,
    Look,
    Plan,
    PolicySpec,
    Query,
    Replay,
    Weights,
    aligned_weights,
    cost_of,
    encoded,
    error_route_rate,
    figures,
    flips,
    index_of,
    measure,
    read_query,
    replay_of,
    rewards_of,
    routed_weights,
)
from doxa_bench.implicit import PreferenceDialogue, PreferenceQuery
from doxa_bench.metrics import mean, percentile

__all__ = ["Logged", "collect", "consistency", "coverage", "routing", "sensitivity", "strength", "view_times"]

STEPS = (0, 1, 2, 4, 8, 16, 32, 64, 128)
"""Rounds of the optimiser after which the weights are looked at."""
LAMBDAS = (0.0, LAMBDA / 2, LAMBDA, 2 * LAMBDA, 5 * LAMBDA)
"""The grid of figure 4 (0 to 0.5 around 0.1), at the scale of our loss."""
STRENGTHS = (0.0, LAMBDA / 20, LAMBDA / 4, LAMBDA / 2, LAMBDA, 2 * LAMBDA, 5 * LAMBDA)
TAUS = (0.5, 0.6, 0.7, 0.8, 0.9)
SHARES = (0.25, 0.5, 0.75, 1.0)
"""Source: table 12."""
TIMED = 200
"""Questions that the views are timed on."""

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One question of the benchmark as a replay."""

    dialogue: str
    kind: str
    subsets: tuple[str, ...]
    replay: Replay

    @property
    def implicit(self) -> bool:
        """Whether it shares no stem with its evidence."""
        return self.kind != "explicit"


def collect(
    drawn: Sequence[PreferenceDialogue], doxa: Doxa, *, tau: float | None = None, tell: Tell | None = None
) -> list[Logged]:
    """Hold dialogues and return the replay of every question, each from the state in which it is asked.

    Args:
        drawn: the dialogues.
        doxa: an engine; each call adds users of its own.
        tau: the gate of promotion; by default that of the settings.
        tell: is told how far it is.

    Cost: that of absorbing the dialogues, and one search a question.
    """
    usual, logged = doxa.parts.config, list[Logged]()
    doxa.parts.config = with_tau(usual, tau)
    try:
        for done, dialogue in enumerate(drawn):
            if tell:
                tell(f"replays {dialogue.split}" + (f", tau {tau}" if tau is not None else ""), done, len(drawn))
            logged += _hold(dialogue, _user(dialogue, tau), doxa)
    finally:
        doxa.parts.config = usual
    return logged


def with_tau(config: Config, tau: float | None) -> Config:
    """Return settings with another gate of promotion."""
    if tau is None:
        return config
    return config.model_copy(update={"recall": config.recall.model_copy(update={"tau": tau})})


def _user(dialogue: PreferenceDialogue, tau: float | None = None) -> str:
    return dialogue.user if tau is None else f"{dialogue.user}, tau {tau}"


def _hold(dialogue: PreferenceDialogue, user: str, doxa: Doxa) -> list[Logged]:
    said, logged = 0, list[Logged]()
    for query in sorted(dialogue.queries, key=lambda query: query.after):
        for turn in dialogue.turns[said : query.after]:
            role: Any = turn.role
            chat = doxa.dialogue(user=user, session=turn.session)
            chat.absorb(turn.text, speaker=turn.speaker, role=role, at=turn.at, turn_id=turn.turn_id)
        doxa.flush()
        doxa.memory(user=user).promotions()  # however long it takes, so that runs are alike
        said = query.after
        parts, read = doxa.parts, _read(query, dialogue.speaker, user, doxa)
        with parts.log.user(user) as state:
            replay = replay_of(read, state, needed=query.gold, spec=parts.recall)
        subsets = tuple(sorted(query.subsets))
        logged.append(Logged(dialogue=dialogue.user, kind=query.kind, subsets=subsets, replay=replay))
    return logged


def _read(query: PreferenceQuery, speaker: str, user: str, doxa: Doxa) -> Query:
    """Return a question as a search reads it: after the turn that it follows on, with its vector and concepts."""
    parts = doxa.parts
    lead = Turn(turn_id="", user=user, session="", speaker=speaker, role="user", text=query.lead, at=query.at)
    with parts.log.user(user) as state:
        recent = (lead,) if query.lead else ()
        read = read_query(query.text, state, recent=recent, asker=state.person() or "", at=state.now())
    vector = parts.queries.encode([read.wording])[0]
    return encoded(read, vector, encoder=parts.encoder.name, lexicon=parts.lexicon())


def consistency(start: Weights, train: Sequence[Replay], test: Sequence[Replay]) -> list[dict[str, Any]]:
    """Return how the views agree and what is found while they are fitted, with and without the consistency loss.

    Rows are `lambda`, `steps`, and the figures on the test replays. Source: figure 3.
    """
    rows = []
    for weight in (LAMBDA, 0.0):
        for steps in STEPS:
            fitted = start if not steps else aligned_weights(start, train, AlignSpec(weight=weight, steps=steps))
            rows.append({"lambda": weight, "steps": steps, **figures(fitted, test)})
    return rows


def strength(start: Weights, train: Sequence[Replay], test: Sequence[Replay]) -> list[dict[str, Any]]:
    """Return what is found and how far the views agree by the weight of the consistency loss.

    `reduction` is that of the disagreement against weight 0, `reduction_steady` the same at unit spread.
    """
    rows: list[dict[str, Any]] = []
    for weight in STRENGTHS:
        found = figures(aligned_weights(start, train, AlignSpec(weight=weight)), test)
        first = rows[0] if rows else found
        reductions = {
            "reduction": _reduction(first, found, "disagreement"),
            "reduction_steady": _reduction(first, found, "disagreement_steady"),
        }
        rows.append({"lambda": weight, **found, **reductions})
    return rows


def _reduction(before: Mapping[str, float], after: Mapping[str, float], name: str) -> float:
    return 1 - after[name] / before[name] if before[name] else 0.0


def coverage(start: Weights, train: Sequence[Replay], test: Sequence[Replay], *, seed: int = 0) -> list[dict[str, Any]]:
    """Return what is found, and how much less the views disagree, when a share of the evidence is verified.

    The share is of the training questions whose evidence is known to be right; the views are fitted to rank on all of
    them, and aligned on those. Reduction is against the same fit without alignment. Source: table 12 (a).
    """
    order = list(range(len(train)))
    Random(seed).shuffle(order)
    apart = figures(aligned_weights(start, train, AlignSpec(weight=0.0)), test)
    rows = [{"coverage": 0.0, **apart, "reduction": 0.0}]
    for share in SHARES:
        known = set(order[: round(share * len(order))])
        told = [replay if number in known else _unverified(replay) for number, replay in enumerate(train)]
        found = figures(aligned_weights(start, told, AlignSpec(weight=LAMBDA)), test)
        rows.append({"coverage": share, **found, "reduction": _reduction(apart, found, "disagreement")})
    return rows


def _unverified(replay: Replay) -> Replay:
    return replace(replay, cited=np.zeros_like(replay.cited))


def routing(start: Weights, train: Sequence[Logged], test: Sequence[Logged]) -> dict[str, Any]:
    """Return how steady the router is, where it leads, and what its plans find for what they cost.

    The router in use is measured; where none ships, one that is fitted to the training replays. Source: table 9 and
    figure 5.
    """
    weights = start
    if start.router is None:
        weights = routed_weights(start, [one.replay for one in train], PolicySpec())
    router = weights.router
    assert router is not None
    replays = [one.replay for one in test]
    rewards, routed = rewards_of(replays, weights), measure(replays, weights)
    names = list(PLANS)
    best = [names[number] for number in rewards.argmax(axis=1)]
    leads: dict[str, list[str]] = defaultdict(list)
    for one, plan in zip(test, routed.plans, strict=True):
        for group in (one.kind, *one.subsets):
            leads[group].append(PLANS[plan].lead)
    static = measure(replays, weights, plan=STATIC)
    return {
        "shipped": start.router is not None,
        "queries": len(test),
        "error_routes": error_route_rate([names.index(plan) for plan in routed.plans], rewards),
        "error_routes_static": error_route_rate([names.index(STATIC)] * len(test), rewards),
        "flips": flips(router, np.stack([replay.psi for replay in replays])),
        "leads": {
            group: {lead: mean([float(one == lead) for one in chosen]) for lead in ("graph", "dense", "lexical")}
            | {"n": len(chosen)}
            for group, chosen in sorted(leads.items())
        },
        "policies": [
            _policy("router", routed.recall, routed.ndcg, [cost_of(PLANS[plan]) for plan in routed.plans]),
            _policy("static plan", static.recall, static.ndcg, [cost_of(PLANS[STATIC])]),
            _policy("best plan in hindsight", *_hindsight(replays, weights, best), [cost_of(PLANS[p]) for p in best]),
        ],
        "plans": [
            _policy(name, found.recall, found.ndcg, [cost_of(plan)])
            for name, plan in PLANS.items()
            if not plan.expand
            for found in [measure(replays, weights, plan=name)]
        ],
    }


def _policy(name: str, recall: float, ndcg: float, costs: Sequence[float]) -> dict[str, Any]:
    return {"name": name, "recall": recall, "ndcg": ndcg, "cost": mean(costs)}


def _hindsight(replays: Sequence[Replay], weights: Weights, best: Sequence[str]) -> tuple[float, float]:
    found = [measure([replay], weights, plan=plan) for replay, plan in zip(replays, best, strict=True)]
    return mean([one.recall for one in found]), mean([one.ndcg for one in found])


def sensitivity(
    start: Weights, by_tau: Mapping[float, tuple[Sequence[Replay], Sequence[Replay]]]
) -> list[dict[str, float]]:
    """Return Recall@10 over a grid of the gate tau and the consistency weight lambda.

    Args:
        start: the weights from which each fit begins.
        by_tau: tau -> replays of the training and of the test worlds under that gate.

    Source: figure 4.
    """
    rows = []
    for tau, (train, test) in by_tau.items():
        for weight in LAMBDAS:
            found = figures(aligned_weights(start, train, AlignSpec(weight=weight)), test)
            rows.append({"tau": tau, "lambda": weight, "recall": found["recall"], "ndcg": found["ndcg"]})
    return rows


def view_times(drawn: Sequence[PreferenceDialogue], doxa: Doxa) -> dict[str, Any]:
    """Return the milliseconds that each view takes of a search, to propose and to score, and the encoder.

    The dialogues have to be held already (`collect`). Source: appendix D, "cost breakdown".
    """
    spent: dict[str, list[float]] = defaultdict(list)
    parts, plan = doxa.parts, Plan()
    asked = [(dialogue, query) for dialogue in drawn for query in dialogue.queries][:TIMED]
    for dialogue, query in asked:
        begin = time.perf_counter()
        read = _read(query, dialogue.speaker, _user(dialogue), doxa)
        spent["reading the query"].append(time.perf_counter() - begin)
        with parts.log.user(_user(dialogue)) as state:
            look = Look(query=read, state=state, index=index_of(state), spec=parts.recall)
            for view in VIEWS:
                begin = time.perf_counter()
                proposed = view.propose(look, plan.budget(view.name))
                view.scores(look, proposed.places)
                spent[view.name].append(time.perf_counter() - begin)
    return {
        name: {"mean_ms": mean(values) * 1000, "p95_ms": percentile(values, 95) * 1000}
        for name, values in spent.items()
    }
