"""LoCoMo: are questions about a long conversation answered, and is it admitted where there is no answer?

Every question is put to the memory of its conversation through `ask`, alone and by somebody who takes no part. Scores
are those of the published scorer (`answering`): questions over several turns by list, open-domain ones against the part
of the answer before ";", adversarial ones by abstention. "Overall" is the mean over the other four categories.
Source: Maharana et al. 2024, table 2, whose models are given the whole conversation or parts of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.engine import Doxa
from doxa_bench.answering import (
    Answered,
    Kind,
    contains,
    draw_risk_coverage,
    given,
    score_of,
    summed_up,
)
from doxa_bench.locomo import (
    CATEGORIES,
    LocomoQuestion,
    Progress,
    Sample,
    Source,
    ingest,
    read_samples,
)
from doxa_bench.record import environment, models_of

__all__ = ["LocomoAnswersReport", "answers_of", "run"]

LIST, UNKNOWN, OPEN = CATEGORIES[1], CATEGORIES[5], CATEGORIES[3]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocomoAnswersReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    benchmark: str = "locomo-answers"
    data: str
    answered: tuple[Answered, ...]
    conversations: int
    turns: int
    ingest_s: float
    figure: str = ""
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, *, errors: int = 0) -> dict[str, Any]:
        """Return the report as plain JSON data; `errors` is how many answers to show, the worst first."""
        others = sorted({one.group for one in self.answered} - set(CATEGORIES.values()))
        return {
            "benchmark": self.benchmark,
            "data": self.data,
            **summed_up(self.answered, [*CATEGORIES.values(), *others], errors=errors),
            "figure": self.figure,
            "conversations": self.conversations,
            "turns": self.turns,
            "turns_per_s": round(self.turns / self.ingest_s, 1) if self.ingest_s else 0.0,
            "models": dict(self.models),
            **self.environment,
        }


def run(
    path: Path | str,
    *,
    config: Config | None = None,
    limit: int | None = None,
    out: Path | None = None,
    progress: Progress | None = None,
    source: Source | None = None,
) -> LocomoAnswersReport:
    """Return how well the questions of a LoCoMo file are answered, or of another `source`.

    Args:
        path: a file in the shape of `locomo10.json`.
        config: the settings; by default those of `doxa.toml` and the environment.
        limit: only the first `limit` conversations.
        out: the folder for the figure of risk against coverage; None draws none.
        progress: is told how far the run is.
        source: another set in this form, and its name in the report.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it holds no LoCoMo conversation with questions.
        MissingDependencyError: a figure is wanted and matplotlib is not installed.
        DoxaError: the engine failed.

    Deterministic but for the times. Everything is kept in memory and gone afterwards.
    """
    source = source or Source("locomo", read_samples)
    samples = source.read(Path(path))[:limit]
    tell = progress or (lambda what, done, total: None)
    answered, ingest_s = list[Answered](), 0.0
    with Doxa.open(":memory:", config=config) as doxa:
        for sample in samples:
            ingest_s += ingest(sample, doxa, tell)
            answered += answers_of(sample, doxa, tell)
        described = doxa.describe()
    figure = draw_risk_coverage(out / f"{source.name}-risk-coverage.png", answered) if out is not None else ""
    return LocomoAnswersReport(
        benchmark=f"{source.name}-answers",
        data=Path(path).name,
        answered=tuple(answered),
        conversations=len(samples),
        turns=sum(len(sample.conversation.lines) for sample in samples),
        ingest_s=ingest_s,
        figure=str(figure),
        models=models_of(described),
        environment=environment(),
    )


def answers_of(sample: Sample, doxa: Doxa, tell: Progress) -> Iterator[Answered]:
    """Put the questions of a conversation to its memory, each alone, and yield what came of them."""
    for done, question in enumerate(sample.asked):
        tell(f"ask {sample.user}", done, len(sample.asked))
        chat = doxa.dialogue(user=sample.user, session="questions")
        start = time.perf_counter()
        reply = chat.ask(question.text)
        milliseconds = (time.perf_counter() - start) * 1000
        kind, gold = _kind(question), _gold(question)
        score = score_of(kind, reply, gold)
        yield Answered(
            question=question.text,
            group=question.category,
            gold=gold,
            value=given(reply),
            score=score,
            contained=score if kind == "unknown" else float(contains(given(reply), gold)),
            abstained=reply.abstained,
            answerable=kind != "unknown",
            confidence=reply.confidence,
            milliseconds=milliseconds,
        )


def _kind(question: LocomoQuestion) -> Kind:
    return {LIST: "list", UNKNOWN: "unknown"}.get(question.category, "phrase")  # type: ignore[return-value]


def _gold(question: LocomoQuestion) -> str:
    if question.category == UNKNOWN:
        return ""
    return question.answer.split(";")[0].strip() if question.category == OPEN else question.answer
