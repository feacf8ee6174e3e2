from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from doxa.recall import Plan, RecallSpec, look_up, read_query
from doxa.recall.route import (
    FEATURES,
    PLANS,
    STATIC,
    WIDEST,
    Glance,
    cost_of,
    error_route_rate,
    flips,
    follow,
    plan_of,
    psi,
    reward,
    route,
)
from doxa.recall.views import Candidates
from doxa.recall.weights import LEADS, Router, Weights


def look(*scores: float, first: int = 0) -> Candidates:
    return Candidates(np.arange(first, first + len(scores)), np.array(scores, dtype=np.float32))


def router(seed: int = 0) -> Router:
    random = np.random.default_rng(seed)
    sizes = ((len(FEATURES), 128), (128, 128), (128, len(PLANS)))
    layers = tuple(
        (random.normal(0, 0.3, size).astype(np.float32), np.zeros(size[1], dtype=np.float32)) for size in sizes
    )
    ones = np.ones(len(FEATURES), dtype=np.float32)
    return Router(names=FEATURES, plans=tuple(PLANS), mean=0 * ones, scale=ones, layers=layers)


def test_features_say_what_the_views_showed() -> None:
    glance = Glance(
        looks={"graph": look(0.9, 0.5, 0.1), "dense": look(0.4, first=2)},
        age_days=3,
        seeks=frozenset({"preference"}),
        terms=2,
        own=True,
        promoted=0.5,
    )
    found = dict(zip(FEATURES, psi(glance).tolist(), strict=True))
    assert found["graph.best"] == pytest.approx(0.9)
    assert found["graph.margin"] == pytest.approx(0.4)
    assert found["graph.spread"] == pytest.approx(0.8)
    assert found["graph.filled"] == pytest.approx(0.3)
    assert found["shared.graph-dense"] == pytest.approx(0.1)
    assert found["lexical.best"] == 0
    assert [found[f"age<={days}d"] for days in (1, 7, 30, 180)] == [0, 1, 0, 0]
    assert found["seeks.preference"] == found["short"] == found["own"] == 1
    assert found["promoted"] == 0.5


def test_nothing_found_is_a_feature_too() -> None:
    found = dict(zip(FEATURES, psi(Glance()).tolist(), strict=True))
    assert found["age.none"] == found["seeks.none"] == 1
    assert all(np.isfinite(psi(Glance())))


def test_every_plan_keeps_to_the_budget_and_has_a_lead() -> None:
    assert len(PLANS) == 14
    for plan in PLANS.values():
        assert plan.lead in LEADS and sum(plan.budgets[view] for view in LEADS) <= 64
        assert cost_of(plan) <= 1.5


def test_without_a_router_the_static_plan_is_taken() -> None:
    assert route(Glance(), Weights()) == PLANS[STATIC] == plan_of("a plan of a later version")


def test_a_router_is_deterministic_and_takes_the_plan_of_highest_value() -> None:
    weights = replace(Weights(), router=router())
    glance = Glance(looks={"dense": look(0.9, 0.1)}, terms=5)
    best = int(np.argmax(weights.router.logits(psi(glance))))
    assert route(glance, weights) == route(glance, weights) == list(PLANS.values())[best]


def test_a_plan_keeps_the_first_of_what_the_views_propose(words) -> None:  # type: ignore[no-untyped-def]
    """The leading view comes first; no view keeps more than its budget."""
    for number in range(60):
        words.say(f"I bought apple number {number}.")
    query = read_query("Which apple did I buy?", words.state)
    found = look_up(query, words.state, spec=RecallSpec(), plan=WIDEST)
    plan, kept = follow(found.look, found.proposed, replace(Weights(), router=router()))
    assert next(iter(kept)) == plan.lead or plan.lead not in kept
    for view, candidates in kept.items():
        assert len(candidates.places) <= plan.budget(view)
        assert candidates.places.tolist() == found.proposed[view].places[: plan.budget(view)].tolist()


def test_a_search_follows_its_router_where_that_is_wanted(words) -> None:  # type: ignore[no-untyped-def]
    for number in range(60):
        words.say(f"I bought apple number {number}.")
    query = read_query("Which apple did I buy?", words.state)
    weights = replace(Weights(), router=router())
    planned = look_up(query, words.state, spec=RecallSpec(route=True), weights=weights)
    fixed = look_up(query, words.state, spec=RecallSpec(), weights=weights)
    assert planned.plan in PLANS.values()
    assert fixed.plan == Plan() and fixed.plan not in PLANS.values()


def test_small_noise_flips_few_leads_and_none_flips_none() -> None:
    features = np.random.default_rng(1).normal(size=(50, len(FEATURES))).astype(np.float32)
    assert flips(router(), features, noise=0.0) == 0.0
    assert 0.0 < flips(router(), features, noise=0.3) < 0.5


def test_error_routes_are_those_that_another_plan_beats() -> None:
    rewards = np.array([[0.5, 0.9], [0.7, 0.2], [0.505, 0.5]])
    assert error_route_rate([0, 0, 1], rewards) == pytest.approx(1 / 3)
    assert error_route_rate([1, 0, 0], rewards) == 0.0


def test_equation_6_by_hand() -> None:
    assert reward(0.8, 1.0, 0.5, per_cost=0.1, per_latency=0.2) == pytest.approx(0.6)
