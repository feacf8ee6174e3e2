"""What is asked, as mem0's classes take it -> what the engine takes; and their errors where it is neither."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any

from doxa.core.errors import InputError
from doxa.engine import Filter, read_filter

__all__ = [
    "ENTITIES",
    "IDENTITIES",
    "ValidationError",
    "check_search",
    "heard",
    "ignored",
    "PROCEDURAL",
    "check_add",
    "is_own",
    "owner",
    "procedure",
    "read_day",
    "read_filters",
    "read_ids",
    "read_limit",
    "read_messages",
    "read_query",
    "refusals",
]

logger = logging.getLogger("doxa.mem0")
ENTITIES = ("user_id", "agent_id", "run_id")
IDENTITIES = (*ENTITIES, "actor_id")
PROCEDURAL = "procedural_memory"
OPERATORS = "eq ne gt gte lt lte in nin contains icontains".split()


class ValidationError(ValueError):
    """mem0's error of this name, for programs that do not import mem0.

    Args:
        message: what is wrong.
        error_code: its number.
        details: what was given.
        suggestion: what to do.
    """

    def __init__(self, message: str, error_code: str, details: Mapping[str, Any], suggestion: str) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = error_code
        self.details = dict(details)
        self.suggestion = suggestion
        self.debug_info: dict[str, Any] = {}


def _invalid(number: int, message: str, **details: Any) -> Exception:
    """Return mem0's own error where the program has imported mem0, else ours: who does not, cannot catch theirs."""
    known = sys.modules.get("mem0.exceptions")
    kind: Callable[..., Exception] = ValidationError if known is None else known.ValidationError
    return kind(
        message=message,
        error_code=f"VALIDATION_{number:03}",
        details=details,
        suggestion="See the arguments of Memory.add.",
    )


@contextmanager
def refusals() -> Iterator[None]:
    """Raise as ValueError what cannot be used, as mem0 does."""
    try:
        yield
    except InputError as exc:
        raise ValueError(str(exc)) from exc


def ignored(where: str, names: Sequence[str]) -> None:
    """Warn that some arguments of a method do nothing."""
    told = f"{where}: {', '.join(names)}: this does nothing here. Doxa is set up in doxa.toml or the environment."
    warnings.warn(told, UserWarning, stacklevel=3)


