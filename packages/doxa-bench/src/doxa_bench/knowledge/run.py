"""`doxa bench knowledge`: is the knowledge that is retrieved for a dialogue diverse, and does it go where people go?

Source: Liu et al., Reasoning in Action (`mcts-retrieval`), section IV, tables III and IV, figure 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from doxa.backends.llm import LanguageModel
from doxa.commonsense import KnowledgeBase
from doxa.core.config import Config
from doxa.core.errors import InputError
from doxa_bench.knowledge.alignment import ARGMAX, THRESHOLDS, Entailment, Transitions, counts
from doxa_bench.knowledge.dialogues import Talk, read_dailydialog, read_empathetic
from doxa_bench.knowledge.overlap import Rouge, nearness, semantic_overlap, token_overlap
from doxa_bench.knowledge.rivals import RIVALS
from doxa_bench.knowledge.systems import ABLATIONS, OURS, REFERENCE, SYSTEMS, Bench
from doxa_bench.knowledge.transitions import Labelled
from doxa_bench.metrics import bootstrap_interval, mean, percentile

__all__ = ["SETS", "KnowledgeReport", "check", "run"]

SETS: Mapping[str, tuple[str, Callable[[Path], tuple[Talk, ...]]]] = {
    "dailydialog": ("measure/dailydialog", read_dailydialog),
    "empathetic": ("measure/empathetic_dialogues", read_empathetic),
}
"""Set -> its folder in the data, and how it is read."""
EVENTS = 24
"""The inferences, best first, that are the events of the measure: the likeliest ones."""

Tell = Callable[[str, int, int], None]
Counts = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one system gave for one dialogue."""

    rouge: Rouge
    semantic: float
    next: float | None
    """How near it comes to what is said next, the mean over all pairs of sentences; None where too little is said."""
    aligned: Mapping[str, Counts]
    """Threshold -> transitions that are aligned, and all that have an event."""
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeReport:
    """Overlap, alignment and time of every system."""

    set: str
    dialogues: int
    base: Mapping[str, Any]
    systems: Mapping[str, Sequence[Scored]]
    models: Mapping[str, str | None]
    examples: Sequence[Mapping[str, Any]] = field(default=())
    inferred: Mapping[str, Any] | None = None
    """How near each system is to what a language model infers (`inferences`); None where none was asked."""
    labelled: Labelled = field(default_factory=Labelled)
    """Who told the transitions."""
    degraded: Sequence[str] = field(default=())
    """Of each dialogue of which the reasoner inferred less than it could, why."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data; baselines and ours under `systems`, the rest under names of their own."""
        table = {name: self._row(name) for name in self.systems}
        chosen = (OURS, *RIVALS)
        return {
            "set": self.set,
            "n": self.dialogues,
            "systems": {name: row for name, row in table.items() if name in chosen},
            "ablations": {name: row for name, row in table.items() if name in ABLATIONS},
            "reference": {name: row for name, row in table.items() if name == REFERENCE},
            "compared": self._compared(),
            "base": dict(self.base),
            "transitions": self.labelled.to_dict(),
            "degraded": {"dialogues": len(self.degraded), "first": self.degraded[0] if self.degraded else ""},
            "examples": list(self.examples),
            **({} if self.inferred is None else {"model": dict(self.inferred)}),
        }

    def _row(self, name: str) -> dict[str, Any]:
        rows = self.systems[name]
        times = [row.ms for row in rows]
        row: dict[str, Any] = {
            label: mean([one.rouge[place] for one in rows])
            for place, label in enumerate(("rouge1", "rouge2", "rougeL"))
        }
        row["rougeL_95"] = _interval([(one.rouge[2], 1.0) for one in rows])
        row["semantic_overlap"] = mean([one.semantic for one in rows])
        row["next_similarity"] = mean([one.next for one in rows if one.next is not None])
        for threshold in (*map(str, THRESHOLDS), ARGMAX):
            row[f"alignment@{threshold}"] = _share([one.aligned[threshold] for one in rows])
        row["alignment@0.5_95"] = _interval([one.aligned["0.5"] for one in rows])
        row["transitions@0.5"] = sum(one.aligned["0.5"][1] for one in rows)
        return row | {"ms_p50": percentile(times, 50), "ms_p95": percentile(times, 95)}

    def _compared(self) -> dict[str, Any]:
        """Ours beside dense in ROUGE-L, the best baseline in alignment, and the ablations in what is said next."""
        if OURS not in self.systems:
            return {}
        ours, found = self.systems[OURS], dict[str, Any]()
        if "dense" in self.systems:
            pairs = [(one.rouge[2], other.rouge[2]) for one, other in zip(ours, self.systems["dense"], strict=True)]
            found["rougeL_to_dense"] = _share(pairs)
            found["rougeL_to_dense_95"] = _interval(pairs)
        rivals = {
            name: _share([row.aligned["0.5"] for row in self.systems[name]]) for name in RIVALS if name in self.systems
        }
        if rivals:
            best = max(rivals, key=lambda name: rivals[name] or 0.0)
            pairs = [
                (one.aligned["0.5"][0], other.aligned["0.5"][0])
                for one, other in zip(ours, self.systems[best], strict=True)
            ]
            found["alignment_to_best"] = _share(pairs)
            found["alignment_to_best_95"] = _interval(pairs)
            found["best_baseline"] = best
        for name in ABLATIONS:
            both = list(zip(ours, self.systems.get(name, ()), strict=False))
            losses = {
                "alignment": [_lost(one.aligned["0.5"], other.aligned["0.5"]) for one, other in both],
                "similarity": [
                    (one.next - other.next, 1.0)
                    for one, other in both
                    if one.next is not None and other.next is not None
                ],
            }
            for measure, lost in losses.items():
                if lost:
                    found[f"{name}_loses_{measure}"] = _share(lost)
                    found[f"{name}_loses_{measure}_95"] = _interval(lost)
        return found


