"""Answers that are no clauses ("in Mosul", "make that 7", "10 mg, not 20"): their value, and the claim "
"that takes it."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from doxa.core.values import Claim, Interval
from doxa.language.times import NUMBERS, TimeSpan, find_times, number_of
from doxa.understand.clauses import is_clause
from doxa.understand.referents import clean, named, term

__all__ = ["Fragment", "Sort", "read_fragment", "refit", "sort_of"]

Sort = Literal["clock", "date", "number", "name", "noun"]

PREPOSITION = re.compile(
    r"(?P<prep>in|on|at|to|from|by|near|with|for|under|until|till|since|of|off|around|about)\s+(?=\S)", re.IGNORECASE
)
TOPIC = re.compile(r"\s(?:for|of|on|at|in|to|with|between)\s(?P<topic>(?:the|my|our|his|her|their|that)\s.+|[A-Z].*)$")
SPELLING = re.compile(
    r",? (?:and )?(?:it is )?(?:with |spelled |spelt |that is )+.*$|"
    r",? (?:with )?(?:double|two|three|one|a single|single|an?|no) [a-zA-Z](?:'?s)?(?: and .*)?$|, [a-z]+ [a-z]$",
    re.IGNORECASE,
)
NUMBER_WORD = "|".join(sorted((word for word in NUMBERS if word not in ("a", "an")), key=len, reverse=True))
NUMBER = re.compile(rf"(?:[€$£]\s?)?(?:\d[\d.,]*\d|\d|\b(?:{NUMBER_WORD})\b)", re.IGNORECASE)
LABELLED = re.compile(r"[A-Za-z]+ [A-Z]{0,2}\d[\w./-]*")
"""A thing that is told from others by a number: "room 6", "gate B21"."""
CLOCK = re.compile(
    rf"(?:\d{{1,2}}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?|noon|midnight|(?:half|quarter) (?:past|to) \w+|{NUMBER_WORD})"
    r"(?: (?:o'clock|in the (?:morning|afternoon|evening)|at night))?",
    re.IGNORECASE,
)
BARE_DAY = re.compile(r"(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
RELATIVE = re.compile(r"\b(?:who|which|whom|whose|that|when|where|what|how|why|if|because)\b", re.IGNORECASE)
MINUTES = re.compile(rf"(?:\d+|{NUMBER_WORD}) (?:minutes?|mins?|hours?|hrs?|seconds?)", re.IGNORECASE)
BESIDE = re.compile(r"(?:(?:the|on|in|at|by|this|next|of|in on|in the)\b ?)*", re.IGNORECASE)
"""What may stand beside a date that is the whole of a phrase."""
DURATION = re.compile(rf"(?:\d+|{NUMBER_WORD}) (?:years?|months?|weeks?|days?)", re.IGNORECASE)
MOST_WORDS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A value without a clause: `new` is said to hold, `old` (if any) not to; `topic` says of what."""

    new: str
    preposition: str = ""
    old: str = ""
    topic: str = ""
    rest: str = ""
    """What follows and is read by itself."""

    @property
    def bare(self) -> str:
        return clean(self.new)


def read_fragment(text: str, *, old: str = "", topic: str = "") -> Fragment | None:
    """Return the value that a piece of a sentence names; None when it is a clause or too long for a value.

    Args:
        text: written out, without the words that open a correction.
        old: what is said not to hold, if it is known already.
        topic: of what it is said.

    Cost O(len(text)).
    """
    text, rest = _first_part(text.strip(" ,.;:-*"))
    preposition = PREPOSITION.match(text)
    prep = preposition["prep"].casefold() if preposition else ""
    value = text[preposition.end() :] if preposition else text
    value = SPELLING.sub("", value).strip(" ,")
    about = TOPIC.search(value)
    if about is not None and not topic:
        value, topic = value[: about.start()], about["topic"]
    if not value or len(value.split()) > MOST_WORDS or RELATIVE.search(value) or is_clause(value):
        return None
    return Fragment(new=value, preposition=prep, old=old.strip(" ,."), topic=topic, rest=rest)


def _first_part(text: str) -> tuple[str, str]:
    """Split "18:00 on Fridays, it is printed on the door" where another clause begins."""
    for comma in re.finditer(r"(?:,|;|:| [-—–])\s+(?=[^\d])", text):
        tail = text[comma.end() :]
        if is_clause(re.sub(r"^(?:and|but|because|since|as|so) ", "", tail)):
            return text[: comma.start()], tail
    return re.sub(
        r",? (?:sorry|actually|rather|I mean|I meant|I think|same here|too|as well|then|though)$", "", text
    ), ""


def sort_of(value: str, at: datetime) -> Sort:
    """Return what kind of value a phrase is."""
    word = clean(value)
    if re.fullmatch(rf"{CLOCK.pattern}", word, re.IGNORECASE) and (
        ":" in word or re.search(r"[ap]\.?m|noon|night|past", word)
    ):
        return "clock"
    if YEAR.fullmatch(word) or _date(value, at) is not None:
        return "date"
    if NUMBER.match(word) or LABELLED.fullmatch(word) or number_of(word) is not None:
        return "number"
    return "name" if named(word) else "noun"


def _date(value: str, at: datetime) -> TimeSpan | None:
    """Return the day, month or year that a phrase is; nothing when it only contains one."""
    if MINUTES.fullmatch(clean(value)):
        return None
    if DURATION.fullmatch(clean(value)):
        return next((span for span in find_times(f"for {value}", at, past=False) if span.kind == "duration"), None)
    for text in (value, f"in {value}"):
        spans = [span for span in find_times(text, at, past=False) if span.kind == "point"]
        if spans and BESIDE.fullmatch(f"{text[: spans[0].start]} {text[spans[0].end :]}".strip()):
            return spans[0]
    return None


