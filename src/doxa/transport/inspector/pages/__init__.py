"""pages: visit -> page.

A module for each page; its `PATHS` are what stands behind `/inspect/`, each with what answers it, and its
`POSTS` the forms of its own.
"""

from collections.abc import Callable, Mapping
from typing import Any

from doxa.transport.inspector.acts import suppose
from doxa.transport.inspector.pages import door, now, tasks

__all__ = ["PATHS", "POSTS"]

PATHS: Mapping[str, Callable[..., Any]] = {**door.PATHS, **now.PATHS, **tasks.PATHS, "suppose": suppose}
POSTS: Mapping[str, Callable[..., Any]] = {**tasks.POSTS}
