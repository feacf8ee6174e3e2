"""Times of day and stretches of a day: "half past seven", "8 in the morning", "from 10 to 4"."""

from __future__ import annotations

import re
from dataclasses import replace

from doxa.language.times.grammar import Action, Found, Reading
from doxa.language.times.periods import Bound, Clock, Hours, Seen
from doxa.language.times.tokens import words

__all__ = ["CLOCK_ACTIONS", "between", "half_of", "in_part", "read_hour"]

NAMED = {
    "noon": 12, "midday": 12, "midnight": 0, "lunchtime": 12, "night": 0, "morning": 10, "afternoon": 14, "evening": 18,
}  # fmt: skip


def _clock(found: Found, seen: Seen) -> Reading | None:
    if "t" in found:
        parts = [int(part) for part in found.value("t")[:3]]
        hour, minute, second = (*parts, 0, 0)[:3]
        if "p" not in found and hour > 24:
            return None
    elif "f" in found:
        hour, minute, second = *_dotted(found.word("f")), 0
    elif "n" in found:
        digits = found.word("n")
        if not 3 <= len(digits) <= 4 or not digits.isdecimal():
            return None
        hour, minute, second = int(digits[:-2]), int(digits[-2:]), 0
    else:
        hour, minute, second = found.value("h"), found.value("m") or 0, 0
        digits = found.word("m")
        if digits.isdecimal() and len(digits) < 2:
            return None
    sure = "p" in found or hour > 12 or hour == 0
    hour = _meridiem(hour, found.word("p"))
    return _made(hour, minute, second, sure)


def _made(hour: int, minute: int, second: int = 0, sure: bool = False, part: str = "") -> Reading | None:
    hour = 0 if hour == 24 else hour
    if hour > 23 or minute > 59 or second > 59:
        return None
    return Reading("CLOCK", Clock(hour=hour, minute=minute, second=second, sure=sure, part=part))


def _meridiem(hour: int, word: str) -> int:
    if not word:
        return hour
    letter = word[0]
    if letter == "p":
        return hour + 12 if hour < 12 else hour
    return 0 if hour == 12 else hour


def _dotted(word: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,2})\.([0-5]\d)", word)
    if match is None:
        raise ValueError(f"{word} is no time of day")
    return int(match[1]), int(match[2])


def read_hour(found: Found, clock: str, hour: str, minute: str = "m") -> Clock:
    """Return the time of day in one of two named places: one that was read before, or a bare hour with minutes.

    Raises ValueError when the hour or the minute does not exist.
    """
    told = found.value(clock)
    if isinstance(told, Clock):
        return told
    number, minutes = int(found.value(hour)), int(found.value(minute) or 0)
    digits = found.word(minute)
    if number > 24 or minutes > 59 or (digits.isdecimal() and len(digits) < 2):
        raise ValueError(f"{number}:{minutes} is no time of day")
    return Clock(hour=number % 24, minute=minutes, sure=number > 12 or number == 0)


