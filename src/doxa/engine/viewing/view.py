"""The memory of a user -> what the pages of an inspector show of it: `View`.

Nothing waits for turns that are still being processed: who looks sees what is known by now.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from doxa.core.answers import AnswerReason
from doxa.core.errors import InputError
from doxa.core.values import Change, Explanation, Fact, Rule, Turn
from doxa.core.views import (
    Counts,
    Deed,
    Joined,
    Listing,
    Quote,
    ReviewKind,
    ReviewPage,
    Spoken,
    Standing,
    Subject,
    Understood,
    Voice,
)
from doxa.engine.answer.checking import INFERRED, explain_inferred
from doxa.engine.answer.following import following, follows, prepare
from doxa.engine.history.answers import answers_before
from doxa.engine.history.explain import explain
from doxa.engine.intake import require_positive
from doxa.engine.shared.layers import facts_of, turns_of
from doxa.engine.viewing.board import Board
from doxa.engine.viewing.lately import done_lately
from doxa.engine.viewing.looking import subject_of
from doxa.engine.viewing.moments import Moments
from doxa.engine.viewing.order import cursor_of, latest, read_cursor
from doxa.engine.viewing.quotes import quotes_of
from doxa.engine.viewing.received import Received
from doxa.engine.viewing.review import Asked, behind, joined_page, place_at, review_page
from doxa.engine.viewing.written import written
from doxa.logic import GraphFormat
from doxa.memory import UserState, describe_rule

__all__ = ["View"]

FEW = 1_000
"""Facts of which it is quick to work out what follows from them."""
LAST_PLACE = 2**31 - 1
"""The largest that a database counts answers to."""


class View(Moments, Received):
    """What is shown of one memory.

    Each call costs what it shows, and O(what changed since the last one); the first one of a process and memory costs
    O(facts and changes). Inside `opened` the memory does not change between calls.
    """

    def board(self) -> Board:
        """Return its tasks, to be looked at page by page."""
        return Board(self._parts, self.user)

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
            items = tuple(subject_of(index.directory.entries[order[2]], state.beliefs) for _, order in shown)
            return Listing(
                items=items, next=cursor_of(shown[-1][0], *shown[-1][1]) if len(found) > limit else "", total=total
            )

    def entity(self, key: str) -> Subject:
        """Return a person or thing by its key or one of its names.

        Raises:
            NotFoundError: no fact is about anybody of that name.
        """
        with self._indexed() as (state, index):
            return subject_of(self._entry(key, state.beliefs, index), state.beliefs)

    def about(
        self, key: str, standing: Standing | Sequence[Standing] = "firm", *, after: str = "", limit: int = 50
    ) -> Listing[Fact]:
        """Return the facts in which a person or thing is the subject or the object, the latest first.

        Args:
            key: its key or one of its names.
            standing: "firm" for what is believed, undisputed and holds today; "tentative" for what is tentative, set
                aside or disputed; "past" for what was superseded, retracted or has ended; or several of them.
            after: `next` of the page before.
            limit: how many at most.

        Raises:
            NotFoundError: no fact is about anybody of that name.
            InputError: `after` or `standing` is no such text, or `limit` is not positive.
        """
        require_positive(limit, "about: limit")
        asked = (standing,) if isinstance(standing, str) else tuple(dict.fromkeys(standing))
        for one in asked:
            _require_one_of(one, get_args(Standing), "about: standing")
        with self._indexed() as (state, index):
            meant = self._entry(key, state.beliefs, index).key
            lists = [places for one in asked for places in index.lists(meant, one)]
            found, more = latest(lists, place_at(after, index), limit)
            return Listing(
                items=index.facts(found),
                next=behind(found[-1]) if more else "",
                total=sum(index.count(meant, one) for one in asked),
            )

    def subjects(self, keys: Iterable[str]) -> dict[str, Subject]:
        """Return those of some keys that are people or things; the others are plain words and amounts."""
        with self._indexed() as (state, index):
            entries = {key: entry for key in keys if (entry := index.directory.entries.get(key)) is not None}
            return {key: subject_of(entry, state.beliefs) for key, entry in entries.items()}

    def follows(self) -> bool:
        """Tell whether `inferred_about` is quick: it was asked before, or there are few facts."""
        with self._parts.log.user(self.user) as state:
            return follows(state) or len(state.beliefs.facts) <= FEW

    def inferred_about(self, key: str) -> tuple[Fact, ...]:
        """Return what follows about a person or thing by the ontology and nobody said; `why` tells from what.

        Args:
            key: its key or one of its names.

        Raises:
            NotFoundError: no fact is about anybody of that name.

        Cost: O(what changed since the last call, what follows about it); the first one of a process and memory takes
            about 0.1 ms a fact, in which the memory stays free for others.
        """
        with self._indexed() as (state, index):
            meant = self._entry(key, state.beliefs, index).key
        prepare(self._parts, self.user)
        with self._parts.log.user(self.user) as state:
            return tuple(following(self._parts, state).inferred_about(meant))

    def written(self, facts: Sequence[Fact], format: GraphFormat = "turtle") -> str:
        """Return facts as RDF with their sources: what is believed of them is asserted, each has a record.

        Args:
            facts: which ones.
            format: "turtle", "jsonld" or "nquads".

        Raises:
            InputError: there is no such format.

        Cost: one encoding for every relation that no ontology lists, once.
        """
        _require_one_of(format, get_args(GraphFormat), "written: format")
        return written(facts, self._parts, self.user, format)

    def review(
        self,
        kind: Literal["all", "names"] | ReviewKind = "all",
        *,
        query: str = "",
        oldest: bool = False,
        after: str = "",
        before: str = "",
        limit: int = 50,
    ) -> ReviewPage:
        """Return what needs a person: disputes, what is set aside, and what may be misread.

        Args:
            kind: "disputed" for facts of which one can be true at most, "doubtful" for what no trusted source said,
                "tentative" for what was not surely read; "names" for what of all this says which names are one's.
            query: only what is about those whom it finds; see `people`.
            oldest: the earliest first, instead of the latest.
            after: `next` of the page before; it leads on even when what stood there was settled meanwhile.
            before: `previous` of the page behind, instead.
            limit: how many at most.

        Raises:
            InputError: `after`, `before` or `kind` is no such text, both are given, or `limit` is not positive.

        Cost: with a query, one look at each name and at what waits.
        """
        require_positive(limit, "review: limit")
        _require_one_of(kind, ("all", "names", *get_args(ReviewKind)), "review: kind")
        if after and before:
            raise InputError("review: expected `after` or `before`, got both.")
        asked = Asked(kind=kind, query=query.strip(), oldest=oldest, after=after, before=before, limit=limit)
        with self._indexed() as (state, index):
            return review_page(asked, state, index)

    def joined(self, query: str = "", *, after: str = "", limit: int = 50) -> Listing[Joined]:
        """Return those who have several names and what says so, by name.

        Args:
            query: only those whom it finds; see `people`.
            after: `next` of the page before.
            limit: how many at most.

        Raises:
            InputError: `after` is no such text, or `limit` is not positive.

        Cost: O(names of those who have several).
        """
        require_positive(limit, "joined: limit")
        with self._indexed() as (state, index):
            return joined_page(query.strip(), after, limit, state.beliefs, index)

    def deeds(self, *, session: str = "", limit: int = 10) -> tuple[Deed, ...]:
        """Return what was done by hand lately, the latest first, and what `Memory.undo` would take back next.

        Args:
            session: whose turns count as said by hand.
            limit: how many at most.

        Cost: reading the end of the log, once after every change.
        """
        require_positive(limit, "deeds: limit")
        with self._parts.log.user(self.user) as state:
            asked = done_lately, session, limit
            known: tuple[Deed, ...] | None = state.derived.get(asked)
            if known is None:
                known = state.derived[asked] = done_lately(
                    self._parts.log, self.user, state, session=session, limit=limit
                )
            return known

    def fact(self, fact_id: str) -> Fact:
        """Return a fact, whatever became of it.

        Raises:
            NotFoundError: there is no such fact.
        """
        with self._parts.log.user(self.user) as state:
            return self._fact(fact_id, state)

    def known(self, fact_ids: Iterable[str]) -> dict[str, Fact]:
        """Return the facts of some ids; those that went on under another id, and what is no fact, are left out."""
        with self._parts.log.user(self.user) as state:
            facts = state.beliefs.facts
            return {key: facts[key] for key in fact_ids if key in facts}

    def why(self, fact_id: str) -> Explanation:
        """Return why a fact stands where it stands; see `Memory.why`.

        Raises:
            NotFoundError: there is no such fact.
        """
        if fact_id.startswith(INFERRED):
            return explain_inferred(fact_id, self._parts, self.user)
        with self._parts.log.user(self.user) as state:
            return explain(self._fact(fact_id, state), state)

    def told(self, rule: Rule) -> str:
        """Return a rule as it was said, or else in words of our own."""
        return rule.span or describe_rule(rule)

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
            return tuple(voice.quote for voice in _voices(known, state, limit))

    def voices(self, facts: Iterable[Fact], *, limit: int = 50) -> dict[str, tuple[Voice, ...]]:
        """Return who says each of some facts and where, the latest first, by the id of the fact; see `quotes`.

        Args:
            facts: the facts.
            limit: of how many turns of each at most.
        """
        require_positive(limit, "voices: limit")
        with self._parts.log.user(self.user) as state:
            return {fact.fact_id: _voices(fact, state, limit) for fact in facts}

    def facts_of_turn(self, turn_id: str) -> tuple[Fact, ...]:
        """Return the facts that rest on a turn, in the order in which they came to be.

        Raises:
            NotFoundError: there is no such turn.
        """
        with self._indexed() as (state, index):
            self._turn(turn_id, state)
            known = [index.filed[key] for key in index.by_turn.get(turn_id, ())]
            return tuple(one.fact for one in sorted(known, key=lambda one: one.place[1]))

    def turn(self, turn_id: str, *, before: int = 0, after: int = 0) -> Spoken:
        """Return a turn with so many of its session that came just before it, and just after.

        Raises:
            NotFoundError: there is no such turn.
        """
        with self._parts.log.user(self.user) as state:
            turn = self._turn(turn_id, state)
            ordinals = state.session(turn.session)
            stop = bisect_right(ordinals, turn.ordinal)
            return Spoken(
                turn=turn,
                before=tuple(state.context(turn, before)),
                after=tuple(state.turns[ordinal] for ordinal in ordinals[stop : stop + after]),
                withdrawn=state.withdrawn.get(turn_id),
                degraded=state.degraded.get(turn_id, ""),
            )

    def understood(self, turn_id: str) -> Understood:
        """Return what a turn was understood to say, and what it changed.

        Raises:
            NotFoundError: there is no such turn.
        """
        with self._parts.log.user(self.user) as state:
            turn, beliefs = self._turn(turn_id, state), state.beliefs
            return Understood(
                claims=tuple(beliefs.claims_of(turn_id)),
                rules=beliefs.rules_of(turn_id),
                facts=self.facts_of_turn(turn_id),
                changes=tuple(beliefs.changes_by(turn_id)),
                waits=turn.ordinal > state.maintained,
            )

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

    def answers(self, query: str = "", *, after: str = "", limit: int = 20) -> Listing[AnswerReason]:
        """Return the answers that are kept, the latest first, each with what has changed since; they are not counted.

        Args:
            query: only those whose question or answer has this text in it, whatever its case.
            after: `next` of the page before.
            limit: how many at most.

        Raises:
            InputError: `after` is no such text, or `limit` is not positive.
        """
        require_positive(limit, "answers: limit")
        cursor = read_cursor(after, int)
        before = None if cursor is None else min(max(cursor[0], 0), LAST_PLACE)
        found, place = answers_before(self._parts, self.user, before, query=query, limit=limit)
        return Listing(items=tuple(found), next="" if place is None else cursor_of(place))

    def named(self, keys: Iterable[str]) -> Mapping[str, Turn | Fact]:
        """Return what ids stand for, turns and facts; ids of what is gone, and of anything else, are left out."""
        keys = list(keys)
        others: dict[str, Turn | Fact] = {**facts_of(self._parts, self.user, keys)}
        others |= turns_of(self._parts, self.user, keys)
        with self._parts.log.user(self.user) as state:
            known = {key: others.get(key) or state.turn(key) or state.beliefs.facts.get(key) for key in keys}
        return {key: one for key, one in known.items() if one is not None}

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


def _voices(fact: Fact, state: UserState, limit: int) -> tuple[Voice, ...]:
    turns = [turn for key in reversed(fact.turn_ids[-limit:]) if (turn := state.turn(key)) is not None]
    quotes = quotes_of(fact, turns, state.beliefs)
    return tuple(Voice(turn=turn, quote=quote) for turn, quote in zip(turns, quotes, strict=True))


def _require_one_of(value: object, known: Sequence[str], what: str) -> None:
    if value not in known:
        raise InputError(f"{what}: expected one of {', '.join(known)}, got {value!r}.")
