"""Understanding: what is stored of one turn, against what a good memory stores of it.

The turns of an item's context are absorbed first, then its turn, through the engine's front door; the extracted facts
are the claims of that last turn alone. They are compared with the gold item by wording, never by meaning (`matching`).

    precision         extractions that match a required fact and hit nothing forbidden / all but the neutral ones
    recall            required facts that such an extraction matches / required facts
    forbidden rate    forbidden entries that an extraction hits / forbidden entries
    safe precision    matching / (matching + hitting): merely unlisted extras are left out
    modality, time, ended accuracy    on the facts that are matched and have such a detail
    strict F1         F1 with all three details right as well
    rule recall       gold rules that are matched atom by atom / gold rules

Neutral are extractions that match only optional facts, restate the context, or are hypothetical atoms of a gold rule.
All are micro averages over the items; a ratio of nothing is None.
"""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.core.errors import InputError
from doxa.core.values import Act, Claim, Fact, Interval, Role
from doxa.engine import Doxa, Memory
from doxa_bench.gold import GoldFact, Item, read_items
from doxa_bench.matching import Encoding, Proposition, Sides, rules_agree
from doxa_bench.metrics import bootstrap_error, f1_of_counts, ratio
from doxa_bench.parallel import patient, side_by_side
from doxa_bench.readings import Reading
from doxa_bench.record import environment, models_of

__all__ = ["Mistake", "UnderstandingReport", "UnderstandingScores", "entry_of", "run", "score", "write_predictions"]

