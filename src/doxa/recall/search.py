"""Search: every view proposes, every view scores, one ranking, and why each piece of evidence is there."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from time import perf_counter

import numpy as np

from doxa.core.values import Evidence
from doxa.memory import UserState
from doxa.recall.doubt import doubt, unshared
from doxa.recall.index import index_of
from doxa.recall.plan import Plan
from doxa.recall.queries.advice import with_advice
from doxa.recall.queries.query import Query
from doxa.recall.route import WIDEST, follow
from doxa.recall.score import unified, with_sessions
from doxa.recall.spec import RecallSpec
from doxa.recall.views import VIEWS, Candidates, Look, Places, Scores, Widening, around
from doxa.recall.watch import Watch
from doxa.recall.weights import Weights, shipped

__all__ = ["Found", "evidence_of", "look_up", "recall"]

OWN = {"lexical", "dense"}
"""Views that also look at the turns around a place."""
PRIORS = {"profile"}
"""Views that know nothing of the query: they speak for no place."""
SAFE = {"lexical", "dense"}
"""Views whose cost hardly depends on the query and the memory."""
BESIDE = 8
"""Places of each of those views whose neighbours are looked at."""
SEATS = {"dense": 0.5, "lexical": 0.35}
"""Views whose first place is always among the evidence, from which score on: a third of the query's words, or a cosine
at which a sentence says much the same."""
SEATS_FROM = 5
"""From this many pieces of evidence on that is so."""
EXPANSION = 16
"""Places that one more look may add."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one search looked at: `places[i]` has `scores[name][i]` in every view and `total[i]` in all."""

    look: Look
    plan: Plan
    weights: Weights
    proposed: Mapping[str, Candidates]
    """View -> what it proposed, best first; the leading view first."""
    places: Places
    scores: Mapping[str, Scores]
    """Exact scores of all places, also of those that the view did not propose."""
    total: Scores
    doubt: str = ""
    """Why the first ranking was doubtful; empty when it was not."""
    expanded: str = ""
    """The view that took one more look because of that; empty when none did."""
    skipped: tuple[str, ...] = ()
    """What was left out because time was short."""

    @property
    def note(self) -> dict[str, object]:
        """What a trace tells of the search."""
        return {
            "lead": self.plan.lead,
            "candidates": len(self.places),
            "disagreement": round(unshared(self.scores), 3),
            **({"expanded": f"{self.expanded}: {self.doubt}"} if self.expanded else {}),
            **({"skipped": ", ".join(self.skipped)} if self.skipped else {}),
        }


def recall(
    query: Query,
    state: UserState,
    *,
    spec: RecallSpec = RecallSpec(),  # noqa: B008  # frozen
    weights: Weights | None = None,
) -> list[Evidence]:
    """Return the turns that bear on a query, best first.

    Withdrawn turns, replies that Doxa wrote, and turns that were received and not yet processed are never found.

    Args:
        query: what is asked (`read_query`), with its vector; without one, words alone are searched.
        state: the memory of one user.
        spec: how to search.
        weights: what every score counts; by default those that come with Doxa.

    Returns:
        At most `spec.top_k` pieces of evidence with a score above 0. Deterministic; of two equal ones the newer first.

    No call to a model. At most `spec.pool` places (or `top_k`, if that is more) are scored in full.
    """
    return evidence_of(look_up(query, state, spec=spec, weights=weights))


def look_up(
    query: Query,
    state: UserState,
    *,
    spec: RecallSpec,
    plan: Plan | None = None,
    weights: Weights | None = None,
    clock: Callable[[], float] = perf_counter,
) -> Found:
    """Return all that `recall` looks at, before the best of it becomes evidence: for learning, and to explain."""
    query = with_advice(query, encoder=state.encoder)
    look = Look(query=query, state=state, index=index_of(state), spec=spec)
    watch = Watch(spec.deadline_ms, clock)
    if spec.variant or weights is None:
        weights = shipped(spec.variant)
    if plan is None and spec.route and weights.router is not None:
        plan, proposed = follow(look, _proposed(look, WIDEST, watch), weights)
    else:
        plan = plan or Plan()
        proposed = _proposed(look, plan, watch)
    places = _union(list(proposed.values()), max(spec.pool, spec.top_k))
    places = np.union1d(places, _beside(look, proposed))
    found = _scored(look, plan, weights, proposed, places)
    doubtful = doubt(found.scores, found.total) if plan.expand and spec.expand else ""
    if doubtful and watch.allows("expansion"):
        found = _expanded(found)
    return replace(found, doubt=doubtful, skipped=tuple(watch.skipped))


def _proposed(look: Look, plan: Plan, watch: Watch) -> dict[str, Candidates]:
    """Return what every view proposes, the leading view first; when time runs out, of the views so far.

    Words and meaning follow the leading view, since they take the same time whatever is asked.
    """
    views = sorted(VIEWS, key=lambda view: (view.name != plan.lead, view.name not in SAFE))
    wide = max(1.0, look.spec.top_k / look.spec.pool)
    return {
        view.name: view.propose(look, int(plan.budget(view.name) * wide))
        for number, view in enumerate(views)
        if not number or watch.allows(view.name)
    }


def _scored(look: Look, plan: Plan, weights: Weights, proposed: Mapping[str, Candidates], places: Places) -> Found:
    """Return places with the exact scores of every view that was asked."""
    scores = with_sessions(_scores(look, places, proposed), look, places)
    total = unified(scores, weights, plan.lead)
    return Found(look=look, plan=plan, weights=weights, proposed=proposed, places=places, scores=scores, total=total)


