"""Noun phrases -> clauses: what is said of somebody without a verb ("my flatmate Quang, a night nurse", "no car")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doxa.language.syntax import Tree, base
from doxa.understand.clauses import Clause, Complement
from doxa.understand.predications import Predication
from doxa.understand.referents import PET, kin_of

__all__ = ["appositions", "lacks", "sorts_of"]

NOTHING_LACKING = re.compile(
    r"problem|worry|worrie|idea|doubt|rush|need|thanks?|way|kidding|luck|matter|hurry|wonder|reason|clue|chance|point|"
    r"offence|offense|biggie|pressure|news|question|shame|joke|one|stress|fun|good|use|sign"
)


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


def lacks(tree: Tree) -> Iterator[Predication]:
    """Yield "I have no car" for "No car, no licence", and "he has no aspirin" for "so no aspirin for him"."""
    for place in range(len(tree.words)):
        if not any(tree.form(det) == "no" for det in tree.kids(place, "det")) or not _verbless(tree, place):
            continue
        whose = [kid for kid in tree.kids(place, "nmod") if any(tree.form(k) == "for" for k in tree.kids(kid, "case"))]
        value = tree.phrase(place, drop=[*tree.kids(place, "det"), *whose])
        subject = tree.phrase(whose[0]) if whose else ""
        clause = Clause(subject=subject, verb="have", rest=value, negated=True)
        subjects = (subject,) if subject else ()
        complement = Complement(direct=value)
        yield Predication(
            head=place, form="have", clause=clause, complement=complement, subjects=subjects, objects=(value,)
        )


def _verbless(tree: Tree, place: int) -> bool:
    """Tell whether a noun stands without a verb: the root, or coordinated with a noun that is no argument."""
    if tree.upos(place) != "NOUN" or NOTHING_LACKING.fullmatch(tree.lemma(place)) or tree.form(place).endswith("ing"):
        return False
    if tree.kid(place, "nsubj", "cop", "aux", "case") is not None:
        return False
    return base(tree.relation(place)) in ("root", "conj", "parataxis", "list", "appos")


def _is(place: int, subject: str, value: str) -> Predication:
    former = re.match(r"(an? )?(?:former|ex-?|retired)[ -]", value, re.IGNORECASE)
    clause = Clause(subject=subject, verb="be", rest=value, tense="past" if former else "present")
    if former:
        value = f"{former[1] or ''}{value[former.end() :]}"
    return Predication(
        head=place, form="be", clause=clause, complement=Complement(direct=value), subjects=(subject,), objects=(value,)
    )