ASSISTANT = "Assistant"
"""The speaker of a turn that is the assistant's."""
F1_COUNTS = ("matching", "scored", "found", "required")
Progress = Callable[[str, int, int], None]
Prediction = Mapping[str, Any]
"""`{id, facts: [{subject, relation, object, polarity, modality, valid_from, valid_to, ended}], rules}`, plain JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One thing that is wrong with one item."""

    id: str
    kind: str
    turn: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstandingScores:
    """Counts over items, of all and by tag, and the mistakes behind them."""

    by_item: tuple[Counter[str], ...]
    total: Counter[str]
    by_tag: Mapping[str, Counter[str]]
    mistakes: tuple[Mistake, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the measures of all items and by tag, with the counts; `f1_se` is a standard error over items."""
        tags = {tag: {**_measures(counts), "counts": dict(counts)} for tag, counts in sorted(self.by_tag.items())}
        rows = [[counts[name] for name in F1_COUNTS] for counts in self.by_item]
        error = {"f1_se": bootstrap_error(rows, f1_of_counts)}
        return {**_measures(self.total), **error, "counts": dict(sorted(self.total.items())), "tags": tags}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstandingReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    scores: UnderstandingScores
    predictions: Sequence[Prediction]
    turns: int
    """Turns that were absorbed, those of the context included."""
    ingest_s: float
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, *, errors: int = 0) -> dict[str, Any]:
        """Return the report as plain JSON data, with the first `errors` mistakes."""
        shown = self.scores.mistakes[:errors]
        return {
            "benchmark": "understanding",
            "data": self.data,
            **self.scores.to_dict(),
            "turns": self.turns,
            "turns_per_s": round(self.turns / self.ingest_s, 1) if self.ingest_s else 0.0,
            "errors": [{"id": m.id, "kind": m.kind, "turn": m.turn, "detail": m.detail} for m in shown],
            "models": dict(self.models),
            **self.environment,
        }


def run(
    path: Path | str, *, config: Config | None = None, parallel: int = 1, progress: Progress | None = None
) -> UnderstandingReport:
    """Return how well the turns of a gold file are understood.

    Args:
        path: gold items, JSON Lines.
        config: the settings; by default those of `doxa.toml` and the environment.
        parallel: how many items are read at the same time, for a model that is waited for.
        progress: is told how far the run is.

    Raises:
        NotFoundError: there is no such file.
        FormatError: a line is no gold item.
        DoxaError: the engine failed.

    Deterministic but for the times. Every item is a user of its own; everything is gone afterwards.
    """
    items = read_items(Path(path))
    with Doxa.open(":memory:", config=patient(config, parallel)) as doxa:
        described = doxa.describe()
        read = side_by_side(
            lambda item: _read(item, doxa), items, what="understand", parallel=parallel, progress=progress
        )
    predictions = [prediction for prediction, _ in read]
    return UnderstandingReport(
        data=Path(path).name,
        scores=score(items, {prediction["id"]: prediction for prediction in predictions}),
        predictions=predictions,
        turns=sum(len(item.context) + 1 for item in items),
        ingest_s=sum(seconds for _, seconds in read),
        models=models_of(described),
        environment=environment(),
    )


def write_predictions(predictions: Iterable[Prediction], path: Path) -> None:
    """Write what was extracted, one item a line; an existing file is replaced.

    Raises:
        InputError: the file cannot be written.
    """
    lines = (json.dumps(prediction, ensure_ascii=False) + "\n" for prediction in predictions)
    try:
        path.write_text("".join(lines), encoding="utf-8")
    except OSError as exc:
        raise InputError(f"The predictions cannot be written to {path}: {exc.strerror}. Name another file.") from exc


def _read(item: Item, doxa: Doxa) -> tuple[Prediction, float]:
    """Return what the memory makes of an item, and the seconds that it took to absorb it."""
    start = time.perf_counter()
    turn_id = _absorb(item, doxa)
    seconds = time.perf_counter() - start
    return predicted(item.id, doxa.memory(user=item.id), turn_id), seconds


def _absorb(item: Item, doxa: Doxa) -> str:
    """Absorb the context and then the turn, wait until they are processed, and return the id of the turn."""
    people = [turn.speaker for turn in (item.turn, *reversed(item.context)) if turn.speaker != ASSISTANT]
    chat = doxa.dialogue(user=item.id, agent=ASSISTANT, speaker=people[0] if people else None)
    for place, turn in enumerate((*item.context, item.turn), start=1):
        role: Role = "assistant" if turn.speaker == ASSISTANT else "user"
        receipt = chat.absorb(turn.text, speaker=turn.speaker, role=role, at=item.day, turn_id=f"t{place}")
    chat.flush()
    return receipt.turn_id


def predicted(name: str, memory: Memory, turn_id: str) -> Prediction:
    """Return what one turn of a memory says, as the prediction for the item of that name."""
    claims = [claim for claim in memory.claims(turn_id=turn_id) if claim.act is not Act.WITHDRAW]
    known = memory.rules()
    rules = [rule for rule in known if rule.turn_id == turn_id]
    sides = [{"if": [_atom(a) for a in rule.if_], "then": [_atom(a) for a in rule.then]} for rule in rules]
    return {"id": name, "facts": [entry_of(claim) for claim in claims], "rules": sides}


def entry_of(said: Claim | Fact) -> dict[str, Any]:
    """Return what is claimed or held as an entry of a prediction file."""
    return {
        **_atom(said),
        "modality": str(said.modality),
        "valid_from": _iso(said.valid, "start"),
        "valid_to": _iso(said.valid, "end"),
        "ended": isinstance(said, Claim) and said.ended,
    }


def _atom(claim: Any) -> dict[str, Any]:
    """Return a claim, or an atom of a rule, in words: labels, as the engine writes them for people."""
    return {
        "subject": claim.subject.label,
        "relation": claim.relation.label,
        "object": claim.object.label,
        "polarity": claim.polarity,
    }


def _iso(valid: Interval, bound: str) -> str | None:
    """Return a bound as ISO year, month or day, as coarse as it was said."""
    day = valid.start if bound == "start" else valid.end
    precision = valid.start_precision if bound == "start" else valid.end_precision
    return None if day is None else day.isoformat()[: {"year": 4, "month": 7, "day": 10}[precision]]


def score(items: Iterable[Item], predictions: Mapping[str, Prediction]) -> UnderstandingScores:
    """Return the scores of predictions, by id; an item without one has nothing extracted."""
    by_item: list[Counter[str]] = []
    by_tag: dict[str, Counter[str]] = defaultdict(Counter)
    mistakes: list[Mistake] = []
    for item in items:
        sheet = _Sheet(item)
        sheet.mark(predictions.get(item.id, {}))
        by_item.append(sheet.counts)
        for tag in item.tags:
            by_tag[tag].update(sheet.counts)
        mistakes += sheet.mistakes
    total: Counter[str] = Counter()
    for counts in by_item:
        total.update(counts)
    return UnderstandingScores(by_item=tuple(by_item), total=total, by_tag=by_tag, mistakes=tuple(mistakes))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Details:
    """Whether the details of a matched fact are right; None where it has no such detail."""

    modality: bool
    time: bool | None
    ended: bool | None

    @property
    def wrong(self) -> int:
        return [self.modality, self.time, self.ended].count(False)


@dataclass(slots=True)
class _Sheet:
    """The marks of one item."""

    item: Item
    counts: Counter[str] = field(default_factory=lambda: Counter(items=1))
    mistakes: list[Mistake] = field(default_factory=list)

    def mark(self, prediction: Prediction) -> None:
        day = self.item.day
        said = list(dict.fromkeys(Proposition.of(fact, day) for fact in prediction.get("facts") or ()))
        found: dict[int, list[tuple[_Details, Proposition]]] = defaultdict(list)
        for one in said:
            self._mark_extraction(one, found)
        self.counts["extracted"] = len(said)
        self.counts["scored"] = len(said) - self.counts["neutral"]
        self.counts["forbidden"] = len(self.item.forbidden)
        self.counts["forbidden_hit"] = sum(any(f.is_hit(one, day) for one in said) for f in self.item.forbidden)
        for place, fact in enumerate(self.item.facts):
            if not fact.optional:
                self._mark_fact(fact, found[place])
        self._mark_rules([_sides(rule, day) for rule in prediction.get("rules") or ()])

    def _mark_extraction(self, said: Proposition, found: dict[int, list[tuple[_Details, Proposition]]]) -> None:
        """Count one extraction as hitting, matching, neutral or extra; a hit beats a match."""
        hit = [entry for entry in self.item.forbidden if entry.is_hit(said, self.item.day)]
        if hit:
            self.counts["hitting"] += 1
            for entry in hit:
                self._wrong("forbidden", f"predicted {said}   ({entry.why})")
            return
        matched = {k: pairs for k, fact in enumerate(self.item.facts) if (pairs := fact.agreements(said))}
        required = [k for k in matched if not self.item.facts[k].optional]
        details = {k: _best(said, self.item.facts[k], matched[k], self.item.day) for k in required}
        for k in required:
            found[k].append((details[k], said))
        if required:
            self.counts["matching"] += 1
            self.counts["strict_matching"] += any(not judged.wrong for judged in details.values())
        elif matched or any(r.has_atom(said) for r in self.item.rules) or self.item.restates_context(said):
            self.counts["neutral"] += 1
        else:
            self._wrong("extra", f"predicted {said}")

    def _mark_fact(self, fact: GoldFact, found: Sequence[tuple[_Details, Proposition]]) -> None:
        """Count a required fact as found or missed; of several extractions the one with most details right counts."""
        self.counts["required"] += 1
        if not found:
            self._wrong("missed", f"gold {fact.label}")
            return
        details, said = min(found, key=lambda pair: pair[0].wrong)
        self.counts["found"] += 1
        self.counts["strict_found"] += not details.wrong
        for name, right in (("modality", details.modality), ("time", details.time), ("ended", details.ended)):
            if right is not None:
                self.counts[f"{name}_total"] += 1
                self.counts[f"{name}_right"] += right
            if right is False:
                self._wrong(name, f"gold {fact.label}   predicted {said}")

    def _mark_rules(self, said: Sequence[Sides]) -> None:
        """Count the gold rules that are found; one extracted rule may be several of them ("not both")."""
        used: set[int] = set()
        for rule in self.item.rules:
            same = {k for k, sides in enumerate(said) if rules_agree(sides, (rule.when, rule.then))}
            used |= same
            self.counts["rules_found"] += bool(same)
            if not same:
                self._wrong("missed rule", f"gold {rule.label}")
        for k, sides in enumerate(said):
            if k not in used:
                when, then = (" and ".join(map(str, side)) for side in sides)
                self._wrong("extra rule", f"predicted if {when} then {then}")
        self.counts.update(rules=len(self.item.rules), rules_extracted=len(said), rules_matching=len(used))

    def _wrong(self, kind: str, detail: str) -> None:
        turn = f"{self.item.turn.speaker}: {self.item.turn.text}"
        self.mistakes.append(Mistake(id=self.item.id, kind=kind, turn=turn, detail=detail))


def _sides(rule: Mapping[str, Any], day: str) -> Sides:
    when, then = ([Proposition.of(atom, day) for atom in rule.get(side) or ()] for side in ("if", "then"))
    return when, then


def _best(said: Proposition, fact: GoldFact, pairs: Sequence[tuple[Reading, Encoding]], day: str) -> _Details:
    """Return the details under the most favourable of the readings that match."""
    return min((_details(said, fact, reading, by, day) for reading, by in pairs), key=lambda details: details.wrong)


def _details(said: Proposition, fact: GoldFact, reading: Reading, by: Encoding, day: str) -> _Details:
    modalities = {said.modality_in(reading), *(["desired"] if reading.wish else [])}
    bounds = [(fact.valid_from, said.valid_from), (fact.valid_to, said.valid_to)]
    dated = [(gold, ours or "") for gold, ours in bounds if gold]
    # An alternative with the opposite polarity ("stopped smoking" for "smoked") says itself that it is over.
    over = said.is_past(reading, day) or by.polarity != fact.polarity
    return _Details(
        modality=bool(modalities & fact.modalities),
        time=all(ours.startswith(gold) for gold, ours in dated) if dated else None,
        ended=over if fact.ended else None,
    )


def _measures(n: Counter[str]) -> dict[str, float | None]:
    return {
        "precision": ratio(n["matching"], n["scored"]),
        "recall": ratio(n["found"], n["required"]),
        "f1": f1_of_counts(*(n[name] for name in F1_COUNTS)),
        "safe_precision": ratio(n["matching"], n["matching"] + n["hitting"]),
        "forbidden_rate": ratio(n["forbidden_hit"], n["forbidden"]),
        "modality_accuracy": ratio(n["modality_right"], n["modality_total"]),
        "time_accuracy": ratio(n["time_right"], n["time_total"]),
        "ended_accuracy": ratio(n["ended_right"], n["ended_total"]),
        "strict_f1": f1_of_counts(n["strict_matching"], n["scored"], n["strict_found"], n["required"]),
        "rule_recall": ratio(n["rules_found"], n["rules"]),
        "rule_precision": ratio(n["rules_matching"], n["rules_extracted"]),
    }
