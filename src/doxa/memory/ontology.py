"""The relation inventory: which relations there are, which have one object at a time, and how they read.

A relation outside the inventory is either a noun of its subject (`favourite_film`, "favourite film") or a verb
(`climb`, "climbs"); the two are told apart by the label, so that nothing has to be stored beside the relation.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from doxa.core.values import Fact, Interval, Modality, Relation, Status

__all__ = [
    "RelationType",
    "answered_by",
    "attribute",
    "base_of",
    "describe",
    "is_tie",
    "kinds_of",
    "relation_names",
    "relation_type",
    "same_words",
    "third_person",
    "verb_type",
]

NOT_WITH_MODALITY = {
    Modality.PLANNED: "plans to",
    Modality.DESIRED: "wants to",
    Modality.POSSIBLE: "may",
    Modality.HYPOTHETICAL: "would",
}
MANY = re.compile(r"^(?:hobb|language|pet|child|allerg|skill|interest|sibling)")
"""Nouns that name one of many, although "X's noun is Y" reads like the only one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationType:
    """A relation with its grammar. `functional`: at most one object at a time."""

    name: str
    label: str
    functional: bool = False
    kind: Literal["verb", "noun"] = "verb"
    base: str = ""
    past: str = ""

    @property
    def relation(self) -> Relation:
        """Return the relation as claims carry it."""
        return Relation(self.name, self.label)

    def render(self, subject: str, value: str, *, polarity: bool = True, past: bool = False, modality: Modality) -> str:
        """Return a plain sentence, without its time and without a full stop."""
        phrase = self._noun_phrase if self.kind == "noun" else self._verb_phrase
        head = f"{subject}'s {self.label}" if self.kind == "noun" else subject
        return f"{head} {phrase(polarity, past, modality)} {value}".rstrip()

    def _noun_phrase(self, polarity: bool, past: bool, modality: Modality) -> str:
        if modality is not Modality.ASSERTED:
            verb = {Modality.POSSIBLE: "may be", Modality.DESIRED: "should be"}.get(modality, "is planned:")
        else:
            verb = "was" if past else "is"
        return verb if polarity else f"{verb} not"

    def _verb_phrase(self, polarity: bool, past: bool, modality: Modality) -> str:
        if modality is not Modality.ASSERTED:
            helper = NOT_WITH_MODALITY[modality]
            if modality is Modality.DESIRED and self.name in ("wants", "needs"):
                return self._indicative(polarity, past)
            return f"{helper} {self.base}" if polarity else f"{helper} not {self.base}"
        return self._indicative(polarity, past)

    def _indicative(self, polarity: bool, past: bool) -> str:
        phrase = self.past if past else self.label
        if polarity:
            return phrase
        first, _, rest = phrase.partition(" ")
        if first in ("is", "was"):
            return f"{first} not {rest}".rstrip()
        return f"{'did' if past else 'does'} not {self.base}"


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.memory").joinpath("relations.toml").read_text(encoding="utf-8"))


@cache
def irregular_verbs() -> Mapping[str, str]:
    """Return the simple past of the irregular verbs, by base form."""
    table: Mapping[str, str] = _table()["irregular"]
    return table


@cache
def _inventory() -> Mapping[str, RelationType]:
    table = _table()
    kinds: dict[str, RelationType] = {}
    for name, entry in table["verb"].items():
        label = entry["label"]
        base = entry.get("base") or base_of(label)
        one = entry.get("one", False)
        kinds[name] = RelationType(name=name, label=label, functional=one, base=base, past=entry["past"])
    for name, entry in table["noun"].items():
        label = name.replace("_", " ")
        kinds[name] = RelationType(name=name, label=label, functional=entry.get("one", False), kind="noun")
    return kinds


def kinds_of(name: str) -> tuple[str, ...]:
    """Return the relations that are kinds of a relation ("child": son, daughter); empty for most."""
    return tuple(_table()["kinds"].get(name, ()))


