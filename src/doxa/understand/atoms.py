"""A clause of a rule -> atoms, off its dependency tree.

An atom has the relation that a claim of the same words would have, so that facts and rules meet; where nothing would be
claimed ("it rains", "everybody agrees") it has its verb's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from doxa.core.values import Atom, Interval, Modality, Relation, Term
from doxa.language import third_person
from doxa.language.inflection import modal_of
from doxa.language.syntax import Tree
from doxa.language.times import find_times
from doxa.memory import RelationType, relation_type, verb_type
from doxa.understand.predications import Predication, predications
from doxa.understand.propose import WEATHER, propose_parsed
from doxa.understand.referents import Referents, clean, kin_of, named, term
from doxa.understand.scene import Proposition

__all__ = ["ANYONE", "VARIABLE", "AtomReader", "atoms_of"]

ANYONE = "Qvar"
"""Stands in a clause for whoever a rule is about."""
VARIABLE = Term("?x", "?x")
QUANTIFIED = frozenset("nobody everyone everybody anyone anybody somebody someone people".split())
PRONOUN = {"he": "m", "him": "m", "she": "f", "her": "f"}
DEMANDS: dict[str, Literal["must", "may"]] = {
    "must": "must", "should": "must", "shall": "must", "have": "must", "need": "must", "can": "may", "may": "may",
    "able": "may", "allow": "may", "permit": "may",
}  # fmt: skip
"""What modal verbs, and verbs and adjectives before an infinitive, make of a clause."""


@dataclass(slots=True)
class AtomReader:
    """Who and what the clauses of one rule speak of, while they are read in turn."""

    referents: Referents
    at: datetime
    subjects: list[Term] = field(default_factory=list)
    """People and things that were a subject so far, latest last."""
    objects: list[Term] = field(default_factory=list)
    generic: bool = False
    """"You" stands for anybody."""
    follows: bool = False
    """The clause that is read is what follows, not the condition."""
    denied: bool = False
    """The condition is that its clause does not hold ("unless")."""

    def person(self, pronoun: str) -> Term | None:
        """Return whom a pronoun means: the last named subject of this rule, else somebody spoken of before."""
        others = [s for s in self.subjects if s != self.referents.speaker]
        here = [s for s in others if s == VARIABLE or named(s.label) or _relative(s)]
        return here[-1] if here else self.referents.resolve(pronoun) or (others[-1] if others else None)

    def thing(self) -> Term | None:
        """Return what "it" means: the last thing that this rule spoke of."""
        spoken = [s for s in [*self.subjects, *self.objects] if s.key and s != VARIABLE and not named(s.label)]
        return spoken[-1] if spoken else VARIABLE if VARIABLE in self.subjects else self.referents.topic


def _relative(thing: Term) -> bool:
    return "'s " in thing.label and kin_of(thing.label.rpartition("'s ")[2]) is not None


def atoms_of(tree: Tree, reader: AtomReader, *, who: Term | None = None) -> tuple[Atom, ...]:
    """Return what a clause says, one atom for each of its predicates, subjects and objects.

    Args:
        tree: one half of a rule, without the word that makes it conditional.
        reader: who is who; it learns the subjects and objects of this clause.
        who: the subject of the first predicate, in the place of the words for it.

    Deterministic; cost O(tokens x depth).
    """
    found: list[Atom] = []
    read = predications(tree, find_times(tree.text, reader.at, past=False), terse=False)
    for said in read:
        found.extend(_atoms(tree, said, reader, who if said.subjects == read[0].subjects else None))
    return tuple(dict.fromkeys(found))


def _atoms(tree: Tree, said: Predication, reader: AtomReader, who: Term | None) -> list[Atom]:
    subjects = [who] if who is not None else [_subject(noun, said, reader) for noun in said.subjects]
    kind, texts = _relation(tree, said)
    things = [_object(text, said, subjects, reader) for text in texts] or [Term("", "")]
    nobody = who is None and said.subjects[:1] and said.subjects[0].casefold() in ("nobody", "no one")
    atom = Atom(
        subject=VARIABLE,
        relation=kind.relation,
        object=things[0],
        polarity=said.clause.negated == bool(nobody),
        deontic=_demand(tree, said.head),
        valid=next((span.valid for span in said.times if span.kind != "clock"), Interval()),
        span=tree.spell(range(len(tree.words))).strip(" ,."),
    )
    known = _known(said, reader, who)
    found = [_renamed(_with(atom, subject, thing), known) for subject in subjects for thing in things]
    reader.subjects.extend(subjects)
    reader.objects.extend(thing for thing in things if thing.key)
    for subject in subjects:
        if subject != VARIABLE and named(subject.label):
            reader.referents.mention(subject)
    return found


def _with(atom: Atom, subject: Term, thing: Term) -> Atom:
    """Return an atom of a subject and an object; "no sugar" denies it."""
    none = thing.label.startswith("no ")
    thing = term(thing.label[3:]) if none else thing
    return replace(atom, subject=subject, object=thing, polarity=atom.polarity != none)


def _relation(tree: Tree, said: Predication) -> tuple[RelationType, Sequence[str]]:
    """Return the relation of a clause by its verb, with the preposition or adverb behind it, and its objects."""
    clause, complement = said.clause, said.complement
    placed = next(iter(complement.phrases), None)
    if clause.verb == "be" and complement.direct:
        noun = re.match(r"(?:an?|the|one of) ", complement.direct, re.IGNORECASE)
        return relation_type("is_a" if noun else "has_state"), said.objects or (complement.direct,)
    verb = f"be {said.form}" if clause.passive else clause.verb.replace("+", " ")
    if said.objects:
        return _named(verb), said.objects
    if placed is not None:
        return _named(f"{verb} {placed[0]}"), (placed[1],)
    behind = next((tree.form(kid) for kid in tree.kids(said.head, "advmod") if kid == said.head + 1), "")
    return _named(verb if behind in verb.split() else f"{verb} {behind}".strip()), ()


def _named(verb: str) -> RelationType:
    """Return the relation of a verb phrase: that of the inventory which reads the same, else one of its own."""
    first, _, rest = verb.partition(" ")
    label = f"{third_person(first)} {rest}".strip()
    known = relation_type(label.replace(" ", "_"))
    if known.label == label:
        return known
    return relation_type(verb.replace(" ", "_")) if rest else verb_type(first)


def _demand(tree: Tree, head: int) -> Literal["", "must", "may"]:
    """Return whether a clause is demanded or allowed, by its modal verb or the verb before its infinitive."""
    modal = modal_of(tree, head)
    if modal in DEMANDS:
        return DEMANDS[modal]
    governed = tree.relation(head) == "xcomp" or tree.lemma(head) in ("allow", "permit")
    above = tree.lemma(tree.head(head) if tree.relation(head) == "xcomp" else head)
    return DEMANDS[above] if governed and above in DEMANDS else ""


def _known(said: Predication, reader: AtomReader, who: Term | None) -> dict[tuple[str, str], Proposition]:
    """Return what would be claimed of a clause, by subject and object."""
    clause = replace(said.clause, tense="present", modality=Modality.ASSERTED)
    subjects = said.subjects if who is None else (ANYONE if who == VARIABLE else who.label,)
    plain = replace(said, clause=clause, subjects=subjects)
    people = reader.referents.people
    scratch = replace(reader.referents, people=list(people), gender={}) if who == VARIABLE else reader.referents
    return {(told.subject.key, told.object.key): told for told in propose_parsed(plain, scratch, reader.at)}


def _renamed(atom: Atom, known: dict[tuple[str, str], Proposition]) -> Atom:
    """Return an atom under the relation that claims about the same subject and object have; its words stay."""
    subject = ANYONE.casefold() if atom.subject == VARIABLE else atom.subject.key
    told = known.get((subject, atom.object.key))
    if told is None or told.kind.kind == "noun" or told.polarity != atom.polarity:
        return atom
    label = atom.relation.label if atom.relation.name not in ("is_a", "has_state") else told.kind.label
    return replace(atom, relation=Relation(told.kind.name, label))


def _subject(noun: str, said: Predication, reader: AtomReader) -> Term:
    word = noun.casefold()
    if word in ("you", "one") and reader.generic:
        return VARIABLE
    if word == "they":
        spoken = [*reader.subjects, *reader.objects]
        several = [one for one in spoken if one == VARIABLE or (one.key.endswith("s") and not named(one.label))]
        return several[-1] if several else term("they")
    if word in PRONOUN:
        return reader.person(word) or term(noun)
    if word == "it":
        return (None if said.clause.verb in WEATHER else reader.thing()) or term("it")
    if word in QUANTIFIED:
        return _quantified(word, reader)
    found = reader.referents.resolve(_inner(noun, reader))
    return found if found is not None and found.key else term(clean(noun) or noun)


def _quantified(word: str, reader: AtomReader) -> Term:
    """Return the variable where it says what the word says, for a rule holds for all of its values; else the word."""
    if word == "nobody":
        return VARIABLE if reader.follows else term("anybody")
    if word in ("everyone", "everybody"):
        return VARIABLE if reader.follows else term("everybody")
    if word in ("somebody", "someone"):
        return term("somebody") if reader.follows else term("anybody") if reader.denied else VARIABLE
    return VARIABLE if reader.follows or not reader.denied else term("anybody")


def _inner(noun: str, reader: AtomReader, whose: Term | None = None) -> str:
    """Put the people of this rule for "his" and "her" in a noun phrase."""
    match = re.match(r"(his|her|their|its|your)\s+(.+)$", noun, re.IGNORECASE)
    if match is None:
        return noun
    if match[1].casefold() == "your":
        return f"{ANYONE}'s {match[2]}" if reader.generic else noun
    others = [thing for thing in reader.subjects if thing != reader.referents.speaker]
    owner = whose or (others[-1] if others else None)
    if owner is None or owner.key in PRONOUN:
        return noun
    return match[2] if owner == VARIABLE else f"{owner.label}'s {match[2]}"


def _object(noun: str, said: Predication, subjects: Sequence[Term], reader: AtomReader) -> Term:
    """Return the term of an object; what belongs to the subject itself goes by its noun alone."""
    word = noun.casefold()
    if word in ("it", "them", "that"):
        return reader.thing() or term(noun)
    if word in PRONOUN:
        return reader.person(word) or term(noun)
    if word in ("me", "us", "you"):
        return reader.referents.resolve(word) or term(noun)
    owned = re.match(r"(?:my|our|his|her|their|your|its) (.+)$", noun, re.IGNORECASE)
    if owned and said.objects and not _relative(term(f"x's {owned[1]}")):
        return term(clean(noun))  # as claims name it
    if owned or "'s " in noun:
        own_word = {"he": "his", "she": "her", "they": "their", "it": "its"}
        mine = own_word.get(next(iter(said.subjects), "").casefold()) == noun.split()[0].casefold()
        found = reader.referents.resolve(_inner(noun, reader, subjects[0] if mine and subjects else None))
        if found is not None and found.key:
            return _of_its_own(found, subjects)
    if kin_of(noun) and noun[0].isupper():
        return reader.referents.resolve(noun) or term(noun)
    return term(clean(noun) or noun)


def _of_its_own(thing: Term, subjects: Sequence[Term]) -> Term:
    """Return what belongs to the subject by its noun alone, unless it is a relative."""
    own = next(
        (s.key for s in (*subjects, Term(ANYONE.casefold(), ANYONE)) if thing.key.startswith(f"{s.key}'s ")), None
    )
    return thing if own is None or _relative(thing) else term(thing.label[len(own) + 3 :])
