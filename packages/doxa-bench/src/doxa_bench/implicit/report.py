"""What a run of the implicit benchmark measured: per question and system, and summed up with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa_bench.metrics import latency, mean

__all__ = ["OURS", "AskedQuery", "ImplicitReport", "Scored"]

OURS = "doxa"
DENSE = "dense"
RESAMPLES = 10_000
SUBSETS = ("alias", "temporal-gap", "cross-domain", "ellipsis", "cold-start", "revised", "recurring", "once")
STAGES = {"cold (<= 10)": (0, 10), "mid (11-50)": (11, 50), "mature (> 50)": (51, 10**9)}
"""Turns of history when the question is asked. Source: section 4.6."""
DISTANCES = {"1-20": (0, 20), "21-40": (21, 40), "41-60": (41, 60), "> 60": (61, 10**9)}
"""Turns between the first gold turn and the question. Source: figure 1."""
PAPER: Mapping[str, tuple[float, float]] = {
    "dense": (0.580, 0.410),
    "long context": (0.601, 0.423),
    "summary": (0.618, 0.439),
    "dense+rerank": (0.647, 0.468),
    "rewrite": (0.638, 0.456),
    "hipporag": (0.671, 0.491),
    OURS: (0.706, 0.514),
}
"""Recall@10 and nDCG@10 of table 5, by BGE-large on data that is not public: for orientation only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """How one system did on one question."""

    recall: float
    ndcg: float
    faithful: float
    """Share of the cited evidence, its first three, that states a preference of the user which holds."""
    stale: int
    """How many of its ten pieces of evidence state what no longer holds."""
    ms: float
    """Milliseconds, the encoding of the question included at the time that it takes without a cache."""
    tokens: int
    """Of the evidence, and of what a model had to read to find it."""
    lead: str | None = None
    """The view that led the search, where there is a choice."""
    expanded: bool | None = None
    disagreement: float | None = None
    """Symmetric KL of graph and dense view over the candidates, where there are both."""
    answered: bool | None = None
    """Whether its answer names something and cites a statement that holds; None where no answer was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuery:
    """One question and how every system did on it."""

    dialogue: str
    workload: str
    query_id: str
    text: str
    kind: str
    """`recommendation`, `preference`, `follow-up` or `explicit`."""
    subsets: tuple[str, ...]
    after: int
    """Turns of history."""
    user_turns: int
    """Turns of the user among them."""
    distance: int
    """Turns between the first gold turn and the question."""
    gold: int
    """How many turns were to be found."""
    systems: Mapping[str, Scored]

    @property
    def implicit(self) -> bool:
        """Whether it shares no stem with its evidence."""
        return self.kind != "explicit"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImplicitReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    seed: int
    split: str
    distractors: str
    """Where unrelated talk came from."""
    dialogues: int
    turns: int
    ingest_s: float
    encode_ms: float
    """Median time of encoding one question without a cache."""
    k: int
    history_tokens: float
    """Mean tokens of a whole history: what long context reads."""
    asked: tuple[AskedQuery, ...]
    long: int = 0
    """Turns that each dialogue was drawn to have; 0 for the usual ones."""
    ablations: tuple[str, ...] = ()
    """Systems that are ours with a part switched off or set otherwise."""
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, baselines first."""
        return tuple(self.asked[0].systems) if self.asked else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data; `_95` are intervals of 10,000 resamples of dialogues."""
        implicit = [one for one in self.asked if one.implicit]
        return {
            "benchmark": "implicit",
            "seed": self.seed,
            "split": self.split,
            "long": self.long,
            "distractors": self.distractors,
            "dialogues": self.dialogues,
            "questions": len(implicit),
            "explicit_questions": len(self.asked) - len(implicit),
            "k": self.k,
            "main": self._main(implicit),
            "long_context": {"tokens": round(self.history_tokens), "cost": self._long_context(implicit)},
            "gains": self._gains(implicit),
            "workloads": self._groups(implicit, lambda one: [one.workload]),
            "kinds": self._groups(self.asked, lambda one: [one.kind]),
            "subsets": self._groups(implicit, lambda one: one.subsets, SUBSETS),
            "stages": self._groups(implicit, lambda one: _bucket(one.after, STAGES), STAGES),
            "distances": self._groups(implicit, lambda one: _bucket(one.distance, DISTANCES), DISTANCES),
            "no_regression": {
                "implicit": self._row(implicit),
                "explicit": self._row([one for one in self.asked if not one.implicit]),
                "all": self._row(self.asked),
            },
            "turns": self.turns,
            "turns_per_s": round(self.turns / self.ingest_s, 1) if self.ingest_s else 0.0,
            "encode_ms": round(self.encode_ms, 2),
            "models": dict(self.models),
            **self.environment,
        }

    def _main(self, asked: Sequence[AskedQuery]) -> dict[str, dict[str, Any]]:
        """Return the main table (table 5), ablations included (table 8)."""
        base_tokens = mean([one.systems[DENSE].tokens for one in asked if DENSE in one.systems])
        base_ms = mean([one.systems[DENSE].ms for one in asked if DENSE in one.systems])
        rows = {}
        for name in self.systems:
            scored = [one.systems[name] for one in asked]
            tokens, ms = mean([one.tokens for one in scored]), [one.ms for one in scored]
            rows[name] = {
                **self._measures(name, asked),
                "faithful": round(mean([one.faithful for one in scored]), 4),
                "stale": sum(one.stale for one in scored),
                "ms": latency(ms),
                "tokens": round(tokens, 1),
                "cost": round(tokens / base_tokens, 3) if base_tokens else None,
                "time": round(mean(ms) / base_ms, 3) if base_ms else None,
                "ablation": name in self.ablations,
                "paper": PAPER.get(name),
                **_routing(scored),
            }
        return rows

    def _measures(self, name: str, asked: Sequence[AskedQuery]) -> dict[str, Any]:
        measured: dict[str, Any] = {}
        for measure in ("recall", "ndcg"):
            sums, counts = _by_dialogue(asked, _measure_of(name, measure))
            low, high = _interval(sums, counts)
            measured[f"{measure}@{self.k}"] = round(float(sums.sum() / max(counts.sum(), 1)), 4)
            measured[f"{measure}@{self.k}_95"] = [round(low, 4), round(high, 4)]
        return measured

    def _gains(self, asked: Sequence[AskedQuery]) -> dict[str, dict[str, Any]]:
        """Return how much ours is above every other system, paired by dialogue."""
        gains: dict[str, dict[str, Any]] = {}
        if OURS not in self.systems:
            return gains
        for name in self.systems:
            if name == OURS:
                continue
            gains[name] = {}
            for measure in ("recall", "ndcg"):
                sums, counts = _by_dialogue(asked, _measure_of(OURS, measure))
                others, _ = _by_dialogue(asked, _measure_of(name, measure))
                sums = sums - others
                low, high = _interval(sums, counts)
                gains[name][f"{measure}@{self.k}"] = round(float(sums.sum() / max(counts.sum(), 1)), 4)
                gains[name][f"{measure}@{self.k}_95"] = [round(low, 4), round(high, 4)]
        return gains

    def _groups(
        self, asked: Sequence[AskedQuery], names_of: Callable[[AskedQuery], Iterable[str]], order: Iterable[str] = ()
    ) -> dict[str, Any]:
        found: dict[str, list[AskedQuery]] = {name: [] for name in order}
        for one in asked:
            for name in names_of(one):
                found.setdefault(name, []).append(one)
        return {name: self._row(group) for name, group in found.items() if group}

    def _row(self, asked: Sequence[AskedQuery]) -> dict[str, Any]:
        systems = {
            name: {
                f"recall@{self.k}": round(mean([one.systems[name].recall for one in asked]), 4),
                f"ndcg@{self.k}": round(mean([one.systems[name].ndcg for one in asked]), 4),
            }
            for name in self.systems
        }
        told = [one.systems[OURS].answered for one in asked if OURS in one.systems]
        answered = [float(one) for one in told if one is not None]
        return {"n": len(asked), "systems": systems, **({"answered": round(mean(answered), 4)} if answered else {})}

    def _long_context(self, asked: Sequence[AskedQuery]) -> float | None:
        base = mean([one.systems[DENSE].tokens for one in asked if DENSE in one.systems])
        return round(self.history_tokens / base, 2) if base else None


def _routing(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return what is known of the router and of the views' disagreement; nothing where nothing is."""
    leads = [one.lead for one in scored if one.lead is not None]
    gaps = [one.disagreement for one in scored if one.disagreement is not None]
    expanded = [one.expanded for one in scored if one.expanded is not None]
    found: dict[str, Any] = {}
    if leads:
        found["leads"] = {lead: round(leads.count(lead) / len(leads), 4) for lead in sorted(set(leads))}
    if expanded:
        found["expanded"] = round(mean(expanded), 4)
    if gaps:
        found["disagreement"] = round(mean(gaps), 5)
    return found


