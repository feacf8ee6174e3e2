"""The halves of a rule -> atoms.

`atoms_of` is the one place where a rule's wording becomes propositions: what the patterns for claims make of a clause
when they know its verb, so that a rule speaks of the same relations as the facts do, else its plain parts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from doxa.core.values import Atom, Interval, Relation, Term
from doxa.language import third_person
from doxa.language.times import TimeSpan, find_times
from doxa.language.words import ADVERBS, BE, DO, HAVE, MODALS, PREPOSITIONS
from doxa.memory import RelationType, relation_type, verb_type
from doxa.understand.clauses import parse_clause
from doxa.understand.propose import propose
from doxa.understand.referents import Referents, clean, kin_of, named, term
from doxa.understand.scene import HOLE, Proposition, coordinated
from doxa.understand.svo import ENDING, Predication, base_form, read_predication, verb_place
from doxa.understand.text import words

__all__ = ["ANYONE", "AtomReader", "VARIABLE", "atoms_of"]

ANYONE = "Qvar"
"""Stands in a clause for whoever a rule is about."""
VARIABLE = Term("?x", "?x")
AND = re.compile(r",? and (?:then |also )?|, (?:then )?(?=(?:I|we|he|she|they|it|the|my|our) )")
AUXILIARIES = frozenset([*BE, *DO, *HAVE, *MODALS])
QUANTIFIED = frozenset(
    ["nobody", "no one", "everyone", "everybody", "anyone", "anybody", "somebody", "someone", "a person", "people"]
)
PRONOUN = {"he": "m", "him": "m", "she": "f", "her": "f"}
BOUND = re.compile(r"(.+) (?:by|before|after|until|till|since) ([^,]+)$")
WEATHER = re.compile(
    r"^it (?:(?:does |do |will |is |has )?(?:not )?)?(?:rain|snow|pour|freeze|freezing|hail|storm|thunder|thaw|drizzle|"
    r"get|gets|turn|is (?:\w+ )?(?:sunny|rainy|cold|hot|warm|icy|foggy|windy|dark|late|early|above|below|over|"
    r"under|\d|my|your|our|his|her|a|the|too|so))",
    re.IGNORECASE,
)


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


def atoms_of(text: str, reader: AtomReader) -> tuple[Atom, ...]:
    """Return what a clause says, coordinated verbs and objects as one atom each; nothing when it is no clause.

    Args:
        text: one half of a rule, written out, without the word that makes it conditional.
        reader: who is who; it learns the subjects and objects of this clause.

    Deterministic; cost O(len(text)).
    """
    found: list[Atom] = []
    for part in _conjuncts(text):
        found.extend(_clause(part, reader))
    return tuple(dict.fromkeys(found))


def _conjuncts(text: str) -> list[str]:
    """Return the clauses that "and" joins; a missing subject is that of the clause before."""
    found: list[str] = []
    rest, subject = text.strip(" ,"), ""
    for _ in range(4):
        split = next((m for m in AND.finditer(rest) if _both(rest[: m.start()], rest[m.end() :], subject)), None)
        if split is None:
            break
        head, rest = rest[: split.start()], rest[split.end() :]
        found.append(head)
        subject = _subject_of(head) or subject
        if verb_place(words(rest)) is None or not _subject_of(rest):
            rest = f"{subject} {rest}"
    return [*found, rest]


def _subject_of(clause: str) -> str:
    found = read_predication(words(clause))
    return found.subject if found else ""


def _both(head: str, tail: str, subject: str) -> bool:
    """Tell whether "and" joins two clauses, not two nouns."""
    tokens = words(tail)
    place = verb_place(words(head))
    if not tokens or place is None or not place:
        return False
    own = verb_place(tokens)
    first = tokens[0].casefold()
    if (
        own
        and own <= 4
        and (first in ("i", "we", "he", "she", "they", "it", "you", "the", "my") or tokens[0][0].isupper())
    ):
        return True
    first = next((t.casefold() for t in tokens if t.casefold() not in ADVERBS), "")
    if tokens[0][0].isupper() or own or not (first in AUXILIARIES or base_form(first, "base", "third", "past")):
        return False
    follows = words(f"{_subject_of(head) or subject or 'it'} {tail}")
    return verb_place(follows) == len(follows) - len(tokens) and not _listed(head, tokens)


def _listed(head: str, tail: list[str]) -> bool:
    """Tell whether a word after "and" is rather a second object ("milk and honey")."""
    found = read_predication(words(head))
    return bool(found and found.object and len(tail) == 1 and not found.copula)


def _clause(text: str, reader: AtomReader) -> list[Atom]:
    spans = [] if re.search(r"\b(?:every|each|on \w+days)\b", text) else find_times(text, reader.at, past=False)
    bare = _without(text, spans)
    ending = BOUND.match(bare)
    bare = ending[1] if ending and _is_time(ending[2], reader) else bare
    said = read_predication(words(bare)) or read_predication(words(text))
    if said is None:
        return []
    if (
        not said.object
        and spans
        and (said.verb in ("be", "take place") or said.verb.split()[-1] in PREPOSITIONS | {"to"})
    ):
        said = read_predication(words(text)) or said  # the day is what is said
    elif (when := ENDING.search(said.verb)) and not said.verb.startswith("be ") and _is_time(said.object, reader):
        said = replace(said, verb=said.verb[: when.start()], object="")
    subjects = _subjects(said, reader)
    valid = next((span.valid for span in spans if span.kind != "clock"), Interval())
    objects = [_object(part, said, subjects, reader) for part in _objects(said)]
    found = [_atom(said, subject, thing, valid, text) for subject in subjects for thing in objects]
    known = _known(text, reader) if not said.deontic else {}
    found = [_renamed(atom, known, said) for atom in found]
    reader.subjects.extend(subjects)
    reader.objects.extend(thing for thing in objects if thing.key)
    for subject in subjects:
        if named(subject.label):
            reader.referents.mention(subject)
    return found


def _is_time(noun: str, reader: AtomReader) -> bool:
    for text in (noun, f"in {noun}"):
        spans = find_times(text, reader.at, past=False)
        if len(spans) == 1 and spans[0].end - spans[0].start >= len(noun):
            return True
    return False


def _without(text: str, spans: Sequence[TimeSpan]) -> str:
    for span in reversed(spans):
        text = f"{text[: span.start]} {text[span.end :]}"
    return re.sub(r"\s+", " ", text).strip(" ,")


def _subjects(said: Predication, reader: AtomReader) -> list[Term]:
    parts = coordinated(said.subject) if " and " in said.subject else []
    return [_subject(part, said, reader) for part in (parts or [said.subject])]


def _subject(noun: str, said: Predication, reader: AtomReader) -> Term:
    word = noun.casefold()
    if word in ("qvar", "who", "that") or (word in ("you", "one") and reader.generic):
        return VARIABLE
    if word == "they" and reader.subjects and reader.subjects[-1] == VARIABLE:
        return VARIABLE
    if word == "they":
        several = [
            thing for thing in [*reader.subjects, *reader.objects] if thing.key.endswith("s") and not named(thing.label)
        ]
        return several[-1] if several else term("they")
    if word in PRONOUN:
        return reader.person(word) or term(noun)
    if word == "it":
        weather = WEATHER.match(f"it {said.verb} {said.object}") or WEATHER.match(f"it is {said.object}")
        return (None if weather else reader.thing()) or term("it")
    if word in ("the others", "both", "everyone else"):
        return term(noun)
    if word in QUANTIFIED:
        return _quantified(word, reader)
    found = reader.referents.resolve(_inner(noun, reader))
    if found is not None and found.key:
        return found
    return term(word if word in ("you", "this", "that", "there") else clean(noun) or noun)


def _quantified(word: str, reader: AtomReader) -> Term:
    """Return the variable where it says what the word says, for a rule holds for all of its values; else the word."""
    if word in ("nobody", "no one"):
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
    word = match[1].casefold()
    if word == "your":
        return f"{ANYONE}'s {match[2]}" if reader.generic else noun
    others = [thing for thing in reader.subjects if thing != reader.referents.speaker]
    owner = whose or (others[-1] if others else None)
    if owner is None or owner.key in PRONOUN:
        return noun
    return match[2] if owner == VARIABLE else f"{owner.label}'s {match[2]}"


def _objects(said: Predication) -> list[str]:
    parts = coordinated(said.object) if " and " in said.object and " or " not in said.object else []
    return parts or [said.object]


def _object(noun: str, said: Predication, subjects: Sequence[Term], reader: AtomReader) -> Term:
    """Return the term of an object; what belongs to the subject itself goes by its noun alone."""
    word = noun.casefold()
    if not noun:
        return Term("", "")
    if word in ("it", "them", "that"):
        return reader.thing() or term(noun)
    if word in PRONOUN or word in ("me", "us", "you"):
        return (reader.person(word) if word in PRONOUN else reader.referents.resolve(word)) or term(noun)
    first, _, rest = noun.partition(" ")
    if first.casefold() in ("me", "us", "him", "her", "you") and rest:
        who = reader.person(first) if first.casefold() in PRONOUN else reader.referents.resolve(first)
        possessed = first.casefold() == "her"
        if who is not None:
            return term(f"{who.label}'s {rest}" if possessed else f"{who.label} {rest}")
    owned = re.match(r"(?:my|our|his|her|their|your|its) (.+)$", noun, re.IGNORECASE)
    placed = said.copula or said.verb.split()[-1] in PREPOSITIONS | {"to"}
    if owned and not placed and not _relative(term(f"x's {owned[1]}")):
        return term(clean(noun))  # as claims name it
    if owned or "'s " in noun:
        own_word = {"he": "his", "she": "her", "they": "their", "it": "its", "qvar": "their"}
        mine = own_word.get(said.subject.casefold()) == noun.split()[0].casefold()
        found = reader.referents.resolve(_inner(noun, reader, subjects[0] if mine else None))
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


def _atom(said: Predication, subject: Term, thing: Term, valid: Interval, text: str) -> Atom:
    polarity = not said.negated and said.subject.casefold() not in ("nobody", "no one")
    label = thing.label
    if label.startswith("no ") and not said.copula:
        polarity, thing = not polarity, term(label[3:])
    return Atom(
        subject=subject,
        relation=_relation(said).relation,
        object=thing,
        polarity=polarity,
        deontic=said.deontic,
        valid=valid,
        span=text.replace(ANYONE, "somebody"),
    )


def _relation(said: Predication) -> RelationType:
    """Return the relation of a verb phrase: that of the inventory which reads the same, else one of its own."""
    if said.copula:
        noun = re.match(r"(?:an?|the|one of) ", said.object, re.IGNORECASE)
        return relation_type("is_a" if noun else "has_state")
    first, _, rest = said.verb.partition(" ")
    label = f"{third_person(first)} {rest}".strip()
    known = relation_type(label.replace(" ", "_"))
    if known.label == label:
        return known
    return relation_type(said.verb.replace(" ", "_")) if rest else verb_type(first)


def _known(text: str, reader: AtomReader) -> dict[tuple[str, str], Proposition]:
    """Return what the patterns for claims make of a clause, by subject and object; the closest to its verb."""
    clause = parse_clause(words(text))
    if clause is None:
        return {}
    found: dict[tuple[str, str], Proposition] = {}
    for told in propose(replace(clause, tense="present"), "", reader.referents, reader.at):
        if HOLE in told.object.label:
            continue
        key = (told.subject.key, told.object.key)
        if key not in found or told.kind.base.partition(" ")[0] == clause.verb.partition("+")[0]:
            found[key] = told
    return found


def _renamed(atom: Atom, known: dict[tuple[str, str], Proposition], said: Predication) -> Atom:
    """Return an atom under the relation that claims about the same subject and object have; its words stay."""
    subject = ANYONE.casefold() if atom.subject == VARIABLE else atom.subject.key
    told = known.get((subject, atom.object.key))
    if told is None or told.kind.kind == "noun" or told.polarity != atom.polarity:
        return atom
    label = atom.relation.label if atom.relation.name not in ("is_a", "has_state") else told.kind.label
    return replace(atom, relation=Relation(told.kind.name, label))
