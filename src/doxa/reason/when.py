"""When something was: the time that its sentence names, seen from the day of speaking, as exactly as it was said.

    "yesterday", "two days ago", "on 5 July"      a day                       14 July 2023
    "last Friday", "next weekend", "this week"    as far as it is told        the Friday before 15 July 2023
    "a few days ago", "two weeks ago"             an amount from that day     a few days before 15 July 2023
    "last month", "in August", "next summer"      the month, season or year   June 2023, summer 2024, 2022
    no time at all                                the day on which it was said

A period that is told from the day of speaking is not given as one day of it: "last week" was no Monday.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from doxa.core.values import Draft, Interval, Question
from doxa.language.times import Period, Repeat, read_times
from doxa.reason.drafts import citation_of, quote
from doxa.reason.telling import Telling

__all__ = ["answer_when", "asks_when", "dated_well"]

NOW = "PRESENT_REF"
VAGUE = re.compile(r"\b(?:few|couple|several|some|many)\b")
WEEKDAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*\b", re.IGNORECASE)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SEASONS = {"SP": "spring", "SU": "summer", "FA": "autumn", "WI": "winter"}
AGO = re.compile(r"^(?:around |about |almost |nearly )?(.+?) ago$", re.IGNORECASE)
AHEAD = re.compile(r"\b(?:will|going to|planned|planning|plans?|next|upcoming|is|are)\b", re.IGNORECASE)
"""Opens a question for what is to come, or was then."""
YEAR = re.compile(r"\b(?:which|what) year\b", re.IGNORECASE)
PLANNED = re.compile(r"\b(?:will|going to|'ll|planning|plan to|gonna|next|tomorrow|upcoming|soon)\b", re.IGNORECASE)
ENOUGH, NEAR_IN_MEANING = 0.35, 0.4
"""Share of the words of a question that a turn has to have to tell of it, or else how near it has to be."""
SLACK = 0.1
"""How much less of the question the sentence behind a dated answer may cover than the sentence that covers most."""
LOOSE = re.compile(
    r"(?:(?:on|the|this|last|past|next) )*(?:week|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?", re.I
)
"""Names of days that are no dates without the day of speaking."""
CLOCK = re.compile(r"\b(?:what time|o'clock|which hour)\b", re.IGNORECASE)
CLOSE, UNTIMELY = 0.85, 0.8
"""Share of the best fit from which a sentence that names a time is taken before it; what is left of the fit of a plan
where it is asked what was, and the other way round."""
NEAR = 2
"""Sentences before or after which may give the time of one."""


def asks_when(question: Question) -> bool:
    """Tell whether a question asks on which day, in which month or year something was, and not at what time of day."""
    return question.kind == "when" and question.expects != "clock" and not CLOCK.search(question.text)


def dated_well(draft: Draft | None, question: Question, told: Sequence[Telling]) -> Draft | None:
    """Return a dated answer, as exactly as it was said; None when other sentences tell more of the question.

    What facts and passages say of another event of the same kind has the right form and is wrong all the same. Every
    other draft is given back as it is.
    """
    if draft is None or not told or draft.disputed or not asks_when(question):
        return draft
    if draft.abstained or LOOSE.fullmatch(draft.value or ""):
        return None
    cited = {citation.turn_id for citation in draft.citations}
    own = max((one for one in told if one.turn.turn_id in cited), key=lambda one: one.covered, default=None)
    most = max(one.covered for one in told if one.own) if any(one.own for one in told) else 0.0
    if own is None or own.covered < most - SLACK:
        return None
    times = (time for sentence in own.sentences for time in _times_in(sentence, own.turn.at))
    return next((replace(draft, value=str(time)) for time in times if time.day == draft.value), draft)


def answer_when(question: Question, told: Sequence[Telling]) -> Draft | None:
    """Return when something was, by the sentence that tells of it; None when no sentence does.

    Args:
        question: asks for a time.
        told: sentences of the evidence, the best first.
    """
    best = _best(question, told)
    if best is None or not asks_when(question):
        return None
    time = _time_of(best)
    times = read_times(best.sentence, best.turn.at)
    if time is None and any(isinstance(one.value, Repeat) for one in times):
        return None  # what happens again and again did not happen on the day on which it was told
    value = str(time) if time else _day(best.turn.at)
    if YEAR.search(question.text) and re.search(r"\b\d{4}$", value):
        value = value[-4:]
    exact = time is not None and value.startswith("the ") and time.period.grain == "day"
    told_as = f"{time.day} ({value})" if time is not None and exact else value
    text = f"{told_as[0].upper()}{told_as[1:]}. {quote(best.turn, best.sentence)}"
    return Draft(text=text, value=value, citations=(citation_of(best.turn),), confidence=best.fit)


def _best(question: Question, told: Sequence[Telling]) -> Telling | None:
    """Return the sentence that tells most, one with a time before one without where they tell about as much."""
    ahead = AHEAD.search(question.text) is not None
    line = [
        (one.fit * (1.0 if (PLANNED.search(one.sentence) is not None) == ahead else UNTIMELY), one)
        for one in told
        if not one.sentence.rstrip().endswith("?")
    ]
    line = sorted(
        (pair for pair in line if pair[1].around >= ENOUGH or pair[1].meaning >= NEAR_IN_MEANING),
        key=lambda pair: -pair[0],
    )
    close = [one for fit, one in line if fit >= CLOSE * line[0][0]]
    if not close:
        return None
    close = [one for one in close if _falls_within(one, question)] or close
    exact = [one for one in close if any(time.grain == "year" for time in _times_in(one.sentence, one.turn.at))]
    close = exact if exact and YEAR.search(question.text) else close
    return next((one for one in close if _times_in(one.sentence, one.turn.at)), close[0])


def _falls_within(one: Telling, question: Question) -> bool:
    """Tell whether a sentence speaks of the month or year that a question names ("in June")."""
    period = question.within
    if period is None or period.start is None:
        return False
    times = [time.period.start.date() for time in _times_in(one.sentence, one.turn.at)] or [one.turn.at.date()]
    return any(period.start <= day and (period.end is None or day < period.end) for day in times)


def _time_of(one: Telling) -> _Time | None:
    """Return the time that a sentence names, or one beside it in its turn; None for none."""
    places = sorted(range(len(one.sentences)), key=lambda place: (abs(place - one.place), place > one.place))
    near = (place for place in places if abs(place - one.place) <= NEAR)
    return next((times[0] for place in near if (times := _times_in(one.sentences[place], one.turn.at))), None)


def _times_in(sentence: str, at: datetime) -> list[_Time]:
    """Return the times that a sentence names: no clock times, no "now", nothing that only may be one."""
    return [
        _Time(one.text, one.value, at)
        for one in read_times(sentence, at)
        if isinstance(one.value, Period)
        and one.value.grain != "span"
        and one.value.timex != NOW
        and (not one.value.loose or one.value.grain == "weekend")
    ]


@dataclass(frozen=True, slots=True)
class _Time:
    """A period and the words for it, said on a day."""

    text: str
    period: Period
    at: datetime

    @property
    def grain(self) -> str:
        """How exact it was said: the unit that it was counted in, else that of the calendar."""
        return self.period.counted or self.period.grain

    @property
    def day(self) -> str:
        """The day on which it begins, as people write it."""
        return Interval.format(self.period.start.date(), "day")

    def __str__(self) -> str:
        """Return it as exactly as it was said."""
        source, start = self.text.casefold(), self.period.start.date()
        if self.period.counted:
            return self._counted(source, start)
        match self.period.grain:
            case "week":
                return f"the week {self._side} {_day(self.at)}"
            case "weekend":
                side = "of" if source.startswith("this week") else self._side
                return f"the weekend {side} {_day(self.at)}"
            case "season":
                return f"{SEASONS.get(self.period.timex[-2:], 'summer')} {start.year}"
            case "month":
                return f"{start:%B %Y}"
            case "year":
                return f"{start.year}"
        named = WEEKDAY.search(source) and self.period.weekday is None and not re.search(r"\d", source)
        return f"the {WEEKDAYS[start.weekday()]} {self._side} {_day(self.at)}" if named else self.day

    def _counted(self, source: str, start: date) -> str:
        """Return an amount of time from the day of speaking: as a date where it is exact enough for one."""
        vague, unit = VAGUE.search(source) is not None, self.period.counted
        if unit in ("week", "weekend") or vague:
            amount = AGO.match(self.text)
            return f"{amount[1]} before {_day(self.at)}" if amount else self.text
        if unit == "month" or (unit == "year" and re.match(r"(?:an?|one|1) ", source)):
            return f"{start:%B %Y}"
        return f"{start.year}" if unit == "year" else self.day

    @property
    def _side(self) -> str:
        """How it lies to the day of speaking."""
        start, end, said = self.period.start.date(), self.period.end.date(), self.at.date()
        return "before" if end <= said else "after" if start > said else "of"


def _day(at: datetime) -> str:
    return Interval.format(at.date(), "day")
