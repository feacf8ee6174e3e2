"""What was paid for once -> never paid for again: an append-only file of results by the hash of what they depend on."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from doxa.core.errors import StoreReadOnlyError

__all__ = ["Journal", "key_of"]


def key_of(*parts: Any) -> str:
    """Return the hash of some plain data; anything that a result depends on belongs into it."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, default=str)
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


class Journal:
    """Results by key, kept in a file as JSON Lines while they come; safe between threads, and after being killed.

    A last line that was cut off when a run was killed is left out, and its result made again. Without a path nothing is
    kept beyond the process.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._known, self._guard = path, dict[str, Any](), threading.Lock()
        self.resumed = 0
        """Results that were there when it was opened."""
        if path is not None:
            self._known = _read(path)
            self.resumed = len(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def get(self, key: str) -> Any:
        """Return what is known under a key; None for nothing."""
        return self._known.get(key)

    def put(self, found: Mapping[str, Any]) -> None:
        """Keep some results, which are plain data.

        Raises:
            StoreReadOnlyError: the file cannot be written.
        """
        lines = "".join(json.dumps([key, value], ensure_ascii=False) + "\n" for key, value in found.items())
        with self._guard:
            self._known.update(found)
            if self._path is None or not lines:
                return
            try:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(lines)
            except OSError as exc:
                raise StoreReadOnlyError(f"expected a file to keep results in, got {self._path}: {exc}.") from exc


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")  # cut off when a run was killed
    known = {}
    for line in text.split("\n"):
        try:
            key, value = json.loads(line)
        except ValueError:
            continue
        known[key] = value
    return known
