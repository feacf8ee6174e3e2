"""What kind of thing a value is: whether it can be the city, the date or the fruit that a question asks for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Fact, Interval
from doxa.language import stems
from doxa.language.words import COUNTRIES
from doxa.memory import relation_type

__all__ = [
    "GROUPS",
    "NUMBER_WORDS", "PATTERNS", "PLACES", "absolute",
    "attributes", "fitting", "place_of",
    "relations_of_attribute",
    "weekdays",
]  # fmt: skip

NUMBER_WORDS = (
    "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen half"
).split()
MONTHS = (
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec"
).split()
_MONTH = rf"(?:{'|'.join(MONTHS)})\b\.?"
DATE = re.compile(
    rf"\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?|"
    rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|"
    rf"\b\d{{4}}-\d\d-\d\d\b|\bthe \d{{1,2}}(?:st|nd|rd|th)\b|"
    rf"\b(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth) of {_MONTH}(?:,? \d{{4}})?",
    re.IGNORECASE,
)
MONTH = re.compile(rf"\b{_MONTH}(?: \d{{4}})?", re.IGNORECASE)
YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:weekdays|weekends?)\b", re.IGNORECASE)
LOOSE_DAY = re.compile(r"\b(?:yesterday|today|tonight|tomorrow|last night)\b", re.IGNORECASE)
CLOCK = re.compile(
    r"\b\d{1,2}[:.]\d\d(?: ?[ap]\.?m\b\.?)?|\b\d{1,2} ?(?:[ap]\.?m\b\.?|o'clock)|\b(?:noon|midnight|midday)\b|"
    r"\b(?:half past|quarter (?:past|to)|\w+ (?:past|to)) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve|\d{1,2})\b",
    re.IGNORECASE,
)
BARE_HOUR = re.compile(
    r"(?:at |around )?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})"
    r"(?: (?:in the (?:morning|afternoon|evening)|at night|sharp))?",
    re.IGNORECASE,
)
NUMBER = re.compile(rf"[€$£¥]? ?\d[\d.,]*\d|[€$£¥]? ?\d|\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
DURATION = re.compile(
    rf"(?:\d[\d.,]*|an?|{'|'.join(NUMBER_WORDS)}|several|a few|a couple of)(?: and a half)?[ -]"
    r"(?:years?|months?|weeks?|days?|hours?|minutes?|decades?|nights?|seconds?)\b",
    re.IGNORECASE,
)
PATTERNS: Mapping[str, tuple[re.Pattern[str], ...]] = {
    "date": (DATE, WEEKDAY, LOOSE_DAY),
    "day": (DATE, WEEKDAY, LOOSE_DAY),
    "month": (MONTH,),
    "year": (YEAR,),
    "clock": (CLOCK,),
    "time": (DATE, CLOCK, MONTH, YEAR, WEEKDAY, LOOSE_DAY),
    "number": (NUMBER,),
    "duration": (DURATION,),
}
NAMED_PLACES = frozenset(["city", "town", "village", "country", "state", "county", "region", "continent", "island"])
ADDRESSES = frozenset(["street", "road", "avenue", "square", "address"])
INSTITUTIONS = frozenset(["school", "university", "college", "company", "hospital", "bank", "club", "firm", "hotel"])
PLACES = (
    NAMED_PLACES | ADDRESSES | {"place", "location", "room", "building", "school", "university", "college", "company"}
)
PLACED = re.compile(r"(?:in|at|on|from|to|near|by) (?:which|what)\b", re.IGNORECASE)
PLACING = re.compile(
    r"\b(?:in|at|on|to|near|from|into|onto|by|beside|opposite|behind|under|over|inside|outside|around|through|address|"
    r"venue|location|town|city|country|residence|birthplace|place|school|university|workplace|employer)\b"
)
"""What tells in the name of a relation that its objects are places."""
ADDRESS = re.compile(
    r"\d|\b(?:street|road|avenue|lane|square|place|close|alley|drive|way|court|quay|gasse|stra(?:ß|ss)e|rue|via|plaza)\b",
    re.I,
)
GROUPS = frozenset(
    "flat house apartment home place family household team company firm business class school club band choir group "
    "department office crew".split()
)
"""Groups that are named by one of them: "Tom's family is getting a dog", "the coach of Tom's team"."""


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.reason").joinpath("kinds.toml").read_text(encoding="utf-8"))


@cache
def _parts() -> frozenset[str]:
    return frozenset(_table()["parts"].split())


@cache
def attributes() -> Mapping[str, tuple[str, ...]]:
    """Return the relations that answer a question for an attribute, by its noun."""
    return {noun: tuple(names.split()) for noun, names in _table()["attributes"].items()}


def relations_of_attribute(noun: str, relation: str = "") -> tuple[str, ...]:
    """Return the relations under which an attribute may be known ("employer": works_at), closest first.

    Args:
        noun: of the attribute, in the singular or plural.
        relation: that which the question names itself.
    """
    word = noun.casefold()
    forms = (word, word.removesuffix("s"), re.sub(r"ies$", "y", word))
    found = next((attributes()[form] for form in forms if form in attributes()), ())
    return (*found, *_table()["also"].get(relation, "").split())


def _is_colour(label: str) -> bool:
    """Tell whether a label names a colour."""
    return bool(set(label.casefold().replace("-", " ").split()) & set(_table()["colours"]["names"].split()))


def fitting(label: str, expects: str) -> str | None:
    """Return the part of a value that is what a question asks for; None when it cannot be that.

    Args:
        label: a value, or a sentence for the kinds that have a form of their own (dates, clock times, numbers).
        expects: what is asked for, as in `Question.expects`; empty is anything.
    """
    if not expects:
        return label
    if expects in PATTERNS:
        return _formed(label, expects)
    if not label:
        return None
    if expects == "name":
        return None if _dated(label) or not label[:1].isupper() else label
    if expects == "person":
        return None if _dated(label) or label[:1].isdigit() or label.startswith("new ") else label
    if expects in NAMED_PLACES or expects in ADDRESSES or expects == "place":
        return _place(label, expects)
    return _of_class(label, expects)


def weekdays(text: str) -> frozenset[str]:
    """Return the days of the week that a text names, in the singular."""
    found = {match[0].casefold().removesuffix("s") for match in WEEKDAY.finditer(text)}
    if "weekday" in found:
        found.update(f"{day}day" for day in ("mon", "tues", "wednes", "thurs", "fri"))
    return frozenset(found | {"saturday", "sunday"} if "weekend" in found else found)


def absolute(value: str, said: date) -> str:
    """Return a day that is told by its distance from the day of speaking as a date ("yesterday": 4 May 2024)."""
    back = {"yesterday": 1, "last night": 1, "today": 0, "tonight": 0, "tomorrow": -1}.get(value.casefold())
    return value if back is None else Interval.format(said - timedelta(days=back), "day")


def place_of(fact: Fact) -> str | None:
    """Return the place that a fact names: its object, by the relation or its name, or part of it; None for none."""
    label = fact.relation.label
    towards = re.search(r" (?:to|in|at) (.+)$", label)
    if relation_type(fact.relation.name, label).kind == "noun" and towards:
        return towards[1].title()  # "flight to Chengdu"
    inner = re.search(r" (?:at|in) (.+)$", fact.object.label)
    if PLACING.search(label) or label in ("visits", "home") or fact.object.label[:1].isupper():
        return fact.object.label or None
    return inner[1] if inner else None


def _formed(label: str, expects: str) -> str | None:
    for pattern in PATTERNS[expects]:
        match = pattern.search(label)
        if match:
            whole = expects == "number" and len(label.split()) <= 6
            return label if whole else match[0].strip()
    if expects in ("clock", "time") and BARE_HOUR.fullmatch(label.strip()):
        return label.strip()
    return None


def _dated(label: str) -> bool:
    return any(p.fullmatch(label.strip()) for p in (DATE, CLOCK, YEAR, WEEKDAY, MONTH))


def _place(label: str, expects: str) -> str | None:
    bare = re.sub(r"^the ", "", label.strip(), flags=re.IGNORECASE).casefold()
    if _dated(label) or NUMBER.fullmatch(label.strip()):
        return None
    if expects == "place":
        return label
    if expects in ADDRESSES:
        return label if ADDRESS.search(label) else None
    country = bare in COUNTRIES or label.casefold() in COUNTRIES
    if expects == "country":
        return label if country else None
    part = bool(set(bare.split()) & _parts())
    return None if not label[:1].isupper() or part or country else label


def _of_class(label: str, expects: str) -> str | None:
    """Return a value of a kind that the question names with a noun of its own ("which fruits")."""
    noun = expects.split()[-1]
    if noun in INSTITUTIONS and not set(stems(noun)) & set(stems(label)):
        return None if label.casefold() in COUNTRIES or label.islower() else label
    if noun in ("colour", "color", "colours", "colors"):
        return label if _is_colour(label) else None
    wanted, words = set(stems(noun)), set(stems(label))
    if wanted & words or not wanted:
        return label
    if _dated(label):
        return None
    if noun in _parts():
        named = label[:1].isupper() and label.casefold() not in COUNTRIES
        return label if named or NUMBER.search(label) else None
    return label
