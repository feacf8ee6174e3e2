"""Chat stores of LlamaIndex -> records beside a memory, and turns that facts come of: sync and async."""

from __future__ import annotations

from asyncio import to_thread
from functools import partial

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.storage.chat_store import BaseChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from pydantic import PrivateAttr

from doxa.engine import Doxa, finished
from doxa.integrations.llamaindex.chats import Chats, message_of, note_of
from doxa.integrations.transcript import Kept

__all__ = ["AsyncDoxaChatStore", "DoxaChatStore"]


class DoxaChatStore(BaseChatStore):
    """A chat store in the database of an engine, durable on return, for `ChatMemoryBuffer` and chat engines.

    Messages are read back as they were: every block, and of `additional_kwargs` what JSON has. What users and
    assistants say is a turn of the memory too; a key is its session. To delete erases a message with its turn; of those
    that `set_messages` puts others in the place of, the turns are withdrawn. A list that is given back is a copy.

    Args:
        doxa: the engine; it stays open when the store goes.
        user: whose memory it is: every key is this user's, and everything goes when the user is forgotten.
        agent: the name of the assistant.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.

    Raises:
        InputError: the name of the user is none.
    """

    user: str
    agent: str = "assistant"
    speaker: str | None = None
    _chats: Chats = PrivateAttr()

    def __init__(self, doxa: Doxa, *, user: str, agent: str = "assistant", speaker: str | None = None) -> None:
        super().__init__(user=user, agent=agent, speaker=speaker)
        self._chats = Chats(doxa, user=user, agent=agent, speaker=speaker)

    @property
    def doxa(self) -> Doxa:
        """The engine, for what a chat store cannot say."""
        return self._chats.doxa

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class."""
        return "DoxaChatStore"

    def set_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Put messages in the place of those of a key, all or none; those that stay keep their turns.

        Raises:
            InputError: something is no message, or holds what JSON has not; nothing was stored.
        """
        self._chats.at(key).replace([note_of(message) for message in messages])

    def get_messages(self, key: str) -> list[ChatMessage]:
        """Return the messages of a key, oldest first."""
        return [message_of(one) for one in self._chats.at(key).kept()]

    def add_message(self, key: str, message: ChatMessage) -> None:
        """Add a message to those of a key.

        Raises:
            InputError: it is no message, or holds what JSON has not; nothing was stored.
        """
        self._chats.at(key).add([note_of(message)])

    def delete_messages(self, key: str) -> list[ChatMessage] | None:
        """Erase the messages of a key, and return them; None if it is not there.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        chat = self._chats.at(key)
        if not chat.known():
            return None
        kept = chat.kept()
        chat.clear()
        return [message_of(one) for one in kept]

    def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Erase the message at a place, from 0, and return it; None if there is none.

        Raises:
            IndexError: the place is before the first message.
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        chat = self._chats.at(key)
        kept = chat.kept()
        if not chat.known() or idx >= len(kept):
            return None
        chat.remove([kept[idx]])
        return message_of(kept[idx])

    def delete_last_message(self, key: str) -> ChatMessage | None:
        """Erase the latest message of a key and return it; None if the key is not there.

        Raises:
            IndexError: the key has no message left.
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        chat = self._chats.at(key)
        return self.delete_message(key, -1) if chat.known() else None

    def get_keys(self) -> list[str]:
        """Return the keys in the order in which they were first used."""
        return self._chats.keys(empty=True)

    async def aset_messages(self, key: str, messages: list[ChatMessage]) -> None:
        """Await `set_messages`."""
        await finished(partial(self.set_messages, key, [*messages]))

    async def async_add_message(self, key: str, message: ChatMessage) -> None:
        """Await `add_message`."""
        await finished(partial(self.add_message, key, message))

    async def adelete_messages(self, key: str) -> list[ChatMessage] | None:
        """Await `delete_messages`."""
        return await finished(partial(self.delete_messages, key))

    async def adelete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Await `delete_message`."""
        return await finished(partial(self.delete_message, key, idx))

    async def adelete_last_message(self, key: str) -> ChatMessage | None:
        """Await `delete_last_message`."""
        return await finished(partial(self.delete_last_message, key))


class AsyncDoxaChatStore(AsyncDBChatStore):
    """The same messages as a `DoxaChatStore` has, for `Memory(sql_store=...)`: what leaves the queue is archived.

    An archived message stays a turn of the memory, believed and found. A message has a number that counts those of its
    key, from 1, and stays when others are removed. See `DoxaChatStore`.
    """

    user: str
    agent: str = "assistant"
    speaker: str | None = None
    _chats: Chats = PrivateAttr()

    def __init__(self, doxa: Doxa, *, user: str, agent: str = "assistant", speaker: str | None = None) -> None:
        super().__init__(user=user, agent=agent, speaker=speaker)
        self._chats = Chats(doxa, user=user, agent=agent, speaker=speaker)

    @property
    def doxa(self) -> Doxa:
        """The engine, for what a chat store cannot say."""
        return self._chats.doxa

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class."""
        return "AsyncDoxaChatStore"

    async def get_messages(
        self,
        key: str,
        status: MessageStatus | None = MessageStatus.ACTIVE,
        limit: int | None = None,
        offset: int | None = None,
    ) -> list[ChatMessage]:
        """Return up to `limit` messages of a key and status after the first `offset`, oldest first; None for any."""
        kept = await to_thread(self._kept, key, status)
        kept = kept[max(0, offset or 0) :]
        return [message_of(one) for one in (kept if limit is None else _first(kept, limit))]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """Return how many messages of a status a key has."""
        return len(await to_thread(self._kept, key, status))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Add a message to those of a key. See `add_messages`."""
        await self.add_messages(key, [message], status)

    async def add_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Add messages to those of a key, all or none; their words become turns.

        Raises:
            InputError: something is no message, or holds what JSON has not; nothing was stored.
        """
        notes, add = [note_of(message) for message in messages], self._chats.at(key).add
        await finished(partial(add, notes, archived=status is MessageStatus.ARCHIVED))

    async def set_messages(
        self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE
    ) -> None:
        """Put messages in the place of those of a key, whatever their status; those that stay keep their turns.

        Raises:
            InputError: something is no message, or holds what JSON has not; nothing was stored.
        """
        notes, replace = [note_of(message) for message in messages], self._chats.at(key).replace
        await finished(partial(replace, notes, archived=status is MessageStatus.ARCHIVED))

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Erase the message with a number, and return it; None if there is none.

        Raises:
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """

        def delete() -> list[Kept]:
            chat = self._chats.at(key)
            return chat.remove([one for one in chat.kept() if one.number == idx][:1])

        return next((message_of(one) for one in await finished(delete)), None)

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Erase the messages of a key and status, or all.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        if status is None:
            await finished(self._chats.at(key).clear)
        else:
            await finished(lambda: self._chats.at(key).remove(self._kept(key, status)))

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Erase the oldest `n` active messages of a key and return those that nobody else took.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        gone = await finished(lambda: self._chats.at(key).remove(_first(self._kept(key), n)))
        return [message_of(one) for one in gone]

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archive the oldest `n` active messages of a key and return them."""

        def archive() -> list[Kept]:
            oldest = _first(self._kept(key), n)
            self._chats.at(key).archive(oldest)
            return oldest

        return [message_of(one) for one in await finished(archive)]

    async def get_keys(self) -> list[str]:
        """Return the keys that have a message, in the order in which they were first used."""
        return await to_thread(self._chats.keys, empty=False)

    async def turn_ids(self, key: str) -> set[str]:
        """Return the ids of the turns that the active messages of a key are."""
        return {*self._chats.at(key).turn_ids(await to_thread(self._kept, key))}

    def _kept(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> list[Kept]:
        kept = self._chats.at(key).kept()
        return [one for one in kept if status is None or one.archived is (status is MessageStatus.ARCHIVED)]


def _first(kept: list[Kept], most: int) -> list[Kept]:
    """Return the first of some messages; all for a number below 0, as SQLite has it."""
    return kept if most < 0 else kept[:most]
