"""Doxa: a memory for language models that it cannot contradict.

`from doxa import Doxa` is the way in. Names are loaded at their first use, so importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from doxa.core.answers import Answered, AnswerReason
    from doxa.core.config import Config
    from doxa.core.errors import DoxaError
    from doxa.core.promotions import Promotion, PromotionReason
    from doxa.core.tasks import Forest, TaskCommit, TaskNode, TaskReply, TaskValue, TaskView
    from doxa.core.values import (
        Atom,
        Certificate,
        Change,
        Citation,
        Claim,
        Evidence,
        Explanation,
        Fact,
        Interval,
        Modality,
        Receipt,
        Reply,
        Rule,
        Status,
        Turn,
        Verdict,
    )
    from doxa.engine import AsyncDoxa, Dialogue, Doxa, Memory

__all__ = [
    "AnswerReason",
    "Answered",
    "AsyncDoxa",
    "Atom",
    "Certificate",
    "Change",
    "Citation",
    "Claim",
    "Config",
    "Dialogue",
    "Doxa",
    "DoxaError",
    "Evidence",
    "Explanation",
    "Fact",
    "Forest",
    "Interval",
    "Memory",
    "Modality",
    "Promotion",
    "PromotionReason",
    "Receipt",
    "Reply",
    "Rule",
    "Status",
    "TaskCommit",
    "TaskNode",
    "TaskReply",
    "TaskValue",
    "TaskView",
    "Turn",
    "Verdict",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("doxa")
    if name not in __all__:
        raise AttributeError(f"module 'doxa' has no attribute {name!r}")
    if name in ("Doxa", "AsyncDoxa", "Dialogue", "Memory"):
        room = "engine"
    elif name == "Config":
        room = "core.config"
    elif name == "DoxaError":
        room = "core.errors"
    elif name.startswith("Answer"):
        room = "core.answers"
    elif name.startswith("Promotion"):
        room = "core.promotions"
    elif name == "Forest" or name.startswith("Task"):
        room = "core.tasks"
    else:
        room = "core.values"
    return getattr(import_module(f"doxa.{room}"), name)
