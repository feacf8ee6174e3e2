"""Measures of a ranking or an extraction against what is right, and summaries of many of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np

__all__ = [
    "bootstrap_error",
    "bootstrap_interval",
    "f1",
    "f1_of_counts",
    "latency",
    "mean",
    "ndcg_at",
    "percentile",
    "ratio",
    "recall_at",
    "reciprocal_rank",
    "standard_error",
    "wilson_interval",
]

RESAMPLES = 1000


def ratio(part: float, whole: float) -> float | None:
    """Return `part / whole`; None of nothing."""
    return part / whole if whole else None


def f1(precision: float | None, recall: float | None) -> float | None:
    """Return the harmonic mean; None when there is nothing to find, 0 when nothing was extracted or right."""
    if recall is None:
        return None
    precision = precision or 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def f1_of_counts(right: float, extracted: float, found: float, required: float) -> float | None:
    """Return the F1 of counts: precision is `right / extracted`, recall `found / required`."""
    return f1(ratio(right, extracted), ratio(found, required))


def bootstrap_error(rows: Sequence[Sequence[float]], measure: Callable[..., float | None], *, seed: int = 0) -> float:
    """Return the standard error of a measure of summed counts: its deviation when the rows are drawn again.

    Args:
        rows: the counts of every item, document or dialogue; whatever was drawn as one when the data was made.
        measure: takes the column sums, in order; None counts as 0.
        seed: of the draws; the same seed gives the same number.

    Source: Efron 1979, "Bootstrap Methods: Another Look at the Jackknife", with 1,000 draws. 0 below two rows.
    Cost O(1,000 x rows).
    """
    return float(np.std(_redrawn(rows, measure, seed), ddof=1)) if len(rows) > 1 else 0.0


def bootstrap_interval(
    rows: Sequence[Sequence[float]], measure: Callable[..., float | None], *, seed: int = 0
) -> tuple[float, float] | None:
    """Return the middle 95% of a measure of summed counts when the rows are drawn again; None below two rows.

    Source: the percentile interval of Efron 1979; arguments and cost are those of `bootstrap_error`.
    """
    if len(rows) < 2:
        return None
    low, high = np.percentile(_redrawn(rows, measure, seed), [2.5, 97.5])
    return float(low), float(high)


def _redrawn(rows: Sequence[Sequence[float]], measure: Callable[..., float | None], seed: int) -> list[float]:
    counts = np.asarray(rows, dtype=np.float64)
    draws = np.random.default_rng(seed).multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=RESAMPLES)
    return [measure(*sums) or 0.0 for sums in (draws @ counts).tolist()]


def recall_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the share of the relevant ids among the first `k`, 0 to 1; an id that comes twice counts once."""
    _check(relevant, k)
    return len(set(ranking[:k]) & set(relevant)) / len(set(relevant))


def ndcg_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the normalised discounted cumulative gain of the first `k`, 0 to 1.

    Gains are 0 or 1, an id counts at its first place, and the ideal ranking holds `min(k, |relevant|)` hits at
    its top. Source: Järvelin and Kekäläinen 2002, with the discount `1 / log2(rank + 1)`.
    """
    _check(relevant, k)
    wanted, gain = set(relevant), 0.0
    for rank, item in enumerate(ranking[:k], start=1):
        if item in wanted:
            wanted.remove(item)
            gain += 1 / math.log2(rank + 1)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(set(relevant))) + 1))
    return gain / ideal


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str]) -> float:
    """Return 1 / rank of the first relevant id, or 0 when there is none; its mean is the MRR."""
    return next((1 / rank for rank, item in enumerate(ranking, start=1) if item in relevant), 0.0)


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean; 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean (sample deviation over the root of n); 0 below two values."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1) / len(values))


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value below which `percent` of the values lie, interpolated linearly; 0 of nothing."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = (len(ordered) - 1) * min(max(percent, 0.0), 100.0) / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def latency(times: Sequence[float], *, digits: int = 2) -> dict[str, float]:
    """Return the median and the 95th percentile of some times, in their unit."""
    return {"p50": round(percentile(times, 50), digits), "p95": round(percentile(times, 95), digits)}


def wilson_interval(part: int, whole: int, *, z: float = 1.96) -> tuple[float, float]:
    """Return the interval in which a share lies with 95% confidence (`z` normal deviations); (0, 1) of nothing.

    Fit for shares near 0: 0 of 120 gives (0, 0.031). Source: Wilson 1927, "Probable inference, the law of succession,
    and statistical inference".
    """
    if not whole:
        return 0.0, 1.0
    share, spread = part / whole, z * z / whole
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / whole + spread / whole / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def _check(relevant: Collection[str], k: int) -> None:
    if not relevant or k < 1:
        raise ValueError(f"expected at least one relevant id and k >= 1, got {len(relevant)} ids and k={k}")
