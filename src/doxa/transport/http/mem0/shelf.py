"""One user's memory -> memories as mem0 has them.

A memory is a fact that is believed, as a sentence; or, where somebody said something that became no fact, a turn:
nothing that was said is lost to a search because nothing could be made of it (`Memory.untold`). Its metadata, its
agent, app and run are those of the turns that it rests on.

A memory keeps its id when it is corrected: the turn that says the new text notes the id of the memory that it
corrects, and what became of that turn goes by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from doxa.core.values import Change, ChangeKind, Fact, Status, Turn
from doxa.transport.http.mem0.filters import ENTITIES
from doxa.transport.http.mem0.handles import Handle

if TYPE_CHECKING:
    from doxa.engine import Memory

__all__ = ["EVENTS", "OURS", "Entry", "Shelf", "notes", "values_of"]

OURS = "_mem0"
"""What the metadata of a turn holds beside that of the client: agent, app, run, the request that brought it, ..."""
STANDING = (Status.HELD, Status.SUPERSEDED)
MAKING = (ChangeKind.ASSERT, ChangeKind.SUPPORT, ChangeKind.RESTORE, ChangeKind.REFINE)
DEFAULT_SESSION = "default"
EVENTS: Mapping[ChangeKind, str] = {
    ChangeKind.ASSERT: "ADD",
    ChangeKind.RESTORE: "ADD",
    ChangeKind.SUPPORT: "NONE",
    ChangeKind.CLOSE: "UPDATE",
    ChangeKind.REFINE: "UPDATE",
    ChangeKind.DISPUTE: "UPDATE",
    ChangeKind.MERGE: "UPDATE",
    ChangeKind.SPLIT: "UPDATE",
    ChangeKind.MOVE: "UPDATE",
    ChangeKind.RETRACT: "DELETE",
}
"""What mem0 calls a change; those that are kept and not believed are none."""


def notes(turn: Turn) -> Mapping[str, Any]:
    """Return what was noted about a turn when a client of mem0 brought it."""
    found = turn.metadata.get(OURS, {})
    return found if isinstance(found, Mapping) else {}


def entity(turn: Turn, name: str) -> str | None:
    """Return the agent, app or run of a turn; a session of another interface is a run."""
    run = turn.session if name == "run_id" and turn.session != DEFAULT_SESSION else None
    value = notes(turn).get(name, run)
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A memory."""

    handle: Handle
    text: str
    turns: tuple[Turn, ...]
    """What it rests on, oldest first; nothing for what only follows from other facts."""
    created_at: datetime | None
    updated_at: datetime | None
    fact: Fact | None = None

    @property
    def place(self) -> str:
        """Under which name its last turn holds what was noted of this memory alone."""
        return "" if self.fact is None else self.fact.fact_id

    @property
    def _own(self) -> Mapping[str, Any]:
        """What `update` noted of this memory alone: `metadata`, `expiration_date`."""
        found = [notes(turn).get("memories", {}).get(self.place) for turn in self.turns]
        return next((one for one in reversed(found) if one is not None), {})

    @property
    def metadata(self) -> dict[str, Any]:
        """What clients gave with it, or else with its turns; of two values the later."""
        if (own := self._own.get("metadata")) is not None:
            return dict(own)
        given = {name: value for turn in self.turns for name, value in turn.metadata.items()}
        return {name: value for name, value in given.items() if name != OURS}

    @property
    def expires(self) -> str | None:
        """The last day on which it is given, if there is one: the latest of those of its turns."""
        if "expiration_date" in self._own:
            return self._own["expiration_date"]  # type: ignore[no-any-return]
        ends = [notes(turn).get("expiration_date") for turn in self.turns]
        return max(map(str, ends)) if ends and all(ends) else None

    def values(self, field: str) -> tuple[Any, ...]:
        """Return what it has under a field of a filter."""
        match field:
            case "user_id":
                return (self.handle.user,)
            case "memory_ids":
                return (str(self.handle),)
            case "keywords" | "memory":
                return (self.text,)
            case "created_at" | "updated_at":
                at: datetime | None = getattr(self, field)
                return () if at is None else (at,)
        if field not in ENTITIES:
            value = self.metadata.get(field.removeprefix("metadata."))
            return () if value is None else (value,)
        return tuple(value for turn in self.turns for value in values_of(turn, field))

    def data(self, **more: Any) -> dict[str, Any]:
        """Return it as mem0 writes it."""
        own = {name: next(iter(self.values(name)), None) for name in ENTITIES}
        return {
            "id": str(self.handle),
            "memory": self.text,
            **own,
            "metadata": self.metadata,
            "categories": [],
            "created_at": self.created_at and self.created_at.isoformat(),
            "updated_at": self.updated_at and self.updated_at.isoformat(),
            "expiration_date": self.expires,
            **more,
        }


def values_of(turn: Turn, field: str) -> tuple[Any, ...]:
    """Return what a turn has under a field of a filter."""
    if field in ENTITIES:
        found = turn.user if field == "user_id" else entity(turn, field)
    elif field in ("created_at", "updated_at"):
        return (turn.at,)
    else:
        found = turn.metadata.get(field.removeprefix("metadata."))
    return () if found is None else (found,)


