"""Everyday chats -> how far a memory of them can be trusted: what it answers, believes and lets pass.

    answers           right, wrong and silent / all questions; silence is right exactly where nothing was said
    sure and right    right / answers with a confidence of 0.9 or more
    calibration       expected calibration error over ten equal bins, and the area under risk by coverage, of answers
    never said        silent / questions about what was never said
    facts             right and worth keeping, noise and wrong / facts that are held firmly after the last turn
    required          required facts that are held firmly / required facts
    checker           label x verdict; truths called contradicted, falsehoods caught, plans and maybes called supported

Everything is asked after the last turn, on its day, through the engine's front door. Intervals are bootstrap over
chats, whose questions are not independent. The two halves are never mixed; details are shown of `dev` alone.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from doxa.core.config import Config
from doxa.core.values import Status
from doxa.engine import Doxa
from doxa_bench.everyday.chats import Chat, Grade, read_chats, read_grades
from doxa_bench.everyday.marks import AnswerMark, FactMark, found_in, mark_answer, mark_fact
from doxa_bench.metrics import bootstrap_interval, ratio
from doxa_bench.parallel import patient, side_by_side
from doxa_bench.record import environment, models_of

__all__ = ["EverydayReport", "HalfReport", "run"]

HALVES = ("held_out", "dev")
SURE = 0.9
BINS = 10
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMarks:
    """What was found of one chat."""

    chat: Chat
    answers: tuple[AnswerMark, ...]
    facts: tuple[FactMark, ...]
    required: int
    found: int
    tentative: int
    checks: tuple[tuple[str, str, str], ...]
    """Statement, the label that it deserves, the verdict that it got."""
    turns_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfReport:
    """What was found of the chats of one folder."""

    name: str
    chats: Sequence[ChatMarks]

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain JSON data."""
        answers = [mark for chat in self.chats for mark in chat.answers]
        return {
            "chats": len(self.chats),
            "turns": sum(len(one.chat.turns) for one in self.chats),
            "questions": len(answers),
            "answers": {mark: self._share(_marked(mark)) for mark in ("right", "wrong", "silent")},
            "answerable": {
                mark: ratio(*_marked(mark, answerable=True)(self.chats)) for mark in ("right", "wrong", "silent")
            },
            "never_said_silent": self._share(_never),
            "sure_and_right": {
                "n": sum(not m.abstained and m.confidence >= SURE for m in answers),
                **self._share(_sure),
            },
            "calibration": _calibration([mark for mark in answers if not mark.abstained]),
            "quoted": sum(mark.quoted for mark in answers),
            "kinds": _kinds(answers),
            "facts": {
                "n": sum(len(one.facts) for one in self.chats),
                **{grade: self._share(_graded(grade)) for grade in ("right", "noise", "wrong")},
                "not_listed": sum(not mark.listed for one in self.chats for mark in one.facts),
                "tentative": sum(one.tentative for one in self.chats),
            },
            "required_found": self._share(lambda some: (sum(c.found for c in some), sum(c.required for c in some))),
            "checker": self._checker(),
        }

    def _checker(self) -> dict[str, Any]:
        rows: dict[str, Counter[str]] = {}
        for one in self.chats:
            for _, label, verdict in one.checks:
                rows.setdefault(label, Counter())[verdict] += 1
        return {
            "truths_contradicted": self._share(_checked("true", "contradicted")),
            "falsehoods_caught": self._share(_checked("false", "contradicted")),
            "falsehoods_flagged": self._share(_checked("false", "contradicted", "uncertain")),
            "plans_supported": self._share(_checked("planned", "supported")),
            "truths_supported": self._share(_checked("true", "supported")),
            "unknown_contradicted": self._share(_checked("unknown", "contradicted")),
            "confusion": {label: dict(counts) for label, counts in sorted(rows.items())},
        }

    def _share(self, counted: Callable[[Sequence[ChatMarks]], tuple[float, float]]) -> dict[str, Any]:
        interval = bootstrap_interval([counted([one]) for one in self.chats], ratio)
        return {"share": ratio(*counted(self.chats)), "interval_95": None if interval is None else list(interval)}

    def mistakes(self) -> list[dict[str, Any]]:
        """Return what went wrong, answers first."""
        wrong = [asdict(mark) for one in self.chats for mark in one.answers if mark.mark != "right"]
        facts = [asdict(mark) for one in self.chats for mark in one.facts if mark.grade != "right"]
        fit = {"true": "supported", "false": "contradicted", "unknown": "neutral", "planned": "neutral"}
        checks = [
            {"chat": one.chat.id, "statement": text, "label": label, "verdict": verdict}
            for one in self.chats
            for text, label, verdict in one.checks
            if verdict != fit[label]
        ]
        return [*wrong, *facts, *checks]

    def predictions(self) -> dict[str, Any]:
        """Return everything that was found, for grading by hand."""
        return {
            one.chat.id: {
                "answers": [asdict(mark) for mark in one.answers],
                "facts": [asdict(mark) for mark in one.facts],
                "checks": [list(check) for check in one.checks],
            }
            for one in self.chats
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EverydayReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    halves: Sequence[HalfReport]
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, *, errors: int = 0) -> dict[str, Any]:
        """Return the report as plain JSON data, held out first, with the first `errors` mistakes of `dev`."""
        shown = [mistake for half in self.halves if half.name == "dev" for mistake in half.mistakes()]
        turns = sum(len(one.chat.turns) for half in self.halves for one in half.chats)
        spent = sum(one.turns_s for half in self.halves for one in half.chats)
        return {
            "benchmark": "everyday",
            "data": self.data,
            **{half.name: half.to_dict() for half in self.halves},
            "turns": turns,
            "turns_per_s": round(turns / spent, 1) if spent else 0.0,
            "errors": shown[:errors],
            "models": dict(self.models),
            **self.environment,
        }

    def write_predictions(self, folder: Path) -> None:
        """Write what was found of each half into a file of its own; existing ones are replaced."""
        folder.mkdir(parents=True, exist_ok=True)
        for half in self.halves:
            text = json.dumps(half.predictions(), ensure_ascii=False, indent=1)
            (folder / f"{half.name}.json").write_text(text + "\n", encoding="utf-8")


