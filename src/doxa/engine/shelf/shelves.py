"""One user's memory -> memories as mem0 has them.

A memory is a fact that is believed, as a sentence; or, where somebody said something that became no fact, a turn:
nothing that was said is lost to a search because nothing could be made of it (`Memory.untold`). Its metadata, its
agent, app and run are those of the turns that it rests on.

A memory keeps its id when it is corrected: the turn that says the new text notes the id of the memory that it
corrects, and what became of that turn goes by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from doxa.core.errors import NotFoundError
from doxa.core.values import Change, ChangeKind, Evidence, Fact, Status, Turn
from doxa.engine.noting import notes
from doxa.engine.shelf.entries import Entry
from doxa.engine.shelf.handles import Handle

if TYPE_CHECKING:
    from doxa.engine.api.memory import Memory

__all__ = ["Ranked", "Shelf", "Step"]

FIRST_LOOK = 60
"""Turns that a search looks at first; one that filters look further while less than what is asked for fits."""
STANDING = (Status.HELD, Status.SUPERSEDED)
MAKING = (ChangeKind.ASSERT, ChangeKind.SUPPORT, ChangeKind.RESTORE, ChangeKind.REFINE)
ASIDE = (ChangeKind.SUPPORT, ChangeKind.DISPUTE, ChangeKind.MERGE, ChangeKind.SPLIT)
"""Changes after which a memory still says what it said."""

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


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory that bears on a query: how well (0 to 1, comparable within one answer), and by which evidence."""

    score: float
    entry: Entry
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Step:
    """What a memory was before something happened to it, and what it is since."""

    event: str
    before: str | None
    after: str | None
    at: datetime | None
    turns: tuple[Turn, ...]
    """What was said that made it so."""
    reason: str


class Shelf:
    """The memories of one user, as of when it is made. Cost: one pass over facts, turns and changes.

    Args:
        memory: whose they are.
        as_of: the day of the world that is asked about; by default now.
        past: add what no longer holds.
    """

    def __init__(self, memory: Memory, *, as_of: date | None = None, past: bool = False) -> None:
        self._memory = memory
        self._as_of = as_of
        self._past = past
        self.user = memory.user
        self.facts = {fact.fact_id: fact for fact in memory.facts(current=False)}
        believed = (
            [fact for fact in self.facts.values() if fact.status in STANDING] if past else memory.facts(as_of=as_of)
        )
        self.believed = {fact.fact_id: fact for fact in believed}
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
        for fact in self.believed.values():
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
        found = [self._of_fact(fact) for fact in self.believed.values()]
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

    def standing(self, handle: Handle) -> Entry:
        """Return the memory of an id, as `find`.

        Raises:
            NotFoundError: there is none, or it was deleted.
        """
        entry = self.find(handle) if handle.kind != "event" else None
        if entry is None:
            raise NotFoundError(
                f"User {self.user!r} has no such memory, or no longer. get_all(filters=...) lists them."
            )
        return entry

    def ranked(self, query: str, most: int, fits: Callable[[Entry], bool]) -> list[Ranked]:
        """Return memories that bear on a query and fit, best first; at least `most` where there are so many."""
        from doxa.engine.history.untold import overlap

        size = max(FIRST_LOOK, most)
        while True:
            evidence = self._memory.search(query, k=size, as_of=self._as_of, superseded=self._past, shared=False)
            best: dict[Handle, Ranked] = {}
            for item in evidence:
                for entry in chain.from_iterable(map(self.on, item.turn_ids)):
                    one = Ranked(item.score * (1 + overlap(query, entry.text)) / 2, entry, item)
                    if fits(entry) and (entry.handle not in best or best[entry.handle].score < one.score):
                        best[entry.handle] = one
            if len(best) >= most or len(evidence) < size:
                return sorted(best.values(), key=lambda one: -one.score)
            size *= 4

    def steps(self, handle: Handle) -> Iterator[Step]:
        """Yield what a memory was and became, oldest first: corrections, and revisions by what was said."""
        corrections = self.corrections(handle)
        steps: list[tuple[str, str | None, datetime | None, tuple[Turn, ...], str]] = []
        if handle.kind == "fact":
            for change in self.changes_of(handle.key):
                by_update = change.kind is ChangeKind.RETRACT and change.turn_id is None and bool(corrections)
                if not by_update and change.kind in EVENTS and change.kind not in ASIDE:
                    said = self.sources([change.turn_id] if change.turn_id else [])
                    text = None if change.kind is ChangeKind.RETRACT else self.told(change.fact)
                    steps.append((EVENTS[change.kind], text, change.known_at, said, change.reason))
        elif (first := self.turns.get(handle.key)) is not None:
            steps.append(("ADD", first.text, first.at, (first,), ""))
        for turn in corrections:
            made = self.made_by.get(turn.turn_id)
            text = turn.text if made is None else self.told(self.facts[made])
            steps.append(("UPDATE", text, turn.at, (turn,), "it was corrected by update"))
        before: str | None = None
        for event, text, at, said, reason in steps:
            yield Step(event, before, text, at, said, reason)
            before = text

    def tell(self, turn_ids: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield what became of turns, one event for each memory."""
        last: dict[str, Change] = {}
        for change in self.changes_by(turn_ids):
            if change.kind in EVENTS:
                first = last.get(change.fact.fact_id)
                new = first is not None and first.kind is ChangeKind.ASSERT and EVENTS[change.kind] != "DELETE"
                last[change.fact.fact_id] = first if new and first is not None else change
        for fact_id, change in last.items():
            fact = self.facts.get(fact_id, change.fact)
            told = {"id": str(self.handle_of(fact)), "memory": self.told(fact), "event": EVENTS[change.kind]}
            yield told | {"reason": change.reason} if change.reason else told
        for turn in self.sources(turn_ids):
            if turn.turn_id in self.untold:
                yield {
                    "id": str(self.of_words(turn.turn_id).handle),
                    "memory": self.untold[turn.turn_id],
                    "event": "ADD",
                }

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
