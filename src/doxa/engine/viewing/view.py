"""The memory of a user -> what the pages of an inspector show of it: `View`.

Nothing waits for turns that are still being processed: who looks sees what is known by now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, get_args

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Change, Explanation, Fact, Status
from doxa.core.views import Counts, Listing, Quote, ReviewItem, ReviewKind, ReviewPage, Standing, Subject
from doxa.engine.answer.checking import INFERRED, explain_inferred
from doxa.engine.answer.disputes import question_of
from doxa.engine.history.entities import entity_of
from doxa.engine.history.explain import explain
from doxa.engine.history.replay import NO_TURN
from doxa.engine.history.withdrawal import NO_FACT
from doxa.engine.intake import require_positive, require_text
from doxa.engine.viewing.board import Board
from doxa.engine.viewing.index import ViewIndex, index_of
from doxa.engine.viewing.names import Entry, label_of
from doxa.engine.viewing.order import Rank, cursor_of, latest, read_cursor, unplaced
from doxa.engine.viewing.quotes import quotes_of
from doxa.engine.wiring.parts import Parts
from doxa.memory import Beliefs, UserState

__all__ = ["View"]

NUMBER = (int, float)
"""What a moment is in a cursor."""


class View:
    """What is shown of one memory.

    Each call costs what it shows, and O(what changed since the last one); the first one of a process and memory costs
    O(facts and changes). Inside `opened` the memory does not change between calls.
    """

    def __init__(self, parts: Parts, user: str) -> None:
        self._parts = parts
        self.user = user

    @contextmanager
    def opened(self) -> Iterator[View]:
        """Give itself on a memory in which nothing changes until the block ends. Cost: one query."""
        with self._parts.log.user(self.user):
            yield self

    def board(self) -> Board:
        """Return its tasks, to be looked at page by page."""
        return Board(self._parts, self.user)

    @contextmanager
    def _indexed(self) -> Iterator[tuple[UserState, ViewIndex]]:
        with self._parts.log.user(self.user) as state:
            yield state, index_of(state)

    def people(self, query: str = "", *, after: str = "", limit: int = 50) -> Listing[Subject]:
        """Return the people and things that facts are about: those of whom most is believed first, then by name.

        Args:
            query: only those who have a name with it, whatever its case and accents: first those one of whose names
                begins with it, then those with a word that does.
            after: `next` of the page before.
            limit: how many at most.

        Raises:
            InputError: `after` is no such text, or `limit` is not positive.
        """
        require_positive(limit, "people: limit")
        if not isinstance(query, str):
            raise InputError(f"people: expected what is typed of a name, got {query!r}.")
        cursor = read_cursor(after, int, int, str, str)
        behind = None if cursor is None else (cursor[0], (cursor[1], cursor[2], cursor[3]))
        with self._indexed() as (state, index):
            found, total = index.directory.page(query, behind, limit + 1)
            shown = found[:limit]
            items = tuple(_subject(index.directory.entries[order[2]], state.beliefs) for _, order in shown)
            return Listing(
                items=items, next=cursor_of(shown[-1][0], *shown[-1][1]) if len(found) > limit else "", total=total
            )

    def entity(self, key: str) -> Subject:
        """Return a person or thing by its key or one of its names.

        Raises:
            NotFoundError: no fact is about anybody of that name.
        """
        with self._indexed() as (state, index):
            return _subject(self._entry(key, state.beliefs, index), state.beliefs)

    def about(self, key: str, standing: Standing = "firm", *, after: str = "", limit: int = 50) -> Listing[Fact]:
        """Return the facts in which a person or thing is the subject or the object, the latest first.

        Args:
            key: its key or one of its names.
            standing: "firm" for what is believed, undisputed and holds today; "tentative" for what is tentative, set
                aside or disputed; "past" for what was superseded, retracted or has ended.
            after: `next` of the page before.
            limit: how many at most.

        Raises:
            NotFoundError: no fact is about anybody of that name.
            InputError: `after` or `standing` is no such text, or `limit` is not positive.
        """
        require_positive(limit, "about: limit")
        _require_one_of(standing, get_args(Standing), "about: standing")
        cursor = read_cursor(after, NUMBER, str)
        with self._indexed() as (state, index):
            meant = self._entry(key, state.beliefs, index).key
            found, more = latest(index.lists(meant, standing), _place(cursor, index), limit)
            return Listing(
                items=index.facts(found),
                next=_behind(found[-1]) if more else "",
                total=index.count(meant, standing),
            )

    def review(self, kind: Literal["all"] | ReviewKind = "all", *, after: str = "", limit: int = 50) -> ReviewPage:
        """Return what needs a person, the latest first: disputes, what is set aside, and what may be misread.

        Args:
            kind: "disputed" for facts of which one can be true at most, "doubtful" for what no trusted source said,
                "tentative" for what was not surely read.
            after: `next` of the page before; it leads on even when what stood there was settled meanwhile.
            limit: how many at most.

        Raises:
            InputError: `after` or `kind` is no such text, or `limit` is not positive.
        """
        require_positive(limit, "review: limit")
        _require_one_of(kind, ("all", *get_args(ReviewKind)), "review: kind")
        cursor = read_cursor(after, NUMBER, str)
        with self._indexed() as (state, index):
            disputes = index.disputes(state.beliefs)
            queues: dict[ReviewKind, list[Rank]] = {
                "disputed": [place for place, _ in disputes],
                "doubtful": index.doubtful,
                "tentative": index.tentative,
            }
            asked = list(queues.values()) if kind == "all" else [queues[kind]]
            found, more = latest(asked, _place(cursor, index), limit)
            sides = dict(disputes)
            return ReviewPage(
                items=tuple(_to_review(place, sides.get(place), index, state) for place in found),
                next=_behind(found[-1]) if more else "",
                total=sum(map(len, asked)),
                totals={one: len(places) for one, places in queues.items()},
            )

    def fact(self, fact_id: str) -> Fact:
        """Return a fact, whatever became of it.

        Raises:
            NotFoundError: there is no such fact.
        """
        with self._parts.log.user(self.user) as state:
            return self._fact(fact_id, state)

    def why(self, fact_id: str) -> Explanation:
        """Return why a fact stands where it stands; see `Memory.why`.

        Raises:
            NotFoundError: there is no such fact.
        """
        if fact_id.startswith(INFERRED):
            return explain_inferred(fact_id, self._parts, self.user)
        with self._parts.log.user(self.user) as state:
            return explain(self._fact(fact_id, state), state)

    def quotes(self, fact: Fact | str, *, limit: int = 50) -> tuple[Quote, ...]:
        """Return where the turns that a fact rests on say it, the latest first; only the turn where that is not clear.

        Args:
            fact: it or its id.
            limit: of how many turns at most.

        Raises:
            NotFoundError: there is no such fact.

        Cost: linear in the texts of the turns, up to a bound for each.
        """
        require_positive(limit, "quotes: limit")
        with self._parts.log.user(self.user) as state:
            known = fact if isinstance(fact, Fact) else self._fact(fact, state)
            turns = [turn for key in reversed(known.turn_ids[-limit:]) if (turn := state.turn(key)) is not None]
            return quotes_of(known, turns, state.beliefs)

    def facts_of_turn(self, turn_id: str) -> tuple[Fact, ...]:
        """Return the facts that rest on a turn, in the order in which they came to be.

        Raises:
            NotFoundError: there is no such turn.
        """
        with self._indexed() as (state, index):
            if state.turn(turn_id) is None:
                raise NotFoundError(NO_TURN.format(user=self.user, turn_id=turn_id))
            known = [index.filed[key] for key in index.by_turn.get(turn_id, ())]
            return tuple(one.fact for one in sorted(known, key=lambda one: one.place[1]))

    def latest(self, *, after: str = "", limit: int = 20) -> Listing[Change]:
        """Return what changed, the latest first.

        Raises:
            InputError: `after` is no such text, or `limit` is not positive.
        """
        require_positive(limit, "latest: limit")
        cursor = read_cursor(after, int)
        with self._parts.log.user(self.user) as state:
            changes = state.beliefs.changes
            stop = len(changes) if cursor is None else min(max(cursor[0], 0), len(changes))
            start = max(0, stop - limit)
            items = tuple(reversed(changes[start:stop]))
            return Listing(items=items, next=cursor_of(start) if start else "", total=len(changes))

    def counts(self) -> Counts:
        """Return how much of everything there is."""
        with self._indexed() as (state, index):
            review: dict[ReviewKind, int] = {
                "disputed": len(index.disputes(state.beliefs)),
                "doubtful": len(index.doubtful),
                "tentative": len(index.tentative),
            }
            return Counts(
                turns=len(state.turns),
                waiting=len(state.pending()),
                facts=len(state.beliefs.facts),
                by_status={str(status): count for status, count in index.statuses.items() if count},
                by_standing={one: index.standings[one] for one in get_args(Standing)},
                to_review=review,
                entities=len(index.directory.order),
                changes=len(state.beliefs.changes),
                revisions=index.revisions,
            )

    def _fact(self, fact_id: str, state: UserState) -> Fact:
        if (fact := state.beliefs.facts.get(fact_id)) is None:
            raise NotFoundError(NO_FACT.format(user=self.user, fact_id=fact_id))
        return fact

    def _entry(self, name: str, beliefs: Beliefs, index: ViewIndex) -> Entry:
        """Return what is told of whoever has a key or name."""
        require_text(name, "entity")
        for key in (beliefs.key(name), beliefs.key(name.strip().casefold()), name):
            if (found := index.entry(key)) is not None:
                return found
        called = index.directory.called(name)
        if called is not None:
            return index.directory.entries[called]
        raise NotFoundError(
            f"User {self.user!r} has nobody and nothing called {name!r}. `doxa entities` lists the names."
        )


def _subject(entry: Entry, beliefs: Beliefs) -> Subject:
    entity = entity_of(entry.key, label_of(entry.key, beliefs), entry.held, beliefs)
    return Subject(entity=entity, firm=entry.firm, tentative=entry.tentative, past=entry.past)


def _to_review(place: Rank, sides: Sequence[str] | None, index: ViewIndex, state: UserState) -> ReviewItem:
    facts = tuple(index.filed[key].fact for key in sides or (place[2],))
    when = max((fact.known_at for fact in facts if fact.known_at is not None), default=None)
    if sides is not None:
        return ReviewItem(key=place[2], kind="disputed", facts=facts, when=when, question=question_of(facts, state))
    kind: ReviewKind = "doubtful" if facts[0].status is Status.QUARANTINED else "tentative"
    return ReviewItem(key=place[2], kind=kind, facts=facts, when=when)


def _behind(place: Rank) -> str:
    """Return the cursor of a fact. Its place among all may be another in the next process: its id tells it."""
    return cursor_of(place[0], place[2])


def _place(cursor: Sequence[float | str] | None, index: ViewIndex) -> Rank | None:
    """Return the place behind which a page begins; of a fact that is gone, all of its moment come again."""
    match cursor:
        case [float() | int() as moment, str(fact_id)]:
            filed = index.filed.get(fact_id)
            return (moment, filed.place[1], fact_id) if filed is not None else unplaced(moment)
    return None


def _require_one_of(value: object, known: Sequence[str], what: str) -> None:
    if value not in known:
        raise InputError(f"{what}: expected one of {', '.join(known)}, got {value!r}.")
