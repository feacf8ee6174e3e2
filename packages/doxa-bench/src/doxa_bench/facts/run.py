"""Facts told to a memory one by one, then questions: is the value that holds now given, over one fact and over several?

A reply is right where what it answers, its value or else its text, holds an accepted answer as a run of words, in lower
case without articles and punctuation, as the benchmark scores it; an abstention is wrong. Replies without a value quote
turns, now and then two that clash: `by_value` counts those alone that are right by their value. Baselines rank the told
facts, the later of two equal ones first: a ranking answers with its first fact. Whether an accepted answer comes among
the first ten is told beside it, of the memory's search as well.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.engine import Doxa
from doxa_bench.answering import given
from doxa_bench.baselines import BASELINES, Corpus
from doxa_bench.facts.draw import draw_set
from doxa_bench.facts.sets import MULTI, SINGLE, FactQuestion, FactSet, read_set
from doxa_bench.locomo import Progress
from doxa_bench.metrics import latency, ratio, wilson_interval
from doxa_bench.record import environment, models_of

__all__ = ["FactsReport", "run"]

OURS = "doxa"
USER, AGENT, DAY = "user", "helper", "2026-01-01"
K = 10
PUNCTUATION = re.compile(r"[^\w\s]|_")
ARTICLE = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of one question."""

    question: FactQuestion
    reply: str
    right: bool
    by_value: bool
    abstained: bool
    ranks: Mapping[str, int | None]
    """System -> place of the first fact that holds an accepted answer, from 1; None where none of ten does."""
    milliseconds: float
    """Of the reply."""

    @property
    def group(self) -> str:
        """How many facts it takes, where that is known."""
        return f"{len(self.question.way)} hops" if len(self.question.way) > 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    asked: tuple[Asked, ...]
    facts: int
    ingest_s: float
    """Seconds from the first fact to the last one being processed."""
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, *, errors: int = 0) -> dict[str, Any]:
        """Return the report as plain JSON data; `_95` is a Wilson interval, `errors` how many mistakes are shown."""
        hops = sorted({one.group for one in self.asked} - {""})
        wrong = [one for one in self.asked if not one.right]
        return {
            "benchmark": "facts",
            "data": self.data,
            "kinds": {kind: _systems([one for one in self.asked if one.question.kind == kind]) for kind in self._kinds},
            "hops": {name: _systems([one for one in self.asked if one.group == name]) for name in hops},
            "latency_ms": {kind: self._latency(kind) for kind in self._kinds},
            "turns": self.facts,
            "turns_per_s": round(self.facts / self.ingest_s, 1) if self.ingest_s else 0.0,
            "errors": [_mistake(one) for one in wrong[:errors]],
            "models": dict(self.models),
            **self.environment,
        }

    @property
    def _kinds(self) -> list[str]:
        return [kind for kind in (SINGLE, MULTI) if any(one.question.kind == kind for one in self.asked)]

    def _latency(self, kind: str) -> dict[str, float]:
        times = [one.milliseconds for one in self.asked if one.question.kind == kind]
        return latency(times, digits=1)


def run(
    path: Path | str | None = None,
    *,
    facts: int | None = None,
    seed: int = 0,
    limit: int | None = None,
    config: Config | None = None,
    progress: Progress | None = None,
) -> FactsReport:
    """Return how many questions over facts that replace each other are answered right, beside baselines.

    Args:
        path: the folder with FactConsolidation; not looked at where a set is drawn.
        facts: draw a set of so many facts instead.
        seed: of what is drawn.
        limit: only the first `limit` questions of each kind.
        config: the settings; by default those of `doxa.toml` and the environment.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there are no such files.
        FormatError: a file is not in the form of the benchmark.
        DoxaError: the engine failed.

    Deterministic but for the times. Everything is kept in memory and gone afterwards.
    """
    found = read_set(Path(path or "")) if facts is None else draw_set(facts, seed=seed)
    kinds = [[one for one in found.questions if one.kind == kind][:limit] for kind in (SINGLE, MULTI)]
    tell = progress or (lambda what, done, total: None)
    with Doxa.open(":memory:", config=config) as doxa:
        ingest_s = _tell_facts(found, doxa, tell)
        asked = tuple(_ask([question for kind in kinds for question in kind], found, doxa, tell))
        models = models_of(doxa.describe())
    return FactsReport(
        data=found.name,
        asked=asked,
        facts=len(found.facts),
        ingest_s=ingest_s,
        models=models,
        environment=environment(),
    )


