"""LoCoMo: is the evidence of a question about a long conversation among what the memory finds?

One conversation is the memory of one user; every question with evidence counts, image captions are part of the
turns, and the gold turns are those that the file names. Source: Maharana et al. 2024, "Evaluating Very Long-Term
Conversational Memory of LLM Agents". Retrieval only: answers are not judged here.

The implicit slice (`slices`) is measured beside it, and on request baselines over the same turns by the same encoder.
They index "speaker: text", and are asked in two ways: as the question is put, and with the name of its speaker as "I",
which is what the memory itself encodes.
"""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from doxa.backends.transcripts import Conversation, read
from doxa.core.config import Config
from doxa.core.errors import FormatError
from doxa.core.tokens import estimate_tokens
from doxa.engine import Doxa
from doxa_bench.baselines import BASELINES, Corpus, in_first_person
from doxa_bench.metrics import (
    bootstrap_interval,
    latency,
    mean,
    ndcg_at,
    ratio,
    recall_at,
    reciprocal_rank,
    standard_error,
)
from doxa_bench.record import environment, models_of
from doxa_bench.slices import Subtype, domains, is_implicit, subtype

__all__ = [
    "CATEGORIES",
    "LocomoQuestion",
    "LocomoReport",
    "Progress",
    "Sample",
    "Source",
    "ingest",
    "read_samples",
    "run",
    "sample_of",
]

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""Source: the paper's section on question answering; the numbers are those of the published file."""
OURS = "doxa"
FIRST_PERSON = ", as the speaker says it"
EVIDENCE_ID = re.compile(r"D:?\s*(\d+)\s*:\s*(\d+)")

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How one system did on one question."""

    system: str = OURS
    category: str
    implicit: bool
    """It shares no content stem with its evidence."""
    subtype: str
    session: str
    """Where its first gold turn was said, `user/session`."""
    recall: float
    ndcg: float
    reciprocal_rank: float
    milliseconds: float
    """Of a search with the encoder; 0 for baselines, which are not timed."""
    tokens: int
    """Of what was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocomoReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    benchmark: str = "locomo"
    data: str
    k: int
    scores: tuple[Score, ...]
    """Of the memory, in the order of the questions."""
    others: tuple[Score, ...] = ()
    """Of the baselines."""
    domains: Mapping[str, str] = field(default_factory=dict)
    """Session (`user/session`) -> domain; empty without baselines."""
    history_tokens: float = 0.0
    """Mean tokens of a conversation: what a question costs that is put with all of it."""
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
        """Return the report as plain JSON data; `_se` is a standard error and `_95` an interval over questions."""
        names = [name for name in CATEGORIES.values() if any(score.category == name for score in self.scores)]
        others = sorted({score.category for score in self.scores} - set(names))
        latencies = [score.milliseconds for score in self.scores]
        recalls, ndcgs = [score.recall for score in self.scores], [score.ndcg for score in self.scores]
        return {
            "benchmark": self.benchmark,
            "data": self.data,
            **self._measures(self.scores),
            f"recall@{self.k}_se": round(standard_error(recalls), 4),
            f"ndcg@{self.k}_se": round(standard_error(ndcgs), 4),
            "categories": {name: self._measures(_of(self.scores, "category", name)) for name in names + others},
            "implicit": self._measures([score for score in self.scores if score.implicit], intervals=True),
            **(self._compared() if self.others else {}),
            "latency_ms": latency(latencies),
            "tokens": {
                "evidence": round(mean([score.tokens for score in self.scores])),
                "long-context": round(self.history_tokens),
            },
            "conversations": self.conversations,
            "turns": self.turns,
            "turns_per_s": round(self.turns / self.ingest_s, 1) if self.ingest_s else 0.0,
            "skipped": self.skipped,
            "unknown_evidence": self.unknown_evidence,
            "models": dict(self.models),
            **self.environment,
        }

    def _compared(self) -> dict[str, Any]:
        """Return every system on all questions, on the implicit slice, and on its parts by subtype and domain."""
        every = (*self.scores, *self.others)
        implicit = [score for score in every if score.implicit]
        by_domain: dict[str, list[Score]] = defaultdict(list)
        for score in implicit:
            by_domain[self.domains.get(score.session, "other")].append(score)
        return {
            "systems": {"all": self._systems(every), "implicit": self._systems(implicit)},
            "subtypes": {name: self._systems(_of(implicit, "subtype", name)) for name in get_args(Subtype)},
            "domains": {name: self._systems(by_domain[name]) for name in sorted(by_domain)},
        }

    def _systems(self, scores: Sequence[Score]) -> dict[str, Any]:
        names = dict.fromkeys(score.system for score in scores)
        return {name: self._measures(_of(scores, "system", name), intervals=True) for name in names}

    def _measures(self, scores: Sequence[Score], *, intervals: bool = False) -> dict[str, Any]:
        values = {
            f"recall@{self.k}": [score.recall for score in scores],
            f"ndcg@{self.k}": [score.ndcg for score in scores],
            "mrr": [score.reciprocal_rank for score in scores],
        }
        measured: dict[str, Any] = {"n": len(scores), **{name: round(mean(row), 4) for name, row in values.items()}}
        for name, row in list(values.items())[:2] if intervals else ():
            interval = bootstrap_interval([[value, 1.0] for value in row], ratio)
            measured[f"{name}_95"] = None if interval is None else [round(bound, 4) for bound in interval]
        return measured


