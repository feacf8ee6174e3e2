"""LongMemEval: questions, each to a memory of its own with the turns that answer it and others between.

    memory     the evidence turns at their dates, and turns of other dialogues on the days between; of a record in the
               published form all its sessions, and nothing else
    question   put by the user at the date that the file gives, as the next turn
    right      F1 of tokens against the nearest form of the answer, and whether the reply contains all tokens of one
    unknown    ids that end in `_abs`: nothing that was said answers them, so abstaining is right

The 500 questions were put together from public logs with their evidence alone, and nothing is scored by a judge, so the
numbers cannot be compared with published ones. Answers to preference questions describe a good reply; token measures
say little about them. Source: Wu et al. 2025, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive
Memory".
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.core.errors import FormatError, NotFoundError
from doxa.core.values import Reply, Role
from doxa.engine import Doxa
from doxa_bench.answering import (
    Answered,
    contains,
    draw_risk_coverage,
    given,
    summed_up,
    token_f1,
)
from doxa_bench.distractors import Said, draw, read_distractors
from doxa_bench.prefeval import keep_readings
from doxa_bench.record import environment, models_of

__all__ = ["LongMemEvalReport", "MemoryQuestion", "read_questions", "run"]

FILE = "longmemeval_evidence_turns_500.json"
ABSTAIN = "_abs"
DISTRACTORS = 20
"""Turns of other dialogues in every memory."""
SEED = 0
LATER = datetime(2023, 6, 30, 12, tzinfo=UTC)
"""The time of questions and sessions that the file does not date: after almost all that it does."""
STAMP = "%Y/%m/%d %H:%M"
ALSO = re.compile(r"\(or ([^)]+)\)|(?:^|[.;] )([^.;(]+?)(?: \([^)]*\))? is also acceptable")
EXPLAINED = re.compile(r"\s*\([^)]*\)|[.;] .*is also acceptable\.?.*")

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryQuestion:
    """A question, when it is asked, and the sessions that answer it, oldest first."""

    question_id: str
    type: str
    text: str
    at: datetime
    answer: str
    sessions: tuple[tuple[datetime, tuple[Said, ...]], ...]

    @property
    def answerable(self) -> bool:
        """Tell whether what was said answers it."""
        return not self.question_id.endswith(ABSTAIN)

    @property
    def forms(self) -> tuple[str, ...]:
        """The wordings of the answer that count: "7 days. 8 days (with the last one) is also acceptable." is two."""
        others = [one or other for one, other in ALSO.findall(self.answer)]
        bare = EXPLAINED.sub("", self.answer).strip()
        return tuple(dict.fromkeys(form.strip() for form in (bare, self.answer, *others) if form.strip()))


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemEvalReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    answered: tuple[Answered, ...]
    distractors: int
    turns: int
    ingest_s: float
    figure: str = ""
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, *, errors: int = 0) -> dict[str, Any]:
        """Return the report as plain JSON data; `errors` is how many answers to show, the worst first."""
        return {
            "benchmark": "longmemeval",
            "data": self.data,
            **summed_up(self.answered, sorted({one.group for one in self.answered}), errors=errors),
            "figure": self.figure,
            "distractors": self.distractors,
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
    seed: int = SEED,
    out: Path | None = None,
    progress: Progress | None = None,
) -> LongMemEvalReport:
    """Return how well the questions are answered. Deterministic but for the times; nothing is kept.

    Args:
        path: the folder of the rebuilt file, with distractors in it and beside it; or a file in the published form.
        config: the settings; by default those of `doxa.toml` and the environment.
        limit: only so many questions, spread over the file.
        seed: of the distractors.
        out: the folder for the figure of risk against coverage; None draws none.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there are no such files.
        FormatError: a file is not in the form that is expected.
        MissingDependencyError: a figure is wanted and matplotlib is not installed.
        DoxaError: the engine failed.
    """
    folder = Path(path)
    questions = _spread(read_questions(folder), limit)
    others = [] if folder.is_file() else read_distractors(folder.parent, seed=seed)
    answered, ingest_s, turns = list[Answered](), 0.0, 0
    with Doxa.open(":memory:", config=config) as doxa:
        keep_readings(doxa)
        for done, question in enumerate(questions):
            if progress is not None:
                progress("absorb and ask", done, len(questions))
            lines = _lines(question, draw(others, turns=DISTRACTORS, seed=seed + done) if others else [])
            ingest_s += _absorb(question, lines, doxa)
            turns += len(lines)
            answered.append(_ask(question, doxa))
        models = models_of(doxa.describe())
    figure = draw_risk_coverage(out / "longmemeval-risk-coverage.png", answered) if out is not None else ""
    return LongMemEvalReport(
        data=folder.name,
        answered=tuple(answered),
        distractors=DISTRACTORS if others else 0,
        turns=turns,
        ingest_s=ingest_s,
        figure=str(figure),
        models=models,
        environment=environment(),
    )


def _spread(questions: list[MemoryQuestion], limit: int | None) -> list[MemoryQuestion]:
    """Return so many questions, evenly from the whole file; all of them for None."""
    return questions if limit is None else questions[:: max(1, len(questions) // limit)][:limit]


@dataclass(frozen=True, slots=True)
class _Line:
    session: str
    at: datetime
    said: Said


def _lines(question: MemoryQuestion, others: Sequence[Sequence[Said]]) -> list[_Line]:
    """Return the turns of a memory in order: sessions that answer, and others spread over the days up to the question.

    Evidence that the file dates after the question is heard right before it.
    """
    latest = question.at - timedelta(hours=1)
    dated = [(min(at, latest), f"evidence-{n}", turns) for n, (at, turns) in enumerate(question.sessions)]
    first = min((at for at, _, _ in dated), default=latest) - timedelta(days=2)
    step = (latest - first) / (len(others) + 1)
    dated += [(first + step * (n + 1), f"other-{n}", tuple(turns)) for n, turns in enumerate(others)]
    return [
        _Line(session, at + timedelta(seconds=place), said)
        for at, session, turns in sorted(dated, key=lambda one: one[0])
        for place, said in enumerate(turns)
    ]


def _absorb(question: MemoryQuestion, lines: Sequence[_Line], doxa: Doxa) -> float:
    """Absorb the turns, wait until they are processed, and return the seconds that took."""
    start = time.perf_counter()
    for line in lines:
        chat = doxa.dialogue(user=question.question_id, session=line.session)
        chat.absorb(line.said.text, role=line.said.role, at=line.at)
    doxa.flush()
    return time.perf_counter() - start


def _ask(question: MemoryQuestion, doxa: Doxa) -> Answered:
    chat = doxa.dialogue(user=question.question_id, session="questions")
    start = time.perf_counter()
    reply = chat.respond(question.text, at=question.at, to="facts")
    milliseconds = (time.perf_counter() - start) * 1000
    known, answer = question.answerable, given(reply)
    unsaid = float(reply.abstained)
    return Answered(
        question=question.text,
        group=question.type,
        gold=question.answer if known else "",
        value=answer,
        score=max(token_f1(answer, form) for form in question.forms) if known else unsaid,
        contained=float(_told(reply, question)) if known else unsaid,
        abstained=reply.abstained,
        answerable=known,
        confidence=reply.confidence,
        milliseconds=milliseconds,
    )


def _told(reply: Reply, question: MemoryQuestion) -> bool:
    """Tell whether what the user reads has every word of some form of the answer."""
    text = "" if reply.abstained else f"{reply.value or ''} {reply.text}"
    return any(contains(text, form) for form in question.forms)


def read_questions(path: Path) -> list[MemoryQuestion]:
    """Return the questions of the rebuilt file in a folder, or of a file in the published form, in its order.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is not in the form that is expected.
    """
    whole = not path.is_dir()
    file = path if whole else path / FILE
    if not file.exists():
        raise NotFoundError(
            f"No LongMemEval at {path}: expected a folder with {FILE}, or a file in the published form."
        )
    sessions = "'haystack_sessions' and 'haystack_dates'" if whole else "'evidence_sessions'"
    try:
        read = _read_record if whole else _read_question
        return [read(entry) for entry in json.loads(file.read_text(encoding="utf-8"))]
    except (ValueError, KeyError, TypeError) as exc:
        raise FormatError(
            f"expected a list of questions with 'question_id', 'question_type', 'question', 'question_date', 'answer', "
            f"{sessions} in {file}, got something else: {exc!r}."
        ) from exc


def _read_question(entry: Mapping[str, Any]) -> MemoryQuestion:
    return _question(entry, [(session["date"], session["turns"]) for session in entry["evidence_sessions"]])


def _read_record(entry: Mapping[str, Any]) -> MemoryQuestion:
    return _question(entry, zip(entry["haystack_dates"], entry["haystack_sessions"], strict=True))


def _question(
    entry: Mapping[str, Any], dated: Iterable[tuple[str | None, Sequence[Mapping[str, str]]]]
) -> MemoryQuestion:
    sessions = [
        (_moment(date), tuple(Said(_role(turn["role"]), turn["content"]) for turn in turns)) for date, turns in dated
    ]
    return MemoryQuestion(
        question_id=entry["question_id"],
        type=entry["question_type"],
        text=entry["question"],
        at=_moment(entry["question_date"]),
        answer=str(entry["answer"]),
        sessions=tuple(sorted(sessions, key=lambda session: session[0])),
    )


def _role(name: str) -> Role:
    return "assistant" if name == "assistant" else "user"


def _moment(text: str | None) -> datetime:
    """Return the time of "2023/04/10 (Mon) 23:07"; `LATER` where the file has none."""
    if text is None:
        return LATER
    return datetime.strptime(re.sub(r" \(\w+\)", "", text), STAMP).replace(tzinfo=UTC)
