"""The table from verbs to relations."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from doxa.understand.clauses import Clause, Complement

__all__ = ["Frame", "match_frames"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One row of `frames.toml`."""

    preps: tuple[str, ...]
    relation: str
    event: str = ""
    polarity: bool = True
    modality: str = ""
    passive: str = ""
    also: str = ""
    tense: str = ""
    wanted: re.Pattern[str] | None = None
    unwanted: re.Pattern[str] | None = None
    direct: re.Pattern[str] | None = None
    alone: bool = False


@cache
def _frames() -> dict[str, list[Frame]]:
    table = tomllib.loads(files("doxa.understand").joinpath("frames.toml").read_text(encoding="utf-8"))
    found: dict[str, list[Frame]] = {}
    for row in table["frame"]:
        frame = _frame(row)
        for verb in row["verbs"].split():
            found.setdefault(verb, []).append(frame)
    return found


def _frame(row: dict[str, Any]) -> Frame:
    return Frame(
        preps=tuple(row["prep"].split()) or ("",),
        relation=row["relation"],
        event=row.get("event", ""),
        polarity=row.get("polarity", True),
        modality=row.get("modality", ""),
        passive=row.get("passive", ""),
        also=row.get("also", ""),
        tense=row.get("tense", ""),
        wanted=re.compile(row["object"]) if "object" in row else None,
        direct=re.compile(row["direct"]) if "direct" in row else None,
        alone=row.get("alone", False),
        unwanted=re.compile(row["not"]) if "not" in row else None,
    )


def match_frames(
    clause: Clause, complement: Complement, sorts: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[Frame, str]]:
    """Return the rows that fit a clause, each with the object that it takes; one row, the first, for a preposition."""
    found: dict[str, tuple[Frame, str]] = {}
    for frame in _frames().get(clause.verb, ()):
        if (frame.passive == "yes") != clause.passive and not (frame.relation == "married_to" and clause.passive):
            continue
        if frame.tense and frame.tense != clause.tense:
            continue
        if frame.direct is not None and not frame.direct.search(complement.direct):
            continue
        if frame.alone and found:
            continue
        for prep in frame.preps:
            value = _at(complement, prep)
            if value and _fits(frame, value, sorts.get(value.casefold(), "")):
                found.setdefault(prep, (frame, value))
                break
    return list(found.values())


def _at(complement: Complement, prep: str) -> str:
    """Return what stands after a preposition: of several, the one with a name ("in a care home in Cadiz")."""
    values = [noun for found, noun in complement.phrases if found == prep] if prep else []
    return next((value for value in values if value[:1].isupper()), complement.at(prep))


def _fits(frame: Frame, value: str, sort: str) -> bool:
    """Tell whether a value is of the kind that a row wants; of a name also what it is the name of may be."""
    if frame.wanted is not None and not frame.wanted.search(value) and not (sort and frame.wanted.search(sort)):
        return False
    return frame.unwanted is None or not frame.unwanted.search(value)
