"""shifts: words -> changes by an amount: "an hour later", "two fewer", "the day before"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from doxa.language.times import read_numbers

__all__ = ["Shift", "number_in", "read_shifts", "unit_of"]

UNIT = "minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|fortnights?|months?|years?|weekends?|quarters?"
AMOUNT = (
    rf"(?:half an hour|three quarters of an hour|an hour and a half|a couple of (?:{UNIT})|a quarter of an hour|"
    rf"(?:\d+(?:\.\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|"
    rf"forty|forty-five|sixty|ninety)(?:\s(?:full|more|whole|extra))? (?:{UNIT})(?: and a half)?)"
)
SHIFTED = re.compile(rf"\b({AMOUNT})\s+(later|earlier|sooner)\b", re.I)
PUSHED = re.compile(rf"\b(back|forward|forwards|later|earlier|on|up|out)\s+(?:by\s+)?({AMOUNT})\b", re.I)
BY = re.compile(rf"\bby\s+({AMOUNT})\b", re.I)
LONGER = re.compile(rf"\b({AMOUNT})\s+(longer|shorter|more|less)\b", re.I)
MORE = re.compile(
    r"\b(an?|another|\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)\s+(more|extra|additional|fewer|less|further)\b(?:\s+([a-z]+))?|\banother\s+(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\s+([a-z]+)",
    re.I,
)
COUNTED = re.compile(
    r"\b(\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)\s+([a-z]+)\s+(fewer|less|more|extra)\b",
    re.I,
)
JOINING = re.compile(
    r"\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty) (?:more|extra|others)"
    r"(?=\s+(?:have|has|are|is|want|will|can|signed|joined|coming|came|said|replied|booked)\b)",
    re.I,
)
ONTO = re.compile(r"\b(\d+(?:\.\d+)?)\s?([a-z]+)?\s+(onto|on to|off|on top of)\b(?!\s+\d)", re.I)
KNOCKED = re.compile(
    r"\b(?:knock|shave|lop|chop|trim|slice)(?:ing|s|ped|ed)?\s+(\d+(?:\.\d+)?|an?|one|two|three|four|five|six|seven|eight|"
    r"nine|ten|fifteen|twenty)\s?([a-z]+)?\s+off\b",
    re.I,
)
DAY_BEFORE = re.compile(
    r"\bthe (day|week|month|night|morning|evening) (before|after|earlier|later)"
    r"(?=\s*(?:$|[.,;!?]|instead|please|then))",
    re.I,
)
NO_NOUNS = frozenset(("", "than", "of", "in", "for", "to", "on", "please", "then"))
FACTORS = {"double": 2.0, "triple": 3.0, "halve": 0.5}
FACTOR = re.compile(r"\b(double|halve|triple)\b", re.I)
BACKWARD = {"earlier", "sooner", "forward", "forwards", "up", "fewer", "less", "shorter"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A change by an amount. `unit` is a unit of time, a counted noun ("people"), "" (plain), or "factor"."""

    amount: float
    unit: str = ""
    sure: bool = True
    """Whether the direction was said; "by an hour" leaves it to the verb."""
    length: bool = False
    """Whether it changes how long something takes: "two nights longer"."""


def number_in(text: str) -> float | None:
    """Return the first number of a text, in digits or words; None without one."""
    lowered = text.lower()
    if re.match(r"half an? ", lowered):
        return 0.5
    found = read_numbers(text)
    if found:
        return found[0][2] + (0.5 if "and a half" in lowered and found[0][2] == int(found[0][2]) else 0.0)
    if re.match(r"(an?|another|one)\b", lowered):
        return 1.5 if "and a half" in lowered else 1.0
    return None


def unit_of(text: str) -> str:
    """Return the unit of time of an amount, in the singular."""
    found = re.search(rf"({UNIT})(?: and a half)?$", text.lower())
    unit = found[1].rstrip("s") if found else ""
    return {"min": "minute", "hr": "hour"}.get(unit, unit)


