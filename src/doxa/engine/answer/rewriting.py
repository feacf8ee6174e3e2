"""Query -> what a language model makes of it, asked outside any lock."""

from __future__ import annotations

from collections.abc import Sequence

from doxa.core.errors import DoxaError
from doxa.core.values import Turn
from doxa.engine.wiring.parts import Parts
from doxa.recall import Rewriting, rewrite_with_model

__all__ = ["rewrite"]


def rewrite(text: str, recent: Sequence[Turn], parts: Parts, *, asker: str) -> Rewriting | None:
    """Return what a language model makes of a query in its dialogue; None where it is not asked.

    It is asked only by the setting `roles.rewrite`. A failure is a value: the query is then read the built-in way.

    Args:
        text: what is asked.
        recent: the turns before it, oldest first.
        parts: what the engine is made of.
        asker: who asks.

    Cost: one call (two when the answer did not fit its schema).
    """
    if parts.config.roles.rewrite == "builtin":
        return None
    try:
        model = parts.model()
    except DoxaError as exc:
        return Rewriting(failed=f"the language model that is to rewrite the query could not be opened: {exc}")
    assert model is not None  # checked by `wire`
    settings = parts.config.llm
    return rewrite_with_model(
        model, text, recent, asker=asker, context_tokens=settings.context_tokens, max_tokens=settings.max_tokens
    )
