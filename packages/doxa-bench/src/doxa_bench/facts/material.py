"""`facts.toml` -> relations, the mix of what is drawn, and invented names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

__all__ = ["Mix", "Names", "Relation", "material"]

SLOT = re.compile(r"\{(\w+)\}")
ATTEMPTS = 100
"""Draws of a name that must be new; the lists give hundreds of times more names than a large set needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What things have a value in, and how that is told and asked."""

    name: str
    of: tuple[str, ...]
    to: str
    weight: int
    symmetric: bool
    """It holds the other way round: a value has no other value of its own, and is that of one thing only."""
    said: str
    asked: tuple[str, ...]
    phrase: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Shares of what is drawn, 0 to 1."""

    replaced: float
    asked_replaced: float
    hops: Mapping[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """All of the file."""

    mix: Mix
    relations: tuple[Relation, ...]
    types: Mapping[str, Mapping[str, Any]]
    slots: Mapping[str, tuple[str, ...]]


@cache
def material() -> Material:
    """Return what sets are made of."""
    table = tomllib.loads(files(__package__).joinpath("facts.toml").read_text(encoding="utf-8"))
    mix = table["mix"]
    return Material(
        mix=Mix(
            replaced=mix["replaced"],
            asked_replaced=mix["asked_replaced"],
            hops={int(hops): share for hops, share in mix["hops"].items()},
        ),
        relations=tuple(_relation(entry) for entry in table["relation"]),
        types=table["types"],
        slots={name: tuple(words) for name, words in table["slots"].items()},
    )


def _relation(entry: Mapping[str, Any]) -> Relation:
    return Relation(
        name=entry["name"],
        of=tuple(entry["of"]),
        to=entry["to"],
        weight=entry["weight"],
        symmetric=entry.get("symmetric", False),
        said=entry["said"],
        asked=tuple(entry["asked"]),
        phrase=tuple(entry["phrase"]),
    )


class Names:
    """Draws names, each once."""

    def __init__(self, rng: Random) -> None:
        self._rng, self._given = rng, set[str]()

    def of(self, kind: str, keys: int) -> list[str]:
        """Return the names of all things of a type, for a set of so many values."""
        entry = material().types[kind]
        count = min(max(round(entry["share"] * keys), entry["least"]), entry.get("most", keys + entry["least"]))
        if "words" in entry:
            return self._rng.sample(entry["words"], min(count, len(entry["words"])))
        return [self._new(entry["forms"]) for _ in range(count)]

    def _new(self, forms: list[str]) -> str:
        for _ in range(ATTEMPTS):
            name = SLOT.sub(lambda slot: self._rng.choice(material().slots[slot[1]]), self._rng.choice(forms))
            if name not in self._given:
                self._given.add(name)
                return name
        raise ValueError(f"no new name of the forms {forms} after {ATTEMPTS} draws: give the lists more words")
