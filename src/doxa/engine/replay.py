"""The past, told again: what was believed at an earlier time, and what is believed once a turn is erased."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from doxa.backends.parser import Parser
from doxa.backends.store import Row
from doxa.core.errors import NotFoundError, StoreConflictError
from doxa.core.promotions import Promotion, Support
from doxa.core.values import Certificate, Change, Fact, Turn
from doxa.engine.reading import BY_AMR, Trained, note_of, reading_of
from doxa.engine.retelling import Retelling, TaskReader
from doxa.memory import LEAST_SUPPORT, Beliefs, Event, MemoryLog, Note, UserState, fold, turn_of
from doxa.revise import bring_back, give_up, retract, revise, upheld, withdraw
from doxa.understand import Extraction

__all__ = ["NO_TURN", "believed_by", "beliefs_at", "erase_all", "erase_turn", "undone"]

LIFTED = ("promoted", "demoted")
NEEDS = {"retracted": "target", "identified": "claims", "feedback": "feedback", "tasked": "tasks"}
"""What the body of an event holds as long as the fact, the names or the turns that it is about are known."""
NO_TURN = "User {user!r} has no turn {turn_id!r}. `doxa search` and `doxa facts` show turn ids."
REREAD = "what stood before it was erased, so the turn was read again without the language model"


def beliefs_at(rows: Sequence[Row], known_at: datetime, policy: str) -> Beliefs:
    """Return what was believed from what had been said by `known_at`. Cost O(log), without understanding it again."""
    beliefs = Beliefs(policy=policy)
    for row in rows:
        if row.kind not in ("turn", "tasked", "annotated", "erased", *LIFTED) and row.known_at <= known_at:
            _again(Event.from_row(row, None), beliefs)
    return beliefs


def believed_by(log: MemoryLog, user: str, known_at: datetime) -> Beliefs:
    """Return what was believed of a user; see `beliefs_at`."""
    return beliefs_at(log.rows(user), known_at, log.policy)


def _again(event: Event, beliefs: Beliefs) -> Event:
    """Revise by an event anew, fold it, and return it with the changes that it now causes."""
    if event.kind == "identified" and not all(beliefs.said_of(key) for key in _names_in(event)):
        event, changes = replace(event, claims=()), []
    elif event.kind in ("maintained", "identified"):
        turn_ids = (*(claim.turn_id for claim in event.claims), *(rule.turn_id for rule in event.rules))
        turn_id = next(iter(turn_ids), "") or None
        changes = revise(event.claims, beliefs, turn_id=turn_id, known_at=event.known_at, rules=event.rules)
        beliefs.learn(event.claims, changes, event.rules)
    elif event.kind == "withdrawn" or event.undoes == "maintained":
        changes = withdraw(event.target, beliefs, known_at=event.known_at, reason=event.reason)
        beliefs.drop_turn(event.target, changes)
    elif event.kind == "distrusted":
        changes = give_up(*beliefs.said_by(event.target), beliefs, known_at=event.known_at, reason=event.reason)
        beliefs.drop_source(event.target, changes)
    elif event.kind == "undone":
        changes = undone(event, beliefs)
        if event.undoes == "identified":
            beliefs.drop_claims(event.claims, changes)
        else:
            beliefs.bring_back(event.given_up, changes)
    elif (fact := _retracted(event, beliefs)) is not None:
        changes = retract(fact, beliefs, known_at=event.known_at, reason=event.reason)
        beliefs.drop_support(fact, changes)
        event = replace(event, target=fact.fact_id)
    else:
        event, changes = replace(event, target=""), []
    return replace(event, changes=changes)


def undone(event: Event, beliefs: Beliefs) -> list[Change]:
    """Return what changes when something that a person did by hand is taken back."""
    if event.undoes == "identified":
        live = [said for claim in event.claims for said in beliefs.claims.get(beliefs.slot(claim), ()) if said == claim]
        return give_up(live, (), beliefs, known_at=event.known_at, reason=event.reason)
    claims, rules = beliefs.given_up(event.given_up)
    return bring_back(claims, rules, beliefs, known_at=event.known_at, reason=event.reason)


def _names_in(event: Event) -> list[str]:
    return [term.key for claim in event.claims for term in (claim.subject, claim.object)]


def _retracted(event: Event, beliefs: Beliefs) -> Fact | None:
    """Return the fact that a retraction is about: the one with its value and sources, whatever its id is by now."""
    was = next((change.fact for change in event.changes if change.fact.fact_id == event.target), None)
    if was is None:
        return beliefs.facts.get(event.target)
    value = beliefs.key(was.object.key)
    same = [f for f in beliefs.in_slot(beliefs.slot(was)) if f.object.key == value and f.polarity == was.polarity]
    return next((fact for fact in same if set(fact.turn_ids) & set(was.turn_ids)), None)


def erase_turn(
    log: MemoryLog,
    user: str,
    turn_id: str,
    parser: Parser,
    *,
    context_turns: int,
    task_reader: TaskReader | None = None,
    trained: Trained | None = None,
) -> Certificate:
    """Remove a turn and everything that was made from it, and prove it.

    Replies that Doxa wrote from that turn on are removed as well, since they may repeat it. What follows is
    understood and revised again without it, and all of it is written in one transaction; then the freed space is
    wiped. Cost: understanding every turn after the erased one. No language model is asked again: what one had read
    out of later turns is used as it stands, except where it had seen an erased turn; those are read without it.

    Raises:
        NotFoundError: the user has no such turn.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        turn = state.turn(turn_id)
        if turn is None:
            log.store.wipe()  # an earlier attempt may have been cut short before it had wiped
            raise NotFoundError(NO_TURN.format(user=user, turn_id=turn_id))
        rows, facts_before = log.rows(user), len(state.beliefs.facts)
        # From the rows, not from the state: another process may have written a reply since that was read.
        turns = {row.ordinal: row for row in rows if row.kind == "turn" and row.ordinal >= turn.ordinal}
        gone = {o for o, row in turns.items() if o == turn.ordinal or row.body.get("generated")}
        delete = {row.ordinal for row in rows if _concerns(row, gone, turn_id)}
        kept = [row for row in rows if row.ordinal not in delete]
        seen = {later for ordinal in gone for later in _after(state, ordinal, context_turns)}
        seen = _with_repeating(rows, seen, {str(turns[ordinal].turn_id) for ordinal in gone}, state)
        fresh = UserState(user=user, dims=1, beliefs=Beliefs(policy=log.policy))
        tasks = Retelling.without(fresh, [row for row in rows if row.ordinal in delete], task_reader)
        bodies = _retell(kept, tasks, parser, trained, after=turn.ordinal, context_turns=context_turns, seen=seen)
        beliefs = fresh.beliefs
        bodies = {**bodies, **_untold(kept, {str(row.turn_id) for row in rows if row.ordinal in gone}, beliefs)}
        delete |= {row.ordinal for row in kept if _is_empty(row, bodies.get(row.ordinal, row.body))}
        bodies = {ordinal: body for ordinal, body in bodies.items() if ordinal not in delete}
        counts = _rewrite(log, user, delete=sorted(delete), replace=bodies, expected=rows[-1].ordinal)
        log.forget_state(user)
    erased = {**_counts(counts), "facts": max(0, facts_before - len(beliefs.facts))}
    ids = sorted(str(turns[ordinal].turn_id) for ordinal in gone)
    return _certificate(user, tuple(ids), erased)


