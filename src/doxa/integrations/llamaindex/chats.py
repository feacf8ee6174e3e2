"""A message of LlamaIndex -> its record and its words; a key -> the messages that are kept under it."""

from __future__ import annotations

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from doxa.core.errors import InputError
from doxa.core.values import Role
from doxa.engine import Doxa
from doxa.integrations.transcript import Kept, Message, Transcript, bytes_of, row_of, sessions

__all__ = ["Chats", "message_of", "note_of", "words_of"]

SHELF = "llama_index.chat"
SPEAKING: dict[MessageRole, Role] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
}
"""The roles of messages that become turns; instructions and what tools give back are nobody's statement."""


class Chats:
    """The lists of messages of one user, by key; each key is a session of the memory."""

    def __init__(self, doxa: Doxa, *, user: str, agent: str, speaker: str | None) -> None:
        doxa.memory(user=user)  # which raises where it is no name
        self.doxa, self.user, self.agent, self.speaker = doxa, user, agent, speaker

    def at(self, key: str) -> Transcript:
        """Return the messages of a key.

        Raises:
            InputError: it is no text.
        """
        return Transcript(self.doxa, user=self.user, session=key, shelf=SHELF, agent=self.agent, speaker=self.speaker)

    def keys(self, *, empty: bool) -> list[str]:
        """Return the keys in the order in which they were first used, `empty` ones that were not deleted too."""
        return sessions(self.doxa, user=self.user, shelf=SHELF, empty=empty)


def words_of(message: ChatMessage) -> tuple[str, Role]:
    """Return what somebody says in a message, and as what; no words where nobody speaks."""
    role = SPEAKING.get(message.role)
    return ("", "user") if role is None else (message.content or "", role)


def note_of(message: ChatMessage) -> Message:
    """Return a message as it is kept.

    Raises:
        InputError: it is no message, or LlamaIndex could not read it back.
    """
    if not isinstance(message, ChatMessage):
        raise InputError(f"Expected a ChatMessage, got {type(message).__name__}: {str(message)[:80]!r}.")
    try:
        body = bytes_of(message.model_dump(mode="json"))
    except (TypeError, ValueError) as exc:
        raise InputError(f"A message cannot be kept: it holds what JSON has not. Nothing was stored. {exc}") from exc
    words, role = words_of(message)
    return Message(body=body, words=words, role=role)


def message_of(kept: Kept) -> ChatMessage:
    """Return a message as it was put."""
    row = row_of(kept.body)
    extra = row.pop("additional_kwargs", {})
    message = ChatMessage.model_validate(row)
    message.additional_kwargs = extra  # afterwards: pictures among them would become blocks a second time
    return message
