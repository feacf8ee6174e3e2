"""Open information extraction on CaRB and WiRe57: are the propositions of a sentence found?

Each sentence is one turn of a memory of its own, and its propositions are the claims of that turn, the verbs put back
into the forms of the sentence. The sentences are news and encyclopaedia, not dialogue, and a claim is canonical where
these benchmarks want the wording: the numbers say how far the claims reach, not how good a memory is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from doxa.core.config import Config
from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Claim
from doxa.engine import Doxa
from doxa_bench.carb import read_carb, score_carb
from doxa_bench.extraction import Extraction, Extractor, in_forms_of, in_words_of, plain
from doxa_bench.record import environment, models_of
from doxa_bench.wire57 import read_wire57, score_wire57

__all__ = ["ClaimExtractor", "OpenieReport", "PropositionExtractor", "run"]

CARB_TEST = "test.tsv"
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenieReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    scorer: Literal["carb", "wire57"]
    measures: Mapping[str, float]
    """Precision, recall and F1; CaRB has the area under the curve as well."""
    sentences: int
    gold_tuples: int
    extractions: int
    silent: int
    """Sentences of which nothing was extracted."""
    extraction_s: float
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return {
            "benchmark": "openie",
            "data": self.data,
            "scorer": self.scorer,
            **{name: round(value, 4) for name, value in self.measures.items()},
            "sentences": self.sentences,
            "gold_tuples": self.gold_tuples,
            "extractions": self.extractions,
            "silent": self.silent,
            "sentences_per_s": round(self.sentences / self.extraction_s, 1) if self.extraction_s else 0.0,
            "models": dict(self.models),
            **self.environment,
        }


class PropositionExtractor:
    """The clauses of a sentence, whatever it means by them: the default."""

    def __init__(self, doxa: Doxa) -> None:
        self._doxa = doxa

    def __call__(self, sentence: str) -> list[Extraction]:
        """Return every proposition of a sentence, in its own words."""
        return [
            Extraction(arg1=found.subject, relation=found.relation, args=found.arguments, confidence=found.confidence)
            for found in self._doxa.propositions(sentence)
        ]


class ClaimExtractor:
    """The claims of a sentence as propositions: a public engine, and a new memory for every sentence."""

    def __init__(self, doxa: Doxa) -> None:
        self._doxa = doxa
        self._read = 0

    def __call__(self, sentence: str) -> list[Extraction]:
        """Return what the memory takes a sentence to say; empty for one that it would refuse."""
        if not sentence.strip():
            return []
        self._read += 1
        user = f"sentence-{self._read}"
        chat = self._doxa.dialogue(user=user, speaker="Narrator")
        receipt = chat.absorb(sentence, at="2024-01-01")
        chat.flush()
        claims = self._doxa.memory(user=user).claims(turn_id=receipt.turn_id)
        return [_extraction(claim, sentence) for claim in claims]


def _extraction(claim: Claim, sentence: str) -> Extraction:
    relation = in_forms_of(sentence, claim.relation.label if claim.polarity else f"not {claim.relation.label}")
    value = (claim.object.label,) if claim.object.label else ()
    return Extraction(arg1=claim.subject.label, relation=relation, args=value, confidence=claim.confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """Sentences to read, and how what was found in them is scored."""

    scorer: Literal["carb", "wire57"]
    sentences: Sequence[tuple[str, Sequence[str]]]
    """Plain text and tokens."""
    gold_tuples: int
    score: Callable[[Sequence[Sequence[Extraction]]], dict[str, float]]


def run(
    path: Path | str,
    *,
    extractor: Extractor | None = None,
    config: Config | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> OpenieReport:
    """Return how well the propositions of the sentences are found.

    Args:
        path: the folder of CaRB (its test part is read) or WiRe57, or a file: a `.tsv` of CaRB, the `.json` of WiRe57.
        extractor: what reads a sentence; by default `PropositionExtractor`. `ClaimExtractor` gives what a memory
            would believe.
        config: the settings; by default those of `doxa.toml` and the environment.
        limit: only the first `limit` sentences.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there is no such file, or none of the two in the folder.
        FormatError: it is none of the two.
        DoxaError: the engine failed.

    Deterministic but for the times. Everything is kept in memory and gone afterwards.
    """
    file = _file(Path(path))
    task = _carb_task(file, limit) if file.suffix == ".tsv" else _wire57_task(file, limit)
    tell = progress or (lambda what, done, total: None)
    found: list[list[Extraction]] = []
    with Doxa.open(":memory:", config=config) as doxa:
        extract = extractor or PropositionExtractor(doxa)
        start = time.perf_counter()
        for done, (text, tokens) in enumerate(task.sentences):
            tell("extract", done, len(task.sentences))
            found.append([in_words_of(tokens, extraction) for extraction in extract(text)])
        extraction_s = time.perf_counter() - start
        described = doxa.describe()
    return OpenieReport(
        data=file.name,
        scorer=task.scorer,
        measures=task.score(found),
        sentences=len(found),
        gold_tuples=task.gold_tuples,
        extractions=sum(map(len, found)),
        silent=sum(not extractions for extractions in found),
        extraction_s=extraction_s,
        models=models_of(described),
        environment=environment(),
    )


def _file(path: Path) -> Path:
    """Return the file that a path names: itself, or the one of the two benchmarks that lies in the folder."""
    if path.is_dir():
        candidates = [path / CARB_TEST, *sorted(path.glob("WiRe57*.json"))]
        path = next((candidate for candidate in candidates if candidate.is_file()), path / CARB_TEST)
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}. Give the folder of CaRB or of WiRe57 with --data.")
    if path.suffix not in (".tsv", ".json"):
        raise FormatError(f"expected a .tsv of CaRB or the .json of WiRe57, got {path.name}.")
    return path


def _carb_task(path: Path, limit: int | None) -> _Task:
    gold = read_carb(path)[:limit]

    def score(found: Sequence[Sequence[Extraction]]) -> dict[str, float]:
        scores = score_carb(gold, found)
        return {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1, "auc": scores.auc}

    tokenised = [sentence.split() for sentence, _ in gold]
    return _Task(
        scorer="carb",
        sentences=[(plain(tokens), tokens) for tokens in tokenised],
        gold_tuples=sum(len(tuples) for _, tuples in gold),
        score=score,
    )


def _wire57_task(path: Path, limit: int | None) -> _Task:
    gold = read_wire57(path)[:limit]

    def score(found: Sequence[Sequence[Extraction]]) -> dict[str, float]:
        measured = score_wire57([sentence.tuples for sentence in gold], found)
        return dict(zip(("precision", "recall", "f1"), measured, strict=True))

    return _Task(
        scorer="wire57",
        sentences=[(sentence.text, sentence.tokens) for sentence in gold],
        gold_tuples=sum(len(sentence.tuples) for sentence in gold),
        score=score,
    )
