"""Where marks and the heads that were fitted to them are kept: two files a user, beside the database."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from doxa.core.errors import ConfigError, DoxaError, StoreReadOnlyError
from doxa.core.sealing import Seal
from doxa.engine.wiring.learned import file_of, stamp_of

if TYPE_CHECKING:
    from doxa.understand import Head

__all__ = ["TAUGHT", "Heads"]

logger = logging.getLogger("doxa")

KEPT = 256
"""Users whose heads are kept loaded; about 0.1 MB each, and as much again for each relation that was taught."""
TAUGHT = ".taught"
"""The ending of the folder beside a database file."""


@dataclass(slots=True)
class Heads:
    """The head of every user of one tenant, if there is one. Safe between threads.

    A file that another process writes is seen at the next turn.
    """

    folder: Path | None
    """None where the database is no file here: there are heads then only where `shared` says."""
    tenant: str
    shared: Path | None = None
    """One head for all users, with its marks beside it (setting `parser.head`)."""
    seal: Seal | None = None
    """What encrypts the files."""
    _known: OrderedDict[str, tuple[int, Head | None]] = field(default_factory=OrderedDict)
    """Of each user, when the file was written, in nanoseconds, and what was in it."""
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def of_tenant(self, name: str) -> Heads:
        """Return the heads of the users of another tenant, in the same folder."""
        return Heads(folder=self.folder, tenant=name, shared=self.shared, seal=self.seal)

    def path(self, user: str) -> Path | None:
        """Return the file of a user's head, whether it is there or not."""
        if self.shared is not None or self.folder is None:
            return self.shared
        return file_of(self.folder, self.tenant, user)

    def marks(self, user: str) -> Path:
        """Return the file of a user's marks, whether it is there or not.

        Raises:
            ConfigError: there is no place for it.
        """
        return self._required(user).with_suffix(".jsonl")

    def of(self, user: str) -> Head | None:
        """Return the head in use for a user; None where nothing was taught. Cost: one look at the file's date."""
        path = self.path(user)
        stamp = stamp_of(path)
        with self._guard:
            known = self._known.get(user)
            if known is None or known[0] != stamp:
                known = self._known[user] = (stamp, _read(path, self.seal) if path and stamp else None)
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
            self._known.move_to_end(user)
            return known[1]

    def put(self, user: str, head: Head) -> Path:
        """Put a head in use for a user, for good, and return its file.

        Raises:
            ConfigError: there is no place for it.
            StoreReadOnlyError: the file cannot be written; the head in use stays.
        """
        from doxa.understand import save_head

        path = self._required(user)
        save_head(head, path, seal=self.seal)
        return path

    def drop(self, user: str) -> None:
        """Remove the head in use for a user; turns are read without one from now on.

        Raises:
            StoreReadOnlyError: its file cannot be removed.
        """
        if (path := self.path(user)) is not None:
            _remove(path)

    def forget(self, user: str, *, ids: Set[str], texts: Set[str], everything: bool = False) -> None:
        """Remove the marks that repeat erased turns, and a head that may have been fitted to one of them.

        Args:
            user: whose turns they are.
            ids: of the turns.
            texts: what they said.
            everything: nothing of the user stays; of a head that is shared, nothing that rests on these turns.

        Raises:
            StoreReadOnlyError: a file cannot be written.
        """
        from doxa.understand import drop_marks

        if (path := self.path(user)) is None or not (ids or everything):
            return
        marks, head = path.with_suffix(".jsonl"), self.of(user)
        _remove_unfinished(marks, path)
        if everything and self.shared is None:
            _remove(marks)
            _remove(path)
        elif drop_marks(marks, ids=ids, texts=texts, seal=self.seal) or head is None or not head.own:
            _remove(path)  # what cannot be read, or was fitted to another file, may rest on anything
        if everything:
            with self._guard:
                self._known.pop(user, None)

    def _required(self, user: str) -> Path:
        if (path := self.path(user)) is None:
            raise ConfigError(
                "The database is no file here, so there is no place beside it for marks. Say where: "
                "parser.head (DOXA_PARSER_HEAD=FILE.npz)."
            )
        return path


def _read(path: Path, seal: Seal | None) -> Head | None:
    from doxa.understand import load_head

    try:
        return load_head(path, seal=seal)
    except DoxaError as exc:
        logger.warning("turns are read without what was taught: %s", exc)
        return None


def _remove_unfinished(*paths: Path) -> None:
    from doxa.memory import drop_unfinished

    for path in paths:
        try:
            drop_unfinished(path)
        except OSError as exc:
            raise StoreReadOnlyError(
                f"What was left of writing {path} cannot be removed: {exc.strerror}. Remove it, and try again."
            ) from exc


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as exc:
        raise StoreReadOnlyError(f"{path} cannot be removed: {exc.strerror}. Remove it, and try again.") from exc
