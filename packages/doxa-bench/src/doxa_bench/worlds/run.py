"""`doxa bench worlds`: can a dialogue be led into contradiction, and what does it cost to prevent it?

The experiment of Baitalik et al. 2026 on our own worlds, with its baseline and its Algorithm 1 beside every policy of
ours, all on the same dialogues. It measures the solver and the policies of `logic` directly: what an answer says is a
literal by construction, so nothing has to be understood and no memory is opened.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import NamedTuple

from doxa.core.config import Config
from doxa.core.errors import InputError
from doxa_bench.models import opened_model
from doxa_bench.record import environment
from doxa_bench.worlds.answerers import Answerer, Prompted, Rates, Setting, Simulated
from doxa_bench.worlds.play import Played, Script, draw_scripts, play
from doxa_bench.worlds.report import Condition, WorldsReport
from doxa_bench.worlds.systems import BASELINE, SYSTEMS
from doxa_bench.worlds.world import spec_of, table

__all__ = ["ANSWERERS", "FAMILIES", "run"]

FAMILIES = ("paper", "hard", "bulk")
"""`paper`: worlds as the paper has them. `hard`: those that Algorithm 1 fails on. `bulk`: 5 to 60 atoms."""
ANSWERERS = ("simulated", "model")
CALLS_AT_ONCE = 8
"""Dialogues that a language model holds at a time."""
SCHEDULES = {"paper": ("random", "stress"), "hard": ("hub",), "bulk": ("random", "stress")}
MODES = ("direct", "cot")
TABLES = ("table1", "table2")
"""Of the paper: each has one language model, whose errors the profile of that name simulates."""
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class _Section:
    """Part of a run: the dialogues of one family with one answerer."""

    name: str
    family: str
    settings: tuple[Setting, ...]
    answerer: Answerer
    papers: tuple[str, ...] = ()
    """Tables of the paper that stand beside it."""


class _Cell(NamedTuple):
    setting: Setting
    system: str


def run(
    *,
    config: Config | None = None,
    seed: int = 0,
    dialogues: int = 120,
    family: str | None = None,
    answerer: str | None = None,
    error: float | None = None,
    contradiction: float | None = None,
    logs: bool = False,
    progress: Progress | None = None,
) -> WorldsReport:
    """Return what the baseline, Algorithm 1 and every policy make of the same dialogues.

    Args:
        config: the settings, of which those of the language model matter; by default as elsewhere.
        seed: of worlds, questions and simulated answers; the same gives the same report but for the times.
        dialogues: how many per condition.
        family: only the worlds of one of `FAMILIES`; without it `paper` and `hard`.
        answerer: `simulated`, or `model` for the configured language model; by default both where one is configured
            and no rates are given, else `simulated`.
        error, contradiction: of the simulated answerer, in place of the rates that were fitted to the paper: how often
            it misjudges an atom, and how often an answer contradicts its own judgement, 0 to 1.
        logs: whether the report lists every literal that was given up; with a language model it does in any case.
        progress: is told how far the run is.

    Raises:
        InputError: an option is out of its range.
        ConfigError: no language model is configured.
        BackendError: the language model answered none of its first calls.

    Cost: 8 systems x 10 questions a dialogue and condition; a language model is asked the same thing once.
    """
    _check(dialogues, family, answerer, error, contradiction)
    config, rates = config or Config.load(), _rates(error, contradiction)
    asks = config.llm.name is not None and rates is None if answerer is None else answerer == "model"
    tell, start = progress or (lambda what, done, total: None), time.perf_counter()
    with opened_model(config, "bench worlds", "use the simulated answerer") if asks else nullcontext() as asked:
        model = Prompted(asked) if asked else None
        parts = _parts((family,) if family else ("paper", "hard"), model, rates, simulates=answerer != "model")
        logs = logs or model is not None
        sections = {section.name: _run_section(section, dialogues, seed, tell, logs=logs) for section in parts}
    return _report(model, sections, seed=seed, logged=logs, seconds=time.perf_counter() - start)


def _report(
    model: Prompted | None, sections: Mapping[str, Sequence[Condition]], *, seed: int, logged: bool, seconds: float
) -> WorldsReport:
    return WorldsReport(
        answerer=model.name if model else "simulated",
        simulated=model is None,
        seed=seed,
        sections=sections,
        calls=model.asked.counts if model else {},
        seconds=seconds,
        logged=logged,
        models={"llm": model.name} if model else {},
        environment=environment(),
    )


def _check(
    dialogues: int, family: str | None, answerer: str | None, error: float | None, contradiction: float | None
) -> None:
    if dialogues < 1:
        raise InputError(f"bench worlds: expected at least 1 dialogue, got {dialogues}.")
    if family not in (None, *FAMILIES):
        raise InputError(f"bench worlds: expected a family out of {', '.join(FAMILIES)}, got {family!r}.")
    if answerer not in (None, *ANSWERERS):
        raise InputError(f"bench worlds: expected an answerer out of {', '.join(ANSWERERS)}, got {answerer!r}.")
    for rate in (error, contradiction):
        if rate is not None and not 0 <= rate <= 1:
            raise InputError(f"bench worlds: expected rates between 0 and 1, got {rate}.")
    if answerer == "model" and (error, contradiction) != (None, None):
        raise InputError("bench worlds: error rates are set for the simulated answerer; a model brings its own.")


def _rates(error: float | None, contradiction: float | None) -> Rates | None:
    if error is None and contradiction is None:
        return None
    return Rates.of(error=error or 0.0, contradiction=contradiction or 0.0)


def _parts(
    families: Sequence[str], model: Prompted | None, rates: Rates | None, *, simulates: bool
) -> Iterator[_Section]:
    """Yield the parts of a run, those of a language model first."""
    if model is not None:
        yield from _asked(families, model)
    if simulates:
        yield from _simulated(families, rates, "" if model is None else "simulated ")


def _asked(families: Sequence[str], model: Prompted) -> Iterator[_Section]:
    """Yield what a language model is asked; the rows of both of the paper's models stand beside its own."""
    for family in families:
        papers = TABLES if family == "paper" else ()
        yield _Section(_named(family, families), family, _settings(family), model, papers)


