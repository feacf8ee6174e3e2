"""Claims of a reply -> what the theory of the memory says of them.

A claim is tried as if the user made it now: what `revise` would then end, retract or dispute is what it clashes with,
under functional slots, polarity, disjoint and exclusive values, stated rules, axioms and bounds on days, and the reason
of the change is the minimal core that the solver found. What that cannot see, since a user may change the world and a
reply may not, is looked at here: other dates of the same event, closed intervals, and what is over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from doxa.core.values import Act, Change, ChangeKind, Claim, Fact, Interval, Modality, Status
from doxa.memory import describe_rule, inventory, is_current, is_identity, rule_id
from doxa.verify.findings import Finding, Known, quoted
from doxa.verify.sentences import cue
from doxa.verify.values import agree

__all__ = ["by_logic", "listed_many"]

GIVING_WAY = (ChangeKind.CLOSE, ChangeKind.RETRACT, ChangeKind.DISPUTE)


def by_logic(claims: Sequence[Claim], text: str, known: Known) -> list[Finding]:
    """Return what the theory says of each claim of one clause; nothing of those that it neither holds nor excludes.

    Args:
        claims: what the clause says, as if the user had said it.
        text: the clause.
        known: the memory.

    Sound for what was understood: every contradiction names facts and rules with which the claim has no model, or
    dates that exclude each other. Cost: one pure revision a claim.
    """
    found: list[Finding] = []
    for claim in claims:
        if claim.act is Act.WITHDRAW or claim.modality not in (Modality.ASSERTED, Modality.PLANNED):
            continue
        plain = replace(known.beliefs.identity.told(claim), act=Act.STATE, replaces=None)
        one = _of_past(plain, text, known) if _is_past(plain, text, known) else _of_now(plain, known)
        if one is not None:
            found.append(one)
    return found


def listed_many(claims: Sequence[Claim]) -> bool:
    """Tell whether all claims are of relations that the ontology knows to have many values ("speaks", "likes")."""
    relations = inventory().relations
    kinds = [relations.get(claim.relation.name) for claim in claims]
    return bool(claims) and all(kind is not None and not kind.functional for kind in kinds)


def _is_past(claim: Claim, text: str, known: Known) -> bool:
    end = claim.valid.end
    point = claim.valid.start is not None and claim.valid.start == end
    return (
        claim.ended
        or (end is not None and end <= known.today and not point)
        or (claim.polarity and cue("past", text) and not point and claim.valid.start is None)
    )


def _of_now(claim: Claim, known: Known) -> Finding | None:
    same = [fact for fact in _same(claim, known) if fact.polarity == claim.polarity]
    current = [fact for fact in same if is_current(fact, known.today) and not fact.disputed]
    wrong = _other_day(claim, same, known)
    if wrong is not None:
        return _against([wrong], known, "that was at another time")
    if current:
        return Finding(
            label="supported", because=(current[-1].fact_id,), reason=f"it is held: {quoted(current[-1], known)}"
        )
    changes = known.revised([claim])
    clashes = [change for change in changes if _clashes(change, claim, known)]
    if clashes:
        return _core(clashes, changes, claim, known)
    agreeing = [change.fact for change in changes if change.kind in GIVING_WAY and _agrees(change.fact, claim, known)]
    if agreeing:
        return Finding(
            label="supported",
            because=(agreeing[0].fact_id,),
            reason=f"it agrees with what is held: {quoted(agreeing[0], known)}",
        )
    refused = [change for change in changes if change.kind is ChangeKind.QUARANTINE and change.because]
    if refused:
        return _core(refused, changes, claim, known)
    over = [
        fact
        for fact in same
        if fact.status is Status.SUPERSEDED and fact.valid.end and fact.valid.start != fact.valid.end
    ]
    if over and claim.modality is Modality.ASSERTED and not is_identity(over[-1]):
        return _against(over[-1:], known, "that is over")
    return None


def _of_past(claim: Claim, text: str, known: Known) -> Finding | None:
    """Judge what is said of an earlier time."""
    slot = known.beliefs.slot(claim)
    rivals = [fact for fact in known.beliefs.in_slot(slot) if fact.status in (Status.HELD, Status.SUPERSEDED)]
    same = [
        fact
        for fact in [*rivals, *_same(claim, known)]
        if fact.object.key == claim.object.key or agree(fact.object.label, claim.object.label, known.lexicon)
    ]
    if not claim.polarity:
        was = [fact for fact in same if fact.polarity and _overlap(fact.valid, claim.valid)]
        return _against(was[-1:], known, "it was so") if was else None
    same = [fact for fact in same if fact.polarity]
    wrong = _other_day(claim, same, known) or _other_end(claim, same)
    if wrong is not None:
        return _against([wrong], known, "that was at another time")
    holds = [fact for fact in same if is_current(fact, known.today) and not fact.disputed]
    ahead = claim.valid.end is not None and claim.valid.end > known.today
    lasting = [fact for fact in holds if fact.valid.end is None]
    if lasting and claim.ended and cue("over", text) and not ahead:
        return _against(lasting[-1:], known, "that is not over")
    if same:
        return Finding(label="supported", because=(same[-1].fact_id,), reason=f"it was so: {quoted(same[-1], known)}")
    if claim.functional and claim.valid.start and claim.valid.end:
        others = [
            fact
            for fact in rivals
            if fact.polarity
            and fact.valid.start
            and _inside(claim.valid, fact.valid)
            and not agree(fact.object.label, claim.object.label, known.lexicon)
        ]
        if others:
            return _against(others[-1:], known, "at that time it was otherwise")
    return None


def _same(claim: Claim, known: Known) -> list[Fact]:
    """Return the facts that say of the same subject the same, in the relation of a claim, or deny it."""
    facts = known.beliefs.about(claim.subject.key, claim.relation.name)
    alive = [fact for fact in facts if fact.status in (Status.HELD, Status.SUPERSEDED)]
    return [
        fact
        for fact in alive
        if fact.object.key == claim.object.key
        or (claim.object.label and fact.object.label and agree(fact.object.label, claim.object.label, known.lexicon))
    ]


def _clashes(change: Change, claim: Claim, known: Known) -> bool:
    """Tell whether a change gives up what is held for the sake of a claim that says otherwise."""
    fact = change.fact
    if change.kind not in GIVING_WAY or (
        fact.object.key == claim.object.key
        and fact.polarity == claim.polarity
        and fact.subject.key == claim.subject.key
    ):
        return False
    return not _agrees(fact, claim, known)


def _agrees(fact: Fact, claim: Claim, known: Known) -> bool:
    same = fact.subject.key == claim.subject.key and fact.relation.name == claim.relation.name
    return same and fact.polarity == claim.polarity and agree(fact.object.label, claim.object.label, known.lexicon)


def _core(clashes: Sequence[Change], changes: Sequence[Change], claim: Claim, known: Known) -> Finding:
    """Return the contradiction with the facts and rules that make it, as the solver found them."""
    first = next((change for change in clashes if not change.fact.premises), clashes[0])
    own = {
        change.fact.fact_id
        for change in changes
        if change.fact.object.key == claim.object.key
        and change.fact.subject.key == claim.subject.key
        and change.kind in (ChangeKind.ASSERT, ChangeKind.QUARANTINE, ChangeKind.DISPUTE)
    }
    ids = [key for key in (first.fact.fact_id, *first.because) if key not in own]
    known_ids = [key for key in dict.fromkeys(ids) if key in known.beliefs.facts]
    rules = {rule_id(rule): rule for rule in known.beliefs.rules}
    stated = [describe_rule(rules[key]) for key in ids if key in rules]
    facts = [known.beliefs.facts[key] for key in known_ids]
    return _against(facts, known, "", rules=stated, rule_ids=[key for key in ids if key not in known_ids])


def _against(
    facts: Sequence[Fact], known: Known, why: str, *, rules: Sequence[str] = (), rule_ids: Sequence[str] = ()
) -> Finding:
    held = "; ".join(quoted(known.beliefs.facts.get(fact.fact_id, fact), known) for fact in facts)
    stated = f" under the rule: {'; '.join(rules)}" if rules else ""
    reason = f"the memory holds: {held}{stated}" + (f"; {why}" if why else "")
    return Finding(label="contradicted", because=(*(fact.fact_id for fact in facts), *rule_ids), reason=reason)


def _other_day(claim: Claim, facts: Sequence[Fact], known: Known) -> Fact | None:
    """Return a fact that began, by what was said, on other days than a claim says; None if one began then."""
    if claim.valid.start is None or not claim.polarity:
        return None
    dated = [(fact, valid) for fact in facts if (valid := _told_start(fact, known)) is not None]
    if not dated or len(dated) < len([fact for fact in facts if fact.polarity]):
        return None
    if any(_meet(claim.valid, valid) for _, valid in dated):
        return None
    return dated[-1][0]


def _other_end(claim: Claim, facts: Sequence[Fact]) -> Fact | None:
    """Return a fact that ended on other days than a claim says."""
    if claim.valid.end is None or claim.valid.end == claim.valid.start:
        return None
    ended = [fact for fact in facts if fact.valid.end is not None and fact.valid.start != fact.valid.end]
    near = [
        fact
        for fact in ended
        if _near(claim.valid.end, claim.valid.end_precision, fact.valid.end, fact.valid.end_precision)
    ]
    return ended[-1] if ended and not near else None


def _near(one: date, precision: str, other: date | None, coarse: str) -> bool:
    """Tell whether two ends may be the same: "until May" may mean the first or the last of May."""
    slack = {"day": 1, "month": 32, "year": 367}
    return other is not None and abs((one - other).days) <= max(slack[precision], slack[coarse])


def _told_start(fact: Fact, known: Known) -> Interval | None:
    """Return when a fact began, where somebody said so."""
    told = [claim.valid for claim in known.beliefs.supporting(fact) if claim.valid.start is not None]
    return told[-1] if told else None


def _meet(one: Interval, other: Interval) -> bool:
    """Tell whether two beginnings may be on one day, as coarse as they are told."""
    first, last = _days(one)
    low, high = _days(other)
    return first <= high and low <= last


def _days(valid: Interval) -> tuple[date, date]:
    start = valid.start or date.min
    if valid.start_precision == "year":
        return start, date(start.year, 12, 31)
    if valid.start_precision == "month":
        return start, (start.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return start, start


def _overlap(one: Interval, other: Interval) -> bool:
    starts, ends = (one.start or date.min, other.start or date.min), (one.end or date.max, other.end or date.max)
    return max(starts) < min(ends)


def _inside(inner: Interval, outer: Interval) -> bool:
    """Tell whether most of a closed interval lies in another one."""
    if inner.start is None or inner.end is None:
        return False
    start, end = max(inner.start, outer.start or date.min), min(inner.end, outer.end or date.max)
    return (end - start).days * 2 > (inner.end - inner.start).days
