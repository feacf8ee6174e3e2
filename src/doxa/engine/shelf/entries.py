"""A memory as mem0 has it, and what is noted of it with its turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from doxa.core.values import Fact, Turn
from doxa.engine.noting import OURS, notes
from doxa.engine.shelf.filters import ENTITIES
from doxa.engine.shelf.handles import Handle

__all__ = ["Entry", "entity", "values_of"]

DEFAULT_SESSION = "default"


def entity(turn: Turn, name: str) -> str | None:
    """Return the agent, app or run of a turn; a session of another interface is a run."""
    run = turn.session if name == "run_id" and turn.session != DEFAULT_SESSION else None
    value = notes(turn).get(name, run)
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A memory."""

    handle: Handle
    text: str
    turns: tuple[Turn, ...]
    """What it rests on, oldest first; nothing for what only follows from other facts."""
    created_at: datetime | None
    updated_at: datetime | None
    fact: Fact | None = None

    @property
    def place(self) -> str:
        """Under which name its last turn holds what was noted of this memory alone."""
        return "" if self.fact is None else self.fact.fact_id

    @property
    def _own(self) -> Mapping[str, Any]:
        """What `update` noted of this memory alone: `metadata`, `expiration_date`."""
        found = [notes(turn).get("memories", {}).get(self.place) for turn in self.turns]
        return next((one for one in reversed(found) if one is not None), {})

    @property
    def metadata(self) -> dict[str, Any]:
        """What clients gave with it, or else with its turns; of two values the later."""
        if (own := self._own.get("metadata")) is not None:
            return dict(own)
        given = {name: value for turn in self.turns for name, value in turn.metadata.items()}
        return {name: value for name, value in given.items() if name != OURS}

    @property
    def expires(self) -> str | None:
        """The last day on which it is given, if there is one: the latest of those of its turns."""
        if "expiration_date" in self._own:
            return self._own["expiration_date"]  # type: ignore[no-any-return]
        ends = [notes(turn).get("expiration_date") for turn in self.turns]
        return max(map(str, ends)) if ends and all(ends) else None

    def values(self, field: str) -> tuple[Any, ...]:
        """Return what it has under a field of a filter."""
        match field:
            case "user_id":
                return (self.handle.user,)
            case "memory_ids":
                return (str(self.handle),)
            case "keywords" | "memory":
                return (self.text,)
            case "created_at" | "updated_at":
                at: datetime | None = getattr(self, field)
                return () if at is None else (at,)
        if field not in ENTITIES:
            value = self.metadata.get(field.removeprefix("metadata."))
            return () if value is None else (value,)
        return tuple(value for turn in self.turns for value in values_of(turn, field))

    def data(self, **more: Any) -> dict[str, Any]:
        """Return it as mem0 writes it."""
        own = {name: next(iter(self.values(name)), None) for name in ENTITIES}
        return {
            "id": str(self.handle),
            "memory": self.text,
            **own,
            "metadata": self.metadata,
            "categories": [],
            "created_at": self.created_at and self.created_at.isoformat(),
            "updated_at": self.updated_at and self.updated_at.isoformat(),
            "expiration_date": self.expires,
            **more,
        }


def values_of(turn: Turn, field: str) -> tuple[Any, ...]:
    """Return what a turn has under a field of a filter."""
    if field in ENTITIES:
        found = turn.user if field == "user_id" else entity(turn, field)
    elif field in ("created_at", "updated_at"):
        return (turn.at,)
    else:
        found = turn.metadata.get(field.removeprefix("metadata."))
    return () if found is None else (found,)