def _simulated(families: Sequence[str], rates: Rates | None, before: str) -> Iterator[_Section]:
    """Yield what is simulated, under names that begin with `before`."""
    for family in families:
        name = before + _named(family, families)
        if rates is not None:
            yield _Section(name, family, _settings(family), Simulated(dict.fromkeys(_settings(family), rates)))
            continue
        profiles = TABLES if family == "paper" else (family,)
        for profile in profiles:
            fitted = _profile(profile)
            part = name if profile == profiles[0] else before + profile
            yield _Section(part, family, tuple(fitted), Simulated(fitted), (profile,))


def _named(family: str, families: Sequence[str]) -> str:
    return "conditions" if family == families[0] else family


def _settings(family: str) -> tuple[Setting, ...]:
    return tuple(Setting(schedule, mode) for schedule in SCHEDULES[family] for mode in MODES)


def _profile(name: str) -> Mapping[Setting, Rates]:
    return {
        Setting(schedule, mode): Rates(**rates)
        for schedule, modes in table()["profile"][name].items()
        for mode, rates in modes.items()
    }


def _run_section(section: _Section, dialogues: int, seed: int, tell: Progress, *, logs: bool) -> list[Condition]:
    played: dict[_Cell, list[Played]] = {
        _Cell(setting, system): [] for setting in section.settings for system in SYSTEMS
    }
    schedules = tuple(dict.fromkeys(setting.schedule for setting in section.settings))
    for schedule in schedules:
        cells = [cell for cell in played if cell.setting.schedule == schedule]
        scripts = draw_scripts(spec_of(section.family), schedule, dialogues, f"{seed}/{section.family}")
        for done, results in enumerate(_play_all(scripts, section.answerer, cells, logs=logs)):
            tell(f"{section.name} {schedule}", done, dialogues)
            for cell, result in zip(cells, results, strict=True):
                played[cell].append(result)
    return [
        Condition(
            settings=(cell.setting,),
            system=cell.system,
            answerer=section.answerer.name,
            simulated=section.answerer.simulated,
            played=results,
            baseline=played[_Cell(cell.setting, BASELINE)],
            papers=section.papers,
        )
        for cell, results in played.items()
    ]


def _play_all(
    scripts: Iterator[Script], answerer: Answerer, cells: Sequence[_Cell], *, logs: bool
) -> Iterator[list[Played]]:
    """Yield, dialogue by dialogue, what became of it in every cell; a language model holds several at a time."""

    def play_one(script: Script) -> list[Played]:
        return [play(script, answerer, cell.setting, cell.system, logs=logs) for cell in cells]

    if answerer.simulated:
        yield from map(play_one, scripts)
        return
    with ThreadPoolExecutor(CALLS_AT_ONCE) as pool:
        yield from pool.map(play_one, scripts)
