"""BeliefBank: thousands of beliefs about entities, a tenth of them wrong, held against real constraints.

Source: Kassner, Tafjord, Schütze and Clark 2021, "BeliefBank: adding memory to a pre-trained language model for a
systematic notion of belief". The paper asks a model; here the silver answers are told in random order, a random tenth
of them flipped, and revised after each one. What is measured is what constraints alone can mend.

- *Constraints*: the forward ones ("a tree is a plant", "a tree is no car"), which the silver answers hold without
  exception, as hard rules about every entity. The data set repeats each implication backwards ("a plant is a tree")
  with a low score; 45% of those that apply are false of the silver answers, so they are left out. All forward ones
  have the same score, so there are no weights of rules to use.
- *Answer* in the end: what is held; of a statement that was given up, what rules and held beliefs entail.
- *Consistency*: of the constraints whose condition is answered yes and whose consequence is answered, the share that
  hold (one less the paper's tau). *Accuracy*: the share of all statements that are answered as silver has it.
- *Weight* of a belief, for the policies that have one: 1 for having been said, and 1 for every held belief that follows
  from it by one constraint, or that it follows from (its corroboration). It knows neither silver answers nor flips.
- What was given up is taken up again once nothing that is held stands against it, as the engine does with facts.

Nothing is trained or tuned on the data, and nothing of it is kept.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from doxa.core.errors import FormatError, NotFoundError
from doxa.logic import Correction, Lit, Policy, Theory, correct, greedy, heaviest
from doxa_bench.metrics import f1_of_counts, mean, percentile, ratio
from doxa_bench.record import environment

__all__ = ["BeliefBankReport", "run"]

FACTS, CONSTRAINTS = "silver_facts.json", "constraints_v2.json"
FLIPPED = 0.1
"""Share of the answers that are told the wrong way round."""
SEEDS = 5
GLOBAL = "all at once (MaxSAT)"
"""The heaviest consistent answers, found once at the end (MaxSAT): no policy, and nothing is revised on the way."""
Progress = Callable[[str, int, int], None]
Answers = Mapping[str, bool | None]
Clause = tuple[Lit, Lit]


class Constraint(NamedTuple):
    """Whoever is `condition` is (or, not `positive`, is not) `consequence`."""

    condition: str
    consequence: str
    positive: bool


class Entity(NamedTuple):
    """What is asked about one entity, and the constraints that bear on it."""

    name: str
    silver: Mapping[str, bool]
    constraints: tuple[Constraint, ...]
    clauses: tuple[Clause, ...]


class System(NamedTuple):
    """How is revised, and whether beliefs weigh by their corroboration or all the same."""

    name: str
    policy: str
    corroborated: bool = False


SYSTEMS = (
    System("recency", "recency"),
    System("minimal", "minimal"),
    System("greedy", "greedy"),
    System("reject-new", "reject-new"),
    System("trust", "trust", corroborated=True),
    System("weighted", "weighted", corroborated=True),
    System("weighted, all the same", "weighted"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """One system on one seed."""

    accuracy: float
    f1: float
    consistency: float
    applicable: int
    unanswered: int
    certified: bool
    """A model of rules and held beliefs was checked clause by clause, without the solver."""
    retractions: int = 0
    rejections: int = 0
    restored: int = 0
    times_us: Sequence[float] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefBankReport:
    """What a run measured. `to_dict()` is the form that is printed and kept."""

    data: str
    entities: int
    beliefs: int
    constraints: int
    ground: int
    """Constraints times the entities that they bear on: the hard clauses."""
    left_out: int
    seeds: Sequence[int]
    before: Sequence[_Measured]
    """As told, one per seed."""
    after: Mapping[str, Sequence[_Measured]]
    """System -> one per seed."""
    models: Mapping[str, str | None] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON data: means over the seeds; consistency is the lowest of them."""
        first = SYSTEMS[0].name
        return {
            "benchmark": "beliefbank",
            "data": self.data,
            "policy": first,
            "accuracy_before": self._mean(self.before, "accuracy"),
            "accuracy": self._mean(self.after[first], "accuracy"),
            "consistency_before": self._mean(self.before, "consistency"),
            "consistency": self._mean(self.after[first], "consistency"),
            "f1_before": self._mean(self.before, "f1"),
            "policies": {name: self._row(measured) for name, measured in self.after.items()},
            "flipped": FLIPPED,
            "seeds": list(self.seeds),
            "entities": self.entities,
            "beliefs": self.beliefs,
            "constraints": self.constraints,
            "ground_constraints": self.ground,
            "constraints_left_out": self.left_out,
            "models": dict(self.models),
            **self.environment,
        }

    def _row(self, measured: Sequence[_Measured]) -> dict[str, Any]:
        gains = [after.accuracy - before.accuracy for after, before in zip(measured, self.before, strict=True)]
        times = [one for after in measured for one in after.times_us]
        counts = ("applicable", "unanswered", "retractions", "rejections", "restored")
        return {
            "accuracy": self._mean(measured, "accuracy"),
            "accuracy_range": [round(end([one.accuracy for one in measured]), 4) for end in (min, max)],
            "lowest_gain": round(min(gains), 4),
            "f1": self._mean(measured, "f1"),
            "consistency": round(min(one.consistency for one in measured), 6),
            "certified": all(one.certified for one in measured),
            **{name: round(mean([getattr(one, name) for one in measured]), 1) for name in counts},
            "us_per_belief": {f"p{share}": round(percentile(times, share), 1) for share in (50, 95)} if times else None,
            "seconds": self._mean(measured, "seconds"),
        }

    @staticmethod
    def _mean(measured: Sequence[_Measured], name: str) -> float:
        return round(mean([getattr(one, name) for one in measured]), 4)


