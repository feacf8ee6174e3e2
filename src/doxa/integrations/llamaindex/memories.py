"""`Memory` of LlamaIndex with its messages and its long-term memory in the database of an engine: `DoxaMemory`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, cast

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock, Memory
from llama_index.core.memory.memory import DEFAULT_FLUSH_SIZE, DEFAULT_TOKEN_LIMIT, generate_chat_store_key
from llama_index.core.utils import get_tokenizer

from doxa.integrations.llamaindex.blocks import DoxaMemoryBlock
from doxa.integrations.llamaindex.chatstores import AsyncDoxaChatStore

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["DoxaMemory"]


class DoxaMemory(Memory):
    """LlamaIndex's own `Memory`, over an `AsyncDoxaChatStore` and a `DoxaMemoryBlock` of one user.

    All that `Memory` does it does: the token limit, the queue, blocks and where they are put. What users and assistants
    say is a turn at once, so that leaving the queue changes nothing of what is believed; `get` adds what was said in
    this session before the queue, and in every other session, if it bears on the latest message of the user. `reset`
    erases the messages with their turns; `set` withdraws the turns of messages that are no longer among them.

    Args:
        doxa: the engine; it stays open when the memory goes.
        user: whose memory it is.
        session_id: the name of the session; by default a new one.
        agent: the name of the assistant.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.
        top_k: most pieces of evidence that `get` adds; 0 adds none.
        token_limit: as in LlamaIndex, as are the next two and `settings`.
        token_flush_size: how many tokens leave the queue at once.
        memory_blocks: blocks of your own, after that of the memory.
        tokenizer_fn: what counts tokens.
        settings: the other settings of `Memory`.

    Raises:
        InputError: the name of the user is none.
        ValueError: a setting cannot be used.
    """

    def __init__(
        self,
        doxa: Doxa,
        *,
        user: str,
        session_id: str | None = None,
        agent: str = "assistant",
        speaker: str | None = None,
        top_k: int = 5,
        token_limit: int = DEFAULT_TOKEN_LIMIT,
        token_flush_size: int = DEFAULT_FLUSH_SIZE,
        memory_blocks: list[BaseMemoryBlock[Any]] | None = None,
        tokenizer_fn: Callable[[str], list[Any]] | None = None,
        **settings: Any,
    ) -> None:
        store = AsyncDoxaChatStore(doxa, user=user, agent=agent, speaker=speaker)
        tokens = tokenizer_fn or get_tokenizer()
        ours = [
            DoxaMemoryBlock(
                doxa, user=user, agent=agent, speaker=speaker, store=store, top_k=top_k, tokenizer_fn=tokens,
            )
        ] if top_k else []  # fmt: skip
        super().__init__(
            sql_store=store,
            session_id=session_id or generate_chat_store_key(),
            memory_blocks=[*ours, *(memory_blocks or [])],
            tokenizer_fn=tokens,
            token_limit=token_limit,
            token_flush_size=int(token_limit * 0.7) if token_flush_size > token_limit else token_flush_size,
            **settings,
        )

    @property
    def doxa(self) -> Doxa:
        """The engine, for what a memory of LlamaIndex cannot say."""
        return cast(AsyncDoxaChatStore, self.sql_store).doxa

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class."""
        return "DoxaMemory"

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls, doxa: Doxa, *, user: str, chat_history: list[ChatMessage] | None = None, **settings: Any
    ) -> Self:
        """Return a memory whose session has these messages, if they are given; see the class."""
        made = cls(doxa, user=user, **settings)
        if chat_history is not None:
            asyncio_run(made.aset(chat_history))
        return made
