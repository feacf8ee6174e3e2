"""What was measured on worlds, by condition: the rows of the paper's Tables 1 and 2, their sums, and the log.

Errors are over dialogues. In a sum over modes one dialogue is held twice, so its two runs are drawn together; Wilson's
interval of the inconsistent ones takes them as independent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from doxa_bench.metrics import bootstrap_error, ratio, wilson_interval
from doxa_bench.worlds.answerers import Setting
from doxa_bench.worlds.play import Played
from doxa_bench.worlds.systems import BASELINE, PRINTED
from doxa_bench.worlds.world import table

__all__ = ["Condition", "WorldsReport", "totals"]

ALL = "all"
"""Stands for the schedule, or the mode, of a sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """All dialogues of one setting, mode and system, or of several settings and modes."""

    settings: tuple[Setting, ...]
    system: str
    answerer: str
    simulated: bool
    played: Sequence[Played]
    baseline: Sequence[Played]
    """The same dialogues under the baseline."""
    papers: tuple[str, ...] = ()
    """The tables of the paper that have such a row."""

    @property
    def setting(self) -> Setting:
        """Its schedule and its mode; `all` where there are several."""
        schedules, modes = ({one[place] for one in self.settings} for place in (0, 1))
        return Setting(*(some.pop() if len(some) == 1 else ALL for some in (schedules, modes)))

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON data; shares are rounded to four places."""
        played, setting = self.played, self.setting
        inconsistent = sum(not one.consistent for one in played)
        retractions = sum(one.retractions for one in played)
        checked = [one.brute_forced for one in played if one.brute_forced is not None]
        return {
            "setting": setting.schedule,
            "mode": setting.mode,
            "system": self.system,
            "answerer": self.answerer,
            "simulated": self.simulated,
            "dialogues": len(played),
            "turns": sum(one.turns for one in played),
            **self._accuracy("raw_accuracy", [one.raw for one in played]),
            **self._accuracy("final_accuracy", [one.final for one in played]),
            **self._accuracy("entailed_accuracy", [one.entailed for one in played]),
            **self._accuracy("final_minus_baseline", self._gains()),
            "inconsistent": inconsistent,
            "inconsistent_interval": [round(end, 4) for end in wilson_interval(inconsistent, len(played))],
            "broken": dict(sorted(Counter(one.broken for one in played if one.broken).items())),
            "contradictions": sum(one.contradicted for one in played),
            "retractions": retractions,
            "retractions_per_dialogue": _rounded(ratio(retractions, len(played))),
            "rejections": sum(one.rejections for one in played),
            "unread": sum(one.unread for one in played),
            "certified": sum(one.certified for one in played),
            "brute_forced": len(checked),
            "brute_force_disagrees": checked.count(False),
            "paper": self._paper(),
        }

    def log(self) -> list[dict[str, Any]]:
        """Return every literal that was given up or not taken in: by which answer, and because of what."""
        setting = self.setting
        where = {"setting": setting.schedule, "mode": setting.mode, "system": self.system}
        return [
            {
                **where,
                "dialogue": played.dialogue,
                "turn": one.turn,
                "literal": str(one.lit),
                "change": "rejected" if one.rejected else "retracted",
                "since": one.since,
                "said": str(one.said),
                "beliefs": [str(lit) for lit in one.beliefs],
                "rules": list(one.rules),
            }
            for played in self.played
            for one in played.log
        ]

    def _gains(self) -> list[int]:
        return [ours.final - theirs.final for ours, theirs in zip(self.played, self.baseline, strict=True)]

    def _accuracy(self, name: str, right: Sequence[int]) -> dict[str, float | None]:
        """Return a share of turns, and its standard error over dialogues."""
        rows: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for played, count in zip(self.played, right, strict=True):
            row = rows[played.dialogue]
            row[0], row[1] = row[0] + count, row[1] + played.turns
        share = ratio(sum(right), sum(one.turns for one in self.played))
        return {name: _rounded(share), f"{name}_se": _rounded(bootstrap_error(list(rows.values()), ratio))}

    def _paper(self) -> dict[str, dict[str, Any]] | None:
        """Return the paper's own rows by its models, which only its baseline and its algorithm have."""
        row = {BASELINE: "baseline", PRINTED: "solver"}.get(self.system)
        tables = {name: table()["paper"][name] for name in self.papers if name in table()["paper"]}
        cells = {
            one["model"]: [one.get(setting.schedule, {}).get(setting.mode) for setting in self.settings]
            for one in tables.values()
        }
        found = {model: _summed(row, some) for model, some in cells.items() if row is not None and all(some)}
        return found or None


def totals(conditions: Sequence[Condition]) -> Iterator[Condition]:
    """Yield, system by system, the sums over schedules for each mode and over everything; none of a single condition.

    Source: Baitalik et al. 2026, "Cross-Backend Summary", which sums over the schedules.
    """
    modes = [{mode} for mode in dict.fromkeys(one.setting.mode for one in conditions)]
    together: list[set[str]] = [*modes, set().union(*modes)] if len(modes) > 1 else modes
    for system in dict.fromkeys(one.system for one in conditions):
        for some in together:
            parts = [one for one in conditions if one.system == system and one.setting.mode in some]
            if len(parts) > 1:
                yield _sum(parts)


def _sum(parts: Sequence[Condition]) -> Condition:
    return Condition(
        settings=tuple(setting for one in parts for setting in one.settings),
        system=parts[0].system,
        answerer=parts[0].answerer,
        simulated=parts[0].simulated,
        played=[played for one in parts for played in one.played],
        baseline=[played for one in parts for played in one.baseline],
        papers=parts[0].papers,
    )


def _summed(row: str, cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a row of the paper, of several the mean of accuracies (all have as many turns) and the sum of counts."""
    accuracy, inconsistent, retractions = zip(*(cell[row] for cell in cells), strict=True)
    raw = [cell["raw"] for cell in cells if "raw" in cell]
    return {
        "final_accuracy": _rounded(sum(accuracy) / len(cells)),
        "inconsistent": sum(inconsistent),
        "retractions": sum(retractions),
        **({"raw_accuracy": _rounded(sum(raw) / len(raw))} if raw else {}),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldsReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    answerer: str
    simulated: bool
    """Whether all of it is: with a language model, sections of simulated answers stand beside its own."""
    seed: int
    sections: Mapping[str, Sequence[Condition]]
    """`conditions` (random and stress schedules), and further families and profiles by name; simulated ones that stand
    beside those of a language model have `simulated` before it."""
    calls: Mapping[str, int]
    """Of a language model: made, failed, refused, tokens."""
    seconds: float
    logged: bool = False
    """Whether the report has the log."""
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return {
            "simulated": self.simulated,
            **{name: [one.to_dict() for one in section] for name, section in self.sections.items()},
            "totals": {name: [one.to_dict() for one in totals(section)] for name, section in self.sections.items()},
            **({"log": {name: self._log(name) for name in self.sections}} if self.logged else {}),
            "benchmark": "worlds",
            "answerer": f"{self.answerer} (SIMULATED)" if self.simulated else self.answerer,
            "seed": self.seed,
            "calls": dict(self.calls),
            "seconds": round(self.seconds, 1),
            "models": dict(self.models),
            **self.environment,
        }

    def _log(self, name: str) -> list[dict[str, Any]]:
        return [entry for one in self.sections[name] for entry in one.log()]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
