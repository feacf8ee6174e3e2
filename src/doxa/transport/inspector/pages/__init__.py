"""pages: visit -> page.

A module for each page; its `PATHS` are what stands behind `/inspect/`, each with what answers it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from doxa.transport.inspector.acts import suppose
from doxa.transport.inspector.pages import door, graph, now, queries, why

__all__ = ["PATHS"]

PATHS: Mapping[str, Callable[..., Any]] = {
    **door.PATHS,
    **now.PATHS,
    **graph.PATHS,
    **queries.PATHS,
    **why.PATHS,
    "suppose": suppose,
}