def run(
    path: Path | str, *, seed: int = 0, limit: int | None = None, progress: Progress | None = None
) -> BeliefBankReport:
    """Return what every policy makes of the silver answers of BeliefBank when a tenth of them is wrong.

    Args:
        path: the folder with `silver_facts.json` and `constraints_v2.json`.
        seed: the first of five, of flips and order.
        limit: only the first `limit` entities.
        progress: is told how far the run is.

    Raises:
        NotFoundError: a file is missing.
        FormatError: a file is not what it should be.

    Deterministic but for the times. Everything is in one theory, as one user's memory would be.
    """
    tell = progress or (lambda what, done, total: None)
    silver, constraints, left_out = _read(Path(path))
    entities = [_entity(name, answers, constraints) for name, answers in list(silver.items())[:limit]]
    seeds = range(seed, seed + SEEDS)
    before: list[_Measured] = []
    after: dict[str, list[_Measured]] = {name: [] for name in (*(system.name for system in SYSTEMS), GLOBAL)}
    for done, one in enumerate(seeds):
        told = _tell(entities, one)
        before.append(_measure(entities, _as_told(entities, told), certified=False))
        for number, system in enumerate(SYSTEMS):
            tell(f"seed {one}, {system.name}", done * len(SYSTEMS) + number, SEEDS * len(SYSTEMS))
            after[system.name].append(_absorb(entities, told, system))
        after[GLOBAL].append(_all_at_once(entities, told))
    return BeliefBankReport(
        data=Path(path).name,
        entities=len(entities),
        beliefs=sum(len(entity.silver) for entity in entities),
        constraints=len(constraints),
        ground=sum(len(entity.clauses) for entity in entities),
        left_out=left_out,
        seeds=seeds,
        before=before,
        after=after,
        environment=environment(),
    )


def _entity(name: str, silver: Mapping[str, bool], constraints: Sequence[Constraint]) -> Entity:
    """Return an entity with the constraints between what is asked of it, directly or by way of what is not asked.

    A statement that is not asked matters only between two that are: where it is the consequence of one constraint and
    the condition of another.
    """
    bearing = list(constraints)
    while True:
        conditions = {one.condition for one in bearing} | set(silver)
        consequences = {one.consequence for one in bearing} | set(silver)
        left = [one for one in bearing if one.condition in consequences and one.consequence in conditions]
        if len(left) == len(bearing):
            break
        bearing = left
    clauses = tuple((~Lit((name, one.condition)), Lit((name, one.consequence), one.positive)) for one in bearing)
    return Entity(name, silver, tuple(bearing), clauses)


