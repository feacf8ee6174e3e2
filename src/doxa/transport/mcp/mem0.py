"""The profile `mem0`: the names and shapes of mem0's MCP tools.

A memory is a fact; a turn that no fact was read from is one too. What such a memory says is a sentence, and its id is
that of the fact or the turn. A run is a session. There are no entities beside the user, and no metadata; what has no
meaning here says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time
from typing import Annotated, Any, Literal

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.types import InputRequiredResult
from pydantic import Field

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Change, ChangeKind, Fact, Turn
from doxa.engine import Memory
from doxa.transport.mcp.acts import Given, changes, reads
from doxa.transport.mcp.correcting import Confirm, ErasedOut, erase_everything
from doxa.transport.mcp.remembering import Message
from doxa.transport.mcp.rooms import here
from doxa.transport.room import Room

__all__ = ["ACTS"]

LARGEST = 100
EVENTS = {
    ChangeKind.ASSERT: "ADD", ChangeKind.SUPPORT: "NONE", ChangeKind.REFINE: "UPDATE", ChangeKind.RESTORE: "ADD",
    ChangeKind.CLOSE: "DELETE", ChangeKind.RETRACT: "DELETE",
}  # fmt: skip
"""What mem0 calls what happens to a memory."""
MemoryId = Annotated[str, Field(description="Exact memory_id.")]
Filters = Annotated[
    dict[str, Any] | None,
    Field(description='`created_at` with `gte` or `lte`, and `run_id`; several under "AND".'),
]


class Kept(Given):
    """A memory."""

    id: str
    memory: str
    event: str | None = None
    score: float | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    user_id: str
    metadata: dict[str, Any] | None = None


class Results(Given):
    """Memories."""

    results: list[Kept]


class Page(Given):
    """Memories, a page of them."""

    count: int
    next: int | None = Field(None, description="Number of the next page.")
    previous: int | None = Field(None, description="Number of the page before.")
    results: list[Kept]


class Said(Given):
    """What was done."""

    message: str


class EntityOut(Given):
    """Somebody who has memories."""

    name: str
    type: Literal["user"] = "user"
    total_memories: int


class Entities(Given):
    """Who has memories."""

    count: int
    results: list[EntityOut]


def add_memory(
    text: Annotated[str | None, Field(description="Plain sentence of what to store; or give `messages`.")] = None,
    messages: Annotated[list[Message] | None, Field(description="Conversation history, `role` and `content`.")] = None,
    agent_id: Annotated[str | None, Field(description="Optional agent identifier.")] = None,
    run_id: Annotated[str | None, Field(description="Optional run identifier.")] = None,
    metadata: Annotated[dict[str, Any] | None, Field(description="Not kept here: say it in the text.")] = None,
) -> Results:
    """Store a new preference, fact, or conversation snippet."""
    if metadata:
        raise InputError(
            "add_memory: metadata is not kept here, so nothing was stored. Say in the text what matters of it."
        )
    if not text and not messages:
        raise InputError("add_memory: provide either `text` or `messages`.")
    room = here()
    dialogue = room.dialogue("write", session=run_id, agent=agent_id)
    told = messages or [Message(content=str(text))]
    receipts = dialogue.add([one.model_dump(exclude_none=True) for one in told])
    dialogue.flush()
    return Results(results=_stored(room, [one.turn_id for one in receipts]))


def search_memories(
    query: Annotated[str, Field(description="Natural language description of what to find.")],
    filters: Filters = None,
    limit: Annotated[int, Field(ge=1, le=LARGEST, description="Maximum number of results to return.")] = 10,
) -> Results:
    """Run a semantic search over existing memories."""
    room, memory = here(), here().memory()
    narrowed = _narrowed(filters)
    facts = {fact.fact_id: fact for fact in memory.facts()}
    found: dict[str, Kept] = {}
    for one in memory.search(query, k=limit, shared=False, **narrowed):
        known = [facts[key] for key in one.fact_ids if key in facts]
        kept = [_fact(fact, room, memory) for fact in known]
        kept = kept or [_turn(turn, room) for turn in memory.turns(one.turn_ids) if not turn.generated]
        for item in kept:
            found.setdefault(item.id, item.model_copy(update={"score": round(one.score, 4)}))
    return Results(results=list(found.values())[:limit])


def get_memories(
    filters: Filters = None,
    page: Annotated[int, Field(ge=1, description="1-indexed page number.")] = 1,
    page_size: Annotated[int, Field(ge=1, le=LARGEST, description="Number of memories per page.")] = 10,
) -> Page:
    """Page through memories using filters instead of search, the newest first."""
    room, memory = here(), here().memory()
    kept = _within(_all(room, memory, session=_narrowed(filters).get("session")), _narrowed(filters))
    kept.sort(key=lambda one: one.created_at.timestamp() if one.created_at else 0.0, reverse=True)
    start, end = (page - 1) * page_size, page * page_size
    after = page + 1 if end < len(kept) else None
    return Page(count=len(kept), next=after, previous=page - 1 or None, results=kept[start:end])


def get_memory(memory_id: MemoryId) -> Kept:
    """Fetch a single memory once you know its memory_id."""
    return _find(here(), memory_id)[0]


def update_memory(
    memory_id: MemoryId,
    text: Annotated[str, Field(pattern=r"\S", description="Replacement text for the memory.")],
) -> Results:
    """Overwrite an existing memory's text."""
    room = here()
    memory = room.memory("write")
    _, fact = _find(room, memory_id)
    # Given up first: the new text would be taken for a change of the world otherwise. Its turn is kept either way.
    if fact is not None:
        memory.retract(memory_id, reason="it was overwritten")
    else:
        memory.withdraw(turn_id=memory_id, reason="it was overwritten")
    dialogue = room.dialogue("write")
    stored = dialogue.absorb(text)
    dialogue.flush()
    return Results(results=_stored(room, [stored.turn_id]))


