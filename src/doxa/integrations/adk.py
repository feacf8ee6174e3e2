"""Google's Agent Development Kit: events of sessions -> turns of a memory, and records of their contents.

    from doxa import Doxa
    from doxa.integrations.adk import DoxaMemoryService

    service = DoxaMemoryService(Doxa.open("memory.db"))
    Runner(agent=agent, app_name="guide", session_service=..., memory_service=service)

What an event says is a turn, so that it is dated, understood and revised; its content is kept as well, and comes back
as it was. Thoughts of a model are kept and never believed.
Extra: `pip install "doxa[adk]"`.
"""

from __future__ import annotations

import json
from asyncio import to_thread
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai.types import Content, Part

from doxa.core.errors import InputError, NotFoundError, TurnError
from doxa.engine import Records, finished, forget_turns, short

if TYPE_CHECKING:
    from google.adk.events import Event
    from google.adk.sessions import Session

    from doxa.core.values import Role, Turn
    from doxa.engine import Doxa, Memory

__all__ = ["DoxaMemoryService"]

SHELF, DELETED = "adk", "deleted/"
UNKNOWN_SESSION = "__unknown_session_id__"
"""ADK's own name of the session of events that are added without one."""
MEMORIES = "memories"
"""The session of what is added by hand."""
USER = "user"
REPLACED = "the event says something else"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """Something to remember: an event, or a memory that is added by hand."""

    place: str
    """The key of its record, from its id and its session: no place is the beginning of another."""
    body: dict[str, Any]
    """What a search gives back, as plain JSON data; an event without its time, which is written where it is read."""
    words: str
    speaker: str | None
    role: Role
    at: datetime | None
    verbatim: bool
    """It can be found and is no statement."""


