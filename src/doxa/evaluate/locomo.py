"""LoCoMo: is the evidence of a question about a long conversation among what the memory finds?

One conversation is the memory of one user; every question with evidence counts, image captions are part of the
turns, and the gold turns are those that the file names. Source: Maharana et al. 2024, "Evaluating Very Long-Term
Conversational Memory of LLM Agents". Retrieval only: answers are not judged here.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doxa.backends.transcripts import Conversation, read
from doxa.core.config import Config
from doxa.core.errors import FormatError
from doxa.engine import Doxa
from doxa.evaluate.metrics import mean, ndcg_at, percentile, recall_at, reciprocal_rank, standard_error
from doxa.evaluate.record import environment, models_of

__all__ = ["LocomoReport", "run"]

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""Source: the paper's section on question answering; the numbers are those of the published file."""
EVIDENCE_ID = re.compile(r"D:?\s*(\d+)\s*:\s*(\d+)")

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How one question did."""

    category: str
    recall: float
    ndcg: float
    reciprocal_rank: float
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LocomoReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    k: int
    scores: tuple[Score, ...]
    conversations: int
    turns: int
    skipped: int
    """Questions that name no turn of their conversation as evidence: they are not counted."""
    unknown_evidence: int
    """Evidence ids that no turn has."""
    ingest_s: float
    """Seconds from the first turn to the last one being processed, all conversations together."""
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data; `_se` is a standard error over questions."""
        names = [name for name in CATEGORIES.values() if any(score.category == name for score in self.scores)]
        others = sorted({score.category for score in self.scores} - set(names))
        latencies = [score.milliseconds for score in self.scores]
        recalls, ndcgs = [score.recall for score in self.scores], [score.ndcg for score in self.scores]
        return {
            "benchmark": "locomo",
            "data": self.data,
            **self._measures(self.scores),
            f"recall@{self.k}_se": round(standard_error(recalls), 4),
            f"ndcg@{self.k}_se": round(standard_error(ndcgs), 4),
            "categories": {name: self._measures(self._of(name)) for name in names + others},
            "latency_ms": {"p50": round(percentile(latencies, 50), 2), "p95": round(percentile(latencies, 95), 2)},
            "conversations": self.conversations,
            "turns": self.turns,
            "turns_per_s": round(self.turns / self.ingest_s, 1) if self.ingest_s else 0.0,
            "skipped": self.skipped,
            "unknown_evidence": self.unknown_evidence,
            "models": dict(self.models),
            **self.environment,
        }

    def _of(self, category: str) -> list[Score]:
        return [score for score in self.scores if score.category == category]

    def _measures(self, scores: Sequence[Score]) -> dict[str, Any]:
        return {
            "n": len(scores),
            f"recall@{self.k}": round(mean([score.recall for score in scores]), 4),
            f"ndcg@{self.k}": round(mean([score.ndcg for score in scores]), 4),
            "mrr": round(mean([score.reciprocal_rank for score in scores]), 4),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """One conversation and the questions about it."""

    user: str
    conversation: Conversation
    questions: tuple[_Question, ...]
    skipped: int
    unknown_evidence: int


def run(
    path: Path | str,
    *,
    k: int = 10,
    config: Config | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> LocomoReport:
    """Return how well evidence is found in the conversations of a LoCoMo file.

    Args:
        path: a file in the shape of `locomo10.json`.
        k: how much evidence a search gives back.
        config: the settings; by default those of `doxa.toml` and the environment.
        limit: only the first `limit` conversations.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it holds no LoCoMo conversation with questions.
        DoxaError: the engine failed.

    Deterministic but for the times. Everything is kept in memory and gone afterwards.
    """
    samples = _read_samples(Path(path))[:limit]
    tell = progress or (lambda what, done, total: None)
    scores: list[Score] = []
    ingest_s = 0.0
    with Doxa.open(":memory:", config=config) as doxa:
        for sample in samples:
            ingest_s += _ingest(sample, doxa, tell)
            scores += _ask(sample, doxa, k, tell)
        described = doxa.describe()
    return LocomoReport(
        data=Path(path).name,
        k=k,
        scores=tuple(scores),
        conversations=len(samples),
        turns=sum(len(sample.conversation.lines) for sample in samples),
        skipped=sum(sample.skipped for sample in samples),
        unknown_evidence=sum(sample.unknown_evidence for sample in samples),
        ingest_s=ingest_s,
        models=models_of(described),
        environment=environment(),
    )


def _ingest(sample: _Sample, doxa: Doxa, tell: Progress) -> float:
    """Absorb a conversation, wait until it is processed, and return the seconds that took."""
    lines = sample.conversation.lines
    start = time.perf_counter()
    for done, line in enumerate(lines):
        tell(f"absorb {sample.user}", done, len(lines))
        chat = doxa.dialogue(user=sample.user, session=line.session or "default")
        chat.absorb(line.text, speaker=line.speaker, role=line.role, at=line.at, turn_id=line.turn_id)
    doxa.flush()
    return time.perf_counter() - start


def _ask(sample: _Sample, doxa: Doxa, k: int, tell: Progress) -> Iterable[Score]:
    memory = doxa.memory(user=sample.user)
    for done, question in enumerate(sample.questions):
        tell(f"search {sample.user}", done, len(sample.questions))
        start = time.perf_counter()
        evidence = memory.search(question.text, k=k)
        milliseconds = (time.perf_counter() - start) * 1000
        ranking = [turn_id for item in evidence for turn_id in item.turn_ids]
        yield Score(
            category=question.category,
            recall=recall_at(ranking, question.evidence, k),
            ndcg=ndcg_at(ranking, question.evidence, k),
            reciprocal_rank=reciprocal_rank(ranking[:k], question.evidence),
            milliseconds=milliseconds,
        )


def _read_samples(path: Path) -> list[_Sample]:
    conversations = read(path, format="locomo").conversations
    content = _read_json(path)
    values = content if isinstance(content, list) else [content]
    if len(values) != len(conversations) or not any(_has_questions(value) for value in values):
        raise FormatError(
            f"expected LoCoMo samples with questions, [{{'sample_id', 'conversation', 'qa'}}], in {path}; got "
            f"{len(conversations)} conversations without them. The published file is locomo10.json."
        )
    return [
        _read_sample(value, conversation, index)
        for index, (value, conversation) in enumerate(zip(values, conversations, strict=True), start=1)
        if _has_questions(value)
    ]


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise FormatError(f"expected the JSON of LoCoMo in {path}, got something else: {exc}.") from exc


def _has_questions(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("qa"), list)


def _read_sample(value: Mapping[str, Any], conversation: Conversation, index: int) -> _Sample:
    known = frozenset(line.turn_id for line in conversation.lines if line.turn_id is not None)
    questions, skipped, unknown = [], 0, 0
    for entry in value["qa"]:
        named = _named_ids(entry.get("evidence"), known)
        unknown += len(named - known)
        if named & known and str(entry.get("question", "")).strip():
            category = CATEGORIES.get(entry.get("category"), str(entry.get("category", "none")))
            questions.append(_Question(text=str(entry["question"]), category=category, evidence=named & known))
        else:
            skipped += 1
    return _Sample(
        user=conversation.name or f"sample-{index}",
        conversation=conversation,
        questions=tuple(questions),
        skipped=skipped,
        unknown_evidence=unknown,
    )


def _named_ids(evidence: object, known: frozenset[str]) -> frozenset[str]:
    """Return the turn ids in an evidence entry; one string may hold several, or write an id as `D:8:06`."""
    parts = evidence if isinstance(evidence, list) else [evidence]
    named: set[str] = set()
    for part in map(str, filter(None, parts)):
        if part in known:
            named.add(part)
        else:
            named |= {f"D{int(session)}:{int(turn)}" for session, turn in EVIDENCE_ID.findall(part)} or {part}
    return frozenset(named)
