"""Revision: what the memory answers while facts change, against what is right at that point of the dialogue.

The turns of a dialogue are absorbed one by one through the engine's front door, and every question is put to the state
after the turn that it names, by the person whose memory it is. Answers are compared by wording (`judging`).

    accuracy              right probes / probes
    dialogue accuracy     dialogues with every probe right / dialogues
    precision, recall     right / answered, and right / all, of the probes that have an answer
    abstention precision, recall     the same for "the memory does not know"
    conflict recall       right / all, of the probes whose sources disagree
    history accuracy      of the probes about an earlier time
    bystander accuracy    of the kinds that must not be touched by a change: no-conflict, corroborated

Wrong ones are stale (what is no longer right is given), lost (no answer though there is one), invented (an answer
though there is none) or other. Intervals and errors are over dialogues, whose probes are not independent.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.core.errors import FormatError
from doxa.core.values import Draft, Reply, Role
from doxa.engine import Doxa, Ledger
from doxa_bench.dialogues import ASSISTANT, Dialogue, DialogueTurn, Probe, read_dialogues
from doxa_bench.judging import Answer, judge
from doxa_bench.metrics import bootstrap_error, bootstrap_interval, ratio
from doxa_bench.parallel import patient, side_by_side
from doxa_bench.record import environment, models_of
from doxa_bench.told import ToldDialogue, read_told
from doxa_bench.understanding import Mistake

__all__ = ["RevisionReport", "RevisionScores", "run", "score"]

BYSTANDERS = ("no-conflict", "corroborated")
WRONG = ("stale", "lost", "invented", "other")
Progress = Callable[[str, int, int], None]
Prediction = Mapping[str, Any]
"""`{id, probe, value, text, abstained, conflict}`, plain JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionScores:
    """Counts over dialogues, of all and by kind, type and tag, and the mistakes behind them."""

    by_dialogue: tuple[Counter[str], ...]
    total: Counter[str]
    groups: Mapping[str, Mapping[str, Counter[str]]]
    """`kinds`, `types` and `tags`, each with the counts of its members."""
    mistakes: tuple[Mistake, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the measures with their counts; `accuracy_se` and `accuracy_95` are over dialogues."""
        rows = [[counts["right"], counts["probes"]] for counts in self.by_dialogue]
        interval = bootstrap_interval(rows, ratio)
        return {
            **_measures(self.total),
            "accuracy_se": bootstrap_error(rows, ratio),
            "accuracy_95": None if interval is None else list(interval),
            "wrong": {kind: self.total[f"wrong_{kind}"] for kind in WRONG},
            "counts": dict(sorted(self.total.items())),
            **{group: _table(members) for group, members in self.groups.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    claims: str | None
    """The file of the claims that were told; None when the dialogues were understood."""
    scores: RevisionScores
    predictions: Sequence[Prediction]
    turns: int
    ingest_s: float
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, *, errors: int = 0) -> dict[str, Any]:
        """Return the report as plain JSON data, with the first `errors` mistakes."""
        shown = self.scores.mistakes[:errors]
        return {
            "benchmark": "revision",
            "data": self.data,
            **({"claims": self.claims} if self.claims else {}),
            **self.scores.to_dict(),
            "turns": self.turns,
            "turns_per_s": round(self.turns / self.ingest_s, 1) if self.ingest_s else 0.0,
            "errors": [{"id": m.id, "kind": m.kind, "turn": m.turn, "detail": m.detail} for m in shown],
            "models": dict(self.models),
            **self.environment,
        }


def run(
    path: Path | str,
    *,
    claims: Path | str | None = None,
    config: Config | None = None,
    parallel: int = 1,
    progress: Progress | None = None,
) -> RevisionReport:
    """Return how well the questions of a file of dialogues are answered.

    Args:
        path: dialogues, JSON Lines.
        claims: the same dialogues in claims (`told`); then no language is understood, only these are revised.
        config: the settings; by default those of `doxa.toml` and the environment.
        parallel: how many dialogues are played at the same time, for a model that is waited for.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no dialogue, or the claims tell other ones.
        DoxaError: the engine failed.

    Deterministic but for the times. Every dialogue is a user of its own; everything is gone afterwards.
    """
    dialogues = read_dialogues(Path(path))
    told = None if claims is None else _told(Path(claims), dialogues)
    with Doxa.open(":memory:", config=patient(config, parallel)) as doxa:
        described = doxa.describe()
        plays = [
            _Spoken(dialogue, doxa) if told is None else _Structured(dialogue, told[dialogue.id], doxa)
            for dialogue in dialogues
        ]
        answers = side_by_side(lambda play: play.answers(), plays, what="revise", parallel=parallel, progress=progress)
    predictions = [answer for of_dialogue in answers for answer in of_dialogue]
    return RevisionReport(
        data=Path(path).name,
        claims=None if claims is None else Path(claims).name,
        scores=score(dialogues, predictions),
        predictions=predictions,
        turns=sum(len(dialogue.turns) for dialogue in dialogues),
        ingest_s=sum(play.ingest_s for play in plays),
        models=models_of(described),
        environment=environment(),
    )


def _told(path: Path, dialogues: Iterable[Dialogue]) -> dict[str, ToldDialogue]:
    told = read_told(path)
    if missing := [dialogue.id for dialogue in dialogues if dialogue.id not in told]:
        raise FormatError(f"expected the claims of every dialogue in {path}; those of {missing[0]!r} are missing.")
    return told


class _Play:
    """One dialogue, played to a memory of its own."""

    def __init__(self, dialogue: Dialogue) -> None:
        self._dialogue = dialogue
        self.ingest_s = 0.0

    def answers(self) -> list[Prediction]:
        """Absorb all turns, put every probe to the state that it names, and return the answers in their order."""
        by_place: dict[int, Prediction] = {}
        for after, turn in enumerate(self._dialogue.turns, start=1):
            start = time.perf_counter()
            self.absorb(turn, after - 1)
            self.ingest_s += time.perf_counter() - start
            for place, probe in enumerate(self._dialogue.probes):
                if probe.after == after:
                    answer = self.ask(probe, place)
                    by_place[place] = {"id": self._dialogue.id, "probe": place, **_answered(answer)}
        return [by_place[place] for place in sorted(by_place)]

    def absorb(self, turn: DialogueTurn, place: int) -> None:
        raise NotImplementedError

    def ask(self, probe: Probe, place: int) -> Reply | Draft:
        raise NotImplementedError


class _Spoken(_Play):
    """A dialogue in its own words, through the engine's front door."""

    def __init__(self, dialogue: Dialogue, doxa: Doxa) -> None:
        super().__init__(dialogue)
        self._chat = doxa.dialogue(user=dialogue.id, agent=ASSISTANT, speaker=dialogue.asker)

    def absorb(self, turn: DialogueTurn, place: int) -> None:
        role: Role = "assistant" if turn.speaker == ASSISTANT else "user"
        self._chat.absorb(turn.text, speaker=turn.speaker, role=role, at=turn.day, turn_id=f"t{place + 1}")
        self._chat.flush()

    def ask(self, probe: Probe, place: int) -> Reply:
        return self._chat.ask(probe.question, as_of=probe.as_of)


class _Structured(_Play):
    """A dialogue in claims: what an ideal reader would hand over, revised and answered without language."""

    def __init__(self, dialogue: Dialogue, told: ToldDialogue, doxa: Doxa) -> None:
        super().__init__(dialogue)
        told.check(dialogue)
        self._told = told
        self._ledger = Ledger(policy=doxa.parts.config.revise.policy)

    def absorb(self, turn: DialogueTurn, place: int) -> None:
        told = self._told.turns[place]
        self._ledger.tell(told.turn, told.claims, told.rules)

    def ask(self, probe: Probe, place: int) -> Draft:
        day = None if probe.as_of is None else date.fromisoformat(probe.as_of)
        return self._ledger.ask(self._told.questions[place], as_of=day)


def _answered(reply: Reply | Draft) -> dict[str, Any]:
    return {"value": reply.value, "text": reply.text, "abstained": reply.abstained, "conflict": reply.disputed}


def score(dialogues: Iterable[Dialogue], predictions: Iterable[Prediction]) -> RevisionScores:
    """Return the scores of predictions; a probe without one counts as abstained, of several the last one counts."""
    answers = {(entry["id"], entry["probe"]): entry for entry in predictions}
    by_dialogue: list[Counter[str]] = []
    groups: dict[str, defaultdict[str, Counter[str]]] = {
        name: defaultdict(Counter) for name in ("kinds", "types", "tags")
    }
    mistakes: list[Mistake] = []
    for dialogue in dialogues:
        counts: Counter[str] = Counter()
        for place, probe in enumerate(dialogue.probes):
            answer = Answer.of(answers.get((dialogue.id, place), {}))
            marks, mistake = _mark(dialogue, place, answer)
            counts.update(marks)
            members = (("kinds", dialogue.kind), ("types", probe.type), *(("tags", tag) for tag in dialogue.tags))
            for group, member in members:
                groups[group][member].update(marks)
            mistakes += mistake
        counts.update(dialogues=1, dialogues_right=int(counts["right"] == counts["probes"]))
        by_dialogue.append(counts)
    total: Counter[str] = Counter()
    for counts in by_dialogue:
        total.update(counts)
    return RevisionScores(by_dialogue=tuple(by_dialogue), total=total, groups=groups, mistakes=tuple(mistakes))


def _mark(dialogue: Dialogue, place: int, answer: Answer) -> tuple[Counter[str], list[Mistake]]:
    """Return what one answer adds to the counts, and the mistake in it."""
    probe = dialogue.probes[place]
    found = judge(probe, answer, dialogue.day(probe))
    right = int(found.right)
    marks = Counter({"probes": 1, "right": right, probe.wanted: 1, f"{probe.wanted}_right": right, found.state: 1})
    if probe.wanted == "answer" and found.state == "answered":
        marks.update(given=1, given_right=right)
    if probe.about_history:
        marks.update(history=1, history_right=right)
    if dialogue.kind in BYSTANDERS:
        marks.update(bystander=1, bystander_right=right)
    if found.mistake is None:
        return marks, []
    marks[f"wrong_{found.mistake}"] = 1
    barred = f" (not {', '.join(probe.wrong)})" if probe.wrong else ""
    mistake = Mistake(
        id=f"{dialogue.id}/{place}",
        kind=found.mistake,
        turn=f"after turn {probe.after}: {probe.question}",
        detail=f"right {probe.label}{barred}   answered {answer}",
    )
    return marks, [mistake]


def _measures(n: Counter[str]) -> dict[str, float | None]:
    return {
        "accuracy": ratio(n["right"], n["probes"]),
        "dialogue_accuracy": ratio(n["dialogues_right"], n["dialogues"]),
        "precision": ratio(n["given_right"], n["given"]),
        "recall": ratio(n["answer_right"], n["answer"]),
        "abstention_precision": ratio(n["unknown_right"], n["abstained"]),
        "abstention_recall": ratio(n["unknown_right"], n["unknown"]),
        "conflict_recall": ratio(n["conflict_right"], n["conflict"]),
        "history_accuracy": ratio(n["history_right"], n["history"]),
        "bystander_accuracy": ratio(n["bystander_right"], n["bystander"]),
    }


def _table(members: Mapping[str, Counter[str]]) -> dict[str, dict[str, Any]]:
    return {
        name: {"accuracy": ratio(n["right"], n["probes"]), "right": n["right"], "probes": n["probes"]}
        for name, n in sorted(members.items())
    }
