"""Names as they are compared: their words without accents and titles, their initials, and an index of all of them.

The index finds the names that a name might be a variant of by *blocks*: a shared rare word, the same letters, the same
initials, the same sound, a known short form. So a new name is compared with a bounded number of others, however many
are known.

Source: blocking as in P. Christen, "A Survey of Indexing Techniques for Scalable Record Linkage and Deduplication"
(IEEE TKDE 24(9), 2012), section 3.1; the sound is a vowel-free skeleton, coarser than Soundex.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from doxa.memory.paged import Keys, Lists, Pack, PackWriter

__all__ = ["MOST_CANDIDATES", "Name", "NameIndex", "full_forms"]

MOST_CANDIDATES = 32
"""Names that one name is compared with at most; the latest of them."""
COMMON = 24
"""Names per block that are looked at: the latest."""
LETTERS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th"})
UMLAUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})  # typos: ignore


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.memory").joinpath("names.toml").read_text(encoding="utf-8"))


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(_table()["words"][kind].split())


@cache
def short_forms() -> Mapping[str, frozenset[str]]:
    """Return the full names that a first name may be short for, by the folded short form; a full name has none."""
    found: dict[str, set[str]] = {}
    for full, forms in _table()["short"].items():
        for form in forms.split():
            found.setdefault(form, set()).add(full)
    return {form: frozenset(names) for form, names in found.items()}


@cache
def full_forms() -> frozenset[str]:
    """Return the first names that are known to have short forms."""
    return frozenset(_table()["short"])


@dataclass(frozen=True, slots=True)
class Name:
    """A name taken apart."""

    label: str
    tokens: tuple[str, ...]
    """Its words, folded, without title, article and legal form."""
    title: str = ""
    spelled_out: tuple[str, ...] = ()
    """The same words with an umlaut as two letters ("duesseldorf")."""
    acronym: bool = False
    """It is a row of capitals ("NYC", "U.N.")."""
    rest: tuple[str, ...] = ()
    """Small words that are no part of `tokens` but may have an initial ("of")."""

    @classmethod
    def of(cls, label: str) -> Name:
        """Return a label taken apart. O(len(label))."""
        return _name(label)

    @property
    def letters(self) -> str:
        """The words run together."""
        return "".join(self.tokens)

    @property
    def initials(self) -> frozenset[str]:
        """The rows of initials that may stand for the name: without small words, and with them."""
        if len(self.tokens) < 2:
            return frozenset()
        return frozenset(("".join(word[0] for word in self.tokens), "".join(word[0] for word in self.rest)))

    @property
    def full_names(self) -> frozenset[str]:
        """The first name, and the full names that it may be short for."""
        if not self.tokens:
            return frozenset()
        return short_forms().get(self.tokens[0], frozenset()) | {self.tokens[0]}

    @property
    def short(self) -> bool:
        """True for the short form of a first name, alone."""
        return len(self.tokens) == 1 and self.tokens[0] in short_forms()

    def blocks(self) -> Iterable[str]:
        """Yield what the name shares with the names that it might be a variant of."""
        if not self.tokens:
            return
        yield f"={self.letters}"
        yield f"={''.join(self.spelled_out)}"
        yield from (f"w:{word}" for word in self.tokens if len(word) > 2)
        yield from (f"f:{full}" for full in self.full_names)
        yield f"d:{stem_of(self.tokens[0])}"
        yield from (f"s:{sound(word)}" for word in {self.tokens[0], self.tokens[-1]} if len(word) > 3)
        yield from (f"i:{row}" for row in ([self.letters] if self.acronym else self.initials))


@lru_cache(maxsize=4096)
def _name(label: str) -> Name:
    plain = re.sub(r"\b(?:[^\W\d_]\.){2,}|\b(?:[^\W\d_]\.)+[^\W\d_]\b", lambda m: m[0].replace(".", ""), label)
    plain = re.sub(r"['’]", "", plain.replace("&", " and "))
    raw = re.findall(r"[^\W_]+", plain)
    folded = [fold(word) for word in raw]
    title = folded[0] if len(folded) > 1 and folded[0] in _words("titles") else ""
    start = 1 if title or (len(folded) > 1 and folded[0] in _words("articles")) else 0
    stop = len(folded)
    while stop - start > 1 and folded[stop - 1] in _words("legal"):
        stop -= 1
    small = _words("small") if stop - start > 1 else frozenset()
    kept = [place for place in range(start, stop) if place == start or folded[place] not in small] or list(
        range(start, stop)
    )
    acronym = len(kept) == 1 and len(raw[kept[0]]) in range(2, 7) and raw[kept[0]].isalpha() and raw[kept[0]].isupper()
    return Name(
        label=label,
        tokens=tuple(folded[place] for place in kept),
        title=title,
        spelled_out=tuple(fold(raw[place].casefold().translate(UMLAUT)) for place in kept),
        acronym=acronym,
        rest=tuple(folded[start:stop]),
    )


def fold(word: str) -> str:
    """Return a word in small letters without accents."""
    plain = word.casefold().translate(LETTERS)
    return "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))


def sound(word: str) -> str:
    """Return the skeleton of a folded word: its first letter and its consonants, alike ones as one."""
    plain = re.sub(r"ph", "f", re.sub(r"(?:ck|q|c(?![eihy]))", "k", word.replace("w", "v").replace("y", "i")))
    plain = plain.replace("z", "s").replace("th", "t").replace("h", "")
    return plain[:1] + re.sub(r"(.)\1+", r"\1", re.sub(r"[aeiou]", "", plain[1:]))


def stem_of(word: str) -> str:
    """Return a folded first name without an ending of endearment: "dan" for "danny"."""
    return re.sub(r"(.)\1$", r"\1", re.sub(r"(?<=..)(?:y|ie|i|ey|ee)$", "", word))


class NameIndex:
    """The names that are known, by block. Adding one costs O(its words)."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._spoken = array("q")
        """When each key was last spoken of: larger is later."""
        self._blocks = Lists()
        self._clock = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NameIndex):
            return NotImplemented
        return (self._keys, self._spoken, self._blocks) == (other._keys, other._spoken, other._blocks)

    __hash__ = None  # type: ignore[assignment]

    def add(self, key: str, label: str) -> None:
        """Note that a name was spoken of."""
        self._clock += 1
        number = self._keys.add(key)
        if number == len(self._spoken):
            self._spoken.append(0)
            for block in dict.fromkeys(Name.of(label).blocks()):
                self._blocks.append(block, number)
        self._spoken[number] = self._clock

    def alike(self, key: str, label: str) -> list[str]:
        """Return keys that share a block with a name, the latest first; no more than `MOST_CANDIDATES`.

        A block that many names share says little: only its `COMMON` latest are looked at.
        """
        found: dict[int, None] = {}
        for block in dict.fromkeys(Name.of(label).blocks()):
            found |= dict.fromkeys(self._blocks.get(block)[-COMMON:])
        found.pop(-1 if (own := self._keys.get(key)) is None else own, None)
        return self._latest(found)

    def namesakes(self, word: str) -> list[str]:
        """Return keys of names with a word, the latest first; no more than `MOST_CANDIDATES`."""
        return self._latest(self._blocks.get(f"w:{fold(word)}")[-MOST_CANDIDATES:])

    def _latest(self, numbers: Iterable[int]) -> list[str]:
        latest = sorted(numbers, key=self._spoken.__getitem__, reverse=True)[:MOST_CANDIDATES]
        return [self._keys[number] for number in latest]

    def save(self, writer: PackWriter, name: str) -> None:
        """Write it."""
        self._keys.save(writer, f"{name}.keys")
        self._blocks.save(writer, f"{name}.blocks")
        writer.array(f"{name}.spoken", np.array(self._spoken, np.int64))

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of what is here."""
        self._keys.load(pack, f"{name}.keys")
        self._blocks.load(pack, f"{name}.blocks")
        self._spoken = pack.numbers(f"{name}.spoken")
        self._clock = max(self._spoken, default=0)