def _amount(text: str) -> tuple[float, str]:
    lowered = text.lower()
    if lowered.endswith(("quarter of an hour", "quarters of an hour")):
        return 45.0 if lowered.startswith("three") else 15.0, "minute"
    if lowered.startswith("a couple of"):
        return 2.0, unit_of(text)
    return number_in(text) or 1.0, unit_of(text)


def read_shifts(text: str) -> list[tuple[int, int, Shift]]:
    """Return the changes by an amount in a text with their places; what is said more exactly comes first."""
    return [*_of_time(text), *_of_number(text), *_of_days(text)]


def _of_time(text: str) -> list[tuple[int, int, Shift]]:
    """Return "an hour later", "two nights longer", "back by a week", "by two days"."""
    found = []
    for match in SHIFTED.finditer(text):
        found.append((match.start(), match.end(), _signed(match[1], match[2])))
    for match in LONGER.finditer(text):
        shift = _signed(match[1], match[2])
        length = match[2].lower() in ("longer", "shorter")
        found.append((match.start(), match.end(), replace(shift, length=length)))
    for match in PUSHED.finditer(text):
        found.append((match.start(), match.end(), _signed(match[2], match[1])))
    for match in BY.finditer(text):
        amount, unit = _amount(match[1])
        found.append((match.start(), match.end(), Shift(amount=amount, unit=unit, sure=False)))
    return found


def _of_number(text: str) -> list[tuple[int, int, Shift]]:
    """Return "five more people", "two tables fewer", "3 k onto", "knock two off", "double it"."""
    found = []
    for match in JOINING.finditer(text):
        found.append((match.start(), match.end(), Shift(amount=number_in(match[1]) or 1.0, unit="people")))
    for match in MORE.finditer(text):
        said, noun = (match[1], match[3]) if match[1] else (match[4], match[5])
        sign = -1 if (match[2] or "").lower() in BACKWARD else 1
        end = match.end() if noun else match.end(2) if match[2] else match.end()
        unit = "" if (noun or "").lower() in NO_NOUNS else noun.lower()
        found.append((match.start(), end, Shift(amount=sign * (number_in(said) or 1.0), unit=unit)))
    for match in COUNTED.finditer(text):
        sign = -1 if match[3].lower() in BACKWARD else 1
        shift = Shift(amount=sign * (number_in(match[1]) or 1.0), unit=match[2].lower())
        found.append((match.start(), match.end(), shift))
    for match in ONTO.finditer(text):
        sign = -1 if match[3].lower() == "off" else 1
        end = match.end(2) if match[2] else match.end(1)
        found.append((match.start(), end, Shift(amount=sign * float(match[1]), unit=(match[2] or "").lower())))
    for match in KNOCKED.finditer(text):
        shift = Shift(amount=-(number_in(match[1]) or 1.0), unit=(match[2] or "").lower())
        found.append((match.start(1), match.end(), shift))
    for match in FACTOR.finditer(text):
        if re.match(r"\s+(?:the|it|that|them|our|my)\b", text[match.end() :]):
            found.append((match.start(), match.end(), Shift(amount=FACTORS[match[1].lower()], unit="factor")))
    return found


def _of_days(text: str) -> list[tuple[int, int, Shift]]:
    """Return "the day before", "the week after"."""
    found = []
    for match in DAY_BEFORE.finditer(text):
        sign = -1.0 if match[2].lower() in ("before", "earlier") else 1.0
        unit = match[1].lower()
        unit = "day" if unit in ("night", "morning", "evening") else unit
        found.append((match.start(), match.end(), Shift(amount=sign, unit=unit)))
    return found


def _signed(amount: str, way: str) -> Shift:
    number, unit = _amount(amount)
    return Shift(amount=-number if way.lower() in BACKWARD else number, unit=unit)
