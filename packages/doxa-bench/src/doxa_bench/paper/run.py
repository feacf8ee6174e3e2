"""Every table and figure of the paper in one run: `tables.md`, `tables.json` and a PNG for each figure in a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from doxa.core.config import Config
from doxa.engine import Doxa
from doxa_bench.implicit import AskedQuery, PreferenceDialogue, draw_dialogues, read_chatter
from doxa_bench.implicit import run as run_implicit
from doxa_bench.locomo import run as run_locomo
from doxa_bench.metrics import mean
from doxa_bench.paper import studies
from doxa_bench.paper.figures import draw_figures, require_plots
from doxa_bench.paper.scaling import scaling
from doxa_bench.paper.tables import OURS, Table, make_folder, tables_of, write_tables
from doxa_bench.prefeval import keep_readings
from doxa_bench.record import environment, models_of

__all__ = ["PARTS", "PaperReport", "run"]

PARTS = ("implicit", "locomo", "replays", "sensitivity", "scaling")
"""What can be measured, in order; `replays` are training, coverage, routing and the cost of the views."""
DIALOGUES = 500
STUDIED, GRID, STRETCHED = 100, 40, 20
"""Most dialogues that are replayed, that each point of the grid replays, and that are lengthened."""
FILLERS = 30
"""Dialogues whose talk lengthens others; eight times the history takes that of about fifteen."""
LOCOMO = Path("measure") / "locomo" / "locomo_dev6.json"

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperReport:
    """What was measured and written. `to_dict()` is the form that is printed and kept."""

    tables: tuple[Table, ...]
    files: tuple[Path, ...]
    left_out: Mapping[str, str]
    """What was not measured -> why."""
    dialogues: int
    seed: int
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return {
            "benchmark": "tables",
            "dialogues": self.dialogues,
            "seed": self.seed,
            "tables": {table.name: table.to_dict() for table in self.tables},
            "files": [str(path) for path in self.files],
            "left_out": dict(self.left_out),
            "models": dict(self.models),
            **self.environment,
        }


def run(
    out: Path,
    *,
    data: Path | None = None,
    dialogues: int = DIALOGUES,
    seed: int = 0,
    parts: Sequence[str] = PARTS,
    plots: bool = True,
    config: Config | None = None,
    progress: Tell | None = None,
) -> PaperReport:
    """Measure, and write the tables and figures of the paper.

    Args:
        out: the folder for them; made where it is missing.
        data: the data folder; without one LoCoMo is left out and unrelated talk is made up.
        dialogues: of the implicit benchmark; the studies take a part of as many.
        seed: of everything that is drawn.
        parts: which of `PARTS` to measure.
        plots: draw figures.
        config: the settings; by default those of `doxa.toml` and the environment.
        progress: is told how far the run is.

    Raises:
        MissingDependencyError: figures are wanted and matplotlib is not installed; nothing was measured yet.
        StoreReadOnlyError: the folder cannot be written.
        DoxaError: the engine failed.

    Deterministic but for the times.
    """
    if plots:
        require_plots()
    make_folder(out)
    asked, told, left_out = _benchmarks(parts, data, dialogues, seed, config, progress)
    studied: dict[str, Any] = {}
    models = _study(studied, parts, data, dialogues, seed, config, progress)
    if "routing" in studied:
        studied["routing"] |= _expansions(asked)
    tables = tuple(tables_of(asked, studied=studied, **told))
    figures = draw_figures(out, asked, studied) if plots else []
    return PaperReport(
        tables=tables,
        files=(*write_tables(out, tables), *figures),
        left_out=left_out,
        dialogues=dialogues,
        seed=seed,
        models=models,
        environment=environment(),
    )


def _benchmarks(
    parts: Sequence[str], data: Path | None, dialogues: int, seed: int, config: Config | None, tell: Tell | None
) -> tuple[tuple[AskedQuery, ...], dict[str, Any], dict[str, str]]:
    """Return the questions of the implicit benchmark, what else the tables need, and what was left out and why."""
    asked, told, left_out = tuple[AskedQuery, ...](), dict[str, Any](), dict[str, str]()
    if "implicit" in parts:
        report = run_implicit(dialogues=dialogues, seed=seed, data=data, ablations=True, config=config, progress=tell)
        asked, told = report.asked, {"ablations": report.ablations, "history_tokens": report.history_tokens}
    if "locomo" in parts:
        if data is not None and (data / LOCOMO).exists():
            told["locomo"] = run_locomo(data / LOCOMO, config=config, baselines=True, progress=tell).to_dict()
        else:
            left_out["locomo"] = f"no {LOCOMO} in the data folder; set DOXA_DATA or give --data"
    return asked, told, left_out


def _study(
    studied: dict[str, Any],
    parts: Sequence[str],
    data: Path | None,
    dialogues: int,
    seed: int,
    config: Config | None,
    tell: Tell | None,
) -> dict[str, str | None]:
    """Add the studies that are wanted, and return the models in use."""
    train = _drawn(min(dialogues, STUDIED), seed + 1, "train", data)
    test = _drawn(min(dialogues, STUDIED), seed, "test", data)
    with Doxa.open(":memory:", config=config) as doxa:
        doxa.parts.queries = keep_readings(doxa)
        models, weights = models_of(doxa.describe()), doxa.parts.learned.of("")
        if "replays" in parts:
            learned = studies.collect(train, doxa, tell=tell)
            held = studies.collect(test, doxa, tell=tell)
            studied["routing"] = studies.routing(weights, learned, held)
            pair = [one.replay for one in learned if one.implicit], [one.replay for one in held if one.implicit]
            studied["consistency"] = studies.consistency(weights, *pair)
            studied["strength"] = studies.strength(weights, *pair)
            studied["coverage"] = studies.coverage(weights, *pair, seed=seed)
            studied["view_times"] = studies.view_times(test, doxa)
        if "sensitivity" in parts:
            most = min(dialogues, GRID)
            by_tau = {
                tau: tuple(
                    [one.replay for one in studies.collect(drawn[:most], doxa, tau=tau, tell=tell) if one.implicit]
                    for drawn in (train, test)
                )
                for tau in studies.TAUS
            }
            studied["sensitivity"] = studies.sensitivity(weights, {tau: (a, b) for tau, (a, b) in by_tau.items()})
    if "scaling" in parts:
        fillers = _drawn(FILLERS, seed + 2, "test", data)
        studied["scaling"] = scaling(test[: min(dialogues, STRETCHED)], fillers, config=config, tell=tell)
    return models


def _drawn(count: int, seed: int, split: Any, data: Path | None) -> list[PreferenceDialogue]:
    return list(draw_dialogues(count, seed=seed, split=split, chatter=read_chatter(data, split)))


def _expansions(asked: Sequence[AskedQuery]) -> dict[str, Any]:
    """Return how often a second look was taken, where searches tell."""
    told = [one.systems[OURS].expanded for one in asked if one.implicit]
    known = [float(one) for one in told if one is not None]
    if not known:
        return {}
    without = [one for one in asked if one.implicit and one.systems[OURS].expanded and "no expansion" in one.systems]
    gains = [one.systems[OURS].recall - one.systems["no expansion"].recall for one in without]
    return {"expanded": mean(known), "expansion_gain": median(gains) if gains else None}
