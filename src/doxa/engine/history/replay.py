"""The past, told again: what was believed at an earlier time, and what is believed once a turn is erased."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from doxa.backends.parser import Parser
from doxa.backends.store import Row
from doxa.core.errors import NotFoundError, StoreConflictError
from doxa.core.values import UNBELIEVED, Certificate, Change, Claim, Fact, Status, Turn
from doxa.engine.history.retelling import Retelling, TaskReader
from doxa.engine.reading.turns import BY_AMR, Trained, note_of, reading_of, taught_in
from doxa.memory import (
    BY_CLAIMS,
    EVENTS,
    Accepted,
    Annotated,
    Beliefs,
    Demoted,
    Distrusted,
    Event,
    FeedbackGiven,
    Identified,
    Maintained,
    MemoryLog,
    Note,
    Promoted,
    Retracted,
    Revision,
    TaskEvent,
    Undone,
    UserState,
    Withdrawn,
    event_of,
    turn_of,
)
from doxa.revise import bring_back, give_up, restated, retract, revise, upheld, withdraw
from doxa.understand import Extraction

__all__ = ["NO_FACT", "NO_TURN", "believed_by", "beliefs_at", "erase_all", "erase_turns", "retell_turns", "undone"]

NO_FACT = "User {user!r} has no fact {fact_id!r}. `doxa facts --all` lists their ids."
NO_TURN = "User {user!r} has no turn {turn_id!r}. `doxa search` and `doxa facts` show turn ids."
ByHand = dict[str, list[Revision]]
"""What was done by hand and stands, as it is told again, by the kind of the event; the last is undone first."""
REREAD = "what stood before it was erased, so the turn was read again without the language model"


def beliefs_at(rows: Sequence[Row], known_at: datetime, policy: str) -> Beliefs:
    """Return what was believed from what had been said by `known_at`. Cost O(log), without understanding it again."""
    beliefs, by_hand = Beliefs(policy=policy), ByHand()
    for row in rows:
        if row.kind in EVENTS and row.known_at <= known_at and isinstance(event := event_of(row), Revision):
            _again(event, beliefs, by_hand)
    return beliefs


def believed_by(log: MemoryLog, user: str, known_at: datetime) -> Beliefs:
    """Return what was believed of a user; see `beliefs_at`."""
    return beliefs_at(log.rows(user), known_at, log.policy)


def _again(event: Revision, beliefs: Beliefs, by_hand: ByHand) -> Revision:
    """Revise by an event anew, fold it, and return it with the changes that it now causes."""
    event = _revised(_paired(event, by_hand) if isinstance(event, Undone) else event, beliefs)
    if isinstance(event, Identified | Accepted | Retracted):
        by_hand.setdefault(event.kind, []).append(event)
    if not event.is_empty:
        event.believe(beliefs)
    return event


def _paired(event: Undone, by_hand: ByHand) -> Undone:
    """Return an event that takes back what was done by hand, in the words in which that is told now."""
    if not by_hand.get(event.undoes):
        return event
    match by_hand[event.undoes].pop():
        case Identified(claims=claims) | Accepted(claims=claims):
            return replace(event, claims=claims)
        case Retracted(target=target):
            return replace(event, target=target)
    raise NotImplementedError(event.undoes)


def _revised(event: Revision, beliefs: Beliefs) -> Revision:
    """Return an event with the changes that it now causes; one whose names or facts are gone is empty."""
    match event:
        case Undone() if event.is_empty:
            return replace(event, claims=(), changes=())
        case Accepted():
            event = _accepted(event, beliefs)
            changes = revise(event.claims, beliefs, turn_id=None, known_at=event.known_at)
        case Identified() if not all(beliefs.said_of(key) for key in _names_in(event)):
            return replace(event, claims=(), changes=())
        case Maintained() | Identified():
            rules = event.rules if isinstance(event, Maintained) else ()
            turn_ids = (*(claim.turn_id for claim in event.claims), *(rule.turn_id for rule in rules))
            turn_id = next(iter(turn_ids), "") or None
            changes = revise(event.claims, beliefs, turn_id=turn_id, known_at=event.known_at, rules=rules)
        case Withdrawn():
            changes = withdraw(event.target, beliefs, known_at=event.known_at, reason=event.reason)
        case Distrusted():
            changes = give_up(*beliefs.said_by(event.target), beliefs, known_at=event.known_at, reason=event.reason)
        case Undone():
            changes = undone(event, beliefs)
        case Retracted():
            fact = _fact_of(event, beliefs)
            if fact is None:
                return replace(event, target="", changes=())
            changes = retract(fact, beliefs, known_at=event.known_at, reason=event.reason)
            event = replace(event, target=fact.fact_id)
        case _:
            raise NotImplementedError(event.kind)
    return replace(event, changes=changes)


def undone(event: Undone, beliefs: Beliefs) -> list[Change]:
    """Return what changes when something is taken back."""
    match event.undoes:
        case "maintained":
            return withdraw(event.target, beliefs, known_at=event.known_at, reason=event.reason)
        case kind if kind in BY_CLAIMS:
            return give_up(beliefs.live(event.claims), (), beliefs, known_at=event.known_at, reason=event.reason)
        case _:
            claims, rules = beliefs.given_up(event.given_up)
            return bring_back(claims, rules, beliefs, known_at=event.known_at, reason=event.reason)


def _names_in(event: Identified) -> list[str]:
    return [term.key for claim in event.claims for term in (claim.subject, claim.object)]


def _accepted(event: Accepted, beliefs: Beliefs) -> Accepted:
    """Return an event with what is left of what it accepts, in the words of the turns that there still are."""
    turns = {claim.turn_id for claim in event.claims}
    found = {fact.fact_id: (claim, fact) for claim in event.claims if (fact := _fact_in(claim, beliefs)) is not None}
    again = [
        restated(
            fact, beliefs, speaker=claim.speaker, at=claim.known_at or event.known_at, accepted=claim.accepted,
            trusted=turns.__contains__, beside=event.beside,
        )
        for claim, fact in found.values()
    ]  # fmt: skip
    claims = [claim for claim in again if claim is not None]
    return replace(event, claims=claims if len(claims) > event.beside else ())


def _dated(event: Accepted, now: datetime | None) -> Accepted:
    """Return an event that is no later than the latest turn before it: the one whose time it had may be erased."""
    latest = now or event.known_at
    claims = [replace(claim, known_at=min(claim.known_at or event.known_at, latest)) for claim in event.claims]
    return replace(event, claims=claims)


def _fact_in(claim: Claim, beliefs: Beliefs) -> Fact | None:
    """Return the latest fact that says what a claim says, one that was not over if there is any."""
    value, slot = beliefs.key(claim.object.key), beliefs.in_slot(beliefs.slot(claim))
    same = [fact for fact in slot if fact.object.key == value and fact.polarity == claim.polarity]
    open_ = [fact for fact in same if fact.status in (Status.HELD, *UNBELIEVED)]
    return next(reversed(open_ or same), None)


def _fact_of(event: Retracted, beliefs: Beliefs) -> Fact | None:
    """Return the fact that a retraction is about: the one with its value and sources, whatever its id is by now."""
    was = next((change.fact for change in event.changes if change.fact.fact_id == event.target), None)
    if was is None:
        return beliefs.facts.get(event.target)
    value = beliefs.key(was.object.key)
    same = [f for f in beliefs.in_slot(beliefs.slot(was)) if f.object.key == value and f.polarity == was.polarity]
    return next((fact for fact in same if set(fact.turn_ids) & set(was.turn_ids)), None)


def erase_turns(
    log: MemoryLog,
    user: str,
    turn_ids: Collection[str],
    parser: Parser,
    *,
    context_turns: int,
    task_reader: TaskReader | None = None,
    trained: Trained | None = None,
) -> Certificate:
    """Remove turns and everything that was made from them, and prove it; those that are gone already are left out.

    Replies that Doxa wrote from the first of them on are removed as well, since they may repeat it. What follows is
    understood and revised again without them, and all of it is written in one transaction; then the freed space is
    wiped. Cost: understanding every turn after the first erased one. No language model is asked again: what one had
    read out of later turns is used as it stands, except where it had seen an erased turn; those are read without it.

    Raises:
        NotFoundError: the user has none of them.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        asked = {turn.ordinal for turn in map(state.turn, turn_ids) if turn is not None}
        if not asked:
            log.store.wipe(log.scope(user))  # an earlier attempt may have been cut short before it had wiped
            raise NotFoundError(NO_TURN.format(user=user, turn_id=", ".join(turn_ids)))
        first = min(asked)
        rows, facts_before = log.rows(user), len(state.beliefs.facts)
        # From the rows, not from the state: another process may have written a reply since that was read.
        turns = {row.ordinal: row for row in rows if row.kind == "turn" and row.ordinal >= first}
        if any(turn.ordinal not in turns for turn in state.received(after=first - 1)):
            raise StoreConflictError(f"{user}: another process erased turns after their log was read.")
        gone = {o for o, row in turns.items() if o in asked or row.body.get("generated")}
        ids = sorted(str(turns[ordinal].turn_id) for ordinal in gone)
        delete = {row.ordinal for row in rows if _concerns(row, gone, ids)}
        heard = {row.ordinal: _unprompted(row) for row in rows if row.ordinal > first and _is_prompted(row)}
        kept = [heard.get(row.ordinal, row) for row in rows if row.ordinal not in delete]
        seen = {later for ordinal in gone for later in _after(state, ordinal, context_turns)}
        seen = _with_repeating(rows, seen, {*ids}, state)
        fresh = UserState(user=user, dims=1, beliefs=Beliefs(policy=log.policy))
        tasks = Retelling.without(fresh, [row for row in rows if row.ordinal in delete], task_reader)
        told = _retell(kept, tasks, parser, trained, after=first, context_turns=context_turns, seen=seen)
        beliefs = fresh.beliefs
        told |= _untold(kept, set(ids), beliefs)
        bodies = {ordinal: row.body for ordinal, row in heard.items()}
        counts, late = _rewrite(log, user, delete, bodies, told, expected=rows[-1].ordinal)
    erased = {**_counts(counts), "facts": max(0, facts_before - len(beliefs.facts))}
    return _certificate(user, tuple(sorted([*ids, *late])), erased)


