"""Alignment of the graph and the dense view on evidence that was cited and verified (section 3.3, appendix A.1).

Both views are linear in their features, so that everything here is a few hundred numbers, one smooth function and its
gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from doxa.core.errors import MissingDependencyError

__all__ = ["LAMBDA", "AlignSpec", "Aligned", "Batch", "Query", "align", "batch_of", "disagreement", "loss"]

Array = NDArray[np.float64]
TINY = 1e-12
TOP = 10
LAMBDA = 2.0
"""Weight of the consistency loss where the views are aligned: in the weights `ALIGNED`, in tables and in figures.

Appendix B.1 prints 0.1 for a sum over whole distributions; over two or three cells the same pull takes twenty times
that.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Query:
    """The candidates of one query with everything that is scored, and which of them were needed."""

    graph: NDArray[np.float32]
    """Features phi_g, `(k, fg)`."""
    dense: NDArray[np.float32]
    """Features phi_d, `(k, fd)`."""
    rest: NDArray[np.float32]
    """Scores of the other views (profile, words, cues), `(k, m)`, as they are."""
    needed: NDArray[np.bool_]
    """What an answer had to rest on, `(k,)`."""
    cited: NDArray[np.bool_]
    """What an answer did rest on, and was verified, `(k,)`: where the views are aligned."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Queries with their candidates padded to the longest list."""

    graph: Array
    dense: Array
    rest: Array
    needed: Array
    """Shares of the needed evidence, `(n, k)`; rows sum to 1, or to 0 where none is among the candidates."""
    cited: NDArray[np.bool_]
    there: NDArray[np.bool_]
    """False where a row is padding, `(n, k)`."""

    def __len__(self) -> int:
        return len(self.there)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignSpec:
    """How the views are fitted."""

    weight: float = 0.0
    """Lambda of the consistency loss; 0 fits the views without it, which finds more (`RecallSpec.variant`)."""
    cells: Literal["cited", "all"] = "cited"
    """Where the two distributions are compared; see `loss`."""
    decay: float = 1e-3
    """Pull of every weight towards where it began."""
    steps: int = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Aligned:
    """W_g, W_d and the weight of every view in the unified score."""

    graph: Array
    dense: Array
    mix: Array
    """`(2 + m,)`: graph, dense, then the others."""

    def flat(self) -> Array:
        """Return all weights in one row."""
        return np.concatenate([self.graph, self.dense, self.mix])

    def like(self, flat: Array) -> Aligned:
        """Return the weights of a row of `flat`."""
        first, second = len(self.graph), len(self.graph) + len(self.dense)
        return replace(self, graph=flat[:first], dense=flat[first:second], mix=flat[second:])

    def scores(self, batch: Batch) -> tuple[Array, Array, Array]:
        """Return the graph, dense and unified score of every candidate, each `(n, k)` (appendix A.1, equation 1)."""
        graph, dense = batch.graph @ self.graph, batch.dense @ self.dense
        unified = self.mix[0] * graph + self.mix[1] * dense + batch.rest @ self.mix[2:]
        return graph, dense, unified


def batch_of(queries: Sequence[Query]) -> Batch:
    """Return queries as arrays, padded. Cost O(queries x longest list x features)."""
    longest = max((len(query.needed) for query in queries), default=0)
    there = np.array([np.arange(longest) < len(query.needed) for query in queries], dtype=np.bool_)
    needed = _padded([query.needed for query in queries], longest)
    return Batch(
        graph=_padded([query.graph for query in queries], longest),
        dense=_padded([query.dense for query in queries], longest),
        rest=_padded([query.rest for query in queries], longest),
        needed=needed / np.maximum(needed.sum(axis=-1, keepdims=True), 1),
        cited=_padded([query.cited for query in queries], longest) > 0,
        there=there.reshape(len(queries), longest),
    )


def _padded(arrays: Sequence[NDArray[np.float32] | NDArray[np.bool_]], longest: int) -> Array:
    tail = arrays[0].shape[1:] if arrays else ()
    full = np.zeros((len(arrays), longest, *tail))
    for row, array in zip(full, arrays, strict=True):
        row[: len(array)] = array
    return full


def align(batch: Batch, start: Aligned, spec: AlignSpec = AlignSpec()) -> Aligned:
    """Return the weights, all 0 or more, that minimise the ranking loss plus lambda times the consistency loss.

    No score of a view ever counts against a candidate. L-BFGS from `start`, deterministic; O(steps n k features), a few
    seconds for 500 queries of 64 candidates.

    Raises:
        MissingDependencyError: SciPy is not installed.
    """
    try:
        from scipy.optimize import minimize
    except ImportError as exc:
        raise MissingDependencyError("scipy", extra="learn", purpose="Learning from feedback") from exc

    def objective(flat: Array) -> tuple[float, Array]:
        value, gradient = loss(start.like(flat), batch, spec)
        away = flat - origin
        return value + spec.decay * float(away @ away), gradient + 2 * spec.decay * away

    origin = np.maximum(start.flat(), 0)
    found = minimize(
        objective,
        origin,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(origin),
        options={"maxiter": spec.steps},
    )
    return start.like(np.asarray(found.x, dtype=np.float64))