def _tell(entities: Sequence[Entity], seed: int) -> list[tuple[Entity, Lit]]:
    """Return what is told, in order: every answer once, a tenth of them flipped."""
    rng = Random(f"beliefbank/{seed}")
    asked = [(entity, statement) for entity in entities for statement in entity.silver]
    flipped = set(rng.sample(range(len(asked)), round(FLIPPED * len(asked))))
    told = [
        (entity, Lit((entity.name, statement), entity.silver[statement] != (number in flipped)))
        for number, (entity, statement) in enumerate(asked)
    ]
    rng.shuffle(told)
    return told


class _Beliefs:
    """What is believed of one entity."""

    def __init__(self, entity: Entity) -> None:
        self.held: dict[Lit, None] = {}
        self.lost: dict[Lit, None] = {}
        """Given up or turned down, in that order."""
        self._partners: dict[Lit, list[Lit]] = {}
        for one, other in entity.clauses:
            for premise, conclusion in ((~one, other), (~other, one)):
                self._partners.setdefault(premise, []).append(conclusion)
                self._partners.setdefault(conclusion, []).append(premise)

    def corroboration(self, lit: Lit) -> float:
        """Return 1 and 1 more for every held belief that one constraint derives from it, or it from."""
        return 1.0 + sum(partner in self.held for partner in self._partners.get(lit, ()))


def _absorb(entities: Sequence[Entity], told: Sequence[tuple[Entity, Lit]], system: System) -> _Measured:
    """Tell one belief after another to a theory, revise after each, and measure what is believed in the end."""
    start = time.perf_counter()
    theory = Theory()
    for entity in entities:
        for clause in entity.clauses:
            theory.require(clause)
    beliefs = {entity.name: _Beliefs(entity) for entity in entities}
    counts, times = [0, 0, 0], []
    for entity, lit in told:
        before = time.perf_counter()
        changed = _believe(theory, beliefs[entity.name], lit, system)
        times.append((time.perf_counter() - before) * 1e6)
        counts = [count + more for count, more in zip(counts, changed, strict=True)]
    seconds = time.perf_counter() - start
    answers = {entity.name: _answers(theory, entity, beliefs[entity.name]) for entity in entities}
    held = [lit for one in beliefs.values() for lit in one.held]
    measured = _measure(
        entities,
        answers,
        certified=_certified(theory, entities, held),
        retractions=counts[0],
        rejections=counts[1],
        restored=counts[2],
        times_us=times,
        seconds=seconds,
    )
    theory.close()
    return measured


def _believe(theory: Theory, beliefs: _Beliefs, lit: Lit, system: System) -> tuple[int, int, int]:
    """Take in one belief; return how many were given up, turned down and taken up again."""
    prior = list(beliefs.held)
    theory.believe(lit, lit)
    beliefs.held[lit] = None
    correction = _correct(theory, prior, lit, system, beliefs)
    for name in (*correction.given_up, *((lit,) if correction.rejected else ())):
        theory.forget(name)
        beliefs.lost[name] = beliefs.held.pop(name)
    restored = _restore(theory, beliefs) if correction.given_up else 0
    return len(correction.given_up), int(correction.rejected), restored


def _correct(theory: Theory, prior: Sequence[Lit], new: Lit, system: System, beliefs: _Beliefs) -> Correction:
    if system.policy == "greedy":
        return greedy(theory, prior, new)
    policy: Policy = system.policy  # type: ignore[assignment]  # those of SYSTEMS
    weights: dict[Any, float] = {}

    def weight(name: Any) -> float:
        if name not in weights:
            weights[name] = beliefs.corroboration(name)
        return weights[name]

    return correct(policy, theory, prior, new, weight=weight if system.corroborated else None)


def _restore(theory: Theory, beliefs: _Beliefs) -> int:
    """Take up again what nothing stands against any more, what was lost last first."""
    back = 0
    for lit in reversed(list(beliefs.lost)):
        if theory.consistent(also=[lit]):
            theory.believe(lit, lit)
            beliefs.held[lit] = beliefs.lost.pop(lit)
            back += 1
    return back


def _answers(theory: Theory, entity: Entity, beliefs: _Beliefs) -> Answers:
    return {statement: _answer(theory, Lit((entity.name, statement)), beliefs.held) for statement in entity.silver}