def retell_turns(
    log: MemoryLog,
    user: str,
    *,
    after: int,
    unread: Collection[int],
    parser: Parser,
    context_turns: int,
    task_reader: TaskReader | None = None,
    trained: Trained | None = None,
) -> None:
    """Tell a log again that has gaps: what was made of lost turns goes, and turns whose reading was lost are read.

    Cost: understanding every turn after the first gap, by what is built in. What a language model had read out of the
    others is used as it stands.

    Args:
        log: the logs of all users; nobody else writes to this one.
        user: whose log it is.
        after: the last row before the first gap.
        unread: the ordinals of turns of which there is an empty `Maintained`.
        parser: reads them.
        context_turns: how many turns before one it is read with.
        task_reader: reads anew what turns do to the tasks.
        trained: what else reads.
    """
    rows = log.rows(user)
    turns = {row.ordinal: str(row.turn_id) for row in rows if row.kind == "turn"}
    lost = {row.about for row in rows if row.about is not None} - turns.keys()
    named = {str(row.body.get("target") or "") for row in rows if _is_of_turn(row)} - {*turns.values(), ""}
    gone = [row for row in rows if _concerns(row, lost, named)]
    delete = {row.ordinal for row in gone}
    kept = [row for row in rows if row.ordinal not in delete]
    fresh = UserState(user=user, dims=1, beliefs=Beliefs(policy=log.policy))
    tasks = Retelling.without(fresh, gone, task_reader)
    told = _retell(kept, tasks, parser, trained, after=after, context_turns=context_turns, seen={*unread})
    told |= _untold(kept, named, fresh.beliefs)
    _rewrite(log, user, delete, {}, told, expected=rows[-1].ordinal)


