"""Two values of one slot -> whether both may be meant: "night nurse" and "nurse", "900 euros" and "€900 a month"."""

from __future__ import annotations

import tomllib
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files

from doxa.backends.lexicon import Lexicon
from doxa.memory import stems
from doxa.verify.mentions import compared, mentions

__all__ = ["agree", "kinds", "opposed"]

ANY_DAY = datetime(2000, 1, 1)  # noqa: DTZ001  both values are read on the same day
MOST_BROADER = 12


def agree(one: str, other: str, lexicon: Lexicon | None = None) -> bool:
    """Tell whether two values of one slot may both be meant: the same, or one more general or exact than the other.

    Numbers, dates and times are compared by value. Of two places of which one is a country nothing is known that would
    exclude the other, unless the lexicon tells. Without a lexicon "musician" and "cellist" do not agree.
    """
    if one.casefold() == other.casefold():
        return True
    mine, theirs = mentions(one, ANY_DAY), mentions(other, ANY_DAY)
    typed = [(a, b) for a in mine for b in theirs if a.kind != "name" and compared(a, b) != "other"]
    if typed:
        return not any(compared(a, b) == "rival" for a, b in typed)
    said, told = set(stems(one)), set(stems(other))
    if not said or not told:
        return False
    if said <= told or told <= said:
        return True
    return _kind_of(one, other, lexicon) or _kind_of(other, one, lexicon) or _country(one) != _country(other)


def opposed(one: str, other: str) -> bool:
    """Tell whether two stems exclude each other of one thing: "open" and "closed", "love" and "hate"."""
    groups = kinds()
    return any(one in group and other in group for group in groups.get(one, ())) and one != other


@cache
def kinds() -> dict[str, tuple[frozenset[str], ...]]:
    """Return for every stem the groups of stems in `opposites.toml` that hold it and exclude each other."""
    table = tomllib.loads(files("doxa.verify").joinpath("opposites.toml").read_text(encoding="utf-8"))
    found: dict[str, list[frozenset[str]]] = {}
    for row in table["exclusive"]:
        sides = [frozenset(stem for word in side.split() for stem in stems(word)) for side in row.split("/")]
        for side in sides:
            for stem in side:
                group = frozenset({stem, *(other for rest in sides if rest is not side for other in rest)})
                found.setdefault(stem, []).append(group)
    return {stem: tuple(groups) for stem, groups in found.items()}


@lru_cache(maxsize=1)
def _countries() -> frozenset[str]:
    table = tomllib.loads(files("doxa.verify").joinpath("opposites.toml").read_text(encoding="utf-8"))
    return frozenset(" ".join(name.split()).casefold() for name in table["countries"].split(","))


def _country(name: str) -> bool:
    return name.casefold().removeprefix("the ").strip() in _countries()


def _kind_of(narrow: str, broad: str, lexicon: Lexicon | None) -> bool:
    """Tell whether the lexicon knows one noun as a kind of the other, by any of its usual senses."""
    if lexicon is None:
        return False
    wanted = broad.casefold().split()[-1] if broad.split() else ""
    waiting, seen = [narrow.casefold().split()[-1]] if narrow.split() else [], set[str]()
    while waiting and len(seen) < MOST_BROADER:
        word = waiting.pop(0)
        if word in seen:
            continue
        seen.add(word)
        for sense in lexicon.senses(word, "n")[:2]:
            if wanted in sense.broader or wanted in sense.words:
                return True
            waiting.extend(sense.broader)
    return False
