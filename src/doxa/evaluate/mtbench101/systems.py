"""Message -> reply, by every system of the benchmark; each of its own replies is what the next one follows.

    reference        the replies of the data set, as they are (nothing is generated)
    builtin          Doxa without a language model
    base             the language model with the whole dialogue, as it is
    without tree     as base, and told what the memory holds that bears on the message (the paper's DSM alone)
    without memory   as base, and told what a reasoning tree makes of the message with no memory under it
    full             as base, and told what the memory holds and what the reasoning tree found in it

Source: Lei et al., D-SMART, equation 1: a reply is written from the message, the dialogue, the memory and the tree; and
its ablation study. The memory takes in both sides of every turn after the reply, as in the paper. The tree is that of
the engine, with the language model in its roles; it is asked where a message asks something, and what it finds goes
into the notes of the prompt: a reply may also rest on general knowledge, so the model itself writes it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from doxa.backends.llm import LanguageModel, Message, Usage
from doxa.core.errors import BackendError, DoxaError
from doxa.core.trace import Trace
from doxa.engine import Dialogue, Doxa
from doxa.evaluate.mtbench101.dialogues import BenchDialogue, Exchange

__all__ = ["MEMORY", "OFFLINE", "PROMPTED", "TREE", "Builtin", "Prompted", "Reference", "Said", "Speaker", "System"]

OFFLINE = ("reference", "builtin")
PROMPTED = ("base", "without tree", "without memory", "full")
MEMORY, TREE = ("without tree", "full"), ("without memory", "full")
MAX_TOKENS = 1024
"""Room for one reply; the paper gives 8,192 and its replies fill a tenth of this."""
SUMMARY_TOKENS = 400
EVIDENCE = 5
INSTRUCTIONS = (
    "You are a helpful assistant. Notes on this conversation follow; they were made as it went. Keep to them: do not "
    "contradict what has been settled, take later corrections over earlier words, and do what the user asked for in "
    "earlier messages as long as it stands. Where the notes say nothing, answer from what you know. Never mention the "
    "notes."
)
PROMPT_VERSION = "mtbench101/1"


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

    def to_data(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "text": self.text,
            "seconds": round(self.seconds, 4),
            "maintenance_s": round(self.maintenance_s, 4),
            "usage": [self.usage.calls, self.usage.prompt_tokens, self.usage.completion_tokens],
            "failed": self.failed,
            "degraded": self.degraded,
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
        return _Remembering(self.doxa.dialogue(user=f"{self.name} {run} {dialogue.id}", speaker="User"))


@dataclass(frozen=True, slots=True)
class _Remembering:
    chat: Dialogue

    def reply(self, text: str) -> Said:
        begin = time.perf_counter()
        try:
            said = self.chat.respond(text, to="facts")
        except DoxaError as exc:
            return Said(text="", seconds=time.perf_counter() - begin, failed=str(exc))
        replied = time.perf_counter()
        self.chat.flush()
        return Said(text=said.text, seconds=replied - begin, maintenance_s=time.perf_counter() - replied)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """A language model in one of the four set-ups of the ablation study."""

    name: str
    model: LanguageModel
    doxa: Doxa | None = None
    """Memory and tree, where the set-up has any."""
    settings: tuple[Any, ...] = ()
    temperature: float = 0.8
    repeatable: bool = False

    @property
    def fingerprint(self) -> tuple[Any, ...]:
        """Model, prompt, temperature and the settings of the engine."""
        return (self.name, self.model.name, PROMPT_VERSION, self.temperature, *self.settings)

    def begin(self, dialogue: BenchDialogue, run: int) -> Speaker:
        """Return a speaker with the dialogue in its context, and a memory of its own where the set-up has one."""
        chat = None
        if self.doxa is not None:
            chat = self.doxa.dialogue(user=f"{self.name} {run} {dialogue.id}", speaker="User")
        return _Chatting(self, chat, [])


@dataclass(slots=True)
class _Chatting:
    system: Prompted
    chat: Dialogue | None
    said: list[Message]

    def reply(self, text: str) -> Said:
        begin = time.perf_counter()
        notes, usage, degraded = self._notes(text)
        self.said.append(Message(role="user", content=text))
        told = [Message(role="system", content=f"{INSTRUCTIONS}\n\n{notes}")] if notes else []
        answer, failed = "", ""
        try:
            done = self.system.model.complete(
                [*told, *self.said], temperature=self.system.temperature, max_tokens=MAX_TOKENS
            )
            answer, usage = done.text, usage + done.usage
            failed = "the model refused" if done.refused and not answer else ""
        except BackendError as exc:
            failed = str(exc)
        replied = time.perf_counter()
        # An empty message is refused by some servers; the dialogue goes on as if something had been said.
        self.said.append(Message(role="assistant", content=answer or "..."))
        degraded = "; ".join(filter(None, (degraded, self._remember(text, answer))))
        return Said(
            text=answer,
            seconds=replied - begin,
            maintenance_s=time.perf_counter() - replied,
            usage=usage,
            failed=failed,
            degraded=degraded,
        )

    def _notes(self, text: str) -> tuple[str, Usage, str]:
        """Return what the memory and the tree have to say to a message, what that cost, and what did not work."""
        if self.chat is None:
            return "", Usage(), ""
        parts, usage, degraded = list[str](), Usage(), ""
        try:
            if self.system.name in MEMORY:
                parts += self._remembered(text)
            if self.system.name in TREE:
                reasoned, usage, degraded = self._reasoned(text)
                parts += reasoned
        except DoxaError as exc:
            degraded = str(exc)
        return "\n".join(parts), usage, degraded

    def _remembered(self, text: str) -> list[str]:
        assert self.chat is not None and self.system.doxa is not None
        memory = self.system.doxa.memory(user=self.chat.user)
        held = memory.summary(text, max_tokens=SUMMARY_TOKENS)
        turns = [f"- {item.text}" for item in memory.search(text, k=EVIDENCE)]
        return [
            *(["What has been said, as facts:", held] if held else []),
            *(["Earlier words that bear on it:", *turns] if turns else []),
        ]

    def _reasoned(self, text: str) -> tuple[list[str], Usage, str]:
        assert self.chat is not None
        reply = self.chat.ask(text)
        usage, degraded = spent(reply.trace)
        if reply.abstained or not _asks(reply.trace):
            return [], usage, degraded
        path = steps(reply.trace)
        return [*(["What was looked at:", *path] if path else []), f"What follows: {reply.text}"], usage, degraded

    def _remember(self, text: str, answer: str) -> str:
        if self.chat is None or self.system.name not in MEMORY:
            return ""
        with suppress(DoxaError):
            self.chat.absorb(text)
            if answer:
                self.chat.absorb(answer, role="assistant")
            self.chat.flush()
            return ""
        return "the turn could not be remembered"


def spent(trace: Trace) -> tuple[Usage, str]:
    """Return what the calls of a trace cost, and what in it was degraded."""
    usage = Usage()
    for step in trace.steps:
        usage += Usage(
            calls=int(step.detail.get("calls", 0)),
            prompt_tokens=int(step.detail.get("prompt_tokens", 0)),
            completion_tokens=int(step.detail.get("completion_tokens", 0)),
        )
    return usage, "; ".join(trace.degraded)


def steps(trace: Trace) -> list[str]:
    """Return what the tree did on the way to its answer, one line a step."""
    trees = [step.detail["tree"] for step in trace.steps if step.detail.get("tree")]
    return [f"- {line}" for tree in trees for line in _told(tree)]


def _told(tree: Mapping[str, Any]) -> list[str]:
    """Return the moves that led to the best state of a tree, as its trace holds them."""
    states = {one["id"]: one for one in tree.get("states", ())}
    at, lines = tree.get("best"), list[str]()
    while at in states:
        move = states[at]
        if move.get("action"):
            lines.append(": ".join(filter(None, (str(move["action"]), str(move.get("observation", ""))))))
        at = move.get("parent")
    return lines[::-1]


def _asks(trace: Trace) -> bool:
    """Tell whether a message was understood as a question; the engine only acknowledges others."""
    return any(step.name == "question" and step.detail.get("kind") for step in trace.steps)
