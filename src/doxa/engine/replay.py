"""The past, told again: what was believed at an earlier time, and what is believed once a turn is erased."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

from doxa.backends.parser import Parser
from doxa.backends.store import Row
from doxa.core.errors import BackendError, NotFoundError, StoreConflictError
from doxa.core.promotions import Promotion, Support
from doxa.core.values import Act, Certificate, Change, Claim, Fact, Rule, Status, Turn
from doxa.engine.retelling import Retelling, TaskReader
from doxa.memory import LEAST_SUPPORT, Beliefs, Event, MemoryLog, Note, UserState, fold, is_identity, turn_of
from doxa.revise import Denials, Judgement, bring_back, give_up, retract, revise, upheld, withdraw
from doxa.understand import (
    Extraction,
    Request,
    Understanding,
    foreign_language,
    ground,
    identify,
    kept_words,
    of_world,
    understand,
    understand_graph,
)

__all__ = [
    "NO_TURN",
    "believed_by",
    "beliefs_at",
    "erase_all",
    "erase_turn",
    "note_of",
    "read_by",
    "reading_of",
    "undone",
]

LIFTED = ("promoted", "demoted")
AMENDS = (Act.WITHDRAW, Act.CORRECT)
"""What a turn does to earlier words."""
NEEDS = {"retracted": "target", "identified": "claims", "feedback": "feedback", "tasked": "tasks"}
"""What the body of an event holds as long as the fact, the names or the turns that it is about are known."""
FOREIGN = "it is not in English ({language}): it is kept and can be searched, and no facts were made from it"


class Trained(Protocol):
    """What was taught on examples and helps the built-in reading; see `wiring.Parts`."""

    def gate(self, claims: Sequence[Claim], turn: Turn, before: Turn | None) -> Sequence[Claim]:
        """Return claims with how far they can be trusted."""

    def request(self, text: str) -> Request:
        """Return what a message asks of the memory itself."""


"""Says how far claims of a turn can be trusted, in view of the turn and of what was said right before it."""
NO_TURN = "User {user!r} has no turn {turn_id!r}. `doxa search` and `doxa facts` show turn ids."

BY_AMR = "amr "
"""How `Extraction.by` opens where an AMR parser read the turn."""
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


def reading_of(
    turn: Turn,
    context: Sequence[Turn],
    beliefs: Beliefs,
    parser: Parser,
    extraction: Extraction | None = None,
    trained: Trained | None = None,
) -> tuple[Understanding, str]:
    """Return what a turn says, and why it was not understood as it should be; empty when it was.

    Args:
        turn: what was said.
        context: earlier turns of its session.
        beliefs: what is believed before it.
        parser: parses its sentences; when it fails, the turn is read by the order of its words.
        extraction: what a language model or an AMR parser read out of it; its claims take the place of the built-in
            ones.
        trained: says how far what was read the built-in way can be trusted; None takes all of it as certain.

    Names that stand for one person or thing are claims as well, found by the same rules whoever read the turn.
    """
    if turn.generated:
        return _own_word(turn, context, beliefs, parser, trained)
    if turn.verbatim:
        return Understanding(intents=("chat",)), ""
    unread = extraction is None or bool(extraction.failed)
    if unread and (language := foreign_language(turn.text)):
        return Understanding(intents=("chat",)), FOREIGN.format(language=language)
    heard, dull = _heard(turn, parser, trained if unread else None)
    found, failed = _read(heard, context, beliefs, parser, extraction)
    failed = failed or dull
    told: Sequence[Claim] = _told(found)
    if trained is not None and unread:
        try:
            before = context[-1] if context else None
            told = trained.gate(told, turn, before)
            if plain := _unmeant(found, told):
                found, _ = _read(heard, context, beliefs, parser, extraction, plain=plain)
                seeming = (one for one in told if one.span in plain)
                told = [*seeming, *trained.gate(_told(found), turn, before)]
        except BackendError as exc:
            failed = f"{failed}; the grader failed, so all that was read is believed: {exc}".strip("; ")
    firm = [claim for claim in told if not claim.tentative]  # what may be misread joins no names
    try:
        names: Sequence[Claim] = identify(turn, context, firm, beliefs)
    except Exception as exc:  # noqa: BLE001  as in `_read`
        names, failed = (), f"{failed}; its names could not be compared: {exc!r}".strip("; ")
    lifting = (_lifting(rule, turn) for rule in found.withdrawn_rules)
    return replace(found, claims=(*of_world(told, names), *names), rules=(*found.rules, *lifting)), failed


def _own_word(
    turn: Turn, context: Sequence[Turn], beliefs: Beliefs, parser: Parser, trained: Trained | None
) -> tuple[Understanding, str]:
    """Return what a reply of Doxa's own says of the world; it is kept as the agent's word and never believed.

    It tells nothing of names and rules; what is not surely read is left out, and what somebody has spoken of already,
    since a reply mostly repeats what the memory holds. It is read the built-in way: replies are whole sentences, and a
    call for each would cost as much as the user's turn.
    """
    found, failed = _read(turn, context, beliefs, parser, None)
    claims: Sequence[Claim] = _told(found)
    if trained is not None:
        try:
            claims = trained.gate(claims, turn, context[-1] if context else None)
        except BackendError as exc:
            return Understanding(), f"the grader failed, so the reply was not read: {exc}"
    firm = (one for one in claims if not one.tentative and one.act is Act.STATE and not _known(one, beliefs))
    return Understanding(claims=tuple(of_world(list(firm), ()))), failed


def _known(claim: Claim, beliefs: Beliefs) -> bool:
    """Tell whether somebody has said something of just this; the agent's word adds nothing to it then."""
    return any(fact.status is not Status.QUARANTINED for fact in beliefs.in_slot(beliefs.slot(claim)))


