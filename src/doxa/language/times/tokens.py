"""Text to tokens: one character for the kind of each word, so that a grammar can be a regular expression over them.

A word of the grammar has a character of its own; numbers have one by their size (an hour, a day of a month, a year);
every run of words that the grammar does not know is one token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from doxa.language.data import table

__all__ = ["CLASSES", "NODES", "ORDINAL", "UNKNOWN", "Token", "Words", "size_of", "tokens_of", "words"]

UNKNOWN = "w"
SIZES = (("0", 0), ("1", 12), ("2", 24), ("3", 31), ("4", 59), ("5", 99), ("6", 999))
"""Character of an integer: the first whose largest value it does not exceed."""
YEARLIKE, LARGE, DECIMAL = "7", "8", "9"
ORDINAL = "+"
NODES = {
    name: chr(0x41 + place)
    for place, name in enumerate(
        "DAY MONTH YEAR WEEK SPAN INSTANT STRETCH CLOCK HOURS PART AMOUNT EVERY HOLIDAY DATE CLOCKTEXT SLASHED "
        "MONTHYEAR OPENED".split()
    )
}
"""Character of what the grammar has made out of tokens."""
CLASSES = {
    "hour": "012",
    "dom": "123",
    "minute": "01234",
    "short": "012345",
    "int": "0123456789"[:9],
    "count": "123456",
    "num": "0123456789",
    "five": "45",
    "year": YEARLIKE,
    "decimal": DECIMAL,
    "three": "678",
    "big": "678",
    "x": UNKNOWN,
}
GROUPS = {
    "lt": "<",
    "athour": "at @",
    "everyword": "every each",
    "gt": ">",
    "side": "past after to before till of",
    "side2": "before after",
    "to": "to till til until through thru -",
    "join": "to till til until through thru - and",
    "lead": "in on by since until till from to of during between before after around about circa early late mid "
    "through and or for",
    "long": "minute minutes min mins hour hours hr hrs day days week weeks month months year years yr yrs decades",
    "leadday": "on by until till before after since for from the",
    "relunit": "day week weekend month quarter year decade century fortnight",
}
"""Groups of words that have a place in patterns together."""
FIRST_WORD = 0xE000

TOKEN = re.compile(
    r"""
      (?P<date>
          (?<![\d/.]) \d{1,4} (?P<sep>[-/.]) \d{1,2} (?P=sep) \d{1,4} (?!\d)
          (?![-/.]\d{1,2}(?!\d|[-/.]\d)) (?:T(?=\d\d:\d\d))?
      )
    | (?P<opaque>
          https?://\S+ | \d+(?:-\d+){2,}
        | (?<![A-Za-z]-)(?:0|1[3-9]|[2-9]\d|\d{3})-\d{4}(?!\d|-[A-Za-z]) | \d{4}-(?:1[3-9]|[2-9]\d)(?!\d)
        | 24/7\b | \d+/\d+\.\d+ | [+$€£\#]\d[\d.,]* | \d+(?:[.,]\d+)?%
      )
    | (?P<clock> \d{1,2} : [0-5]\d (?: :[0-5]\d (?:\.\d+)? )? (?![\d:]) )
    | (?P<monthyear>
          (?:1[89]|20|21)\d\d \s? [-/.] \s? (?:1[0-2]|0?[1-9]) (?![\d/.:]|-\d|\s?[ap]\.?m)
        | (?<![A-Za-z\d]) (?:1[0-2]|0?[1-9]) [-/] (?:1[89]|20)\d\d (?![\d/]|-\d)
      )
    | (?P<fraction>
          (?:\d{1,3}\s)? (?:1/2|1/3|2/3|1/4|3/4) (?=[\s-](?:of\s)?(?:an?\s)?(?:min|hour|hr|day|week|month|year))
      )
    | (?P<slashed> \d{1,2} / \d{1,2} (?![\d/]) )
    | (?P<decimal> \d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)? | \d+\.\d+ )
    | (?P<ordinal> \d{1,2} \s? (?:st|nd|rd|th)\b )
    | (?P<integer> \d+ )
    | (?P<word>
          o['’\s]?clock\b | (?:(?<=\d)|\b)(?:ampm|[ap]\s?\.?\s?m\b)(?:\s?\.(?!\w))? | (?<=\d)[ap]\b(?!['’]) | ['’]s\b
        | [^\W\d_]+
      )
    | (?P<mark> [^\w\s] | \n )
    """,
    re.VERBOSE | re.IGNORECASE,
)
MARKS = ",-/.()'<>=~@:;!?\n½"
SAME_MARK = str.maketrans("–—−’‘", "---''")


@dataclass(frozen=True, slots=True)
class Token:
    """`text[start:end]`: its character for the grammar, its word in lower case, and what it means."""

    char: str
    start: int
    end: int
    word: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class Words:
    """The vocabulary: the character of each word, and for each class its words' characters and values."""

    chars: dict[str, str]
    classes: dict[str, str]
    values: dict[str, dict[str, Any]]


