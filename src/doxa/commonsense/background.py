"""A conversation -> sentences of general knowledge that support what follows from it (sections III-A to III-E)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from doxa.backends.blas import on_one_core
from doxa.backends.nli import Judge
from doxa.commonsense.base import Base
from doxa.commonsense.bridge import Region, bridge
from doxa.commonsense.context import Context
from doxa.commonsense.diversify import greedy_map, kernel_of, sample_k
from doxa.commonsense.reasoner import Candidates
from doxa.commonsense.retrieval import Retrieval, Scored
from doxa.commonsense.search import HORIZON, Budget, Found, Path, search
from doxa.core.background import Background, Inference
from doxa.core.errors import DoxaError

__all__ = ["Retrieved", "Spec", "retrieve", "selected"]

CHECKED = 4
"""Sentences that the search found best for an inference, of which the NLI model says which is the most apt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """How background is searched for."""

    k: int = 5
    """How many inferences are chosen, and so how many sentences are retrieved."""
    choose: Literal["map", "sample"] = "map"
    """The most diverse relevant inferences, or an exact sample of the DPP: other ones for other seeds."""
    horizon: int = HORIZON
    bridging: Budget = Budget()  # noqa: RUF009  # frozen
    retrieval: Budget = Budget(expansions=40)  # noqa: RUF009  # frozen
    """For each inference. Its walk is an easier one: the policy and the critic nearly agree."""
    epsilon: float = -0.4
    """The least `c_bridge` of what belongs to the region."""
    reasoner: bool = True
    """Whether inferences guide the search; off only to measure what they give."""
    bridge: bool = True
    """Whether the search keeps to the region; off only to measure what it gives."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for a conversation."""

    background: tuple[Background, ...]
    """A sentence for each inference, the best first."""
    inferences: tuple[Inference, ...]
    region: Region | None
    """None where the search did not keep to one."""
    expansions: int
    """Of the retrieving searches together."""
    degraded: str = ""
    """Why something was left out; empty if nothing was."""


def selected(candidates: Candidates, spec: Spec) -> list[int]:
    """Return which candidates are chosen, the best first: relevant and unlike each other (section III-B)."""
    kernel = kernel_of([one.score for one in candidates.inferences], candidates.vectors)
    k = min(spec.k, len(kernel))
    return greedy_map(kernel, k) if spec.choose == "map" else sample_k(kernel, k, seed=spec.seed)


@on_one_core()
def retrieve(
    context: Context,
    candidates: Candidates,
    base: Base,
    spec: Spec = Spec(),  # frozen
    *,
    judge: Judge | None = None,
) -> Retrieved:
    """Search for background: choose inferences, find the region, then walk it once for each inference.

    Where nothing could be inferred, or `spec.reasoner` is off, the sentences support the conversation alone.

    Args:
        context: the conversation.
        candidates: what the reasoner infers from it, unchosen.
        base: where sentences come from.
        spec: sizes, budgets, seed.
        judge: the NLI model; without one the critic alone decides.

    Cost: `selected` in O(n k squared); one bridging search, `k` retrieving searches, `k * CHECKED` NLI pairs.
    """
    chosen = selected(candidates, spec) if spec.reasoner and candidates.inferences else []
    region, inferred = None, candidates.vectors[chosen]
    if spec.bridge:
        region = bridge(context, base, inferred, epsilon=spec.epsilon, budget=spec.bridging, seed=spec.seed)
    reached = np.arange(len(base)) if region is None else region.sentences
    scored = Scored(reached, base, context=context.vector, inferences=inferred)
    background: list[Background] = []
    expansions, degraded = 0, ""
    inferences = tuple(candidates.inferences[target] for target in chosen)
    for place in range(len(inferences) or spec.k):
        inference = inferences[place] if inferences else None
        walk = Retrieval(base, scored, place if inferences else None)
        found = search(walk, spec.retrieval, horizon=spec.horizon, seed=spec.seed)
        expansions += found.expansions
        if not found.paths:
            break
        premise = context.text if inference is None else inference.text
        best, score, failed = _chosen(found, premise, base, None if degraded else judge)
        degraded = degraded or failed
        background.append(_background(found.paths[best], score, inference, walk, base))
        scored.take(found.paths[best][-1])
    background.sort(key=lambda one: -one.score)
    return Retrieved(tuple(background), inferences, region, expansions, degraded)


def _chosen(found: Found, premise: str, base: Base, judge: Judge | None) -> tuple[int, float, str]:
    """Return which of the best paths leads to the sentence that is best and most apt, its score, and what failed."""
    ends: dict[int, int] = {}
    for place, path in enumerate(found.paths):
        ends.setdefault(path[-1], place)
        if len(ends) == CHECKED:
            break
    places = list(ends.values())
    values = [found.values[place] for place in places]
    try:
        best, score = _most_apt(premise, np.array([*ends]), values, base, judge) if judge else (0, values[0])
        return places[best], score, ""
    except DoxaError as exc:
        return places[0], values[0], f"the NLI model failed, so background was chosen without it: {exc}"


def _most_apt(
    premise: str, sentences: NDArray[np.int64], values: Sequence[float], base: Base, judge: Judge
) -> tuple[int, float]:
    """Return where the sentence is whose value and aptness are highest together, and their sum.

    Aptness is the probability that the inference entails the sentence, less that by nothing at all (a truism follows
    from whatever is said). In the paper a model of dialogue sentences (DSE) tells "the appropriateness of the selected
    knowledge"; our encoder knows what is alike, and the NLI model what goes with what.
    """
    entailed = judge([(premise, base.sentences[sentence]) for sentence in sentences.tolist()])[:, 0]
    scores = np.array(values) + entailed - base.truisms(sentences)
    best = int(scores.argmax())
    return best, float(scores[best])


def _background(path: Path, score: float, inference: Inference | None, walk: Retrieval, base: Base) -> Background:
    return Background(
        text=base.sentences[path[-1]],
        inference=inference,
        path=tuple(base.sentences[sentence] for sentence in path),
        concepts=tuple(base.concepts[walk.concept(sentence)] for sentence in path[:-1]),
        score=score,
    )
