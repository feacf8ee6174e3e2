"""AutoGen: contents of a memory -> records beside a memory, and turns that they are found by.

    from doxa import Doxa
    from doxa.integrations.autogen import DoxaMemory

    memory = DoxaMemory(Doxa.open("memory.db"), user="ana")
    AssistantAgent("guide", model_client=..., memory=[memory])

A content is kept as it is, bytes and images too. Text is a turn of the user as well: dated, understood, revised, found.
Extra: `pip install "doxa[autogen]"`.
"""

from __future__ import annotations

import json
from asyncio import ensure_future, to_thread
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypeVar
from urllib.parse import unquote

from autogen_core import CancellationToken, Component, Image
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import AssistantMessage, LLMMessage, SystemMessage, UserMessage
from pydantic import BaseModel

from doxa.core.errors import InputError
from doxa.engine import Doxa, finished
from doxa.integrations.transcript import Kept, Message, Transcript

__all__ = ["DoxaMemory", "DoxaMemoryConfig"]

SHELF, NAME = "autogen", "default_doxa_memory"
PROSE = (MemoryMimeType.TEXT.value, MemoryMimeType.MARKDOWN.value)
"""What is read; text of any other kind is found as it stands, and no facts come of it."""
BEFORE = 6
"""Messages before the one that is searched for: they tell what "she" and "there" are."""
TOLD = "\nRelevant memory content (in chronological order):\n{}\n"
"""As AutoGen's own memory tells a model."""
IN_MEMORY = ":memory:"
T = TypeVar("T")


class DoxaMemoryConfig(BaseModel):
    """Where a `DoxaMemory` is. Its contents stay in the database, and so do passwords outside of the configuration."""

    url: str
    user: str
    tenant: str = "default"
    name: str = NAME
    speaker: str | None = None
    top_k: int = 10


