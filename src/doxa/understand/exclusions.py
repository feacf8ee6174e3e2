"""Alternatives that exclude each other, or of which one is left -> pairs of what follows from what."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations

from doxa.core.values import Atom, Interval
from doxa.language import third_person
from doxa.understand.alternatives import alternatives, members
from doxa.understand.atoms import ANYONE, AtomReader, atoms_of
from doxa.understand.referents import clean
from doxa.understand.scene import coordinated
from doxa.understand.svo import base_form

__all__ = ["EXCLUSIONS", "Halves"]

Halves = tuple[tuple[Atom, ...], tuple[Atom, ...]]
Fresh = Callable[[], AtomReader]
"""Gives a reader that has read nothing of the rule yet."""
EVERYBODY = frozenset(["nobody", "no one", "you", "one", "students", "pupils", "members", "people"])
GROUPS = frozenset("team club class course group squad band choir lesson lessons practice training".split())
MOST_MEMBERS = 8


def _exclude(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    atoms = members(match["members"], fresh())
    return _apart(atoms)


def _clash(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    """Read "football and judo clash, so she can't do both" as alternatives that exclude each other."""
    who = re.sub(r" (?:can|could|may|must|will|does|is) (?:not|never)(?: possibly)?$", "", match["both"])
    said = match[0]
    tail = said[match.end("both") :].partition("both")[0].strip() or "do"
    verb = third_person(tail.split()[0])
    nouns = _same_kind(match["a"], match["b"])
    atoms = [atoms_of(" ".join([who, verb, *tail.split()[1:], noun]), fresh()) for noun in nouns]
    return _apart([atom for found in atoms for atom in found]) if all(len(found) == 1 for found in atoms) else []


def _same_kind(one: str, other: str) -> tuple[str, str]:
    """Return two alternatives with the noun that only one of them has ("football and the swim team")."""
    one = one[:1].casefold() + one[1:] if one.casefold().startswith(("the ", "a ")) or len(one.split()) == 1 else one
    heads = [noun.split()[-1] if noun.split()[-1] in GROUPS and len(noun.split()) > 1 else "" for noun in (one, other)]
    if heads[1] and not heads[0]:
        return f"the {clean(one)} {heads[1]}", other
    return (one, f"the {clean(other)} {heads[0]}") if heads[0] and not heads[1] else (one, other)


def _roster(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    """Read "one driver for the van, either Vera or Mo" as what exactly one of them does."""
    verb = _agent(match["role"])
    of = re.sub(r"^(?:for|of) ", "", match["of"] or "")
    predicate = f"{third_person(verb)} {of}" if verb else f"is the {match['role']} {match['of'] or ''}"
    names = coordinated(match["members"].replace(" or ", " and ")) or [match["members"]]
    found = [atoms_of(f"{name} {predicate}".strip(), fresh()) for name in names[:MOST_MEMBERS]]
    atoms = [atoms[0] for atoms in found if len(atoms) == 1]
    return [*_apart(atoms), *_one_left(atoms)] if len(atoms) == len(found) else []


def _agent(noun: str) -> str | None:
    """Return the verb of whoever does it ("driver": drive); None when the noun is made otherwise."""
    for ending in ("er", "or"):
        stem = noun.removesuffix(ending)
        for verb in (stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else "") if stem != noun else ():
            if verb and base_form(verb, "base"):
                return verb
    return None


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


def _together(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    said = re.sub(r" (?:not|never)$|(?<=can)not$", "", match["both"], flags=re.IGNORECASE)
    atoms = atoms_of(f"{said}{match['rest']}", fresh())
    return _apart([replace(atom, polarity=True) for atom in atoms])


def _both_apart(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    head = re.sub(r"\b(?:not|never) ?", "", match["both"], count=1, flags=re.IGNORECASE)
    first = re.match(r"(\w+(?: [A-Za-z]+){0,1}?)(?= (?:in|at|on|for|to) |$)", match["b"])
    tail = match["b"][first.end() :] if first else ""
    reader = fresh()
    pair = [atoms_of(f"{head}{noun}{tail}", reader) for noun in (match["a"], first[1] if first else match["b"])]
    return _apart([atom for atoms in pair for atom in atoms]) if all(len(atoms) == 1 for atoms in pair) else []


def _never_both(match: re.Match[str], fresh: Fresh) -> list[Halves]:
    """Read "nobody can take Latin and Greek at the same time" as alternatives, for everybody."""
    who = match["who"].casefold()
    denied = who in ("nobody", "no one") or "not" in match["can"]
    if not denied:
        return []
    subject = ANYONE if who in EVERYBODY else match["who"]
    verb, _, rest = match["verb"].partition(" ")
    clauses = (f"{subject} {third_person(verb)} {rest} {noun}".replace("  ", " ") for noun in (match["a"], match["b"]))
    atoms = [atoms_of(clause, fresh()) for clause in clauses]
    return _apart([atom for found in atoms for atom in found]) if all(len(found) == 1 for found in atoms) else []


def _apart(atoms: Sequence[Atom]) -> list[Halves]:
    """Return that no two of some atoms hold together, in both directions. Cost O(len(atoms)²)."""
    apart = _as_facts(atoms)
    return [((a,), (_negated(b),)) for a, b in permutations(apart, 2)] if len(apart) > 1 else []


def _as_facts(atoms: Sequence[Atom]) -> list[Atom]:
    """Return alternatives as what is, not what may be "
    "("can do ballet or judo"), all at the time that one of them names."""
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
    "clash": _clash,
    "roster": _roster,
    "either": _at_least,
    "choice": _choice,
    "or": _or,
    "together": _together,
    "apart": _both_apart,
    "never-both": _never_both,
}
"""How each kind of the table that tells alternatives is read."""
