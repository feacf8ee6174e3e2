"""Synthetic propositional worlds: what is true in them, and how they are put into words.

Source: Baitalik et al. 2026, "Conversation as Belief Revision", section "Synthetic Propositional Worlds". The paper
says what a world is (atoms; Horn-like implications, constraints and base facts; consistent by construction) and neither
its size nor how it is drawn; both are ours, in `worlds.toml`. It says that "ground-truth labels for atomic propositions
are computed by classical model checking", and has three labels; we take the reading under which all three are a
function of the world: true in every model, false in every model, or undetermined.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from doxa.logic import Lit, Theory

__all__ = [
    "MAX_TABLE_ATOMS",
    "Rule",
    "World",
    "WorldSpec",
    "draw_world",
    "has_model",
    "satisfies",
    "spec_of",
    "table",
    "truths",
    "truths_by_solver",
]

MAX_TABLE_ATOMS = 14
"""Worlds up to this size are checked by their truth table (16,384 rows), larger ones by the solver."""
MAX_DRAWS = 50
"""Draws of one rule, or of one world without any open atom, before it is left out."""

Clause = tuple[Lit, ...]
Truths = Mapping[str, bool | None]
"""Atom -> true in every model, false in every model, or (None) undetermined."""


class Rule(NamedTuple):
    """A fact, an implication or a constraint: its clauses, and one sentence that says it."""

    kind: str
    atoms: tuple[str, ...]
    clauses: tuple[Clause, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """How large a world is; numbers of rules are per atom."""

    atoms: tuple[int, int]
    facts: float
    implications: float
    exclusions: float
    equivalences: float
    hubs: int
    """Atoms that exclude two to four others each, all of which the rest of the world leaves open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Atoms and rules that have a model."""

    atoms: tuple[str, ...]
    rules: tuple[Rule, ...]
    hubs: Mapping[str, tuple[str, ...]]
    """Hub -> what it excludes."""

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Every clause of every rule."""
        return tuple(clause for rule in self.rules for clause in rule.clauses)

    @property
    def text(self) -> str:
        """The world in words, one sentence a line."""
        return "\n".join(rule.text for rule in self.rules)

    def open_theory(self) -> Theory:
        """Return a theory in which the rules are hard clauses; the caller closes it."""
        theory = Theory()
        for clause in self.clauses:
            theory.require(clause)
        return theory


@cache
def table() -> Mapping[str, Any]:
    """Return `worlds.toml`."""
    return tomllib.loads(files("doxa_bench.worlds").joinpath("worlds.toml").read_text(encoding="utf-8"))


def spec_of(family: str) -> WorldSpec:
    """Return the size of the worlds of a family."""
    entry = table()["family"][family]
    return WorldSpec(**{**entry, "atoms": tuple(entry["atoms"])})


def draw_world(spec: WorldSpec, rng: Random) -> World:
    """Return a world that is consistent by construction: a valuation is drawn, and only rules that it satisfies.

    Worlds that leave no atom open, or all of them, are drawn again: nobody could contradict themselves in the one, or
    be right in the other. Deterministic for the state of `rng`. Cost O(rules), and the labels once per draw.
    """
    for _ in range(MAX_DRAWS):
        world = _draw(spec, rng)
        labels = set(truths(world).values())
        if None in labels and len(labels) > 1:
            return world
    raise ValueError(f"{MAX_DRAWS} draws gave no world with open and with settled atoms; the spec is {spec}")


def truths(world: World) -> Truths:
    """Return the label of every atom, by truth table where it is small and by the solver where it is not.

    Cost: O(2^atoms x clauses) up to 14 atoms, two solver calls an atom beyond. Sound and complete.
    """
    if len(world.atoms) > MAX_TABLE_ATOMS:
        return truths_by_solver(world)
    models = _models(world.atoms, world.clauses)
    ever: list[bool] = np.any(models, axis=0).tolist()
    always: list[bool] = np.all(models, axis=0).tolist()
    found = zip(world.atoms, ever, always, strict=True)
    return {atom: some if some == every else None for atom, some, every in found}


def truths_by_solver(world: World) -> Truths:
    """Return the label of every atom by asking a solver whether it, or its negation, is entailed."""
    theory = world.open_theory()
    found = {
        atom: True if theory.entails(Lit(atom)) else False if theory.entails(Lit(atom, False)) else None
        for atom in world.atoms
    }
    theory.close()
    return found


def satisfies(values: Mapping[Any, bool], clauses: Iterable[Iterable[Lit]]) -> bool:
    """Tell whether a valuation makes every clause true: the check of a solver's model that needs no solver."""
    return all(any(values[lit.atom] == lit.positive for lit in clause) for clause in clauses)


