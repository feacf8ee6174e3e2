"""Idioms to plain wording, by a table, so that one pattern serves "I can't stand olives" and "I don't like olives"."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

__all__ = ["plainly"]


@cache
def _idioms() -> tuple[tuple[re.Pattern[str], str], ...]:
    table = tomllib.loads(files("doxa.understand").joinpath("idioms.toml").read_text(encoding="utf-8"))
    return tuple((re.compile(row["say"]), row["as"]) for row in table["idiom"])


def plainly(text: str) -> str:
    """Return a written-out sentence with its idioms in plain words. Cost O(idioms x len(text))."""
    for pattern, plain in _idioms():
        text = pattern.sub(plain, text)
    return text
