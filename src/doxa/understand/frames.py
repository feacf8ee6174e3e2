"""The table from verbs to relations."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.understand.clauses import Clause, Complement

__all__ = ["Frame", "match_frame"]


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
        unwanted=re.compile(row["not"]) if "not" in row else None,
    )


def match_frame(clause: Clause, complement: Complement) -> tuple[Frame, str] | None:
    """Return the first row that fits a clause, with the object that it takes; None when no row fits."""
    for frame in _frames().get(clause.verb, ()):
        if (frame.passive == "yes") != clause.passive and not (frame.relation == "married_to" and clause.passive):
            continue
        if frame.tense and frame.tense != clause.tense:
            continue
        for prep in frame.preps:
            value = complement.at(prep)
            if value and _fits(frame, value):
                return frame, value
    return None


def _fits(frame: Frame, value: str) -> bool:
    if frame.wanted is not None and not frame.wanted.search(value):
        return False
    return frame.unwanted is None or not frame.unwanted.search(value)