def _past(found: Found, seen: Seen) -> Reading | None:
    clock = read_hour(found, "c", "h", "none")
    clock = replace(clock, hour=_meridiem(clock.hour, found.word("p")), sure=clock.sure or "p" in found)
    if "m" in found:
        minutes = int(found.value("m"))
    else:
        first = found.source.split()[0].casefold()
        minutes = 30 if first == "half" else 45 if first == "three" else 15
    before = found.word("d") in ("to", "before", "till", "of")
    total = (clock.hour * 60 + clock.minute + (-minutes if before else minutes)) % 1440
    return _made(total // 60, total % 60, 0, clock.sure)


def _named(found: Found, seen: Seen) -> Reading | None:
    return Reading("CLOCK", Clock(hour=NAMED[found.word("name")], sure=True, part=found.word("name")))


def in_part(clock: Clock, part: str) -> Clock:
    """Return a time of day read in a part of the day: "8 in the evening" is 20:00, "12 in the night" is 0:00."""
    start = words().values["part"].get(part, [0, 0])[0]
    hour = clock.hour
    if clock.sure:
        return replace(clock, part=part)
    if start >= 20 or part == "night":
        hour = 0 if hour == 12 else hour + 12 if hour >= 5 else hour
    elif start == 11:
        hour = hour + 12 if hour < 5 else hour
    elif start >= 12:
        hour = hour + 12 if hour < 12 else hour
    return replace(clock, hour=hour, sure=True, part=part)


def _in_part(found: Found, seen: Seen) -> Reading | None:
    clock = read_hour(found, "c", "h")
    if "noon" in found:
        part = found.value("noon").part
        if part not in ("noon", "midnight", "lunchtime", "midday"):
            return None
        return Reading("CLOCK", in_part(clock, {"midnight": "night"}.get(part, "lunchtime")))
    return Reading("CLOCK", in_part(clock, found.word("p") or "lunchtime"))


def _bare(found: Found, seen: Seen) -> Reading | None:
    if "f" in found:
        return _made(*_dotted(found.word("f")))
    if found.word("h") == "one" and "m" not in found:  # "at one with the world"
        return None
    return Reading("CLOCK", read_hour(found, "c", "h"))


def half_of(start: int, end: int, stage: Bound) -> tuple[int, int]:
    """Return the early or the late half of a stretch; all of it for anything else."""
    middle = (start + end) // 2
    return (start, middle) if stage == "start" else (middle, end) if stage == "end" else (start, end)


def _part(found: Found, seen: Seen) -> Reading | None:
    start, end = found.look("p", "part") or found.look("p", "meal")
    if found.hyphened:
        return None
    stage: Bound = "end" if "later" in found else found.look("s", "stage") or ""
    start, end = half_of(start * 3600, end * 3600, stage)
    if found.beside(-1) in ("my", "your", "our", "his", "her", "a", "good") and not stage:
        return None
    return Reading("PART", Hours(start=start, end=end, part=found.word("p"), bound=stage))


def between(first: Clock, last: Clock) -> Hours:
    """Return the stretch from one time of day to another; what is known of one side decides the other."""
    start, end, half = first.seconds, last.seconds, 43200
    if last.sure and not first.sure:
        if last.hour >= 12 and first.hour < 12 and start + half <= end:
            start += half
    elif end <= start and not last.sure and last.hour < 12 and end + half > start:
        end += half
    return Hours(start=start, end=end if end > start else end + 86400, sure=first.sure or last.sure)


def _hours(found: Found, seen: Seen) -> Reading | None:
    if "hhmm" in found:
        sides = [found.word("hhmm"), found.word("kkmm")]
        if not all(re.fullmatch(r"(?:[01]\d|2[0-3])[0-5]\d", side) for side in sides):
            return None
        first, last = (Clock(hour=int(side[:2]), minute=int(side[2:])) for side in sides)
        return Reading("HOURS", between(first, last))
    bare = "a" not in found and "b" not in found
    led = found.first.word in ("from", "between")
    minutes = "hm" in found and "km" in found
    if bare and not led and not minutes:
        return None
    if found.first.word != "between" and re.search(r"\band\b", found.source.casefold()):
        return None
    for name in ("h", "k"):
        if name in found and "hm" not in found and "km" not in found and found.value(name) == 0:
            return None
    return Reading("HOURS", between(read_hour(found, "a", "h", "hm"), read_hour(found, "b", "k", "km")))


def _zone(found: Found, seen: Seen) -> Reading | None:
    told, zone = found.value("t"), found.token("z")
    if zone is None or not found.text[zone.start : zone.end].isupper():
        return None
    return Reading("CLOCK" if isinstance(told, Clock) else "HOURS", replace(told, zone_min=found.look("z", "zone")))


CLOCK_ACTIONS: dict[str, Action] = {
    "clock": _clock,
    "clock_past": _past,
    "clock_named": _named,
    "clock_in_part": _in_part,
    "clock_bare": _bare,
    "part": _part,
    "hours": _hours,
    "zone": _zone,
}
