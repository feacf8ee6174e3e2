"""The router: what a first look at the views shows -> a plan, in microseconds.

A plan says which view leads, how many candidates every view may bring, and whether one more look is allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import EARLIEST
from doxa.memory import UserState, microseconds
from doxa.recall.plan import Plan
from doxa.recall.views import Candidates, Look, tastes_of
from doxa.recall.weights import LEADS, Router, Weights

__all__ = [
    "FEATURES",
    "PLANS",
    "STATIC",
    "Glance",
    "cost_of",
    "error_route_rate",
    "WIDEST",
    "flips",
    "follow",
    "glance_of",
    "plan_of",
    "psi",
    "reward",
    "route",
]

Array = NDArray[np.float32]

BUDGET = 64
"""Candidates of all views together (matched budget, section 4.2)."""
EXPANSION = 1.5
"""How much further one expansion reaches (beta_expand, appendix B.1)."""
SIGHT = 10
"""Candidates of every view that the router sees."""
AGES_DAYS = (1.0, 7.0, 30.0, 180.0)
"""Upper ends of the recency buckets; the last one is open."""
MICROSECONDS_A_DAY = 86_400_000_000
LATELY = 32
"""Answers with feedback that tell which lead has worked lately."""
SOUGHT = ("preference", "person", "place", "time", "count")


CUES = {"profile": 8, "speaker": 8, "time": 8}
"""What the other views may propose under every plan; the pool has 64 places whatever is proposed."""
SHARES = (
    ("graph", 40, 16, 8),
    ("graph", 32, 16, 16),
    ("dense", 16, 40, 8),
    ("dense", 16, 32, 16),
    ("lexical", 16, 16, 32),
    ("lexical", 8, 16, 40),
    ("dense", 8, 16, 8),
)
"""The leading view and the candidates of graph, meaning and words: six ways to share the budget, and a frugal one."""
PLANS: Mapping[str, Plan] = {
    f"{lead}:{'/'.join(map(str, shares))}{'+' if expand else ''}": Plan(
        lead=lead, budgets={**CUES, **dict(zip(LEADS, shares, strict=True))}, expand=expand
    )
    for lead, *shares in SHARES
    for expand in (False, True)
}
"""Every plan by its name ("graph:40/16/8+"), each with and without the expansion."""
STATIC = "dense:16/32/16"
"""The plan of the static policy: what is done where there is no router."""


WIDEST = Plan(
    lead="dense",
    expand=False,
    budgets={**CUES, **{view: max(p.budgets[view] for p in PLANS.values()) for view in LEADS}},
)
"""What every view may propose before a plan is chosen; a plan takes the first of it."""


def cost_of(plan: Plan) -> float:
    """Return the candidates that a plan scores, against the full budget; an expansion that is allowed counts."""
    return sum(plan.budgets[view] for view in LEADS) / BUDGET * (EXPANSION if plan.expand else 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """What is known of a query before a plan is chosen: a first look at the views, and what costs nothing to ask."""

    looks: Mapping[str, Candidates] = field(default_factory=dict)
    """By view: `graph`, `dense`, `lexical`; a missing one found nothing."""
    age_days: float | None = None
    """Time since the best candidate of any view was said; None when there is none."""
    seeks: frozenset[str] = frozenset()
    """What kind of thing answers: "preference", "person", "place", "time", "count"."""
    terms: int = 0
    """Content words of the query; few of them risk an alias or an ellipsis."""
    speakers: int = 0
    """Speakers that it names."""
    entities: int = 0
    """Known entities that it names."""
    own: bool = False
    addressed: bool = False
    dated: bool = False
    """It names days."""
    historical: bool = False
    """It asks how things were."""
    promoted: float = 0.0
    """Weight of the query's concepts of which something is promoted for its people, 0 to 1."""
    promotions: int = 0
    """Concepts that are promoted for its people (the profile's size)."""
    turns: int = 0
    """Indexed turns of this user (how mature the memory is)."""
    worked: Mapping[str, float] = field(default_factory=dict)
    """By lead: the share of the latest answered queries of this user that it served."""


