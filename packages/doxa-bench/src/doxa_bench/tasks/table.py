"""Scenarios -> what every system made of them, in the form of the table of the paper.

Intervals are over scenarios, drawn again 1,000 times.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.core.errors import InputError
from doxa_bench.metrics import bootstrap_interval, ratio
from doxa_bench.parallel import patient, side_by_side
from doxa_bench.record import environment
from doxa_bench.tasks.baselines import BASELINES, Conversation
from doxa_bench.tasks.prompts import TOKENIZER
from doxa_bench.tasks.scenarios import Scenario, read_scenarios
from doxa_bench.tasks.scoring import COUNTS, Played, ScenarioScore, Violation, score
from doxa_bench.tasks.systems import SYSTEMS, System

__all__ = ["Progress", "SystemRun", "TasksReport", "chosen", "run_scenarios"]

Progress = Callable[[str, int, int], None]
SHARES = {
    "slots": ("slots_ok", "slots_n"),
    "derived": ("derived_ok", "derived_n"),
    "replies": ("reply_ok", "reply_n"),
    "intent_fine": ("intent_fine", "intent_n"),
    "intent_coarse": ("intent_coarse", "intent_n"),
    "multi_intent": ("multi_hit", "multi_n"),
}
"""Measure -> part and whole; the first has an interval."""
PAPER: Mapping[str, Mapping[str, int | str]] = {
    "ours": {"name": "TME-DAG", "hallucinations": 0, "confusions": 0, "consistent": 4},
    "no-dag": {"name": "TME-Flat", "hallucinations": 2, "confusions": 4, "consistent": 1},
    "random-intent": {"name": "TME-RandomTRIM", "hallucinations": 3, "confusions": 6, "consistent": 0},
    "react": {"name": "ReAct", "hallucinations": 3, "confusions": 5, "consistent": 2},
}
"""System -> its row of tables 1 and 3 of the paper, with GPT-4o, 27 rounds and 4 scenarios, judged by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRun:
    """What one system made of the scenarios."""

    scores: Sequence[ScenarioScore]
    played: Sequence[Sequence[Played]]
    seconds: float = 0.0
    """What the system took to play them."""
    calls: Mapping[str, int] = field(default_factory=dict)
    """Of a language model that a baseline asks: made, failed, refused, tokens."""

    @property
    def total(self) -> Counter[str]:
        """The counts over all scenarios."""
        return Counter({name: sum(one.counts[name] for one in self.scores) for name in COUNTS})

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, the shares with their intervals, and tokens per round."""
        total, rows = self.total, [one.counts for one in self.scores]
        rounds = [turn.tokens for turns in self.played for turn in turns]
        found: dict[str, Any] = {
            "rounds": total["turns"],
            "hallucinations": total["hallucinations"],
            "confusions": total["confusions"],
            "consistent": total["consistent"],
            "scenarios": len(self.scores),
            "consistent_no_intent": total["consistent_no_intent"],
        }
        for name, (part, whole) in SHARES.items():
            interval = bootstrap_interval([[row[part], row[whole]] for row in rows], ratio) if total[whole] else None
            found |= {name: ratio(total[part], total[whole]), f"{name}_95": list(interval) if interval else None}
        for name in ("hallucinations", "confusions"):
            interval = bootstrap_interval([[row[name], 1] for row in rows], ratio)
            found[f"{name}_a_scenario_95"] = list(interval) if interval else None
        return {
            **found,
            "tokens_a_round": ratio(sum(rounds), len(rounds)),
            "turns_per_s": round(len(rounds) / self.seconds, 1) if self.seconds else 0.0,
            "counts": dict(total),
            **({"calls": dict(self.calls)} if self.calls else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    set: str
    data: str
    seed: int
    scenarios: Sequence[Scenario]
    systems: Mapping[str, SystemRun]
    environment: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, str | None] = field(default_factory=dict)

    def to_dict(self, *, details: bool = False) -> dict[str, Any]:
        """Return the report as plain JSON data; with `details`, every violation and why it counts."""
        return {
            "benchmark": "tasks",
            "set": self.set,
            "data": self.data,
            "seed": self.seed,
            "tokenizer": TOKENIZER,
            "systems": {name: one.to_dict() for name, one in self.systems.items()},
            **({"paper": dict(PAPER)} if self.set == "published" else {}),
            **({"details": self.details()} if details else {}),
            "models": dict(self.models),
            **self.environment,
        }

    def details(self) -> list[dict[str, Any]]:
        """Return, by system and scenario, every turn with a violation: its text, what was expected, what came."""
        return [
            {"system": name, "scenario": scenario.id, "turns": _turns(scenario, found)}
            for name, one in self.systems.items()
            for scenario, found in zip(self.scenarios, one.scores, strict=True)
            if found.violations or found.notes
        ]

    def write_predictions(self, path: Path, system: str) -> None:
        """Write what a system handed in, JSON Lines: `{id, turns: [{intents, state, history, reply}]}`."""
        lines = []
        for scenario, turns in zip(self.scenarios, self.systems[system].played, strict=True):
            lines.append({"id": scenario.id, "turns": [_handed_in(turn) for turn in turns]})
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")


def run_scenarios(
    path: Path,
    *,
    set: str = "gold",
    systems: Sequence[str] = (),
    seed: int = 0,
    limit: int | None = None,
    config: Config | None = None,
    parallel: int = 1,
    progress: Progress | None = None,
    known: Mapping[str, Callable[[Config, int], Any]] = SYSTEMS,
) -> TasksReport:
    """Return what systems make of the scenarios of a file.

    Args:
        path: the scenarios, JSON Lines.
        set: what they are called in the report.
        systems: names of those that play; none given are all of them, those that ask a language model by themselves
            where one is configured.
        seed: of what is drawn, for `random-intent`.
        limit: only so many scenarios.
        config: the settings; by default those of `doxa.toml` and the environment.
        parallel: how many scenarios a system plays at the same time, for a model that is waited for.
        progress: is told how far the run is.
        known: the systems that there are.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no scenario.
        InputError: there is no such system.
        ConfigError: one of them asks a language model, and none is configured.
        BackendUnavailableError: the model answered none of its first 20 calls.

    Deterministic, as far as a language model is. Every scenario is a user of its own; everything is gone afterwards.
    """
    settings = patient(config, parallel)
    scenarios, names = read_scenarios(path)[:limit], chosen(systems, known, settings)
    runs: dict[str, SystemRun] = {}
    models: dict[str, str | None] = {}
    for name in names:
        with known[name](settings, seed) as system:
            models |= system.models
            runs[name] = _run(system, scenarios, name=name, parallel=parallel, progress=progress)
    return TasksReport(
        set=set, data=path.name, seed=seed, scenarios=scenarios, systems=runs, models=models, environment=environment()
    )


def chosen(systems: Sequence[str], known: Mapping[str, object], config: Config) -> list[str]:
    """Return the names of the systems that play: all that the settings allow where none is named.

    Raises:
        InputError: there is no such system.
    """
    if unknown := [name for name in systems if name not in known]:
        raise InputError(f"expected systems out of {', '.join(known)}; got {unknown[0]!r}.")
    return list(systems) or [name for name in known if name not in BASELINES or config.llm.name is not None]


def _run(
    system: System, scenarios: Sequence[Scenario], *, name: str, parallel: int, progress: Progress | None
) -> SystemRun:
    found = side_by_side(partial(_timed, system), scenarios, what=name, parallel=parallel, progress=progress)
    return SystemRun(
        scores=[score(scenario, turns) for scenario, (turns, _) in zip(scenarios, found, strict=True)],
        played=[turns for turns, _ in found],
        seconds=sum(seconds for _, seconds in found),
        calls=system.calls if isinstance(system, Conversation) else {},
    )


def _timed(system: System, scenario: Scenario) -> tuple[list[Played], float]:
    start = time.perf_counter()
    return system.play(scenario), time.perf_counter() - start


def _turns(scenario: Scenario, found: ScenarioScore) -> list[dict[str, Any]]:
    """Return the turns of a scenario that something is said of."""
    said = [*found.violations, *found.notes]
    return [
        {
            "turn": number,
            "text": scenario.turns[number - 1],
            "hallucination": _reasons(found.notes, number, "hallucination"),
            "confusion": _reasons(found.notes, number, "confusion"),
            "violations": [
                {"kind": one.kind, "slot": one.slot, "expected": one.expected, "came": one.came}
                for one in found.violations
                if one.turn == number
            ],
        }
        for number in sorted({one.turn for one in said})
    ]


def _reasons(notes: Sequence[Violation], turn: int, kind: str) -> list[str]:
    return [one.slot for one in notes if one.turn == turn and one.kind == kind]


def _handed_in(turn: Played) -> dict[str, Any]:
    found: dict[str, Any] = {"intents": list(turn.intents), "state": turn.state, "reply": turn.reply}
    return found if turn.history is None else {**found, "history": turn.history}
