"""Filters as mem0 writes them -> a test of memories, and the users whom they name.

`{"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2024-01-01"}}, {"metadata": {"topic": "food"}}]}`. What a filter
asks that Doxa cannot tell is an error: a filter that is not heeded would show what was to be left out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from doxa.core.errors import InputError

__all__ = ["ENTITIES", "NO_CATEGORIES", "Filter", "Values", "moment", "read_filter"]

ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
TIMES = ("created_at", "updated_at")
TEXTS = ("keywords", "memory")
FIELDS = (*ENTITIES, *TIMES, *TEXTS, "memory_ids", "metadata")
DEEPEST = 20
"""Levels of a filter; deeper ones are no question that anybody asks."""
MOST_VALUES = 2000
"""Conditions and values of a filter in all: each is looked at for every memory."""
NO_CATEGORIES = (
    "Doxa does not sort memories into categories. Keep what you sort by in the metadata of add(...) and filter with "
    "{'metadata': {'topic': ...}}."
)
ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
OPERATORS = ("eq", "ne", "in", "nin", *ORDERS, "contains", "icontains")

Values = Callable[[str], tuple[Any, ...]]
"""What a memory has under a field (`metadata.topic` for one of its metadata): one value, several, or none."""
Test = Callable[[Values], bool]


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter that was understood."""

    fits: Test
    users: tuple[str, ...] = ()
    """The users that it asks for."""
    everyone: bool = False
    """It asks for all users (`*`)."""
    fields: frozenset[str] = frozenset()
    """The fields that it looks at."""
    unconditional: bool = False
    """It asks nothing of a memory, however it is written (`{"AND": []}`), so that all of them fit."""


def read_filter(given: object) -> Filter:
    """Return a filter.

    Raises:
        InputError: it has another form, or asks for what Doxa cannot tell.
    """
    if given in (None, {}, []):
        return Filter(lambda values: True, unconditional=True)
    _require_small(given)
    seen: list[tuple[str, object]] = []
    fits = _test(given, seen, depth=0)
    named = [value for field, value in _positive(given) if field == "user_id"]
    users = dict.fromkeys(one for value in named for one in _eq(value) if one != "*")
    everyone = any("*" in _eq(value) for value in named)
    return Filter(fits, tuple(users), everyone, frozenset(field for field, _ in seen), not _asks(given))


def _require_small(given: object) -> None:
    waiting, count = [given], 0
    while waiting:
        one, count = waiting.pop(), count + 1
        if count + len(waiting) > MOST_VALUES:
            raise InputError(f"filters: expected at most {MOST_VALUES:,} conditions and values. Ask in parts.")
        waiting += one.values() if isinstance(one, Mapping) else one if isinstance(one, list) else ()


def _eq(value: object) -> list[str]:
    """Return what a condition on an entity asks for by name; all of them are `*`."""
    if isinstance(value, Mapping):
        return [*_eq(value.get("eq")), *_eq(value.get("in"))]
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def _positive(given: Any) -> Iterator[tuple[str, object]]:
    """Yield the conditions that are not under a NOT."""
    if isinstance(given, list):
        for one in given:
            yield from _positive(one)
        return
    for field, value in given.items():
        if field in ("AND", "OR"):
            yield from _positive(value)
        elif field != "NOT":
            yield field, value


def _asks(given: Any, field: str = "AND") -> bool:
    """Tell whether a filter that was understood asks anything of a memory, or what it has under a field.

    Of ways of which one is enough, all have to; an empty list asks for nothing.
    """
    if field == "OR":
        parts = given if isinstance(given, list) else [given]
        return bool(parts) and all(map(_asks, parts))
    if field in ("AND", "NOT") and isinstance(given, list):
        return any(map(_asks, given))
    if isinstance(given, Mapping):
        return any(_asks(one, name) for name, one in given.items())
    return bool(given != [])


def _test(given: object, seen: list[tuple[str, object]], *, depth: int) -> Test:
    if depth > DEEPEST:
        raise InputError(f"filters: expected at most {DEEPEST} levels.")
    if isinstance(given, list):
        return _all([_test(one, seen, depth=depth + 1) for one in given])
    if not isinstance(given, Mapping):
        raise InputError(f"filters: expected {{field: value}} or {{'AND': [...]}}, got {given!r}.")
    return _all([_entry(field, value, seen, depth) for field, value in given.items()])


