"""Whether the rows of a log hold what their types say: of rows that came out of a file, which anybody may have written.

Those of a store are Doxa's own, and are not held against anything each time that they are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, TypedDict, cast, get_type_hints

import msgspec

from doxa.backends.store import Row
from doxa.memory.events import TaskEvent, event_of
from doxa.memory.state import UserState

__all__ = ["require_types"]

PLAIN = (str, bool, int)


class Set(TypedDict, total=False):
    """What an edit of a node sets, as far as it is read as data."""

    name: str
    value: dict[str, Any] | None
    aliases: list[str]
    depends: list[dict[str, Any]]


class Edit(TypedDict, total=False):
    """An edit of a node."""

    id: str
    set: Set


class Tasks(TypedDict, total=False):
    """What an event does to the tasks; of a node that there is not any more it is kept and never folded."""

    edits: list[Edit]


class Extracted(TypedDict, total=False):
    """What a model read of a turn."""

    facts: list[dict[str, Any]]
    rules: list[dict[str, Any]]
    saw: list[str]
    graphs: list[str]
    dropped: list[str]
    by: str
    failed: str


class Acts(TypedDict, total=False):
    """What a model read that a turn tells the tasks."""

    acts: list[dict[str, Any]]
    asked: list[tuple[str, str]]
    by: str
    cost: tuple[int, int, int]
    failed: str


SHAPES = {"tasks": Tasks, "extraction": Extracted, "task_reading": Acts}
"""Fields that are kept as data, and read when a turn is read anew."""


def require_types(row: Row, state: UserState) -> None:
    """Raise unless a row holds what its types say. Cost O(its body).

    Args:
        row: the row.
        state: what it was just folded into.

    Raises:
        ValueError: something in it is of another type, or cannot be written in UTF-8 or as JSON.
    """
    try:
        msgspec.json.encode(row.body).decode()
        if row.kind == "turn":
            _require(state.turns[row.ordinal])
            return
        event = event_of(row, state.turns.get(row.about or 0))
        for name, hint in _hints(type(event)).items():
            held = getattr(event, name)
            if hint in PLAIN:
                msgspec.convert(held, hint)
            if name in SHAPES and isinstance(held, Mapping):
                msgspec.convert(held, SHAPES[name])
            for one in cast("tuple[object, ...]", held) if isinstance(held, list | tuple) else (held,):
                _require(one)
        if isinstance(event, TaskEvent) and event.tasks:
            _require(state.tasks.commits[-1])
    except (msgspec.MsgspecError, UnicodeError) as exc:
        raise ValueError(str(exc)) from exc


def _require(value: Any) -> None:
    if is_dataclass(value):
        msgspec.convert(msgspec.to_builtins(value), type(value))
        for one in (value, getattr(value, "fact", None)):
            if not 0 <= (sure := getattr(one, "confidence", 1.0)) <= 1:
                raise ValueError(f"expected a confidence of 0 to 1, got {sure}")


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return {name: hint for name, hint in get_type_hints(kind).items() if name not in ("kind", "kept")}
