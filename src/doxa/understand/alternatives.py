"""What is said of alternatives -> one clause for each ("we go to Crete or to Malta", "one of Tom and Ida has it")."""

from __future__ import annotations

import re

from doxa.core.values import Atom
from doxa.language.words import BE
from doxa.understand.atoms import AtomReader, atoms_of, left_out
from doxa.understand.clauses import PREPOSITIONS
from doxa.understand.scene import coordinated
from doxa.understand.svo import Predication, base_form, read_predication, verb_place
from doxa.understand.text import words

__all__ = ["alternatives", "members", "split_alternatives"]

DAY = re.compile(r" on (?:\w+day|the \d+\w*)$", re.IGNORECASE)
MOST = 6
"""Alternatives of which the pairs are told; more make no rule."""


def alternatives(text: str, reader: AtomReader) -> list[Atom]:
    """Return one atom for each alternative that a sentence names; empty when one of them cannot be read."""
    clauses = split_alternatives(text) or []
    found = [left_out(clauses[0], clause, reader) or atoms_of(clause, reader) for clause in clauses[:MOST]]
    return [atoms[0] for atoms in found] if len(found) > 1 and all(len(atoms) == 1 for atoms in found) else []


def members(text: str, reader: AtomReader) -> list[Atom]:
    """Return one atom for each member of "Tom, Ida and Raj has the key"."""
    tokens = words(text)
    place = verb_place(tokens)
    if place is None:
        return []
    subject, predicate = " ".join(tokens[:place]).replace(" ,", ","), " ".join(tokens[place:])
    parts = coordinated(subject)
    found = [atoms_of(f"{part} {predicate}", reader) for part in parts[:MOST]]
    return [atoms[0] for atoms in found] if all(len(atoms) == 1 for atoms in found) else []


def split_alternatives(text: str) -> list[str] | None:
    """Return a clause for each side of "or"; None when nothing is joined by it."""
    text = re.sub(r"\beither ", "", text, flags=re.IGNORECASE)
    parts = [part.strip(" ,") for part in re.split(r",? or (?:else )?", text)]
    if len(parts) < 2 or not all(parts):
        return None
    listed = parts[0].rpartition(", ")  # "tea, milk or juice"
    tokens = words(parts[-1])
    last, first = read_predication(tokens), read_predication(words(parts[0]))
    if first is None and last is not None:
        place = verb_place(tokens) or 0
        predicate = " ".join(tokens[place:])
        subjects = [*coordinated(parts[0].replace(",", " and")), *parts[1:-1]] if listed[1] else parts[:-1]
        return [*(f"{subject} {predicate}" for subject in subjects), parts[-1]]
    if first is None:
        return None
    return [parts[0], *(_completed(parts[0], first, part) for part in parts[1:])]


def _completed(whole: str, first: Predication, part: str) -> str:
    """Return an alternative as a clause, with what it leaves out taken from the first one."""
    tokens = words(part)
    own = verb_place(tokens)
    if own and read_predication(tokens) is not None:
        return part
    said = words(whole)
    opening = tokens[0].casefold()
    if opening in PREPOSITIONS | {"to"}:
        same = [i for i, token in enumerate(said) if token.casefold() == opening]
        same = same or [i + 1 for i, token in enumerate(said) if token.casefold() in BE][:1]
        same = same or [i for i, token in enumerate(said) if i and token.casefold() in PREPOSITIONS][:1]
        cut = same[-1] if same else len(said)
        return " ".join([*said[:cut], part])
    if base_form(opening, "base", "third", "gerund", "past") and (len(tokens) > 1 or not first.object):
        verb = first.verb.split()[0]
        same = [i for i, t in enumerate(said) if i and base_form(t, "base", "third", "gerund", "past") == verb]
        if same:
            return " ".join([*said[: same[0]], part])
    if (day := DAY.search(whole)) and DAY.fullmatch(f" on {part}"):
        return f"{whole[: day.start()]} on {part}"
    noun = first.object.split()
    replaced = next((i for i in range(len(said)) if noun and said[i : i + len(noun)] == noun), None)
    return f"{whole} {part}" if replaced is None else " ".join([*said[:replaced], part])
