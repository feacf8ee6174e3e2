"""Literals -> the values that they stand for, as far as two of them can be told apart.

Source: XML Schema 1.1 part 2 for the lexical forms, OWL 2 Profiles, table 8, for the rules that need them (dt-type2,
dt-diff, dt-not-type). A datatype that is not listed has no opinion: its literals differ from nothing and fit in it.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from pyoxigraph import Literal, NamedNode

from doxa.logic.coherence import LEXICAL, XSD, fits
from doxa.logic.names import PREFIXES

__all__ = ["differ", "outside", "within"]

INTEGERS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    **{name: (-(2**bits), 2**bits - 1) for name, bits in (("long", 63), ("int", 31), ("short", 15), ("byte", 7))},
    **{f"unsigned{n}": (0, 2**b - 1) for n, b in (("Long", 64), ("Int", 32), ("Short", 16), ("Byte", 8))},
}
"""The kinds of `xsd:integer`, with their bounds."""
TOP = PREFIXES["rdfs"] + "Literal"


Value = tuple[str, object]
"""A space of values, and a value in it."""
ILL: Value = ("none", None)
"""What a literal stands for that is not written as its datatype demands."""


@lru_cache(maxsize=4096)
def _value(literal: Literal) -> Value | None:
    """Return what a literal stands for; None where we cannot tell."""
    datatype, text = literal.datatype.value.removeprefix(XSD), literal.value
    if literal.language:
        return "text", (text, literal.language)
    if datatype == "string":
        return "text", (text, "")
    plain = "integer" if datatype in INTEGERS else datatype
    if plain not in LEXICAL or plain == "dateTime" or not literal.datatype.value.startswith(XSD):
        return None
    if not fits(text, XSD + plain):
        return ILL
    if plain in ("integer", "decimal"):
        found = "number", Decimal(text)
        return found if _in_space(found, datatype) else ILL
    if plain in ("double", "float"):
        return plain, float(text)
    return plain, text in ("true", "1") if plain == "boolean" else text


def differ(one: object, other: object) -> bool:
    """Tell whether two literals surely stand for different values (dt-diff)."""
    if not isinstance(one, Literal) or not isinstance(other, Literal):
        return False
    first, second = _value(one), _value(other)
    return None not in (first, second) and ILL not in (first, second) and first != second


def within(literal: object, datatype: object) -> bool:
    """Tell whether a literal is surely one of a datatype (dt-type2)."""
    name, found = _known(literal, datatype)
    return found is not None and found != ILL and (name == TOP or _in_space(found, name))


def outside(literal: object, datatype: object) -> bool:
    """Tell whether a literal surely is none of a datatype, or is written as none of its own (dt-not-type)."""
    name, found = _known(literal, datatype)
    return found is not None and (found == ILL or not (name == TOP or _in_space(found, name)))


def _known(literal: object, datatype: object) -> tuple[str, Value | None]:
    """Return the name of a datatype and what a literal stands for; None where either is not known."""
    if not isinstance(literal, Literal) or not isinstance(datatype, NamedNode):
        return "", None
    name = datatype.value.removeprefix(XSD) if datatype.value.startswith(XSD) else ""
    known = datatype.value == TOP or ((name in LEXICAL or name in INTEGERS) and name != "dateTime")
    return (name or TOP, _value(literal)) if known else ("", None)


def _in_space(found: Value, name: str) -> bool:
    space, value = found
    if name in INTEGERS:
        low, high = INTEGERS[name]
        whole = isinstance(value, Decimal) and value == value.to_integral_value()
        return whole and (low is None or value >= low) and (high is None or value <= high)  # type: ignore[operator]
    if name == "string":
        return space == "text" and isinstance(value, tuple) and not value[1]
    return space == ("number" if name == "decimal" else name)
