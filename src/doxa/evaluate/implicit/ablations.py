"""Ours with one part switched off or set otherwise: by its settings, never by a copy of the code.

A field of the recall recipe (`RecallSpec`) holds for one search, so the same memory is asked again. A setting of the
engine (`recall.promote`, `recall.tau`) says what becomes of turns as they come in, so it takes a memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any

from doxa.core.config import Config
from doxa.engine import Doxa

__all__ = ["VARIANTS", "Variant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A way to remember or to search that differs from the usual one in one part."""

    name: str
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `RecallSpec`, and their values."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the group `recall`, and their values."""

    def config(self, usual: Config) -> Config | None:
        """Return the settings of a memory of its own; None where the usual memory will do."""
        if not self.settings:
            return None
        return usual.model_copy(update={"recall": usual.recall.model_copy(update=dict(self.settings))})

    def fits(self, doxa: Doxa) -> bool:
        """Tell whether this version has the fields."""
        return set(self.recipe) <= {one.name for one in fields(doxa.parts.recall)}

    @contextmanager
    def on(self, doxa: Doxa) -> Iterator[None]:
        """Search this way within the block. Not for an engine that others use at the same time."""
        usual = doxa.parts.recall
        doxa.parts.recall = replace(usual, **self.recipe)
        try:
            yield
        finally:
            doxa.parts.recall = usual


VARIANTS = (
    Variant(name="- promotion", settings={"promote": False}),
    Variant(name="- consistency", recipe={"consistent": False}),
    Variant(name="- router", recipe={"route": False}),
    Variant(name="- expansion", recipe={"expand": False}),
    *(Variant(name=f"tau {tau:.1f}", settings={"tau": tau}) for tau in (0.5, 0.6, 0.8, 0.9)),
)
"""Table 8, and the grid of figure 4; the usual gate is 0.7."""