def _more(found: Found, places: Places) -> Found:
    """Return what is found with some more places; those that are known already count once."""
    new = np.setdiff1d(places, found.places)
    added = _scores(found.look, new, found.proposed)
    places = np.concatenate([found.places, new])
    joined = {name: np.concatenate([found.scores[name], scores]) for name, scores in added.items()}
    scores = with_sessions(joined, found.look, places)
    return replace(found, places=places, scores=scores, total=unified(scores, found.weights, found.plan.lead))


def _beside(look: Look, proposed: Mapping[str, Candidates]) -> Places:
    """Return the turns around the best by words and by meaning: a question and its answer are one piece of evidence."""
    best = [proposed[name].places[:BESIDE] for name in sorted(SAFE) if name in proposed]
    near = np.unique(around(look, np.concatenate(best))[0])
    places = np.compress(near >= 0, near).astype(np.intp)
    return np.compress(look.admits(places), places)


def _expanded(found: Found) -> Found:
    """Return what is found with one more look by the leading view, or by meaning where that one has no such look."""
    widening = {view.name: view for view in VIEWS if isinstance(view, Widening) and view.name in found.proposed}
    name = found.plan.lead if found.plan.lead in widening else next(iter(widening), "")
    if not name:
        return found
    best = Candidates.best(found.places, found.total, found.look.spec.top_k).places
    return replace(_more(found, widening[name].widen(found.look, best, EXPANSION).places), expanded=name)


def _union(proposed: Sequence[Candidates], size: int) -> Places:
    """Return the places that are proposed, each once, turn about by rank, and no more than `size`."""
    ranks = zip_longest(*(candidates.places.tolist() for candidates in proposed))
    places = dict.fromkeys(place for rank in ranks for place in rank if place is not None)
    return np.fromiter(list(places)[:size], dtype=np.intp)


def _scores(look: Look, places: Places, asked: Container[str]) -> dict[str, Scores]:
    return {name: scores for view in VIEWS if view.name in asked for name, scores in view.scores(look, places).items()}


def evidence_of(found: Found) -> list[Evidence]:
    """Return the best of what was found as evidence."""
    look, scores = found.look, found.scores
    ranked = _ranked(found)
    rows = {place: row for row, place in enumerate(found.places.tolist())}
    nearest = _nearest(found, ranked.places)
    evidence = []
    for place, score, near in zip(ranked.places.tolist(), ranked.scores.tolist(), nearest, strict=True):
        if score <= 0:
            break
        turn = look.state.turns[look.state.places[place]]
        own = {name: float(values[rows[place]]) for name, values in scores.items()}
        evidence.append(
            Evidence(
                text=f"{turn.speaker}: {turn.text}",
                turn_ids=(turn.turn_id,),
                score=score,
                scores=own,
                path=_path(look, place, own, near),
                fact_ids=look.index.facts.held(turn.turn_id, look.state),
            )
        )
    return evidence


def _ranked(found: Found) -> Candidates:
    """Return the best places; a sure first by words, or by meaning, is among them, at the end if need be.

    What only one view knows (a number, a name that is said once; a paraphrase) is so never lost among many that are
    middling in all views.
    """
    size = found.look.spec.top_k
    ranked = Candidates.best(found.places, found.total, size)
    if not len(ranked.places) or size < SEATS_FROM:
        return ranked
    first = {name: int(np.argmax(found.scores[name])) for name in SEATS if name in found.scores}
    sure = [row for name, row in first.items() if found.scores[name][row] >= SEATS[name]]
    missing = np.setdiff1d(found.places[sure], ranked.places)
    if not len(missing):
        return ranked
    kept = np.isin(found.places, [*ranked.places[: size - len(missing)].tolist(), *missing])
    return Candidates.best(found.places[kept], found.total[kept], size)


def _path(look: Look, place: int, scores: Mapping[str, float], near: int | None) -> tuple[str, ...]:
    """Return the views that speak for a place; and the turn beside it when that does more than it does."""
    speaking = (view for view in VIEWS if scores.get(view.name, 0.0) > 0 and view.name not in PRIORS)
    path = [view.path(look, place) or view.name for view in speaking]
    weights = look.spec.weights
    own = sum(weights[name] * scores.get(name, 0.0) for name in OWN)
    gained = sum(weights[f"{name}_near"] * scores.get(f"{name}_near", 0.0) for name in OWN)
    if near is not None and gained > 0 and gained > own / 2:
        path.append(_beside_what(look, place, near))
    return tuple(path)


def _beside_what(look: Look, place: int, near: int) -> str:
    """Return what a turn is to the one beside it: "answer to X" where that is another's question right before it."""
    said, other = (look.state.turns[look.state.places[row]] for row in (place, near))
    asked = look.state.columns.before[place] == near and other.text.rstrip().endswith("?")
    return f"{'answer to' if asked and other.speaker != said.speaker else 'neighbour of'} {other.turn_id}"


def _nearest(found: Found, places: Places) -> list[int | None]:
    """Return for every place the one of the turns around it that bears most on the query, of those that were found."""
    totals = dict(zip(found.places.tolist(), found.total.tolist(), strict=True))
    near = (totals.keys() & set(row) for row in around(found.look, places)[0].tolist())
    return [max(known, key=lambda place: (totals[place], place), default=None) for known in near]
