"""Claims, rules, facts, changes, promotions and turns as plain JSON data, and back.

Fields that hold their default are left out, so a row costs what it says. A field that is not known (written by
a newer minor version) is ignored; a missing one takes its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from doxa.core.feedback import Feedback
from doxa.core.promotions import Promotion, Support
from doxa.core.values import (
    Act,
    Atom,
    Change,
    ChangeKind,
    Claim,
    Conflict,
    Fact,
    Interval,
    Modality,
    Relation,
    Rule,
    Status,
    Term,
    ToTasks,
    Turn,
)

__all__ = [
    "change_from",
    "change_to",
    "claim_from",
    "claim_to",
    "fact_from",
    "fact_to",
    "feedback_from",
    "feedback_to",
    "promotion_from",
    "promotion_to",
    "rule_from",
    "rule_to",
    "turn_from",
    "turn_to",
]

Data = Mapping[str, Any]


def turn_to(turn: Turn) -> dict[str, Any]:
    """Return a turn as data; id, user, ordinal and time are columns of its row."""
    data = {"session": turn.session, "speaker": turn.speaker, "role": turn.role, "text": turn.text}
    optional: dict[str, Any] = {"generated": True} if turn.generated else {}
    if (to := turn.to_tasks) is not None:
        known = (("said_before", to.said_before), ("intent", to.intent), ("routed", to.routed))
        optional["to_tasks"] = {k: v for k, v in known if v}
    if turn.verbatim:
        optional["verbatim"] = True
    if turn.metadata:
        optional["metadata"] = dict(turn.metadata)
    return data | optional


def turn_from(data: Data, *, turn_id: str, user: str, ordinal: int, at: datetime) -> Turn:
    """Return the turn of a row."""
    return Turn(
        turn_id=turn_id,
        user=user,
        session=data["session"],
        speaker=data["speaker"],
        role=data["role"],
        text=data["text"],
        at=at,
        ordinal=ordinal,
        generated=data.get("generated", False),
        to_tasks=_to_tasks_from(data.get("to_tasks")),
        verbatim=data.get("verbatim", False),
        metadata=data.get("metadata", {}),
    )


def _to_tasks_from(data: Data | None) -> ToTasks | None:
    if data is None:
        return None
    return ToTasks(
        said_before=data.get("said_before", ""), intent=data.get("intent", ""), routed=data.get("routed", False)
    )


def claim_to(claim: Claim) -> dict[str, Any]:
    """Return a claim as data."""
    data: dict[str, Any] = {
        "s": _pair(claim.subject),
        "r": [claim.relation.name, claim.relation.label],
        "o": _pair(claim.object),
        "valid": _interval_to(claim.valid),
        "turn": claim.turn_id,
        "speaker": claim.speaker,
        "span": claim.span,
    }
    optional = {
        "neg": not claim.polarity,
        "mod": claim.modality is not Modality.ASSERTED and str(claim.modality),
        "act": claim.act is not Act.STATE and str(claim.act),
        "ended": claim.ended,
        "replaces": claim.replaces,
        "fun": claim.functional,
        "conf": claim.confidence != 1.0 and claim.confidence,
        "adds": claim.adds,
        "tentative": claim.tentative,
        "source": claim.source,
        "role": claim.role != "user" and claim.role,
        "known": _time_to(claim.known_at),
    }
    return {key: value for key, value in (data | optional).items() if value}


def claim_from(data: Data) -> Claim:
    """Return the claim of `claim_to`."""
    return Claim(
        subject=Term(*data["s"]),
        relation=Relation(*data["r"]),
        object=Term(*data["o"]),
        polarity=not data.get("neg", False),
        modality=Modality(data.get("mod", "asserted")),
        act=Act(data.get("act", "state")),
        valid=_interval_from(data.get("valid")),
        ended=data.get("ended", False),
        replaces=data.get("replaces"),
        functional=data.get("fun", False),
        confidence=data.get("conf", 1.0),
        adds=data.get("adds", False),
        tentative=data.get("tentative", False),
        turn_id=data.get("turn", ""),
        speaker=data.get("speaker", ""),
        source=data.get("source", ""),
        role=data.get("role", "user"),
        known_at=_time_from(data.get("known")),
        span=data.get("span", ""),
    )


def feedback_to(feedback: Feedback) -> dict[str, Any]:
    """Return what an answer told as data; its time is that of its row."""
    data: dict[str, Any] = {
        "channel": feedback.channel,
        "session": feedback.session,
        "query": feedback.query,
        "asked": feedback.asked,
        "turns": list(feedback.turn_ids),
        "edges": [list(edge) for edge in feedback.edges],
        "misled": [list(edge) for edge in feedback.misled],
        "plan": feedback.plan,
    }
    return {key: value for key, value in data.items() if value}


def feedback_from(data: Data, *, at: datetime) -> Feedback:
    """Return what an answer told."""
    return Feedback(
        channel=data["channel"],
        at=at,
        session=data.get("session", ""),
        query=data.get("query", ""),
        asked=data.get("asked", ""),
        turn_ids=tuple(data.get("turns", ())),
        edges=tuple((str(edge), str(relation)) for edge, relation in data.get("edges", ())),
        misled=tuple((str(edge), str(relation)) for edge, relation in data.get("misled", ())),
        plan=data.get("plan", ""),
    )


def rule_to(rule: Rule) -> dict[str, Any]:
    """Return a rule as data."""
    data: dict[str, Any] = {
        "if": [_atom_to(atom) for atom in rule.if_],
        "then": [_atom_to(atom) for atom in rule.then],
        "turn": rule.turn_id,
        "speaker": rule.speaker,
        "span": rule.span,
        "lifts": rule.lifts,
        "role": rule.role != "user" and rule.role,
        "conf": rule.confidence != 1.0 and rule.confidence,
        "known": _time_to(rule.known_at),
    }
    return {key: value for key, value in data.items() if value}


def rule_from(data: Data) -> Rule:
    """Return the rule of `rule_to`."""
    return Rule(
        if_=tuple(map(_atom_from, data.get("if", ()))),
        then=tuple(map(_atom_from, data.get("then", ()))),
        lifts=data.get("lifts", ""),
        turn_id=data.get("turn", ""),
        speaker=data.get("speaker", ""),
        role=data.get("role", "user"),
        span=data.get("span", ""),
        known_at=_time_from(data.get("known")),
        confidence=data.get("conf", 1.0),
    )


def _atom_to(atom: Atom) -> dict[str, Any]:
    data: dict[str, Any] = {
        "s": _pair(atom.subject),
        "r": [atom.relation.name, atom.relation.label],
        "o": _pair(atom.object),
        "neg": not atom.polarity,
        "deontic": atom.deontic,
        "valid": _interval_to(atom.valid),
        "span": atom.span,
    }
    return {key: value for key, value in data.items() if value}


def _atom_from(data: Data) -> Atom:
    return Atom(
        subject=Term(*data["s"]),
        relation=Relation(*data["r"]),
        object=Term(*data["o"]),
        polarity=not data.get("neg", False),
        deontic=data.get("deontic", ""),
        valid=_interval_from(data.get("valid")),
        span=data.get("span", ""),
    )


def fact_to(fact: Fact) -> dict[str, Any]:
    """Return a fact as data."""
    data: dict[str, Any] = {
        "id": fact.fact_id,
        "s": _pair(fact.subject),
        "r": [fact.relation.name, fact.relation.label],
        "o": _pair(fact.object),
        "valid": _interval_to(fact.valid),
        "turns": list(fact.turn_ids),
    }
    optional = {
        "neg": not fact.polarity,
        "mod": fact.modality is not Modality.ASSERTED and str(fact.modality),
        "status": fact.status is not Status.HELD and str(fact.status),
        "disputed": fact.disputed,
        "fun": fact.functional,
        "conf": fact.confidence != 1.0 and fact.confidence,
        "known": _time_to(fact.known_at),
        "premises": list(fact.premises),
    }
    return {key: value for key, value in (data | optional).items() if value}


def fact_from(data: Data) -> Fact:
    """Return the fact of `fact_to`."""
    return Fact(
        fact_id=data["id"],
        subject=Term(*data["s"]),
        relation=Relation(*data["r"]),
        object=Term(*data["o"]),
        polarity=not data.get("neg", False),
        modality=Modality(data.get("mod", "asserted")),
        valid=_interval_from(data.get("valid")),
        status=Status(data.get("status", "held")),
        disputed=data.get("disputed", False),
        functional=data.get("fun", False),
        turn_ids=tuple(data.get("turns", ())),
        known_at=_time_from(data.get("known")),
        confidence=data.get("conf", 1.0),
        premises=tuple(data.get("premises", ())),
    )


def change_to(change: Change) -> dict[str, Any]:
    """Return a change as data."""
    data: dict[str, Any] = {"kind": str(change.kind), "fact": fact_to(change.fact)}
    optional = {
        "turn": change.turn_id,
        "reason": change.reason,
        "because": list(change.because),
        "conflict": change.conflict and str(change.conflict),
        "known": _time_to(change.known_at),
    }
    return data | {key: value for key, value in optional.items() if value}


def change_from(data: Data) -> Change:
    """Return the change of `change_to`."""
    return Change(
        kind=ChangeKind(data["kind"]),
        fact=fact_from(data["fact"]),
        turn_id=data.get("turn"),
        known_at=_time_from(data.get("known")),
        reason=data.get("reason", ""),
        because=tuple(data.get("because", ())),
        conflict=Conflict(data["conflict"]) if data.get("conflict") else None,
    )


def promotion_to(promotion: Promotion) -> dict[str, Any]:
    """Return a promotion as data; whether it stands is no part of it."""
    return {
        "id": promotion.promotion_id,
        "s": _pair(promotion.subject),
        "r": promotion.relation,
        "concept": promotion.concept,
        "label": promotion.label,
        "score": round(promotion.score, 4),
        "support": [[one.turn_id, *one.fact_ids] for one in promotion.support],
        "known": _time_to(promotion.known_at),
    }


def promotion_from(data: Data) -> Promotion:
    """Return the promotion of `promotion_to`."""
    return Promotion(
        promotion_id=data["id"],
        subject=Term(*data["s"]),
        relation=data["r"],
        concept=data["concept"],
        label=data["label"],
        score=data["score"],
        support=tuple(Support(turn_id=turn_id, fact_ids=tuple(keys)) for turn_id, *keys in data["support"]),
        known_at=_time_from(data.get("known")),
    )


def _pair(term: Term) -> list[str]:
    return [term.key, term.label]


def _interval_to(valid: Interval) -> list[str | None] | None:
    if valid == Interval():
        return None
    start = valid.start.isoformat() if valid.start else None
    end = valid.end.isoformat() if valid.end else None
    return [start, end, valid.start_precision, valid.end_precision]


def _interval_from(data: list[Any] | None) -> Interval:
    if not data:
        return Interval()
    start, end, start_precision, end_precision = data
    return Interval(
        start=date.fromisoformat(start) if start else None,
        end=date.fromisoformat(end) if end else None,
        start_precision=start_precision,
        end_precision=end_precision,
    )


def _time_to(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat() if at else None


def _time_from(data: str | None) -> datetime | None:
    return datetime.fromisoformat(data) if data else None
