"""Strands Agents: entries and messages of a memory store -> turns of a memory.

    from doxa import Doxa
    from doxa.integrations.strands import DoxaMemoryStore

    store = DoxaMemoryStore(Doxa.open("memory.db"), user="ana", extraction=True)
    Agent(model=..., memory_manager=MemoryManager(stores=[store], add_tool_config=True))

An entry is a turn: found by recall, understood, and revised by what is said later. With `extraction` what user and
agent say comes in as it is said, without a model.
Extra: `pip install "doxa[strands]"`.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from strands.memory import AddMessagesContext, ExtractionConfig, MemoryEntry, MemoryStore, SearchOptions

from doxa.core.errors import TurnError
from doxa.core.turns import NOTED
from doxa.engine import finished, short

if TYPE_CHECKING:
    from strands.types.content import Message

    from doxa.core.values import Role, Turn
    from doxa.engine import Doxa

__all__ = ["DoxaMemoryStore"]

PLACE = "strands"
MOST = 10
"""How many entries a search gives where nobody says; as in the stores of the framework."""
LOOKED_AT = 4
"""Pieces of evidence looked at for each entry that is asked for: several may be of one text."""
SCORE, TURN, AT, SPEAKER = "_relevanceScore", "_turnId", "_saidAt", "_speaker"
"""What the metadata of an entry has beside the caller's; the first is the framework's name."""


class DoxaMemoryStore(MemoryStore):
    """A memory store that is one user's memory in the database of an engine, durable on return.

    A search finds whatever is remembered of the user, what came in by other ways too, and leaves out what is no longer
    believed. The same content is one entry however often it is added; added again after something else it is news, so
    that what was revised holds again. Threads, event loops and processes may share a memory.

    Args:
        doxa: the engine; it stays open when the store goes.
        user: whose memory it is; users never share anything.
        name: the store's name within a `MemoryManager`; two stores of one user are the same memory.
        description: what the model is told of it.
        max_search_results: how many entries a search gives where a call does not say.
        writable: whether it takes entries and messages.
        extraction: as in the framework; `True` brings in what is said every five invocations, and needs no model. With
            an extractor of yours its results are added.
        agent: the name of the assistant.
        session: the session of what comes in here.
        speaker: the user's name as people write it; by default as in `Doxa.dialogue`.

    Raises:
        ValueError: the name is empty, or `max_search_results` is below 1.
    """

    def __init__(
        self,
        doxa: Doxa,
        *,
        user: str,
        name: str = "doxa",
        description: str | None = None,
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = None,
        agent: str = "assistant",
        session: str = PLACE,
        speaker: str | None = None,
    ) -> None:
        if not name.strip():
            raise ValueError("DoxaMemoryStore: name must not be empty.")
        _require_positive(max_search_results)
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = extraction
        self.doxa = doxa
        self._memory = doxa.memory(user=user)
        self._dialogue = doxa.dialogue(user=user, agent=agent, session=session, speaker=speaker)
        self._one_at_a_time = Lock()
        self._latest = ""
        self._begun: dict[tuple[int, Role, str], str] = {}

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return what bears on a query, best first; nothing for a query without words.

        The metadata of an entry has what was given with it, `_relevanceScore`, the `_turnId` to explain or forget it
        by, `_saidAt` and `_speaker`.

        Raises:
            ValueError: `max_search_results` is below 1.
        """
        wanted = options.get("max_search_results") if options else None
        _require_positive(wanted)
        if not query.strip():
            return []
        return await to_thread(self._search, query, wanted or self.max_search_results or MOST)

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> str:
        """Remember a content as said by the user, with JSON data beside it; return the id of the turn that says it.

        Raises:
            ValueError: the store is not writable, or the content is empty.
            InputError: the metadata is no plain JSON data, or the content has more than a turn may have
                (`engine.max_turn_chars`); nothing was stored.
        """
        self._require_writable("add")
        if not content.strip():
            raise ValueError("DoxaMemoryStore: content must not be empty.")
        return await finished(lambda: self._add(content, metadata))

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> None:
        """Remember what user and agent said, each message once however often a batch is tried again.

        Messages without words, or with more than a turn may have, are left out.

        Raises:
            ValueError: the store is not writable.
        """
        self._require_writable("add_messages")
        numbers = context.sequence_numbers if context is not None else None
        await finished(lambda: self._absorb(messages, numbers))

    def _search(self, query: str, most: int) -> list[MemoryEntry]:
        evidence = self._memory.search(query, k=LOOKED_AT * most)
        turns = self._memory.turns([turn_id for item in evidence for turn_id in item.turn_ids])
        turn_of = {turn.turn_id: turn for turn in turns}
        found: dict[str, MemoryEntry] = {}
        for item in evidence:
            for turn_id in item.turn_ids:
                if (turn := turn_of.get(turn_id)) is not None:
                    found.setdefault(turn.text.strip(), _entry(turn, item.score))
        return [*found.values()][:most]

    def _add(self, content: str, metadata: dict[str, Any] | None) -> str:
        place = f"{PLACE}/{short(content.strip())}/"
        with self._one_at_a_time:
            times = self._times(place)
            again = times > 0 and self._latest == place and f"{place}{times - 1}" not in self._memory.withdrawn()
            turn_id = f"{place}{times - 1 if again else times}"
            if not again:
                self._dialogue.absorb(content, turn_id=turn_id, called=NOTED, metadata=metadata)
            self._latest = place
        return turn_id

    def _times(self, place: str) -> int:
        """Return how often a content was said. O(times)."""
        return next(at for at in count() if not self._memory.turns([f"{place}{at}"], withdrawn=True))

    def _absorb(self, messages: Sequence[Message], numbers: Sequence[int] | None) -> None:
        """Absorb messages; of a batch that fails the ids are kept, so that what is tried again is the same turn."""
        said = [
            (number, message["role"], words)
            for number, message in zip(numbers or range(len(messages)), messages, strict=True)
            if (words := "\n".join(block["text"] for block in message["content"] if block.get("text")))
        ]
        with self._one_at_a_time:
            self._latest = ""
            for one in said:
                turn_id = self._begun.setdefault(one, f"{PLACE}/{uuid4().hex}")
                with suppress(TurnError):  # blank, or too long
                    self._dialogue.absorb(one[2], role=one[1], turn_id=turn_id)
            for one in said:
                self._begun.pop(one, None)

    def _require_writable(self, call: str) -> None:
        if not self.writable:
            raise ValueError(f"DoxaMemoryStore: store is not writable. Set writable=True to enable {call}().")


def _entry(turn: Turn, score: float) -> MemoryEntry:
    ours = {SCORE: float(score), TURN: turn.turn_id, AT: turn.at.isoformat(), SPEAKER: turn.speaker}
    return MemoryEntry(content=turn.text, metadata={**turn.metadata, **ours})


def _require_positive(most: int | None) -> None:
    if most is not None and most < 1:
        raise ValueError("DoxaMemoryStore: max_search_results must be at least 1.")