def _told(found: Understanding) -> list[Claim]:
    """Return what a turn says of the world, its names aside: "my flat is the same as yours"."""
    return [claim for claim in found.claims if not is_identity(claim)]


def _unmeant(found: Understanding, gated: Sequence[Claim]) -> set[str]:
    """Return the sentences that only look like taking back or putting right: nothing that they did is sure."""
    return {one.span for one in found.claims if one.act in AMENDS} - {one.span for one in gated if not one.tentative}


def _heard(turn: Turn, parser: Parser, trained: Trained | None) -> tuple[Turn, str]:
    """Return a turn as it is to be read, and why it could not be looked at: what is to be remembered is a statement."""
    try:
        if trained is None or trained.request(turn.text) != "remember":
            return turn, ""
        return replace(turn, text=kept_words(turn.text, parser)), ""
    except BackendError as exc:
        return turn, f"whether it is a request to remember something could not be told: {exc}"


def _lifting(rule: str, turn: Turn) -> Rule:
    """Return what a turn says of a rule that no longer holds."""
    return Rule(
        lifts=rule, turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role, span=turn.text, known_at=turn.at
    )


def _read(
    turn: Turn,
    context: Sequence[Turn],
    beliefs: Beliefs,
    parser: Parser,
    extraction: Extraction | None,
    *,
    plain: Collection[str] = (),
) -> tuple[Understanding, str]:
    failed = ""
    try:
        try:
            found = understand(turn, context, beliefs, parser, plain=plain)
        except BackendError as exc:
            failed = f"the parser failed, so the turn was read without it: {exc}"
            found = understand(turn, context, beliefs, plain=plain)
    except Exception as exc:  # noqa: BLE001  kept as text: one turn must not hold up all that come after it
        return Understanding(intents=("chat",)), f"the turn could not be understood: {exc!r}"
    if extraction is None or extraction.failed:
        return found, "; ".join(filter(None, (failed, extraction.failed if extraction else "")))
    if extraction.by.startswith(BY_AMR):
        return _by_graphs(found, extraction, turn, context, beliefs)
    try:
        read = ground(extraction, turn, context, beliefs)
    except Exception as exc:  # noqa: BLE001  a model may write anything; the turn is read without it then
        return found, f"what the language model read could not be used, so the turn was read without it: {exc!r}"
    intents = tuple(dict.fromkeys((*read.intents, *(i for i in found.intents if i in ("ask", "greet"))))) or ("chat",)
    return replace(
        read,
        intents=intents,
        questions=found.questions,
    ), ""


def _by_graphs(
    found: Understanding, extraction: Extraction, turn: Turn, context: Sequence[Turn], beliefs: Beliefs
) -> tuple[Understanding, str]:
    """Return what the graphs of a turn say in place of its built-in statements.

    AMR knows no repairs ("sorry, I meant Bonn"), so a sentence that is one is left to the built-in reading.
    """
    try:
        read = [claim for graph in extraction.graphs for claim in understand_graph(graph, turn, context, beliefs)]
    except Exception as exc:  # noqa: BLE001  a parser may write anything; the turn is read without it then
        return found, f"the AMR graphs of the turn could not be used, so it was read without them: {exc!r}"
    mended = [" ".join(told.text.split()) for told in found.statements if told.act is not Act.STATE]
    repairs = [claim for claim in found.claims if claim.act is not Act.STATE]
    claims = dict.fromkeys([*repairs, *(claim for claim in read if claim.span not in mended)])
    intents = tuple(dict.fromkeys((*(("inform",) if read else ()), *(i for i in found.intents if i != "chat"))))
    return replace(found, claims=tuple(claims), intents=intents or ("chat",)), ""


def note_of(
    understanding: Understanding,
    extraction: Extraction | None = None,
    judgement: Judgement | None = None,
    denied: Denials | None = None,
) -> Note:
    """Return how a turn was understood, as its event keeps it."""
    note = Note(intents=understanding.intents)
    if extraction is not None:
        note = replace(
            note,
            by=extraction.by,
            prompt_tokens=extraction.prompt_tokens,
            completion_tokens=extraction.completion_tokens,
            dropped=understanding.dropped,
        )
    if judgement is None:
        return note
    return replace(
        note,
        dropped=(*note.dropped, *(denied.dropped if denied else ())),
        judged_by=judgement.by,
        judge_prompt_tokens=judgement.prompt_tokens,
        judge_completion_tokens=judgement.completion_tokens,
    )


def read_by(note: Note) -> dict[str, Any]:
    """Return what a trace tells of the models that read a turn and judged what it clashes with; nothing without one."""
    told: dict[str, Any] = {}
    if note.by:
        told.update(by=note.by, prompt_tokens=note.prompt_tokens, completion_tokens=note.completion_tokens)
    if note.dropped:
        told["dropped"] = note.dropped
    if note.judged_by:
        tokens = (note.judge_prompt_tokens, note.judge_completion_tokens)
        told.update(judged_by=note.judged_by, judge_prompt_tokens=tokens[0], judge_completion_tokens=tokens[1])
    return told


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