def loss(weights: Aligned, batch: Batch, spec: AlignSpec) -> tuple[float, Array]:
    """Return the mean loss of a query and its gradient by `weights.flat()`.

    Listwise softmax cross-entropy of the unified score and of each view by itself, plus `spec.weight` times the
    consistency loss. Each view has to rank by itself, so that agreement cannot be bought by flat scores: a view that
    says nothing agrees with everything.

    Consistency. Equations 4 and 5 sum the divergence of the two whole distributions over the cited evidence; the term
    does not depend on the evidence it is summed over, so as printed every candidate of a query is aligned, as often as
    the query has citations. Section 3.3 says the opposite: the distributions are formed over the cited items, and the
    rest of the pool is left untouched. Taken to the letter, that is no constraint where one item is cited (a
    distribution over one item is always 1), which is the usual case. Here the softmax is that of equations 2 and 3,
    over all candidates, and the divergence is taken between the distributions coarsened to the cited items and one cell
    for all others: by the data-processing inequality never more than equation 4's, zero if and only if both views give
    every cited item the same probability, and blind to how the rest is ordered. `cells="all"` is the printed form.
    """
    graph, dense, unified = weights.scores(batch)
    shares = [_shares(scores, batch.there) for scores in (graph, dense, unified)]
    has_needed = batch.needed.sum(axis=-1, keepdims=True)
    value, slopes = 0.0, []
    for share in shares:
        value -= float((batch.needed * np.log(share + TINY)).sum())
        slopes.append(share * has_needed - batch.needed)
    if spec.weight:
        aligned, by_graph, by_dense = _consistency(shares[0], shares[1], batch, spec.cells)
        value += spec.weight * aligned
        slopes[0] = slopes[0] + spec.weight * by_graph
        slopes[1] = slopes[1] + spec.weight * by_dense
    by_graph, by_dense = slopes[0] + weights.mix[0] * slopes[2], slopes[1] + weights.mix[1] * slopes[2]
    gradient = np.concatenate(
        [
            np.einsum("nk,nkf->f", by_graph, batch.graph),
            np.einsum("nk,nkf->f", by_dense, batch.dense),
            [(slopes[2] * graph).sum(), (slopes[2] * dense).sum()],
            np.einsum("nk,nkf->f", slopes[2], batch.rest),
        ]
    )
    count = max(len(batch), 1)
    return value / count, gradient / count


def _shares(scores: Array, there: NDArray[np.bool_]) -> Array:
    raised = np.exp(np.where(there, scores - np.where(there, scores, -np.inf).max(axis=-1, keepdims=True), -np.inf))
    shares: Array = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def _consistency(graph: Array, dense: Array, batch: Batch, cells: str) -> tuple[float, Array, Array]:
    """Return the symmetric divergence summed over the queries, and its gradient by both views' scores."""
    times = batch.cited.sum(axis=-1, keepdims=True)
    own = batch.cited if cells == "cited" else batch.there & (times > 0)
    times = np.minimum(times, 1) if cells == "cited" else times
    (p, p_rest), (q, q_rest) = _coarse(graph, own), _coarse(dense, own)
    value = ((p - q) * np.log(p / q) * own).sum(axis=-1, keepdims=True)
    value += (p_rest - q_rest) * np.log(p_rest / q_rest)
    by_graph = _through(graph, np.where(own, _slope(p, q), _slope(p_rest, q_rest)), batch.there)
    by_dense = _through(dense, np.where(own, _slope(q, p), _slope(q_rest, p_rest)), batch.there)
    return float((times * value).sum()), times * by_graph, times * by_dense


def _coarse(shares: Array, own: NDArray[np.bool_]) -> tuple[Array, Array]:
    rest = np.where(own, 0, shares).sum(axis=-1, keepdims=True)
    return np.maximum(shares, TINY), np.maximum(rest, TINY)


def _slope(p: Array, q: Array) -> Array:
    slope: Array = np.log(p / q) + (p - q) / p
    return slope


def _through(shares: Array, slopes: Array, there: NDArray[np.bool_]) -> Array:
    """Return the gradient by the scores for one by the probabilities (the derivative of softmax)."""
    slopes = np.where(there, slopes, 0)
    through: Array = shares * (slopes - (shares * slopes).sum(axis=-1, keepdims=True))
    return through


def disagreement(
    graph: Array, dense: Array, unified: Array, there: NDArray[np.bool_] | None = None, *, steady: bool = False
) -> float:
    """Return the mean symmetric divergence of the two views over the ten best candidates (appendix B.5).

    Args:
        graph: `(n, k)` scores of the graph view.
        dense: `(n, k)` scores of the dense view.
        unified: `(n, k)` scores by which the ten best are taken.
        there: `(n, k)` False where a row is padding.
        steady: bring every list of scores to unit spread first. Flat scores then agree no more than sharp ones do, so
            this falls only when the views order and space the candidates more alike.
    """
    there = np.ones(graph.shape, dtype=np.bool_) if there is None else there
    top = np.argsort(np.where(there, -unified, np.inf), axis=-1, kind="stable")[:, :TOP]
    known = np.take_along_axis(there, top, axis=-1)
    p, q = (_shares(_spread(np.take_along_axis(view, top, axis=-1), known, steady), known) for view in (graph, dense))
    return float(((p - q) * np.log((p + TINY) / (q + TINY))).sum(axis=-1).mean()) if len(graph) else 0.0


def _spread(scores: Array, known: NDArray[np.bool_], steady: bool) -> Array:
    if not steady:
        return scores
    count = np.maximum(known.sum(axis=-1, keepdims=True), 1)
    centred = np.where(known, scores - np.where(known, scores, 0).sum(axis=-1, keepdims=True) / count, 0)
    width = np.sqrt((centred**2).sum(axis=-1, keepdims=True) / count)
    spread: Array = centred / np.where(width > TINY, width, 1)
    return spread