def _tell_facts(found: FactSet, doxa: Doxa, tell: Progress) -> float:
    """Tell every fact as a turn, wait until they are processed, and return the seconds that took."""
    chat = doxa.dialogue(user=USER, agent=AGENT, session="facts")
    start = time.perf_counter()
    for place, fact in enumerate(found.facts):
        tell("absorb", place, len(found.facts))
        chat.absorb(fact, at=DAY, turn_id=_turn_id(place))
    doxa.flush()
    return time.perf_counter() - start


def _ask(questions: Sequence[FactQuestion], found: FactSet, doxa: Doxa, tell: Progress) -> Iterator[Asked]:
    ids = tuple(_turn_id(place) for place in range(len(found.facts)))
    texts = dict(zip(ids, found.facts, strict=True))
    tell("baselines", 0, 1)
    encode = doxa.parts.encoder.encode
    corpus = Corpus.of(ids, found.facts, encode(found.facts))
    memory, chat = doxa.memory(user=USER), doxa.dialogue(user=USER, agent=AGENT, session="questions")
    for done, question in enumerate(questions):
        tell("ask", done, len(questions))
        vector = encode([question.text])[0]
        rankings = {name: rank(question.text, vector, corpus)[:K] for name, rank in BASELINES.items()}
        evidence = memory.search(question.text, k=K)
        rankings = {OURS: [turn_id for item in evidence for turn_id in item.turn_ids][:K], **rankings}
        start = time.perf_counter()
        reply = chat.ask(question.text)
        milliseconds = (time.perf_counter() - start) * 1000
        said = given(reply)
        yield Asked(
            question=question,
            reply=said,
            right=_holds(said, question),
            by_value=not reply.abstained and _holds(reply.value or "", question),
            abstained=reply.abstained,
            ranks={name: _rank(ranking, texts, question) for name, ranking in rankings.items()},
            milliseconds=milliseconds,
        )


def _turn_id(place: int) -> str:
    return f"fact-{place}"


def _rank(ranking: Sequence[str], texts: Mapping[str, str], question: FactQuestion) -> int | None:
    places = (rank for rank, turn_id in enumerate(ranking, start=1) if _holds(texts.get(turn_id, ""), question))
    return next(places, None)


def _holds(text: str, question: FactQuestion) -> bool:
    """Tell whether a text holds an accepted answer as a run of words."""
    words = f" {_plain(text)} "
    return any(f" {_plain(answer)} " in words for answer in question.accepted)


def _plain(text: str) -> str:
    """Return a text in lower case without articles and punctuation."""
    return " ".join(ARTICLE.sub(" ", PUNCTUATION.sub("", text.lower())).split())


def _systems(asked: Sequence[Asked]) -> dict[str, dict[str, Any]]:
    """Return every system: share right, and share with an accepted answer in the first fact found and in ten."""
    rows = {}
    for name in asked[0].ranks if asked else ():
        ranks = [one.ranks[name] for one in asked]
        first = sum(rank == 1 for rank in ranks)
        right = sum(one.right for one in asked) if name == OURS else first
        row = {
            **_share("right", right, len(asked)),
            **_share("in_top_1", first, len(asked)),
            **_share(f"in_top_{K}", sum(rank is not None for rank in ranks), len(asked)),
        }
        marks = {"by_value": [one.by_value for one in asked], "abstained": [one.abstained for one in asked]}
        more = {mark: ratio(sum(row), len(row)) if name == OURS else None for mark, row in marks.items()}
        rows[name] = {"n": len(asked), **row, **more}
    return rows


def _share(name: str, part: int, whole: int) -> dict[str, Any]:
    low, high = wilson_interval(part, whole)
    return {name: ratio(part, whole), f"{name}_95": [round(low, 4), round(high, 4)]}


def _mistake(one: Asked) -> dict[str, Any]:
    return {
        "kind": one.group or one.question.kind,
        "question": one.question.text,
        "accepted": list(one.question.accepted),
        "reply": one.reply,
        "abstained": one.abstained,
    }
