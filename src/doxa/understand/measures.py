"""Readings: a number with its unit says how heavy, tall or warm it is, or how long somebody works.

The unit tells the relation (`measures.toml`). Every such relation has one value at a time, so a new reading ends the
one before.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Modality
from doxa.language.times import NUMBERS
from doxa.memory import RelationType, attribute, relation_type
from doxa.understand.scene import MONEY, Proposition, Scene, is_animate, say

__all__ = [
    "AMOUNT",
    "COMPARED",
    "MEASURES",
    "PRICES",
    "measured",
    "with_number",
]

MEASURES = frozenset("weighs height temperature works_hours costs earns headcount has_age shoe_size price".split())
"""Relations whose values are numbers with their unit."""
COUNTED = "|".join(sorted((word for word in NUMBERS if word != "a"), key=len, reverse=True))
NUMBER = rf"(?:(?:€|\$|£)\s?)?(?:\b\d(?:[\d.,]*\d)?|\b(?:{COUNTED})\b)(?: and a half\b)?k?"
AMOUNT = re.compile(rf"{NUMBER}(?:[ -]?[a-z°€$£%][\w°/]*){{0,4}}", re.IGNORECASE)
"""A number, perhaps with its unit ("26.5 kilos", "34 euros a month", "77")."""
BARE = re.compile(NUMBER, re.IGNORECASE)
HOUR = re.compile(r"\d{1,2}[:.]\d\d")
DIMENSION = re.compile(r" (?:tall|high|heavy|in (?:height|weight))$", re.IGNORECASE)
CHANGING = frozenset(
    "go rise climb drop fall grow increase decrease shrink shoot jump sink get come reach hit weigh measure stay "
    "go+up go+down shoot+up come+down get+up get+down creep+up".split()
)
PRICES = frozenset("bump put raise increase lower reduce cut go rise climb jump drop fall shoot hike".split())
"""Verbs beside which a sum is a new price."""
COMPARED = re.compile(r"\b(?:more|less|extra|off|cheaper|dearer|heavier|lighter|taller|fewer|another)\b")
"""In an amount by which something differs."""
TOWARDS = ("to", "at", "on", "", "around", "over", "under")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("measures.toml").read_text(encoding="utf-8"))


@cache
def _units() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(rf"{NUMBER}[ -]?(?:{unit})", re.IGNORECASE) for name, unit in _table()["units"].items()}


def measured_in(text: str) -> str:
    """Return the relation that the unit of an amount stands for ("26.5 kilos": weighs); empty without a known unit."""
    plain = DIMENSION.sub("", text)
    if MONEY.search(plain):
        return "costs"
    return next((name for name, pattern in _units().items() if pattern.fullmatch(plain)), "")


def with_number(old: str, new: str) -> str:
    """Return a new amount with the unit of an old one when it has none of its own ("79 kilos", "77": "77 kilos")."""
    if HOUR.fullmatch(new) and HOUR.search(old):
        return HOUR.sub(new, old, count=1)
    if not BARE.fullmatch(new):
        return new
    changed = re.sub(BARE.pattern, new, old, count=1, flags=re.IGNORECASE)
    return changed if changed != old or new in old else new


def _kind(name: str) -> RelationType:
    kind = relation_type(name)
    return attribute(name.replace("_", " ")) if kind.kind == "noun" else kind


def measured(scene: Scene) -> Iterator[Proposition]:
    """Yield a reading: "he is 31 kilos", "Leo has grown to 1.28 m", "I work 30 hours a week"."""
    clause = scene.clause
    if clause.modality is Modality.HYPOTHETICAL or clause.verb not in CHANGING | {"be", "work", "do"}:
        return
    told = [scene.complement.direct, *(noun for prep, noun in scene.complement.phrases if prep in TOWARDS)]
    price = clause.verb == "be" and scene.complement.direct in ("up", "down", "")  # "the pass is down to 45 euros"
    told = [text for text in told if text and not COMPARED.search(text)]
    value = next((text for text in told if measured_in(text) not in (("",) if price else ("", "costs"))), "")
    relation = measured_in(value) if value else ""
    if not relation or not _measurable(scene, relation):
        return
    ended = clause.ended or (clause.tense == "past" and clause.verb in ("be", "work") and not clause.passive)
    modality = clause.modality if clause.modality is not Modality.PLANNED else Modality.ASSERTED
    yield say(
        scene, _kind(relation), DIMENSION.sub("", value), polarity=not clause.negated, modality=modality,
        valid=scene.state(), ended=ended,
    )  # fmt: skip


def _measurable(scene: Scene, relation: str) -> bool:
    verb, animate = scene.clause.verb, is_animate(scene)
    if relation == "works_hours":
        return animate and (verb in ("work", "do") or scene.complement.at("on") != "" or verb == "be")
    if verb in ("work", "do"):
        return False
    if relation == "height":
        return animate and verb in CHANGING | {"be"}
    return relation not in ("temperature", "costs") or scene.subject != scene.referents.speaker
