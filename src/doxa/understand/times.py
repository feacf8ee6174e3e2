"""Time expressions: where they stand in a text and which days they mean, seen from the day they are said.

A month stays a month and a year a year ("last month" -> month, "last summer" -> year); "for six years" is a
start; a weekday is the latest one before in the past tense and the next one after otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from dateutil.relativedelta import relativedelta

from doxa.core.values import Interval, Precision

__all__ = ["NUMBERS", "TimeSpan", "find_times", "number_of"]

TimeKind = Literal["point", "since", "until", "range", "duration", "clock"]

MONTHS = "january february march april may june july august september october november december".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
NUMBERS = {
    word: number
    for number, words in enumerate(
        "zero|a an one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
        "seventeen|eighteen|nineteen|twenty".split("|")
    )
    for word in words.split()
} | {"thirty": 30, "forty": 40, "fifty": 50, "couple of": 2, "a couple of": 2, "dozen": 12, "a few": 3, "few": 3}
ORDINALS = {
    word: number
    for number, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1)
}

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?(?![a-z])"
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day(?!s)"
YEAR = r"(?:1[89]|20|21)\d\d(?![\d.,]*\d)"
NUMBER = (
    r"(?:\d{1,3}|a couple of|couple of|a few|few|half an?|an?|"
    + "|".join(
        sorted((w for w in NUMBERS if " " not in w and w not in ("a", "an", "few", "zero")), key=len, reverse=True)
    )
    + ")"
)
UNIT = r"(?:day|night|week|fortnight|month|year|yr|decade)s?"
SEASON = r"(?:spring|summer|autumn|fall|winter)"

CORE = (
    ("iso", r"\d{4}-\d{2}-\d{2}"),
    (
        "dmy",
        rf"(?:{WEEKDAY},? )?(?:the )?(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{MONTH})(?:,? (?P<y1>{YEAR}))?",
    ),
    ("odmy", rf"(?:the )?(?P<d0>{'|'.join(ORDINALS)}) of (?P<m0>{MONTH})(?:,? (?P<y0>{YEAR}))?"),
    (
        "mdy",
        rf"(?:{WEEKDAY},? )?(?P<m2>{MONTH}) (?:the )?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,? (?P<y2>{YEAR}))?",
    ),
    ("numeric", r"\d{1,2}[./]\d{1,2}[./]\d{4}"),
    (
        "part",
        rf"(?:the )?(?:early|mid|late|beginning of|start of|end of|middle of)[ -](?P<m3>{MONTH})(?: (?P<y3>{YEAR}))?",
    ),
    ("my", rf"(?:(?P<w4>last|next|this) )?(?P<m4>{MONTH})(?:,? (?:of )?(?P<y4>{YEAR}))?"),
    ("season", rf"(?:(?P<w5>last|next|this|the) )?{SEASON}(?: (?:of )?(?P<y5>{YEAR}))?"),
    ("weekth", rf"{WEEKDAY},? the (?P<d9>\d{{1,2}})(?:st|nd|rd|th)"),
    (
        "weekday",
        rf"(?:(?P<w6>last|next|this|this coming|this past) )?(?P<k6>{WEEKDAY})(?: (?:morning|afternoon|"
        rf"evening|night))?",
    ),
    (
        "near",
        r"the day (?:before yesterday|after tomorrow)|today|tonight|this (?:morning|afternoon|evening)|"
        r"yesterday|last night|tomorrow",
    ),
    ("relunit", r"(?P<w7>last|next|this) (?P<u7>week(?:end)?|month|year)"),
    ("ago", rf"(?P<n8>{NUMBER}) (?P<u8>{UNIT}) (?:ago|earlier|back)"),
    ("ahead", rf"in (?P<n10>{NUMBER}) (?P<u10>{UNIT})(?:' time)?|(?P<n12>{NUMBER}) (?P<u12>{UNIT}) from (?:now|today)"),
    ("day", r"the (?P<d11>\d{1,2})(?:st|nd|rd|th)(?! (?:time|floor|century|grade|year|edition|birthday|place))"),
    ("year", rf"(?:(?P<w13>early|mid|late)[ -])?(?P<y13>{YEAR})"),
)
CLOCK = (
    r"(?:[01]?\d|2[0-3])[:.][0-5]\d(?: ?[ap]\.?m\.?)?|(?:1[0-2]|[1-9]) ?[ap]\.?m\b\.?|(?:1[0-2]|"
    r"[1-9]) o'clock|noon|midnight|half past \w+"
)
HABIT = re.compile(r"\b(?:every|each|most|all) (?:other )?$", re.IGNORECASE)
BARE_IN = ("my", "season", "year")
"""Kinds that need a preposition, a qualifier or a year beside them: "may" and "fall" are verbs too."""

_core = re.compile("|".join(f"(?P<{name}>\\b{pattern})" for name, pattern in CORE), re.IGNORECASE)
_clock = re.compile(
    rf"\b(?:(?:at|from|by|around|about) )?(?P<clock>{CLOCK})(?:(?: ?(?:-|to|until) ?)(?:{CLOCK}))?(?![\d%])",
    re.IGNORECASE,
)
_duration = re.compile(
    rf"\b(?:for|over|these|in) (?:the )?(?:(?:last|past|about|over|almost|nearly|more than|around|only|just) )*"
    rf"(?P<n>{NUMBER}) (?P<u>{UNIT})(?: now| already)?(?! (?:ago|old|from|later|time|every))\b|"
    rf"\b(?P<n2>{NUMBER}) (?P<u2>years|months|weeks) now\b",
    re.IGNORECASE,
)
_day_range = re.compile(
    rf"\b(?:from |between )?(?:the )?(?P<a>\d{{1,2}})(?:st|nd|rd|th)? ?(?:to|until|till|and|-|–) ?(?:the )?"
    rf"(?P<b>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m>{MONTH})(?: (?P<y>{YEAR}))?",
    re.IGNORECASE,
)
_lead = re.compile(
    r"(?:\b(?P<since>ever since|since|starting(?: on| in| from)?|as of|as from|from)|\b(?P<until>until|"
    r"till|up to|through)|"
    r"\b(?P<at>on|in|by|at|around|about|during|for|over|back in|early in|late in))\s+(?:the "
    r"(?:end|start|beginning) of )?$",
    re.IGNORECASE,
)
_join = re.compile(r"^\s*(?:to|until|till|through|and|-|–)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpan:
    """A time expression: `text[start:end]` says when. A point has `valid.start == valid.end`."""

    start: int
    end: int
    text: str
    valid: Interval
    kind: TimeKind

    def state(self) -> Interval:
        """Return when a state holds that began (or, for "until", ended) at this time."""
        if self.kind in ("point", "since", "duration"):
            return Interval(start=self.valid.start, start_precision=self.valid.start_precision)
        return self.valid


def find_times(text: str, at: datetime, *, past: bool) -> list[TimeSpan]:
    """Return the time expressions of a text in order, none overlapping.

    Args:
        text: what was said.
        at: when it was said.
        past: the tense: a bare weekday, day or month lies before `at` when true, after it when false.

    A date that does not exist (31 February, year 0) is no time expression. Cost O(len(text)); deterministic.
    """
    today = at.date()
    found = _ranges(text, today, past) + _durations(text, today)
    for match in _core.finditer(text):
        if not _taken(found, *match.span()):
            span = _span(text, match, today, past)
            if span is not None:
                found.append(span)
    for match in _clock.finditer(text):
        if not _taken(found, *match.span()):
            found.append(_named(text, match.start(), match.end(), Interval(), "clock"))
    return _joined(text, sorted(found, key=lambda span: span.start))


def number_of(word: str) -> int | None:
    """Return the value of a small number, in digits or words; None for anything else."""
    word = word.casefold().strip()
    return int(word) if word.isdecimal() and word.isascii() and len(word) < 7 else NUMBERS.get(word)


def _named(text: str, start: int, end: int, valid: Interval, kind: TimeKind) -> TimeSpan:
    return TimeSpan(start=start, end=end, text=text[start:end], valid=valid, kind=kind)


def _taken(found: list[TimeSpan], start: int, end: int) -> bool:
    return any(start < span.end and span.start < end for span in found)


def _ranges(text: str, today: date, past: bool) -> list[TimeSpan]:
    found = []
    for match in _day_range.finditer(text):
        last = _day_month(match["b"], match["m"], match["y"], today, past)
        first = last and _day(last.year, last.month, int(match["a"]))
        if first and last and first < last:
            found.append(_named(text, *match.span(), Interval(start=first, end=last), "range"))
    return found


def _durations(text: str, today: date) -> list[TimeSpan]:
    found = []
    for match in _duration.finditer(text):
        if match[0][:3].casefold() == "in " and not re.match(r"in the (?:last|past)", match[0], re.IGNORECASE):
            continue
        number, unit = _number(match["n"] or match["n2"]), (match["u"] or match["u2"]).casefold()
        start = _moved(today, -number, unit)
        if start:
            precision: Precision = "year" if unit[0] in "y" or unit.startswith("dec") else "month"
            precision = precision if not unit.startswith(("day", "night", "week", "fort")) else "day"
            valid = Interval(start=_floor(start, precision), start_precision=precision)
            found.append(_named(text, *match.span(), valid, "duration"))
    return found


def _span(text: str, match: re.Match[str], today: date, past: bool) -> TimeSpan | None:
    kind = match.lastgroup or ""
    kind = next(name for name, _ in CORE if match[name] is not None)
    lead = _lead.search(text[max(0, match.start() - 32) : match.start()])
    if kind in BARE_IN and lead is None and not _qualified(kind, match, text):
        return None
    owned = re.search(r"\b(?:my|our|his|her|your|a|the|\w+'s) $", text[max(0, match.start() - 12) : match.start()])
    if kind == "weekday" and lead is None and owned and re.match(r" [a-z]", text[match.end() : match.end() + 2]):
        return None
    if kind == "weekday" and HABIT.search(text[max(0, match.start() - 12) : match.start()]):
        return None
    backwards = past or bool(lead and lead["since"] and lead["since"].casefold().endswith("since"))
    try:
        valid = RESOLVERS[kind](match, today, backwards)
    except (ValueError, OverflowError):  # before year 1 or after year 9999
        return None
    if valid is None:
        return None
    start = match.start() - len(lead[0]) if lead else match.start()
    if lead and lead["since"]:
        valid = Interval(start=valid.start, start_precision=valid.start_precision)
        return _named(text, start, match.end(), valid, "since")
    if lead and lead["until"]:
        valid = Interval(end=valid.start, end_precision=valid.start_precision)
        return _named(text, start, match.end(), valid, "until")
    return _named(text, start, match.end(), valid, "point" if valid.start == valid.end else "range")


def _qualified(kind: str, match: re.Match[str], text: str) -> bool:
    if kind == "my":
        return bool(match["w4"] or match["y4"])
    if kind == "season":
        return bool(match["w5"] not in (None, "the") or match["y5"])
    if match["w13"]:
        return True
    # a bare year counts between dashes or "2014 to 2016", or after a comma
    around = text[max(0, match.start() - 5) : match.start()] + "|" + text[match.end() : match.end() + 5]
    return bool(re.search(r"(?:to|-|–|,) ?\||\| ?(?:to|-|–)", around))


def _joined(text: str, spans: list[TimeSpan]) -> list[TimeSpan]:
    """Join "from 2012" and "to 2017" to one range."""
    joined: list[TimeSpan] = []
    for span in spans:
        before = joined[-1] if joined else None
        if before and span.kind != "clock" and before.kind in ("point", "since") and span.kind in ("point", "until"):
            gap = text[before.end : span.start]
            end = span.valid.end
            linked = _join.match(gap) or (span.kind == "until" and not gap.strip(" ,"))
            if linked and before.valid.start and end and before.valid.start < end:
                if "and" in gap and not text[before.start : before.end].casefold().startswith("between"):
                    joined.append(span)
                    continue
                valid = Interval(
                    start=before.valid.start,
                    end=end,
                    start_precision=before.valid.start_precision,
                    end_precision=span.valid.end_precision,
                )
                joined[-1] = _named(text, before.start, span.end, valid, "range")
                continue
        joined.append(span)
    return joined


# --- resolvers: a match and today to an interval -------------------------------------------------------------------


def _point(day: date | None, precision: Precision = "day") -> Interval | None:
    if day is None:
        return None
    day = _floor(day, precision)
    return Interval(start=day, end=day, start_precision=precision, end_precision=precision)


def _floor(day: date, precision: Precision) -> date:
    if precision == "year":
        return day.replace(month=1, day=1)
    return day.replace(day=1) if precision == "month" else day


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _moved(today: date, number: int, unit: str) -> date | None:
    unit = unit.casefold().removesuffix("s")
    scale = {"night": "day", "fortnight": "week", "yr": "year", "decade": "year", "weekend": "week"}
    number = number * {"fortnight": 2, "decade": 10}.get(unit, 1)
    unit = scale.get(unit, unit)
    try:
        if unit == "day":
            return today + timedelta(days=number)
        if unit == "week":
            return today + timedelta(weeks=number)
        return today + (relativedelta(months=number) if unit == "month" else relativedelta(years=number))
    except (ValueError, OverflowError):
        return None


def _number(word: str) -> int:
    return NUMBERS.get(word.casefold(), 1) if not word.isdecimal() else int(word)


def _month(word: str) -> int:
    return 1 + next(i for i, name in enumerate(MONTHS) if name.startswith(word.casefold()[:3]))


def _nearest(candidates: list[date | None], today: date, past: bool) -> date | None:
    days = [day for day in candidates if day is not None]
    fitting = [day for day in days if (day <= today if past else day >= today)]
    return min(fitting or days, key=lambda day: abs((day - today).days), default=None)


def _day_month(day: str, month: str, year: str | None, today: date, past: bool) -> date | None:
    if year:
        return _day(int(year), _month(month), int(day))
    years = [today.year + step for step in (-1, 0, 1, 2, 3, -2, -3)]
    return _nearest([_day(y, _month(month), int(day)) for y in years[:3]], today, past)


def _iso(match: re.Match[str], today: date, past: bool) -> Interval | None:
    try:
        return _point(date.fromisoformat(match["iso"]))
    except ValueError:
        return None


def _dated(day: str, month: str, year: str) -> Callable[[re.Match[str], date, bool], Interval | None]:
    def resolve(match: re.Match[str], today: date, past: bool) -> Interval | None:
        number = match[day].casefold()
        number = str(ORDINALS.get(number, number))
        return _point(_day_month(number, match[month], match[year], today, past))

    return resolve


def _numeric(match: re.Match[str], today: date, past: bool) -> Interval | None:
    day, month, year = (int(part) for part in re.split(r"[./]", match["numeric"]))
    return _point(_day(year, month, day) or _day(year, day, month))


def _month_year(group: str, year: str, which: str | None) -> Callable[[re.Match[str], date, bool], Interval | None]:
    def resolve(match: re.Match[str], today: date, past: bool) -> Interval | None:
        month = _month(match[group])
        if match[year]:
            return _point(_day(int(match[year]), month, 1), "month")
        word = (match[which] or "").casefold() if which else ""
        if word == "this":
            return _point(_day(today.year, month, 1), "month")
        past = word == "last" or (past and word != "next")
        first = today.replace(day=1)
        candidates = [_day(today.year + step, month, 1) for step in (-1, 0, 1)]
        if word:
            candidates = [day for day in candidates if day != first]
        return _point(_nearest(candidates, first, past), "month")

    return resolve


def _season(match: re.Match[str], today: date, past: bool) -> Interval | None:
    if match["y5"]:
        return _point(_day(int(match["y5"]), 1, 1), "year")
    word = (match["w5"] or "").casefold()
    month = {"sp": 3, "su": 6, "au": 9, "fa": 9, "wi": 12}[
        re.sub(r"^(?:last|next|this|the) ", "", match["season"].casefold())[:2]
    ]
    past = word == "last" or (past and word not in ("next", "this"))
    step = (
        -1 if past and month + 2 > today.month else 1 if not past and month + 2 < today.month and word != "this" else 0
    )
    return _point(_day(today.year + step, 1, 1), "year")


def _weekday(match: re.Match[str], today: date, past: bool) -> Interval | None:
    index = DAYS.index(match["k6"].casefold())
    word = (match["w6"] or "").casefold()
    back = word in ("last", "this past") or (past and word not in ("next", "this coming"))
    if back:
        return _point(today - timedelta(days=(today.weekday() - index - 1) % 7 + 1))
    return _point(today + timedelta(days=(index - today.weekday() - 1) % 7 + 1))


def _near(match: re.Match[str], today: date, past: bool) -> Interval | None:
    text = match["near"].casefold()
    step = {
        "the day before yesterday": -2,
        "the day after tomorrow": 2,
        "yesterday": -1,
        "last night": -1,
        "tomorrow": 1,
    }
    return _point(_moved(today, step.get(text, 0), "day"))


def _relative_unit(match: re.Match[str], today: date, past: bool) -> Interval | None:
    step = {"last": -1, "next": 1, "this": 0}[match["w7"].casefold()]
    unit = match["u7"].casefold()
    day = _moved(today, step, unit)
    if day is None or unit in ("month", "year"):
        return _point(day, "month" if unit == "month" else "year")
    monday = day - timedelta(days=day.weekday())
    if unit == "weekend":
        monday += timedelta(days=5 if step >= 0 or today.weekday() < 5 else -2 + 7)
        return Interval(start=monday, end=monday + timedelta(days=2))
    return Interval(start=monday, end=monday + timedelta(days=7))


def _shifted(number: tuple[str, ...], unit: tuple[str, ...], sign: int) -> Callable[..., Interval | None]:
    def resolve(match: re.Match[str], today: date, past: bool) -> Interval | None:
        count = next(match[name] for name in number if match[name])
        word = next(match[name] for name in unit if match[name]).casefold()
        precision: Precision = "year" if word[0] == "y" or word[:3] == "dec" else "month" if word[0] == "m" else "day"
        return _point(_moved(today, sign * _number(count), word), precision)

    return resolve


def _bare_day(group: str) -> Callable[[re.Match[str], date, bool], Interval | None]:
    def resolve(match: re.Match[str], today: date, past: bool) -> Interval | None:
        first = today.replace(day=1)
        months = [_moved(first, step, "month") for step in (-1, 0, 1, 2)]
        days = [_day(m.year, m.month, int(match[group])) for m in months if m]
        return _point(_nearest(days, today, past))

    return resolve


def _year(match: re.Match[str], today: date, past: bool) -> Interval | None:
    return _point(_day(int(match["y13"]), 1, 1), "year")


RESOLVERS: dict[str, Callable[[re.Match[str], date, bool], Interval | None]] = {
    "iso": _iso,
    "dmy": _dated("d1", "m1", "y1"),
    "odmy": _dated("d0", "m0", "y0"),
    "mdy": _dated("d2", "m2", "y2"),
    "numeric": _numeric,
    "part": _month_year("m3", "y3", None),
    "my": _month_year("m4", "y4", "w4"),
    "season": _season,
    "weekth": _bare_day("d9"),
    "weekday": _weekday,
    "near": _near,
    "relunit": _relative_unit,
    "ago": _shifted(("n8",), ("u8",), -1),
    "ahead": _shifted(("n10", "n12"), ("u10", "u12"), 1),
    "day": _bare_day("d11"),
    "year": _year,
}
