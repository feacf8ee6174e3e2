"""Wording: two ways to write one thing become the same words.

Numbers, units, money, clock times, dates, relatives and "X's Y" are compared by value, not by spelling; nothing is
compared by meaning. A date is one word (`2024-06-01`, `2024-06`); where the year is not said, `--06-01`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = [
    "ARTICLES",
    "DATE",
    "POSSESSIVE",
    "PREPOSITIONS",
    "PRONOUNS",
    "Words",
    "bare",
    "joined",
    "phrase",
    "phrases",
    "table",
    "with_years",
    "words",
]

Words = tuple[str, ...]
"""Normalised words, in order."""


@cache
def table() -> dict[str, Any]:
    """Return the word lists of `wording.toml`."""
    return tomllib.loads(files("doxa_bench").joinpath("wording.toml").read_text(encoding="utf-8"))


def _listed(name: str) -> list[str]:
    return str(table()[name]).split()


def _spellings(name: str) -> dict[str, str]:
    return {spelling: word for word, others in table()[name].items() for spelling in others.split()}


POSSESSIVE = "'s"
"""A word of its own: "Ana's car" is `ana 's car`."""
ARTICLES = frozenset(_listed("articles"))
PRONOUNS = frozenset(_listed("possessives"))
PREPOSITIONS = frozenset(_listed("prepositions"))
TENS = {word: 10 * n for n, word in enumerate(_listed("tens"), start=2)}
SMALL = {word: n for n, word in enumerate(_listed("small"))} | TENS
ORDINALS = {word: n for n, word in enumerate(_listed("ordinals"), start=1)}
ORDINALS |= {word[:-1] + "ieth": n for word, n in TENS.items()}
LARGE = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
MULTIPLES = {"hundred", *LARGE}
SCALES = LARGE | {"hundred": 100, "k": 1000}
UNITS, FAMILY = _spellings("units"), _spellings("family")
SECONDS = {"second", "seconds", "sec", "secs"}
MONTHS = {name: n for n, month in enumerate(_listed("months"), start=1) for name in (month, month[:3])} | {"sept": 9}
WEEKDAYS = "|".join(_listed("weekdays"))

MARKS = str.maketrans({**dict.fromkeys("’‘ʼ", "'"), **dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‐‑‒–—―−", "-")})  # noqa: RUF001
CAMEL = re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])")
GLUED = sorted({*UNITS.values(), *(u for u in UNITS if len(u) < 4), "s", "sec", "k"} - {"%", "a.m", "p.m"}, key=len)
REWRITES = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"(?<=\d)[,'\u00a0\u202f](?=\d{3}(?!\d))", ""),  # 1,450
        (r"\bus\$", "$"),
        (r"([€$£¥])\s*(\d+(?:\.\d+)?(?:\s?k\b)?)", r"\2 \1"),  # €29
        (r"€", " euro "),
        (r"\$", " dollar "),
        (r"£", " pound "),
        (r"¥", " yen "),
        (r"%|\bper cent\b", " percent "),
        (r"\bcan(?:'t\b|not\b)", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\b(he|she|it|that|there|here|who|what|where|how)'s\b", r"\1 is"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"'d\b", " would"),
        (r"'m\b", " am"),
        (r"(?<=\w)'s\b", " 's"),
        (r"(?<=s)'(?=\s+\w)", " 's"),  # parents' house
        (rf"(?<![\w.])(\d+(?:\.\d+)?)({'|'.join(reversed(GLUED))})\b", r"\1 \2"),  # 4.2kg, 5pm, 62k
    )
)
IN_DIGITS = re.compile(
    r"(?<![\w.:-])(?:(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d|3[01])"
    r"(?:[t ](?P<clock>\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?)?"
    r"|(?:--)?(?P<any_month>0[1-9]|1[0-2])-(?P<any_day>0[1-9]|[12]\d|3[01])"
    r"|(?P<dotted_day>0?[1-9]|[12]\d|3[01])\.(?P<dotted_month>0?[1-9]|1[0-2])\.(?P<dotted_year>\d{4}))(?![\w:-]|\.\d)"
)
"""`2024-06-01T17:30`, `2024-06`, `--06-01` (and `06-01`), `1.6.2024`; never `03/04/2024`, which may be either day."""
JOINT = "\0"
"""Stands for the hyphens of a date while all others become blanks."""
PUNCTUATION = ".,;:!?\"'()[]{}<>…*~|`"


def _apart(pattern: str) -> re.Pattern[str]:
    """Return a pattern over whole words of a text whose words are parted by single blanks."""
    return re.compile(rf"(?<!\S){pattern}(?!\S)")


_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", "|".join(sorted(MONTHS, key=len, reverse=True))
IN_WORDS = _apart(
    rf"(?:(?P<day>{_DAY})(?:th)? (?:of )?(?P<month>{_MONTH})"
    rf"|(?P<first>{_MONTH})(?: (?:the )?(?P<then>{_DAY})(?:th)?(?!\S))?)(?: (?P<year>[12]\d{{3}}))?"
)
"""`1 june`, `1th of june 2024`, `june the 1th`, `june 2024`, `june`."""
WEEKDAY_OF_DATE = re.compile(rf"(?<!\S)(?:{WEEKDAYS}) (?=(?:the )*(?:\d{{4}}|-)-\d\d-\d\d(?!\S))")
DATE = re.compile(r"(\d{4}|-)-(\d\d)(?:-(\d\d))?")
"""A date as one word: its year (`-` where it is not said), its month, its day."""
CLOCK = _apart(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))? (?P<half>[ap]m)")


@cache
def words(text: str) -> Words:
    """Return the normalised words of a text; dates in words are still several."""
    found = _numbers(_split(text))
    line = CLOCK.sub(_clock, " ".join(found))
    line = " ".join(FAMILY.get(word, word) for word in line.split(" "))
    return tuple(_apart(r"(\S+) in law").sub(r"\1-in-law", line).split())


def _split(text: str) -> list[str]:
    """Return the words of a text in lower case, without outer punctuation."""
    text = CAMEL.sub(" ", unicodedata.normalize("NFC", text).translate(MARKS)).casefold()
    for pattern, new in REWRITES:
        text = pattern.sub(new, text)
    text = re.sub(r"[_\-\s]+", " ", IN_DIGITS.sub(_in_digits, text))
    found = (word.rstrip(PUNCTUATION) for word in text.split())
    found = (word if word == POSSESSIVE else word.lstrip("#" + PUNCTUATION) for word in found)
    return [word.replace(JOINT, "-") for word in found if word]


def _in_digits(match: re.Match[str]) -> str:
    year, month, day, clock, any_month, any_day, dotted_day, dotted_month, dotted_year = match.groups()
    if any_month:
        found = f"--{any_month}-{any_day}"
    elif dotted_year:
        found = f"{dotted_year}-{int(dotted_month):02d}-{int(dotted_day):02d}"
    else:
        found = "-".join(filter(None, (year, month, day)))
    time = f" {clock}" if clock and clock != "00:00" else ""
    return f" {found.replace('-', JOINT)}{time} "


def _clock(match: re.Match[str]) -> str:
    """`5:30 pm` -> `17:30`."""
    hour = int(match["hour"])
    if not 1 <= hour <= 12:
        return match[0]
    return f"{hour % 12 + 12 * (match['half'] == 'pm')}:{match['minute'] or '00'}"


def _numbers(found: Sequence[str]) -> list[str]:
    """Write numbers in digits (`62000`, `3th`) and units by their abbreviation."""
    out: list[str] = []
    place = 0
    while place < len(found):
        word, follower = found[place], found[place + 1] if place + 1 < len(found) else ""
        value, end = _cardinal(found, place)
        if word in SECONDS and out and re.fullmatch(r"\d[\d.]*", out[-1]):
            out.append("s")
        elif word in TENS and ORDINALS.get(follower, 99) < 10:
            out.append(f"{TENS[word] + ORDINALS[follower]}th")
            place += 1
        elif word in ORDINALS:
            out.append(f"{ORDINALS[word]}th")
        elif match := re.fullmatch(r"0*(\d+)(?:st|nd|rd|th)", word):
            out.append(f"{match[1]}th")
        elif match := re.fullmatch(r"0?(\d{1,2}:\d\d)(?::\d\d)?", word):
            out.append(match[1])
        elif value:
            out.append(value)
            place = end - 1
        else:
            out.append(UNITS.get(word, word))
        place += 1
    return out


def _cardinal(found: Sequence[str], start: int) -> tuple[str, int]:
    """Return the number that begins at a word, in digits, and the place after it; empty when there is none."""
    if re.fullmatch(r"\d+(?:\.\d+)?", found[start]):
        return _scaled(found, start)
    total, group, place = 0, 0, start
    while place < len(found):
        word, value = found[place], SMALL.get(found[place])
        if value is not None and (place == start or _continues(total, group, value)):
            group += value
        elif word == "hundred":
            group = (group or 1) * 100
        elif word in LARGE:
            total, group = total + (group or 1) * LARGE[word], 0
        elif not (
            word == "and"
            and place > start
            and found[place - 1] in MULTIPLES
            and place + 1 < len(found)
            and found[place + 1] in SMALL
        ):
            break
        place += 1
    return (str(total + group), place) if place > start else ("", start)


def _continues(total: int, group: int, value: int) -> bool:
    """Tell whether a number word goes on with a number: "five" after "twenty" or "hundred", not after "three"."""
    if group % 100 == 0:
        return total + group > 0
    return group % 100 >= 20 and group % 10 == 0 and 0 < value < 10


def _scaled(found: Sequence[str], start: int) -> tuple[str, int]:
    """`3.5 million` -> `3500000`, `007` -> `7`, `34.00` -> `34`; but `3.10` stays, it may be a version."""
    whole, _, part = found[start].partition(".")
    value: float | str = found[start] if part.strip("0") else int(whole)
    place = start + 1
    while place < len(found) and found[place] in SCALES:
        scaled = float(value) * SCALES[found[place]]
        value, place = int(scaled) if scaled == int(scaled) else scaled, place + 1
    return str(value), place


@cache
def phrase(text: str) -> Words:
    """Return the words of a subject or an object: dates are one word, `X's Y` is `Y of X`, articles are gone."""
    return tuple(bare(_owned(bare(joined(words(text))))))


def joined(found: Sequence[str]) -> Words:
    """Return words in which every date is one word, without the weekday before it."""
    return tuple(WEEKDAY_OF_DATE.sub("", IN_WORDS.sub(_in_words, " ".join(found))).split())


def phrases(texts: Iterable[str], day: str) -> set[Words]:
    """Return the wordings of the texts, each as written and with the years that its dates leave out.

    Args:
        texts: forms of one thing.
        day: the ISO date on which they are said. A missing year is that of the nearest such day, unless another form
            tells it.
    """
    return with_years((phrase(text) for text in texts), day)


def with_years(found: Iterable[Words], day: str) -> set[Words]:
    """Return wordings of one thing as they are and with the years that their dates leave out; see `phrases`."""
    forms = set(found)
    told = {word[5:] for form in forms for word in form if DATE.fullmatch(word) and word[0] != "-"}
    open_forms = {form for form in forms if not any(_is_yearless(word) and word[2:] in told for word in form)}
    return forms | {tuple(_with_year(word, day) for word in form) for form in open_forms}


def _in_words(match: re.Match[str]) -> str:
    month, day = MONTHS[match["month"] or match["first"]], match["day"] or match["then"]
    return f"{match['year'] or '-'}-{month:02d}" + (f"-{int(day):02d}" if day else "")


def _is_yearless(word: str) -> bool:
    return word[0] == "-" and DATE.fullmatch(word) is not None


def _with_year(word: str, day: str) -> str:
    if not _is_yearless(word):
        return word
    today, month, number = date.fromisoformat(day), int(word[2:4]), int(word[5:] or 15)
    distances = []
    for year in (today.year - 1, today.year, today.year + 1):
        try:
            distances.append((abs(date(year, month, number) - today), year))
        except ValueError:  # 29 February
            continue
    return f"{min(distances)[1]:04d}{word[1:]}" if distances else word


def bare(found: Sequence[str]) -> list[str]:
    """Drop articles anywhere, and possessives in front, after "of" and after a leading preposition."""
    out: list[str] = []
    for place, word in enumerate(found[:-1]):
        opens = not out or out[-1] == "of" or (len(out) == 1 and out[0] in PREPOSITIONS)
        if word in ARTICLES or (opens and word in PRONOUNS and found[place + 1] != POSSESSIVE):
            continue
        out.append(word)
    return [*out, *found[-1:]]


def _owned(found: Sequence[str]) -> list[str]:
    """`keys to ana 's garage` -> `keys to garage of ana`; an owner of nothing ("Ana's") stays."""
    out: list[str] = []
    owners: list[list[str]] = [[]]
    for word in [*found, "and"]:
        if word == POSSESSIVE:
            owners.append([])
        elif word not in PREPOSITIONS and word not in ("and", "or", "but"):
            owners[-1].append(word)
        else:
            if len(owners) > 1 and not owners[-1]:
                owners[-2:] = [[*owners[-2], POSSESSIVE]]
            out += owners[-1]
            for owner in reversed(owners[:-1]):
                out += ["of", *owner]
            out.append(word)
            owners = [[]]
    return out[:-1]