def read_ids(**given: Any) -> dict[str, str]:
    """Return the ids that are given, as texts without space around them.

    Raises:
        ValueError: one is empty, or has space in it.
    """
    found = {}
    for name, value in given.items():
        if value is None:
            continue
        text = str(value).strip()
        if not text:
            raise ValueError(f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.")
        if any(one.isspace() for one in text):
            raise ValueError(f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces.")
        found[name] = text
    return found


def owner(whose: Mapping[str, str]) -> str:
    """Return the engine's name of who has a memory."""
    if "user_id" in whose:
        return whose["user_id"]
    return f"agent {whose['agent_id']}" if "agent_id" in whose else f"run {whose['run_id']}"


def is_own(name: str, where: str) -> bool:
    """Tell whether metadata may have a name; it does not say whose a memory is."""
    if name in IDENTITIES:
        logger.warning("%s(): ignoring metadata[%r]: whose a memory is, user_id, agent_id and run_id say", where, name)
    return name not in IDENTITIES


def read_day(value: Any) -> str | None:
    """Return a day as mem0 writes it; raises ValueError for anything else."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str):
        raise ValueError("expiration_date must be a date string in YYYY-MM-DD format.")
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as exc:
        raise ValueError("expiration_date must be a valid date in YYYY-MM-DD format.") from exc


def read_messages(given: Any) -> list[Mapping[str, Any]]:
    """Return messages as a list; raises mem0's ValidationError for anything else."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if isinstance(given, Mapping):
        return [given]
    if not isinstance(given, list):
        raise _invalid(3, "messages must be str, dict, or list[dict]", provided_type=type(given).__name__)
    return given


def heard(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the words of a message, with its role and name; None for one without, or of no use to mem0."""
    if message.get("role") is None or message.get("content") is None:
        logger.warning("Skipping invalid message format: %s", message)
        return None
    content = message["content"]
    if isinstance(content, list):
        content = " ".join(one["text"] for one in content if isinstance(one, Mapping) and one.get("type") == "text")
    if message["role"] == "system" or not isinstance(content, str) or not content.strip():
        return None
    heard = {"role": message["role"], "content": content}
    return {**heard, "name": message["name"]} if message.get("name") else heard


def procedure(said: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return messages as one."""
    words = [f"{one['role']}: {one['content']}" for message in said if (one := heard(message))]
    return [{"role": "assistant", "content": "\n".join(words)}]


def read_limit(where: str, kwargs: dict[str, Any], top_k: Any) -> Any:
    """Return how many are asked for at most; raises ValueError for ids that belong into the filters."""
    if refused := frozenset(ENTITIES) & set(kwargs):
        raise ValueError(
            f"Top-level entity parameters {refused} are not supported in {where}(). "
            "Use filters={'user_id': '...'} instead."
        )
    top_k = kwargs.pop("limit", top_k)
    if kwargs:
        ignored(where, sorted(kwargs))
    return top_k


def check_add(whose: Mapping[str, str], memory_type: str | None) -> None:
    """Raise mem0's ValidationError where an addition is of nobody, or of a type that there is not."""
    if not whose:
        told = "At least one of 'user_id', 'agent_id', or 'run_id' must be provided."
        raise _invalid(1, told, provided_ids=dict.fromkeys(ENTITIES))
    if memory_type not in (None, PROCEDURAL):
        told = f"Invalid 'memory_type'. Please pass {PROCEDURAL} to create procedural memories."
        raise _invalid(2, told, provided_type=memory_type, valid_type=PROCEDURAL)


def check_search(*, threshold: Any = None, top_k: Any = None) -> None:
    """Raise ValueError unless the least score is in 0 to 1 and the number of results is 0 or more."""
    if threshold is not None and not isinstance(threshold, int | float):
        raise ValueError("threshold must be a valid number")
    if threshold is not None and not 0 <= threshold <= 1:
        raise ValueError(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
    if not isinstance(top_k, int) or isinstance(top_k, bool):
        raise ValueError("top_k must be a valid integer")
    if top_k < 0:
        raise ValueError(f"Invalid top_k: {top_k}. Must be a non-negative integer.")


def read_query(given: Any) -> str:
    """Return a query without space around it; raises ValueError for one without words."""
    if not isinstance(given, str):
        raise ValueError("Invalid query: must be a non-empty string.")
    if not given.strip():
        raise ValueError("Invalid query: cannot be empty or whitespace-only.")
    return given.strip()


def read_filters(given: Mapping[str, Any] | None) -> Filter:
    """Return a filter that names somebody.

    Raises:
        ValueError: it names nobody, or has another form.
    """
    whole = dict(given or {})
    named = {name: whole.pop(name) for name in ENTITIES if name in whole}
    ids = read_ids(**named)
    if not named:
        raise ValueError(
            "filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}"
        )
    return read_filter({"AND": [dict.fromkeys(named) | ids, *_conditions(whole)]})


def _conditions(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return conditions of mem0's classes as its hosted service writes them: metadata has a place of its own there."""
    found: list[dict[str, Any]] = []
    for name, value in given.items():
        if name in ("AND", "OR", "NOT"):
            if not isinstance(value, list) or (not value and name != "AND"):
                length = "" if name == "AND" else "non-empty "
                raise ValueError(f"{name} operator requires a {length}list of conditions")
            found.append({name: [{"AND": _conditions(_condition(name, one))} for one in value]})
            continue
        for operator in value if isinstance(value, Mapping) else ():
            if operator not in OPERATORS:
                raise ValueError(f"Unsupported metadata filter operator: {operator}")
        if name in (*ENTITIES, "created_at", "updated_at"):
            found.append({name: value})
        elif name == "data":
            found.append({"memory": value if isinstance(value, Mapping) else {"eq": value}})
        else:
            found.append({"metadata": {name: value}})
    return found


def _condition(name: str, given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} operator: expected a list of dicts, got {given!r} in it.")
    return given
