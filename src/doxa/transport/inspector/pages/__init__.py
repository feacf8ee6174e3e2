"""pages: visit -> page.

A module for each page; its `PATHS` are what stands behind `/inspect/`, each with what answers it, and its `POSTS` what
forms of its own are sent to.
"""

from collections.abc import Callable, Mapping
from typing import Any

from doxa.transport.inspector import acts
from doxa.transport.inspector.pages import (
    chat,
    conflicts,
    door,
    forgetting,
    graph,
    health,
    live,
    now,
    queries,
    recall,
    tasks,
    timeline,
    why,
)

__all__ = ["PATHS", "POSTS"]

Paths = Mapping[str, Callable[..., Any]]
PAGES: tuple[Paths, ...] = (
    chat.PATHS,
    conflicts.PATHS,
    door.PATHS,
    forgetting.PATHS,
    graph.PATHS,
    health.PATHS,
    live.PATHS,
    now.PATHS,
    queries.PATHS,
    recall.PATHS,
    tasks.PATHS,
    timeline.PATHS,
    why.PATHS,
)
FORMS: tuple[Paths, ...] = (
    acts.POSTS,
    chat.POSTS,
    forgetting.POSTS,
    tasks.POSTS,
)
PATHS: Paths = {path: shown for page in PAGES for path, shown in page.items()} | {"suppose": acts.suppose}
POSTS: Paths = {path: done for form in FORMS for path, done in form.items()}
