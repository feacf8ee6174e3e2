"""What goes on from what was said before: "Then Prague, until 2021." after "I lived in Vienna", "Now 77 kilos."

Such a sentence has no verb of its own, or only "it is". It puts a new value, with its own time, into a relation that
was just spoken of; times such as "until then" and "after that" lead back to a day that was named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from dateutil.relativedelta import relativedelta

from doxa.core.values import Claim, Interval, Modality
from doxa.language.times import TimeSpan, find_times, number_of
from doxa.memory import relation_type
from doxa.understand.descriptions import OCCUPATION
from doxa.understand.measures import AMOUNT, BARE, MEASURES, measured_in, with_number
from doxa.understand.referents import NAME, Referents, clean, named, term
from doxa.understand.refinements import EXACTLY
from doxa.understand.scene import Proposition
from doxa.understand.states import state_in

__all__ = ["anchored", "continued", "returned"]

NAMES = frozenset("lives_in works_at works_in studies_at teaches_at drives dates located_in".split())
"""Relations to something with a name that a bare name continues."""
OPENING = re.compile(
    r"^(?:(?P<order>then|after that|afterwards|next|later(?: on)?|before that|before|earlier)|and|but|so|now|"
    r"these days|today|currently|meanwhile|finally|at|on|in|to|down|up|about|only|already|just|still|back|"
    r"(?P<who>it|that|I|we|he|she|they|home|the (?:new )?(?:address|place))"
    r" (?:is|was|am|are|were|will be|is going to be|went|goes|(?:has|have) (?:now )?been))\b[ ,:]*",
    re.IGNORECASE,
)
AHEAD = re.compile(r"\b(?:will|going to|goes|from)\b", re.IGNORECASE)
PLACING = frozenset("at on to down up so now".split())
CLOSING = re.compile(
    r"[ ,]*\b(?:now|again|today|already|these days|these|at last|though|by then|so far|onwards?)$", re.IGNORECASE
)
ADDRESS = re.compile(
    r"(?:\d+[a-z]?,? )?(?:[A-Z][\w'.-]*,? )+(?:Street|St|Road|Rd|Lane|Avenue|Ave|Square|Way|Drive|Close|Court|Terrace|"
    r"Row|Hill|Place|Gardens|Crescent|Mews|Quay|Alley|Boulevard)|\d+[a-z]? (?:[A-Z][\w'.-]* ?)+|"
    r"[A-Z]\w*(?:straße|strasse|gasse|weg|allee) \d+\w?"
)
JUDGED = re.compile(
    r"(?:(?:not|way|far|much|a (?:bit|little)|pretty|quite|rather|really|very|so|that is|it is|which is) )*"
    r"(?:too )?[a-z]+ for an? (?P<noun>[a-z]+(?: [a-z]+)?)$",
    re.IGNORECASE,
)
"""A verdict on a reading tells what kind of thing was measured ("way too much for a beagle")."""
HOME = re.compile(
    rf"^(?P<place>{NAME}) (?:is|has been|was|became) (?:my |our )?home(?: base)?"
    r"(?: ever since| from then on| since then)?"
)
FOLLOWED = re.compile(
    rf"^(?:(?P<many>\w+) (?P<unit>years?|months?|weeks?) in )(?P<place>{NAME}) "
    r"(?:followed|came next|came after(?: that)?)"
)
BACK = re.compile(
    r"(?i:(?:(?:I am|we are|(?:I|we) (?:have )?just got|got|just|finally|now) )*"
    r"(?:back|home|flew in|flown in|landed|got in) "
    r"(?:home )?from (?:(?:my|our|an?|the) )?"
    r"(?:(?:(?P<many>\w+) )?(?:\w+ )?(?P<unit>day|night|week|fortnight|month|weekend)s? |"
    r"(?:\w+ )?(?:trip|holiday|vacation|visit|honeymoon|tour|city break|break) )?(?:(?:in|to|around|at) )?)"
    rf"(?P<place>{NAME})(?=$|[,;.:!]| and\b)"
)
"""What somebody is back from."""
RATED = re.compile(r"(?<=\d) (?P<rate>(?:a|per) [a-z]+)$")
THEN = re.compile(r"\b(?P<how>until|till|since|before|by|from) then(?: on)?\b", re.IGNORECASE)
AFTER = re.compile(r"^(?P<lead>(?:and|but|so) )?after (?:that|this)\b,?", re.IGNORECASE)
BEFORE = re.compile(r"^(?P<lead>(?:and|but|so) )?before (?:that|this)\b,?", re.IGNORECASE)
LENGTH = re.compile(r"\bfor (?P<many>\w+) (?P<unit>years?|months?|weeks?)\b", re.IGNORECASE)


def anchored(text: str, before: Sequence[str], at: datetime) -> str:
    """Return a sentence with "until then", "after that" and the like as dates, by the last time that was named.

    Args:
        text: a written-out sentence.
        before: what the same speaker said before it, the latest last.
        at: when it is said.
    """
    if not (THEN.search(text) or AFTER.match(text) or BEFORE.match(text)):
        return text
    last = next((span for said in reversed(before) for span in reversed(_dates(said, at))), None)
    if last is None:
        return text
    starts = Interval.format(last.valid.start, last.valid.start_precision)
    ends = Interval.format(last.valid.end, last.valid.end_precision) if last.kind != "since" else ""
    named_day = starts if last.kind in ("point", "since", "duration") else ends
    if named_day:
        text = THEN.sub(lambda match: f"{match['how']} {named_day}", text)
    if ends:
        text = AFTER.sub(lambda match: f"{match['lead'] or ''}from {ends},", text)
    if starts:
        text = BEFORE.sub(lambda match: f"{match['lead'] or ''}until {starts},", text)
    return text[:1].upper() + text[1:]


def _dates(text: str, at: datetime) -> list[TimeSpan]:
    return [span for span in find_times(text, at, past=False) if span.kind != "clock"]


@dataclass(frozen=True, slots=True)
class _Rest:
    """A sentence without its times and without what opens and closes it."""

    text: str
    who: str
    order: str
    placed: bool
    """It opens with a preposition ("at 77", "down to 40")."""
    exact: bool
    """It says that it is more exact ("Ghent, to be precise")."""
    times: tuple[TimeSpan, ...]


def returned(text: str, referents: Referents, at: datetime) -> tuple[list[Proposition], str]:
    """Return the trip from which somebody is back ("Back from a week in Jordan, ..."), and the rest of the sentence.

    The trip is dated by its length, back from the day of speaking; without one it is told with the month.
    """
    match = BACK.match(text)
    if match is None or not named(match["place"]):
        return [], text
    number, day = number_of(match["many"] or "one"), at.date()
    month = day.replace(day=1)
    valid = Interval(start=month, end=month, start_precision="month", end_precision="month")
    if number is not None and match["unit"]:
        days = {"day": 1, "night": 1, "weekend": 2, "week": 7, "fortnight": 14, "month": 30}[match["unit"].casefold()]
        length = relativedelta(days=int(number) * days)
        valid = Interval(start=day - length, end=day)
    place = referents.placed(match["place"])
    told = Proposition(subject=referents.speaker, kind=relation_type("travels_to"), object=place, valid=valid)
    return [told], text[match.end() :].strip(" ,;:.")


def continued(text: str, said: Sequence[Claim], referents: Referents, at: datetime) -> Iterator[Proposition]:
    """Yield what a sentence without a verb of its own adds to what was said before.

    Args:
        text: a written-out sentence.
        said: claims of the speaker that it may go on from, the latest last.
        referents: who is who.
        at: when it is said.
    """
    rest = _rest(text, at)
    if not rest.text or len(rest.text.split()) > 9:
        return
    judged = JUDGED.match(text)
    if judged is not None and said and said[-1].relation.name in MEASURES and said[-1].subject != referents.speaker:
        yield Proposition(subject=said[-1].subject, kind=relation_type("is_a"), object=term(judged["noun"]))
        return
    state = state_in(rest.text)
    if state is not None and state.animate and not rest.who:
        kind, valid = relation_type(state.relation), _valid(rest, None)
        yield Proposition(subject=referents.speaker, kind=kind, object=term(state.value), valid=valid)
        return
    before = next((claim for claim in reversed(said) if _goes_on(claim, rest, referents)), None)
    if before is None:
        return
    kind = relation_type(before.relation.name, before.relation.label)
    valid = _valid(rest, before.valid)
    value = rest.text
    if kind.name in MEASURES:
        rate = RATED.search(value)
        value = with_number(before.object.label, value[: rate.start()] if rate else value)
    over = valid.end is not None and valid.end <= at.date()
    yield Proposition(subject=before.subject, kind=kind, object=term(clean(value)), valid=valid, ended=over)


def _rest(text: str, at: datetime) -> _Rest:
    text = HOME.sub(r"then \g<place>", FOLLOWED.sub(r"then \g<place> for \g<many> \g<unit>", text))
    exact = EXACTLY.search(text) is not None
    text = EXACTLY.sub("", text)
    past = AHEAD.search(text) is None
    times = tuple(span for span in find_times(text, at, past=past) if span.kind != "clock")
    for span in reversed(times):
        text = f"{text[: span.start]} {text[span.end :]}"
    text = re.sub(r"\s+", " ", text).strip(" ,;:.")
    who, order, placed = "", "", False
    while opening := OPENING.match(text):
        placed = placed or opening[0].casefold().strip(" ,:") in PLACING
        who, order = who or (opening["who"] or ""), order or (opening["order"] or "")
        text = text[opening.end() :]
    while closing := CLOSING.search(text):
        text = text[: closing.start()]
    return _Rest(text.strip(" ,;:"), who.casefold(), order.casefold(), placed, exact, times)


def _goes_on(claim: Claim, rest: _Rest, referents: Referents) -> bool:
    """Tell whether a sentence goes on from a claim: a value of the same sort, with a time or an order."""
    if not claim.functional or not claim.polarity or claim.modality is not Modality.ASSERTED:
        return False
    if rest.who in ("i", "we", "he", "she"):
        subject = referents.resolve(rest.who)
        if subject is None or subject != claim.subject:
            return False
    if ADDRESS.fullmatch(rest.text):
        return claim.relation.name == "lives_at"
    if AMOUNT.fullmatch(rest.text):
        if BARE.fullmatch(rest.text):
            cued = rest.placed or rest.who in ("it", "that") or (not rest.who and bool(rest.times or rest.order))
            return cued and claim.relation.name in MEASURES
        rate = RATED.search(rest.text)
        if rate is not None and rate["rate"] in claim.object.label:
            return claim.relation.name in MEASURES
        return claim.relation.name in MEASURES and measured_in(rest.text) == claim.relation.name
    if rest.who in ("i", "we", "he", "she"):
        return False  # a full clause: "I was in Prague"
    told = bool(rest.times or rest.order or rest.who or rest.exact)
    if claim.relation.name == "works_as":
        noun = re.match(r"an? (.+)", rest.text)
        return told and noun is not None and OCCUPATION.search(noun[1]) is not None
    return told and claim.relation.name in NAMES and re.fullmatch(NAME, rest.text) is not None and named(rest.text)


def _valid(rest: _Rest, before: Interval | None) -> Interval:
    """Return when the new value holds: by the times that are named, and by the order ("then": after the last)."""
    start, end = Interval(), Interval()
    for span in rest.times:
        state = span.state()
        if span.kind == "duration":
            continue
        if state.start is not None:
            start = state
        if state.end is not None:
            end = state
    valid = Interval(
        start=start.start, start_precision=start.start_precision, end=end.end, end_precision=end.end_precision
    )
    if before is None:
        return valid
    if rest.order.startswith(("then", "after", "next", "later")) and valid.start is None and before.end is not None:
        valid = replace(valid, start=before.end, start_precision=before.end_precision)
    length = next((LENGTH.search(span.text) for span in rest.times if span.kind == "duration"), None)
    if length is not None and valid.start is not None and valid.end is None:
        valid = _lasting(valid, length)
    if rest.order in ("before", "before that", "earlier") and valid.end is None and before.start is not None:
        valid = replace(valid, end=before.start, end_precision=before.start_precision)
    return valid


def _lasting(valid: Interval, length: re.Match[str]) -> Interval:
    many = number_of(length["many"])
    unit = length["unit"].rstrip("s") + "s"
    if many is None or valid.start is None:
        return valid
    end: date = valid.start + relativedelta(**{unit: int(many)})  # type: ignore[arg-type]
    return replace(valid, end=end, end_precision=valid.start_precision)
