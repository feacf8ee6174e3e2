"""The settings of a run -> those of each set-up: without a language model, and with a tree that it searches."""

from __future__ import annotations

from typing import Any

from doxa.core.config import Config

__all__ = ["with_tree", "without_model"]

BY_MODEL = ("prompted", "hybrid")
"""What a role says when the language model plays it."""
SHOWN_TURNS = 40
"""Turns that a tree without a memory is shown; no dialogue of the benchmark has as many."""


def without_model(config: Config) -> Config:
    """Return settings for an engine that asks no language model: every role that one plays is the built-in one."""
    roles: dict[str, Any] = {role: "builtin" for role, player in config.roles if player in BY_MODEL}
    if config.roles.extract == "amr" and config.amr.name in (None, "llm"):
        roles["extract"] = "builtin"
    changed = {
        "profile": "offline",
        "llm": config.llm.model_copy(update={"name": None}),
        "roles": config.roles.model_copy(update=roles),
    }
    return config.model_copy(update=changed)


def with_tree(config: Config, *, memory: bool, **size: int) -> Config:
    """Return settings for a tree whose roles the language model plays, and which may draw on what the model knows.

    Args:
        config: the settings of the run; the memory is as they say.
        memory: whether there is a memory under the tree; without one it is shown the whole dialogue.
        size: `depth`, `beam` and `branching` of the tree, where others than the configured are wanted.
    """
    played = {"tree": True, "knowledge": "open", **size}
    changed: dict[str, Any] = {
        "reason": config.reason.model_copy(update=played),
        "roles": config.roles.model_copy(update={"reason": "prompted", "write": "prompted"}),
    }
    if not memory:
        changed["engine"] = config.engine.model_copy(update={"context_turns": SHOWN_TURNS})
    return config.model_copy(update=changed)
