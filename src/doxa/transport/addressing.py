"""Which node of the tasks a person or a client means: by its id, or by its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doxa.core.errors import NotFoundError

if TYPE_CHECKING:
    from doxa.engine import Editor

__all__ = ["node_called"]


def node_called(editor: Editor, name: str) -> str:
    """Return the id of the node of an id, or in sight at a path ("team dinner/time").

    Raises:
        NotFoundError: there is no such node.

    Cost: O(nodes) for a path.
    """
    if editor.get(name) is not None:
        return name
    paths = {path: key for key, path in editor.paths(_in_sight(editor)).items()}
    if name not in paths:
        known = ", ".join(map(repr, list(paths)[:8])) or "none"
        raise NotFoundError(f"There is no task {name[:200]!r}. Give an id, or a path; paths: {known}.")
    return paths[name]


def _in_sight(editor: Editor) -> list[str]:
    found, waiting = dict[str, None](), editor.roots()[::-1]
    while waiting:
        key = waiting.pop()
        if key not in found:
            found[key] = None
            waiting += editor.children(key)[::-1]
    return list(found)
