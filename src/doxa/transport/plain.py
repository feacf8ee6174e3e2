"""Values -> plain data for JSON: the one place that knows how a value is written out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from pathlib import PurePath
from typing import Any

from doxa.core.trace import Trace
from doxa.core.values import Fact, Relation, Term

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Return plain data for JSON: dates in ISO form, terms and relations as their labels, facts with their keys too.

    A time of UTC ends with `Z`, as pydantic writes it.
    """
    match value:
        case None | str() | int() | float():
            return str(value) if isinstance(value, str) else value
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case Term() | Relation():
            return str(value)
        case Trace():
            return plain(value.to_dict())
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
        case PurePath():
            return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        data = {field.name: plain(getattr(value, field.name)) for field in fields(value) if not field.metadata}
        if isinstance(value, Fact):
            data["keys"] = [value.subject.key, value.relation.name, value.object.key]
        return data
    return value.item() if hasattr(value, "item") else str(value)  # numbers of numpy
