"""What a value measures: two lengths are rivals, a length and a price are not.

A relation that no ontology lists ("leaves from", "has") may have many objects and still one of each kind: a ferry
leaves from one pier, a house has one number of square metres. The kind is read off the value itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from functools import lru_cache

from doxa.core.values import Fact, Modality, Relation, Term
from doxa.language import stems
from doxa.memory.ontology import inventory, relation_type
from doxa.memory.paged import Lists, Pack, PackWriter, Table, joined

__all__ = ["ValueIndex", "dimension_of", "measures"]

NUMBER = (
    r"(?:[€$£]\s?)?\d[\d.,]*k?|(?:no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|"
    r"fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred)"
    r"(?:[- ](?:one|two|three|four|five|six|seven|eight|nine|hundred|thousand))?"
)
MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
CLOCK = re.compile(r"(?:about |around )?(?:\d{1,2}[:.]\d\d(?: ?[ap]\.?m\.?)?|\d{1,2} ?[ap]\.?m\.?|noon|midnight)$")
DATE = re.compile(
    rf"(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?{MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?,?(?: \d{{4}})?$"
)
ISO = re.compile(r"\d{4}-\d\d(?:-\d\d)?$")
WEEKDAYS = re.compile(r"(?:every )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?: (?:and|to) \w+days?)?$")
AMOUNT = re.compile(rf"(?:about |around |only |just )?(?:{NUMBER})(?: (?P<unit>[^\d].*))?$")
LABELLED = re.compile(
    r"(?:the )?(?P<noun>[a-z]+(?: [a-z]+)?) (?:number |no\.? |nr\.? )?(?:\d[\d.]*[a-z]?|[a-z]\d*)(?P<of> of .+)?$"
)
TIMED = re.compile(r"(?:the )?\d{1,2}[:.]\d\d (?P<noun>[a-z]+(?: [a-z]+)?)$")
CODE = re.compile(r"(?:[a-z]+[-_]?\d[\w-]*|\d+[a-z]+\d[\w-]*)$")
MONEY = re.compile(r"^(?:euros?|dollars?|pounds?|quid|bucks|cents?|francs?|crowns?|zloty|yen|rupees?|eur|usd|gbp)\b")
LEFT = re.compile(r" (?:left|now|again|today|more|in total|altogether|so far|already|still|in all)$")
PERIOD = re.compile(r"\b(?:a|an|per|each|every) (?:hour|day|night|week|month|quarter|year|person|head|visit)\b.*$")


def dimension_of(relation: Relation, thing: Term) -> str:
    """Return the kind of value within its slot; "" where the relation has one value of any kind.

    Those that the ontology lists as functional have one value. A noun ("flight to Oslo") has one value, and beside it
    a date, a time of day and days of the week. For any other relation it is what the value measures.
    """
    known = inventory().relations.get(relation.name)
    if known is not None and known.functional:
        return ""
    kind = measures(thing.label)
    noun = relation_type(relation.name, relation.label).kind == "noun"
    return "" if noun and kind not in ("date", "clock", "weekday") else kind


@lru_cache(maxsize=65536)
def measures(value: str) -> str:
    """Return what a value measures ("142 square metres": "squar metr", "pier 7": "pier"); "" for any other value."""
    text = " ".join(value.casefold().split())
    for name, pattern in (("clock", CLOCK), ("date", DATE), ("date", ISO), ("weekday", WEEKDAYS)):
        if pattern.match(text):
            return name
    if (match := TIMED.match(text)) is not None:
        return " ".join(stems(match["noun"]))
    if (match := AMOUNT.match(text)) is not None:
        unit = LEFT.sub("", PERIOD.sub("", match["unit"] or "")).strip()
        if text[0] in "€$£" or MONEY.match(unit):
            return "money"
        return " ".join(stems(unit)) or "number"
    if CODE.match(text):
        return "code"
    match = LABELLED.match(text)
    return " ".join(stems(f"{match['noun']}{match['of'] or ''}")) if match else ""


MOST_ALIKE = 50
"""Values that a lookup returns at most: those that share the most words, the latest of equals."""


class ValueIndex:
    """Facts with one value at a time, by what the value measures and the words of what it is a value of.

    Args:
        facts: where they are.
    """

    def __init__(self, facts: Table[Fact]) -> None:
        self._facts = facts
        self._rows = Lists()

    def add(self, row: int, fact: Fact) -> None:
        """Take in a fact, if it has one value at a time."""
        for key in _keys(fact):
            self._rows.append(key, row)

    def remove(self, row: int, fact: Fact) -> None:
        """Forget a fact."""
        for key in _keys(fact):
            self._rows.remove(key, row)

    def alike(self, kind: str, words: Collection[str]) -> list[str]:
        """Return the ids of values of a kind that share words, most first. O(facts found)."""
        shared: Counter[int] = Counter()
        for word in sorted(words):
            shared.update(self._rows.get(joined(kind, word)))
        order = {row: place for place, row in enumerate(shared)}
        best = sorted(shared, key=lambda row: (-shared[row], -order[row]))[:MOST_ALIKE]
        return [self._facts.key_at(row) for row in best]

    def save(self, writer: PackWriter, name: str) -> None:
        """Write it."""
        self._rows.save(writer, name)

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of what is here."""
        self._rows.load(pack, name)


def _keys(fact: Fact) -> list[str]:
    if not fact.functional or not fact.polarity or fact.modality not in (Modality.ASSERTED, Modality.PLANNED):
        return []
    kind = measures(fact.object.label)
    words = dict.fromkeys([*stems(f"{fact.subject.label} {fact.relation.label}"), *kind.split()])
    return [joined(kind, word) for word in words]
