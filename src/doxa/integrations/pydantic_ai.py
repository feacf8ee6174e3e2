"""Pydantic AI: conversations -> records beside a memory, and turns that facts come of; a memory -> tools and context.

    from doxa import Doxa
    from doxa.integrations.pydantic_ai import DoxaConversationStore, DoxaMemory

    doxa = Doxa.open("memory.db")
    agent = Agent(..., capabilities=[DoxaMemory(doxa, user="ana")])
    store = DoxaConversationStore(doxa, user="ana")
    result = await agent.run("I moved to Rome.", conversation=await store.load("chat-1"))
    await store.save(result)

A message is kept byte for byte, a tool call too. What the user and the model say is a turn of the memory as well, and
goes with its message.
Extra: `pip install "doxa[pydantic-ai]"`.
"""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    TextContent,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import FunctionToolset

from doxa.core.errors import NotFoundError, TurnError
from doxa.core.lines import one_line
from doxa.core.turns import NOTED
from doxa.engine import Records, finished, forget_turns, short

if TYPE_CHECKING:
    from doxa.core.values import Role
    from doxa.engine import Doxa, Memory

__all__ = ["DoxaConversationStore", "DoxaMemory"]

SHELF = "pydantic_ai"
CONVERSATIONS, ENTRIES, GONE, CHANGED = "conversation/", "entry/", "gone/", "changed"
"""How keys begin; under the last one is what changes whenever a conversation does."""
CHARACTERS = 4
"""Of a token, by estimate."""
RECORD: TypeAdapter[ConversationRecord] = TypeAdapter(ConversationRecord)