def delete_memory(memory_id: MemoryId) -> Said:
    """Delete one memory after the user confirms its memory_id."""
    room = here()
    memory, (_, fact) = room.memory("erase"), _find(room, memory_id)
    if fact is None:
        memory.forget(turn_id=memory_id)
        return Said(message="Memory deleted successfully!")
    others = {key for one in memory.facts() if one.fact_id != memory_id and not one.premises for key in one.turn_ids}
    if fact.premises or others.intersection(fact.turn_ids):
        memory.retract(memory_id, reason="it was deleted")
        return Said(
            message="Memory deleted: it is believed no longer. What was said is kept, since it says other things too."
        )
    memory.forget(turn_id=fact.turn_ids)
    return Said(message="Memory deleted successfully!")


async def delete_all_memories(context: Context[Any, Any], confirm: Confirm = None) -> ErasedOut | InputRequiredResult:
    """Delete every memory of the user, for good. The user is asked first, where the client can ask them."""
    return await erase_everything(context, confirm=confirm)


async def delete_entities(context: Context[Any, Any], confirm: Confirm = None) -> ErasedOut | InputRequiredResult:
    """Delete the user with all memories. There is no other entity here: agents and runs are not kept apart."""
    return await erase_everything(context, confirm=confirm)


async def list_entities() -> Entities:
    """List who holds memories: the one user whose memory this is."""
    room = here()
    total = len(await anyio.to_thread.run_sync(lambda: _all(room, room.memory())))
    one = EntityOut(name=room.scope.user, total_memories=total)
    return Entities(count=1, results=[one])


def list_events() -> Said:
    """List background events. There are none: what is added is understood before the call returns."""
    raise InputError("There are no events here: what `add_memory` stores is understood when it returns.")


def get_event_status(event_id: Annotated[str, Field(description="Id of an event.")]) -> Said:
    """Get the status of a background event. There are none: what is added is understood before the call returns."""
    raise InputError(f"There is no event {event_id!r}: what `add_memory` stores is understood when it returns.")


def _stored(room: Room, turn_ids: list[str]) -> list[Kept]:
    """Return what turns made of the memories; a turn that made nothing is one itself."""
    memory, wanted = room.memory("write"), set(turn_ids)
    if "read" not in room.scope.rights:  # what became of it tells what was remembered before
        return [_turn(turn, room).model_copy(update={"event": "ADD"}) for turn in memory.turns(turn_ids)]
    made = [one for one in memory.history() if one.turn_id in wanted and one.kind in EVENTS]
    silent = wanted - {one.turn_id for one in made}
    added = [
        _turn(turn, room).model_copy(update={"event": "ADD"})
        for turn in memory.turns(turn_ids)
        if turn.turn_id in silent
    ]
    return [*(_changed(one, room, memory) for one in made), *added]