@cache
def words() -> Words:
    """Return the vocabulary; read once, from `words.toml`."""
    known = table("times/words")
    data = known | {"other": dict.fromkeys(known["other"]["words"].split())}
    chars: dict[str, str] = {}
    for word in (word for group in data.values() for word in group):
        chars.setdefault(word, chr(FIRST_WORD + len(chars)))
    for mark in MARKS:
        chars.setdefault(mark, chr(FIRST_WORD + len(chars)))
    classes = {name: "".join(chars[word] for word in group) for name, group in data.items()} | CLASSES | NODES
    for word, number in data["number"].items():
        for name in ("hour", "dom", "minute", "short", "int", "count", "num"):
            if size_of(number) in CLASSES[name]:
                classes[name] += chars[word]
    numbers, ordinals = data["number"].items(), data["ordinal"].items()
    classes["tens"] = "".join(chars[word] for word, number in numbers if number > 19)
    classes["teens"] = "".join(chars[word] for word, number in numbers if 12 < number < 21)
    classes["units"] = "".join(chars[word] for word, number in numbers if 0 < number < 10)
    classes["ordunits"] = "".join(chars[word] for word, number in ordinals if number < 10)
    classes["ord"] = classes["ordinal"] + ORDINAL
    classes["domth"] = classes["dom"] + classes["ord"]
    for name, group in GROUPS.items():
        classes[name] = "".join(chars[word] for word in group.split())
    return Words(chars, classes, data)


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text in order. Cost O(len(text))."""
    chars, numbers, ordinals = words().chars, words().values["number"], words().values["ordinal"]
    found: list[Token] = []
    named, done = _named_days(), 0
    for match in TOKEN.finditer(text):
        kind, start, end = match.lastgroup or "", match.start(), match.end()
        if start < done:
            continue
        kind = "date" if kind == "sep" else kind
        word = match[0].casefold().translate(SAME_MARK)
        if kind in ("word", "mark"):
            day = named[word].match(text, start) if word in named else None
            if day:
                done = day.end()
                name = " ".join(day[0].casefold().translate(SAME_MARK).split())
                found.append(Token(NODES["HOLIDAY"], start, done, name, name))
                continue
            if kind == "word" and word[0] == "o" and word.endswith("clock"):
                word = "o'clock"
            if word[0] in "ap" and (word not in chars or _after_hour(found, start, match[0])):
                word = _meridiem(word)
            char = chars.get(word, UNKNOWN)
            if char == UNKNOWN and found and found[-1].char == UNKNOWN:
                found[-1] = Token(UNKNOWN, found[-1].start, end, word)
            elif word != "." or not _abbreviates(found, text, start):
                found.append(Token(char, start, end, word, numbers.get(word, ordinals.get(word))))
        elif kind == "opaque":
            found.append(Token(UNKNOWN, start, end, word))
        else:
            found.append(_number(kind, word, start, end))
    return found


@cache
def _named_days() -> dict[str, re.Pattern[str]]:
    """Return a pattern of the named days for each of their first words."""
    data = table("times/holidays")
    by_word: dict[str, list[str]] = {}
    for name in sorted(data, key=len, reverse=True):
        first = re.match(r"[a-z]+", name)[0]  # type: ignore[index]
        by_word.setdefault(first, []).append(re.escape(name).replace("\\ ", r"\s+").replace("'", "['’]"))
    return {word: re.compile(rf"(?:{'|'.join(names)})(?![\w'’])", re.IGNORECASE) for word, names in by_word.items()}


def _number(kind: str, word: str, start: int, end: int) -> Token:
    if kind in ("date", "clock", "monthyear", "slashed"):
        name = {"date": "DATE", "clock": "CLOCKTEXT", "monthyear": "MONTHYEAR", "slashed": "SLASHED"}[kind]
        return Token(NODES[name], start, end, word, tuple(re.findall(r"\d+", word)))
    if kind == "fraction":
        *whole, part = word.split()
        above, below = part.split("/")
        return Token(DECIMAL, start, end, word, sum(map(int, whole)) + int(above) / int(below))
    if kind == "decimal":
        return Token(DECIMAL, start, end, word, float(word.replace(",", "")[:15]))
    number = int(re.match(r"\d{1,9}", word)[0])  # type: ignore[index]
    if kind == "ordinal":
        return Token(ORDINAL, start, end, word, number)
    return Token(size_of(number) if len(word) < 9 else LARGE, start, end, word, number)


def size_of(number: int) -> str:
    """Return the character of an integer."""
    if 1000 <= number < 2200:
        return YEARLIKE
    return next((char for char, most in SIZES if number <= most), LARGE)


def _after_hour(found: list[Token], start: int, written: str) -> bool:
    """Tell whether "a" or "p" touches an hour ("9a", "8:45p")."""
    return (
        written in ("a", "p")
        and bool(found)
        and found[-1].end == start
        and (found[-1].char == NODES["CLOCKTEXT"] or found[-1].char in CLASSES["hour"])
    )


def _meridiem(word: str) -> str:
    if word in ("a", "p"):
        return f"{word}m"
    letters = re.sub(r"[\s.]", "", word)
    return letters if letters in ("am", "pm") else "am" if letters == "ampm" else word


def _abbreviates(found: list[Token], text: str, start: int) -> bool:
    """Tell whether a full stop belongs to the word before it ("Oct. 2", "3 hrs. later")."""
    if not found or found[-1].end != start or len(found[-1].word) > 4:
        return False
    tables = words().values
    known = any(found[-1].word in tables[name] for name in ("month", "weekday", "unit"))
    return known and bool(re.match(r"\.[ ,]*(?:\d|[a-z]|,)", text[start : start + 4]))
