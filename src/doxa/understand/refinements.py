"""What says more exactly what was said before: "in Porto, to be exact" after "in Portugal". Both hold.

It is told by its wording, or by the places themselves: of two homes of which only one is a country, the other lies in
it, unless somebody has moved meanwhile.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Act, Fact, Modality, Status, Term
from doxa.memory import Beliefs, attribute, relation_type
from doxa.understand.referents import NAME, clean, kin_of, named, term
from doxa.understand.scene import Proposition

__all__ = ["EXACTLY", "is_country", "refined"]

EXACTLY = re.compile(
    r"\b(?:to be (?:more |quite |very |a bit more )?(?:exact|precise|specific)|more (?:exactly|precisely|specifically)|"
    r"(?:exactly|precisely|specifically|namely|strictly speaking|that is to say|technically)(?=[,:]|$))",
    re.IGNORECASE,
)
MOVED = re.compile(
    r"\b(?:mov(?:e|ed|ing)|relocat\w+|settled|emigrated|now|these days|any ?more|no longer)\b", re.IGNORECASE
)
HOMES = ("lives_in", "works_in")
LOCAL = ("located_in", "be_in")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("places.toml").read_text(encoding="utf-8"))


@cache
def _countries() -> frozenset[str]:
    return frozenset(" ".join(name.split()).casefold() for name in _table()["countries"].split(","))


@cache
def _within() -> re.Pattern[str]:
    """Return the expression for a place inside the one that was named ("Porto, up in the Bonfim neighbourhood")."""
    parts = _table()["parts"]
    return re.compile(
        rf",? (?:(?:up|down|out|over|right|somewhere) )*in (?P<place>(?:the )?(?:{NAME} (?:{parts})|{NAME}))(?=[,;.]|$)"
    )


def is_country(name: str) -> bool:
    """Tell whether a place is a country, by its name."""
    return clean(name).casefold() in _countries()


def _is_part(name: str) -> bool:
    return re.search(rf"\b(?:{_table()['parts']})$", name, re.IGNORECASE) is not None


def refined(found: Sequence[Proposition], text: str, beliefs: Beliefs, speaker: Term) -> Iterator[Proposition]:
    """Yield what a sentence says, as a refinement where it only says more exactly what is known. O(its claims).

    Args:
        found: what the sentence says.
        text: the sentence as it was said, with "to be exact".
        beliefs: what is known.
        speaker: who says it.
    """
    exact = EXACTLY.search(text) is not None
    for told in found:
        home = _home(told, beliefs)
        if exact and home is not None and told.kind.name in LOCAL:
            told = replace(told, kind=relation_type("lives_in"))
        if not _stated(told) or (told.kind.name not in HOMES and not exact):
            yield told
            continue
        known = _known(told, beliefs)
        lies_in = told.kind.name in HOMES and known is not None and _nested(told.object, known, text)
        finer = known is not None and known.object.key != told.object.key and (exact or lies_in)
        yield replace(told, act=Act.REFINE) if finer else told
        if exact and known is None and named(told.subject.label):
            yield from _so_called(told, speaker, beliefs)
        if told.kind.name == "lives_in":
            yield from _parts(told, text)


def _so_called(told: Proposition, speaker: Term, beliefs: Beliefs) -> Iterator[Proposition]:
    """Yield whose name it is: "Linh is from Hanoi, to be precise" after "my flatmate is from Vietnam"."""
    if beliefs.about(told.subject.key):
        return
    described = []
    for subject in beliefs.possessions(speaker.key):
        relation = kin_of(subject.rpartition("'s ")[2])
        if relation and any(f.status is Status.HELD and f.polarity for f in beliefs.about(subject, told.kind.name)):
            described.append(relation)
    if len(described) == 1:
        yield Proposition(subject=speaker, kind=attribute(described[0]), object=told.subject)


def _stated(told: Proposition) -> bool:
    return told.polarity and not told.ended and told.modality is Modality.ASSERTED and told.kind.functional


def _home(told: Proposition, beliefs: Beliefs) -> Fact | None:
    homes = beliefs.about(told.subject.key, "lives_in")
    return next((f for f in reversed(homes) if f.status is Status.HELD and f.polarity and f.valid.end is None), None)


def _known(told: Proposition, beliefs: Beliefs) -> Fact | None:
    facts = beliefs.about(told.subject.key, told.kind.name)
    return next((fact for fact in reversed(facts) if fact.status is Status.HELD and fact.polarity), None)


def _nested(place: Term, known: Fact, text: str) -> bool:
    """Tell whether one of two homes lies in the other: only one is a country, or one is part of a town."""
    if MOVED.search(text):
        return False
    names = (place.label, known.object.label)
    return is_country(names[0]) != is_country(names[1]) or _is_part(names[0]) != _is_part(names[1])


def _parts(told: Proposition, text: str) -> Iterator[Proposition]:
    """Yield the smaller places behind the name of a home: "in Porto, up in the Bonfim neighbourhood"."""
    place = text.find(told.object.label)
    if place < 0:
        return
    rest = re.sub(rf",? {EXACTLY.pattern},?", ",", text[place + len(told.object.label) :], flags=re.IGNORECASE)
    for match in _within().finditer(rest):
        part = term(clean(match["place"]))
        if part.key != told.object.key and (_is_part(part.label) or named(part.label)):
            yield replace(told, object=part, act=Act.REFINE)