def _entry(field: str, value: object, seen: list[tuple[str, object]], depth: int) -> Test:
    if field in ("AND", "OR", "NOT"):
        parts = value if isinstance(value, list) else [value]
        tests = [_test(one, seen, depth=depth + 1) for one in parts]
        match field:
            case "AND":
                return _all(tests)
            case "OR":
                return lambda values: any(test(values) for test in tests)
        return lambda values: not any(test(values) for test in tests)
    if field == "categories":
        raise InputError(f"filters: {NO_CATEGORIES}")
    if field not in FIELDS:
        raise InputError(
            f"filters: expected AND, OR, NOT or a field out of {', '.join(FIELDS)}; got {field!r}. What you gave as "
            f"metadata is under 'metadata': {{'metadata': {{{field!r}: ...}}}}."
        )
    seen.append((field, value))
    if field == "metadata":
        if not isinstance(value, Mapping):
            raise InputError(f"filters: metadata: expected {{name: value}}, got {value!r}.")
        return _all([_condition(f"metadata.{name}", one) for name, one in value.items()])
    return _condition(field, value)


def _all(tests: list[Test]) -> Test:
    return lambda values: all(test(values) for test in tests)


def _condition(field: str, value: object) -> Test:
    if value is None:
        return lambda values: not values(field)
    if field in ENTITIES and not isinstance(value, str | list | Mapping):
        raise InputError(f"filters: {field}: expected a name, a list of names or {{operator: value}}, got {value!r}.")
    if value == "*":
        return lambda values: any(one is not None for one in values(field))
    if isinstance(value, Mapping):
        return _all([_compared(field, name, one) for name, one in value.items()])
    if field in TEXTS:
        return _compared(field, "icontains", value)
    return _compared(field, "in" if isinstance(value, list) else "eq", value)


def _compared(field: str, name: str, wanted: object) -> Test:
    if name not in OPERATORS:
        raise InputError(f"filters: {field}: expected an operator out of {', '.join(OPERATORS)}; got {name!r}.")
    if name in ("in", "nin") and not isinstance(wanted, list):
        raise InputError(f"filters: {field}: {name}: expected a list, got {wanted!r}.")
    if field in TIMES:
        return _timed(field, name, wanted)
    if name in ("ne", "nin"):
        same = _compared(field, "eq" if name == "ne" else "in", wanted)
        return lambda values: not same(values)
    if name in ORDERS:
        order = ORDERS[name]
        return lambda values: any(_alike(one, wanted) and order(one, wanted) for one in values(field))
    if name in ("contains", "icontains"):
        fold = name == "icontains"
        return lambda values: any(_has(one, wanted, fold=fold) for one in values(field))
    known = wanted if isinstance(wanted, list) and name == "in" else [wanted]
    if "*" in known:
        return lambda values: any(one is not None for one in values(field))
    return lambda values: any(one in known for one in values(field))


def _alike(one: object, other: object) -> bool:
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (one, other))
    return numbers or (isinstance(one, str) and isinstance(other, str))


def _has(one: object, wanted: object, *, fold: bool) -> bool:
    if isinstance(one, list):
        return any(item == wanted or (fold and str(item).casefold() == str(wanted).casefold()) for item in one)
    whole, part = str(one), str(wanted)
    return part.casefold() in whole.casefold() if fold else part in whole


def _timed(field: str, name: str, wanted: object) -> Test:
    """Return a test of a time; a bare day means all of it."""
    if name not in ("eq", "ne", *ORDERS):
        raise InputError(f"filters: {field}: expected eq, ne, gt, gte, lt or lte; got {name!r}.")
    start = moment(wanted, what=f"filters: {field}")
    end = _day_after(start) if isinstance(wanted, str) and len(wanted.strip()) == 10 else start
    tests: Mapping[str, Callable[[datetime], bool]] = {
        "gte": lambda at: at >= start,
        "lt": lambda at: at < start,
        "gt": lambda at: at > start if end == start else at >= end,
        "lte": lambda at: at <= start if end == start else at < end,
        "eq": lambda at: at == start if end == start else start <= at < end,
        "ne": lambda at: at != start if end == start else not start <= at < end,
    }
    return lambda values: any(tests[name](at) for at in values(field))


def _day_after(day: datetime) -> datetime:
    """Return the beginning of the day after; after the last one there is no end."""
    try:
        return day + timedelta(days=1)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def moment(given: object, *, what: str) -> datetime:
    """Return a time in UTC: seconds since 1970, or ISO 8601.

    Raises:
        InputError: it is neither.
    """
    try:
        if isinstance(given, int | float) and not isinstance(given, bool):
            return datetime.fromtimestamp(given, UTC)
        if isinstance(given, str):
            text = given.strip()
            if text.lstrip("-").isdecimal() and len(text) != 8:
                return datetime.fromtimestamp(int(text), UTC)
            found = datetime.fromisoformat(text)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise InputError(f"{what}: expected seconds since 1970 or a time such as 2024-05-01T14:30, got {given!r}.")
