"""World -> the questions of a dialogue about it.

Each asks for the truth of one atom or of its negation. Source: Baitalik et al. 2026, "Synthetic Propositional Worlds"
(T = 10; random and stress schedules). "A rule that entails P" is asked about by its body, since every question is about
one atom; that an equivalence is asked about by its other half, and the shares of each, are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from doxa.logic import Lit
from doxa_bench.worlds.world import World, table

__all__ = ["TURNS", "Question", "draw_questions"]

TURNS = 10
"""Questions of a dialogue, as in the paper."""


class Question(NamedTuple):
    """A yes/no question: YES commits to the literal, NO to its negation."""

    lit: Lit
    text: str

    def label_of(self, value: bool | None) -> str:
        """Return YES, NO or UNKNOWN, given what its atom is."""
        return "UNKNOWN" if value is None else "YES" if value == self.lit.positive else "NO"

    def literal_of(self, label: str | None) -> Lit | None:
        """Return what a label commits to; None for UNKNOWN and for no label."""
        return self.lit if label == "YES" else ~self.lit if label == "NO" else None


def draw_questions(world: World, schedule: str, rng: Random) -> tuple[Question, ...]:
    """Return the ten questions of a dialogue.

    Args:
        world: what they are about.
        schedule: `random`, every question about any atom; `stress`, each atom asked about, then its negation, then what
            the rules tie to it, then itself again in other words; `hub`, each hub after all that it excludes.
        rng: what is drawn with.
    """
    draw = {"random": _random, "stress": _stress, "hub": _hub}[schedule]
    asked: list[Lit] = []
    said: list[str] = []
    for lit in draw(world, rng):
        forms = table()["questions"]["true" if lit.positive else "false"]
        fresh = [text for form in forms if (text := form.format(h=lit.atom)) not in said]
        asked.append(lit)
        said.append(rng.choice(fresh or [form.format(h=lit.atom) for form in forms]))
        if len(asked) == TURNS:
            break
    return tuple(map(Question, asked, said))


def _random(world: World, rng: Random) -> Iterator[Lit]:
    while True:
        yield Lit(rng.choice(world.atoms), rng.random() < 0.5)


def _stress(world: World, rng: Random) -> Iterator[Lit]:
    """Yield an atom, its negation, its neighbours by rules, and the atom again; atoms with rules first."""
    while True:
        order = rng.sample(world.atoms, len(world.atoms))
        ties = {atom: _ties(world, atom) for atom in order}
        for atom in sorted(order, key=lambda atom: not ties[atom]):
            yield Lit(atom)
            yield Lit(atom, False)
            yield from rng.sample(ties[atom], min(2, len(ties[atom])))
            yield Lit(atom, rng.random() < 0.5)


def _ties(world: World, atom: str) -> list[Lit]:
    """Return what rules relate to an atom: bodies that entail it, heads that it entails, what it equals or excludes."""
    tied = (
        lit
        for rule in world.rules
        for clause in rule.clauses
        if len(clause) > 1 and any(lit.atom == atom for lit in clause)
        for lit in clause
        if lit.atom != atom
    )
    return list(dict.fromkeys(Lit(lit.atom) for lit in tied))


def _hub(world: World, rng: Random) -> Iterator[Lit]:
    """Yield what the hubs exclude and then the hubs, with an atom that is settled in between; then anything."""
    others = [atom for atom in world.atoms if atom not in world.hubs]
    for hub, excluded in world.hubs.items():
        yield from map(Lit, excluded)
        yield Lit(rng.choice(others), rng.random() < 0.5)
        yield Lit(hub)
    yield from _random(world, rng)
