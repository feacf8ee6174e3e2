"""Microsoft Agent Framework: messages of sessions -> records beside a memory, turns, and what a model is told of them.

    from doxa import Doxa
    from doxa.integrations.agent_framework import DoxaContextProvider, DoxaHistoryProvider

    doxa = Doxa.open("memory.db")
    Agent(client=..., context_providers=[DoxaHistoryProvider(doxa, user="ana"), DoxaContextProvider(doxa, user="ana")])

A message is kept as the framework writes it, a call of a tool too. What the user and the assistant say is a turn of the
memory as well; what other providers put in between, recalled memories among it, is nobody's statement.
Extra: `pip install "doxa[agent-framework]"`.
"""

from __future__ import annotations

import asyncio
from asyncio import to_thread
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from agent_framework import (
    AgentSession,
    ContextProvider,
    HistoryProvider,
    InMemoryHistoryProvider,
    Message,
    SessionContext,
    SupportsAgentRun,
)

from doxa.core.lines import one_line
from doxa.engine import finished
from doxa.integrations.transcript import Message as Note
from doxa.integrations.transcript import Transcript, bytes_of, row_of

if TYPE_CHECKING:
    from doxa.core.values import Role, Turn
    from doxa.engine import Doxa

__all__ = ["DoxaContextProvider", "DoxaHistoryProvider"]

SHELF, DEFAULT_SESSION = "agent_framework", "default"
SPEAKING: dict[str, Role] = {"user": "user", "assistant": "assistant"}
"""The roles of messages that become turns; instructions are nobody's statement."""
ATTRIBUTION = "_attribution"
"""The framework's mark of messages that a provider put into a context."""
BEFORE = 6
"""Messages before the one that is searched for: they tell what "she" and "there" are."""
PROMPT = "## Memory\nThis is remembered of earlier conversations. Where it disagrees, what was said last counts."


class DoxaHistoryProvider(HistoryProvider):
    """The history of sessions in the database of an engine, durable on return. Threads and processes may share it.

    It keeps what the framework's `InMemoryHistoryProvider` keeps in the state of a session, and needs no state: a
    session goes on by its id alone. A message without words, or with more than a turn may have
    (`engine.max_turn_chars`), is kept and no turn.

    Args:
        doxa: the engine; it stays open when the provider goes.
        user: whose memory it is, or what tells that by the id of a session; with everything of a user the history is
            forgotten too. A session of two users is two sessions.
        agent: the name of an assistant whose messages have none.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.
        source_id: as in the framework, like the rest.
        load_messages: as in the framework.
        store_inputs: as in the framework.
        store_context_messages: as in the framework; these are kept and no turns.
        store_context_from: as in the framework.
        store_outputs: as in the framework.
        skip_excluded: as in the framework.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "doxa_history"

    def __init__(
        self,
        doxa: Doxa,
        *,
        user: str | Callable[[str], str],
        agent: str = "assistant",
        speaker: str | None = None,
        source_id: str | None = None,
        load_messages: bool = True,
        store_inputs: bool = True,
        store_context_messages: bool = False,
        store_context_from: set[str] | None = None,
        store_outputs: bool = True,
        skip_excluded: bool = False,
    ) -> None:
        super().__init__(
            source_id or self.DEFAULT_SOURCE_ID,
            load_messages=load_messages,
            store_inputs=store_inputs,
            store_context_messages=store_context_messages,
            store_context_from=store_context_from,
            store_outputs=store_outputs,
        )
        self.doxa = doxa
        self.skip_excluded = skip_excluded
        self._user, self._agent, self._speaker = user, agent, speaker
        self._one_at_a_time = Lock()

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return the messages of a session, oldest first; "default" is the session without an id."""
        held = await to_thread(self._held, session_id or DEFAULT_SESSION)
        if self.skip_excluded:
            return [message for message in held if not message.additional_properties.get("_excluded", False)]
        return held

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Add those messages that go on from what is there, all or none: a transcript may be given again as a whole.

        Cost: the messages of the session are read. Two processes that save one transcript at once may both add it.

        Raises:
            TypeError: a message is no plain JSON data; nothing was stored.
        """
        if messages:
            await finished(partial(self._save, session_id or DEFAULT_SESSION, [*messages]))

    async def clear(self, session_id: str | None) -> None:
        """Erase the messages of a session, and what was made from them.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        await finished(lambda: self._transcript(session_id or DEFAULT_SESSION).clear())

    def _transcript(self, session_id: str) -> Transcript:
        return Transcript(
            self.doxa, user=_owner(self._user, session_id), session=session_id, shelf=SHELF, agent=self._agent,
            speaker=self._speaker,
        )  # fmt: skip

    def _held(self, session_id: str) -> list[Message]:
        return [Message.from_dict(row_of(one.body)) for one in self._transcript(session_id).kept()]

    def _save(self, session_id: str, messages: Sequence[Message]) -> None:
        transcript = self._transcript(session_id)
        with self._one_at_a_time:
            new = [_made(message) for message in _following(self._held(session_id), messages)]
            keys = transcript.put(new)
        transcript.say(keys, new)


