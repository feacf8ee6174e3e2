"""Dialogues with revised values -> how often a memory has the new value after the turn, beside the last mention.

    at the turn         revisions after whose turn the memory is right (`revised`) / revisions
    with an old value   the same for those that take the place of another value of the slot
    at the end          the same for the revised slots after the last turn, where the data tells
    lost, kept          the new value is nowhere; the old one is still held
    asked               the memory asked back, which counts as not right

Intervals are over dialogues.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa_bench.metrics import bootstrap_interval, ratio
from doxa_bench.record import environment
from doxa_bench.tasks.revised import Outcome, RevisedDialogue, Revision, judge, recent
from doxa_bench.tasks.sgd import read_sgd
from doxa_bench.tasks.smcalflow import read_smcalflow
from doxa_bench.tasks.systems import Memory, opened
from doxa_bench.tasks.values import State, flat

__all__ = ["RevisedReport", "run_revised"]

SMCALFLOW = "revise_dialogues.jsonl"
BASELINE = "most recent mention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One revision and what became of it."""

    dialogue: str
    revision: Revision
    text: str
    ours: Outcome
    recent: Outcome
    asked: bool
    """Whether the memory asked back."""
    held: str
    """What the memory held then, in short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisedReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    set: str
    data: str
    turns: Sequence[Judged]
    """Of each revision, after its turn."""
    ends: Sequence[Judged]
    """Of each revised slot, after the last turn."""
    dialogues: int
    told: int
    """User turns that were told."""
    seconds: float
    left_out: Mapping[str, int]
    environment: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, str | None] = field(default_factory=dict)

    def to_dict(self, *, details: bool = False) -> dict[str, Any]:
        """Return the report as plain JSON data; with `details`, every revision that ours does not get right."""
        wrong = [one for one in self.turns if one.ours != "right"]
        slots: defaultdict[str, list[Judged]] = defaultdict(list)
        for one in self.turns:
            slots[one.revision.slot.rpartition("/")[2]].append(one)
        return {
            "benchmark": "tasks",
            "set": self.set,
            "data": self.data,
            "dialogues": self.dialogues,
            "at the turn": _measures(self.turns),
            "with an old value": _measures([one for one in self.turns if one.revision.old]),
            **({"at the end": _measures(self.ends)} if self.ends else {}),
            "slots": {name: _measures(found) for name, found in sorted(slots.items(), key=lambda pair: -len(pair[1]))},
            "left_out": dict(self.left_out),
            "turns_per_s": round(self.told / self.seconds, 1) if self.seconds else 0.0,
            "models": dict(self.models),
            **({"details": [_detail(one) for one in wrong]} if details else {}),
            **self.environment,
        }


def run_revised(
    path: Path,
    *,
    set: str,
    limit: int | None = None,
    config: Config | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    memory: Callable[[Config], AbstractContextManager[Memory]] = opened,
) -> RevisedReport:
    """Return how a memory does on the revisions of SGD (`sgd`) or SMCalFlow (`smcalflow`).

    Args:
        path: the folder of the data.
        set: which of them it is.
        limit: only so many dialogues.
        config: the settings; by default those of `doxa.toml` and the environment.
        progress: is told how far the run is.
        memory: makes the memory.

    Raises:
        NotFoundError: the data is not there.
        FormatError: it is something else.

    Deterministic. Every dialogue is a user of its own; everything is gone afterwards.
    """
    read = read_sgd(path) if set == "sgd" else read_smcalflow(path / SMCALFLOW if path.is_dir() else path)
    dialogues, left = read[0][:limit], read[1]
    tell = progress or (lambda what, done, total: None)
    turns: list[Judged] = []
    ends: list[Judged] = []
    start = time.perf_counter()
    with memory(Config.load() if config is None else config) as system:
        models = system.models
        for done, dialogue in enumerate(dialogues):
            tell(set, done, len(dialogues))
            found = list(_played(system, dialogue))
            turns += [one for at_end, one in found if not at_end]
            ends += [one for at_end, one in found if at_end]
    return RevisedReport(
        set=set, data=str(path.name), turns=turns, ends=ends, dialogues=len(dialogues), left_out=left,
        told=sum(len(dialogue.turns) for dialogue in dialogues), seconds=time.perf_counter() - start,
        models=models, environment=environment(),
    )  # fmt: skip


def _played(system: Memory, dialogue: RevisedDialogue) -> Iterator[tuple[bool, Judged]]:
    """Tell the turns of a dialogue to a new user, and yield every revision after its turn; true is one of the end."""
    tasks = system.tasks(dialogue.id)
    for number, turn in enumerate(dialogue.turns):
        told = tasks.tell(turn.text, said_before=turn.said_before)
        state: State | None = None
        for at_end, one in [(False, one) for one in dialogue.revisions] + [(True, one) for one in dialogue.final]:
            if one.turn == number:
                state = dict(tasks.state()) if state is None else state
                yield (
                    at_end,
                    Judged(
                        dialogue=dialogue.id,
                        revision=one,
                        text=turn.text,
                        ours=judge(one, state, dialogue.day),
                        recent=recent(dialogue, one),
                        asked=told.asks,
                        held="; ".join(f"{path}: {flat(value)}" for path, value in state.items()),
                    ),
                )


def _measures(found: Sequence[Judged]) -> dict[str, Any]:
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        rows[one.dialogue].update(n=1, ours=one.ours == "right", recent=one.recent == "right")
    total = Counter(one.ours for one in found)
    measures: dict[str, Any] = {"n": len(found)}
    for name in ("ours", "recent"):
        interval = bootstrap_interval([[row[name], row["n"]] for row in rows.values()], ratio)
        measures[name] = ratio(sum(row[name] for row in rows.values()), len(found))
        measures[f"{name}_95"] = list(interval) if interval else None
    asked = sum(one.asked and one.ours != "right" for one in found)
    return {**measures, "lost": total["lost"], "kept": total["kept"], "asked": asked}


def _detail(one: Judged) -> dict[str, Any]:
    return {
        "dialogue": one.dialogue,
        "slot": one.revision.slot,
        "text": one.text,
        "new": list(one.revision.new),
        "old": list(one.revision.old),
        "outcome": "asked" if one.asked else one.ours,
        "held": one.held,
    }