def _feature_names() -> tuple[str, ...]:
    of_view = ("best", "margin", "spread", "filled")
    return (
        *(f"{view}.{part}" for view in LEADS for part in of_view),
        *(f"shared.{one}-{other}" for one, other in _pairs()),
        *(f"age<={days:g}d" for days in AGES_DAYS),
        "age.none",
        *(f"seeks.{kind}" for kind in SOUGHT),
        *("seeks.none", "terms", "short", "speakers", "entities", "own", "addressed", "dated", "historical"),
        *("promoted", "promotions", "turns"),
        *(f"worked.{lead}" for lead in LEADS),
    )


def _pairs() -> tuple[tuple[str, str], ...]:
    return tuple((one, other) for i, one in enumerate(LEADS) for other in LEADS[i + 1 :])


FEATURES = _feature_names()


def glance_of(look: Look, proposed: Mapping[str, Candidates]) -> Glance:
    """Return what the router may know: what the views propose under `WIDEST`, the query, and a few counts.

    Cost O(1) in the size of the memory.
    """
    query, state, tastes = look.query, look.state, tastes_of(look)
    best = [candidates.places[0] for view in LEADS if len((candidates := proposed.get(view, NOTHING)).places)]
    now = microseconds(query.known_at or state.now() or EARLIEST)
    ages = [max(0.0, (now - int(state.columns.at[place])) / MICROSECONDS_A_DAY) for place in best]
    return Glance(
        looks=proposed,
        age_days=min(ages, default=None),
        seeks=query.seeks,
        terms=len(query.terms),
        speakers=len(query.speakers),
        entities=len(query.entities),
        own=query.own,
        addressed=query.addressed,
        dated=query.days is not None,
        historical=query.past,
        promoted=_promoted(query.concepts, tastes),
        promotions=len(tastes),
        turns=len(state.places),
        worked=_worked(state),
    )


def _promoted(concepts: Iterable[tuple[str, float]], tastes: Collection[str]) -> float:
    """Return how much of a query is about what its people have promoted tastes in, 0 to 1."""
    domains = {name.partition("/")[0] for name in tastes}
    return min(1.0, sum(weight for name, weight in concepts if name in tastes or name in domains))


def _worked(state: UserState) -> dict[str, float]:
    """Return by lead the share of the latest answers with feedback that its plans found."""
    told = [one for batch in state.feedback[-LATELY:] for one in batch if one.plan][-LATELY:]
    leads = [plan_of(one.plan).lead for one in told]
    return {lead: (leads.count(lead) + 1) / (len(leads) + len(LEADS)) for lead in LEADS}


def psi(glance: Glance) -> Array:
    """Return the router's features of a query, `(len(FEATURES),) float32`.

    Cost O(SIGHT) for every view; no turn is read. Source: section 3.4 (alias risk, time since the last mention,
    promoted concepts, profile, what worked lately) and 4.1 (top scores, recency buckets, kind of query).
    """
    looks = [glance.looks.get(view, NOTHING) for view in LEADS]
    values = [value for look in looks for value in _of_view(look)]
    seen = {view: set(look.places[:SIGHT].tolist()) for view, look in zip(LEADS, looks, strict=True)}
    values += [len(seen[one] & seen[other]) / SIGHT for one, other in _pairs()]
    values += _age(glance.age_days)
    values += [float(kind in glance.seeks) for kind in SOUGHT] + [float(not glance.seeks & set(SOUGHT))]
    values += [min(glance.terms, 12) / 12, float(glance.terms <= 2), min(glance.speakers, 2), min(glance.entities, 3)]
    values += [float(flag) for flag in (glance.own, glance.addressed, glance.dated, glance.historical)]
    values += [min(glance.promoted, 1.0), np.log1p(glance.promotions) / 4, np.log10(1 + glance.turns) / 5]
    values += [glance.worked.get(lead, 1 / len(LEADS)) for lead in LEADS]
    return np.array(values, dtype=np.float32)


NOTHING = Candidates.none()