def _rewrite(
    log: MemoryLog, user: str, *, delete: Sequence[int], replace: Mapping[int, Mapping[str, Any]], expected: int
) -> dict[str, int]:
    """Rewrite the log; turns that came in meanwhile are as good after it as before, unless Doxa wrote them."""
    while True:
        try:
            return log.store.rewrite(log.scope(user), delete=delete, replace=replace, expected=expected)
        except StoreConflictError:
            new = log.store.read(log.scope(user), after=expected)
            if not new or any(row.kind != "turn" or row.body.get("generated") for row in new):
                raise
            expected = new[-1].ordinal


def erase_all(log: MemoryLog, user: str) -> Certificate:
    """Remove everything of a user, and prove it. Nothing is folded, so a log that cannot be read goes as well."""
    rows = log.rows(user)
    facts = {change["fact"]["id"] for row in rows for change in row.body.get("changes", ())}
    counts = log.store.erase(log.scope(user))
    log.forget_state(user)
    ids = tuple(str(row.turn_id) for row in rows if row.kind == "turn")
    return _certificate(user, ids, {**_counts(counts), "facts": len(facts)})


def _after(state: UserState, ordinal: int, size: int) -> list[int]:
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


def _is_empty(row: Row, body: Mapping[str, Any]) -> bool:
    """Tell whether an event has lost what it was about: a fact, two names, turns, or all promotions."""
    if row.kind in LIFTED:
        return not body.get("promotions") and not body.get("target")
    return row.kind in NEEDS and NEEDS[row.kind] not in body


