"""CaRB: open information extraction scored by words, over all thresholds of confidence.

Source: Bhardwaj, Aggarwal and Mausam 2019, "CaRB: A Crowdsourced Benchmark for Open IE", sections 4.2 and 4.3, with
the default matching function of their published scorer (binary lenient tuple match):

- the arguments after the first are joined, so that every tuple is `(arg1, relation, rest)`;
- of a gold and an extracted tuple, the words that the parts share, counted with their multiplicity, over the words of
  the extracted tuple (precision) and of the gold one (recall); both are 0 when the relations share no word ("be"
  stands for every form of it) or an argument is missing;
- where the gold relation is one of saying, the arguments may be swapped;
- precision pairs tuples one to one, best first; recall takes the best extraction of every gold tuple;
- at each threshold the sums over sentences give a point; F1 is that of the best point, AUC the area under the points
  and (recall 0, precision 1), by trapezoids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from doxa.core.errors import FormatError
from doxa_bench.extraction import Extraction
from doxa_bench.metrics import f1

__all__ = ["CarbScores", "read_carb", "score_carb", "tuple_match"]

FORMS_OF_BE = frozenset("be is am are was were been being".split())
SAYING = ("said", "told", "added", "adds", "says")
Pair = tuple[float, float]
"""Precision and recall of one extracted tuple against one gold tuple."""
Sentences = Sequence[tuple[str, Sequence[Extraction]]]
"""Tokenised sentences with their gold tuples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarbScores:
    """The best point and the area under the curve; 0 where nothing was extracted."""

    precision: float
    recall: float
    f1: float
    auc: float


def read_carb(path: Path) -> list[tuple[str, list[Extraction]]]:
    """Return the sentences of a gold file (`sentence TAB relation TAB arg1 TAB ...`) with their tuples, in order.

    Raises:
        FormatError: a line is no such row.
    """
    gold: dict[str, list[Extraction]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        sentence, *parts = (cell.strip() for cell in line.strip().split("\t"))
        if len(parts) < 2:
            raise FormatError(f"{path}, line {number}: expected sentence, relation and arguments parted by tabs.")
        gold.setdefault(sentence, []).append(Extraction(relation=parts[0], arg1=parts[1], args=tuple(parts[2:])))
    return list(gold.items())


def score_carb(gold: Sentences, found: Sequence[Sequence[Extraction]]) -> CarbScores:
    """Return the scores of what was found in every sentence of `gold`.

    Cost: for each sentence and each of its own confidences, gold tuples x extractions.
    """
    thresholds = sorted({extraction.confidence for extractions in found for extraction in extractions})
    if not thresholds:
        return CarbScores(precision=0.0, recall=0.0, f1=0.0, auc=0.0)
    sums = [_Point() for _ in thresholds]
    places = {confidence: place for place, confidence in enumerate(thresholds)}
    for (_, wanted), extractions in zip(gold, found, strict=True):
        pairs = [[tuple_match(one, extraction) for extraction in extractions] for one in wanted]
        start = 0
        for confidence in sorted({extraction.confidence for extraction in extractions}):
            kept = [k for k, extraction in enumerate(extractions) if extraction.confidence >= confidence]
            right, covered = _paired_precision(pairs, kept), _best_recall(pairs, kept)
            for point in sums[start : places[confidence] + 1]:
                point.add(right, len(kept), covered)
            start = places[confidence] + 1
    required = sum(len(wanted) for _, wanted in gold)
    return _summary([(point.precision, point.covered / required if required else 0.0) for point in sums])


@dataclass(slots=True)
class _Point:
    """Sums over the sentences at one threshold."""

    right: float = 0.0
    extracted: int = 0
    covered: float = 0.0

    def add(self, right: float, extracted: int, covered: float) -> None:
        self.right, self.extracted, self.covered = (
            self.right + right,
            self.extracted + extracted,
            self.covered + covered,
        )

    @property
    def precision(self) -> float:
        return self.right / self.extracted if self.extracted else 1.0


def _summary(points: Sequence[Pair]) -> CarbScores:
    """Return the best point and the area; `points` are by rising threshold, so their recall falls."""
    best = max(points, key=lambda point: f1(*point) or 0.0)
    curve = [*points, (1.0, 0.0)]
    area = sum((left[1] - right[1]) * (left[0] + right[0]) / 2 for left, right in pairwise(curve))
    return CarbScores(precision=best[0], recall=best[1], f1=f1(*best) or 0.0, auc=area)


def _paired_precision(pairs: Sequence[Sequence[Pair]], kept: Sequence[int]) -> float:
    """Return the sum of the precisions of a greedy one-to-one pairing, best pair first."""
    order = sorted((-pairs[row][column][0], row, column) for row in range(len(pairs)) for column in kept)
    rows, columns, total = set(), set(), 0.0
    for negative, row, column in order:
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            total -= negative
    return total


def _best_recall(pairs: Sequence[Sequence[Pair]], kept: Sequence[int]) -> float:
    return sum(max((row[column][1] for column in kept), default=0.0) for row in pairs)


def tuple_match(gold: Extraction, found: Extraction) -> Pair:
    """Return the precision and recall of an extracted tuple against a gold one."""
    wanted, ours = _binary(gold), _binary(found)
    straight = _match(gold.relation, wanted, found.relation, ours)
    if len(ours) < 2 or not any(verb in gold.relation for verb in SAYING):
        return straight
    return max(straight, _match(gold.relation, wanted, found.relation, ours[::-1]))


def _binary(one: Extraction) -> list[str]:
    return [one.arg1, *([" ".join(one.args)] if one.args else [])]


def _match(relation: str, wanted: Sequence[str], our_relation: str, ours: Sequence[str]) -> Pair:
    shared = _shared(relation, our_relation)
    if "be" in (_left_over(relation, our_relation)) and FORMS_OF_BE & set(relation.split()):
        shared += 1
    if not shared or len(ours) < len(wanted):
        return 0.0, 0.0
    matching, gold_words, our_words = shared, len(relation.split()), len(our_relation.split())
    for theirs, mine in zip(wanted, ours, strict=False):
        matching += _shared(theirs, mine)
        gold_words += len(theirs.split())
        our_words += len(mine.split())
    return matching / our_words, matching / gold_words


def _shared(gold: str, found: str) -> int:
    return (Counter(gold.split()) & Counter(found.split())).total()


def _left_over(gold: str, found: str) -> Counter[str]:
    return Counter(found.split()) - Counter(gold.split())