class DoxaConversationStore(ConversationStore):
    """A store of one user's conversations in the database of an engine, durable on return.

    Threads and processes may share it: of two that save one conversation at once, one gets a `ConversationConflict`.
    Deleting a conversation erases its messages, with their turns, that no other one reaches. A message without words,
    or with more than a turn may have (`engine.max_turn_chars`), is a message and no turn.

    Args:
        doxa: the engine; it stays open when the store goes.
        user: whose memory it is, and whose conversations: a store of another user has none of them, whatever `scope`
            says. With everything of this user the conversations are forgotten too.
        agent: the name of the assistant.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.
    """

    def __init__(self, doxa: Doxa, *, user: str, agent: str = "assistant", speaker: str | None = None) -> None:
        self.doxa = doxa
        self._user, self._agent, self._speaker = user, agent, speaker
        self._memory = doxa.memory(user=user)
        self._records = Records(doxa, user=user, shelf=SHELF)

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Return the record of a conversation; None where there is none."""
        body = await to_thread(self._body, _place(CONVERSATIONS, conversation_id))
        return None if body is None else RECORD.validate_json(body)

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        """Return the records, or those of a scope, the latest first. O(conversations)."""
        held = await to_thread(self._records.all, CONVERSATIONS)
        found = [one for one in map(RECORD.validate_json, held.values()) if scope is None or one.scope == scope]
        return sorted(found, key=lambda one: one.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store a record and its new messages, all or none; their words become turns.

        Raises:
            ConversationConflict: somebody was faster, or the head is in no message; nothing was stored.
            PydanticSerializationError: a message has something in it that JSON has not; nothing was stored.
        """
        entries = list(new_entries)
        await finished(lambda: self._write(record, entries, expected_revision))

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Erase a conversation with the messages that no other one reaches, and their turns. O(messages).

        Raises:
            ConversationConflict: there is none of this revision; nothing was erased.
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        await finished(lambda: self._delete(conversation_id, expected_revision))

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Return an entry.

        Raises:
            KeyError: there is none.
        """
        return (await to_thread(self._walk, entry_id, 1))[0]

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """Return the entries that lead to one, oldest first, or the last few. Cost: a look for each.

        Raises:
            KeyError: one of them is gone.
        """
        return [] if head_id is None else await to_thread(self._walk, head_id, limit)

    def _write(self, record: ConversationRecord, entries: Sequence[ConversationEntry], revision: str | None) -> None:
        place = _place(CONVERSATIONS, record.conversation_id)
        expected = {place: self._as_revised(record.conversation_id, revision)}
        bodies: dict[str, bytes | None] = {_place(ENTRIES, entry.id): _written(entry) for entry in entries}
        head = None if record.head_id is None else _place(ENTRIES, record.head_id)
        if head is not None and head not in bodies:
            expected[head] = self._body(head)
            if expected[head] is None:
                raise ConversationConflict(record.conversation_id)
        bodies |= {place: RECORD.dump_json(record), CHANGED: record.revision.encode()}
        if not self._records.put(bodies, expected=expected):
            raise ConversationConflict(record.conversation_id)
        self._absorb(record.conversation_id, entries)

    def _absorb(self, conversation_id: str, entries: Sequence[ConversationEntry]) -> None:
        talk = self.doxa.dialogue(
            user=self._user, agent=self._agent, session=conversation_id or "default", speaker=self._speaker
        )
        for entry in entries:
            if said := _said(entry.message):
                role, words, at = said
                with suppress(TurnError):  # blank, or too long
                    talk.absorb(words, role=role, at=at, turn_id=_turn_id(_place(ENTRIES, entry.id)))
        keys = [_place(ENTRIES, entry.id) for entry in entries]
        held = self._records.get(*keys)
        self._forget(key for key in keys if key not in held)  # somebody deleted them meanwhile

    def _delete(self, conversation_id: str, revision: str) -> None:
        place = _place(CONVERSATIONS, conversation_id)
        trace = f"{GONE}{place}"
        while True:
            changed = self._body(CHANGED)
            expected = {place: self._as_revised(conversation_id, revision), CHANGED: changed}
            gone = self._unreached(without=place)
            bodies: dict[str, bytes | None] = {place: None, **dict.fromkeys(gone), trace: b"-"}
            if self._records.put(bodies, expected=expected):
                break
        try:
            self._records.erase(trace)  # wipes what was removed before, too
        finally:
            self._forget(reversed(gone))

    def _unreached(self, *, without: str) -> list[str]:
        """Return the keys of entries that no conversation but one leads to, oldest first."""
        parents = {key: _parent(body) for key, body in self._records.all(ENTRIES).items()}
        reached: set[str] = set()
        for key, body in self._records.all(CONVERSATIONS).items():
            record = RECORD.validate_json(body)
            for tip in [record.head_id, *record.branches] if key != without else ():
                at = None if tip is None else _place(ENTRIES, tip)
                while at is not None and at in parents and at not in reached:
                    reached.add(at)
                    at = parents[at]
        return [key for key in parents if key not in reached]

    def _as_revised(self, conversation_id: str, revision: str | None) -> bytes | None:
        """Return what is stored of a conversation, if its revision is this one; None is for none."""
        body = self._body(_place(CONVERSATIONS, conversation_id))
        if (None if body is None else RECORD.validate_json(body).revision) != revision:
            raise ConversationConflict(conversation_id)
        return body

    def _walk(self, entry_id: str, limit: int | None) -> list[ConversationEntry]:
        found: list[ConversationEntry] = []
        at: str | None = entry_id
        while at is not None and (limit is None or len(found) < limit):
            if (body := self._body(_place(ENTRIES, at))) is None:
                raise KeyError(at)
            found.append(_read(body))
            at = found[-1].parent_id
        return found[::-1]

    def _body(self, key: str) -> bytes | None:
        return self._records.get(key).get(key)

    def _forget(self, keys: Iterable[str]) -> None:
        forget_turns(self._memory, map(_turn_id, keys))


class DoxaMemory(AbstractCapability[Any]):
    """A memory as a capability of an agent: what bears on a request comes with it, and tools recall, remember, forget.

    What comes with a request is for that request alone: it is in no history and in no instructions. Keep what is said
    with a `DoxaConversationStore`, or have the model `remember` it.

    Args:
        doxa: the engine; it stays open when the agent goes.
        user: whose memory it is, or what tells that of a run (`lambda ctx: ctx.deps.user`).
        agent: the name of the assistant.
        max_tokens: most tokens of what comes with a request, by estimate; 0 leaves it to the tools.
        tools: whether the model gets the tools.
        id: as in the framework.
    """

    def __init__(
        self,
        doxa: Doxa,
        *,
        user: str | Callable[[RunContext[Any]], str],
        agent: str = "assistant",
        max_tokens: int = 400,
        tools: bool = True,
        id: str | None = None,
    ) -> None:
        self.doxa = doxa
        self.id = id
        self._user, self._agent, self._max_tokens, self._tools = user, agent, max_tokens, tools

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tools `recall`, `remember` and `forget`, each for the user of the run."""
        return FunctionToolset([self.recall, self.remember, self.forget], id=self.id) if self._tools else None

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put what bears on what the user said last before it: what is believed, and what was said and is no fact."""
        messages = request_context.messages
        place = next((at for at in range(len(messages) - 1, -1, -1) if _is_prompt(messages[at])), None)
        said = _said(messages[place]) if self._max_tokens and place is not None else None
        if place is None or said is None or not said[1].strip():
            return request_context
        if known := await to_thread(_bearing, self._memory(ctx), said[1], self._max_tokens):
            asked = messages[place]
            told = UserPromptPart(f"<memory>\n{known}\n</memory>")
            renewed: ModelMessage = replace(asked, parts=[told, *asked.parts])  # type: ignore[arg-type]
            request_context.messages = [*messages[:place], renewed, *messages[place + 1 :]]
        return request_context

    async def recall(self, ctx: RunContext[Any], query: str, limit: int = 5) -> list[dict[str, Any]]:
        """Recall what was said before in any conversation with the user and bears on a query, best first.

        Args:
            query: what is looked for: a question or any words.
            limit: how many statements at most.
        """
        if not query.strip() or limit < 1:
            raise ModelRetry("Give a query that is not empty, and a limit of at least 1.")
        memory = self._memory(ctx)
        return await to_thread(_recalled, memory, query, limit)

    async def remember(self, ctx: RunContext[Any], statement: str) -> str:
        """Remember a statement of the user for later conversations, as the user said it; return its id.

        Args:
            statement: one or more whole sentences.
        """
        talk = self.doxa.dialogue(user=self._memory(ctx).user, agent=self._agent, session=SHELF)
        try:
            receipt = await finished(lambda: talk.absorb(statement, called=NOTED))
        except TurnError as exc:
            raise ModelRetry(str(exc)) from exc
        return receipt.turn_id

    async def forget(self, ctx: RunContext[Any], id: str) -> str:
        """Erase a statement for good, with all that was made from it. Only when the user asks for it.

        Args:
            id: the id of the statement, as `recall` gives it.
        """
        memory = self._memory(ctx)
        try:
            await finished(lambda: memory.forget(turn_id=id))
        except NotFoundError as exc:
            raise ModelRetry(f"There is no statement {id!r}. Take an id that recall gives.") from exc
        return "It is forgotten."

    def _memory(self, ctx: RunContext[Any]) -> Memory:
        return self.doxa.memory(user=self._user(ctx) if callable(self._user) else self._user)


def _recalled(memory: Memory, query: str, limit: int) -> list[dict[str, Any]]:
    turn_ids = [turn_id for item in memory.search(query, k=limit) for turn_id in item.turn_ids]
    turns = memory.turns(list(dict.fromkeys(turn_ids)))[:limit]
    return [{"id": one.turn_id, "text": one.text, "by": one.speaker, "at": one.at.isoformat()} for one in turns]


def _bearing(memory: Memory, query: str, max_tokens: int) -> str:
    """Return what is believed and bears on a query, then what was said of it and became no fact."""
    believed = memory.summary(query, max_tokens=max_tokens)
    untold = [turn_id for item in memory.search(query) if not item.fact_ids for turn_id in item.turn_ids]
    lines = [believed] if believed else []
    left = CHARACTERS * max_tokens - len(believed)
    for turn in memory.turns(list(dict.fromkeys(untold))):
        line = one_line(f"{turn.speaker}, {turn.at:%Y-%m-%d}: {turn.text}")
        if (left := left - len(line)) < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _is_prompt(message: ModelMessage) -> bool:
    return isinstance(message, ModelRequest) and any(isinstance(part, UserPromptPart) for part in message.parts)


def _said(message: ModelMessage) -> tuple[Role, str, datetime | None] | None:
    """Return who says what in a message, and when; None where it has no words of user or model."""
    if isinstance(message, ModelRequest):
        prompts = [part for part in message.parts if isinstance(part, UserPromptPart)]
        words = [text for part in prompts for text in _texts(part.content)]
        return ("user", "\n".join(words), prompts[0].timestamp) if words else None
    words = [part.content for part in message.parts if isinstance(part, TextPart)]
    return ("assistant", "\n".join(words), message.timestamp) if words else None


def _texts(content: str | Sequence[object]) -> list[str]:
    items = [content] if isinstance(content, str) else content
    words = [item.content if type(item) is TextContent else item for item in items]  # structured content is nobody's
    return [text for text in words if isinstance(text, str)]


def _written(entry: ConversationEntry) -> bytes:
    """Return an entry as it is stored: a line that says where it belongs, and its message."""
    head: Mapping[str, Any] = {"id": entry.id, "parent_id": entry.parent_id, "kind": entry.kind}
    return json.dumps(head).encode() + b"\n" + ModelMessagesTypeAdapter.dump_json([entry.message])


def _read(body: bytes) -> ConversationEntry:
    head, _, message = body.partition(b"\n")
    return ConversationEntry(**json.loads(head), message=ModelMessagesTypeAdapter.validate_json(message)[0])


def _parent(body: bytes) -> str | None:
    parent = json.loads(body.partition(b"\n")[0])["parent_id"]
    return None if parent is None else _place(ENTRIES, parent)


def _place(kind: str, name: str) -> str:
    return f"{kind}{short(name)}"


def _turn_id(key: str) -> str:
    return f"{SHELF}/{key}"