def _untold(rows: Sequence[Row], gone: set[str], beliefs: Beliefs) -> dict[int, Mapping[str, Any]]:
    """Return the new bodies of feedback, without what was asked by, or rests on, a turn that is erased.

    Facts that are gone are named by none of it: the id of a fact is a hash of what it says, which can be guessed.
    """

    def known(edges: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple(edge for edge in edges if edge[0] in beliefs.facts)

    bodies: dict[int, Mapping[str, Any]] = {}
    for row in rows:
        if row.kind == "feedback":
            event = Event.from_row(row, None)
            told = [
                replace(one, edges=known(one.edges), misled=known(one.misled))
                for one in event.feedback
                if not gone & {one.asked, *one.turn_ids}
            ]
            bodies[row.ordinal] = replace(event, feedback=told).body()
    return bodies


def _concerns(row: Row, gone: set[int], turn_id: str) -> bool:
    if row.kind == "turn":
        return row.ordinal in gone
    of_turn = row.kind in ("withdrawn", "annotated") or row.body.get("undoes") in ("maintained", "withdrawn")
    return row.about in gone or (of_turn and row.body.get("target") == turn_id)


def _retell(
    rows: Sequence[Row],
    tasks: Retelling,
    parser: Parser,
    trained: Trained | None,
    *,
    after: int,
    context_turns: int,
    seen: set[int],
) -> Mapping[int, Mapping[str, Any]]:
    """Return the new bodies of the rows after an ordinal; what is believed and done in the end is in the state.

    `seen` are the turns whose context, or what was known before them, held what was erased: what a model read out of
    them may repeat it.
    """
    state = tasks.state
    bodies: dict[int, Mapping[str, Any]] = {}
    for row in rows:
        if row.kind == "turn":
            if row.ordinal > after and row.body.get("to_tasks", {}).get("said_before"):
                row, bodies[row.ordinal] = _unprompted(row)
            state.receive(turn_of(row, state.user))
        elif row.kind != "erased":
            about = state.turns.get(row.about or 0)
            event = Event.from_row(row, about)
            if row.kind == "annotated":
                fold(state, event, None)
                continue
            if row.kind in LIFTED:
                event = _supported(event, state)
                fold(state, event, None)
                bodies |= {row.ordinal: event.body()} if row.ordinal > after else {}
                continue
            if about is not None and about.ordinal > after:  # turns before it were read without it, whenever that was
                had_seen = about.ordinal in seen
                event = _reread(event, about, state, parser, trained, context_turns=context_turns, seen=had_seen)
            event = _again(event, state.beliefs)
            if row.ordinal <= after:
                tasks.keep(event)
            else:
                bodies[row.ordinal] = tasks.tell(event).body()
    return bodies


def _unprompted(row: Row) -> tuple[Row, Mapping[str, Any]]:
    """Return a turn that was told to the tasks, and its body, without what was said before it: that may repeat it."""
    to_tasks = {key: value for key, value in row.body["to_tasks"].items() if key != "said_before"}
    body = {**row.body, "to_tasks": to_tasks}
    return replace(row, body=body), body


def _supported(event: Event, state: UserState) -> Event:
    """Return what was promoted by the turns and facts that there still are; less than the least support is none."""

    def left(promotion: Promotion) -> Iterator[Support]:
        for one in promotion.support:
            known = tuple(key for key in one.fact_ids if key in state.beliefs.facts)
            if state.turn(one.turn_id) is not None and bool(known) == bool(one.fact_ids):
                yield replace(one, fact_ids=known)

    now = [replace(promotion, support=tuple(left(promotion))) for promotion in event.promotions]
    target = event.target if state.promotions.get(event.target) else ""
    return replace(event, promotions=[one for one in now if len(one.support) >= LEAST_SUPPORT], target=target)


def _reread(
    event: Event,
    turn: Turn,
    state: UserState,
    parser: Parser,
    trained: Trained | None,
    *,
    context_turns: int,
    seen: bool,
) -> Event:
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
        note=replace(note_of(found, extraction), **_judged(event.note)),
        degraded=event.degraded or failed,
    )


def _judged(note: Note) -> dict[str, Any]:
    """Return the fields of a note that say who judged a turn."""
    names = ("judged_by", "judge_prompt_tokens", "judge_completion_tokens")
    return {name: getattr(note, name) for name in names}


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    events = sum(count for kind, count in counts.items() if kind not in ("turn", "vectors"))
    return {"turns": counts.get("turn", 0), "events": events, "vectors": counts.get("vectors", 0)}


def _certificate(user: str, turn_ids: tuple[str, ...], erased: Mapping[str, int]) -> Certificate:
    at = datetime.now(UTC)
    record = json.dumps([user, turn_ids, dict(erased), at.isoformat()], ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(record.encode()).hexdigest()
    return Certificate(user=user, turn_ids=turn_ids, erased=erased, at=at, digest=digest)
