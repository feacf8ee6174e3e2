"""A configuration of mem0 -> the database and the tenant that it names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from doxa.core.private import private_folder
from doxa.integrations.mem0.asking import ignored

__all__ = ["placed"]

COLLECTION = "mem0"
"""mem0's own name of a collection; it is the tenant of the settings."""


def placed(config: Any) -> tuple[str | None, str | None]:
    """Return the database and the tenant that a configuration of mem0 names, and warn of what does nothing here."""
    tree = _table(config, "config")
    store = _table(tree.get("vector_store"), "vector_store")
    inner = _table(store.get("config"), "vector_store: config")
    path, collection = inner.get("path"), inner.get("collection_name") or COLLECTION
    if path == f"/tmp/{store.get('provider')}" and not isinstance(store["config"], Mapping):  # noqa: S108  it is told apart and not used
        path = None  # mem0 put it in where no path was given
    rest = [name for name, one in tree.items() if name not in ("vector_store", "version") and one]
    if store and not path:
        rest.append("vector_store (it has no path)")
    if rest:
        ignored("config", rest)
    return None if path is None else _file(str(path)), None if collection == COLLECTION else str(collection)


def _table(given: Any, what: str) -> Mapping[str, Any]:
    """Return a part of a configuration, a dict or an object of mem0's, as a dict."""
    if (names := getattr(given, "model_fields_set", None)) is not None:
        given = {name: getattr(given, name) for name in names}
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(f"{what}: expected a dict as mem0 takes it, got {given!r}.")
    return given or {}


def _file(path: str) -> str:
    """Return the database at a path of a vector store: a file itself, or one in a folder, which is made."""
    if path == ":memory:" or "://" in path or Path(path).suffix in (".db", ".sqlite", ".sqlite3"):
        return path
    private_folder(Path(path))
    return str(Path(path) / "doxa.db")