class DoxaContextProvider(ContextProvider):
    """What is remembered of a user, told to a model before it answers; what both say is remembered afterwards.

    A model is told what is believed and bears on what the user says now, and the turns that it was said by, of any
    session, but those that it is given anyway. Where the agent has a `DoxaHistoryProvider` of this engine, that one
    does the remembering.

    Args:
        doxa: the engine; it stays open when the provider goes.
        user: whose memory it is, or what tells that by the id of a session.
        agent: the name of an assistant whose messages have none.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.
        source_id: the name of the provider among those of an agent.
        top_k: how many turns are told at most.
        max_tokens: most tokens of what is believed, by estimate.
        prompt: what the model is told first.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "doxa"

    def __init__(
        self,
        doxa: Doxa,
        *,
        user: str | Callable[[str], str],
        agent: str = "assistant",
        speaker: str | None = None,
        source_id: str | None = None,
        top_k: int = 10,
        max_tokens: int = 400,
        prompt: str = PROMPT,
    ) -> None:
        super().__init__(source_id or self.DEFAULT_SOURCE_ID)
        self.doxa = doxa
        self.top_k, self.max_tokens, self.prompt = top_k, max_tokens, prompt
        self._user = user
        self._history = DoxaHistoryProvider(doxa, user=user, agent=agent, speaker=speaker, load_messages=False)

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add a message with what bears on the latest words of the user, if there is anything."""
        given = [message for message in context.input_messages if _words(message).strip()]
        asked = next((at for at in range(len(given) - 1, -1, -1) if given[at].role == "user"), None)
        if asked is None:
            return
        history = await _history(agent, session, context)
        before = [one for one in (*history, *given[:asked]) if one.role in SPEAKING and one.text.strip()][-BEFORE:]
        known = {one.text for one in (*history, *given)}
        session_id = context.session_id or DEFAULT_SESSION
        recent = [(one.author_name or one.role, one.text) for one in before]
        believed, turns = await to_thread(self._known, session_id, _words(given[asked]), recent, known)
        lines = [one_line(f"- {turn.at:%Y-%m-%d} {turn.speaker}: {turn.text}") for turn in turns]
        if told := "\n".join(part for part in (believed, *lines) if part):
            elsewhere = [turn.session for turn in turns if turn.session != session_id]
            context.extend_messages(
                self, [Message("user", [f"{self.prompt}\n{told}"])], origin_session_ids=elsewhere or None
            )

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Remember what was said, unless a `DoxaHistoryProvider` of the agent does."""
        others = getattr(agent, "context_providers", None) or ()
        if not any(isinstance(one, DoxaHistoryProvider) and one.doxa is self.doxa for one in others):
            await self._history.after_run(agent=agent, session=session, context=context, state=state)

    def _known(
        self, session_id: str, asked: str, recent: Sequence[tuple[str, str]], known: set[str]
    ) -> tuple[str, list[Turn]]:
        """Return what is believed and bears on some words, and the turns that do and are not known, oldest first."""
        memory = self.doxa.memory(user=_owner(self._user, session_id))
        evidence = memory.search(asked, k=self.top_k + len(known), recent=recent or None)
        turns = memory.turns(list(dict.fromkeys(turn_id for one in evidence for turn_id in one.turn_ids)))
        new = [turn for turn in turns if turn.text not in known][: self.top_k]
        return memory.summary(asked, max_tokens=self.max_tokens), sorted(new, key=lambda turn: (turn.at, turn.ordinal))


async def _history(agent: SupportsAgentRun, session: AgentSession, context: SessionContext) -> list[Message]:
    """Return what a model is given of the session anyway, by providers that have had their turn or will have it."""
    found: list[Message] = []
    for one in getattr(agent, "context_providers", None) or ():
        if isinstance(one, HistoryProvider) and one.load_messages:
            held = context.context_messages.get(one.source_id)
            state = session.state.setdefault(one.source_id, {})
            found += await one.get_messages(context.session_id, state=state) if held is None else held
    return found


def _following(held: Sequence[Message], given: Sequence[Message]) -> list[Message]:
    """Return those messages that are not what is there already, as the framework's own provider tells them."""
    state: dict[str, Any] = {"messages": list(held)}
    asyncio.run(InMemoryHistoryProvider().save_messages(None, given, state=state))  # this thread has no loop
    return list(state["messages"][len(held) :])


def _made(message: Message) -> Note:
    return Note(
        body=bytes_of(message.to_dict()),
        words=_words(message),
        role=SPEAKING.get(message.role, "user"),
        speaker=message.author_name or None,
    )


def _words(message: Message) -> str:
    """Return what somebody says with a message; nothing where a provider has put it in."""
    if message.role not in SPEAKING or ATTRIBUTION in message.additional_properties:
        return ""
    return message.text


def _owner(user: str | Callable[[str], str], session_id: str) -> str:
    return user if isinstance(user, str) else user(session_id)
