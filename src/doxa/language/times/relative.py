"""Periods seen from the day of speaking: "last week", "next Friday", "this summer", "tomorrow"."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta

from doxa.language.times.clocks import between, in_part, read_hour
from doxa.language.times.dates import day_of, is_verb, month_of, nearest, two_digits, weekday_of
from doxa.language.times.grammar import Action, Found, Reading
from doxa.language.times.periods import Amount, Clock, Hours, Period, Seen, dated, monday_of, moved, period_of
from doxa.language.times.tokens import Token, words

__all__ = ["RELATIVE_ACTIONS", "kind_of"]

SEASONS = {"SP": 3, "SU": 6, "FA": 9, "WI": 12}
NIGHT = (20 * 3600, 24 * 3600)
NAMES = ("may", "march", "april", "june", "august")
"""Months that are verbs, names of people or adjectives as well."""
BEFORE_MONTH = (
    "in", "since", "until", "by", "from", "to", "during", "of", "mid", "late", "early", "-", "between", "before",
    "after",
)  # fmt: skip
KINDS = {"day": "DAY", "week": "WEEK", "weekend": "WEEK", "month": "MONTH", "year": "YEAR"}


def kind_of(period: Period) -> Reading:
    """Return a period as a reading of its kind."""
    if period.grain == "instant":
        return Reading("INSTANT", period)
    return Reading("STRETCH" if period.grain == "stretch" else KINDS.get(period.grain, "SPAN"), period)


def _today(found: Found, seen: Seen) -> Reading | None:
    step = found.look("d", "near")
    if "away" in found:
        if not step:
            return None
        step += -1 if found.word("away") == "before" else 1
        return Reading("DAY", dated(seen.today + timedelta(days=step)))
    day = dated(seen.today + timedelta(days=step))
    if found.word("d") in ("tonight", "tonite"):
        start, end = (day.start + timedelta(seconds=second) for second in NIGHT)
        return Reading("STRETCH", Period(start=start, end=end, grain="stretch", timex="TNI"))
    return Reading("DAY", day)


def _now(found: Found, seen: Seen) -> Reading | None:
    loose = found.source.casefold() == "now" and found.beside(-1) not in ("and", "to", "until", "till", "from", "-")
    return Reading("INSTANT", Period(start=seen.now, end=seen.now, grain="instant", loose=loose, timex="PRESENT_REF"))


def _unit(found: Found, seen: Seen) -> Reading | None:
    unit = found.word("u")
    if found.hyphened:
        return None
    if "after" in found:
        step = 1 if unit == "day" else 2
    elif "before" in found:
        step = -2
    else:
        step = found.look("r", "relative") or 0
    if found.word("r") == "past" and unit == "fortnight":
        step = -1
    if unit == "workweek" or "work" in found:
        unit = "workweek" if unit in ("week", "workweek") else unit
    length = {"workweek": "week", "weekend": "week"}.get(unit, unit)
    if unit == "weekend" and found.word("r") in ("last", "past", "previous") and seen.today.weekday() > 4:
        step = -1
    day = moved(seen.today, Amount(parts=((abs(step), length),)), 1 if step >= 0 else -1) if step else seen.today
    period = period_of(unit, day)
    if unit in ("decade", "century") and step:
        period = period_of(unit, seen.today + relativedelta(years=step * (10 if unit == "decade" else 100)))
    return kind_of(replace(period, loose=found.word("r") in ("that", "those", "same")))


def _this_unit(found: Found, seen: Seen) -> Reading | None:
    return kind_of(replace(period_of(found.word("u"), seen.today), loose=True))


def _weekday(found: Found, seen: Seen) -> Reading | None:
    index = found.look("w", "weekday")
    written = found.token("w")
    if written is None:
        return None
    step = found.look("r", "relative")
    if found.word("r") == "the":
        step = found.look("r2", "relative") or 0
    source = found.source.casefold()
    if re.search(r"\bweek\b", source):
        day = monday_of(seen.today) + timedelta(weeks=step or 0, days=index)
    elif "next" in found:
        day = weekday_of(seen.today, index, False)
    elif "last" in found or step == -1:
        day = weekday_of(seen.today, index, True)
    elif "after" in found:
        day = monday_of(seen.today) + timedelta(weeks=2, days=index)
    elif step == 1:
        coming = found.word("r") in ("coming", "upcoming")
        day = weekday_of(seen.today, index, False)
        day = day if coming else monday_of(seen.today) + timedelta(weeks=1, days=index)
    elif step == 0:
        day = monday_of(seen.today) + timedelta(days=index)
    else:
        if len(written.word) < 6 and not _is_day(found):
            return None
        return Reading("DAY", dated(weekday_of(seen.today, index, seen.past), weekday=index))
    return Reading("DAY", dated(day))


def _is_day(found: Found) -> bool:
    """Tell whether a short name of a weekday is one ("on Sat", "Mon 9am", but not "sat down" or "the sun")."""
    token, before, after = found.first, found.beside(-1), found.beside(1)
    led = before in (
        "on",
        "by",
        "until",
        "till",
        "til",
        "since",
        "from",
        "to",
        "before",
        "after",
        "between",
        "or",
        "and",
    )
    place = found.match.end()
    beside = found.tokens[place] if place < len(found.tokens) else None
    timed = beside is not None and (isinstance(beside.value, Clock | Hours) or beside.word in words().values["part"])
    written = found.text[token.start : token.end]
    if token.word in ("sat", "sun", "wed", "mon"):
        dashed = "-" in (before, after)
        return (
            timed
            or (dashed and written[0].isupper())
            or (before in ("on", "by", "until", "since", "from", "to") and after not in ("a", "the"))
        )
    return led or timed or written[0].isupper()


def _month_relative(found: Found, seen: Seen) -> Reading | None:
    token = found.token("m") or found.token("bare")
    if token is None:
        return None
    index, step = words().values["month"][token.word], found.look("r", "relative")
    if "of" in found:
        return Reading("MONTH", month_of(seen, index, found.value("of").start.year))
    if step is not None:
        return None if is_verb(found, token) else Reading("MONTH", _month_away(seen, index, step))
    if not _is_month(found, token):
        return None
    period = month_of(seen, index)
    if "s" in found:
        return Reading("SPAN", staged(period, found.look("s", "stage")))
    of_name = token.word in NAMES and found.beside(-1) in ("and", "or", "for", "of", "by")
    return Reading("MONTH", replace(period, loose="bare" in found or of_name))


def _month_away(seen: Seen, index: int, step: int) -> Period:
    if step == 0:
        return month_of(seen, index, seen.now.year)
    this = seen.today.replace(day=1)
    around = [datetime(seen.now.year + offset, index, 1) for offset in (-1, 0, 1)]  # noqa: DTZ001
    return period_of("month", nearest([day for day in around if day != this], this, step < 0))


def _is_month(found: Found, token: Token) -> bool:
    """Tell whether the name of a month is one ("in May", but not "I may", "April and I" or "march to")."""
    if "bare" in found:
        return token.word not in (*NAMES, "mar", "jan", "dec", "jun", "sep")
    written, after = found.text[token.start : token.end], found.text[token.end : token.end + 3]
    if token.word in NAMES and re.match(r" [A-Z][a-z]", after):  # "April Jones"
        return False
    if token.word in ("may", "march", "mar") and written.islower() and found.first is token:
        return found.beside(-1) in BEFORE_MONTH
    return True


def staged(period: Period, stage: str) -> Period:
    """Return the beginning, the middle or the end of a period; the middle of a month is its second third."""
    start, end = period.start, period.end
    if stage == "mid":
        length = (end - start) / 3
        first = start + length if period.grain != "month" else start.replace(day=10)
        last = end - length if period.grain != "month" else start.replace(day=21)
        if period.grain == "year":
            first, last = start.replace(month=5), start.replace(month=9)
        if period.grain == "decade":
            first, last = start + relativedelta(years=3), start + relativedelta(years=7)
    elif period.grain == "month":
        middle = start.replace(day=16)
        first, last = (start, middle) if stage == "start" else (middle, end)
    elif period.grain == "year":
        middle = start.replace(month=7)
        first, last = (start, middle) if stage == "start" else (middle, end)
    elif period.grain == "week":
        middle = start + timedelta(days=3)
        first, last = (start, middle) if stage == "start" else (middle, end)
    else:
        middle = start + (end - start) / 2
        first, last = (start, middle) if stage == "start" else (middle, end)
    if end - start > timedelta(days=2):
        first, last = (datetime(day.year, day.month, day.day) for day in (first, last))  # noqa: DTZ001
    kept = period.grain if period.grain in ("month", "year", "season", "decade", "century", "quarter") else "span"
    return replace(period, start=first, end=last, bound=stage, grain=kept, loose=False)  # type: ignore[arg-type]


def _season(found: Found, seen: Seen) -> Reading | None:
    token = found.token("s") or found.token("bare")
    if token is None:
        return None
    code = words().values["season"][token.word]
    month, today = SEASONS[code], seen.today
    step = found.look("r", "relative")
    if "y" in found:
        year = int(found.value("y"))
    elif "yy" in found:
        year = two_digits(int(found.value("yy")), seen)
    elif "of" in found:
        year = found.value("of").start.year
    elif "n" in found:
        year = max(1, today.year - int(found.value("n")))
    else:
        past = step == -1 or (seen.past and step is None)
        ahead = step == 1 or (not seen.past and step is None)
        year = today.year
        if past and month + 2 > today.month:
            year -= 1
        elif ahead and month + 2 < today.month:
            year += 1
    timed = step is not None or "y" in found or "yy" in found or "of" in found or "n" in found
    if "bare" in found and token.word in ("fall", "spring"):
        return None
    start = datetime(year, month, 1)  # noqa: DTZ001
    return Reading("SPAN", Period(
        start=start, end=start + relativedelta(months=3), grain="season", year=year, loose="bare" in found,
        timex=f"{year}-{code}" if timed else code,
    ))  # fmt: skip


def _year(found: Found, seen: Seen) -> Reading | None:
    token = found.token("y") or found.token("yy") or found.token("bare")
    if token is None:
        return None
    number = int(token.value)
    if "yy" in found:
        number += 1900 if number > seen.now.year % 100 + 20 else 2000
    stretch = found.text[max(0, token.start - 1) : token.start] + "|" + found.text[token.end : token.end + 1]
    if re.match(r"[$€£#/\w]\||.?\|[/\w%]", stretch) or number < 1:
        return None
    worded = not token.word.isdecimal()
    if worded and found.first is token and "bare" in found and found.beside(1) != "":
        return None
    bare = "bare" in found
    earliest = 1500 if found.beside(-1) in ("(", "than") else 1900
    if bare and not earliest <= number < 2100:
        return None
    period = period_of("year", datetime(number, 1, 1))  # noqa: DTZ001
    return Reading("YEAR", replace(period, year=number, loose=bare))


def _number_of_days(found: Found, seen: Seen) -> Reading | None:
    if "date" in found:
        date: Period = found.value("date")
        if date.month is None or date.day is None or date.year is not None:
            return None
        return Reading("DAY", day_of(seen, date.month, date.day, found.value("y").start.year))
    month = found.value("m").start if "m" in found else seen.today.replace(day=1)
    if "d" in found:
        token = found.token("d")
        if token and token.char != "+" and token.word.isdecimal() and "day" not in found and "m" not in found:
            return None
        return Reading("DAY", dated(month.replace(day=int(found.value("d")))))
    start, end = month.replace(day=int(found.value("a"))), month.replace(day=int(found.value("b")))
    return Reading("SPAN", Period(start=start, end=end, grain="span", ends=("day", "day"))) if start < end else None


def _part_relative(found: Found, seen: Seen) -> Reading | None:
    step = found.look("r", "relative")
    token, told = found.token("t"), found.value("t")
    part = found.value("p")
    if isinstance(told, Clock) and not told.part:
        return None
    day = seen.today + timedelta(days=step)
    if "later" in found and isinstance(told, Hours):
        told = replace(told, start=(told.start + told.end) // 2, bound="end")
    if part:
        if isinstance(told, Hours) and not told.sure and part.start >= 43200:
            told = Hours(start=told.start + 43200, end=told.end + 43200)
        return kind_of(_on(day, told))
    return kind_of(_on(day, told)) if token else None


def _on(day: datetime, told: Clock | Hours) -> Period:
    if isinstance(told, Clock):
        moment = day + timedelta(seconds=told.seconds)
        return Period(start=moment, end=moment, grain="instant", clocked=told)
    start, end = day + timedelta(seconds=told.start), day + timedelta(seconds=told.end)
    return Period(start=start, end=end, grain="stretch", bound=told.bound)


def _at_time(found: Found, seen: Seen) -> Reading | None:
    day: Period = found.value("d") or found.value("day")
    told: Clock | Hours | None = found.value("t")
    part = found.value("p").part if "p" in found else ""
    if "n" in found and "day" in found:
        return Reading("STRETCH", replace(day, end=moved(day.start, found.value("n"), 1), grain="stretch"))
    if "ap" in found:
        told = Hours(start=8 * 3600, end=43200) if found.word("ap")[0] == "a" else Hours(start=43200, end=16 * 3600)
    if told is None:
        told = _bare_hours(found)
    if isinstance(told, Hours) and part and not told.sure and found.value("p").start >= 43200 > told.start:
        told = Hours(start=told.start + 43200, end=told.end + 43200)
    if isinstance(told, Clock) and (part or "day" in found):
        told = in_part(told, part) if part else _evening(told, day)
    if "day" in found:
        base = day.start.replace(hour=0, minute=0, second=0)
        if isinstance(told, Hours) and day.start.hour >= 12 and not told.sure and told.start < 43200:
            told = Hours(start=told.start + 43200, end=told.end + 43200)
        return kind_of(replace(_on(base, told), places=_places(found)))
    if "n" in found and isinstance(told, Clock):
        moment = day.start + timedelta(seconds=told.seconds)
        return Reading("STRETCH", Period(start=moment, end=moved(moment, found.value("n"), 1), grain="stretch"))
    made = _on(day.start, told)
    places = _places(found) if not (isinstance(told, Hours) and told.part) and "ap" not in found else None
    return kind_of(replace(made, weekday=day.weekday, month=day.month, day=day.day, year=day.year, places=places))


def _places(found: Found) -> tuple[tuple[int, int], tuple[int, int]] | None:
    day = found.token("d") or found.token("day")
    first, last = found.token("t") or found.token("h"), found.token("t") or found.token("k")
    last = last or found.token("m") or first
    if day is None or first is None or last is None:
        return None
    return (day.start, day.end), (first.start, last.end)


def _bare_hours(found: Found) -> Clock | Hours:
    first = read_hour(found, "none", "h", "m")
    if "k" not in found:
        return first
    return between(first, read_hour(found, "none", "k", "none"))


def _evening(told: Clock, day: Period) -> Clock:
    if told.sure or day.start.hour < 12 or told.hour >= 12:
        return told
    return in_part(told, "night") if day.start.hour >= 20 else replace(told, hour=told.hour + 12, sure=True)


def _day_number(number: int, seen: Seen, past: bool) -> Period:
    """Return the day with a number, in the nearest month of the tense that has it."""
    first = seen.today.replace(day=1)
    months = (period_of("month", first + relativedelta(months=step)) for step in (-2, -1, 0, 1, 2))
    days = (month.start.replace(day=number) for month in months if month.start + timedelta(days=number - 1) < month.end)
    return dated(nearest(days, seen.today, past), day=number)


def _number_days(found: Found, seen: Seen) -> Reading | None:
    first, last = int(found.value("a")), int(found.value("b"))
    if not 1 <= first < last <= 31:
        return None
    end = _day_number(last, seen, seen.past)
    return Reading("SPAN", Period(start=end.start.replace(day=first), end=end.start, grain="span", ends=("day", "day")))


def _number_day(found: Found, seen: Seen) -> Reading | None:
    token = found.token("th") or found.token("d")
    if token is None:
        return None
    number = int(token.value)
    words_only = not token.word[:1].isdigit()
    told = found.value("t")
    if not 1 <= number <= 31 or (
        words_only and number < 20 and told is None and found.beside(-1) not in ("on", "by", "until", "till", "since")
    ):
        return None
    after = found.beside(1)
    if words_only and after not in ("", ".", ",", "!", "?", "\n", "at", "and", "or"):
        return None
    if "the" in found and not words_only and after in ("century", "time", "of", "one"):
        return None
    day = _day_number(number, seen, seen.past)
    if told is None:
        return Reading("DAY", day)
    clock = found.token("t")
    places = ((token.start, token.end), (clock.start, clock.end)) if clock else None
    return kind_of(replace(_on(day.start, told), day=number, places=places))


RELATIVE_ACTIONS: dict[str, Action] = {
    "today": _today,
    "now": _now,
    "unit": _unit,
    "this_unit": _this_unit,
    "weekday": _weekday,
    "month_relative": _month_relative,
    "season": _season,
    "year": _year,
    "number_of_days": _number_of_days,
    "part_relative": _part_relative,
    "at_time": _at_time,
    "number_day": _number_day,
    "number_days": _number_days,
}