def _of_view(look: Candidates) -> tuple[float, float, float, float]:
    scores = look.scores[:SIGHT]
    if not len(scores):
        return 0.0, 0.0, 0.0, 0.0
    best = float(scores[0])
    return best, best - float(scores[1] if len(scores) > 1 else 0.0), best - float(scores[-1]), len(scores) / SIGHT


def _age(days: float | None) -> list[float]:
    if days is None:
        return [0.0] * len(AGES_DAYS) + [1.0]
    first = next((number for number, most in enumerate(AGES_DAYS) if days <= most), len(AGES_DAYS))
    return [float(number == first) for number in range(len(AGES_DAYS))] + [0.0]


def route(glance: Glance, weights: Weights) -> Plan:
    """Return the plan for a query: the one with the highest value, the first of equal ones.

    Deterministic: exploration belongs to training. About 25 microseconds, whatever the memory holds.

    Source: section 3.4 and appendix A.2; the paper routes between two leads and splits 64 candidates between two
    views, here words are a third view that can lead.
    """
    if weights.router is None:
        return plan_of(STATIC)
    return plan_of(weights.router.plans[int(np.argmax(weights.router.logits(psi(glance))))])


def follow(look: Look, proposed: Mapping[str, Candidates], weights: Weights) -> tuple[Plan, dict[str, Candidates]]:
    """Return the plan for a query and what is left of the proposals under it, the leading view first.

    Args:
        look: the query at a memory.
        proposed: what every view proposes under `WIDEST`.
        weights: the weights in use.
    """
    plan = route(glance_of(look, proposed), weights)
    views = sorted(proposed, key=lambda view: view != plan.lead)
    return plan, {view: _first(proposed[view], plan.budget(view)) for view in views}


def _first(candidates: Candidates, budget: int) -> Candidates:
    return Candidates(candidates.places[:budget], candidates.scores[:budget])


def plan_of(name: str) -> Plan:
    """Return the plan of a name; the static one for a name that is not known (weights of a later version)."""
    return PLANS.get(name, PLANS[STATIC])


def flips(router: Router, features: Array, *, noise: float = 0.02, repeats: int = 20, seed: int = 0) -> float:
    """Return how often the leading view changes when every score moves a little: "flip under perturbation".

    Args:
        router: the router.
        features: `(n, len(FEATURES))`.
        noise: standard deviation that is added, in standard deviations of each feature as it was trained; flags and
            counts, which do not move by a little, stay.
        repeats: draws a query.
        seed: of the draws.

    Source: table 9 (3.7%), whose noise is not given.
    """
    random = np.random.default_rng(seed)
    moved = np.array(["." in name and name.split(".")[1] in MOVING for name in router.names], dtype=np.float32)
    leads = np.array([LEADS.index(plan_of(name).lead) for name in router.plans])
    steady = leads[router.logits(features).argmax(axis=-1)]
    changed = 0.0
    for _ in range(repeats):
        shift = random.normal(0, noise, features.shape).astype(np.float32) * router.scale * moved
        changed += float((leads[router.logits(features + shift).argmax(axis=-1)] != steady).mean())
    return changed / repeats


MOVING = ("best", "margin", "spread")


def error_route_rate(chosen: Sequence[int], rewards: NDArray[np.float64], *, slack: float = 0.01) -> float:
    """Return how often another plan would have been better by more than `slack` (table 9: 8.3%).

    Args:
        chosen: the plan of every query, by number.
        rewards: `(queries, plans)` what every plan was worth, by counterfactual replay.
        slack: differences that do not count.
    """
    rows = np.arange(len(rewards))
    return float((rewards.max(axis=1) - rewards[rows, list(chosen)] > slack).mean()) if len(rewards) else 0.0


def reward(recall: Any, cost: Any, latency: Any, *, per_cost: float = 0.005, per_latency: float = 0.005) -> Any:
    """Return equation 6: `recall - lambda_c cost - lambda_t latency`; latency as a share of the guard.

    Works on numbers and on arrays. The paper fixes its two weights "via validation" and does not print them: here a
    full budget, or a search as long as the guard allows, is worth 0.005 of recall each.
    """
    return recall - per_cost * cost - per_latency * latency