def _answer(theory: Theory, yes: Lit, held: Mapping[Lit, None]) -> bool | None:
    for lit in (yes, ~yes):
        if lit in held or theory.entails(lit):
            return lit.positive
    return None


def _all_at_once(entities: Sequence[Entity], told: Sequence[tuple[Entity, Lit]]) -> _Measured:
    start = time.perf_counter()
    of: dict[str, dict[Lit, float]] = {entity.name: {} for entity in entities}
    for entity, lit in told:
        of[entity.name][lit] = 1.0
    kept = {lit for entity in entities for lit in heaviest(entity.clauses, of[entity.name])}
    seconds = time.perf_counter() - start
    # What is not kept clashes with what is: an optimum leaves nothing out that fits.
    values = {lit.atom: lit.positive == (lit in kept) for _, lit in told}
    answers = {e.name: {statement: values[e.name, statement] for statement in e.silver} for e in entities}
    with Theory() as theory:
        for entity in entities:
            for clause in entity.clauses:
                theory.require(clause)
        for lit in kept:
            theory.believe(lit, lit)
        certified = _certified(theory, entities, kept)
    return _measure(entities, answers, certified=certified, rejections=len(told) - len(kept), seconds=seconds)


def _certified(theory: Theory, entities: Iterable[Entity], held: Iterable[Lit]) -> bool:
    """Tell whether the theory has a model that satisfies every clause and belief, looked up one by one."""
    model = theory.model()
    if model is None:
        return False
    clauses = (clause for entity in entities for clause in entity.clauses)
    return all(any(model[lit.atom] == lit.positive for lit in clause) for clause in clauses) and all(
        model[lit.atom] == lit.positive for lit in held
    )


def _as_told(entities: Iterable[Entity], told: Iterable[tuple[Entity, Lit]]) -> Mapping[str, Answers]:
    values = {lit.atom: lit.positive for _, lit in told}
    return {e.name: {statement: values[e.name, statement] for statement in e.silver} for e in entities}


def _measure(entities: Sequence[Entity], answers: Mapping[str, Answers], *, certified: bool, **more: Any) -> _Measured:
    pairs = [(answers[e.name][statement], value) for e in entities for statement, value in e.silver.items()]
    held = [holds for entity in entities for holds in _applied(entity, answers[entity.name])]
    both, yes = sum(given is True and value for given, value in pairs), sum(value for _, value in pairs)
    return _Measured(
        accuracy=mean([given == value for given, value in pairs]),
        f1=f1_of_counts(both, sum(given is True for given, _ in pairs), both, yes) or 0.0,
        consistency=ratio(sum(held), len(held)) or 0.0,
        applicable=len(held),
        unanswered=sum(given is None for given, _ in pairs),
        certified=certified,
        **more,
    )


def _applied(entity: Entity, answers: Answers) -> Iterator[bool]:
    """Yield, for each constraint that applies to an entity, whether it holds."""
    for one in entity.constraints:
        consequence = answers.get(one.consequence)
        if answers.get(one.condition) and consequence is not None:
            yield consequence == one.positive


def _read(folder: Path) -> tuple[dict[str, dict[str, bool]], list[Constraint], int]:
    """Return the silver answers, the forward constraints, and how many others there are."""
    for name in (FACTS, CONSTRAINTS):
        if not (folder / name).is_file():
            raise NotFoundError(f"There is no file {folder / name}. Give the folder of BeliefBank with --data.")
    try:
        silver = {
            entity: {statement: {"yes": True, "no": False}[answer] for statement, answer in answers.items()}
            for entity, answers in json.loads((folder / FACTS).read_text(encoding="utf-8")).items()
        }
        links = json.loads((folder / CONSTRAINTS).read_text(encoding="utf-8"))["links"]
        forward = [
            Constraint(link["source"], link["target"], {"yes_yes": True, "yes_no": False}[link["weight"]])
            for link in links
            if link["direction"] == "forward"
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise FormatError(
            f"expected BeliefBank, {{entity: {{statement: yes or no}}}} and links between statements, in {folder}, "
            f"got something else: {exc!r}."
        ) from exc
    return silver, forward, len(links) - len(forward)
