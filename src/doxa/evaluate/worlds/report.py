"""What was measured on worlds, by condition: the rows of the paper's Tables 1 and 2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from doxa.evaluate.metrics import bootstrap_error, ratio, wilson_interval
from doxa.evaluate.worlds.answerers import Setting
from doxa.evaluate.worlds.play import Played
from doxa.evaluate.worlds.systems import BASELINE, PRINTED
from doxa.evaluate.worlds.world import table

__all__ = ["Condition", "WorldsReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """All dialogues of one setting, mode and system."""

    setting: Setting
    system: str
    simulated: bool
    played: Sequence[Played]
    baseline: Sequence[Played]
    """The same dialogues under the baseline."""
    profile: str | None = None
    """Whose errors are simulated."""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON data; shares are rounded to four places."""
        played = self.played
        turns = [one.turns for one in played]
        inconsistent = sum(not one.consistent for one in played)
        retractions = sum(one.retractions for one in played)
        checked = [one.brute_forced for one in played if one.brute_forced is not None]
        return {
            "setting": self.setting.schedule,
            "mode": self.setting.mode,
            "system": self.system,
            "simulated": self.simulated,
            "dialogues": len(played),
            "turns": sum(turns),
            **_accuracy("raw_accuracy", turns, [one.raw for one in played]),
            **_accuracy("final_accuracy", turns, [one.final for one in played]),
            **_accuracy("entailed_accuracy", turns, [one.entailed for one in played]),
            **self._against_baseline(turns),
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

    def _against_baseline(self, turns: Sequence[int]) -> dict[str, float | None]:
        gains = [ours.final - theirs.final for ours, theirs in zip(self.played, self.baseline, strict=True)]
        return _accuracy("final_minus_baseline", turns, gains)

    def _paper(self) -> dict[str, Any] | None:
        """Return the paper's own row, which only its baseline and its algorithm have."""
        cell = table()["paper"].get(self.profile, {}).get(self.setting.schedule, {}).get(self.setting.mode)
        row = {BASELINE: "baseline", PRINTED: "solver"}.get(self.system)
        if cell is None or row is None:
            return None
        names = ("final_accuracy", "inconsistent", "retractions")
        return {**dict(zip(names, cell[row], strict=True)), **({"raw_accuracy": cell["raw"]} if "raw" in cell else {})}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldsReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    answerer: str
    simulated: bool
    seed: int
    sections: Mapping[str, Sequence[Condition]]
    """`conditions` (random and stress schedules), and further families and profiles by name."""
    calls: Mapping[str, int]
    """Of a language model: made, failed, refused, tokens."""
    seconds: float
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data."""
        return {
            "simulated": self.simulated,
            **{name: [one.to_dict() for one in section] for name, section in self.sections.items()},
            "benchmark": "worlds",
            "answerer": f"{self.answerer} (SIMULATED)" if self.simulated else self.answerer,
            "seed": self.seed,
            "calls": dict(self.calls),
            "seconds": round(self.seconds, 1),
            "models": dict(self.models),
            **self.environment,
        }


def _accuracy(name: str, turns: Sequence[int], right: Sequence[int]) -> dict[str, float | None]:
    """Return a share of turns, and its standard error over dialogues."""
    rows = list(zip(right, turns, strict=True))
    return {
        name: _rounded(ratio(sum(right), sum(turns))),
        f"{name}_se": _rounded(bootstrap_error(rows, ratio)),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
