"""What comes in: turns, and the proof that one is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

__all__ = ["MACHINES", "NOTED", "Receipt", "Role", "ToTasks", "Turn"]

Role = Literal["user", "assistant", "system", "tool"]
MACHINES: tuple[Role, ...] = ("assistant", "tool")
"""Whose word is kept and not believed: what they say may be anybody's."""
NOTED = ("User",)
"""What a note that a model took about somebody calls them (`Turn.called`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One utterance as it was received. `ordinal` is its place in the user's log, from 1."""

    turn_id: str
    user: str
    session: str
    speaker: str
    role: Role
    text: str
    at: datetime
    ordinal: int = 0
    generated: bool = False
    """True for a reply that Doxa itself wrote: kept as context, never learned from or recalled."""
    to_tasks: ToTasks | None = None
    """Of a turn that is said to the tasks as well: what it is read with."""
    verbatim: bool = False
    """It is kept and found as it stands, and no fact is made from it."""
    called: tuple[str, ...] = ()
    """Other names by which it means its speaker: "User" in what another memory wrote down about one."""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What whoever stored it notes about it, as plain JSON data; Doxa keeps it and does not read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToTasks:
    """What a turn that is said to the tasks is read with."""

    said_before: str = ""
    """What the assistant said just before it."""
    intent: str = ""
    """What it is taken for, whatever it is (an ablation of benchmarks); empty leaves that to the reading."""
    routed: bool = False
    """It is said to the tasks only if it opens, changes or asks about one (`doxa.tasks.route`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that a turn is durable. `duplicate` is True when it was stored before."""

    turn_id: str
    duplicate: bool = False
    language: str = ""
    """The language of a text that is not in English (ISO 639): the built-in reading makes no facts from it."""
