from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from doxa.recall import RecallSpec, Weights, look_up, read_query
from doxa.recall.learning.align import AlignSpec
from doxa.recall.learning.learn import LearnSpec, aligned_weights, figures, refresh
from doxa.recall.learning.policy import PolicySpec
from doxa.recall.learning.replays import Replay, measure, play, pool, replay_of, rewards_of
from doxa.recall.route import PLANS, STATIC, Glance, cost_of, error_route_rate, plan_of, psi
from doxa.recall.weights import LEADS

K = 40


def world(count: int, seed: int, *, informative: dict[str, str] | None = None) -> list[Replay]:
    """Return queries of two kinds: preferences are found by the graph, the others by meaning.

    `informative` says which view is right for which kind, so that it can be turned round.
    """
    right = informative or {"preference": "graph", "": "dense"}
    random, found = np.random.default_rng(seed), []
    for _ in range(count):
        kind = ["preference", ""][int(random.integers(2))]
        needed = np.zeros(K, dtype=np.bool_)
        needed[random.choice(K, 2, replace=False)] = True
        scores = {}
        for view in LEADS:
            good = 2.5 if right[kind] == view else 0.3
            scores[view] = (1 / (1 + np.exp(1 - random.normal(size=K) - good * needed))).astype(np.float32)
        ranks = {view: np.argsort(np.argsort(-scores[view])).astype(np.int32) for view in LEADS}
        features = psi(Glance(seeks=frozenset({kind} - {""}), terms=5))
        found.append(Replay(psi=features, ranks=ranks, scores=scores, needed=needed, cited=needed, total=2))
    return found


def leading(weights: Weights) -> Weights:
    """Return weights whose rows differ: the leading view counts three times."""
    mix = weights.mix.copy()
    for number, lead in enumerate(LEADS):
        mix[number, weights.views.index(lead)] *= 3
    return replace(weights, mix=mix)


FAST = LearnSpec(policy=PolicySpec(epochs=15), align=AlignSpec(steps=50))


def test_learning_finds_more_on_queries_that_it_has_not_seen() -> None:
    start = leading(Weights())
    new, lesson = refresh(start, world(200, 0), FAST)
    assert lesson.accepted and (lesson.trained, lesson.shadow) == (150, 50)
    assert lesson.after["recall"] >= lesson.before["recall"]
    later = world(200, 1)
    assert measure(later, new).recall > measure(later, start).recall + 0.03


def test_a_router_is_better_than_any_single_plan_where_plans_differ() -> None:
    new, _ = refresh(leading(Weights()), world(300, 2), FAST)
    later = world(200, 3)
    static = max(measure(later, new, plan=name).recall for name in PLANS)
    assert measure(later, new).recall > static + 0.02


def test_weights_that_find_less_on_the_latest_queries_are_refused() -> None:
    """The user changed: what was right before is wrong since. The weights in use stay, the very same value."""
    known, _ = refresh(leading(Weights()), world(200, 4), FAST)
    before = world(150, 5, informative={"preference": "lexical", "": "graph"})
    since = world(50, 6)
    kept, lesson = refresh(known, [*before, *since], replace(FAST, align=AlignSpec(steps=50, decay=0.0)))
    assert kept is known
    assert not lesson.accepted and lesson.reason.startswith("The weights in use stay: the new ones")
    assert lesson.after["recall"] + lesson.after["ndcg"] < lesson.before["recall"] + lesson.before["ndcg"]


def test_weights_that_cost_more_for_nothing_are_refused() -> None:
    _, lesson = refresh(leading(Weights()), world(100, 7), replace(FAST, slower=0.01))
    assert not lesson.accepted and "look at more candidates" in lesson.reason


def test_a_handful_of_answers_teaches_nothing() -> None:
    weights = Weights()
    kept, lesson = refresh(weights, world(5, 8))
    assert kept is weights and "too few" in lesson.reason


def test_the_latest_queries_are_not_learned_from() -> None:
    """Whatever the shadow set says is needed, the weights that are tried are the same."""
    some = world(100, 9)
    other = [*some[:75], *world(25, 10)]
    one, two = (aligned_weights(Weights(), part[:75], AlignSpec()) for part in (some, other))
    assert one.checksum() == two.checksum()
    assert refresh(Weights(), some, FAST)[1].after != refresh(Weights(), other, FAST)[1].after


def test_the_spread_of_the_score_stays_so_that_thresholds_hold() -> None:
    replays, start = world(50, 11), leading(Weights())
    new = aligned_weights(start, replays, AlignSpec())
    spreads = [
        np.mean([weights.unified(replay.scores, "dense").std() for replay in replays]) for weights in (start, new)
    ]
    assert spreads[1] == pytest.approx(spreads[0], rel=0.5)


def test_figures_hold_what_drift_is_watched_by() -> None:
    found = figures(Weights(), world(20, 12))
    assert set(found) == {"recall", "ndcg", "cost", "disagreement", "disagreement_steady", "error_routes"}
    assert 0 <= found["recall"] <= 1 and found["disagreement"] > 0


def test_rewards_are_equation_6_of_every_plan() -> None:
    replays, weights = world(3, 13), Weights()
    rewards = rewards_of(replays, weights)
    name = list(PLANS)[2]
    found = sum(play(replays[0], PLANS[name], weights)) / 2
    seen = pool(replays[0], PLANS[name]).sum() / 64
    assert rewards[0, 2] == pytest.approx(found - 0.005 * cost_of(PLANS[name]) - 0.005 * seen)
    assert error_route_rate(list(rewards.argmax(axis=1)), rewards) == 0


def test_a_plan_sees_what_its_budgets_allow() -> None:
    replay = world(1, 14)[0]
    plan = plan_of("dense:8/16/8")
    seen = pool(replay, plan)
    for view in LEADS:
        assert seen[replay.ranks[view] < plan.budgets[view]].all()
    assert seen.sum() <= 32


def test_a_replay_ranks_as_the_search_does(meaning) -> None:  # type: ignore[no-untyped-def]
    """The counterfactual of the static plan is the search with that plan, place by place."""
    for number in range(120):
        meaning.say(f"Turn {number} is about {['boats', 'bread', 'maps'][number % 3]} and {number * 7}.")
    needed = meaning.say("I love to sail on the lake.")
    query = read_query("Should I buy a boat?", meaning.state)
    query = replace(query, vector=meaning.encode(query.wording))
    replay = replay_of(query, meaning.state, needed=[needed])
    assert replay.total == 1 and replay.needed.sum() <= 1
    plan = PLANS[STATIC]
    found = look_up(query, meaning.state, spec=RecallSpec(expand=False), plan=plan)
    proposed = {place for candidates in found.proposed.values() for place in candidates.places.tolist()}
    ranked = np.any([ranks >= 0 for ranks in replay.ranks.values()], axis=0)
    assert (pool(replay, plan) & ranked).sum() == min(64, len(proposed))