def _rewrite(
    log: MemoryLog,
    user: str,
    delete: set[int],
    bodies: dict[int, Mapping[str, Any]],
    told: Mapping[int, Event],
    *,
    expected: int,
) -> tuple[dict[str, int], list[str]]:
    """Rewrite the log; return how many rows are gone of each kind, and which replies of Doxa's own that came meanwhile.

    Other turns that came in meanwhile are as good after it as before, without what was said before them.
    """
    late: list[str] = []
    delete = delete | {ordinal for ordinal, event in told.items() if event.is_empty}
    bodies = bodies | {ordinal: event.body() for ordinal, event in told.items()}
    bodies = {ordinal: body for ordinal, body in bodies.items() if ordinal not in delete}
    scope = log.scope(user)
    while True:
        try:
            counts = log.store.rewrite(scope, delete=sorted(delete), replace=bodies, expected=expected)
        except StoreConflictError:
            new = log.store.read(scope, after=expected)
            if not new or any(row.kind != "turn" for row in new):
                raise
            expected = new[-1].ordinal
            replies = [row for row in new if row.body.get("generated")]
            delete |= {row.ordinal for row in replies}
            late += [str(row.turn_id) for row in replies]
            bodies |= {row.ordinal: _unprompted(row).body for row in new if _is_prompted(row)}
        else:
            log.forget_state(user)
            return counts, late


