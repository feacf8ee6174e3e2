"""A conversation -> sentences of general knowledge that support what follows from it (sections III-A to III-E)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from doxa.commonsense.base import KnowledgeBase
from doxa.commonsense.bridge import Region, bridge
from doxa.commonsense.context import Context
from doxa.commonsense.diversify import greedy_map, kernel_of, sample_k
from doxa.commonsense.reasoner import Candidates
from doxa.commonsense.retrieve import Retrieval, Scored
from doxa.commonsense.search import HORIZON, Budget, search
from doxa.core.background import Background, Inference

__all__ = ["Retrieved", "Spec", "retrieve", "selected"]



@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """How background is searched for."""

    inferences: int = 5
    """How many are chosen, and so how many paths there are."""
    choose: Literal["map", "sample"] = "map"
    """The most diverse relevant ones, or an exact sample of the DPP, other ones for other seeds."""
    horizon: int = HORIZON
    bridging: Budget = Budget()
    retrieval: Budget = Budget()
    """For each inference."""
    epsilon: float = -0.4
    """The least `c_bridge` of what belongs to the region."""
    reasoner: bool = True
    """Whether inferences guide the search; off only to measure what they give."""
    bridge: bool = True
    """Whether the search keeps to the region; off only to measure what it gives."""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """What was found for a conversation."""

    paths: tuple[tuple[Background, ...], ...]
    """One for each inference, in the order in which they were chosen."""
    inferences: tuple[Inference, ...]
    region: Region | None
    expansions: int
    """Of the retrieving searches together."""


def selected(candidates: Candidates, spec: Spec) -> list[int]:
    """Return which candidates are chosen, the best first: diverse and relevant (section III-B)."""
    scores = np.array([one.score for one in candidates.inferences])
    kernel = kernel_of(scores, candidates.vectors)
    wanted = min(spec.inferences, len(scores))
    if spec.choose == "map":
        return greedy_map(kernel, wanted)
    return sample_k(kernel, min(wanted, int(np.linalg.matrix_rank(kernel))), seed=spec.seed)


def retrieve(context: Context, candidates: Candidates, base: KnowledgeBase, spec: Spec = Spec()) -> Retrieved:  # noqa: B008
    """Search for background: choose inferences, find the region, then walk it once for each inference.

    Where nothing could be inferred, or `spec.reasoner` is off, the paths support the conversation alone.

    Cost: `selected` in O(n k squared); one bridging search, one retrieving search for each path.
    """
    chosen = selected(candidates, spec) if spec.reasoner and candidates.inferences else []
    region = None
    if spec.bridge:
        region = bridge(context, base, epsilon=spec.epsilon, budget=spec.bridging, seed=spec.seed)
    scored = Scored.read(np.arange(len(base)) if region is None else region.sentences, base, context.vector)
    targets: list[int | None] = [*chosen] if chosen else [None] * spec.inferences
    paths, before, expansions = [], [], 0
    for target in targets:
        inference = None if target is None else candidates.inferences[target]
        vector = None if target is None else candidates.vectors[target]
        walk = Retrieval(
            base, scored, context=context.vector, inference=vector, before=before, horizon=spec.horizon
        )
        found = search(walk, spec.retrieval, horizon=spec.horizon, seed=spec.seed)
        expansions += found.expansions
        if found.best:
            paths.append(_path(found.best, found.values[0], inference, walk, base))
            before += found.best
    return Retrieved(
        paths=tuple(paths),
        inferences=tuple(candidates.inferences[target] for target in chosen),
        region=region,
        expansions=expansions,
    )


def _path(
    path: tuple[int, ...], value: float, inference: Inference | None, walk: Retrieval, base: KnowledgeBase
) -> tuple[Background, ...]:
    """Return a path as sentences, each with how it was come to."""
    texts = tuple(base.sentences[sentence] for sentence in path)
    concepts = tuple(base.concepts[walk.concept(sentence)] for sentence in path[:-1])
    return tuple(
        Background(
            text=text, inference=inference, path=texts[: place + 1], concepts=concepts[:place], score=value
        )
        for place, text in enumerate(texts)
    )