def _changed(change: Change, room: Room, memory: Memory) -> Kept:
    return _fact(change.fact, room, memory).model_copy(update={"event": EVENTS[change.kind]})


def _fact(fact: Fact, room: Room, memory: Memory) -> Kept:
    said = memory.describe(fact)
    return Kept(
        id=fact.fact_id, memory=said, created_at=fact.known_at, updated_at=fact.known_at, user_id=room.scope.user
    )


def _turn(turn: Turn, room: Room) -> Kept:
    return Kept(id=turn.turn_id, memory=turn.text, created_at=turn.at, updated_at=turn.at, user_id=room.scope.user)


def _all(room: Room, memory: Memory, session: str | None = None) -> list[Kept]:
    """Return every memory: the facts that are held, and the turns that no fact was read from."""
    turns = {one.turn_id: one for one in memory.turns(session=session)}
    facts = [fact for fact in memory.facts() if session is None or turns.keys() & set(fact.turn_ids)]
    told = {one.turn_id for one in memory.history()}
    silent = [one for key, one in turns.items() if key not in told and not one.generated]
    return [*(_fact(one, room, memory) for one in facts), *(_turn(one, room) for one in silent)]


def _find(room: Room, memory_id: str) -> tuple[Kept, Fact | None]:
    memory = room.memory()
    fact = next((one for one in memory.facts() if one.fact_id == memory_id), None)
    if fact is not None:
        return _fact(fact, room, memory), fact
    if turns := memory.turns([memory_id]):
        return _turn(turns[0], room), None
    raise NotFoundError(f"There is no memory {memory_id!r}. `get_memories` lists them.")


def _narrowed(filters: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return filters as arguments of a search.

    Raises:
        InputError: one of them has no meaning here.
    """
    found: dict[str, Any] = {}
    for name, value in _clauses(filters or {}):
        if name == "run_id" and isinstance(value, str):
            found["session"] = value
        elif name == "created_at" and isinstance(value, Mapping) and set(value) <= {"gte", "lte"}:
            found |= {{"gte": "since", "lte": "until"}[key]: bound for key, bound in value.items()}
        else:
            raise InputError(
                f"filters: expected `created_at` with `gte` or `lte`, or `run_id`; got {name}: {value!r}. Whose memory "
                "it is says the API key, or the command that started the server."
            )
    return found


def _clauses(filters: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in filters.items():
        if name == "AND" and isinstance(value, list):
            for one in value:
                yield from _clauses(one if isinstance(one, Mapping) else {"AND": one})
        else:
            yield name, value


def _within(kept: list[Kept], narrowed: Mapping[str, Any]) -> list[Kept]:
    since, until = narrowed.get("since"), narrowed.get("until")
    return [
        one
        for one in kept
        if (since is None or (one.created_at and one.created_at >= _moment(since)))
        and (until is None or (one.created_at and one.created_at <= _moment(until, end=True)))
    ]


def _moment(text: object, *, end: bool = False) -> datetime:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError as exc:
        raise InputError(f"filters: expected a time such as 2024-05-01 or 2024-05-01T14:30, got {text!r}.") from exc
    if end and len(str(text)) == len("2024-05-01"):
        moment = datetime.combine(moment.date(), time.max)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


ACTS = (
    changes(add_memory, "Add memory"),
    reads(search_memories, "Search memories"),
    reads(get_memories, "Get memories"),
    reads(get_memory, "Get memory"),
    changes(update_memory, "Update memory", destroys=True),
    changes(delete_memory, "Delete memory", destroys=True, idempotent=True),
    changes(delete_all_memories, "Delete all memories", destroys=True, idempotent=True),
    changes(delete_entities, "Delete entities", destroys=True, idempotent=True),
    reads(list_entities, "List entities"),
    reads(list_events, "List events"),
    reads(get_event_status, "Get event status"),
)
