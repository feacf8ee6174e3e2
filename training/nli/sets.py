"""Pairs of the open sets: premise, hypothesis, and which classes they may have.

Some sets tell apart fewer than three classes ("contradiction or not"); such a pair allows several, and is learned by
the probability of all that it allows. Sets that are kept for measuring (`measure/`) are never read here, and what the
open sets repeat of them (MED holds FraCaS problems) is left out.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")
E, N, C = (0,), (1,), (2,)
NOT_C, NOT_E = (0, 1), (1, 2)
SNLI_PARTS = ("dev", "test.first4912")
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """A premise, a hypothesis, the classes that it may have (columns of `LABELS`), and where it is from."""

    premise: str
    hypothesis: str
    allowed: tuple[int, ...]
    source: str


def snli(data: Path) -> list[Pair]:
    """SNLI's dev part and the first 4,912 lines of its test part, without the pairs that annotators disagreed on."""
    pairs = []
    for part in SNLI_PARTS:
        columns = (_lines(data / "open" / "snli" / f"{name}.{part}") for name in ("s1", "s2", "labels"))
        for premise, hypothesis, label in zip(*columns, strict=True):
            if label.strip() in LABELS:
                pair = Pair(untokenise(premise), untokenise(hypothesis), (LABELS.index(label.strip()),), "snli")
                pairs.append(pair)
    return pairs


def folds(pairs: list[Pair], count: int = FOLDS, seed: int = 7) -> dict[str, int]:
    """Premise -> fold: all hypotheses of a premise lie in one, so that no fold has seen a picture of another."""
    premises = sorted({pair.premise for pair in pairs})
    random.Random(seed).shuffle(premises)
    return {premise: place % count for place, premise in enumerate(premises)}


def others(data: Path) -> Iterator[Pair]:
    """All other open sets of labelled pairs."""
    yield from _breaking(data / "open" / "breaking_nli" / "data" / "dataset.jsonl")
    yield from _conjnli(data / "open" / "conjnli")
    yield from _med(data / "open" / "med" / "MED.tsv")
    yield from _prosecco(data / "open" / "prosecco")
    yield from _folio(data / "open" / "folio" / "folio-train.jsonl")


def untokenise(text: str) -> str:
    """Text as people write it, from text cut into words: `ca n't stop .` -> `can't stop.`"""
    text = re.sub(r"\s+", " ", text.strip())
    text = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text)
    text = re.sub(r" ([.,!?;:%)\]])", r"\1", text)
    return re.sub(r"([(\[$]) ", r"\1", text)


def _breaking(path: Path) -> Iterator[Pair]:
    for line in _lines(path):
        row = json.loads(line)
        if row["gold_label"] in LABELS:
            yield Pair(row["sentence1"], row["sentence2"], (LABELS.index(row["gold_label"]),), "breaking_nli")


def _conjnli(folder: Path) -> Iterator[Pair]:
    for name in ("adversarial_train_15k.tsv", "conj_dev.tsv"):
        for line in _lines(folder / name)[1:]:
            premise, hypothesis, label = line.split("\t")
            yield Pair(premise, hypothesis, (LABELS.index(label.strip()),), name.partition(".")[0])


def _med(path: Path) -> Iterator[Pair]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if "fracas" not in row["genre"].lower() and row["gold_label"] in LABELS:
                # Its second label only says that nothing follows.
                yield Pair(row["sentence1"], row["sentence2"], E if row["gold_label"] == "entailment" else NOT_E, "med")


def _prosecco(folder: Path) -> Iterator[Pair]:
    for line in _lines(folder / "ProSeCCo_final.json"):
        row = json.loads(line)
        allowed = C if row["label"] == "self-contradiction" else NOT_C
        yield Pair(row["proposition_1"], row["proposition_2"], allowed, "prosecco")
        if not row.get("prop_needed"):
            yield Pair(row["locution_1"], row["locution_2"], allowed, "prosecco")
    with (folder / "MNLI_dev_matched_binary_42.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            allowed = C if row["label"] == "1" else NOT_C
            yield Pair(row["sentence1"], row["sentence2"], allowed, "prosecco_mnli")


def _folio(path: Path) -> Iterator[Pair]:
    labels = {"True": E, "False": C, "Uncertain": N, "Unknown": N}
    for line in _lines(path):
        row = json.loads(line)
        yield Pair(" ".join(row["premises"]), row["conclusion"], labels[row["label"]], "folio")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8-sig").rstrip("\n").split("\n")
