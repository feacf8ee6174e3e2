"""What waits for a person, and the names that stand for one -> pages of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from doxa.core.values import Fact, Status
from doxa.core.views import Joined, Listing, ReviewItem, ReviewKind, ReviewPage
from doxa.engine.answer.disputes import question_of
from doxa.engine.history.entities import entity_of, joining
from doxa.engine.viewing.index import ViewIndex
from doxa.engine.viewing.names import label_of
from doxa.engine.viewing.order import Rank, cursor_of, earliest, latest, read_cursor, unplaced
from doxa.memory import Beliefs, UserState, fold, is_identity

__all__ = ["Asked", "behind", "joined_page", "place_at", "review_page"]

NUMBER = (int, float)
"""What a moment is in a cursor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which page of what waits for a person."""

    kind: Literal["all", "names"] | ReviewKind
    query: str
    oldest: bool
    after: str
    before: str
    limit: int


def review_page(asked: Asked, state: UserState, index: ViewIndex) -> ReviewPage:
    """Return a page of what waits for a person; see `View.review`.

    Raises:
        InputError: `after` or `before` is no cursor.
    """
    disputes = index.disputes(state.beliefs)
    sides = dict(disputes)
    queues: dict[ReviewKind, list[Rank]] = {
        "disputed": [place for place, _ in disputes],
        "doubtful": index.doubtful,
        "tentative": index.tentative,
    }
    named = [place for place, keys in disputes if is_identity(index.filed[keys[0]].fact)]
    totals = {one: len(places) for one, places in queues.items()}
    names = [index.unsure_names, named]
    chosen = names if asked.kind == "names" else [p for k, p in queues.items() if asked.kind in ("all", k)]
    if asked.query:
        chosen = [_about(asked.query, places, sides, index) for places in chosen]
    forward, backward = (earliest, latest) if asked.oldest else (latest, earliest)
    if asked.before:
        at = place_at(asked.before, index, first=not asked.oldest)
        found = backward(chosen, at, asked.limit)[0][::-1]
    else:
        found, _ = forward(chosen, place_at(asked.after, index, first=asked.oldest), asked.limit)
    return ReviewPage(
        items=tuple(_item(place, sides.get(place), index, state) for place in found),
        next=behind(found[-1]) if found and forward(chosen, found[-1], 1)[0] else "",
        previous=behind(found[0]) if found and backward(chosen, found[0], 1)[0] else "",
        total=sum(map(len, chosen)),
        totals=totals,
        names=sum(map(len, names)),
    )


def joined_page(query: str, after: str, limit: int, beliefs: Beliefs, index: ViewIndex) -> Listing[Joined]:
    """Return a page of those who have several names, by name; see `View.joined`.

    Raises:
        InputError: `after` is no cursor.
    """
    cursor = read_cursor(after, str, str)
    keys = {beliefs.key(name) for name in index.groups}
    if query:
        keys &= set(index.directory.found(query))
    order = sorted((fold(label_of(key, beliefs)), key) for key in keys)
    start = bisect_right(order, (cursor[0], cursor[1])) if cursor else 0
    shown = order[start : start + limit]
    return Listing(
        items=tuple(_joined(key, beliefs) for _, key in shown),
        next=cursor_of(*shown[-1]) if start + limit < len(order) else "",
        total=len(order),
    )


def behind(place: Rank) -> str:
    """Return the cursor of a fact. Its place among all may be another in the next process: its id tells it."""
    return cursor_of(place[0], place[2])


def place_at(cursor: str, index: ViewIndex, *, first: bool = False) -> Rank | None:
    """Return the place at which a page begins; of a fact that is gone, all of its moment come again.

    Args:
        cursor: that place; empty for none.
        index: where facts stand.
        first: whether the page leads to what is later.

    Raises:
        InputError: it is no cursor.
    """
    match read_cursor(cursor, NUMBER, str):
        case [float() | int() as moment, str(fact_id)]:
            filed = index.filed.get(fact_id)
            return (moment, filed.place[1], fact_id) if filed is not None else unplaced(moment, first=first)
    return None


def _about(query: str, places: Iterable[Rank], sides: dict[Rank, tuple[str, ...]], index: ViewIndex) -> list[Rank]:
    """Return what is about those whom a query finds. Cost: O(those, and what is looked through)."""
    keys = set(index.directory.found(query))
    keys |= {name for key in keys & index.groups.keys() for name in index.groups[key]}

    def fits(fact_id: str) -> bool:
        fact = index.filed[fact_id].fact
        return fact.subject.key in keys or fact.object.key in keys

    return [place for place in places if any(map(fits, sides.get(place, (place[2],))))]


def _item(place: Rank, sides: Sequence[str] | None, index: ViewIndex, state: UserState) -> ReviewItem:
    facts = tuple(index.filed[key].fact for key in sides or (place[2],))
    kind: ReviewKind = "disputed" if sides is not None else "tentative"
    if facts[0].status is Status.QUARANTINED:
        kind = "doubtful"
    named = [fact.subject.key for fact in facts[:1] if fact.subject.key in index.groups and not is_identity(fact)]
    return ReviewItem(
        key=place[2],
        kind=kind,
        facts=facts,
        when=max((fact.known_at for fact in facts if fact.known_at is not None), default=None),
        question=question_of(facts, state) if sides is not None else "",
        identities=joining(named, state.beliefs),
    )


def _joined(key: str, beliefs: Beliefs) -> Joined:
    identities: tuple[Fact, ...] = joining((key,), beliefs)
    return Joined(entity=entity_of(key, label_of(key, beliefs), 0, beliefs), identities=identities)