def _of(scores: Sequence[Score], group: str, name: str) -> list[Score]:
    return [score for score in scores if getattr(score, group) == name]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocomoQuestion:
    """A question about a conversation."""

    text: str
    category: str
    answer: str
    """As the file words it; empty for most adversarial questions."""
    evidence: frozenset[str]
    """Empty where the file names no turn of the conversation."""
    implicit: bool
    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One conversation and the questions about it."""

    user: str
    conversation: Conversation
    asked: tuple[LocomoQuestion, ...]
    unknown_evidence: int

    @property
    def questions(self) -> tuple[LocomoQuestion, ...]:
        """Those whose evidence is known: the others count in no measure of retrieval."""
        return tuple(question for question in self.asked if question.evidence)

    @property
    def skipped(self) -> int:
        """How many questions have no known evidence."""
        return len(self.asked) - len(self.questions)

    @property
    def texts(self) -> dict[str, str]:
        """Turn id -> what was said, with its speaker."""
        lines = self.conversation.lines
        return {line.turn_id: f"{line.speaker}: {line.text}" for line in lines if line.turn_id is not None}

    @property
    def speakers(self) -> list[str]:
        """Who takes part, in the order in which they first speak."""
        return list(dict.fromkeys(line.speaker for line in self.conversation.lines if line.speaker))


@dataclass(frozen=True, slots=True)
class Source:
    """A set in the form of LoCoMo: its name in reports, and what reads its conversations from a file or folder."""

    name: str
    read: Callable[[Path], list[Sample]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """The baselines on one conversation, and the sessions of it for the domains."""

    scores: tuple[Score, ...]
    sessions: Mapping[str, Sequence[str]]
    """Session (`user/session`) -> what was said in it."""
    vectors: Mapping[str, NDArray[np.float32]]
    """Session -> mean vector of its turns."""
    speakers: Sequence[str]


def run(
    path: Path | str,
    *,
    k: int = 10,
    config: Config | None = None,
    limit: int | None = None,
    baselines: bool = False,
    progress: Progress | None = None,
    source: Source | None = None,
) -> LocomoReport:
    """Return how well evidence is found in the conversations of a LoCoMo file, or of another `source`.

    Args:
        path: a file in the shape of `locomo10.json`.
        k: how much evidence a search gives back.
        config: the settings; by default those of `doxa.toml` and the environment.
        limit: only the first `limit` conversations.
        baselines: rank the same turns by words, by meaning and by both as well, and group questions by domain.
        progress: is told how far the run is.
        source: another set in this form, and its name in the report.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it holds no LoCoMo conversation with questions.
        DoxaError: the engine failed.

    Deterministic but for the times. Everything is kept in memory and gone afterwards.
    """
    source = source or Source("locomo", read_samples)
    samples = source.read(Path(path))[:limit]
    tell = progress or (lambda what, done, total: None)
    scores, ingest_s = list[Score](), 0.0
    with Doxa.open(":memory:", config=config) as doxa:
        for sample in samples:
            ingest_s += ingest(sample, doxa, tell)
            scores += _ask(sample, doxa, k, tell)
        compared = [_compare(sample, doxa, k, tell) for sample in samples] if baselines else []
        described = doxa.describe()
    return LocomoReport(
        benchmark=source.name,
        data=Path(path).name,
        k=k,
        scores=tuple(scores),
        others=tuple(score for one in compared for score in one.scores),
        domains=_domains(compared),
        ingest_s=ingest_s,
        models=models_of(described),
        environment=environment(),
        **_counts(samples),
    )


def _counts(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return what the report tells of the conversations themselves."""
    return {
        "history_tokens": mean([float(_tokens(sample.texts.values())) for sample in samples]),
        "conversations": len(samples),
        "turns": sum(len(sample.conversation.lines) for sample in samples),
        "skipped": sum(sample.skipped for sample in samples),
        "unknown_evidence": sum(sample.unknown_evidence for sample in samples),
    }


def ingest(sample: Sample, doxa: Doxa, tell: Progress) -> float:
    """Absorb a conversation, wait until it is processed, and return the seconds that took."""
    lines = sample.conversation.lines
    start = time.perf_counter()
    for done, line in enumerate(lines):
        tell(f"absorb {sample.user}", done, len(lines))
        chat = doxa.dialogue(user=sample.user, session=line.session or "default")
        chat.absorb(line.text, speaker=line.speaker, role=line.role, at=line.at, turn_id=line.turn_id)
    doxa.flush()
    return time.perf_counter() - start


