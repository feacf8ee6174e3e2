"""Messages of a chat -> records beside a memory, and turns that facts come of: `DoxaChatMessageHistory`."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, message_to_dict, messages_from_dict

from doxa.engine import finished
from doxa.integrations.transcript import Message, Transcript, bytes_of, row_of

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["DoxaChatMessageHistory"]

SHELF = "langchain.history"


class DoxaChatMessageHistory(BaseChatMessageHistory):
    """A chat history in the database of an engine, durable on return. Threads and processes may share one.

    Every message of LangChain's own types is read back as it was; what of it JSON has not (a tuple, a date) is refused,
    or becomes what JSON has for it. What humans and AIs say is a turn of the memory too, spoken by the `name` of the
    message if it has one; system, tool and other messages are kept and never believed. `messages` is a copy: what is
    appended to the list is not stored.

    Args:
        session_id: the name of the session, for this user alone.
        doxa: the engine; it stays open when the history goes.
        user: whose memory it is; with everything of this user the messages are forgotten too.
        agent: the name of the assistant.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.

    Raises:
        InputError: the name of the user is none, or that of the session no text.
    """

    def __init__(
        self, session_id: str, doxa: Doxa, *, user: str, agent: str = "assistant", speaker: str | None = None
    ) -> None:
        self.session_id = session_id
        self.doxa = doxa
        self._transcript = Transcript(doxa, user=user, session=session_id, shelf=SHELF, agent=agent, speaker=speaker)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """Return the messages, oldest first."""
        return messages_from_dict([row_of(one.body) for one in self._transcript.kept()])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages after those that are there, all or none; their words become turns.

        Raises:
            TypeError: something is no message, or holds what JSON has not; nothing was stored.
            ValueError: a message is of a type that LangChain cannot read back; nothing was stored.
        """
        self._transcript.add([_made(message) for message in messages])

    def clear(self) -> None:
        """Erase all messages with their turns.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        self._transcript.clear()

    async def aget_messages(self) -> list[BaseMessage]:
        """Await `messages`."""
        return await to_thread(lambda: self.messages)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:  # typos: ignore
        """Await `add_messages`."""
        await finished(partial(self.add_messages, [*messages]))

    async def aclear(self) -> None:
        """Await `clear`."""
        await finished(self.clear)


def _made(message: BaseMessage) -> Message:
    if not isinstance(message, BaseMessage):
        raise TypeError(f"Expected a message of LangChain, got {type(message).__name__}: {str(message)[:80]!r}.")
    row = message_to_dict(message)
    body = bytes_of(row)
    messages_from_dict([row_of(body)])  # refused now rather than when it is read
    spoken = isinstance(message, HumanMessage | AIMessage)
    return Message(
        body=body,
        words=str(message.text) if spoken else "",
        role="user" if isinstance(message, HumanMessage) else "assistant",
        speaker=message.name or None,
    )
