"""Units of measure: their names, their dimensions, and one converted into another of the same dimension.

A table of some thirty everyday units (`units.toml`) instead of a units library: what people say in a dialogue needs
names and factors, and no algebra of units beyond that of `reason.compute.amounts`. Months and days do not convert into
each other: how long a month is depends on the month.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from doxa.language.data import table

__all__ = ["CURRENCY", "Unit", "converted", "is_money", "unit_named", "units_of"]

CURRENCY = {"€": "euro", "$": "dollar", "£": "sterling", "%": "percent"}
"""Signs that stand beside a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit: its name in the singular, its dimension, and how many base units it is."""

    name: str
    dimension: str
    factor: Fraction
    plural: str

    def written(self, one: bool) -> str:
        """Return the name for one, or for several."""
        return self.name if one else self.plural


@cache
def _units() -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for dimension, units in table("units").items():
        for name, (factor, others) in units.items():
            plural = others.split()[0] if others.split()[0].isalpha() and name not in PLURALS else PLURALS[name]
            unit = Unit(name=name, dimension=dimension, factor=Fraction(factor), plural=plural)
            for word in (name, *others.split()):
                found.setdefault(word, unit)
    return found


PLURALS = {"sterling": "pounds", "pound": "pounds", "percent": "percent"}


def unit_named(word: str) -> Unit | None:
    """Return the unit that a word names, in the singular or plural or abbreviated; None for any other word."""
    return _units().get(word) or _units().get(word.casefold())


def units_of(dimension: str) -> list[Unit]:
    """Return the units of a dimension, each once."""
    return list({unit.name: unit for unit in _units().values() if unit.dimension == dimension}.values())


def is_money(unit: str) -> bool:
    """Tell whether a unit is a currency."""
    found = unit_named(unit)
    return found is not None and found.dimension.startswith("money")


def converted(unit: str, into: str) -> Fraction | None:
    """Return how many of the second unit one of the first is; None where they measure different things."""
    one, other = unit_named(unit), unit_named(into)
    if one is None or other is None or one.dimension != other.dimension:
        return None
    return one.factor / other.factor
