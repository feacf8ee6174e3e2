"""What is said in a conversation -> turns, each stored once however often it is sent."""

from __future__ import annotations

import logging

from doxa.core.errors import DoxaError, StoreConflictError
from doxa.core.values import Role
from doxa.transport.http.access import Room
from doxa.transport.http.openai.conversation import Conversation, digest
from doxa.transport.http.openai.replies import MOST_BYTES, decoded, said_in

__all__ = ["Ear", "Heard", "turn_id_of"]

logger = logging.getLogger("doxa.server")


def turn_id_of(session: str, *history: str) -> str:
    """Return the id of a turn: the same for the same history of a session, however often it is sent."""
    return f"oa1-{digest(session, *history)}"


class Heard:
    """The body of an answer as it came."""

    def __init__(self, *, chat: bool) -> None:
        self._chat = chat
        self._pieces: list[bytes] = []
        self.size = 0
        self.streamed = False
        self.encoding = ""
        self.whole = False
        """Whether it came in full and is no error."""

    def add(self, piece: bytes) -> None:
        """Take a piece more."""
        self.size += len(piece)
        if self.size <= MOST_BYTES:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    @property
    def body(self) -> bytes:
        """All that came so far, without the encoding that its headers name.

        Raises:
            ValueError: it has not the encoding that they name, or is too large to be read.
        """
        if self.size > MOST_BYTES:
            raise ValueError(f"the answer has more than {MOST_BYTES:,} bytes")
        return decoded(b"".join(self._pieces), self.encoding)

    def text(self) -> str:
        """Return what the assistant said; empty where it said nothing or that cannot be read, which is logged."""
        if not self.whole:
            return ""
        try:
            return said_in(self.body, streamed=self.streamed, chat=self._chat).text
        except ValueError as exc:
            logger.error("a reply cannot be read and is not remembered: %s", exc)
            return ""


class Ear:
    """Has what is said in one exchange remembered. A failure is logged: it is no reason to withhold an answer.

    Args:
        room: whose memory.
        session: the session.
        agent: name of the assistant; by default `assistant`.
        talk: what the request holds.
    """

    def __init__(self, room: Room, session: str, agent: str | None, talk: Conversation) -> None:
        self._room = room
        self._session = session
        self._agent = agent
        self._talk = talk
        self._place = room.memory("read").place()

    def store_said(self) -> None:
        """Store what the user and the tools said since the assistant spoke last."""
        dialogue = self._room.dialogue("write", session=self._session, agent=self._agent)
        for one in self._talk.newest:
            turn_id = turn_id_of(self._session, one.digest)
            try:
                role: Role = "tool" if one.role == "tool" else "user"
                dialogue.absorb(one.text, role=role, speaker=one.speaker, turn_id=turn_id)
            except DoxaError as exc:
                logger.error("a turn of the %s was not stored: %s", one.role, exc)

    def store_reply(self, text: str) -> None:
        """Store what the assistant said, unless something was erased since it was asked: it may repeat that."""
        if not text.strip():
            return
        turn_id = turn_id_of(self._session, self._talk.digest, "assistant", text)
        dialogue = self._room.dialogue("write", session=self._session, agent=self._agent)
        try:
            dialogue.absorb(text, role="assistant", turn_id=turn_id, unless_erased_since=self._place)
        except StoreConflictError as exc:
            logger.info("a reply was not stored: %s", exc)
        except DoxaError as exc:
            logger.error("a reply was not stored: %s", exc)