def answered_by(name: str) -> tuple[str, ...]:
    """Return other relations whose facts answer a question about a relation when its own do not, closest first."""
    return tuple(_table()["answered_by"].get(name, ()))


def same_words() -> Mapping[str, str]:
    """Return the stems of common words that stand for one thing ("kid": "child"), by stem."""
    table: Mapping[str, str] = _table()["same_words"]
    return table


def is_tie(name: str) -> bool:
    """Tell whether a relation ties two people: relatives, friends, people at work."""
    return name in _table()["ties"]["people"]


def relation_names() -> tuple[str, ...]:
    """Return the names of the inventory, in its order."""
    return tuple(_inventory())


def relation_type(name: str, label: str | None = None) -> RelationType:
    """Return the type of a relation; one that is not in the inventory is made from its name and label.

    A name alone is read as a verb ("climb", "swap_with") that may have many objects.
    """
    known = _inventory().get(name)
    if known is not None:
        return known
    words = name.replace("_", " ")
    if label is not None and label == words:
        return attribute(words)
    first, _, rest = words.partition(" ")
    tail = f" {rest}" if rest else ""
    return RelationType(name=name, label=third_person(first) + tail, base=words, past=past_of(first) + tail)


def verb_type(base: str) -> RelationType:
    """Return the relation of a verb by its base form: that of the inventory ("speak": `speaks`), if it has one."""
    return _inventory().get(third_person(base)) or relation_type(base)


def attribute(noun: str) -> RelationType:
    """Return the relation that a noun names ("favourite film", "gym membership"): one value at a time."""
    label = " ".join(noun.casefold().split())
    name = label.replace(" ", "_")
    known = _inventory().get(name)
    if known is not None:
        return known
    return RelationType(name=name, label=label, functional=not MANY.match(label), kind="noun")


def describe(fact: Fact) -> str:
    """Return a fact as a plain sentence with its time: "Ana lives in Bonn since 25 May 2024"."""
    kind = relation_type(fact.relation.name, fact.relation.label)
    valid = fact.valid
    point = valid.start is not None and valid.start == valid.end
    past = fact.status is Status.SUPERSEDED or (point and fact.modality is Modality.ASSERTED) or valid.end is not None
    sentence = kind.render(
        fact.subject.label, fact.object.label, polarity=fact.polarity, past=past, modality=fact.modality
    )
    time = _time_of(valid, point)
    return f"{sentence} {time}" if time else sentence


def _time_of(valid: Interval, point: bool) -> str:
    if not point:
        return str(valid)
    return f"{'on' if valid.start_precision == 'day' else 'in'} {valid}"


def third_person(base: str) -> str:
    """Return the third person singular of a verb."""
    if base in ("be", "have", "do", "go"):
        return {"be": "is", "have": "has", "do": "does", "go": "goes"}[base]
    if re.search(r"(?:s|x|z|ch|sh)$", base):
        return base + "es"
    return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"


def past_of(base: str) -> str:
    """Return the simple past of a verb."""
    irregular = irregular_verbs().get(base)
    if irregular:
        return irregular
    if base.endswith("e"):
        return base + "d"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied"
    if re.search(r"[^aeiou]el$", base):
        return base + "led"
    return base + base[-1] + "ed" if re.search(r"^[^aeiou]*[aeiou][bdgklmnprt]$", base) else base + "ed"


def base_of(phrase: str) -> str:
    """Return the base form of a phrase in the third person ("lives in" -> "live in")."""
    first, _, rest = phrase.partition(" ")
    special = {"is": "be", "has": "have", "was": "be"}.get(first)
    if special is None:
        special = first[:-3] + "y" if first.endswith("ies") else first[:-1]
        special = first[:-2] if re.search(r"(?:ss|x|ch|sh)es$", first) else special
    return f"{special} {rest}".rstrip()
