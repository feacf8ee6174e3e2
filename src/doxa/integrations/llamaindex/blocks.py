"""Messages that leave the queue -> turns of a memory; what is asked -> evidence: `DoxaMemoryBlock`."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer
from pydantic import Field, PrivateAttr

from doxa.core.errors import TurnError
from doxa.core.lines import one_line
from doxa.engine import Doxa, finished
from doxa.integrations.llamaindex.chats import words_of
from doxa.integrations.llamaindex.chatstores import AsyncDoxaChatStore

__all__ = ["DoxaMemoryBlock"]

SESSION = "default"
RECENT = 4
"""Messages before what is asked that tell what "she" and "there" are."""


class DoxaMemoryBlock(BaseMemoryBlock[str]):
    """A memory block over the memory of a user, of all sessions: one line for each piece of evidence, best first.

    What users and assistants say in the messages that it is given becomes turns, of the session that the message is of;
    all else is left out. To give the same messages twice is to say them twice.

    Args:
        doxa: the engine; it stays open when the block goes.
        user: whose memory it is.
        agent: the name of the assistant.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.
        top_k: most pieces of evidence.
        within_session: only what was said in the session that asks.
        store: the chat store, if it is one of this user's memory: what leaves its queue was heard already, and what is
            in it is not repeated.
        tokenizer_fn: what counts tokens where the evidence has to be shortened.
        settings: `name`, `description`, `priority` and `accept_short_term_memory`, as in LlamaIndex.

    Raises:
        InputError: the name of the user is none.
    """

    user: str
    agent: str = "assistant"
    speaker: str | None = None
    top_k: int = Field(default=5, ge=1)
    within_session: bool = False
    tokenizer_fn: Callable[[str], list[Any]] = Field(default_factory=get_tokenizer, exclude=True)
    name: str = "recalled"
    description: str | None = "What was said before and bears on what is asked now, with the day it was said."
    priority: int = 1
    _doxa: Doxa = PrivateAttr()
    _store: AsyncDoxaChatStore | None = PrivateAttr(default=None)

    def __init__(self, doxa: Doxa, *, user: str, store: AsyncDoxaChatStore | None = None, **settings: Any) -> None:
        super().__init__(user=user, **{"accept_short_term_memory": store is None, **settings})
        doxa.memory(user=user)  # which raises where it is no name
        self._doxa, self._store = doxa, store

    @property
    def doxa(self) -> Doxa:
        """The engine, for what a block cannot say."""
        return self._doxa

    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        """Return the evidence for what was said last by the user; empty where nothing was, or nothing bears on it."""
        said = [(role, words) for words, role in map(words_of, messages or []) if words.strip()]
        asked = next((at for at in range(len(said) - 1, -1, -1) if said[at][0] == "user"), None)
        if asked is None:
            return ""
        shown = await self._store.turn_ids(session_id) if self._store is not None and session_id is not None else set()
        session = session_id if self.within_session else None
        return await to_thread(self._evidence, said[max(0, asked - RECENT) : asked + 1], session, shown)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Have the memory hear what messages say."""
        await finished(partial(self._absorb, [*messages]))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return the evidence without as many lines, the least relevant first, as have those tokens; None for none."""
        lines, before = content.splitlines(), len(self.tokenizer_fn(content))
        while lines and before - len(self.tokenizer_fn("\n".join(lines))) < tokens_to_truncate:
            lines.pop()
        return "\n".join(lines) or None

    def _evidence(self, said: list[tuple[Any, str]], session: str | None, shown: set[str]) -> str:
        memory = self._doxa.memory(user=self.user)
        names = {"user": self._doxa.dialogue(user=self.user, speaker=self.speaker).speaker, "assistant": self.agent}
        recent = [(names[role], words) for role, words in said[:-1]]
        found = memory.search(said[-1][1], k=self.top_k + len(shown), recent=recent, session=session)
        new = [one for one in found if not one.turn_ids or not shown.issuperset(one.turn_ids)][: self.top_k]
        turns = {turn.turn_id: turn for turn in memory.turns([at for one in new for at in one.turn_ids])}
        lines = []
        for one in new:
            day = next((f"{turns[at].at:%Y-%m-%d}, " for at in one.turn_ids if at in turns), "")
            lines.append(one_line(f"- {day}{one.text}"))
        return "\n".join(lines)

    def _absorb(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            words, role = words_of(message)
            session = message.additional_kwargs.get("session_id") or SESSION
            talk = self._doxa.dialogue(user=self.user, agent=self.agent, session=str(session), speaker=self.speaker)
            with suppress(TurnError):  # no words, or too many
                talk.absorb(words, role=role)
