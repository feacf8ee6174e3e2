"""The terms that graphs are written with, made once: IRIs of the standards and of Doxa's own record keeping."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache

from pyoxigraph import Literal, NamedNode

from doxa.logic.names import PREFIXES

__all__ = ["TYPE", "day", "flag", "moment", "number", "term"]


@cache
def term(prefixed: str) -> NamedNode:
    """Return the IRI of a prefixed name ("prov:Entity")."""
    prefix, _, local = prefixed.partition(":")
    return NamedNode(PREFIXES[prefix] + local)


TYPE = term("rdf:type")
_DATE, _TIME, _INTEGER, _DECIMAL = (term(f"xsd:{name}") for name in ("date", "dateTime", "integer", "decimal"))
_FLAGS = {value: Literal(str(value).lower(), datatype=term("xsd:boolean")) for value in (True, False)}


def flag(value: bool) -> Literal:
    """Return a truth value."""
    return _FLAGS[value]


def day(value: date) -> Literal:
    """Return a day as `xsd:date`."""
    return Literal(value.isoformat(), datatype=_DATE)


def moment(value: datetime) -> Literal:
    """Return a point in time as `xsd:dateTime`."""
    return Literal(value.isoformat(), datatype=_TIME)


def number(value: float) -> Literal:
    """Return a whole number as `xsd:integer`, any other as `xsd:decimal`."""
    if isinstance(value, int):
        return Literal(str(value), datatype=_INTEGER)
    return Literal(f"{value:.12f}".rstrip("0").rstrip(".") or "0", datatype=_DECIMAL)
