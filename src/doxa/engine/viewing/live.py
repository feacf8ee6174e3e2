"""The memory of a user -> its dialogues, and what happens in it as it happens: `Live`.

Nothing waits for turns that are still being processed: what waits is told.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter
from zlib import crc32

from doxa.core.answers import Answered
from doxa.core.tasks import TaskCommit
from doxa.core.values import Change, Turn
from doxa.core.views import Happening, Listing, News, Point, Said, Session
from doxa.engine.history.answers import given_to, looked_beneath, quoted
from doxa.engine.intake import require_positive
from doxa.engine.shared.layers import turns_of
from doxa.engine.viewing.order import cursor_of, read_cursor
from doxa.engine.wiring.parts import Parts
from doxa.memory import UserState

__all__ = ["Live"]

KEPT = "live"
REPLY = "/reply"
"""What the id of a reply has behind that of the turn that it answers."""
MOST_SINCE = 20_000
"""Rows, or changes, since a point, above which all of the memory is to be looked at again."""
MOST_OTHERS = 4
SHOWN_WAITING = 5


class Live:
    """One memory as it is at this moment, whoever is still at work on it. Safe between threads.

    Each call costs what it gives; the first one of a process and memory costs O(turns and changes).
    """

    def __init__(self, parts: Parts, user: str) -> None:
        self._parts = parts
        self.user = user

    def version(self) -> int:
        """Return a number that grows with every change. Cost: one query."""
        return self._parts.log.head(self.user).ordinal

    @contextmanager
    def opened(self) -> Iterator[Live]:
        """Give itself on a memory in which nothing changes until the block ends. Cost: one query."""
        with self._parts.log.user(self.user):
            yield self

    def sessions(self, *, after: str = "", limit: int = 30) -> Listing[Session]:
        """Return the sessions, the one in which something was said last first.

        Args:
            after: `next` of the page before.
            limit: how many at most.

        Raises:
            InputError: `after` is no such text, or `limit` is not positive.

        Cost: O(sessions on this and earlier pages).
        """
        require_positive(limit, "sessions: limit")
        cursor = read_cursor(after, int)
        with self._parts.log.user(self.user) as state:
            order = _order_of(state).latest
            found: list[Session] = []
            for name, last in reversed(order.items()):
                if cursor is not None and last >= cursor[0]:
                    continue
                if len(found) == limit:
                    behind = cursor_of(found[-1].latest.ordinal)
                    return Listing(items=tuple(found), next=behind, total=len(order))
                found.append(Session(name=name, turns=len(state.session(name)), latest=state.turns[last]))
            return Listing(items=tuple(found), total=len(order))

    def said(self, session: str, *, before: int | None = None, limit: int = 30) -> Listing[Said]:
        """Return the latest turns of a session, oldest first, each with what became of it.

        Args:
            session: its name; one in which nothing was said has no turns.
            before: only turns with a lower ordinal; `next` of a page leads to the earlier one.
            limit: how many at most.

        Raises:
            InputError: `limit` is not positive.

        Cost: O(limit), and reading the answers that are kept where a reply is among them.
        """
        require_positive(limit, "said: limit")
        with self._parts.log.user(self.user) as state:
            ordinals = state.session(session)
            stop = len(ordinals) if before is None else bisect_left(ordinals, before)
            start = max(0, stop - limit)
            turns = [state.turns[ordinal] for ordinal in ordinals[start:stop]]
            items = tuple(self._said(turns, state))
            found = Listing(items=items, next=str(turns[0].ordinal) if start else "", total=len(ordinals))
        return replace(found, items=tuple(self._with_unsaid(items))) if self._parts.config.memory.shared else found

    def point(self) -> Point:
        """Return what is seen by whoever looks now."""
        with self._parts.log.user(self.user) as state:
            return _point(state)

    def recent(self, limit: int = 20) -> News:
        """Return the latest changes of what is believed and of the tasks; no turns.

        Raises:
            InputError: `limit` is not positive.
        """
        require_positive(limit, "recent: limit")
        with self._parts.log.user(self.user) as state:
            now = _point(state)
            commits = state.tasks.commits
            commit = commits[-limit].number - 1 if len(commits) >= limit else 0
            change = max(0, now.change - limit)
            then = Point(turn=now.turn, change=change, commit=commit, mark=_mark(state, change))
            return self._news(then, now, limit, state)

    def since(self, then: Point, *, until: Point | None = None, limit: int = 100) -> News:
        """Return what happened after a point, oldest first.

        Args:
            then: what was seen.
            until: up to which point; by default now.
            limit: how much at most; of more the latest is told, and how much is left out.

        Raises:
            InputError: `limit` is not positive.

        Cost: O(what happened since), and at most `limit` is written out.
        """
        require_positive(limit, "since: limit")
        with self._parts.log.user(self.user) as state:
            now = _point(state)
            end = now if until is None else until
            if not _is_past(then, end, now, state):
                return _with_waiting(News(point=now, lost=True), state)
            return self._news(then, end, limit, state)

    def _news(self, then: Point, end: Point, limit: int, state: UserState) -> News:
        happened = list(heapq.merge(*_happened(then, end, state), key=attrgetter("at")))
        shown = happened[-limit:]
        seen = then
        for one in happened[:-limit]:
            seen = one.seen(seen, state)
        turns = [one.what for one in shown if isinstance(one.what, Turn)]
        said = {one.turn.turn_id: one for one in self._said(turns, state)}
        happenings = []
        for one in shown:
            seen = one.seen(seen, state)
            happenings.append(_written(seen, one.what, said, state))
        news = News(point=end, happenings=tuple(happenings), left_out=len(happened) - len(shown))
        return _with_waiting(news, state)

    def _said(self, turns: Sequence[Turn], state: UserState) -> Iterator[Said]:
        asked = {turn.turn_id: turn.turn_id.removesuffix(REPLY) for turn in turns if turn.generated}
        answers = given_to(self._parts, self.user, set(asked.values()))
        for turn in turns:
            answer = answers.get(asked.get(turn.turn_id, ""))
            yield Said(
                turn=turn,
                withdrawn=turn.turn_id in state.withdrawn,
                degraded=state.degraded.get(turn.turn_id, ""),
                answer=None if answer is None else quoted(answer, state),
            )

    def _with_unsaid(self, items: Sequence[Said]) -> Iterator[Said]:
        """Give turns, and after a question its reply where that is no turn, since it draws on a shared memory."""
        answers = given_to(self._parts, self.user, {one.turn.turn_id for one in items if one.turn.role == "user"})
        answers = {key: answer for key, answer in answers.items() if answer.text and looked_beneath(answer)}
        cited = (one.turn_id for answer in answers.values() for one in answer.citations)
        others = turns_of(self._parts, self.user, cited)
        with self._parts.log.user(self.user) as state:
            unsaid = {key: one for key, one in answers.items() if state.turn(f"{key}{REPLY}") is None}
            answers = {key: quoted(answer, state, others) for key, answer in unsaid.items()}
        for one in items:
            yield one
            if (answer := answers.get(one.turn.turn_id)) is not None:
                yield Said(turn=_reply(one.turn, answer), answer=answer)


def _reply(turn: Turn, answer: Answered) -> Turn:
    """Return a reply that is kept as an answer alone, as a turn without an id."""
    return replace(turn, turn_id="", role="assistant", speaker=answer.agent, text=answer.text, generated=True)


@dataclass(slots=True)
class _Order:
    """The sessions of a memory in the order of their last turns."""

    latest: dict[str, int] = field(default_factory=dict)
    """The ordinal of the last turn of each; the one that was spoken in last is last."""
    read: int = 0


def _order_of(state: UserState) -> _Order:
    """Return the order of the sessions, brought up to date. Cost: O(what was received since the last call)."""
    order: _Order = state.kept.setdefault(KEPT, _Order())
    if not order.read:
        latest = {name: ordinals[-1] for name, ordinals in state.sessions.items()}
        order.latest = dict(sorted(latest.items(), key=lambda one: one[1]))
    else:
        for ordinal in range(order.read + 1, state.ordinal + 1):
            if (turn := state.turns.get(ordinal)) is not None:
                order.latest.pop(turn.session, None)
                order.latest[turn.session] = ordinal
    order.read = state.ordinal
    return order


@dataclass(frozen=True, slots=True)
class _Entry:
    """Something that happened, before it is written out."""

    at: tuple[int, int]
    """The ordinal of the turn that it came of, and what it is: a turn comes before what it changes."""
    what: Turn | Change | TaskCommit
    place: int
    """How far who has seen it has got among others of its kind."""

    def seen(self, before: Point, state: UserState) -> Point:
        """Return the point of whoever has seen this after what came before."""
        match self.what:
            case Turn():
                return replace(before, turn=self.place)
            case Change():
                return replace(before, change=self.place, mark=_mark(state, self.place))
        return replace(before, commit=self.place)


def _happened(then: Point, end: Point, state: UserState) -> tuple[list[_Entry], list[_Entry], list[_Entry]]:
    """Return what happened between two points: turns, changes of belief, changes of tasks, each in order."""
    ordinals = (ordinal for ordinal in range(then.turn + 1, end.turn + 1) if ordinal in state.turns)
    turns = [_Entry((ordinal, 0), state.turns[ordinal], ordinal) for ordinal in ordinals]
    changes: list[_Entry] = []
    latest = 0
    for place, change in enumerate(islice(state.beliefs.changes, then.change, end.change), then.change + 1):
        latest = max(latest, _ordinal(change.turn_id, state))
        changes.append(_Entry((latest, 1), change, place))
    commits: list[_Entry] = []
    all_commits, latest = state.tasks.commits, 0
    start = bisect_right(all_commits, then.commit, key=attrgetter("number"))
    for commit in all_commits[start : bisect_right(all_commits, end.commit, key=attrgetter("number"))]:
        latest = max(latest, _ordinal(commit.turn_id, state))
        commits.append(_Entry((latest, 2), commit, commit.number))
    return turns, changes, commits


def _ordinal(turn_id: str | None, state: UserState) -> int:
    turn = state.turn(turn_id) if turn_id else None
    return 0 if turn is None else turn.ordinal


def _point(state: UserState) -> Point:
    changes, commits = len(state.beliefs.changes), state.tasks.commits
    return Point(
        turn=next(reversed(state.turns), 0),
        change=changes,
        commit=commits[-1].number if commits else 0,
        mark=_mark(state, changes),
    )


def _mark(state: UserState, changes: int) -> str:
    """Return what tells the last of so many changes from what stands there once the past is written anew."""
    if not 0 < changes <= len(state.beliefs.changes):
        return "0"
    last = state.beliefs.changes[changes - 1]
    return f"{crc32(f'{last.kind} {last.fact.fact_id} {last.turn_id} {last.known_at}'.encode()):08x}"


def _is_past(then: Point, end: Point, now: Point, state: UserState) -> bool:
    """Tell whether one point is the past of another, which is that of the memory, and what is between can be told."""
    ordered = then.within(end) and end.within(now)
    same = _mark(state, then.change) == then.mark and _mark(state, end.change) == end.mark
    return ordered and same and max(end.turn - then.turn, end.change - then.change) <= MOST_SINCE


def _written(point: Point, what: Turn | Change | TaskCommit, said: Mapping[str, Said], state: UserState) -> Happening:
    match what:
        case Turn():
            return Happening(point=point, what=said[what.turn_id])
        case Change():
            facts = map(state.beliefs.facts.get, what.because)
            others = islice((fact for fact in facts if fact is not None), MOST_OTHERS)
            return Happening(point=point, what=what, others=tuple(others))
    tasks = state.tasks
    return Happening(point=point, what=what, paths=tasks.paths(key for key in _named(what) if key in tasks.nodes))


def _named(commit: TaskCommit) -> set[str]:
    """Return the ids of the nodes that a change of the tasks names."""
    nodes = [node for edit in commit.edits for node in (edit.before, edit.after) if node is not None]
    above = {key for node in nodes for key in (*node.parents, *(one.on for one in node.depends))}
    return {edit.node_id for edit in commit.edits} | above


def _with_waiting(news: News, state: UserState) -> News:
    waits = state.pending()
    return replace(news, waiting=tuple(waits[:SHOWN_WAITING]), waits=len(waits))
