"""Ours with one part switched off or set otherwise: by its settings, never by a copy of the code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

from doxa.engine import Doxa

__all__ = ["Variant", "variants"]

WITHOUT: Mapping[str, Mapping[str, Any]] = {}
"""Name -> fields of the recall recipe and their values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A way to search that differs from the usual one in some fields of the recipe."""

    name: str
    changes: Mapping[str, Any]

    @contextmanager
    def on(self, doxa: Doxa) -> Iterator[None]:
        """Search this way within the block. Not for an engine that others use at the same time."""
        usual = doxa.parts.recall
        doxa.parts.recall = replace(usual, **self.changes)
        try:
            yield
        finally:
            doxa.parts.recall = usual


def variants(doxa: Doxa) -> tuple[Variant, ...]:
    """Return the ablations whose switches the recipe of this engine has."""
    known = {one.name for one in fields(doxa.parts.recall)}
    return tuple(Variant(name=name, changes=changes) for name, changes in WITHOUT.items() if set(changes) <= known)
