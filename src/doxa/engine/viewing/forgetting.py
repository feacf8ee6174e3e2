"""Turns that somebody may want to be rid of -> what would go with them; nothing is changed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from itertools import islice

from doxa.core.errors import NotFoundError
from doxa.core.values import Fact, Turn
from doxa.core.views import Foreseen, TurnPage
from doxa.engine.history.answers import repeating
from doxa.engine.history.erasure import erased_with
from doxa.engine.history.replay import NO_TURN
from doxa.engine.viewing.index import ViewIndex
from doxa.engine.viewing.order import cursor_of, read_cursor
from doxa.engine.wiring.parts import Parts
from doxa.language import stems
from doxa.memory import UserState, rule_id

__all__ = ["foresee", "turns_of"]

SCANNED = 10_000
"""Turns that are looked at for one page."""
NAMED = 200
"""Characters of ids that an error names."""


def turns_of(
    state: UserState,
    *,
    words: str,
    session: str,
    speaker: str,
    since: date | None,
    until: date | None,
    after: str,
    limit: int,
) -> TurnPage:
    """Return turns, the latest first; see `View.turns`. Cost: O(limit), with conditions O(`SCANNED`) at most."""
    cursor = read_cursor(after, int)
    before = state.ordinal + 1 if cursor is None else min(cursor[0], state.ordinal + 1)
    name = speaker.casefold()

    def fits(turn: Turn) -> bool:
        return (
            (not name or turn.speaker.casefold() == name)
            and session in ("", turn.session)
            and (since is None or turn.at.date() >= since)
            and (until is None or turn.at.date() <= until)
        )

    found: list[Turn] = []
    for looked, turn in enumerate(_latest(state, words, session, before)):
        if looked >= SCANNED or len(found) == limit:
            return TurnPage(items=tuple(found), next=cursor_of(turn.ordinal + 1))
        if fits(turn):
            found.append(turn)
    return TurnPage(items=tuple(found))


def _latest(state: UserState, words: str, session: str, before: int) -> Iterator[Turn]:
    """Give turns from before an ordinal, the latest first: those that have all of some words, or are of a session."""
    ordinals: Sequence[int]
    if words:
        ordinals = [state.places[place] for place in state.lexical.holding(stems(words))]
    elif session:
        ordinals = state.session(session)
    else:
        yield from (state.turns[one] for one in range(before - 1, 0, -1) if one in state.turns)
        return
    yield from (state.turns[one] for one in reversed(ordinals[: bisect_left(ordinals, before)]))


def foresee(
    parts: Parts, user: str, turn_ids: Collection[str] | None, state: UserState, index: ViewIndex, *, limit: int
) -> Foreseen:
    """Return what would go with turns, or with everything; see `View.would_forget`."""
    if turn_ids is None:
        return _all(parts, user, state, index, limit)
    gone, asked = erased_with(state, turn_ids), [one for one in turn_ids if state.turn(one) is not None]
    if not asked:
        raise NotFoundError(NO_TURN.format(user=user, turn_id=", ".join(turn_ids)[:NAMED]))
    ids = {turn.turn_id: None for turn in gone}
    touched = _touching(index, ids)
    erased = _erased(touched, ids, state)
    stay = [fact for fact in touched if fact.fact_id not in erased]
    undone = _undone(ids, erased, state)
    lost = [one for one in state.promotions if not ids.keys().isdisjoint(one.turn_ids)]
    tasks = _tasks(ids, state)
    store, scope = parts.log.store, parts.log.scope(user)
    answers = repeating(parts, user, ids.keys() | {fact.fact_id for fact in touched})
    return Foreseen(
        turn_ids=tuple(asked),
        turns=tuple(gone[:limit]),
        turn_count=len(gone),
        replies=len(gone) - len(asked),
        erased=tuple(islice(erased.values(), limit)),
        erased_count=len(erased),
        kept=tuple(stay[:limit]),
        kept_count=len(stay),
        otherwise=tuple(undone[:limit]),
        otherwise_count=len(undone),
        promotions=tuple(lost[:limit]),
        promotion_count=len(lost),
        answers=len(answers) + parts.answers.count(user),
        tasks=tuple(tasks[:limit]),
        task_count=len(tasks),
        records=store.count_records(scope, ids),
        later=sum(turn.ordinal > gone[0].ordinal for turn in state.turns.values() if turn.turn_id not in ids),
    )


def _all(parts: Parts, user: str, state: UserState, index: ViewIndex, limit: int) -> Foreseen:
    """Return what would go with everything."""
    store, scope = parts.log.store, parts.log.scope(user)
    promotions, nodes = state.promotions, state.tasks.nodes
    return Foreseen(
        turns=tuple(islice(state.received(), limit)),
        turn_count=len(state.turns),
        erased=tuple(one.fact for one in islice(index.filed.values(), limit)),
        erased_count=len(index.filed),
        promotions=tuple(islice(promotions, limit)),
        promotion_count=len(promotions),
        answers=len(store.answers(scope)) + parts.answers.count(user),
        tasks=tuple(node.name for node in islice(nodes.values(), limit)),
        task_count=len(nodes),
        records=store.count_records(scope),
    )


def _touching(index: ViewIndex, ids: Collection[str]) -> list[Fact]:
    """Return the facts that rest on turns, in the order in which they came to be."""
    found = {key: index.filed[key] for turn_id in ids for key in index.by_turn.get(turn_id, ())}
    return [one.fact for one in sorted(found.values(), key=lambda one: one.place[1])]


def _erased(touched: Sequence[Fact], ids: Collection[str], state: UserState) -> dict[str, Fact]:
    """Return those facts that nothing else says, and those that follow from one of them or from a rule of the turns."""
    lost = {rule_id(rule) for turn_id in ids for rule in state.beliefs.rules_of(turn_id)}
    found: dict[str, Fact] = {}
    left = list(touched)
    while True:
        gone = [fact for fact in left if _goes(fact, ids, lost)]
        if not gone:
            return found
        found |= {fact.fact_id: fact for fact in gone}
        lost |= {fact.fact_id for fact in gone}
        left = [fact for fact in left if fact.fact_id not in found]


def _goes(fact: Fact, ids: Collection[str], lost: Collection[str]) -> bool:
    return all(turn_id in ids for turn_id in fact.turn_ids) or any(premise in lost for premise in fact.premises)


def _undone(ids: Collection[str], erased: Mapping[str, Fact], state: UserState) -> list[Fact]:
    """Return the facts that stay and that the turns had revised."""
    facts, changes = state.beliefs.facts, (one for key in ids for one in state.beliefs.changes_by(key))
    keys = dict.fromkeys(change.fact.fact_id for change in changes if change.revises)
    return [facts[key] for key in keys if key in facts and key not in erased]


def _tasks(ids: Collection[str], state: UserState) -> list[str]:
    """Return the names of what the turns made or changed among the tasks, as it is called now."""
    commits = (state.tasks.commit(number) for turn_id in ids for number in state.tasks.of_turn(turn_id))
    nodes = dict.fromkeys(edit.node_id for commit in commits if commit is not None for edit in commit.edits)
    return [state.tasks.nodes[key].name for key in nodes if key in state.tasks.nodes]