class Shelf:
    """The memories of one user, as of when it is made. Cost: one pass over facts, turns and changes.

    Args:
        memory: whose they are.
        as_of: the day of the world that is asked about; by default now.
        past: add what no longer holds.
    """

    def __init__(self, memory: Memory, *, as_of: date | None = None, past: bool = False) -> None:
        self._memory = memory
        self.user = memory.user
        self.facts = {fact.fact_id: fact for fact in memory.facts(current=False)}
        believed = (
            [fact for fact in self.facts.values() if fact.status in STANDING] if past else memory.facts(as_of=as_of)
        )
        self._believed = {fact.fact_id: fact for fact in believed}
        self.turns = {turn.turn_id: turn for turn in memory.turns(withdrawn=True)}
        self.untold = {key: words for key, words in memory.untold().items() if self._is_given(key)}
        self.changes = memory.history()

    @cached_property
    def _changes_of(self) -> dict[str, list[Change]]:
        found: dict[str, list[Change]] = {}
        for change in self.changes:
            found.setdefault(change.fact.fact_id, []).append(change)
        return found

    @cached_property
    def _corrections(self) -> dict[Handle, list[Turn]]:
        """The turns that correct a memory, by its id, oldest first."""
        found: dict[Handle, list[Turn]] = {}
        for turn in self.turns.values():
            if (root := self._corrected(turn)) is not None:
                found.setdefault(root, []).append(turn)
        return found

    @cached_property
    def made_by(self) -> dict[str, str]:
        """The first fact that each correcting turn led to and that stands, by the id of the turn."""
        turns = {turn.turn_id for several in self._corrections.values() for turn in several}
        made = [one for one in self.changes_by(turns) if one.kind in MAKING and self._stands(one.fact.fact_id)]
        return {str(change.turn_id): change.fact.fact_id for change in reversed(made)}

    @cached_property
    def _resting(self) -> dict[str, list[Fact]]:
        """The facts that rest on each turn."""
        found: dict[str, list[Fact]] = {}
        for fact in self._believed.values():
            for turn_id in fact.turn_ids:
                found.setdefault(turn_id, []).append(fact)
        return found

    def on(self, turn_id: str) -> Iterator[Entry]:
        """Yield the memories that rest on a turn."""
        yield from map(self._of_fact, self._resting.get(turn_id, ()))
        if turn_id in self.untold:
            yield self.of_words(turn_id)

    @cached_property
    def entries(self) -> list[Entry]:
        """All memories, in the order in which they came to be."""
        found = [self._of_fact(fact) for fact in self._believed.values()]
        found += [self.of_words(turn_id) for turn_id in self.untold]
        earliest = datetime.min.replace(tzinfo=UTC)
        return sorted(found, key=lambda entry: entry.created_at or earliest)

    def find(self, handle: Handle) -> Entry | None:
        """Return the memory of an id, with what has become of it; None where there is none any more."""
        for turn in reversed(self.corrections(handle)):
            if key := self.made_by.get(turn.turn_id):
                return self._of_fact(self.facts[key])
            if turn.turn_id in self.untold:
                return self.of_words(turn.turn_id)
        if handle.kind == "turn" and handle.key in self.untold:
            return self.of_words(handle.key)
        known = handle.kind == "fact" and self._stands(handle.key)
        return self._of_fact(self.facts[handle.key]) if known else None

    def corrections(self, handle: Handle) -> list[Turn]:
        """Return the turns that correct a memory, oldest first."""
        return self._corrections.get(handle, [])

    def sources(self, turn_ids: Iterable[str]) -> tuple[Turn, ...]:
        """Return the turns of some ids, oldest first."""
        return tuple(sorted((self.turns[key] for key in turn_ids if key in self.turns), key=lambda turn: turn.ordinal))

    def told(self, fact: Fact) -> str:
        """Return a fact as a sentence."""
        return self._memory.describe(fact)

    def changes_of(self, fact_id: str) -> Sequence[Change]:
        """Return what happened to a fact, oldest first."""
        return self._changes_of.get(fact_id, ())

    def changes_by(self, turn_ids: Iterable[str]) -> Iterator[Change]:
        """Yield what some turns changed, in order."""
        wanted = set(turn_ids)
        return (change for change in self.changes if change.turn_id in wanted)

    def handle_of(self, fact: Fact) -> Handle:
        """Return the id of the memory that a fact is: its own, or that of the memory which it corrects."""
        first = self.turns.get(fact.turn_ids[0]) if fact.turn_ids else None
        root = None if first is None else self._corrected(first)
        if first is not None and root is not None and self.made_by.get(first.turn_id) == fact.fact_id:
            return root
        return Handle(self.user, "fact", fact.fact_id)

    def _corrected(self, turn: Turn) -> Handle | None:
        """Return the id of the memory that a turn corrects."""
        match notes(turn).get("corrects"):
            case [("fact" | "turn") as kind, str(key)]:
                return Handle(self.user, kind, key)
        return None

    def _is_given(self, turn_id: str) -> bool:
        """Tell whether what a turn says beside facts is there, and was not deleted."""
        turn = self.turns.get(turn_id)
        return turn is not None and not notes(turn).get("memories", {}).get("", {}).get("deleted", False)

    def _stands(self, fact_id: str) -> bool:
        fact = self.facts.get(fact_id)
        return fact is not None and fact.status in STANDING

    def _of_fact(self, fact: Fact) -> Entry:
        changes = self.changes_of(fact.fact_id)
        times = [*(change.known_at for change in changes), fact.known_at][: len(changes) or 1]
        return Entry(
            handle=self.handle_of(fact),
            text=self.told(fact),
            turns=self.sources(fact.turn_ids),
            created_at=times[0],
            updated_at=times[-1],
            fact=fact,
        )

    def of_words(self, turn_id: str) -> Entry:
        """Return the memory of what a turn says beside facts."""
        turn = self.turns[turn_id]
        root = self._corrected(turn) if turn_id not in self.made_by else None
        handle = root or Handle(self.user, "turn", turn_id)
        return Entry(handle=handle, text=self.untold[turn_id], turns=(turn,), created_at=turn.at, updated_at=turn.at)
