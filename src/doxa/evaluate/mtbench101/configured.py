"""The settings of a run -> those of each set-up: without a language model, and with a tree that it searches."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from doxa.core.config import Config

__all__ = ["with_tree", "without_model"]

BY_MODEL = ("prompted", "hybrid", "llm")
"""What settings of roles say when the language model plays them."""
SHOWN_TURNS = 40
"""Turns that a tree without a memory is shown; no dialogue of the benchmark has as many."""


def without_model(config: Config) -> Config:
    """Return settings for an engine that asks no language model: every role that one plays is the default one."""
    changed: dict[str, Any] = {"llm": config.llm.model_copy(update={"name": None})}
    for name in type(config).model_fields:
        group = getattr(config, name)
        if isinstance(group, BaseModel) and name != "llm" and (played := _played(group)):
            changed[name] = group.model_copy(update=played)
    plain = config.model_copy(update=changed)
    if plain.understand.extract == "amr" and plain.amr.name is None:  # its parser was the model
        plain = plain.model_copy(update={"understand": type(plain.understand)()})
    return plain


def with_tree(config: Config, *, memory: bool, **size: int) -> Config:
    """Return settings for a tree whose roles the language model plays, and which may draw on what the model knows.

    Args:
        config: the settings of the run; the memory is as they say.
        memory: whether there is a memory under the tree; without one it is shown the whole dialogue.
        size: `depth`, `beam` and `branching` of the tree, where others than the configured are wanted.
    """
    played = {"tree": True, "roles": "prompted", "knowledge": "open", **size}
    changed: dict[str, Any] = {"reason": config.reason.model_copy(update=played)}
    if not memory:
        changed["engine"] = config.engine.model_copy(update={"context_turns": SHOWN_TURNS})
    return config.model_copy(update=changed)


def _played(group: BaseModel) -> dict[str, Any]:
    fields = type(group).model_fields
    return {name: field.default for name, field in fields.items() if getattr(group, name) in BY_MODEL}