class DoxaMemoryService(BaseMemoryService):
    """A memory service in the database of an engine, durable on return. Threads and processes may share it.

    An app is a tenant of the engine and a user of it a user, so that they share nothing: what is believed, since when
    and why is told by `.doxa.tenant("guide").memory(user="ana")`. An id that is known is one memory: adding a session
    again adds what is new, replaces what says something else now, and brings nothing back that was deleted.

    Other than in ADK's `InMemoryMemoryService`: a search is Doxa's recall, best first, which leaves out what was
    revised unless the query is about the past; what the user's memory has from elsewhere is found too; events that a
    session has no more stay, as in `SqliteMemoryService`, since a session may have been read in part; metadata comes
    back, and memories can be added by hand. An event with more text than a turn may have (`engine.max_turn_chars`) is
    kept and not found.

    Args:
        doxa: the engine; it stays open when the service goes.
        apart: keep what one user says to two apps apart, as ADK does; else a user has one memory in all of them, that
            of `doxa` itself.
        top_k: how many memories a search gives at most.
    """

    def __init__(self, doxa: Doxa, *, apart: bool = True, top_k: int = 10) -> None:
        self.doxa = doxa
        self.apart = apart
        self.top_k = top_k

    async def add_session_to_memory(self, session: Session) -> None:
        """Add the events of a session that are new, and replace those that say something else.

        Raises:
            InputError: a name or a time cannot be used; nothing was stored.
        """
        items = _events(session.events, session.id)
        await finished(lambda: self._add(session.app_name, session.user_id, session.id, items, replaces=True))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add events; those that are known stay as they are.

        Args:
            app_name: the app.
            user_id: its user.
            events: some of a session's events.
            session_id: the session, if there is one.
            custom_metadata: plain JSON data that a search gives back with each of them.

        Raises:
            InputError: a name, a time or the metadata cannot be used; nothing was stored.
        """
        session = session_id or UNKNOWN_SESSION
        items = _events(events, session, custom_metadata)
        await finished(lambda: self._add(app_name, user_id, session, items, replaces=False))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add memories as they are written; one with a known id takes its place, one without an id gets one.

        The user says them, or the agent if `content.role` is "model", at their time if it is written in ISO 8601.

        Args:
            app_name: the app.
            user_id: its user.
            memories: what to remember.
            custom_metadata: plain JSON data that is kept with each of them, beside its own.

        Raises:
            InputError: a name or the metadata cannot be used; nothing was stored.
        """
        items = [_by_hand(entry, custom_metadata) for entry in memories if _texts(entry.content)]
        await finished(lambda: self._add(app_name, user_id, MEMORIES, items, replaces=True, again=True))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what bears on a query, best first; nothing for one without words.

        Raises:
            InputError: a name cannot be used.
        """
        if not query.strip():
            return SearchMemoryResponse()
        return SearchMemoryResponse(memories=await to_thread(self._search, app_name, user_id, query))

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase a memory and what was made from it, in every session; adding its session again leaves it erased.

        Raises:
            InputError: a name cannot be used.
            StoreLockedError: it is gone, and bytes of it stay until nobody else reads the file.
        """
        if memory_id:
            await finished(lambda: self._delete(app_name, user_id, memory_id))

    def _engine(self, app_name: str) -> Doxa:
        return self.doxa.tenant(app_name) if self.apart else self.doxa

    def _parts(self, app_name: str, user_id: str) -> tuple[Memory, Records]:
        engine = self._engine(app_name)
        return engine.memory(user=user_id), Records(engine, user=user_id, shelf=SHELF)

    def _add(
        self,
        app_name: str,
        user_id: str,
        session: str,
        items: Sequence[_Item],
        *,
        replaces: bool,
        again: bool = False,
    ) -> None:
        """Remember items: the ids of their turns first, then the turns, then the records that a search gives back.

        So no turn is ever out of reach of `delete_memory`, and what a crash interrupts is done at the next time.

        Args:
            app_name: the app.
            user_id: its user.
            session: the session of the turns.
            items: what to remember.
            replaces: items may say something else than what is known by their ids.
            again: items may be told again after they were deleted.
        """
        memory, records = self._parts(app_name, user_id)
        by_place: dict[str, _Item] = {}
        for item in items:
            if replaces or item.place not in by_place:
                by_place[item.place] = item
        known = records.get(*by_place)
        barred = set() if again else set(records.get(*map(_tombstone, by_place)))
        new: dict[str, _Item] = {}
        for place, item in by_place.items():
            before = known.get(place)
            if _tombstone(place) not in barred and (before is None or (replaces and _differs(item, before))):
                new[f"{place}/{uuid4().hex if before else short(json.dumps([item.body, _instant(item)]))}"] = item
        records.put(dict.fromkeys(new, b""))
        talk = self._engine(app_name).dialogue(user=user_id, session=session)
        for key, item in new.items():
            with suppress(TurnError):  # too long
                talk.absorb(
                    item.words, speaker=item.speaker, role=item.role, at=item.at, turn_id=_turn_id(key),
                    verbatim=item.verbatim,
                )  # fmt: skip
        records.put({item.place: _stored(key, item) for key, item in new.items()})
        deleted = set() if again else {key.removeprefix(DELETED) for key in records.get(*map(_tombstone, by_place))}
        held = records.get(*new)
        gone = [key for key in new if key not in held or key.partition("/")[0] in deleted]  # somebody deleted it since
        forget_turns(memory, map(_turn_id, gone))
        for key in gone:
            records.erase(new[key].place)
        _give_up(memory, records, [item.place for item in new.values() if item.place in known])

    def _search(self, app_name: str, user_id: str, query: str) -> list[MemoryEntry]:
        memory, records = self._parts(app_name, user_id)
        evidence = memory.search(query, k=2 * self.top_k)  # facts lead to turns that are found already
        turns = memory.turns(list(dict.fromkeys(turn_id for one in evidence for turn_id in one.turn_ids)))[: self.top_k]
        held = records.get(*(_place_of(turn) for turn in turns))
        return [_entry(turn, held.get(_place_of(turn))) for turn in turns]

    def _delete(self, app_name: str, user_id: str, memory_id: str) -> None:
        memory, records = self._parts(app_name, user_id)
        start = f"{short(memory_id)}/"
        if not records.all(start):
            forget_turns(memory, [memory_id])  # one from elsewhere has the id of its turn
            return
        records.put({_tombstone(start): b""})  # from here on, nobody who adds it leaves it there
        try:
            forget_turns(memory, [_turn_id(key) for key in reversed(records.all(start))])
        finally:  # they are gone, even where it fails since somebody else is reading
            records.erase(start)


def _events(events: Sequence[Event], session: str, metadata: Mapping[str, object] | None = None) -> list[_Item]:
    """Return what is to be remembered of events: those with words, since nothing else can be found.

    Raises:
        InputError: a time or the metadata cannot be used.
    """
    plain, items = _plain(metadata), list[_Item]()
    for event in events:
        if event.content and _texts(event.content):
            entry = MemoryEntry(id=event.id, content=event.content, author=event.author, custom_metadata=plain)
            role: Role = "user" if event.author == USER else "assistant"
            items.append(_item(entry, event.id, session, role=role, at=_read_time(event)))
    return items


