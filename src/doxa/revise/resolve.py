"""The claims of one slot -> the facts of that slot, with the reason why each stands where it stands.

Rules, in the order in which they are tried for each claim (gold conventions of dialogue memories: a later
statement by the same speaker replaces, a correction reaches back, two equal sources stay open):

0. what a person accepts by hand is believed, whoever says otherwise: what it was disputed with or given up for never
   was, anything else gives way as to a claim that is trusted; what is kept beside other values by hand is not disputed
   with them until one more value comes in;
1. withdrawing takes back what the same person said before, on the same authority: what a document says stays; where it
   was not surely meant nothing is taken back;
2. an assistant's word about somebody is quarantined unless somebody else says the same; what was not surely read is
   tentative until it is said again, in another turn or more surely: neither touches any other fact;
3. the same value again supports the fact that holds it (and may date it); whoever said otherwise has changed sides;
4. a negation ends the value that it denies ("I no longer ..."), or retracts it ("I never ...");
5. a correction retracts the value that it replaces and takes over its time;
6. a past state ("I used to live in Rome") becomes history and displaces nothing;
7. another value with an earlier date becomes history before the present value;
8. a value that only says more exactly what is held, or that it comes on top ("also"), stands beside it, and so does
   one of the same turn where the relation has one value only as a rule;
9. another value from a person who is less close to the subject is set aside;
10. any other value is an update or a contradiction (`policies.relation_of`): an update closes the present value where
    its own time starts, a contradiction is settled by the policy. Of what is so for good ("born on") the value that
    gives way never was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from math import prod

from doxa.core.turns import MACHINES
from doxa.core.values import EARLIEST, UNBELIEVED, Act, Claim, Conflict, Fact, Interval, Modality, Status
from doxa.memory import fact_id, relation_type
from doxa.revise.policies import FIRM, Outcome, Policy, outcome_of, rank_of, relation_of, voice_of

__all__ = ["SlotState", "Standing", "resolve"]


@dataclass(slots=True)
class Standing:
    """A fact in the making: the claims that support it and where it stands."""

    first: Claim
    episode: int
    claims: list[Claim] = field(default_factory=list)
    valid: Interval = field(default_factory=Interval)
    status: Status = Status.HELD
    disputed: bool = False
    reason: str = ""
    because: tuple[str, ...] = ()
    conflict: Conflict | None = None
    """What kind of conflict brought it where it stands."""
    refines: bool = False
    """It says more exactly what another value of its slot says."""
    beside: bool = False
    """A person keeps it beside other values of its slot by hand."""
    premises: tuple[str, ...] = ()
    """The ids of the facts and rules that it follows from; empty for what somebody said."""

    @property
    def fact_id(self) -> str:
        """The id of the fact."""
        return fact_id(self.first, self.episode)

    def fact(self) -> Fact:
        """Return the finished fact."""
        return Fact(
            fact_id=self.fact_id,
            subject=self.first.subject,
            relation=self.first.relation,
            object=self.first.object,
            polarity=self.first.polarity,
            modality=self.first.modality,
            valid=self.valid,
            status=self.status,
            disputed=self.disputed,
            functional=self.first.functional,
            turn_ids=tuple(dict.fromkeys(claim.turn_id for claim in self.claims if claim.turn_id)),
            known_at=self.first.known_at,
            confidence=max(claim.confidence for claim in self.claims),
            premises=self.premises,
        )


def resolve(claims: Sequence[Claim], policy: Policy = Policy.RECENCY) -> list[Standing]:
    """Return the facts of a slot in the order in which they came to be.

    Args:
        claims: the live claims of one slot, in the order in which they came in. They are taken in the order in which
            they were said, so an old transcript that is read in late does not displace what was said after it.
        policy: what settles contradictions.

    Deterministic; O(claims x facts held), for a withdrawal or correction O(facts of the slot). Of the open values of
    a functional slot at most one is held and undisputed at any time.
    """
    slot = SlotState(policy)
    for claim in sorted(claims, key=said_at):
        slot.take(claim)
    slot.settle_disputes()
    return slot.standings


class SlotState:
    """The facts of one slot while its claims are taken one by one."""

    def __init__(self, policy: Policy = Policy.RECENCY) -> None:
        self.policy = policy
        self.standings: list[Standing] = []
        self._of_value: dict[tuple[str, bool], list[Standing]] = {}
        self._present: list[Standing] = []
        """Standings that may be held; the others are dropped from it when somebody looks."""

    def take(self, claim: Claim) -> None:
        """Let one more claim do what it does to the facts of the slot."""
        if claim.accepted:
            self._accept(claim)
        elif claim.act is Act.WITHDRAW:
            if not claim.tentative:
                self._withdraw(claim)
        elif claim.role in MACHINES:
            self._quarantine(claim)
        elif claim.tentative and not self._raises(claim):
            self._set_apart(claim, Status.TENTATIVE, "it may have been misread, and nobody has said it again")
        elif (same := self._live(claim.object.key, polarity=claim.polarity)) is not None and not _again(same, claim):
            self._support(same, claim)
        elif not claim.polarity and (denied := self._live(claim.object.key, polarity=True)) is not None:
            self._deny(denied, claim)
        else:
            self._enter(claim)

    def _accept(self, claim: Claim) -> None:
        standing = self.acceptable(claim)
        if standing is None:
            self._enter(claim)
            new = self.standings[-1]
            new.reason = new.reason or f"it was {claim.accepted}"
            return
        wrong = [] if claim.adds else self._given_up_for(standing, claim)
        for rival in wrong:
            retract(rival, told(claim), (standing.fact_id,), Conflict.CORRECTION)
        if standing.status is Status.RETRACTED:
            standing.status = Status.TENTATIVE
        if standing.disputed or standing.status in UNBELIEVED:
            standing.disputed, standing.because, standing.conflict = False, (), None
            standing.beside = claim.adds
            reason = f"it was {claim.accepted}"
        else:
            reason = standing.reason
        self._support(standing, replace(claim, known_at=self._said_by_then(standing, claim)))
        standing.claims[-1] = claim
        if standing.status is Status.HELD:
            standing.reason = reason

    def _said_by_then(self, standing: Standing, claim: Claim) -> datetime:
        """Return when what is accepted was said, or its rivals were last: from then on those no longer held."""
        said = [one for one in standing.claims if one.turn_id == claim.turn_id] or [claim]
        held = [s for s in self.standings if s is not standing and s.status is Status.HELD]
        return max(map(said_at, [said[0], *(one for rival in held for one in rival.claims)]))

    def acceptable(self, claim: Claim) -> Standing | None:
        """Return what a claim that was accepted by hand is about: what says the same, unless that was over."""
        same = self._of_value.get(_value(claim), [])
        given_up = same[-1] if same and same[-1].status is Status.RETRACTED else None
        return self._live(claim.object.key, polarity=claim.polarity) or given_up

    def _given_up_for(self, standing: Standing, claim: Claim) -> list[Standing]:
        """Return the values that never were, once a person says by hand that another one is right."""
        wrong = [rival for rival in self._rivals(standing) if standing.disputed and rival.disputed]
        wrong = [rival for rival in wrong if not (rival.beside and standing.beside)]
        if standing.status is Status.RETRACTED:
            wrong += [s for s in self.standings if s.status is Status.HELD and s.fact_id in standing.because]
        replaced = self._wrong_value(claim) if claim.act is Act.CORRECT and standing.status in UNBELIEVED else None
        return [*wrong, *([replaced] if replaced is not None and replaced not in wrong else [])]

    def _withdraw(self, claim: Claim) -> None:
        for standing in self._of_value.get(_value(claim), ()):
            if standing.status is not Status.RETRACTED:
                remaining = [c for c in standing.claims if voice_of(c) != voice_of(claim)]
                said = any(c.role not in MACHINES and not c.accepted for c in remaining)
                if said or (remaining and claim.role in MACHINES):
                    standing.claims = remaining
                else:
                    was = replace(standing)
                    retract(standing, f"{claim.speaker} took it back: “{claim.span}”")
                    self.reopen(was)

    def reopen(self, gone: Standing) -> None:
        """Let what a fact had closed hold again, or last until what had closed that fact in its turn."""
        for standing in self.standings:
            if gone.fact_id in standing.because and standing.status in (Status.SUPERSEDED, Status.RETRACTED):
                standing.status, standing.because, standing.conflict = Status.HELD, (), None
                standing.reason = f"{gone.first.object} was taken back"
                self._present = list(self.standings)
                standing.valid = _ordered(replace(standing.valid, end=_dated_end(standing)))
                opposite = self._live(standing.first.object.key, polarity=not standing.first.polarity)
                if gone.status is Status.SUPERSEDED and standing.fact_id not in gone.because:
                    close(standing, gone.valid.end, gone.reason, gone.because)
                elif opposite is not None and opposite.status is Status.HELD and opposite.valid.end is None:
                    self._end_opposite(opposite, opposite.first)

    def _quarantine(self, claim: Claim) -> None:
        self._set_apart(claim, Status.QUARANTINED, f"only {claim.speaker} ({claim.role}) said it")

    def _set_apart(self, claim: Claim, status: Status, reason: str) -> None:
        """Add a claim to what says the same, whatever its standing; alone it is kept without being believed.

        A machine adds nothing to what is believed: it mostly says again what it was told of the memory.
        """
        if (same := self._live(claim.object.key, polarity=claim.polarity)) is not None:
            if same.status in UNBELIEVED or claim.role not in MACHINES:
                same.claims.append(claim)
        else:
            standing = self._add(claim)
            standing.status, standing.reason = status, reason

    def _raises(self, claim: Claim) -> bool:
        """Tell whether an unsure claim makes what other turns said as unsurely sure enough (noisy-or)."""
        same = self._live(claim.object.key, polarity=claim.polarity)
        if same is None or same.status is not Status.TENTATIVE:
            return False
        by_turn = {one.turn_id: one.confidence for one in (*same.claims, claim) if one.role not in MACHINES}
        return len(by_turn) > 1 and 1 - prod(1 - p for p in by_turn.values()) >= FIRM

    def _support(self, standing: Standing, claim: Claim) -> None:
        if standing.status in UNBELIEVED:
            standing.status, standing.reason = Status.HELD, f"{claim.speaker} confirmed it"
            self._end_opposite(standing, claim)
            self._make_room(standing, claim)
        standing.claims.append(claim)
        valid = standing.valid
        if _same_event(valid, claim.valid):
            valid = claim.valid
        elif claim.valid.start is not None and (valid.start is None or claim.act is Act.CORRECT):
            valid = replace(valid, start=claim.valid.start, start_precision=claim.valid.start_precision)
        if claim.valid.end is not None and valid != claim.valid:
            valid = replace(valid, end=claim.valid.end, end_precision=claim.valid.end_precision)
        if claim.ended and valid.end is None:
            valid = replace(valid, end=_day(claim))
        standing.valid = _ordered(valid)
        wrong = self._wrong_value(claim) if claim.act is Act.CORRECT else None
        if wrong is not None and (wrong.first.object.key == claim.replaces or _said_by(claim.speaker, wrong)):
            retract(wrong, _corrected(claim), (standing.fact_id,), Conflict.CORRECTION)
        if standing.disputed:
            self._change_sides(standing, claim)

    def _change_sides(self, standing: Standing, claim: Claim) -> None:
        """Let a voice that now says one value of a dispute leave the others; without a voice they are given up."""
        for rival in self._rivals(standing):
            if rival.disputed:
                left = [c for c in rival.claims if voice_of(c) != voice_of(claim) and c.speaker != claim.speaker]
                if not left or claim.act is Act.CORRECT:
                    reason = f"{claim.speaker} now says {claim.object}: “{claim.span}”"
                    retract(rival, reason, (standing.fact_id,), Conflict.CORRECTION)
                else:
                    rival.claims = left

    def _rivals(self, standing: Standing) -> list[Standing]:
        """Return the other values that a functional slot holds."""
        held = (s for s in self.standings if s is not standing and s.status is Status.HELD)
        return [s for s in held if s.first.functional and s.first.polarity]

    def _deny(self, denied: Standing, claim: Claim) -> None:
        if _outranked(claim, denied):
            _set_aside(self._add(claim), denied)
            return
        because: tuple[str, ...] = ()
        if not claim.functional or claim.act is Act.CORRECT:
            negative = self._add(claim)
            negative.because = (denied.fact_id,)
            because = (negative.fact_id,)
            if claim.act is not Act.CORRECT and negative.valid.start is None and negative.valid.end is None:
                negative.valid = replace(negative.valid, start=start_of(claim))
        if claim.act is Act.CORRECT:
            retract(denied, f"{claim.speaker} corrected it: “{claim.span}”", because, Conflict.CORRECTION)
        else:
            reason = f"{claim.speaker} said that it no longer holds: “{claim.span}”"
            close(denied, start_of(claim), reason, because, Conflict.UPDATE)
            if because:
                follow(negative, denied)

    def _enter(self, claim: Claim) -> None:
        wrong = self._wrong_value(claim) if claim.act is Act.CORRECT else None
        if wrong is not None:
            self._correct(wrong, claim)
            return
        standing = self._add(claim)
        self._end_opposite(standing, claim)
        if not _is_past(claim):
            self._make_room(standing, claim)

    def _end_opposite(self, standing: Standing, claim: Claim) -> None:
        opposite = self._live(claim.object.key, polarity=not claim.polarity)
        if claim.ended:
            return
        if opposite is None:
            over = [
                s for s in self._of_value.get((claim.object.key, not claim.polarity), ()) if s.valid.end is not None
            ]
            if over and over[-1].status is Status.SUPERSEDED and claim.act is Act.STATE:
                follow(standing, over[-1])
            return
        reason, because = told(claim, "now says the opposite"), (standing.fact_id,)
        if claim.act is Act.CORRECT:
            retract(opposite, reason, because, Conflict.CORRECTION)
        else:
            close(opposite, start_of(claim), reason, because, Conflict.UPDATE)
            follow(standing, opposite)

    def _correct(self, wrong: Standing, claim: Claim) -> None:
        standing = self._add(claim)
        valid = standing.valid if claim.valid.start is not None else wrong.valid
        end = standing.valid.end or (wrong.valid.end if wrong.status is Status.SUPERSEDED else None)
        standing.valid = _ordered(replace(valid, end=end))
        standing.because = (wrong.fact_id,)
        standing.status = wrong.status
        standing.disputed = False
        for rival in [wrong, *(rival for rival in self._rivals(standing) if rival.disputed)]:
            retract(rival, _corrected(claim), (standing.fact_id,), Conflict.CORRECTION)
        self._end_opposite(standing, claim)

    def _wrong_value(self, claim: Claim) -> Standing | None:
        """Return the value that a correction in a functional slot replaces: the named one, else the present one."""
        if not (claim.functional and claim.polarity):
            return None
        others = [s for s in self.standings if s.first.polarity and s.first.object.key != claim.object.key]
        believed = [s for s in others if s.status in (Status.HELD, Status.SUPERSEDED) and not _outranked(claim, s)]
        named = [s for s in believed if claim.replaces is not None and s.first.object.key == claim.replaces]
        current = [s for s in believed if s.status is Status.HELD]
        return next(reversed(named or current), None)

    def _make_room(self, standing: Standing, claim: Claim) -> None:
        """Settle a new value of a functional slot with the value that was held so far."""
        if not (claim.functional and claim.polarity):
            return
        if claim.adds:
            return
        self._present = [s for s in self._present if s.status is Status.HELD or s.status in UNBELIEVED]
        held = [s for s in self._present if s is not standing and s.status is Status.HELD and s.first.polarity]
        held = [s for s in held if not s.first.adds]
        lasts = (
            relation_type(claim.relation.name).nature == "permanent"
        )  # the day of a birth never makes room for another
        others = [s for s in held if lasts or not (_ended_before(s, claim) or _begins_after(s, claim))]
        later = [other for other in others if _starts_later(other, claim) and not lasts]
        closer = [other for other in others if _outranked(claim, other)]
        if later:
            first = min(later, key=lambda other: other.valid.start or date.max)
            close(standing, first.valid.start, f"{first.first.object} came after it", (first.fact_id,))
        elif claim.act is Act.REFINE and any(voice_of(c) == voice_of(claim) for o in others for c in o.claims):
            standing.refines, standing.conflict = True, Conflict.REFINEMENT
            standing.because = tuple(other.fact_id for other in others)
        elif closer:
            _set_aside(standing, closer[0])
        else:
            for other in others:
                self._replace(other, standing, claim)

    def _replace(self, other: Standing, standing: Standing, claim: Claim) -> None:
        kind = relation_type(claim.relation.name)
        if kind.usual and _in_one_breath(other, claim):
            standing.first = replace(standing.first, adds=True)
            return
        conflict = relation_of(claim, other.claims, self.policy, lasts=kind.nature == "permanent")
        outcome = outcome_of(claim, other.claims, conflict, self.policy)
        if outcome is Outcome.BOTH:
            _dispute(standing, other)
            return
        if outcome is Outcome.OLD:
            standing.status, standing.because = Status.QUARANTINED, (other.fact_id,)
            standing.conflict = conflict
            standing.reason = f"{other.first.object} was believed, and the policy {self.policy} keeps it"
            return
        reason, because = told(claim, "said later"), (standing.fact_id,)
        if kind.nature == "permanent":
            retract(other, reason, because, conflict)
            return
        close(other, start_of(claim), reason, because, conflict)
        follow(standing, other)

    def settle_disputes(self) -> None:
        """Leave two open values of a functional slot only as a dispute, and no dispute with nobody."""
        held = [s for s in self.standings if s.status is Status.HELD and s.first.polarity and s.first.functional]
        refined = {key for standing in held if standing.refines for key in (standing.fact_id, *standing.because)}
        apart = [one for one in held if one.valid.end is None and not (one.first.adds or one.beside)]
        present = [one for one in apart if one.fact_id not in refined]
        for one in present:
            if len(present) > 1 and not one.disputed:
                _dispute(one, next(other for other in reversed(present) if other is not one))
        disputed = [standing for standing in held if standing.disputed]
        if len(disputed) == 1:
            disputed[0].disputed, disputed[0].because = False, ()
            disputed[0].reason, disputed[0].conflict = "nobody who is still trusted says otherwise", None

    def _live(self, object_key: str, *, polarity: bool) -> Standing | None:
        """Return the fact with a value that holds now, else the last one with it that is not over or given up."""
        same = self._of_value.get((object_key, polarity), [])
        live = [s for s in reversed(same) if s.status is Status.HELD or s.status in UNBELIEVED]
        return next((s for s in live if s.status is Status.HELD and s.valid.end is None), live[0] if live else None)

    def _add(self, claim: Claim) -> Standing:
        same = self._of_value.setdefault(_value(claim), [])
        valid = claim.valid
        if claim.ended and valid.end is None:
            valid = replace(valid, end=_day(claim))
        standing = Standing(first=claim, episode=len(same), claims=[claim], valid=_ordered(valid))
        same.append(standing)
        self.standings.append(standing)
        self._present.append(standing)
        return standing


def _value(claim: Claim) -> tuple[str, bool]:
    return claim.object.key, claim.polarity


def said_at(claim: Claim) -> datetime:
    return claim.known_at or EARLIEST


def _day(claim: Claim) -> date | None:
    return claim.known_at.date() if claim.known_at else None


def start_of(claim: Claim) -> date | None:
    return claim.valid.start or _day(claim)


def _again(standing: Standing, claim: Claim) -> bool:
    """Tell whether a claim says that what was over by then holds anew; an event on one day is only told again."""
    if claim.modality is Modality.ASSERTED and _apart(standing.valid, claim.valid):
        return True  # a second visit
    over = _ended_before(standing, claim) and standing.valid.start != standing.valid.end
    return over and not claim.ended and claim.valid.end is None


def _apart(one: Interval, other: Interval) -> bool:
    """Tell whether two intervals with both ends known share no day, as coarse as they are told."""
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return not (one.holds_on(other.start) or other.holds_on(one.start))


def _is_past(claim: Claim) -> bool:
    """Tell whether a claim is about a state that was over when it was said."""
    end, day = claim.valid.end, _day(claim)
    return claim.ended or (end is not None and day is not None and end <= day and end != claim.valid.start)


def _same_event(known: Interval, told: Interval) -> bool:
    """Tell whether what happens once is told more exactly: in March, and then on 19 March."""
    once = all(one.start is not None and one.start == one.end for one in (known, told))
    return once and told.start is not None and known.holds_on(told.start)


def _starts_later(standing: Standing, claim: Claim) -> bool:
    start, known = claim.valid.start, standing.valid.start
    return start is not None and known is not None and start < known


def _ordered(valid: Interval) -> Interval:
    """Return an interval that does not end before it starts; the end gives way."""
    if valid.start is None or valid.end is None or valid.start <= valid.end:
        return valid
    return replace(valid, end=valid.start, end_precision=valid.start_precision)


def told(claim: Claim, how: str = "said") -> str:
    """Return what became known with a claim, in words."""
    if claim.accepted:
        return f"{claim.object} was {claim.accepted}"
    return f"{claim.speaker} {how}: “{claim.span}”"


def _corrected(claim: Claim) -> str:
    return told(claim) if claim.accepted else f"{claim.speaker} corrected it to {claim.object}: “{claim.span}”"


def _closest(standing: Standing) -> Claim:
    """Return the claim of the speaker who is closest to the subject, the first of equals."""
    return max(standing.claims, key=rank_of)


def _ended_before(standing: Standing, claim: Claim) -> bool:
    end, start, day = standing.valid.end, start_of(claim), _day(claim)
    if start is not None and (standing.valid.start, end) == (start, claim.valid.end):
        return False  # on the same day
    ahead = standing.first.modality is Modality.PLANNED and end is not None and day is not None and day < end
    return end is not None and start is not None and end <= start and not ahead  # a plan for a day to come is moved


def _begins_after(standing: Standing, claim: Claim) -> bool:
    """Tell whether a standing begins when what is claimed is over ("until August I am on 40 hours")."""
    start, end = standing.valid.start, claim.valid.end
    return start is not None and end is not None and end <= start and claim.valid.start != end


def _dated_end(standing: Standing) -> date | None:
    ends = (claim.valid.end or (_day(claim) if claim.ended else None) for claim in reversed(standing.claims))
    return next((end for end in ends if end is not None), None)


def _outranked(claim: Claim, standing: Standing) -> bool:
    """Tell whether somebody closer to the subject says what stands; people may always revise their own word."""
    if claim.accepted or _said_by(claim.speaker, standing):
        return False
    return rank_of(claim) < rank_of(_closest(standing))


def _in_one_breath(standing: Standing, claim: Claim) -> bool:
    """Tell whether a turn states two values: where there is one only as a rule, both hold."""
    return claim.act is Act.STATE and any(one.turn_id == claim.turn_id for one in standing.claims)


def _said_by(speaker: str, standing: Standing) -> bool:
    return any(claim.speaker == speaker for claim in standing.claims)


def _set_aside(standing: Standing, other: Standing) -> None:
    standing.status, standing.because = Status.QUARANTINED, (other.fact_id,)
    standing.reason = f"{_closest(other).speaker}, who is closer to it, says {other.first.object}"


def retract(standing: Standing, reason: str, because: tuple[str, ...] = (), conflict: Conflict | None = None) -> None:
    """Take a fact never to have been true."""
    standing.status, standing.reason, standing.because = Status.RETRACTED, reason, because
    standing.conflict, standing.disputed = conflict, False


def follow(standing: Standing, closed: Standing) -> None:
    """Let a state that took the place of another start where that one ends, unless its own start is known."""
    if standing.valid.start is None and standing.first.modality is Modality.ASSERTED:
        standing.valid = _ordered(replace(standing.valid, start=closed.valid.end))


def close(
    standing: Standing,
    end: date | None,
    reason: str,
    because: tuple[str, ...] = (),
    conflict: Conflict | None = None,
) -> None:
    """End a fact no later than it is known to have ended; what was never believed has no past to keep."""
    if standing.status in UNBELIEVED:
        retract(standing, reason, because, conflict)
        return
    valid = standing.valid
    if end is not None and (valid.end is None or end < valid.end):
        standing.valid = _ordered(replace(valid, end=end, end_precision="day"))
    standing.status, standing.reason, standing.because = Status.SUPERSEDED, reason, because
    standing.conflict, standing.disputed = conflict, False


def _dispute(one: Standing, other: Standing) -> None:
    for this, that in ((one, other), (other, one)):
        this.disputed, this.conflict = True, Conflict.CONTRADICTION
        this.reason = f"{that.first.speaker} says {that.first.object}"
        this.because = (that.fact_id,)
