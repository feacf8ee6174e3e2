"""The relation inventory: which relations there are, which have one object at a time, and how they read.

A relation outside the inventory is either a noun of its subject (`favourite_film`, "favourite film") or a verb
(`climb`, "climbs"); the two are told apart by the label, so that nothing has to be stored beside the relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import lru_cache

from doxa.core.ontology import Ontology, RelationType
from doxa.core.values import Fact, Interval, Modality, Status
from doxa.language import from_third_person, past_of, third_person
from doxa.logic import builtin_ontology

__all__ = [
    "RelationType",
    "answered_by",
    "attribute",
    "addressing",
    "describe",
    "inflected",
    "inventory",
    "is_tie",
    "kinds_of",
    "relation_names",
    "relation_type",
    "using",
    "verb_type",
]

_addressed: ContextVar[str] = ContextVar("addressed", default="")
_in_use: ContextVar[Ontology | None] = ContextVar("ontology", default=None)
MANY = re.compile(r"^(?:hobb|language|pet|child|allerg|skill|interest|sibling)")
"""Nouns that name one of many, although "X's noun is Y" reads like the only one."""


def inventory() -> Ontology:
    """Return the ontology in use: that of the memory at work (see `using`), else the one that comes with Doxa."""
    return _in_use.get() or builtin_ontology()


@contextmanager
def using(ontology: Ontology | None) -> Iterator[None]:
    """Have everything inside the block speak in the terms of an ontology; None is the one that comes with Doxa.

    Like a decimal context: it holds for this thread or task alone, and what was in use before comes back.
    """
    token = _in_use.set(ontology)
    try:
        yield
    finally:
        _in_use.reset(token)


@contextmanager
def addressing(name: str) -> Iterator[None]:
    """Have every fact that is described inside the block told to the person of that name: "you live in Bonn"."""
    token = _addressed.set(name)
    try:
        yield
    finally:
        _addressed.reset(token)


@lru_cache(maxsize=32)
def _relations(ontology: Ontology) -> Mapping[str, RelationType]:
    """Return the relations of an ontology with their grammar complete."""
    return {name: _complete(kind) for name, kind in ontology.relations.items()}


@lru_cache(maxsize=32)
def _nouns(ontology: Ontology) -> Mapping[str, RelationType]:
    """Return the noun relations of an ontology by the other nouns that mean them ("movie" for "film")."""
    kinds = [kind for kind in _relations(ontology).values() if kind.kind == "noun"]
    return {phrase.casefold(): kind for kind in reversed(kinds) for phrase in (kind.label, *kind.phrases)}


@lru_cache(maxsize=32)
def _verbs(ontology: Ontology) -> Mapping[str, RelationType]:
    """Return verb relations by the phrases in base form that a user gave them.

    Those of the inventory itself are left to the frames of `understand`, which look at prepositions and objects too.
    """
    own = builtin_ontology().relations
    found: dict[str, RelationType] = {}
    for name, kind in _relations(ontology).items():
        phrases = [kind.base, *kind.phrases] if name not in own else set(kind.phrases).difference(own[name].phrases)
        if kind.kind == "verb":
            found.update(dict.fromkeys(sorted(phrases), kind))
    return found


def _complete(kind: RelationType) -> RelationType:
    if kind.kind == "noun":
        return kind
    base = kind.base or from_third_person(kind.label)
    first, _, rest = base.partition(" ")
    return replace(kind, base=base, past=kind.past or f"{past_of(first)} {rest}".rstrip())


def kinds_of(name: str) -> tuple[str, ...]:
    """Return the relations that are kinds of a relation ("child": son, daughter); empty for most."""
    return inventory().kinds(name)


def answered_by(name: str) -> tuple[str, ...]:
    """Return other relations whose facts answer a question about a relation when its own do not, closest first."""
    known = inventory().relations.get(name)
    return known.answered_by if known is not None else ()


def is_tie(name: str) -> bool:
    """Tell whether a relation ties people (or pets) to somebody by a noun: relatives, friends, people at work."""
    known = inventory().relations.get(name)
    return known is not None and known.kind == "noun" and "tie_relation" in inventory().ancestors(name)


def relation_names() -> tuple[str, ...]:
    """Return the names of the inventory, in its order."""
    return tuple(name for name, kind in inventory().relations.items() if not kind.abstract)


def relation_type(name: str, label: str | None = None) -> RelationType:
    """Return the type of a relation; one that is not in the inventory is made from its name and label.

    A name alone is read as a verb ("climb", "swap_with") that may have many objects.
    """
    known, words = _relations(inventory()).get(name), name.replace("_", " ")
    if known is not None and not (label == words != known.label):  # "Ana's cook" is no case of "Ana cooks"
        return known
    if label is not None and label == words:
        return attribute(words)
    meant = _verbs(inventory()).get(words) if label is None else None
    return meant or inflected(words)


def inflected(base: str) -> RelationType:
    """Return a verb, with what follows it, as a relation of its own, by its grammar alone ("swap with")."""
    first, _, rest = base.partition(" ")
    tail = f" {rest}" if rest else ""
    name = base.replace(" ", "_")
    return RelationType(name=name, label=third_person(first) + tail, base=base, past=past_of(first) + tail)


def verb_type(base: str) -> RelationType:
    """Return the relation of a verb by its base form: that of the inventory ("speak": `speaks`), if it has one."""
    return _relations(inventory()).get(third_person(base)) or relation_type(base)


def attribute(noun: str) -> RelationType:
    """Return the relation that a noun names ("favourite film", "gym membership"): one value at a time."""
    label = " ".join(noun.casefold().split())
    name = label.replace(" ", "_")
    known = _relations(inventory()).get(name)
    if known is None or known.label != label:
        known = _nouns(inventory()).get(label)
    if known is not None:
        return known
    return RelationType(name=name, label=label, functional=not MANY.match(label), kind="noun")


def describe(fact: Fact) -> str:
    """Return a fact as a plain sentence with its time: "Ana lives in Bonn since 25 May 2024".

    Told to Ana (`addressing`) it is "you live in Bonn since 25 May 2024".
    """
    kind = relation_type(fact.relation.name, fact.relation.label)
    valid = fact.valid
    point = valid.start is not None and valid.start == valid.end
    ahead = fact.known_at is not None and valid.end is not None and fact.known_at.date() < valid.end  # "until August"
    over = valid.end is not None and not (ahead and fact.status is Status.HELD)
    past = fact.status is Status.SUPERSEDED or (point and fact.modality is Modality.ASSERTED) or over
    you = _addressed.get()
    sentence = kind.render(
        _told_to(you, fact.subject.label),
        _told_to(you, fact.object.label),
        polarity=fact.polarity,
        past=past,
        modality=fact.modality,
        to_you=bool(you) and fact.subject.label.casefold() == you.casefold(),
    )
    if sentence.startswith(("you ", "your ")):
        sentence = f"Y{sentence[1:]}"
    time = _time_of(valid, point)
    return f"{sentence} {time}" if time and not _says(fact.object.label, valid, point) else sentence


def _told_to(you: str, label: str) -> str:
    """Return a label as it is said to a person of that name: "you", "your sister"; as it is for nobody."""
    if not you or not label.casefold().startswith(you.casefold()):
        return label
    rest = label[len(you) :]
    return "you" if not rest else f"your {rest[3:]}" if rest[:3] in ("'s ", "’s ") else label


def _says(label: str, valid: Interval, point: bool) -> bool:
    """Tell whether the object is the time itself ("was born on 21 March 2024")."""
    return point and label.casefold().endswith(str(valid).casefold())


def _time_of(valid: Interval, point: bool) -> str:
    if not point:
        return str(valid)
    return f"{'on' if valid.start_precision == 'day' else 'in'} {valid}"