def _ask(sample: Sample, doxa: Doxa, k: int, tell: Progress) -> Iterable[Score]:
    memory = doxa.memory(user=sample.user)
    for done, question in enumerate(sample.questions):
        tell(f"search {sample.user}", done, len(sample.questions))
        start = time.perf_counter()
        evidence = memory.search(question.text, k=k)
        milliseconds = (time.perf_counter() - start) * 1000
        ranking = [turn_id for item in evidence for turn_id in item.turn_ids]
        yield _score(OURS, question, ranking, sample.texts, k, milliseconds)


def _score(
    system: str,
    question: LocomoQuestion,
    ranking: Sequence[str],
    texts: Mapping[str, str],
    k: int,
    milliseconds: float = 0,
) -> Score:
    return Score(
        system=system,
        category=question.category,
        implicit=question.implicit,
        subtype=subtype(question.text),
        session=question.session,
        recall=recall_at(ranking, question.evidence, k),
        ndcg=ndcg_at(ranking, question.evidence, k),
        reciprocal_rank=reciprocal_rank(ranking[:k], question.evidence),
        milliseconds=milliseconds,
        tokens=_tokens(texts.get(turn_id, "") for turn_id in ranking[:k]),
    )


def _compare(sample: Sample, doxa: Doxa, k: int, tell: Progress) -> _Compared:
    """Rank the turns of a conversation by the baselines, for every question. Cost: every turn is encoded again."""
    tell(f"baselines {sample.user}", 0, 1)
    encode, texts = doxa.parts.encoder.encode, sample.texts
    corpus = Corpus.of(tuple(texts), tuple(texts.values()), encode(tuple(texts.values())))
    with doxa.parts.log.user(sample.user) as state:
        first_person = [in_first_person(question.text, state) for question in sample.questions]
    asked = [question.text for question in sample.questions]
    ways = {"": zip(asked, encode(asked), strict=True), FIRST_PERSON: zip(asked, encode(first_person), strict=True)}
    scores = [
        _score(name + way, question, rank(text, vector, corpus)[:k], texts, k)
        for way, queries in ways.items()
        for question, (text, vector) in zip(sample.questions, queries, strict=True)
        for name, rank in BASELINES.items()
        if not way or name != "bm25"  # words are the same in both
    ]
    sessions: dict[str, list[int]] = defaultdict(list)
    for place, line in enumerate(line for line in sample.conversation.lines if line.turn_id is not None):
        sessions[f"{sample.user}/{line.session}"].append(place)
    said = tuple(texts.values())
    return _Compared(
        scores=tuple(scores),
        sessions={name: [said[place] for place in places] for name, places in sessions.items()},
        vectors={name: corpus.vectors[places].mean(axis=0) for name, places in sessions.items()},
        speakers=sample.speakers,
    )


def _domains(compared: Sequence[_Compared]) -> dict[str, str]:
    sessions = {name: " ".join(said) for one in compared for name, said in one.sessions.items()}
    if not sessions:
        return {}
    vectors = np.stack([vector for one in compared for vector in one.vectors.values()])
    people = {speaker for one in compared for speaker in one.speakers}
    return dict(zip(sessions, domains(vectors, tuple(sessions.values()), ignore=people), strict=True))


def _tokens(texts: Iterable[str]) -> int:
    return sum(map(estimate_tokens, texts))


def read_samples(path: Path) -> list[Sample]:
    """Return the conversations of a LoCoMo file that have questions.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it holds no LoCoMo conversation with questions.
    """
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


def _read_sample(value: Mapping[str, Any], conversation: Conversation, index: int) -> Sample:
    return sample_of(value["qa"], conversation, conversation.name or f"sample-{index}")


def sample_of(
    entries: Iterable[Mapping[str, Any]],
    conversation: Conversation,
    user: str,
    categories: Mapping[Any, str] = CATEGORIES,
) -> Sample:
    """Return a conversation with its questions, in the shape of `qa`: question, answer, evidence, category."""
    lines = {line.turn_id: line for line in conversation.lines if line.turn_id is not None}
    known, speakers = frozenset(lines), {line.speaker for line in conversation.lines if line.speaker}
    asked, unknown = [], 0
    for entry in entries:
        named = _named_ids(entry.get("evidence"), known)
        unknown += len(named - known)
        evidence, text = [turn_id for turn_id in lines if turn_id in named], str(entry.get("question", "")).strip()
        if text:
            asked.append(
                LocomoQuestion(
                    text=text,
                    category=categories.get(entry.get("category"), str(entry.get("category", "none"))),
                    answer=str(entry.get("answer", "")),
                    evidence=frozenset(evidence),
                    implicit=is_implicit(text, [lines[turn_id].text for turn_id in evidence], speakers),
                    session=f"{user}/{lines[evidence[0]].session}" if evidence else "",
                )
            )
    return Sample(user=user, conversation=conversation, asked=tuple(asked), unknown_evidence=unknown)


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