def _measure_of(name: str, measure: str) -> Callable[[AskedQuery], float]:
    return lambda one: float(getattr(one.systems[name], measure))


def _bucket(value: int, bounds: Mapping[str, tuple[int, int]]) -> list[str]:
    return [name for name, (low, high) in bounds.items() if low <= value <= high]


def _by_dialogue(
    asked: Sequence[AskedQuery], value: Callable[[AskedQuery], float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum of a value and the number of questions of every dialogue, each `(dialogues,)`."""
    sums: dict[str, list[float]] = {}
    for one in asked:
        sums.setdefault(one.dialogue, []).append(value(one))
    return np.array([sum(values) for values in sums.values()]), np.array([float(len(one)) for one in sums.values()])


def _interval(sums: NDArray[np.float64], counts: NDArray[np.float64], *, seed: int = 0) -> tuple[float, float]:
    """Return the middle 95% of a mean over questions when the dialogues are drawn again 10,000 times.

    Questions of one dialogue are not independent, so dialogues are what is drawn. Source: Efron 1979. Deterministic.
    """
    if len(sums) < 2:
        value = float(sums.sum() / max(counts.sum(), 1))
        return value, value
    draws = np.random.default_rng(seed).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=RESAMPLES)
    low, high = np.percentile((draws @ sums) / np.maximum(draws @ counts, 1), [2.5, 97.5])
    return float(low), float(high)