def _by_hand(entry: MemoryEntry, metadata: Mapping[str, object] | None) -> _Item:
    name = entry.id or uuid4().hex
    named = entry.model_copy(
        update={"id": name, "custom_metadata": _plain({**entry.custom_metadata, **(metadata or {})})}
    )
    at: datetime | None = None
    with suppress(ValueError, OverflowError):  # ISO 8601 is what ADK prefers, and anything is allowed
        at = datetime.fromisoformat(entry.timestamp or "").astimezone(UTC)
    return _item(named, name, MEMORIES, role="assistant" if entry.content.role == "model" else "user", at=at)


def _item(entry: MemoryEntry, name: str, session: str, *, role: Role, at: datetime | None) -> _Item:
    texts = _texts(entry.content)
    said = [part for part in texts if not part.thought]
    return _Item(
        place=f"{short(name)}/{short(session)}",
        body=entry.model_dump(mode="json"),
        words="\n".join(str(part.text) for part in said or texts),
        speaker=None if entry.author == USER else entry.author or None,
        role=role,
        at=at,
        verbatim=not said,
    )


def _texts(content: Content) -> list[Part]:
    return [part for part in content.parts or () if part.text and part.text.strip()]


def _give_up(memory: Memory, records: Records, places: Sequence[str]) -> None:
    """Withdraw what events said before; of two writers, the later one leaves all as it has to be."""
    withdrawn = memory.withdrawn() if places else {}
    for place in places:
        stored = next(iter(records.get(place).values()), None)
        for key in records.all(f"{place}/"):
            turn_id = _turn_id(key)
            if stored and turn_id != json.loads(stored)["turn_id"] and turn_id not in withdrawn:
                with suppress(NotFoundError):  # it was forgotten by other ways
                    memory.withdraw(turn_id=turn_id, reason=REPLACED)


def _entry(turn: Turn, body: bytes | None) -> MemoryEntry:
    """Return a turn as ADK has a memory: what it was made from, or its words if that was no event."""
    if body is not None:
        kept = json.loads(body)
        if kept["turn_id"] == turn.turn_id:
            entry = MemoryEntry.model_validate(kept["entry"])
            return entry if entry.timestamp else entry.model_copy(update={"timestamp": _written(turn.at)})
    ours = turn.role == "user"
    return MemoryEntry(
        id=turn.turn_id,
        content=Content(role=USER if ours else "model", parts=[Part(text=turn.text)]),
        author=USER if ours else turn.speaker,
        timestamp=_written(turn.at),
        custom_metadata=dict(turn.metadata),
    )


def _stored(key: str, item: _Item) -> bytes:
    return json.dumps({"turn_id": _turn_id(key), "entry": item.body, "at": _instant(item)}).encode()


def _differs(item: _Item, before: bytes) -> bool:
    """Tell whether an item says something else than its record; a session knows nothing of metadata."""
    kept = json.loads(before)
    old = kept["entry"]
    changed = [name for name, value in item.body.items() if old[name] != value and (value or name != "custom_metadata")]
    return bool(changed) or kept["at"] != _instant(item)


def _instant(item: _Item) -> str | None:
    return None if item.at is None else item.at.isoformat()


def _plain(metadata: Mapping[str, object] | None) -> dict[str, Any]:
    """Return metadata as it can be kept.

    Raises:
        InputError: it is no plain JSON data.
    """
    try:
        return dict(json.loads(json.dumps(dict(metadata or {}), allow_nan=False)))
    except (TypeError, ValueError) as exc:
        raise InputError(f"custom_metadata: expected plain JSON data: {exc}. Nothing was stored.") from exc


def _read_time(event: Event) -> datetime:
    try:
        return datetime.fromtimestamp(event.timestamp, UTC)
    except (ValueError, OverflowError, OSError) as exc:
        raise InputError(
            f"event {event.id}: expected a timestamp in seconds since 1970, got {event.timestamp}. Nothing was stored."
        ) from exc


def _written(at: datetime) -> str:
    """Return a time as ADK writes it: that of the place where the program runs, without saying so."""
    return at.astimezone().replace(tzinfo=None).isoformat()


def _tombstone(place: str) -> str:
    """Return the key of the record that says that the memory at a place was deleted."""
    return DELETED + place.partition("/")[0]


def _turn_id(key: str) -> str:
    return f"{SHELF}/{key}"


def _place_of(turn: Turn) -> str:
    """Return the key of the record of what a turn was made from; that of a turn from elsewhere is no such key."""
    return turn.turn_id.removeprefix(f"{SHELF}/").rpartition("/")[0] or "/"
