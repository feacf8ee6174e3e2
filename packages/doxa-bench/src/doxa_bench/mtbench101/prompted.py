"""Message -> reply by the language model, with the dialogue before it and what a notebook has to say to it.

What differs between the set-ups is the notebook: the memory of the engine, its reasoning tree, both, or the memory of
another system (`styles`). The model, the instructions and the dialogue are the same, so that what differs in the
replies comes from the notes. The tree is asked about every message, and what it finds goes into the notes: a reply may
be a poem as well as an answer, so the model itself writes it. A notebook takes in both sides of every turn after the
reply, as in the paper.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from doxa.backends.llm import LanguageModel, Message, Usage
from doxa.core.errors import BackendError, DoxaError
from doxa.core.trace import Trace
from doxa.core.values import Fact, Status
from doxa.engine import Dialogue, Doxa
from doxa.memory import describe
from doxa_bench.mtbench101.dialogues import BenchDialogue
from doxa_bench.mtbench101.systems import MEMORY, TREE, Said, Speaker

__all__ = ["Blank", "Noted", "Notebook", "OurNotes", "Prompted", "remembered", "spent", "steps"]

MAX_TOKENS = 1024
"""Room for one reply; the paper gives 8,192 and its replies fill a tenth of this."""
SUMMARY_TOKENS = 400
EVIDENCE = 5
OWN = 12
"""Statements of the assistant itself that are noted."""
INSTRUCTIONS = (
    "You are a helpful assistant. Notes on this conversation follow; they were made as it went. Keep to them: do not "
    "contradict what has been settled, take later corrections over earlier words, and do what the user asked for in "
    "earlier messages as long as it stands. Where the notes say nothing, answer from what you know. Never mention the "
    "notes."
)
PROMPT_VERSION = "mtbench101/2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What a notebook has to say or has taken in, what that cost, and what did not work."""

    lines: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    degraded: str = ""


class Notebook(Protocol):
    """What stands behind the replies of one dialogue."""

    window: int | None
    """How many of the latest messages the model is shown, beside the one to answer; None for all."""

    def notes(self, text: str, said: Sequence[Message]) -> Noted:
        """Return what bears on a message; `said` is the dialogue before it."""

    def remember(self, text: str, answer: str) -> Noted:
        """Take in an exchange; nothing of it has to be said, so `lines` are empty."""

    def facts(self) -> int | None:
        """Return how many facts it believes; None where it has no facts."""


