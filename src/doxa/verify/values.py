"""Two values of one slot -> whether both may be meant: "night nurse" and "nurse", "900 euros" and "€900 a month"."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Literal

from doxa.language import stems
from doxa.language.words import CONTINENTS, COUNTRIES
from doxa.verify.mentions import Mention, compared, mentions

__all__ = ["kinds", "opposed", "relation_of"]

ANY_DAY = datetime(2000, 1, 1)  # noqa: DTZ001  both values are read on the same day


def relation_of(one: str, other: str) -> Literal["same", "rival", "other"]:
    """Return whether two values of one slot are the same (or one tells less), exclude each other, or neither.

    Numbers, dates and times are compared by value. Of two places of which one is a country nothing is known that would
    exclude the other.
    """
    if one.casefold() == other.casefold():
        return "same"
    mine, theirs = mentions(one, ANY_DAY), mentions(other, ANY_DAY)
    typed = {compared(a, b) for a in mine for b in theirs if a.kind != "name" and b.kind != "name"} - {"other"}
    if typed:
        return "rival" if "rival" in typed and not _all_met(mine, theirs) else "same"
    said, told = set(stems(one)), set(stems(other))
    measured = any(m.kind != "name" for m in (*mine, *theirs))
    if not said or not told or measured or any(m.kind != "name" for m in mine) != any(m.kind != "name" for m in theirs):
        return "same" if said and told and (said <= told or told <= said) else "other"
    if said <= told or told <= said:
        return "same"
    return "other" if _country(one) != _country(other) else "rival"


def _all_met(mine: Sequence[Mention], theirs: Sequence[Mention]) -> bool:
    """Tell whether every value of one side that has a rival is said by the other side as well."""
    for one in mine:
        how = {compared(one, other) for other in theirs} if one.kind != "name" else set()
        if "rival" in how and "same" not in how:
            return False
    return True


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


def _country(name: str) -> bool:
    return name.casefold().removeprefix("the ").strip() in COUNTRIES | CONTINENTS
