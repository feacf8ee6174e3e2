"""Whole memories in files of the system's temporary folder, on their way in or out; erasing takes them with it.

Each is gone as soon as it was sent or read. A process that is killed meanwhile leaves its own: so the name of a folder
tells whose it is, to those who know the memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Literal

from doxa.core.access import pseudonym
from doxa.core.storage import MEMORY
from doxa.engine.wiring.parts import Parts

__all__ = ["drop_spools", "spool_folder"]


def spool_folder(parts: Parts, user: str, kind: Literal["export", "import"]) -> Path:
    """Return a new folder that its owner alone may read, for a memory on its way; whoever made it removes it."""
    return Path(tempfile.mkdtemp(prefix=f"doxa-{kind}-{_mark(parts, user)}-"))


def drop_spools(parts: Parts, user: str) -> None:
    """Remove what is on its way, or was left there, of a memory of which something is erased.

    Cost: reading the temporary folder. What is sent at the moment is sent to its end, where open files can be removed.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"doxa-*-{_mark(parts, user)}-*"):
        shutil.rmtree(folder, ignore_errors=True)


def _mark(parts: Parts, user: str) -> str:
    """Return what tells the memory of a user from that of others of this name, in other databases."""
    beside = parts.learned.folder
    place = str(beside.resolve()) if beside is not None else str(parts.log.store.describe()["location"])
    process = f"{os.getpid()} " if place.endswith(MEMORY) else ""
    return pseudonym(f"{process}{place} {parts.log.scope(user)}")
