"""OpenAI Agents SDK: items of a session -> records beside a memory, and turns that facts come of.

    from doxa import Doxa
    from doxa.integrations.openai_agents import DoxaSession

    session = DoxaSession("chat-1", Doxa.open("memory.db"), user="ana")
    await Runner.run(agent, "I moved to Rome.", session=session)

An item is kept byte for byte, a tool call too. What the user and the assistant say is a turn of the memory as well, and
goes with its item.
Extra: `pip install "doxa[openai-agents]"`.
"""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from agents.items import TResponseInputItem
from agents.memory import Session, SessionSettings
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

from doxa.engine import finished
from doxa.integrations.transcript import Message, Transcript

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["DoxaSession"]

SHELF = "openai_agents"
SPEAKING = ("user", "assistant")
"""The roles of messages that become turns; instructions are nobody's statement."""
TEXTS = ("input_text", "output_text", "text")
"""The kinds of parts of a message that are words."""


class DoxaSession(Session):
    """A session in the database of an engine, durable on return. Threads and processes may share a session.

    Items that are added in one call stay together and are seen at once; an item is popped by one caller alone. A
    message without words, or with more than a turn may have (`engine.max_turn_chars`), is an item and no turn. To pop
    or clear erases turns: what was said after them is understood again.

    Args:
        session_id: the name of the session, for this user alone.
        doxa: the engine; it stays open when the session goes.
        user: whose memory it is; with everything of this user the items are forgotten too.
        agent: the name of the assistant.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.
        session_settings: how many items are read where a call does not say.
    """

    session_settings: SessionSettings | None = None

    def __init__(
        self,
        session_id: str,
        doxa: Doxa,
        *,
        user: str,
        agent: str = "assistant",
        speaker: str | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or {})
        self.doxa = doxa
        self._transcript = Transcript(doxa, user=user, session=session_id, shelf=SHELF, agent=agent, speaker=speaker)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the latest `limit` items, oldest first; by default as many as the settings say, or all.

        None are given for 0, and all for less.
        """
        most = resolve_session_limit(limit, self.session_settings)
        kept = await to_thread(self._transcript.kept)
        first = 0 if most is None or most < 0 else max(0, len(kept) - most)
        return [json.loads(one.body) for one in kept[first:]]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items after those that are there, all or none; their words become turns.

        Raises:
            TypeError: an item is no plain JSON data; nothing was stored.
        """
        if items:
            await finished(partial(self._transcript.add, [_made(item) for item in items]))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the latest item with its turn, and return it; None where there is none.

        Raises:
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        popped = await finished(self._transcript.pop)
        item: TResponseInputItem | None = json.loads(popped.body) if popped else None
        return item

    async def clear_session(self) -> None:
        """Remove all items of the session with their turns.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        await finished(self._transcript.clear)


def _made(item: Any) -> Message:
    words = _words(item)
    return Message(body=json.dumps(item).encode(), words=words, role=item["role"] if words else "user")


def _words(item: object) -> str:
    """Return what an item says in words; nothing where it is no message of somebody who speaks."""
    if not isinstance(item, Mapping) or item.get("type", "message") != "message" or item.get("role") not in SPEAKING:
        return ""
    content = item.get("content") or ""
    if isinstance(content, str):
        return content
    listed = content if isinstance(content, list) else []
    parts = [part for part in listed if isinstance(part, Mapping) and part.get("type") in TEXTS]
    return "\n".join(str(part.get("text") or "") for part in parts)
