"""Text -> words with their places, in the manner of UD English EWT: `don't` is `do` and `n't`, `$5` is `$` and `5`.

Every visible character belongs to exactly one word, and a word is a slice of the text, so that what is found in
words can be shown in the text. One scan with bounded patterns: linear in the length, whatever the text.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["Conventions", "Word", "conventions", "words"]

APOSTROPHES: Final = "'’‘"
JOINER: Final = "\u200d"
MARKS: Final = ("Mn", "Mc", "Me")
SKIN_TONES: Final = range(0x1F3FB, 0x1F400)
LETTER: Final = r"[^\W\d_]"
NUMBER: Final = r"(?>\d{1,30}(?:[.,:]\d{1,30}){0,8})"

_CLITIC: Final = re.compile(rf"(?:n[{APOSTROPHES}]t|[{APOSTROPHES}](?:s|m|re|ve|ll|d))$", re.IGNORECASE)
_SEPARATOR: Final = re.compile(r"[-/]")
_NEXT: Final = re.compile(r"[^\S\n]{0,3}(\w{1,20})")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, number or sign: `form` is `text[start:end]`."""

    form: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """What `words.toml` says, as sets."""

    titles: frozenset[str]
    closing: frozenset[str]
    before_digits: frozenset[str]
    openers: frozenset[str]
    fused: dict[str, list[int]]
    prefixes: frozenset[str]
    wholes: frozenset[str]
    units: frozenset[str]
    suffixes: frozenset[str]


@cache
def conventions() -> Conventions:
    """Gives back the word lists that ship beside this file; read once."""
    found = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
    lists = found["abbreviations"] | found["affixes"]
    return Conventions(fused=found["fused"], **{name: frozenset(entries) for name, entries in lists.items()})


def words(text: str) -> list[Word]:
    """Gives back the words of a text in order; together they hold every character that is not white space."""
    spans: list[tuple[int, int]] = []
    scan, at = _scan(), 0
    while (match := scan.search(text, at)) is not None:
        for start, end in _parts(text, match):
            if spans and spans[-1][1] == start and _belongs(text, start):
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        at = spans[-1][1]
    return [Word(text[start:end], start, end) for start, end in spans]


@cache
def _scan() -> re.Pattern[str]:
    units = "|".join(sorted(map(re.escape, conventions().units), key=len, reverse=True))
    wholes = "|".join(sorted(map(re.escape, conventions().wholes), key=len, reverse=True))
    return re.compile(
        rf"""
    (?P<link>(?:https?://|ftp://|www\.)[^\s<>"“”\[\]{{}}|\\^`]{{1,2000}})
  | (?P<mail>(?<![\w.+\-])[\w.+\-]{{1,64}}@[\w\-]{{1,64}}(?:\.[\w\-]{{1,64}}){{0,6}})
  | (?P<smile>(?<![:;\d])[:;=][\-'^o]?[)(\]\[|*]+(?!\w)|(?<![\w:;])[:;=][\-'^o]?[dpo/\\3s](?![\w/]))
  | (?P<face>(?<!\w)(?:xd(?!\w)|<3+(?!\d)|</3|\^_?\^|[-o]_[-o](?!\w)))
  | (?P<handle>(?<!\w)[\#@](?={LETTER})\w{{1,64}}(?:\.[a-z]{{2,4}})?)
  | (?P<phone>(?<![\w\-])(?:\d{{3}}-)?\d{{3}}-\d{{4}}(?![\w\-]))
  | (?P<date>(?<![\w/])\d{{1,4}}/\d{{1,2}}(?:/\d{{1,4}})?(?![\w/])|(?<![\w\-])\d{{4}}-\d{{2}}-\d{{2}}(?![\w\-]))
  | (?P<decade>(?<!\w)[{APOSTROPHES}]?\d{{2,4}}[{APOSTROPHES}]?s(?!\w))
  | (?P<elided>(?<![\w{APOSTROPHES}])[{APOSTROPHES}](?:em|til|cause|bout|cuz|cos|tis|twas)(?!\w))
  | (?P<whole>(?<!\w)(?:{wholes})(?![\w]))
  | (?P<number>(?:(?<![^\s(\[])[+])?{NUMBER}(?:(?!\w)|(?=(?:{units})(?!\w))))
  | (?P<letters>(?<!\w)(?:{LETTER}\.){{2,12}}(?!\w))
  | (?P<word>\w(?:[\w\u0300-\u036f]|[{APOSTROPHES}.\-/](?=\w)){{0,200}})
  | (?P<dots>[.!?…]{{2,200}})
  | (?P<run>(?P<sign>[^\w\s()\[\]{{}}"'.,])(?P=sign){{1,400}}|''|``)
  | (?P<one>\S)
    """,
        re.VERBOSE | re.IGNORECASE,
    )


