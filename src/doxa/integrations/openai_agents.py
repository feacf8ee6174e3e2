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
from asyncio import CancelledError, ensure_future, to_thread, wait
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from agents.items import TResponseInputItem
from agents.memory import Session, SessionSettings
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

from doxa.core.errors import TurnError
from doxa.engine import Records, forget_turns

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["DoxaSession"]

SHELF = "openai_agents"
SPEAKING = ("user", "assistant")
"""The roles of messages that become turns; instructions are nobody's statement."""
TEXTS = ("input_text", "output_text", "text")
"""The kinds of parts of a message that are words."""
T = TypeVar("T")


class DoxaSession(Session):
    """A session in the database of an engine, durable on return. Threads and processes may share a session.

    Items that are added in one call stay together and are seen at once; an item is popped by one caller alone. A
    message without words, or with more than a turn may have (`engine.max_turn_chars`), is an item and no turn. To pop
    or clear erases turns: that costs a moment for each.

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
        self._dialogue = doxa.dialogue(user=user, agent=agent, session=session_id, speaker=speaker)
        self._memory = doxa.memory(user=user)
        self._records = Records(doxa, user=user, shelf=SHELF)
        self._place = f"{sha256(session_id.encode()).hexdigest()[:24]}/"

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the latest `limit` items, oldest first; by default as many as the settings say, or all.

        None are given for 0, and all for less.
        """
        most = resolve_session_limit(limit, self.session_settings)
        bodies = [*(await to_thread(self._records.all, self._place)).values()]
        first = 0 if most is None or most < 0 else max(0, len(bodies) - most)
        return [json.loads(body) for body in bodies[first:]]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items after those that are there, all or none; their words become turns.

        Raises:
            TypeError: an item is no plain JSON data; nothing was stored.
        """
        if items:
            await _finished(lambda: self._add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the latest item with its turn, and return it; None where there is none.

        Raises:
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        return await _finished(self._pop)

    async def clear_session(self) -> None:
        """Remove all items of the session with their turns.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        await _finished(self._clear)

    def _add(self, items: Sequence[TResponseInputItem]) -> None:
        bodies = [json.dumps(item).encode() for item in items]
        batch = f"{self._place}{self._next():012}.{uuid4().hex}"  # two writers may take one number
        keys = [f"{batch}/{at:08}" for at in range(len(bodies))]
        self._records.put(dict(zip(keys, bodies, strict=True)))
        said: Sequence[Any] = items
        for key, item in zip(keys, said, strict=True):
            if words := _words(item):
                with suppress(TurnError):  # blank, or too long
                    self._dialogue.absorb(words, role=item["role"], turn_id=_turn_id(key))
        self._forget(keys)  # of those that somebody took away meanwhile

    def _next(self) -> int:
        """Return a number above that of every item."""
        latest = self._records.last(self._place)
        return int(latest[0].removeprefix(self._place).partition(".")[0]) + 1 if latest else 1

    def _pop(self) -> TResponseInputItem | None:
        while latest := self._records.last(self._place):
            key, body = latest
            item: TResponseInputItem = json.loads(body)
            try:
                ours = self._records.erase(key)
            finally:
                self._forget([key] if _words(item) else [])
            if ours:
                return item
        return None

    def _clear(self) -> None:
        try:
            self._records.erase(self._place)
        finally:
            start, shelf = _turn_id(self._place), _turn_id("")
            told = self._memory.turns(session=self.session_id, withdrawn=True)
            self._forget([turn.turn_id.removeprefix(shelf) for turn in told if turn.turn_id.startswith(start)])

    def _forget(self, keys: Sequence[str]) -> None:
        """Erase the turns of those items that are no longer there, the latest first: then the fewest are read again."""
        held = self._records.get(*keys)
        forget_turns(self._memory, [_turn_id(key) for key in reversed(keys) if key not in held])


async def _finished(act: Callable[[], T]) -> T:
    """Return what a call in a thread gives back; who is cancelled waits for its end, since nothing can stop it."""
    running = ensure_future(to_thread(act))
    cancelled: CancelledError | None = None
    while not running.done():
        try:
            await wait({running})
        except CancelledError as exc:
            cancelled = exc
    if cancelled is not None:
        running.exception()  # seen, so that nobody is warned of it
        raise cancelled
    return running.result()


def _words(item: object) -> str:
    """Return what an item says in words; nothing where it is no message of somebody who speaks."""
    if not isinstance(item, Mapping) or item.get("type", "message") != "message" or item.get("role") not in SPEAKING:
        return ""
    content = item.get("content") or ""
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, Mapping) and part.get("type") in TEXTS]
    return "\n".join(str(part.get("text") or "") for part in parts)


def _turn_id(key: str) -> str:
    return f"{SHELF}/{key}"
