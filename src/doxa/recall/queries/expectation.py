"""Query -> what kind of thing answers it: a person, a place, a time, what the asker likes."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from doxa.language import stems

__all__ = ["framing", "seeks"]

LONGEST = 600
"""Characters of a query that are looked at, which bounds the cost of every pattern."""


@lru_cache(maxsize=1024)
def seeks(text: str) -> frozenset[str]:
    """Return the kinds of things that answer a query: "person", "place", "time", "duration", "count", "reason", ...

    "preference": advice is wanted, asked for ("which hotel would suit me?") or not ("I'm bored tonight"); "yesno": it
    asks whether. Empty when the words do not tell. The kinds and their patterns are in `expectation.toml`.
    Cost O(len(text) x patterns); deterministic.
    """
    plain = " ".join(text[:LONGEST].casefold().replace("\u2019", "'").split())
    return frozenset(
        kind
        for kind, (found, unless) in _kinds().items()
        if found.search(plain) and not (unless and unless.search(plain))
    )


@cache
def framing(*, advice: bool) -> frozenset[str]:
    """Return the stems that say how something is asked and not what ("recommend", "mention")."""
    table = _table()["framing"]
    return frozenset(stems(table["telling"] + (table["advice"] if advice else "")))


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("expectation.toml").read_text(encoding="utf-8"))


@cache
def _kinds() -> dict[str, tuple[re.Pattern[str], re.Pattern[str] | None]]:
    return {
        kind: (re.compile("|".join(row["found"])), re.compile("|".join(row["unless"])) if "unless" in row else None)
        for kind, row in _table().items()
        if kind != "framing"
    }
