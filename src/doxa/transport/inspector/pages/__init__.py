"""pages: visit -> page.

A module for each page; its `PATHS` are what stands behind `/inspect/`, each with what answers it, and its `POSTS` what
is sent there.
"""

from collections.abc import Callable, Mapping
from typing import Any

from doxa.transport.inspector.acts import suppose
from doxa.transport.inspector.pages import chat, door, live, now

__all__ = ["PATHS", "POSTS"]

PATHS: Mapping[str, Callable[..., Any]] = {
    **door.PATHS,
    **now.PATHS,
    **chat.PATHS,
    **live.PATHS,
    "suppose": suppose,
}
POSTS: Mapping[str, Callable[..., Any]] = {**chat.POSTS}