def refit(claim: Claim, fragment: Fragment, at: datetime) -> Claim | None:
    """Return a claim with another value in the place of its own; None when the value does not fit it.

    The value goes where the old one stands: in the subject, the object or the time.
    What the new value leaves out is kept: the month, the unit, the noun.
    """
    new, old = fragment.bare, clean(fragment.old)
    if not new:
        return None
    if old and sort_of(fragment.new, at) != "date":
        found = _substituted(claim, new, old)
        if found is not None or not _same_date(claim, fragment.old, at):
            return found
    if old and not _same_date(claim, fragment.old, at):
        return _substituted(claim, new, old)
    return _valued(claim, fragment, at)


def _same_date(claim: Claim, old: str, at: datetime) -> bool:
    dated, start = _date(old, at), claim.valid.start
    if dated is None or start is None or dated.valid.start is None:
        return False
    return dated.valid.start.day == start.day if BARE_DAY.fullmatch(old.strip()) else dated.valid.start == start


def _substituted(claim: Claim, new: str, old: str) -> Claim | None:
    thing = _within(claim.object.label, new, old)
    if thing is not None:
        return replace(claim, object=term(thing))
    subject = _within(claim.subject.label, new, old)
    return None if subject is None else replace(claim, subject=term(subject))


def _within(label: str, new: str, old: str) -> str | None:
    """Return a label with the old words exchanged for the new ones; None when it has no such words."""
    match = re.search(rf"(?<!\w){re.escape(old)}(?!\w)", label, re.IGNORECASE)
    if match is None:
        return None
    after = label[match.end() :].split()
    overlap = next((n for n in range(len(after), 0, -1) if new.split()[-n:] == after[:n]), 0)
    if overlap and len(new.split()) > overlap:
        return " ".join([label[: match.start()].strip(), new, *after[overlap:]]).strip()
    return f"{label[: match.start()]}{new}{label[match.end() :]}".strip()


def _valued(claim: Claim, fragment: Fragment, at: datetime) -> Claim | None:
    """Return a claim with a new object, or a new day, of the sort that it has."""
    new, label = fragment.bare, claim.object.label
    sort, was = sort_of(fragment.new, at), sort_of(label, at)
    if (span := _clock_in(label, claim)) is not None and CLOCK.fullmatch(new) and sort in ("clock", "number"):
        return replace(claim, object=term(f"{label[: span[0]]}{new}{label[span[1] :]}"))
    if sort == "date":
        return _dated(claim, fragment, at)
    if sort == "number" and (number := NUMBER.search(label)) is not None and was != "date":
        return _counted(claim, new, number)
    if sort == "clock":
        return None
    fits = sort == was or (sort == "noun" and was == "name" and not claim.functional)
    return replace(claim, object=term(new)) if fits and label and sort != "number" else None


def _clock_in(label: str, claim: Claim) -> tuple[int, int] | None:
    """Return where the clock time of an object stands; a bare number is one behind "at"."""
    match = re.search(
        r"\b\d{1,2}[:.]\d\d(?: ?[ap]\.?m\.?)?|\b\d{1,2} ?[ap]\.?m\.?|\b(?:noon|midnight)\b", label, re.IGNORECASE
    )
    if match is None and claim.relation.name.endswith("_at"):
        match = CLOCK.fullmatch(label)
    return match.span() if match else None


def _counted(claim: Claim, new: str, number: re.Match[str]) -> Claim | None:
    """Exchange a number; its unit or noun stays when the new value has none, and must be the same when it has one."""
    label = claim.object.label
    fresh = NUMBER.search(new)
    if fresh is None:
        return None
    unit, known = new[fresh.end() :].strip(), label[number.end() :].strip()
    if unit and known and not (set(unit.casefold().split()) & set(known.casefold().split())):
        return None
    if unit and not known and number.start() > 0:
        return None
    lead = label[: number.start()]
    if fresh.start() > 0 and lead.strip() and new[: fresh.start()].strip().casefold() != lead.strip().casefold():
        return None
    return replace(claim, object=term(f"{lead}{fresh[0]}{label[number.end() :]}"))


def _dated(claim: Claim, fragment: Fragment, at: datetime) -> Claim | None:
    """Move a claim to another day; the month and the year of the old one stay where the new one names none."""
    new, label, valid = fragment.new, claim.object.label, claim.valid
    dated = _date(new, at)
    if YEAR.fullmatch(fragment.bare):
        dated = _date(f"in {fragment.bare}", at)
    if dated is None or dated.valid.start is None:
        return None
    shown = _date(label, at) if label else None
    start = dated.valid.start
    base = valid.start or (shown.valid.start if shown else None)
    bare_day = BARE_DAY.fullmatch(new.strip())
    if base is None:
        return None
    with suppress(ValueError):  # no 31st in that month: the date as it was read
        if bare_day:
            start = start.replace(year=base.year, month=base.month)
        elif dated.valid.start_precision == "day" and not YEAR.search(new) and not _weekday(new):
            start = start.replace(year=base.year)
    precision = dated.valid.start_precision
    thing = claim.object
    if shown is not None or YEAR.fullmatch(label):
        day = Interval.format(start, precision)
        thing = term(day if YEAR.search(label) or precision != "day" else day.rpartition(" ")[0])
    elif valid.start is None:
        return None
    if valid.start is not None:
        end = start if valid.end == valid.start else valid.end
        valid = replace(valid, start=start, end=end, start_precision=precision)
        if valid.end == valid.start:
            valid = replace(valid, end_precision=precision)
    return replace(claim, object=thing, valid=valid)


def _weekday(text: str) -> bool:
    return bool(re.search(r"day\b|tomorrow|tonight|week", text, re.IGNORECASE))
