"""The asynchronous twins of `api.py`, generated from it by `make docs`: do not edit below the marks by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from doxa.core.config import Config
from doxa.core.values import (
    Certificate,
    Change,
    Claim,
    Evidence,
    Explanation,
    Fact,
    Forest,
    Receipt,
    Reply,
    Role,
    Rule,
)
from doxa.engine.api import Dialogue, Doxa, Memory
from doxa.engine.intake import Day, Moment

__all__ = ["AsyncDialogue", "AsyncDoxa", "AsyncMemory"]


# [[[cog import generate; cog.out(generate.async_twin()) ]]]


class AsyncDoxa:
    """A memory for language models, on one database. Safe between threads; many processes may open one database.

    Its methods wait without blocking the event loop.
    """

    def __init__(self, twin: Doxa) -> None:
        self._twin = twin

    @classmethod
    def open(cls, url: str | Path = ":memory:", *, config: Config | None = None) -> Self:
        """Return an engine on a database; a new file is made. It blocks while the file is opened."""
        return cls(Doxa.open(url, config=config))

    def dialogue(
        self, *, user: str, agent: str = "assistant", session: str = "default", speaker: str | None = None
    ) -> AsyncDialogue:
        """Return a dialogue of a user with an agent."""
        return AsyncDialogue(self._twin.dialogue(user=user, agent=agent, session=session, speaker=speaker))

    def memory(self, *, user: str) -> AsyncMemory:
        """Return the memory of a user, to read, correct and move."""
        return AsyncMemory(self._twin.memory(user=user))

    async def users(self) -> list[str]:
        """Return every user with at least one turn."""
        return await asyncio.to_thread(self._twin.users)

    async def flush(self) -> None:
        """Wait until everything that was received, for any user, is processed."""
        return await asyncio.to_thread(self._twin.flush)

    def describe(self) -> dict[str, Any]:
        """Return what is in use: database, encoder, parser, language model, version."""
        return self._twin.describe()

    async def close(self) -> None:
        """Process what was received, then give back threads and connections. Closing twice is harmless."""
        return await asyncio.to_thread(self._twin.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._twin.__exit__, kind, error, trace)


class AsyncDialogue:
    """One user talking with one agent in one session.

    Its methods wait without blocking the event loop.
    """

    def __init__(self, twin: Dialogue) -> None:
        self._twin = twin

    @property
    def user(self) -> str:
        """See `Dialogue`."""
        return self._twin.user

    @property
    def agent(self) -> str:
        """See `Dialogue`."""
        return self._twin.agent

    @property
    def session(self) -> str:
        """See `Dialogue`."""
        return self._twin.session

    @property
    def speaker(self) -> str:
        """See `Dialogue`."""
        return self._twin.speaker

    async def respond(self, text: str, *, at: Moment | None = None, turn_id: str | None = None) -> Reply:
        """Answer what the user says, and remember it."""
        return await asyncio.to_thread(self._twin.respond, text, at=at, turn_id=turn_id)

    async def ask(self, text: str, *, as_of: Day | None = None, known_at: Moment | None = None) -> Reply:
        """Answer without remembering the question."""
        return await asyncio.to_thread(self._twin.ask, text, as_of=as_of, known_at=known_at)

    async def absorb(
        self,
        text: str,
        *,
        speaker: str | None = None,
        role: Role = "user",
        at: Moment | None = None,
        turn_id: str | None = None,
    ) -> Receipt:
        """Remember a turn without answering it. Durable on return; the same `turn_id` again is the same turn."""
        return await asyncio.to_thread(self._twin.absorb, text, speaker=speaker, role=role, at=at, turn_id=turn_id)

    async def flush(self) -> None:
        """Wait until everything received for this user is processed."""
        return await asyncio.to_thread(self._twin.flush)


class AsyncMemory:
    """What is known of one user: to read, explain, correct, erase and move.

    Its methods wait without blocking the event loop.
    """

    def __init__(self, twin: Memory) -> None:
        self._twin = twin

    @property
    def user(self) -> str:
        """See `Memory`."""
        return self._twin.user

    async def search(
        self, query: str, *, k: int = 10, as_of: Day | None = None, known_at: Moment | None = None
    ) -> list[Evidence]:
        """Return up to `k` pieces of evidence for a query, best first; withdrawn turns are left out."""
        return await asyncio.to_thread(self._twin.search, query, k=k, as_of=as_of, known_at=known_at)

    async def facts(
        self,
        *,
        current: bool = True,
        subject: str | None = None,
        relation: str | None = None,
        as_of: Day | None = None,
        known_at: Moment | None = None,
    ) -> list[Fact]:
        """Return facts in the order in which they came to be."""
        return await asyncio.to_thread(
            self._twin.facts, current=current, subject=subject, relation=relation, as_of=as_of, known_at=known_at
        )

    async def rules(self, *, known_at: Moment | None = None) -> list[Rule]:
        """Return what was said in general or on a condition ("if it rains, we stay in"), by `known_at`, in order."""
        return await asyncio.to_thread(self._twin.rules, known_at=known_at)

    async def history(self, of: Fact | str | tuple[str, str] | None = None) -> list[Change]:
        """Return what happened to what is believed, oldest first."""
        return await asyncio.to_thread(self._twin.history, of)

    async def claims(self, *, turn_id: str) -> list[Claim]:
        """Return what a turn says, as it was understood; what was made of it, `history` and `why` tell."""
        return await asyncio.to_thread(self._twin.claims, turn_id=turn_id)

    async def why(self, fact_id: str) -> Explanation:
        """Return why a fact stands where it stands: its source turns, and what it displaced or was displaced by."""
        return await asyncio.to_thread(self._twin.why, fact_id)

    async def tasks(self) -> Forest:
        """Return the user's task forest."""
        return await asyncio.to_thread(self._twin.tasks)

    async def retract(self, fact_id: str, *, reason: str = "") -> list[Change]:
        """Declare that a fact never was true; what it had displaced holds again."""
        return await asyncio.to_thread(self._twin.retract, fact_id, reason=reason)

    async def withdraw(self, *, turn_id: str, reason: str = "") -> list[Change]:
        """Stop trusting a turn: what only it supports goes, what it had displaced returns; its text is kept."""
        return await asyncio.to_thread(self._twin.withdraw, turn_id=turn_id, reason=reason)

    async def undo(self) -> list[Change]:
        """Withdraw the last turn that changed what is believed; returns what changed, empty when there is none."""
        return await asyncio.to_thread(self._twin.undo)

    async def forget(self, *, turn_id: str | None = None, everything: bool = False) -> Certificate:
        """Erase a turn, or everything, with all that was made from it: log rows, vectors, facts. Not reversible."""
        return await asyncio.to_thread(self._twin.forget, turn_id=turn_id, everything=everything)

    async def export(self, path: str | Path, *, format: Literal["jsonl", "turtle", "markdown"] = "jsonl") -> Path:
        """Write the memory to a file and return its path."""
        return await asyncio.to_thread(self._twin.export, path, format=format)

    async def import_(self, path: str | Path) -> int:
        """Read a `jsonl` export into this memory and return the number of turns that were new."""
        return await asyncio.to_thread(self._twin.import_, path)

    async def stats(self) -> dict[str, Any]:
        """Return how much of everything there is."""
        return await asyncio.to_thread(self._twin.stats)

    def describe(self, of: Fact | Rule) -> str:
        """Return a fact or a rule as a plain sentence."""
        return self._twin.describe(of)


# [[[end]]]