class Blank:
    """Nothing beside the dialogue: the model by itself."""

    window: int | None = None

    def notes(self, text: str, said: Sequence[Message]) -> Noted:
        """Return nothing."""
        return Noted()

    def remember(self, text: str, answer: str) -> Noted:
        """Take in nothing."""
        return Noted()

    def facts(self) -> int | None:
        """Return that there are none."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompted:
    """A language model with a notebook of its own for every dialogue."""

    name: str
    model: LanguageModel
    notebook: Callable[[str], Notebook] = lambda user: Blank()
    """Gives the notebook of one dialogue, by a name that no other has."""
    settings: tuple[Any, ...] = ()
    temperature: float = 0.8
    repeatable: bool = False

    @property
    def fingerprint(self) -> tuple[Any, ...]:
        """Model, prompt, temperature and the settings of the engine."""
        return (self.name, self.model.name, PROMPT_VERSION, self.temperature, *self.settings)

    def begin(self, dialogue: BenchDialogue, run: int) -> Speaker:
        """Return a speaker with the dialogue in its context and a notebook of its own."""
        return _Chatting(self, self.notebook(f"{self.name} {run} {dialogue.id}"), [])


@dataclass(slots=True)
class _Chatting:
    system: Prompted
    book: Notebook
    said: list[Message]

    def reply(self, text: str) -> Said:
        begin = time.perf_counter()
        noted = self.book.notes(text, self.said)
        told = [Message(role="system", content="\n".join((f"{INSTRUCTIONS}\n", *noted.lines)))] if noted.lines else []
        shown = self.said if self.book.window is None else self.said[max(0, len(self.said) - self.book.window) :]
        asked = Message(role="user", content=text)
        answer, failed, usage = "", "", noted.usage
        try:
            done = self.system.model.complete(
                [*told, *shown, asked], temperature=self.system.temperature, max_tokens=MAX_TOKENS
            )
            answer, usage = done.text, usage + done.usage
            failed = "the model refused" if done.refused and not answer else ""
        except BackendError as exc:
            failed = str(exc)
        replied = time.perf_counter()
        # An empty message is refused by some servers; the dialogue goes on as if something had been said.
        self.said += [asked, Message(role="assistant", content=answer or "...")]
        taken = self.book.remember(text, answer)
        return Said(
            text=answer,
            seconds=replied - begin,
            maintenance_s=time.perf_counter() - replied,
            usage=usage,
            failed=failed,
            degraded="; ".join(filter(None, (noted.degraded, taken.degraded))),
            noted=bool(noted.lines),
            facts=self.book.facts(),
        )


@dataclass(slots=True, kw_only=True)
class OurNotes:
    """What the memory holds, what the tree finds, or both, by the set-up."""

    setup: str
    doxa: Doxa
    chat: Dialogue
    window: int | None = None
    fallen_back: int = 0
    """Turns so far that were not taken in as the settings say."""

    def notes(self, text: str, said: Sequence[Message]) -> Noted:
        """Return what the memory and the tree have to say to a message."""
        lines, usage, degraded = list[str](), Usage(), ""
        try:
            if self.setup in MEMORY:
                lines += self._remembered(text)
            if self.setup in TREE:
                reasoned = self._reasoned(text, said)
                lines, usage, degraded = [*lines, *reasoned.lines], reasoned.usage, reasoned.degraded
        except DoxaError as exc:
            degraded = str(exc)
        return Noted(lines=tuple(lines), usage=usage, degraded=degraded)

    def remember(self, text: str, answer: str) -> Noted:
        """Have the memory take in both sides of a turn; tell what it could not do as configured."""
        if self.setup not in MEMORY:
            return Noted()
        failed, self.fallen_back = remembered(self.doxa, self.chat, text, answer, self.fallen_back)
        return Noted(degraded=failed)

    def facts(self) -> int | None:
        """Return how many facts are believed now, or are what the assistant said itself."""
        return len(self.doxa.memory(user=self.chat.user).facts()) + len(self._own()) if self.setup in MEMORY else None

    def _own(self) -> list[Fact]:
        facts = self.doxa.memory(user=self.chat.user).facts(current=False)
        return [fact for fact in facts if fact.status is Status.QUARANTINED]

    def _remembered(self, text: str) -> list[str]:
        memory = self.doxa.memory(user=self.chat.user)
        held = memory.summary(text, max_tokens=SUMMARY_TOKENS)
        turns = [f"- {item.text}" for item in memory.search(text, k=EVIDENCE)]
        own = [f"- {describe(fact)}" for fact in self._own()[-OWN:]]
        return [
            *(["What has been said, as facts:", held] if held else []),
            *(["What you said yourself, as facts:", *own] if own else []),
            *(["Earlier words that bear on it:", *turns] if turns else []),
        ]

    def _reasoned(self, text: str, said: Sequence[Message]) -> Noted:
        # The memory has the turns of its own dialogue; a tree without one is told them.
        before = [] if self.setup in MEMORY else [{"role": one.role, "content": one.content} for one in said]
        reply = self.chat.ask(text, said=before)
        usage, degraded = spent(reply.trace)
        if reply.abstained or not reply.text:
            return Noted(usage=usage, degraded=degraded)
        path = steps(reply.trace)
        lines = [*(["What was looked at:", *path] if path else []), f"What follows: {reply.text}"]
        return Noted(lines=tuple(lines), usage=usage, degraded=degraded)


def remembered(doxa: Doxa, chat: Dialogue, text: str, answer: str, fallen_back: int = 0) -> tuple[str, int]:
    """Have a memory take in both sides of a turn.

    Returns:
        What could not be done as the settings say, empty for nothing; and how many turns of the dialogue were taken in
        by a lesser way so far, of which `fallen_back` are known.
    """
    try:
        chat.absorb(text)
        if answer:
            chat.absorb(answer, role="assistant")
        chat.flush()
        count = int(doxa.memory(user=chat.user).stats()["degraded"])
    except DoxaError as exc:
        return f"the turn could not be remembered: {exc}", fallen_back
    return ("a turn was not read as the settings say" if count > fallen_back else ""), count


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


def _told(tree: Mapping[str, Any]) -> Iterator[str]:
    """Return the moves that led to the best state of a tree, as its trace holds them."""
    states = {one["id"]: one for one in tree.get("states", ())}
    at, lines = tree.get("best"), list[str]()
    while at in states:
        move = states[at]
        if move.get("action") and move.get("do") != "answer":  # the answer itself follows the path
            lines.append(": ".join(filter(None, (str(move["action"]), str(move.get("observation", ""))))))
        at = move.get("parent")
    return reversed(lines)