def erase_all(log: MemoryLog, user: str) -> Certificate:
    """Remove everything of a user, and prove it. Nothing is folded, so a log that cannot be read goes as well."""
    rows = log.rows(user)
    facts = {change["fact"]["id"] for row in rows for change in row.body.get("changes", ())}
    counts = log.store.erase(log.scope(user))
    log.forget_state(user)
    ids = tuple(str(row.turn_id) for row in rows if row.kind == "turn")
    return _certificate(user, ids, {**_counts(counts), "facts": len(facts)})


def _after(state: UserState, ordinal: int, size: int) -> Sequence[int]:
    """Return the turns that had a turn in their context."""
    turn = state.turns.get(ordinal)
    session = state.session(turn.session) if turn else []
    place = bisect_right(session, ordinal)
    return session[place : place + size]


def _with_repeating(rows: Sequence[Row], seen: set[int], gone: set[str], state: UserState) -> set[int]:
    """Return turns with those out of which a model read something in the terms of facts that rest on erased turns.

    What such a turn says is read again, so its facts are no longer those that later turns were read with: they go the
    same way, until none is left.
    """
    saw = {
        row.about: set(row.body["extraction"].get("saw", ()))
        for row in rows
        if row.about and row.body.get("extraction")
    }
    while True:
        lost = gone | {turn.turn_id for ordinal in seen if ordinal in saw and (turn := state.turns.get(ordinal))}
        more = {ordinal for ordinal, used in saw.items() if used & lost} - seen
        if not more:
            return seen
        seen = seen | more


def _untold(rows: Sequence[Row], gone: set[str], beliefs: Beliefs) -> dict[int, Event]:
    """Return feedback without what was asked by, or rests on, a turn that is erased.

    Facts that are gone are named by none of it: the id of a fact is a hash of what it says, which can be guessed.
    """
    told = {row.ordinal: FeedbackGiven.from_row(row) for row in rows if row.kind == FeedbackGiven.kind}
    return {ordinal: event.without(gone, beliefs.facts) for ordinal, event in told.items()}


def _concerns(row: Row, gone: set[int], turn_ids: Collection[str]) -> bool:
    if row.kind == "turn":
        return row.ordinal in gone
    return row.about in gone or (_is_of_turn(row) and row.body.get("target") in turn_ids)


def _is_of_turn(row: Row) -> bool:
    """Tell whether the target of a row is a turn."""
    return row.kind in ("withdrawn", "annotated") or row.body.get("undoes") in ("maintained", "withdrawn")


