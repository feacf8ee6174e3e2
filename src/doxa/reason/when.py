"""When something was: the time that its sentence names, seen from the day on which it was said, as exactly as it was said.

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
from datetime import date, datetime

from doxa.core.times import Expression, read_times
from doxa.core.values import Citation, Draft, Interval, Question
from doxa.reason.telling import Telling

__all__ = ["answer_when", "surface"]

LAST = re.compile(r"\b(?:last|past|previous|ago)\b", re.IGNORECASE)
NEXT = re.compile(r"\b(?:next|coming|following|later|upcoming)\b", re.IGNORECASE)
WEEKDAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*\b", re.IGNORECASE)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SEASONS = {"SP": "spring", "SU": "summer", "FA": "autumn", "WI": "winter"}
AMOUNT = re.compile(r"^(?:around |about |almost |nearly )?(.+?) ago$", re.IGNORECASE)
PRESENT = re.compile(r"\b(?:will|going to|'ll|planning|plan to|gonna|next|tomorrow|upcoming|soon)\b", re.IGNORECASE)
ENOUGH = 0.35
"""Fit below which no sentence tells of the question."""
NEAR = 2
"""Sentences before or after which may give the time of one."""


def answer_when(question: Question, told: Sequence[Telling]) -> Draft | None:
    """Return when something was, by the sentence that tells of it; None when no sentence does.

    Args:
        question: asks for a time.
        told: sentences of the evidence, the best first.
    """
    best = _best(question, told)
    if best is None:
        return None
    value = _time_of(best, question) or Interval.format(best.turn.at.date(), "day")
    citation = Citation(turn_id=best.turn.turn_id, text=best.turn.text, speaker=best.turn.speaker, at=best.turn.at)
    text = f"{value[0].upper()}{value[1:]}. {best.turn.speaker} said on {_day(best.turn.at)}: “{best.sentence}”"
    return Draft(text=text, value=value, citations=(citation,), confidence=best.fit)


def _best(question: Question, told: Sequence[Telling]) -> Telling | None:
    """Return the sentence that tells most, one with a time before one without where they tell about as much."""
    line = [one for one in told if one.fit >= ENOUGH and not one.sentence.rstrip().endswith("?")]
    if not line:
        return None
    close = [one for one in line if one.fit >= 0.92 * line[0].fit]
    within = [one for one in close if _falls_within(one, question)]
    close = within or close
    return next((one for one in close if _times_in(one.sentence, one.turn.at)), close[0])


def _falls_within(one: Telling, question: Question) -> bool:
    """Tell whether a sentence speaks of the month or year that a question names ("in June")."""
    period = question.within
    if period is None or period.start is None:
        return False
    times = [x.value.start.date() for x in _times_in(one.sentence, one.turn.at)] or [one.turn.at.date()]
    return any(period.start <= day and (period.end is None or day < period.end) for day in times)


def _time_of(one: Telling, question: Question) -> str:
    """Return the time that a sentence names, or one beside it in its turn; empty for none."""
    places = sorted(range(len(one.sentences)), key=lambda place: (abs(place - one.place), place > one.place))
    for place in places:
        if abs(place - one.place) > NEAR:
            continue
        times = _times_in(one.sentences[place], one.turn.at)
        if times:
            return surface(times[0], one.turn.at)
    return ""


def _times_in(sentence: str, at: datetime) -> list[Expression]:
    """Return the times that a sentence names: no clock times, no "now", nothing that only may be one."""
    past = not PRESENT.search(sentence)
    found = read_times(sentence, at, past=past)
    return [one for one in found if _is_dated(one)]


def _is_dated(one: Expression) -> bool:
    if one.kind not in ("date", "daterange", "datetime", "datetimerange"):
        return False
    value = one.value
    loose = getattr(value, "loose", False) and getattr(value, "grain", "") != "weekend"
    return not loose and getattr(value, "grain", "") not in ("instant", "span")


def surface(expression: Expression, at: datetime) -> str:
    """Return a time as exactly as it was said on a day."""
    value, said = expression.value, _day(at)
    source = expression.text.casefold()
    start: date = value.start.date()
    weekday = WEEKDAY.search(source)
    amount = AMOUNT.match(expression.text)
    unit = getattr(value, "counted", "")
    if unit == "year":
        return f"{start:%B %Y}" if re.match(r"(?:an?|one|1) ", source) else f"{start.year}"
    if unit == "month":
        return f"{start:%B %Y}"
    if unit in ("week", "weekend") or (unit == "day" and re.search(r"\b(?:few|couple|several|some)\b", source)):
        return f"{amount[1] if amount else expression.text} before {said}" if start < at.date() else expression.text
    if value.grain == "week":
        return f"the week {_side(start, value.end.date(), at.date())} {said}"
    if value.grain == "weekend":
        return f"the weekend {_side(start, value.end.date(), at.date())} {said}"
    if value.grain == "season":
        return f"{SEASONS.get(value.timex[-2:], 'summer')} {start.year}"
    if value.grain == "month":
        return f"{start:%B %Y}"
    if value.grain == "year":
        return f"{start.year}"
    if weekday and not re.search(r"\d", source) and start != at.date():
        return f"the {WEEKDAYS[start.weekday()]} {'before' if start < at.date() else 'after'} {said}"
    return Interval.format(start, "day")


def _side(start: date, end: date, said: date) -> str:
    """Return how a period lies to a day: "before", "of" or "after"."""
    return "before" if end <= said else "after" if start > said else "of"


def _day(at: datetime) -> str:
    return Interval.format(at.date(), "day")
