"""A memory -> what mem0's classes write of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from hashlib import md5
from typing import Any

from doxa.engine import Entry, Filter, notes
from doxa.integrations.mem0.asking import IDENTITIES

__all__ = ["details", "fitting", "item"]

PROMOTED = (*IDENTITIES, "role", "attributed_to", "expiration_date")
"""What mem0 gives beside the metadata of a memory, where it has it."""


def fitting(asked: Filter, *, show_expired: bool) -> Callable[[Entry], bool]:
    """Return a test of memories."""
    today = datetime.now(UTC).date().isoformat()

    def fits(entry: Entry) -> bool:
        current = show_expired or entry.expires is None or entry.expires >= today
        return current and asked.fits(partial(_values, entry))

    return fits


def _values(entry: Entry, field: str) -> tuple[Any, ...]:
    """Return what a memory has under a field of a filter."""
    name = field.removeprefix("metadata.")
    if field == "user_id" or (field != name and name in (*PROMOTED, "hash")):
        value = item(entry).get(name)
        return () if value is None else (value,)
    return entry.values(field)


def item(entry: Entry, **score: float | None) -> dict[str, Any]:
    """Return a memory as mem0 writes it."""
    last = entry.turns[-1] if entry.turns else None
    raw = last is not None and last.verbatim
    user = None if " " in entry.handle.user else entry.handle.user
    promoted = {
        "user_id": user,
        **{name: next(iter(entry.values(name)), None) for name in ("agent_id", "run_id")},
        "actor_id": None if last is None else notes(last).get("actor_id"),
        "role": last.role if last is not None and raw else None,
        "attributed_to": last.role if last is not None and not raw else None,
        "expiration_date": entry.expires,
    }
    shown = {
        "id": str(entry.handle),
        "memory": entry.text,
        "hash": md5(entry.text.encode(), usedforsecurity=False).hexdigest(),
        "metadata": entry.metadata or None,
        **score,
        "created_at": entry.created_at and entry.created_at.isoformat(),
        "updated_at": entry.updated_at and entry.updated_at.isoformat(),
    }
    return shown | {name: promoted[name] for name in PROMOTED if promoted[name] is not None}


def details(views: Mapping[str, float], raw: float, score: float, threshold: float | None) -> dict[str, float]:
    """Return what a score is made of, under mem0's names."""
    return {
        "semantic_score": views.get("dense", 0.0),
        "bm25_score": views.get("lexical", 0.0),
        "entity_boost": views.get("graph", 0.0),
        "raw_score": raw,
        "max_possible_score": 1.0,
        "final_score": score,
        "threshold": threshold or 0.0,
    }
