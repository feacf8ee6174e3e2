"""Other ways to remember a dialogue, as notebooks: small ones of our own, after what D-SMART says of its baselines.

    mem0-style         a list of facts in plain words that the language model keeps: after every exchange one call adds
                       to it, replaces and drops; the nearest of them are told with the next message
    memorybank-style   every exchange as it is; the nearest by meaning are told, and what nobody came back to is
                       forgotten along an exponential curve, which every time that it is told makes flatter
    comedy-style       one summary that the model writes anew after every exchange; it stands in for the dialogue

Source: Lei et al., D-SMART, "Baselines and Implementation" and appendix B, which ran the authors' code of Mem0
(Chhikara et al. 2025) and MemoryBank (Zhong et al. 2024) and the weights of COMEDY-13B (Chen et al. 2025). These are
none of those: they have the idea, prompts of ours (`styles.toml`) and the model of the run, and nothing that the paper
does not name (graphs, portraits of the user, a model trained to compress). Their rows say what the idea gives, no more.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends.llm import Answered, LanguageModel, Message, Request, ask, posed
from doxa.core.errors import BackendError
from doxa_bench.mtbench101.prompted import Notebook, Noted

__all__ = ["Banked", "Compressed", "Encode", "Listed", "notebook_of"]

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts -> rows of unit length."""
NEAREST = 5
"""Facts or exchanges that are told."""
LISTED = 40
"""Facts that the model is shown when it keeps its list."""
LEAST = 0.1
"""Retention below which an exchange is forgotten."""
MAX_TOKENS = 800
CHANGES: Mapping[str, Any] = {
    "title": "changes",
    "type": "object",
    "properties": {
        "changes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "do": {"type": "string", "enum": ["add", "replace", "drop"]},
                    "number": {"type": ["integer", "null"]},
                    "text": {"type": ["string", "null"]},
                },
                "required": ["do", "number", "text"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["changes"],
    "additionalProperties": False,
}
MEMORY: Mapping[str, Any] = {
    "title": "memory",
    "type": "object",
    "properties": {"memory": {"type": "string"}},
    "required": ["memory"],
    "additionalProperties": False,
}


def notebook_of(name: str, model: LanguageModel, encode: Encode) -> Callable[[str], Notebook]:
    """Return what makes a notebook of one of these systems, by its name in the report."""
    made: dict[str, Callable[[], Notebook]] = {
        "mem0-style": lambda: Listed(model, encode),
        "memorybank-style": lambda: Banked(encode),
        "comedy-style": lambda: Compressed(model),
    }
    return lambda user: made[name]()


@dataclass(slots=True)
class Listed:
    """Mem0-style: facts in plain words that the model keeps. Cost: one call a turn, behind the reply."""

    model: LanguageModel
    encode: Encode
    window: int | None = None
    kept: list[str] = field(default_factory=list)

    def notes(self, text: str, said: Sequence[Message]) -> Noted:
        """Return the facts that are nearest to a message."""
        return _told("What is known from this conversation:", text, self.kept, self.encode)

    def remember(self, text: str, answer: str) -> Noted:
        """Have the model say what an exchange changes in the list."""
        first = max(0, len(self.kept) - LISTED)
        listed = [f"{number}. {fact}" for number, fact in enumerate(self.kept, start=1)][first:]
        done = _asked(self.model, "keep_list", listed, (text, answer), CHANGES)
        dropped = set[int]()
        for change in done.parsed.get("changes", ()):
            at, fact = (change["number"] or 0) - 1, " ".join((change["text"] or "").split())
            known = 0 <= at < len(listed) + first
            if change["do"] == "drop" and known:
                dropped.add(at)
            elif change["do"] == "replace" and known and fact:
                self.kept[at] = fact
            elif fact and change["do"] != "drop":
                self.kept.append(fact)
        self.kept = [fact for at, fact in enumerate(self.kept) if at not in dropped]
        return Noted(usage=done.usage, degraded=done.failed)

    def facts(self) -> int | None:
        """Return how many facts are on the list."""
        return len(self.kept)


@dataclass(slots=True)
class _Exchange:
    text: str
    since: int
    """Turn in which it was last told, or was said."""
    strength: float = 1.0


@dataclass(slots=True)
class Banked:
    """MemoryBank-style: exchanges, found by meaning and forgotten by time; a turn is a day. Cost: no call."""

    encode: Encode
    window: int | None = None
    kept: list[_Exchange] = field(default_factory=list)
    turn: int = 0

    def notes(self, text: str, said: Sequence[Message]) -> Noted:
        """Return the exchanges that are nearest to a message; telling one makes it last."""
        self.kept = [one for one in self.kept if math.exp(-(self.turn - one.since) / one.strength) >= LEAST]
        told = _told("Earlier words that bear on it:", text, [one.text for one in self.kept], self.encode)
        for one in self.kept:
            if f"- {one.text}" in told.lines:
                one.since, one.strength = self.turn, one.strength + 1
        return told

    def remember(self, text: str, answer: str) -> Noted:
        """Keep an exchange."""
        self.turn += 1
        self.kept.append(_Exchange(f"User: {text} Assistant: {answer}", self.turn))
        return Noted()

    def facts(self) -> int | None:
        """Return that it has no facts."""
        return None


@dataclass(slots=True)
class Compressed:
    """COMEDY-style: a summary in place of all but the latest exchange. Cost: one call a turn, behind the reply."""

    model: LanguageModel
    window: int | None = 2
    memory: str = ""

    def notes(self, text: str, said: Sequence[Message]) -> Noted:
        """Return the summary."""
        return Noted(lines=("The conversation so far, in short:", self.memory) if self.memory else ())

    def remember(self, text: str, answer: str) -> Noted:
        """Have the model write the summary anew; it stays as it is where that fails."""
        done = _asked(self.model, "compress", [self.memory or "(none)"], (text, answer), MEMORY)
        self.memory = str(done.parsed.get("memory") or self.memory).strip()
        return Noted(usage=done.usage, degraded=done.failed)

    def facts(self) -> int | None:
        """Return that it has no facts."""
        return None


def _told(head: str, text: str, kept: Sequence[str], encode: Encode) -> Noted:
    """Return the texts that are nearest to a message, the nearest first."""
    if not kept:
        return Noted()
    try:
        rows = encode([text, *kept])
    except BackendError as exc:
        return Noted(degraded=f"the encoder failed, so nothing is told: {exc}")
    best = np.argsort(-(rows[1:] @ rows[0]), kind="stable")[:NEAREST]
    return Noted(lines=(head, *(f"- {kept[at]}" for at in best)))


def _asked(
    model: LanguageModel, prompt: str, kept: Sequence[str], exchange: tuple[str, str], schema: Mapping[str, Any]
) -> Answered:
    memory = "\n".join(kept) or "(none)"
    material = f"Memory:\n{memory}\n\nThe latest exchange:\nUser: {exchange[0]}\nAssistant: {exchange[1]}"
    messages = posed(_prompts()[prompt].strip(), material)
    return ask(model, Request(messages=messages, schema=schema, max_tokens=MAX_TOKENS))


@cache
def _prompts() -> Mapping[str, str]:
    return tomllib.loads(files("doxa_bench.mtbench101").joinpath("styles.toml").read_text(encoding="utf-8"))
