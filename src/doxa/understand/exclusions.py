"""Alternatives that exclude each other, or of which one is left -> pairs of what follows from what."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations

from doxa.core.values import Atom, Interval
from doxa.understand.alternatives import alternatives, members
from doxa.understand.atoms import AtomReader

__all__ = ["EXCLUSIONS", "Halves"]

Halves = tuple[tuple[Atom, ...], tuple[Atom, ...]]
Fresh = Callable[[], AtomReader]
"""Gives a reader that has read nothing of the rule yet."""


def _exclude(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    atoms = members(match["members"], fresh())
    return _apart(atoms)


def _choose(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    atoms = members(match["members"].replace(" or ", " and "), fresh())
    return [*_apart(atoms), *_one_left(atoms)]


def _at_least(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    return _one_left(members(match["members"], fresh()))


def _choice(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    either = re.search(r"\beither\b", match["both"], re.IGNORECASE) is not None
    left = _one_left(alternatives(match["both"], fresh())) if either else []
    return [*_apart(alternatives(match["both"], fresh())), *left]


def _or(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    return _one_left(alternatives(match[0], fresh()))


def _apart(atoms: Sequence[Atom]) -> list[Halves]:
    """Return that no two of some atoms hold together, in both directions. Cost O(len(atoms)²)."""
    apart = _as_facts(atoms)
    return [((a,), (_negated(b),)) for a, b in permutations(apart, 2)] if len(apart) > 1 else []


def _as_facts(atoms: Sequence[Atom]) -> list[Atom]:
    """Return alternatives as what is, not what may be ("can do ballet or judo"), all at the time that one names."""
    when = next((atom.valid for atom in atoms if atom.valid.start or atom.valid.end), Interval())
    return [replace(atom, deontic="" if atom.deontic == "may" else atom.deontic, valid=when) for atom in atoms]


def _one_left(atoms: Sequence[Atom]) -> list[Halves]:
    """Return that one of some atoms holds when all the others do not."""
    if len(atoms) < 2:
        return []
    atoms = _as_facts(atoms)
    return [(tuple(_negated(other) for other in atoms if other is not atom), (atom,)) for atom in reversed(atoms)]


def _negated(atom: Atom) -> Atom:
    return replace(atom, polarity=not atom.polarity)


EXCLUSIONS: dict[str, Callable[[re.Match[str], Fresh], list[Halves]]] = {
    "exclude": _exclude,
    "choose": _choose,
    "either": _at_least,
    "choice": _choice,
    "or": _or,
}
"""How each kind of the table that tells alternatives is read."""
