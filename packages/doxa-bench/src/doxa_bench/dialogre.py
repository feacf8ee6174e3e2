"""DialogRE: are the relations between the people and things of a dialogue found?

Source: Yu, Sun, Cardie and Yu 2020, "Dialogue-Based Relation Extraction". A dialogue is the memory of one user, its
speakers keep their numbers, and for every pair of arguments that the file names, the labels are predicted that some
claim gives them (`dialogre.toml` says which relation of ours is which label). As in the paper, the arguments are given
and F1 is micro over instances. It differs in that only the labels that our relations cover are scored, and in that
nothing was trained: the paper's systems have seen its training part.
"""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from doxa.core.config import Config
from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Act, Claim
from doxa.engine import Doxa
from doxa_bench.metrics import bootstrap_error, f1, f1_of_counts, ratio
from doxa_bench.record import environment, models_of
from doxa_bench.wording import Words, phrase

__all__ = ["DialogreReport", "covered_labels", "run"]

UNANSWERABLE = "unanswerable"
LINE = re.compile(r"\s*(?P<speakers>Speaker \d+(?:, Speaker \d+)*)\s*:\s*(?P<text>.*)", re.DOTALL)
DAY = "2024-01-01"
"""The dialogues have no dates; all are put on one day."""
Progress = Callable[[str, int, int], None]


class Instance(NamedTuple):
    """Two arguments and the labels that hold between them."""

    x: str
    y: str
    labels: frozenset[str]


class Spoken(NamedTuple):
    """One line of a dialogue."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogreReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    f1_se: float
    """Standard error over dialogues."""
    right: Mapping[str, int]
    """Label -> instances that were found."""
    predicted: Mapping[str, int]
    gold: Mapping[str, int]
    left_out: Mapping[str, int]
    """Gold instances of the labels that no relation of ours covers."""
    dialogues: int
    turns: int
    ingest_s: float
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data; the first measures are over the covered labels together."""
        labels = sorted(set(self.gold) | set(self.predicted), key=lambda label: (-self.gold.get(label, 0), label))
        return {
            "benchmark": "dialogre",
            "data": self.data,
            **self._measures(covered_labels()),
            "f1_se": round(self.f1_se, 4),
            "labels": {label: self._measures([label]) for label in labels},
            "left_out": dict(sorted(self.left_out.items())),
            "dialogues": self.dialogues,
            "turns": self.turns,
            "turns_per_s": round(self.turns / self.ingest_s, 1) if self.ingest_s else 0.0,
            "models": dict(self.models),
            **self.environment,
        }

    def _measures(self, labels: Iterable[str]) -> dict[str, Any]:
        counts = (self.right, self.predicted, self.gold)
        right, predicted, gold = (sum(count.get(label, 0) for label in labels) for count in counts)
        precision, recall = ratio(right, predicted), ratio(right, gold)
        measured = {"precision": precision, "recall": recall, "f1": f1(precision, recall)}
        shown = {name: None if value is None else round(value, 4) for name, value in measured.items()}
        return {**shown, "right": right, "predicted": predicted, "gold": gold}


def run(
    path: Path | str, *, config: Config | None = None, limit: int | None = None, progress: Progress | None = None
) -> DialogreReport:
    """Return how well the relations of the dialogues of a DialogRE file are found.

    Args:
        path: `dev.json` or `test.json`, or the folder; then its test part.
        config: the settings; by default those of `doxa.toml` and the environment.
        limit: only the first `limit` dialogues.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is no such file.
        DoxaError: the engine failed.

    Deterministic but for the times. Everything is kept in memory and gone afterwards.
    """
    file = Path(path) / "test.json" if Path(path).is_dir() else Path(path)
    dialogues = _read(file)[:limit]
    tell = progress or (lambda what, done, total: None)
    marks: list[_Marks] = []
    ingest_s = 0.0
    with Doxa.open(":memory:", config=config) as doxa:
        for done, (lines, instances) in enumerate(dialogues):
            tell("understand", done, len(dialogues))
            start = time.perf_counter()
            said = _labels_said(f"dialogue-{done}", lines, doxa)
            ingest_s += time.perf_counter() - start
            marks.append(_mark(said, instances))
        described = doxa.describe()
    covered = covered_labels()
    right, predicted, gold = (sum(counts, Counter[str]()) for counts in zip(*marks, strict=True))
    return DialogreReport(
        data=file.name,
        f1_se=bootstrap_error([one.counts(covered) for one in marks], f1_of_counts),
        right=right,
        predicted=predicted,
        gold={label: n for label, n in gold.items() if label in covered},
        left_out={label: n for label, n in gold.items() if label not in covered},
        dialogues=len(dialogues),
        turns=sum(len(lines) for lines, _ in dialogues),
        ingest_s=ingest_s,
        models=models_of(described),
        environment=environment(),
    )


