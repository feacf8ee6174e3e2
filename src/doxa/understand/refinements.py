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
from doxa.memory import Beliefs
from doxa.understand.referents import clean
from doxa.understand.scene import Proposition

__all__ = ["is_country", "refined"]

EXACTLY = re.compile(
    r"\b(?:to be (?:more |quite |very |a bit more )?(?:exact|precise|specific)|more (?:exactly|precisely|specifically)|"
    r"(?:exactly|precisely|specifically|namely|strictly speaking|that is to say|technically)(?=[,:]|$))",
    re.IGNORECASE,
)
MOVED = re.compile(
    r"\b(?:mov(?:e|ed|ing)|relocat\w+|settled|emigrated|now|these days|any ?more|no longer)\b", re.IGNORECASE
)
HOMES = ("lives_in", "works_in")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("places.toml").read_text(encoding="utf-8"))


@cache
def _countries() -> frozenset[str]:
    return frozenset(" ".join(name.split()).casefold() for name in _table()["countries"].split(","))


def is_country(name: str) -> bool:
    """Tell whether a place is a country, by its name."""
    return clean(name).casefold() in _countries()


def _is_part(name: str) -> bool:
    return re.search(rf"\b(?:{_table()['parts']})$", name, re.IGNORECASE) is not None


def refined(found: Sequence[Proposition], text: str, beliefs: Beliefs) -> Iterator[Proposition]:
    """Yield what a sentence says, as a refinement where it only says more exactly what is known. O(its claims).

    Args:
        found: what the sentence says.
        text: the sentence as it was said, with "to be exact".
        beliefs: what is known.
    """
    exact = EXACTLY.search(text) is not None
    for told in found:
        known = _known(told, beliefs) if _stated(told) and (exact or told.kind.name in HOMES) else None
        lies_in = told.kind.name in HOMES and known is not None and _nested(told.object, known, text)
        finer = known is not None and known.object.key != told.object.key and (exact or lies_in)
        yield replace(told, act=Act.REFINE) if finer else told


def _stated(told: Proposition) -> bool:
    return told.polarity and not told.ended and told.modality is Modality.ASSERTED and told.kind.functional


def _known(told: Proposition, beliefs: Beliefs) -> Fact | None:
    facts = beliefs.about(told.subject.key, told.kind.name)
    return next((fact for fact in reversed(facts) if fact.status is Status.HELD and fact.polarity), None)


def _nested(place: Term, known: Fact, text: str) -> bool:
    """Tell whether one of two homes lies in the other: only one is a country, or one is part of a town."""
    if MOVED.search(text):
        return False
    names = (place.label, known.object.label)
    return is_country(names[0]) != is_country(names[1]) or _is_part(names[0]) != _is_part(names[1])
