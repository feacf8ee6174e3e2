"""Natural language inference: how good, how well calibrated and how fast the configured model is on labelled pairs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends import load
from doxa.backends.nli import LABELS, Nli, Pair
from doxa.core.config import Config
from doxa.core.errors import ConfigError, FormatError, NotFoundError
from doxa_bench.metrics import f1, ratio
from doxa_bench.record import environment

__all__ = ["NliReport", "calibration_error", "read_pairs", "run"]

BINS = 15
BLOCK = 64
"""Pairs per call; between calls the progress is told."""
NOT_ENTAILMENT = "not_entailment"
"""A label of sets that tell only two classes apart: right is any answer but entailment."""
NOT_CONTRADICTION = "not_contradiction"
ALLOWED: Mapping[str, tuple[int, ...]] = {
    **{label: (column,) for column, label in enumerate(LABELS)},
    NOT_ENTAILMENT: (1, 2),
    NOT_CONTRADICTION: (0, 1),
}
"""Label -> the columns that are right."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class NliReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    pairs: int
    accuracy: float
    calibration: float
    """Expected calibration error, 0 to 1: how far confidence is from accuracy, over 15 bins of confidence."""
    classes: Mapping[str, Mapping[str, float | int | None]]
    """Label -> precision, recall, F1 and how many pairs have it."""
    macro_f1: float | None
    """Mean F1 of the labels that occur."""
    confusion: Mapping[str, Mapping[str, int]]
    """Label -> what it was taken for -> pairs."""
    seconds: float
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return {
            "benchmark": "nli",
            "data": self.data,
            "pairs": self.pairs,
            "accuracy": round(self.accuracy, 4),
            "standard_error": round(float(np.sqrt(self.accuracy * (1 - self.accuracy) / self.pairs)), 4),
            "ece": round(self.calibration, 4),
            "classes": {label: dict(found) for label, found in self.classes.items()},
            "macro_f1": None if self.macro_f1 is None else round(self.macro_f1, 4),
            "confusion": {label: dict(row) for label, row in self.confusion.items()},
            "seconds": round(self.seconds, 3),
            "pairs_per_s": round(self.pairs / self.seconds, 1) if self.seconds else 0.0,
            "models": dict(self.models),
            **self.environment,
        }


def run(
    path: Path, *, config: Config | None = None, limit: int | None = None, progress: Progress | None = None
) -> NliReport:
    """Return how the configured model judges labelled pairs. The first pair is judged once before the clock starts.

    Args:
        path: a file of lines `{"premise": ..., "hypothesis": ..., "label": ...}`; `read_pairs` says which labels.
        config: its group `nli` names the model.
        limit: only the first pairs.
        progress: told what is done, how much, of how much.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is not a labelled pair.
        ConfigError: no model is configured.
        BackendError: it cannot be loaded.
    """
    config = config or Config()
    pairs, labels = read_pairs(path, limit=limit)
    model = _open(config)
    try:
        model.classify(pairs[:1])
        start = time.perf_counter()
        rows = _judge(model, pairs, progress)
        seconds = time.perf_counter() - start
        name = model.name
    finally:
        model.close()
    return _report(path, labels, rows, seconds=seconds, model=name)


