"""Where a base of knowledge is -> the base, opened."""

from __future__ import annotations

from pathlib import Path

from doxa.commonsense.base.base import KnowledgeBase
from doxa.commonsense.base.protocol import Base
from doxa.commonsense.base.remote import RemoteBase, is_remote

__all__ = ["open_base"]


def open_base(place: str | Path) -> Base:
    """Return the base in a folder, or in a database (`postgresql://...`); whoever opens it closes it.

    Raises:
        InputError: there is none, or it is broken.
        ConfigError: the address cannot be used.
        StoreError: the database cannot be reached.
    """
    return RemoteBase(str(place)) if is_remote(place) else KnowledgeBase(Path(place))
