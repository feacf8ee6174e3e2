"""pages: visit -> page.

A module for each page; its `PATHS` are what stands behind `/inspect/`, each with what answers it, and its `POSTS` what
forms are sent to.
"""

from collections.abc import Callable, Mapping
from typing import Any

from doxa.transport.inspector import acts
from doxa.transport.inspector.pages import door, forgetting, health, now

__all__ = ["PATHS", "POSTS"]

PATHS: Mapping[str, Callable[..., Any]] = {
    **door.PATHS,
    **now.PATHS,
    **health.PATHS,
    **forgetting.PATHS,
    "suppose": acts.suppose,
}
POSTS: Mapping[str, Callable[..., Any]] = {**acts.PATHS, **forgetting.POSTS}