def has_model(world: World, literals: Iterable[Lit]) -> bool:
    """Tell by the truth table whether the rules and some literals have a model. Cost O(2^atoms x clauses)."""
    return bool(len(_models(world.atoms, (*world.clauses, *((lit,) for lit in literals)))))


def _models(atoms: tuple[str, ...], clauses: Iterable[Clause]) -> NDArray[np.bool_]:
    """Return the models as rows of truth values, `(models, atoms)` bool."""
    column: dict[Hashable, int] = {atom: number for number, atom in enumerate(atoms)}
    rows = (np.arange(2 ** len(atoms))[:, None] >> np.arange(len(atoms)) & 1).astype(bool)
    holds = np.ones(len(rows), dtype=bool)
    for clause in clauses:
        holds &= np.any([rows[:, column[lit.atom]] == lit.positive for lit in clause], axis=0)
    return rows[holds]


def _draw(spec: WorldSpec, rng: Random) -> World:
    atoms = _names(rng.randint(*spec.atoms))
    values = {atom: rng.random() < 0.5 for atom in atoms}
    hubs, plain = _draw_hubs(spec.hubs, atoms, values, rng)
    rules = [_rule("excludes", (hub, other), rng) for hub, others in hubs.items() for other in others]
    kinds: tuple[tuple[float, Callable[[tuple[str, ...], Random], Rule]], ...] = (
        (spec.facts, lambda some, rng: _fact(some, values, rng)),
        (spec.implications, lambda some, rng: _implication(some, rng)),
        (spec.exclusions, lambda some, rng: _rule("excludes", tuple(rng.sample(some, 2)), rng)),
        (spec.equivalences, lambda some, rng: _rule("equals", tuple(rng.sample(some, 2)), rng)),
    )
    for per_atom, draw in kinds:
        for _ in range(round(per_atom * len(plain))):
            drawn = (draw(plain, rng) for _ in range(MAX_DRAWS))
            fitting = (rule for rule in drawn if satisfies(values, rule.clauses) and rule.atoms not in seen(rules))
            rules += itertools.islice(fitting, 1)
    rng.shuffle(rules)
    return World(atoms=atoms, rules=tuple(rules), hubs=hubs)


def seen(rules: Iterable[Rule]) -> set[tuple[str, ...]]:
    """Return the atoms of rules, so that none is said twice."""
    return {rule.atoms for rule in rules}


def _draw_hubs(
    count: int, atoms: tuple[str, ...], values: dict[str, bool], rng: Random
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return hubs with what they exclude, and the atoms that are left for other rules."""
    plain, hubs = list(atoms), {}
    for _ in range(count):
        hub, *others = rng.sample(plain, rng.randint(3, 5))
        hubs[hub] = tuple(others)
        values[hub] = False
        plain = [atom for atom in plain if atom != hub and atom not in others]
    return hubs, tuple(plain)


def _fact(atoms: tuple[str, ...], values: Mapping[str, bool], rng: Random) -> Rule:
    atom = rng.choice(atoms)
    return _rule("fact" if values[atom] else "denied_fact", (atom,), rng)


def _implication(atoms: tuple[str, ...], rng: Random) -> Rule:
    if len(atoms) > 2 and rng.random() < 0.3:
        return _rule("implies_both", tuple(rng.sample(atoms, 3)), rng)
    return _rule("implies", tuple(rng.sample(atoms, 2)), rng)


def _rule(kind: str, atoms: tuple[str, ...], rng: Random) -> Rule:
    """Return a rule over atoms, the head last; its sentence is drawn."""
    body, head = [Lit(atom) for atom in atoms[:-1]], Lit(atoms[-1])
    clauses: tuple[Clause, ...]
    match kind:
        case "fact":
            clauses = ((head,),)
        case "denied_fact":
            clauses = ((~head,),)
        case "excludes":
            clauses = ((~body[0], ~head),)
        case "equals":
            clauses = ((~body[0], head), (body[0], ~head))
        case _:
            clauses = ((*(~lit for lit in body), head),)
    # "A and B exclude each other" names two bodies, "A is B" a body and a head: every key is given, the text picks.
    words = {"a": atoms[0], "b": atoms[1 if len(atoms) > 1 else 0], "h": atoms[-1]}
    return Rule(kind, atoms, clauses, rng.choice(table()["words"][kind]).format(**words))


def _names(count: int) -> tuple[str, ...]:
    letters = table()["names"]["letters"]
    return tuple(f"{letters[number % 26]}{number // 26 or ''}" for number in range(count))