def run(
    path: Path,
    base: KnowledgeBase,
    *,
    set: str = "dailydialog",
    systems: Sequence[str] = SYSTEMS,
    limit: int | None = None,
    examples: int = 0,
    config: Config | None = None,
    model: LanguageModel | None = None,
    labelled: Labelled | None = None,
    progress: Tell | None = None,
) -> KnowledgeReport:
    """Measure what is retrieved for the dialogues of a test set.

    Args:
        path: the set's file or folder, or the folder of all data.
        base: where sentences are retrieved from.
        set: one of `SETS`.
        systems: some of `SYSTEMS`; ours sets how many sentences all give.
        limit: only the first dialogues.
        examples: of how many dialogues the report shows what was retrieved.
        config: names of encoder, reasoner, parser and NLI model.
        model: for the reasoner `prompted`; it stays with the caller.
        labelled: who tells the transitions; by default they are what is said next.
        progress: is told how far it is.

    Dialogues of one utterance are left out. Cost: about a second for each, most of it NLI pairs.

    Raises:
        InputError: a set or system is unknown, the data is not there or of another form, or nothing can be measured.
    """
    talks, labelled = _talks(path, set, systems, limit), labelled or Labelled()
    tell = progress or (lambda what, done, whole: None)
    with closing(Bench(base, config or Config(), model)) as bench:
        rows: dict[str, list[Scored]] = {name: [] for name in systems}
        measured = []
        entails = Entailment(bench.nli.classify)
        for number, talk in enumerate(talks):
            tell(set, number, len(talks))
            measured.append(_measure(bench, talk, labelled, rows, entails))
            entails.forget()
        models = bench.models
    described = {"sentences": len(base), "groups": base.card.groups, "inferences": base.card.inferences}
    return KnowledgeReport(
        set=set, dialogues=len(talks), base=described, systems=rows, models=models, labelled=labelled,
        examples=tuple(one.example for one in measured[:examples]),
        degraded=[one.degraded for one in measured if one.degraded],
    )  # fmt: skip


class _Measured(NamedTuple):
    """A dialogue after it was scored."""

    degraded: str
    """Why the reasoner inferred less than it could."""
    example: dict[str, Any]
    """What was retrieved for it, as reports show it."""


def _measure(
    bench: Bench, talk: Talk, labelled: Labelled, rows: Mapping[str, list[Scored]], entails: Entailment
) -> _Measured:
    """Score every system on a dialogue."""
    case = bench.case(talk)
    aims = labelled.of(talk, case.next)
    found = bench.run(case, tuple(rows), entails)
    events = list(dict.fromkeys(one.text for one in case.candidates.inferences[:EVENTS]))
    transitions = Transitions.of(aims, events, entails)
    said = bench.measure.token_vectors(case.next)
    for name, (sentences, ms) in found.items():
        tokens = bench.tokens(sentences)
        overlap, semantic = token_overlap(sentences), semantic_overlap(tokens)
        rows[name].append(
            Scored(
                rouge=overlap or Rouge(0.0, 0.0, 0.0),
                semantic=semantic.f1 if semantic else 0.0,
                next=nearness(tokens, said)[0] if said else None,
                aligned=counts(transitions, sentences, entails),
                ms=ms,
            )
        )
    example = {
        "id": talk.talk_id,
        "context": [one.text for one in case.context.utterances],
        "next": list(aims),
        "retrieved": {name: sentences for name, (sentences, _) in found.items()},
    }
    return _Measured(case.candidates.degraded, example)


def check(set: str, systems: Sequence[str]) -> None:
    """Raise InputError where a set or a system is unknown."""
    if set not in SETS:
        raise InputError(f"bench knowledge: expected --set out of {', '.join(SETS)}; got {set!r}.")
    if unknown := [name for name in systems if name not in SYSTEMS]:
        raise InputError(f"bench knowledge: expected systems out of {', '.join(SYSTEMS)}; got {unknown[0]!r}.")


def _talks(path: Path, set: str, systems: Sequence[str], limit: int | None) -> list[Talk]:
    check(set, systems)
    folder, read = SETS[set]
    talks = [talk for talk in read(path / folder if (path / folder).exists() else path) if len(talk.texts) > 1]
    if not talks:
        raise InputError(f"bench knowledge: expected dialogues of two utterances or more in {path}, found none.")
    return talks[:limit]


def _lost(ours: Counts, other: Counts) -> tuple[float, float]:
    """Return by how many transitions more one is aligned, and of how many."""
    return ours[0] - other[0], ours[1]


def _share(pairs: Sequence[tuple[float, float]]) -> float | None:
    part, whole = (float(np.sum([pair[place] for pair in pairs])) for place in (0, 1))
    return part / whole if whole else None


def _interval(pairs: Sequence[tuple[float, float]]) -> list[float] | None:
    if _share(pairs) is None:
        return None
    found = bootstrap_interval(pairs, lambda part, whole: part / whole if whole else None)
    return list(found) if found else None
