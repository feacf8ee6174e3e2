"""A fact -> why it stands where it stands, in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Change, ChangeKind, Conflict, Explanation, Fact, Interval, Rule, Status, Turn
from doxa.engine.history.entities import joining
from doxa.memory import Beliefs, UserState, describe, describe_rule, inventory, is_identity, rule_id
from doxa.revise import axioms_of

__all__ = ["explain", "happened", "history_of"]

STANDING = {
    Status.HELD: "It is believed.",
    Status.SUPERSEDED: "It was true, and something else took its place.",
    Status.RETRACTED: "It is no longer believed ever to have been true.",
    Status.QUARANTINED: "It is not believed yet: no source that is trusted on it has said it.",
    Status.TENTATIVE: "It is tentative: it may have been misread, so it is not believed until it is said again.",
}
VERBS = {
    ChangeKind.ASSERT: "Learned",
    ChangeKind.SUPPORT: "Said again",
    ChangeKind.CLOSE: "Ended",
    ChangeKind.RETRACT: "Retracted",
    ChangeKind.RESTORE: "Restored",
    ChangeKind.REFINE: "Dated more exactly",
    ChangeKind.QUARANTINE: "Set aside",
    ChangeKind.NOTE: "Kept as tentative",
    ChangeKind.DISPUTE: "Disputed",
    ChangeKind.MERGE: "Taken as one",
    ChangeKind.SPLIT: "Told apart",
    ChangeKind.MOVE: "Told under another name",
}


def explain(fact: Fact, state: UserState) -> Explanation:
    """Return the sources of a fact or what it follows from, what happened to it, and what it clashed with.

    Cost: O(what it tells), however many facts there are.
    """
    beliefs = state.beliefs
    changes = beliefs.changes_of(fact.fact_id)
    last = changes[-1] if changes else None
    gone = last is not None and (fact.status is not Status.HELD or fact.disputed)
    over = _facts((key for key in last.because if key not in fact.premises), beliefs) if last and gone else ()
    under = _displaced(fact, beliefs)
    conflicts = {other.fact_id: kind for other in under if (kind := _conflict(other, beliefs)) is not None}
    if last is not None and last.conflict is not None:
        conflicts |= {other.fact_id: last.conflict for other in over}
    found = Explanation(
        fact=fact,
        turns=tuple(turn for key in fact.turn_ids if (turn := state.turn(key)) is not None),
        sources={claim.turn_id: claim.source for claim in beliefs.supporting(fact) if claim.source},
        premises=_facts(fact.premises, beliefs),
        rules=_rules(fact.premises, beliefs),
        conclusions=_facts(beliefs.consequences.following(fact.fact_id), beliefs),
        changes=tuple(changes),
        displaced=under,
        displaced_by=over,
        conflicts=conflicts,
        identities=joining((fact.subject.key, fact.object.key), beliefs) if not is_identity(fact) else (),
    )
    return _told(found)


def _facts(keys: Iterable[str], beliefs: Beliefs) -> tuple[Fact, ...]:
    return tuple(beliefs.facts[key] for key in keys if key in beliefs.facts)


def _rules(keys: Sequence[str], beliefs: Beliefs) -> tuple[Rule, ...]:
    """Return the rules among some ids: stated ones, or axioms of the ontology."""
    if not keys:
        return ()
    known = axioms_of(inventory())
    rules = {rule_id(rule): rule for rule in (*known.constraints, *known.rules, *beliefs.rules)}
    return tuple(rules[key] for key in keys if key in rules)


def _displaced(fact: Fact, beliefs: Beliefs) -> tuple[Fact, ...]:
    """Return what a fact has displaced: what stands where it stands because of it, and does not just rest on it."""
    moved = _facts(beliefs.consequences.of(fact.fact_id), beliefs)
    return tuple(
        other
        for other in moved
        if other is not fact and other.status is not Status.HELD and fact.fact_id not in other.premises
    )


def _conflict(fact: Fact, beliefs: Beliefs) -> Conflict | None:
    changes = beliefs.changes_of(fact.fact_id)
    return changes[-1].conflict if changes else None


def _told(found: Explanation) -> Explanation:
    """Return an explanation with its text."""
    fact = found.fact
    lines = [f"{describe(fact)}.", STANDING[fact.status] + (" Its sources disagree." if fact.disputed else "")]
    lines += [] if found.premises else [_said(turn, found.sources) for turn in found.turns]
    lines += [f"It follows from: {describe(premise)}." for premise in found.premises]
    lines += [f"By the rule: {_rule(rule)}." for rule in found.rules]
    lines += [happened(change) for change in found.changes]
    lines += [f"{describe(one)} ({', '.join(one.turn_ids) or 'by hand'})." for one in found.identities]
    lines += [f"It took the place of: {describe(other)}{_kind(other, found.conflicts)}." for other in found.displaced]
    head = "Others say" if fact.disputed else "In its place"
    lines += [f"{head}: {describe(other)}{_kind(other, found.conflicts)}." for other in found.displaced_by]
    lines += [f"{_carried(other)}: {describe(other)}." for other in found.conclusions]
    return replace(found, text="\n".join(lines))


def _said(turn: Turn, sources: Mapping[str, str]) -> str:
    source = sources.get(turn.turn_id)
    word = f", on the word of {source}" if source else ""
    return f"{turn.speaker} said it on {Interval.format(turn.at.date(), 'day')}{word} ({turn.turn_id}): “{turn.text}”"


def _rule(rule: Rule) -> str:
    if not rule.turn_id:
        return rule.span or describe_rule(rule)
    return f"“{rule.span}” ({rule.speaker}, {rule.turn_id})" if rule.span else f"{describe_rule(rule)} ({rule.turn_id})"


def happened(change: Change) -> str:
    """Return what a change did, when, by which turn and why."""
    day = f" on {Interval.format(change.known_at.date(), 'day')}" if change.known_at else ""
    turn = f" ({change.turn_id})" if change.turn_id else ""
    kind = f" [{change.conflict.words}]" if change.conflict else ""
    reason = f": {change.reason}" if change.reason else ""
    return f"{VERBS[change.kind]}{day}{turn}{reason}{kind}"


def _carried(other: Fact) -> str:
    return "From it follows" if other.status is Status.HELD else "From it followed"


def _kind(other: Fact, conflicts: Mapping[str, Conflict]) -> str:
    kind = conflicts.get(other.fact_id)
    return f" ({kind.words})" if kind else ""


def history_of(of: Fact | str | tuple[str, str] | None, beliefs: Beliefs, user: str) -> list[Change]:
    """Return what happened to a fact, to what is told of a subject, or to everything; see `Memory.history`.

    Raises:
        InputError: it is none of those.
        NotFoundError: there is no such fact or subject.
    """
    if of is None:
        return list(beliefs.changes)
    if isinstance(of, Fact) or (isinstance(of, str) and of in beliefs.facts):
        return beliefs.changes_of(of.fact_id if isinstance(of, Fact) else of)
    subject, relation = (of, None) if isinstance(of, str) else _pair(of)
    keys = {f.fact_id for f in beliefs.select(current=False, subject=subject, relation=relation)}
    named = beliefs.identities(subject.casefold()) if relation is None else ()
    keys = {*beliefs.lineage(keys), *(fact.fact_id for fact in named)}
    if isinstance(of, str) and not keys:
        raise NotFoundError(f"User {user!r} has no fact or subject {of!r}. `doxa facts --all` lists them.")
    return [change for change in beliefs.changes if change.fact.fact_id in keys]


def _pair(of: object) -> tuple[str, str]:
    if isinstance(of, tuple) and len(of) == 2 and all(isinstance(part, str) for part in of):
        return of
    raise InputError(f"history: expected a fact, a fact id, a subject or (subject, relation), got {of!r}.")