def _belongs(text: str, at: int) -> bool:
    """Whether a character belongs to the one before: accents, skin tones, parts of a joined emoji."""
    char, before = text[at], text[at - 1]
    if char < "\x80" and before < "\x80":
        return False
    if JOINER in (char, before) or unicodedata.category(char) in MARKS or ord(char) in SKIN_TONES:
        return True
    return unicodedata.category(before) in MARKS and char.isalnum()


def _parts(text: str, match: re.Match[str]) -> Iterator[tuple[int, int]]:
    start, end = match.span()
    kind = match.lastgroup
    if kind in ("link", "mail"):
        kept = text[start:end].rstrip(".,;:!?'\"’”)-" if kind == "link" else ".-")
        yield start, start + len(kept)
    elif match[0] == "24/7":
        yield from ((start, start + 2), (start + 2, start + 3), (start + 3, end))
    elif kind == "word":
        yield from _word(text, start, end)
    else:
        yield start, end


def _word(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cuts what stands between two spaces at hyphens, slashes and points, and each piece at its clitics."""
    at = piece = start
    for separator in _SEPARATOR.finditer(text, start, end):
        cut = separator.start()
        if separator[0] == "-" and text[at:cut].lower() in conventions().prefixes:
            continue
        if cut < at:
            continue
        yield from _pointed(text, piece, cut)
        yield cut, cut + 1
        at = piece = cut + 1
    yield from _pointed(text, piece, end)


def _pointed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Names of hosts and files, and abbreviations, keep their points; a point between sentences is cut out."""
    form = text[start:end]
    parts = form.lower().split(".")
    if text[end : end + 1] == "." and _keeps_point(text, start, end):
        yield start, end + 1
    elif len(parts) == 1 or _is_name(parts):
        yield from _clitics(start, form)
    else:
        for at, part in enumerate(parts):
            if at:
                yield start - 1, start
            yield from _clitics(start, text[start : start + len(part)])
            start += len(part) + 1


def _is_name(parts: list[str]) -> bool:
    """Whether the points join the parts: `news.com`, `alt.animals.cat`, `e.g`, `v2.1`."""
    joined = len(parts) > 2 or max(map(len, parts)) == 1 or any(part[:1].isdigit() for part in parts)
    return joined or parts[-1] in conventions().suffixes


def _keeps_point(text: str, start: int, end: int) -> bool:
    """Whether the point behind is part of the word: `Dr.`, `No. 5`, `J. Smith`."""
    lower = text[start:end].lower()
    known = conventions()
    if lower in known.titles or lower in known.closing:
        return True
    found = _NEXT.match(text, end + 1)
    behind = found[1] if found else ""
    if lower in known.before_digits:
        return behind[:1].isdigit()
    initial = end - start == 1 and text[start].isupper() and text[start] != "I"
    return initial and behind[:1].isupper() and behind.lower() not in known.openers


def _clitics(start: int, form: str) -> Iterator[tuple[int, int]]:
    """`don't` -> `do`, `n't`; `dont` and `gonna` likewise, from the list."""
    end = len(form)
    cuts = [end, *conventions().fused.get(form.lower(), ())]
    while (found := _CLITIC.search(form, 0, end)) is not None and found.start():
        end = found.start()
        cuts.append(end)
    at = 0
    for cut in sorted(cuts):
        if cut > at:
            yield start + at, start + cut
            at = cut