def read_pairs(path: Path, *, limit: int | None = None) -> tuple[list[Pair], list[str]]:
    """Return premises with hypotheses, and their labels.

    A label is one of `LABELS`; or `not_entailment` or `not_contradiction`, in sets that tell only two classes apart.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no JSON object, a text is missing, or the label is unknown; it names the line.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as exc:
        raise NotFoundError(f"{path}: cannot be read: {exc.strerror}. Give a file of labelled pairs.") from exc
    except UnicodeDecodeError as exc:
        raise FormatError(f"{path}: expected UTF-8 text: {exc}") from exc
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()][:limit]
    found = [_pair(path, number, line) for number, line in numbered]
    if not found:
        raise FormatError(f'{path}: expected lines of {{"premise", "hypothesis", "label"}}, it has none.')
    return [pair for pair, _ in found], [label for _, label in found]


def calibration_error(sure: NDArray[np.floating[Any]], right: NDArray[np.bool_], *, bins: int = BINS) -> float:
    """Return the expected calibration error: the mean gap between confidence and accuracy, over bins of equal width.

    Args:
        sure: probability of the answer given, `(n,)`.
        right: whether that answer is right, `(n,)`.
        bins: how many.

    Source: Naeini, Cooper and Hauskrecht 2015; Guo et al. 2017, section 2. Cost O(n).
    """
    places = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = (abs(float(sure[places == place].sum() - right[places == place].sum())) for place in range(bins))
    return sum(gaps) / len(sure) if len(sure) else 0.0


def _open(config: Config) -> Nli:
    if config.nli.name in ("", "none"):
        raise ConfigError("bench nli: expected an NLI model, setting nli.name is 'none'. Set it to 'builtin'.")
    model: Nli = load("nli", config.nli.name, **config.nli.options)
    return model


def _judge(model: Nli, pairs: Sequence[Pair], progress: Progress | None) -> NDArray[np.float32]:
    blocks = []
    for start in range(0, len(pairs), BLOCK):
        blocks.append(model.classify(pairs[start : start + BLOCK]))
        if progress is not None:
            progress("pairs", min(start + BLOCK, len(pairs)), len(pairs))
    return np.concatenate(blocks)


def _report(path: Path, labels: Sequence[str], rows: NDArray[np.float32], *, seconds: float, model: str) -> NliReport:
    best = rows.argmax(axis=1)
    right = np.array([int(column) in ALLOWED[label] for label, column in zip(labels, best, strict=True)])
    together = _together(labels)
    sure = np.array(
        [
            row[list(together)].sum() if column in together else row[column]
            for row, column in zip(rows, best, strict=True)
        ]
    )
    classes = {label: _measures(label, labels, best) for label in ALLOWED if label in labels}
    scores = [found["f1"] for found in classes.values() if found["f1"] is not None]
    return NliReport(
        data=path.name,
        pairs=len(labels),
        accuracy=float(right.mean()),
        calibration=calibration_error(sure, right),
        classes=classes,
        macro_f1=sum(scores) / len(scores) if scores else None,
        confusion=_confusion(labels, best),
        seconds=seconds,
        models={"nli": model},
        environment=environment(),
    )


def _together(labels: Sequence[str]) -> tuple[int, ...]:
    """Return the columns that one label of the set stands for: the model is as sure of it as of both."""
    return next((ALLOWED[label] for label in (NOT_ENTAILMENT, NOT_CONTRADICTION) if label in labels), ())


def _measures(label: str, labels: Sequence[str], best: NDArray[np.intp]) -> dict[str, float | int | None]:
    given = np.isin(best, ALLOWED[label])
    gold = np.array([one == label for one in labels])
    hits = int((given & gold).sum())
    precision, recall = ratio(hits, int(given.sum())), ratio(hits, int(gold.sum()))
    score = f1(precision, recall)
    rounded = {name: None if value is None else round(value, 4) for name, value in
               (("precision", precision), ("recall", recall), ("f1", score))}  # fmt: skip
    return {**rounded, "pairs": int(gold.sum())}


def _confusion(labels: Sequence[str], best: NDArray[np.intp]) -> dict[str, dict[str, int]]:
    found = {label: dict.fromkeys(LABELS, 0) for label in ALLOWED if label in labels}
    for label, column in zip(labels, best, strict=True):
        found[label][LABELS[int(column)]] += 1
    return found


def _pair(path: Path, number: int, line: str) -> tuple[Pair, str]:
    where = f"{path}, line {number}"
    try:
        row = json.loads(line)
    except ValueError as exc:
        raise FormatError(f"{where}: expected a JSON object: {exc}") from exc
    if not isinstance(row, dict):
        raise FormatError(f"{where}: expected a JSON object, got {type(row).__name__}.")
    texts = [row.get(key) for key in ("premise", "hypothesis")]
    for key, text in zip(("premise", "hypothesis"), texts, strict=True):
        if not isinstance(text, str):
            raise FormatError(f"{where}: expected text as {key!r}, got {text!r}.")
    label = row.get("label")
    if label not in ALLOWED:
        raise FormatError(f"{where}: expected a label of {', '.join(ALLOWED)}, got {label!r}.")
    return (str(texts[0]), str(texts[1])), str(label)
