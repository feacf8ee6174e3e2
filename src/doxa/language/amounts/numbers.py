"""The numbers of a sentence, exactly: digits with their sign, currency and percent, words, fractions and multiples."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from doxa.language.times import read_numbers

__all__ = ["Number", "numbers_of"]

DIGITS = re.compile(
    r"(?<![\w.,])(?P<sign>[+\-−–](?=[€$£]?\d))?(?P<money>[€$£])?\s?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<part>\.\d+)?"
    r"(?:/(?P<below>\d{1,3})(?![\d/]))?(?P<scale>k\b| (?:million|billion|thousand|dozen)\b)?\s?"
    r"(?P<after>[€$£%])?(?![\w]|[.,:]\d)"
)
SCALES = {"k": 1000, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12}
PARTS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}
PART = re.compile(
    rf"(?<!first )(?<!second )(?<!other )(?<!last )\b(?:(?P<above>an?|one|two|three|four|five|six|seven) )?"
    rf"(?P<part>{'|'.join(PARTS)})(?P<more>s)?\b"
    r"(?= (?:of|as)\b| (?:the|her|his|its|their|my|our) )",
    re.IGNORECASE,
)
MULTIPLE = re.compile(
    r"\b(?P<word>twice|thrice|double|triple)\b|\b(?P<number>[\w.-]+) times(?= (?:as|more|the))", re.IGNORECASE
)
MULTIPLES = {"twice": 2, "thrice": 3, "double": 2, "triple": 3}
DOZEN = re.compile(r"\b(?:(?P<number>a|one|two|three|four|five|six|half a) )?dozen\b", re.IGNORECASE)
SMALL = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "": 1}
PAIR = re.compile(r"\ba pair of\b|\ba couple of\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number in a text: `text[start:end]`."""

    start: int
    end: int
    value: Fraction
    unit: str = ""
    """Currency or percent sign that stands with it."""
    kind: str = "count"
    """"count"; "part" of something that was there ("half of them"), or "multiple" of something ("twice as many")."""


def numbers_of(text: str) -> list[Number]:
    """Return the numbers of a text in order, none overlapping. Vague ones ("some", "a few") are none. O(len(text))."""
    found: list[Number] = []
    for reader in (_multiples, _parts, _digits, _dozens, _words):
        for number in reader(text):
            if not any(number.start < other.end and other.start < number.end for other in found):
                found.append(number)
    return sorted(found, key=lambda number: number.start)


def _digits(text: str) -> list[Number]:
    found: list[Number] = []
    for match in DIGITS.finditer(text):
        value = Fraction(f"{match['whole'].replace(',', '')}{match['part'] or ''}")
        if match["below"]:
            if not int(match["below"]):
                continue
            value /= int(match["below"])
        value *= SCALES.get((match["scale"] or "").strip(), 1)
        value = -value if match["sign"] and match["sign"] != "+" else value
        sign = match["money"] or match["after"] or ""
        found.append(Number(start=match.start(), end=match.end(), value=value, unit=sign))
    return found


def _words(text: str) -> list[Number]:
    return [Number(start=start, end=end, value=Fraction(str(value))) for start, end, value in read_numbers(text)]


def _dozens(text: str) -> list[Number]:
    found: list[Number] = []
    for match in DOZEN.finditer(text):
        word = (match["number"] or "").casefold()
        value = Fraction(6) if word == "half a" else Fraction(12 * SMALL[word])
        found.append(Number(start=match.start(), end=match.end(), value=value))
    return found


def _parts(text: str) -> list[Number]:
    found: list[Number] = []
    for match in PART.finditer(text):
        word = (match["above"] or "").casefold()
        if not word and match["part"].casefold() not in ("half",):
            continue  # "the third of May", "the quarter"
        value = Fraction(SMALL[word], PARTS[match["part"].casefold()])
        found.append(Number(start=match.start(), end=match.end(), value=value, kind="part"))
    return found


def _multiples(text: str) -> list[Number]:
    found: list[Number] = []
    for match in MULTIPLE.finditer(text):
        if match["word"]:
            value = Fraction(MULTIPLES[match["word"].casefold()])
        else:
            read = read_numbers(match["number"])
            if not read:
                continue
            value = Fraction(str(read[0][2]))
        found.append(Number(start=match.start(), end=match.end(), value=value, kind="multiple"))
    return found
