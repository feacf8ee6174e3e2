"""The states of a search as a trace has them -> the way through them that was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["chosen_way"]


def chosen_way(data: Mapping[str, Any]) -> set[int]:
    """Return the numbers of the states from the root to the best one."""
    parents = {state["id"]: state.get("parent") for state in data["states"]}
    way, place = set[int](), data["best"]
    while place is not None and place not in way:
        way.add(place)
        place = parents.get(place)
    return way