def run(
    path: Path | str, *, config: Config | None = None, parallel: int = 1, progress: Progress | None = None
) -> EverydayReport:
    """Return how far the memory of everyday chats can be trusted.

    Args:
        path: a folder of chats, or one with the folders `held_out` and `dev`.
        config: the settings; by default those of `doxa.toml` and the environment.
        parallel: how many chats are played at the same time, for a model that is waited for.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there are no chats.
        FormatError: a file is no chat.
        DoxaError: the engine failed.

    Deterministic but for the times. Every chat is a user of its own; everything is gone afterwards.
    """
    root = Path(path)
    folders = [root / name for name in HALVES if (root / name).is_dir()] or [root]
    halves = []
    with Doxa.open(":memory:", config=patient(config, parallel)) as doxa:
        described = doxa.describe()
        for folder in folders:
            chats, grades = read_chats(folder), read_grades(folder / "grades.jsonl")
            marks = side_by_side(
                partial(_play, doxa=doxa, grades=grades, half=folder.name), chats, what=folder.name,
                parallel=parallel, progress=progress,
            )  # fmt: skip
            halves.append(HalfReport(name=folder.name, chats=marks))
    return EverydayReport(data=root.name, halves=halves, models=models_of(described), environment=environment())


def _play(chat: Chat, *, doxa: Doxa, grades: Mapping[tuple[str, str], Grade], half: str) -> ChatMarks:
    """Tell a chat to a memory of its own, then ask, look and check."""
    user = f"{half}/{chat.id}"
    dialogue = doxa.dialogue(user=user, agent=chat.assistant, speaker=chat.user)
    start = time.perf_counter()
    for turn in chat.turns:
        dialogue.absorb(turn.text, speaker=turn.speaker, role=turn.role, at=turn.at, turn_id=turn.id)
    dialogue.flush()
    spent = time.perf_counter() - start
    memory = doxa.memory(user=user)
    now = datetime.fromisoformat(chat.turns[-1].at)
    answers = [
        mark_answer(chat, query, dialogue.ask(query.probe.question, as_of=query.probe.as_of, at=now))
        for query in chat.queries
    ]
    held = memory.facts()
    firm = [fact for fact in held if fact.status is Status.HELD]
    checks = [
        (one.text, one.label, str(memory.check(one.text, agent=chat.assistant, speaker=chat.user).label))
        for one in chat.statements
    ]
    return ChatMarks(
        chat=chat,
        answers=tuple(answers),
        facts=tuple(mark_fact(chat, fact, grades) for fact in firm),
        required=len(chat.required),
        found=sum(found_in(one, firm, chat.day) for one in chat.required),
        tentative=sum(fact.status is Status.TENTATIVE for fact in memory.facts(current=False)),
        checks=tuple(checks),
        turns_s=spent,
    )


Counted = Callable[[Sequence[ChatMarks]], tuple[float, float]]


def _marked(mark: str, *, answerable: bool = False) -> Counted:
    def count(some: Sequence[ChatMarks]) -> tuple[float, float]:
        asked = [one for chat in some for one in chat.answers if not (answerable and one.kind == "never")]
        return sum(one.mark == mark for one in asked), len(asked)

    return count


def _never(some: Sequence[ChatMarks]) -> tuple[float, float]:
    asked = [one for chat in some for one in chat.answers if one.kind == "never"]
    return sum(one.abstained for one in asked), len(asked)


def _sure(some: Sequence[ChatMarks]) -> tuple[float, float]:
    sure = [one for chat in some for one in chat.answers if not one.abstained and one.confidence >= SURE]
    return sum(one.mark == "right" for one in sure), len(sure)


def _graded(grade: str) -> Counted:
    def count(some: Sequence[ChatMarks]) -> tuple[float, float]:
        facts = [one for chat in some for one in chat.facts]
        return sum(one.grade == grade for one in facts), len(facts)

    return count


def _checked(label: str, *verdicts: str) -> Counted:
    def count(some: Sequence[ChatMarks]) -> tuple[float, float]:
        checks = [check for chat in some for check in chat.checks if check[1] == label]
        return sum(verdict in verdicts for _, _, verdict in checks), len(checks)

    return count


def _kinds(answers: Iterable[AnswerMark]) -> dict[str, dict[str, int]]:
    rows: dict[str, Counter[str]] = {}
    for mark in answers:
        rows.setdefault(mark.kind, Counter())[mark.mark] += 1
    return {kind: dict(counts) for kind, counts in sorted(rows.items())}


def _calibration(given: Sequence[AnswerMark]) -> dict[str, float | None]:
    """Return the expected calibration error (Guo et al. 2017, equation 3), and the mean risk over all coverages."""
    if not given:
        return {"ece": None, "aurc": None, "risk": None}
    p = np.array([mark.confidence for mark in given])
    right = np.array([mark.mark == "right" for mark in given], dtype=float)
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    gaps = [abs(p[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)]
    wrong = 1 - right[np.argsort(-p, kind="stable")]
    risks = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
    return {"ece": float(sum(gaps)), "aurc": float(risks.mean()), "risk": float(wrong.mean())}