def _retell(
    rows: Sequence[Row],
    tasks: Retelling,
    parser: Parser,
    trained: Trained | None,
    *,
    after: int,
    context_turns: int,
    seen: set[int],
) -> dict[int, Event]:
    """Return the events after an ordinal as they are now; what is believed and done in the end is in the state.

    `seen` are the turns whose context, or what was known before them, held what was erased: what a model read out of
    them may repeat it.
    """
    state = tasks.state
    told: dict[int, Event] = {}
    by_hand = ByHand()
    for row in rows:
        if row.kind == "turn":
            state.receive(turn_of(row, state.user))
        elif row.kind in EVENTS:
            about = state.turns.get(row.about or 0)
            event = event_of(row, about)
            if isinstance(event, Maintained) and about is not None and about.ordinal > after:
                had_seen = about.ordinal in seen  # turns before it were read without it, whenever that was
                event = _reread(event, about, state, parser, trained, context_turns=context_turns, seen=had_seen)
            told[row.ordinal] = _retold(event, tasks, by_hand, again=row.ordinal > after)
    return {ordinal: event for ordinal, event in told.items() if ordinal > after}


def _retold(event: Event, tasks: Retelling, by_hand: ByHand, *, again: bool) -> Event:
    """Fold an event, and return it as it is now; `again` is told of one from after what was erased."""
    state = tasks.state
    match event:
        case Annotated():
            event.apply(state)
        case Promoted() | Demoted():
            event = event.supported(state)
            event.apply(state)
        case TaskEvent():
            if isinstance(event, Accepted) and again:
                event = _dated(event, state.now())
            event = _again(event, state.beliefs, by_hand) if isinstance(event, Revision) else event
            return tasks.tell(event) if again else tasks.keep(event)
    return event


def _is_prompted(row: Row) -> bool:
    """Tell whether a row is a turn that was told to the tasks with what was said before it."""
    return bool(row.kind == "turn" and row.body.get("to_tasks", {}).get("said_before"))


def _unprompted(row: Row) -> Row:
    """Return a turn that was told to the tasks without what was said before it: that may repeat what is erased."""
    to_tasks = {key: value for key, value in row.body["to_tasks"].items() if key != "said_before"}
    return replace(row, body={**row.body, "to_tasks": to_tasks})


def _reread(
    event: Maintained,
    turn: Turn,
    state: UserState,
    parser: Parser,
    trained: Trained | None,
    *,
    context_turns: int,
    seen: bool,
) -> Maintained:
    """Return an event with what its turn says now that something before it is gone."""
    seen = seen and not str(event.extraction.get("by", "")).startswith(BY_AMR)  # a parser sees the turn alone
    extraction = Extraction.from_data(event.extraction) if event.extraction and not seen else None
    found, failed = reading_of(turn, state.context(turn, context_turns), state.beliefs, parser, extraction, trained)
    if seen and event.extraction:
        failed = REREAD
    denials = upheld(event.claims[len(event.claims) - event.denials :], found.claims, state.beliefs)
    return replace(
        event,
        claims=(*found.claims, *denials),
        denials=len(denials),
        rules=found.rules,
        extraction=event.extraction if extraction else {},
        note=replace(note_of(found, extraction), taught=taught_in(turn, parser), **_judged(event.note)),
        degraded=event.degraded or failed,
    )


def _judged(note: Note) -> dict[str, Any]:
    """Return the fields of a note that say who judged a turn."""
    names = ("judged_by", "judge_prompt_tokens", "judge_completion_tokens")
    return {name: getattr(note, name) for name in names}


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    events = sum(count for kind, count in counts.items() if kind not in ("turn", "vectors", "records"))
    kept = {"records": counts["records"]} if counts.get("records") else {}
    return {"turns": counts.get("turn", 0), "events": events, "vectors": counts.get("vectors", 0), **kept}


def _certificate(user: str, turn_ids: tuple[str, ...], erased: Mapping[str, int]) -> Certificate:
    at = datetime.now(UTC)
    record = json.dumps([user, turn_ids, dict(erased), at.isoformat()], ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(record.encode()).hexdigest()
    return Certificate(user=user, turn_ids=turn_ids, erased=erased, at=at, digest=digest)