class DoxaMemory(Memory, Component[DoxaMemoryConfig]):
    """A memory in the database of an engine, durable on return. Threads and processes may share it.

    Other than in AutoGen's `ListMemory`: a query with words gives what bears on it, best first, and `update_context`
    what bears on the latest message of the user; what was revised is left out unless the past is asked about. A query
    without words gives everything, in order. Bytes, images, and text that is longer than a turn may be
    (`engine.max_turn_chars`) are kept and found by no words.

    Args:
        doxa: the engine; it stays open when the memory goes.
        user: whose memory it is; with everything of this user the contents are forgotten too.
        name: its name, for this user alone; contents of other names are not seen.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.
        top_k: how many contents are found at most.
    """

    component_type = "memory"
    component_provider_override = "doxa.integrations.autogen.DoxaMemory"
    component_config_schema = DoxaMemoryConfig

    def __init__(
        self, doxa: Doxa, *, user: str, name: str | None = None, speaker: str | None = None, top_k: int = 10
    ) -> None:
        self.doxa = doxa
        self._user, self._name, self._speaker, self._top_k = user, name or NAME, speaker, top_k
        self._transcript = Transcript(doxa, user=user, session=self._name, shelf=SHELF, speaker=speaker)
        self._memory = doxa.memory(user=user)
        self._opened: Doxa | None = None

    @property
    def name(self) -> str:
        """The name of the memory."""
        return self._name

    @property
    def content(self) -> list[MemoryContent]:
        """Everything that is kept, oldest first. To set it erases what was kept before."""
        return [_read(one.body) for one in self._transcript.kept()]

    @content.setter
    def content(self, value: list[MemoryContent]) -> None:
        made = [_made(content) for content in value]
        self._transcript.clear()
        self._transcript.add(made)

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Tell a model what bears on the latest message of the user, in a system message; return what that is.

        The latest contents are told if the user has said nothing yet.
        """
        asked, before = _asked(await model_context.get_messages())
        found = await to_thread(self._for_context, asked, before)
        if found:
            lines = [f"{number}. {content.content!s}" for number, content in enumerate(found, 1)]
            await model_context.add_message(SystemMessage(content=TOLD.format("\n".join(lines))))
        return UpdateContextResult(memories=MemoryQueryResult(results=found))

    async def query(
        self, query: str | MemoryContent = "", cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """Return what bears on a query, best first; everything, oldest first, for one without words.

        Args:
            query: words, or a content that has some.
            cancellation_token: gives the search up.
            kwargs: what `doxa.engine.Memory.search` takes as well: `k`, `as_of`, `known_at`, `since` and the like.

        Raises:
            InputError: one of these cannot be used.
        """
        words = query if isinstance(query, str) else _words(query)
        act = to_thread(self._answer, words, {"k": self._top_k} | kwargs)
        return MemoryQueryResult(results=await _linked(act, cancellation_token))

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Add a content after those that are there.

        Args:
            content: what to remember; text is said by the user.
            cancellation_token: if it is cancelled before, nothing is added.

        Raises:
            InputError: a dict in it is no plain JSON data; nothing was stored.
        """
        await _linked(finished(partial(self._transcript.add, [_made(content)])), cancellation_token)

    async def clear(self) -> None:
        """Erase all contents of this name, and what was made from them.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        await finished(self._transcript.clear)

    async def close(self) -> None:
        """Close the engine if it was opened for this memory, by `load_component`."""
        if self._opened is not None:
            await finished(self._opened.close)

    @classmethod
    def _from_config(cls, config: DoxaMemoryConfig) -> Self:
        opened = Doxa.open(config.url)
        made = cls(
            opened.tenant(config.tenant),
            user=config.user, name=config.name, speaker=config.speaker, top_k=config.top_k,
        )  # fmt: skip
        made._opened = opened
        return made

    def _to_config(self) -> DoxaMemoryConfig:
        url = str(self.doxa.describe()["store"]["location"])
        if IN_MEMORY in unquote(url):
            raise InputError(
                "dump_component: expected a memory in a file or on a server, got one that ends with the "
                'process. Open the engine with Doxa.open("memory.db").'
            )
        return DoxaMemoryConfig(
            url=url.replace(":***@", "@"), tenant=self.doxa.parts.config.tenant, user=self._user, name=self._name,
            speaker=self._speaker, top_k=self._top_k,
        )  # fmt: skip

    def _for_context(self, asked: str, before: Sequence[tuple[str, str]]) -> list[MemoryContent]:
        """Return what a model is to be told, oldest first."""
        if not asked:
            return self.content[-self._top_k :]
        found = self._found(asked, {"k": self._top_k, "recent": before or None})
        return [_read(one.body) for one in sorted(found, key=lambda one: one.key)]

    def _answer(self, words: str, options: Mapping[str, Any]) -> list[MemoryContent]:
        if not words.strip():
            return self.content
        return [_read(one.body) for one in self._found(words, options)]

    def _found(self, words: str, options: Mapping[str, Any]) -> list[Kept]:
        """Return the contents that recall finds, best first."""
        found = self._memory.search(words, session=self._name, **options)
        return self._transcript.told(turn_id for one in found for turn_id in one.turn_ids)


def _asked(messages: Sequence[LLMMessage]) -> tuple[str, list[tuple[str, str]]]:
    """Return the latest words of the user, and who said what before."""
    said = [(message, _said(message)) for message in messages if isinstance(message, UserMessage | AssistantMessage)]
    spoken = [(message, words) for message, words in said if words.strip()]
    for at in range(len(spoken) - 1, -1, -1):
        if isinstance(spoken[at][0], UserMessage):
            return spoken[at][1], [(one.source, words) for one, words in spoken[max(0, at - BEFORE) : at]]
    return "", []


def _said(message: UserMessage | AssistantMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part for part in message.content if isinstance(part, str))


def _words(content: MemoryContent) -> str:
    """Return what a content says in words; nothing where it is bytes or an image."""
    match content.content:
        case str(text):
            return text
        case dict(tree):
            return json.dumps(tree, ensure_ascii=False)
    return ""


def _is_prose(content: MemoryContent) -> bool:
    return isinstance(content.content, str) and _mime(content) in PROSE


def _mime(content: MemoryContent) -> str:
    mime = content.mime_type
    return mime.value if isinstance(mime, MemoryMimeType) else mime


def _made(content: MemoryContent) -> Message:
    return Message(body=_body(content), words=_words(content), verbatim=not _is_prose(content))


def _body(content: MemoryContent) -> bytes:
    """Return a content as it is stored.

    Raises:
        InputError: a dict in it is no plain JSON data.
    """
    kept, mime = content.content, content.mime_type
    row: dict[str, Any] = {"mime": _mime(content), "named": isinstance(mime, MemoryMimeType)}
    row["metadata"] = content.metadata
    match kept:
        case bytes():
            row["bytes"] = b64encode(kept).decode()
        case Image():
            row["image"] = kept.to_base64()
        case _:
            row["plain"] = kept
    try:
        body = json.dumps(row, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InputError(f"add: expected plain JSON data: {exc}. Nothing was stored.") from exc
    if json.loads(body) != row:  # keys that are no text, tuples
        raise InputError(f"add: expected plain JSON data that comes back as it is, got {str(row)[:200]}.")
    return body.encode()


def _read(body: bytes) -> MemoryContent:
    row = json.loads(body)
    content: Any = row.get("plain")
    if "bytes" in row:
        content = b64decode(row["bytes"])
    elif "image" in row:
        content = Image.from_base64(row["image"])
    mime = MemoryMimeType(row["mime"]) if row["named"] else row["mime"]
    return MemoryContent(content=content, mime_type=mime, metadata=row["metadata"])


async def _linked(act: Awaitable[T], token: CancellationToken | None) -> T:
    """Return what an act gives; a token that is cancelled cancels it."""
    running = ensure_future(act)
    if token is not None:
        token.link_future(running)
    return await running