class _Marks(NamedTuple):
    """Instances of one dialogue by label."""

    right: Counter[str]
    predicted: Counter[str]
    gold: Counter[str]

    def counts(self, covered: Collection[str]) -> tuple[int, int, int, int]:
        right, gold = self.right.total(), sum(self.gold[label] for label in covered)
        return right, self.predicted.total(), right, gold


def _mark(said: Collection[tuple[str, Words, Words]], instances: Iterable[Instance]) -> _Marks:
    marks = _Marks(Counter(), Counter(), Counter())
    for instance in instances:
        ours = {label for label, x, y in said if _is_same(x, instance.x) and _is_same(y, instance.y)}
        marks.right.update(ours & instance.labels)
        marks.predicted.update(ours)
        marks.gold.update(instance.labels)
    return marks


@cache
def _table() -> Mapping[str, Mapping[str, list[str]]]:
    return tomllib.loads(files("doxa_bench").joinpath("dialogre.toml").read_text(encoding="utf-8"))


def covered_labels() -> frozenset[str]:
    """Return the labels that some relation of ours gives."""
    return frozenset(_table())


def _labels_said(user: str, lines: Iterable[Spoken], doxa: Doxa) -> set[tuple[str, Words, Words]]:
    """Absorb a dialogue and return what its claims say: label, first and second argument."""
    receipts = []
    for line in lines:
        chat = doxa.dialogue(user=user, speaker=line.speaker)
        receipts.append(chat.absorb(line.text, speaker=line.speaker, at=DAY))
    doxa.flush()
    memory = doxa.memory(user=user)
    claims = (claim for receipt in receipts for claim in memory.claims(turn_id=receipt.turn_id))
    return {said for claim in claims if claim.act is not Act.WITHDRAW for said in _labels_of(claim)}


def _labels_of(claim: Claim) -> Iterable[tuple[str, Words, Words]]:
    subject, value = phrase(claim.subject.label), phrase(claim.object.label)
    for label, relations in _table().items():
        if claim.relation.name in relations.get("same" if claim.polarity else "denied", ()):
            yield label, subject, value
        if claim.polarity and claim.relation.name in relations.get("inverse", ()):
            yield label, value, subject


def _is_same(said: Words, argument: str) -> bool:
    """Tell whether two names are one: the same words, or the beginning of the other ("Joey", "Joey Tribbiani")."""
    wanted = phrase(argument)
    shorter = min(len(said), len(wanted))
    return shorter > 0 and said[:shorter] == wanted[:shorter]


def _read(path: Path) -> list[tuple[list[Spoken], list[Instance]]]:
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}. Give dev.json or test.json of DialogRE with --data.")
    try:
        dialogues = [
            ([_spoken(line) for line in lines if line.strip()], [_instance(entry) for entry in instances])
            for lines, instances in json.loads(path.read_text(encoding="utf-8"))
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise FormatError(
            f"expected DialogRE, [[lines, [{{'x', 'y', 'r'}}]], ...], in {path}, got something else: {exc}."
        ) from exc
    if not dialogues:
        raise FormatError(f"expected the dialogues of DialogRE in {path}; it holds none.")
    return dialogues


def _spoken(line: str) -> Spoken:
    """Split a line; what several say at once is put down to the first of them."""
    match = LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"no speaker in {line[:40]!r}")
    return Spoken(match["speakers"].partition(",")[0], match["text"].strip() or "...")


def _instance(entry: Mapping[str, Any]) -> Instance:
    labels = frozenset(entry["r"]) - {UNANSWERABLE}
    return Instance(entry["x"], entry["y"], labels)
