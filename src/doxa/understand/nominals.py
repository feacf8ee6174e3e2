"""Noun phrases -> clauses: what is said of somebody without a verb ("my flatmate Quang, a night nurse")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doxa.language.syntax import Tree
from doxa.understand.clauses import Clause, Complement
from doxa.understand.predications import Predication
from doxa.understand.referents import PET, kin_of

__all__ = ["appositions", "sorts_of"]

ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")


def appositions(tree: Tree) -> Iterator[Predication]:
    """Yield "my flatmate is Quang" and "Quang is a night nurse" for "my flatmate Quang, a night nurse"."""
    for place in range(len(tree.words)):
        for kid in tree.kids(place, "appos", "nmod:desc", "flat"):
            if tree.relation(kid) == "flat" and tree.kid(kid, "det", "nmod:poss") is None:
                continue
            if ORDINAL.fullmatch(tree.form(kid)):
                continue  # "Monday the 17th"
            name, description = (kid, place) if tree.is_name(kid) else (place, kid)
            owned = tree.kid(description, "nmod:poss") is not None
            definite = any(tree.form(det) == "the" for det in tree.kids(description, "det"))
            kin = kin_of(tree.lemma(description)) or tree.lemma(description) in PET
            if not tree.is_name(name) or not (owned or tree.upos(description) == "NOUN"):
                continue
            told = tree.phrase(description)
            if not owned:
                if tree.kid(description, "det") is None:
                    continue
                told = f"a {tree.phrase(description, drop=tree.kids(description, 'det'))}"
                another = any(tree.form(kid) in ("second", "third", "new", "another") for kid in tree.kids(description))
                if kin and (definite or (another and tree.lemma(description) in PET)):  # "the new puppy, Tofu": ours
                    owned, told = True, f"my {tree.form(description)}"
            for member in tree.conjuncts(name):
                subject, value = tree.phrase(member), told
                yield _is(place, *((value, subject) if owned else (subject, value)))


def sorts_of(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield a name with what it is the name of: ("Swiftly", "courier firm") for "a courier firm called Swiftly"."""
    for place in range(len(tree.words)):
        for clause in tree.kids(place, "acl"):
            name = next(iter(tree.members(place))) if tree.form(clause) in ("called", "named") else place
            if name != place:
                yield tree.phrase(name), re.sub(r"^(?:an?|the|some) ", "", tree.phrase(place), flags=re.IGNORECASE)


def _is(place: int, subject: str, value: str) -> Predication:
    former = re.match(r"(an? )?(?:former|ex-?|retired)[ -]", value, re.IGNORECASE)
    clause = Clause(subject=subject, verb="be", rest=value, tense="past" if former else "present")
    if former:
        value = f"{former[1] or ''}{value[former.end() :]}"
    return Predication(
        head=place, form="be", clause=clause, complement=Complement(direct=value), subjects=(subject,), objects=(value,)
    )
