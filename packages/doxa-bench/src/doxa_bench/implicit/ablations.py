"""Ours with one part switched off or set otherwise: by fields of the recall recipe, never by a copy of the code.

All variants search the same memory, so they differ in nothing else. The gate of promotion is swept on a memory that
promotes more than usual (`LOWEST_TAU`), of which every search takes what its own gate lets through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from typing import Any

from doxa.core.config import Config
from doxa.engine import Doxa

__all__ = ["PARTS", "VARIANTS", "Variant", "lenient", "usual_gate"]

LOWEST_TAU = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A way to search that differs from the usual one in some fields of `RecallSpec`."""

    name: str
    recipe: Mapping[str, Any]

    def fits(self, doxa: Doxa) -> bool:
        """Tell whether this version has the fields, and the weights if it names some."""
        weights = self.recipe.get("variant")
        there = weights is None or (files("doxa.recall") / f"weights_{weights}.npz").is_file()
        return there and set(self.recipe) <= {one.name for one in fields(doxa.parts.recall)}

    @contextmanager
    def on(self, doxa: Doxa) -> Iterator[None]:
        """Search this way within the block. Not for an engine that others use at the same time."""
        usual = doxa.parts.recall
        doxa.parts.recall = replace(usual, **self.recipe)
        try:
            yield
        finally:
            doxa.parts.recall = usual


def lenient(config: Config) -> Config:
    """Return settings under which more is promoted, so that stricter gates can be compared at search time."""
    return config.model_copy(update={"recall": config.recall.model_copy(update={"tau": LOWEST_TAU})})


def usual_gate(doxa: Doxa, config: Config) -> None:
    """Have a memory of `lenient` settings search behind the gate of the usual ones."""
    doxa.parts.recall = replace(doxa.parts.recall, tau=config.recall.tau)


PARTS = (
    Variant(name="- promotion", recipe={"promotions": False}),
    Variant(name="+ consistency", recipe={"variant": "lambda_2"}),
    Variant(name="+ router", recipe={"route": True}),
    Variant(name="- expansion", recipe={"expand": False}),
    Variant(name="+ consistency + router", recipe={"variant": "lambda_2", "route": True}),
)
"""Each part of the paper switched from how it ships, and all that it has at once."""
VARIANTS = (
    *PARTS,
    *(Variant(name=f"tau {tau:.1f}", recipe={"tau": tau}) for tau in (0.5, 0.6, 0.8, 0.9)),
)
"""Table 8, and the gates of figure 4."""
