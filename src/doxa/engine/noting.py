"""What is noted of a turn beside what a client noted: in its metadata, under a name of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doxa.core.errors import InputError
from doxa.core.values import Turn

__all__ = ["OURS", "noted", "notes"]

OURS = "_mem0"
"""What the metadata of a turn holds beside that of the client: agent, app, run, the request that brought it, ..."""


def notes(turn: Turn) -> Mapping[str, Any]:
    """Return what was noted about a turn when a client of mem0 brought it, or an archive."""
    found = turn.metadata.get(OURS, {})
    return found if isinstance(found, Mapping) else {}


def noted(metadata: Mapping[str, Any] | None, **notes: object) -> dict[str, Any]:
    """Return the metadata of a turn: the client's, and what is noted beside it.

    Raises:
        InputError: the client's has our name in it.
    """
    if metadata and OURS in metadata:
        raise InputError(f"metadata: {OURS!r} is taken; give it another name.")
    return {**(metadata or {}), OURS: {name: value for name, value in notes.items() if value is not None}}
