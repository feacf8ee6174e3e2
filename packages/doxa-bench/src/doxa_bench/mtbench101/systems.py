"""Message -> reply, by every system of the benchmark; each of its own replies is what the next one follows.

    reference          the replies of the data set, as they are (nothing is generated)
    builtin            Doxa without a language model
    base               the language model with the whole dialogue, as it is
    without tree       as base, and told what the memory holds that bears on the message (the paper's DSM alone)
    without memory     as base, and told what a reasoning tree makes of the dialogue with no memory under it
    full               as base, and told what the memory holds and what the reasoning tree found in it: ours
    mem0-style         as base, and told what a list of facts holds that the model keeps (`styles`)
    memorybank-style   as base, and told the earlier exchanges that are nearest and not forgotten (`styles`)
    comedy-style       the language model with a summary of the dialogue that it keeps, in its place (`styles`)
    as published       Algorithm 2 of the paper over the memory; what it answers is the reply (`published`)

Source: Lei et al., D-SMART, equation 1: a reply is written from the message, the dialogue, the memory and the tree; its
baselines and its ablation study. This file has the names, the Protocols and the systems without a language model;
`prompted` the others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from doxa.backends.llm import Usage
from doxa.core.errors import DoxaError
from doxa.engine import Dialogue, Doxa
from doxa_bench.mtbench101.dialogues import BenchDialogue, Exchange

__all__ = [
    "ABLATION",
    "MEMORY",
    "OFFLINE",
    "OURS",
    "PUBLISHED",
    "STYLES",
    "SYSTEMS",
    "TREE",
    "Builtin",
    "Reference",
    "Said",
    "Speaker",
    "System",
]

OURS, PUBLISHED = "full", "as published"
OFFLINE = ("reference", "builtin")
ABLATION = ("base", "without tree", "without memory", OURS)
STYLES = ("mem0-style", "memorybank-style", "comedy-style")
SYSTEMS = (*OFFLINE, *ABLATION, *STYLES)
MEMORY, TREE = ("without tree", OURS, PUBLISHED), ("without memory", OURS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One reply, and what it cost."""

    text: str
    seconds: float = 0.0
    maintenance_s: float = 0.0
    usage: Usage = field(default_factory=Usage)
    failed: str = ""
    """Why there is no reply."""
    degraded: str = ""
    """What did not work and was done without."""
    noted: bool = False
    """The memory, or the tree, had something to say to it."""
    facts: int | None = None
    """Facts that the memory believed once it had taken the turn in; None without a memory of facts."""

    def to_data(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "text": self.text,
            "seconds": round(self.seconds, 4),
            "maintenance_s": round(self.maintenance_s, 4),
            "usage": [self.usage.calls, self.usage.prompt_tokens, self.usage.completion_tokens],
            "failed": self.failed,
            "degraded": self.degraded,
            "noted": self.noted,
            "facts": self.facts,
        }

    @classmethod
    def of(cls, data: dict[str, Any]) -> Said:
        """Return what `to_data` gave."""
        calls, prompt, completion = data["usage"]
        usage = Usage(calls=calls, prompt_tokens=prompt, completion_tokens=completion)
        return cls(**{**data, "usage": usage})


class Speaker(Protocol):
    """A system within one dialogue."""

    def reply(self, text: str) -> Said:
        """Return the reply to a message; the messages of a dialogue come in order."""
        ...


class System(Protocol):
    """Something that can hold dialogues; safe to call from several threads."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> tuple[Any, ...]:
        """What its replies depend on beside the dialogue, as plain data."""
        ...

    @property
    def repeatable(self) -> bool:
        """A second run would give the same replies."""
        ...

    def begin(self, dialogue: BenchDialogue, run: int) -> Speaker:
        """Return a speaker for one dialogue of one run."""
        ...


class Reference:
    """The replies of the data set."""

    name = "reference"
    fingerprint = ("reference",)
    repeatable = True

    def begin(self, dialogue: BenchDialogue, run: int) -> Speaker:
        """Return a speaker that says what stands in the data."""
        return _Reading(iter(dialogue.turns))


@dataclass(slots=True)
class _Reading:
    turns: Iterator[Exchange]

    def reply(self, text: str) -> Said:
        return Said(text=next(self.turns).bot)


@dataclass(frozen=True, slots=True)
class Builtin:
    """Doxa without a language model: it answers from memory, or says that it does not know."""

    doxa: Doxa
    fingerprint: tuple[Any, ...] = ("builtin",)
    name: str = "builtin"
    repeatable: bool = True

    def begin(self, dialogue: BenchDialogue, run: int) -> Speaker:
        """Return a speaker with a memory of its own."""
        return _Remembering(self.doxa, self.doxa.dialogue(user=f"{self.name} {run} {dialogue.id}", speaker="User"))


@dataclass(frozen=True, slots=True)
class _Remembering:
    doxa: Doxa
    chat: Dialogue

    def reply(self, text: str) -> Said:
        begin = time.perf_counter()
        try:
            said = self.chat.respond(text, to="facts")
        except DoxaError as exc:
            return Said(text="", seconds=time.perf_counter() - begin, failed=str(exc))
        replied = time.perf_counter()
        self.chat.flush()
        return Said(
            text=said.text,
            seconds=replied - begin,
            maintenance_s=time.perf_counter() - replied,
            noted=not said.abstained,
            facts=len(self.doxa.memory(user=self.chat.user).facts()),
        )
