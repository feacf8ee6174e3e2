"""The claims of one slot -> the facts of that slot, with the reason why each stands where it stands.

Rules, in the order in which they are tried for each claim (gold conventions of dialogue memories: a later
statement by the same speaker replaces, a correction reaches back, two equal sources stay open):

1. withdrawing takes back what the same person said before;
2. an assistant's word about somebody is quarantined unless somebody else says the same;
3. the same value again supports the fact that holds it (and may date it);
4. a negation ends the value that it denies ("I no longer ..."), or retracts it ("I never ...");
5. a correction retracts the value that it replaces and takes over its time;
6. a past state ("I used to live in Rome") becomes history and displaces nothing;
7. another value with an earlier date becomes history before the present value;
8. another value from a person who is no closer to the subject than the one who holds it is a dispute;
9. any other value closes the present one where its own time starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from doxa.core.values import Act, Claim, Fact, Interval, Status
from doxa.memory import fact_id

__all__ = ["Standing", "resolve"]


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
            turn_ids=tuple(dict.fromkeys(claim.turn_id for claim in self.claims)),
            known_at=self.first.known_at,
            confidence=max(claim.confidence for claim in self.claims),
        )


def resolve(claims: Sequence[Claim]) -> list[Standing]:
    """Return the facts of a slot in the order in which they came to be.

    Args:
        claims: the live claims of one slot, in the order in which they were said.

    Deterministic; O(claims x facts of the slot). At most one fact of a functional slot is held and undisputed
    at any time.
    """
    slot = _Slot()
    for claim in claims:
        slot.take(claim)
    return slot.standings


class _Slot:
    def __init__(self) -> None:
        self.standings: list[Standing] = []

    def take(self, claim: Claim) -> None:
        if claim.act is Act.WITHDRAW:
            self._withdraw(claim)
        elif claim.role in ("assistant", "tool"):
            self._quarantine(claim)
        elif (same := self._live(claim.object.key, polarity=claim.polarity)) is not None:
            self._support(same, claim)
        elif not claim.polarity and (denied := self._live(claim.object.key, polarity=True)) is not None:
            self._deny(denied, claim)
        else:
            self._enter(claim)

    def _withdraw(self, claim: Claim) -> None:
        for standing in self.standings:
            if _same_value(standing.first, claim) and standing.status is not Status.RETRACTED:
                remaining = [c for c in standing.claims if c.speaker != claim.speaker]
                if remaining:
                    standing.claims = remaining
                else:
                    _retract(standing, f"{claim.speaker} took it back: “{claim.span}”")
                    self._reopen(standing)

    def _reopen(self, gone: Standing) -> None:
        """Let what a fact had closed hold again."""
        for standing in self.standings:
            if gone.fact_id in standing.because and standing.status in (Status.SUPERSEDED, Status.RETRACTED):
                standing.status, standing.because = Status.HELD, ()
                standing.reason = f"{gone.first.object} was taken back"
                standing.valid = replace(standing.valid, end=_dated_end(standing))

    def _quarantine(self, claim: Claim) -> None:
        if (same := self._live(claim.object.key, polarity=claim.polarity)) is not None:
            same.claims.append(claim)
        else:
            standing = self._add(claim)
            standing.status = Status.QUARANTINED
            standing.reason = f"only {claim.speaker} ({claim.role}) said it"

    def _support(self, standing: Standing, claim: Claim) -> None:
        if standing.status is Status.QUARANTINED:
            standing.status, standing.reason = Status.HELD, f"{claim.speaker} confirmed it"
            self._make_room(standing, claim)
        standing.claims.append(claim)
        valid = standing.valid
        if valid.start is None or claim.act is Act.CORRECT:
            valid = replace(valid, start=claim.valid.start or valid.start, start_precision=claim.valid.start_precision)
        if claim.valid.end is not None:
            valid = replace(valid, end=claim.valid.end, end_precision=claim.valid.end_precision)
        if claim.ended and valid.end is None:
            valid = replace(valid, end=_day(claim))
        standing.valid = valid

    def _deny(self, denied: Standing, claim: Claim) -> None:
        because: tuple[str, ...] = ()
        if not claim.functional or claim.act is Act.CORRECT:
            negative = self._add(claim)
            negative.because = (denied.fact_id,)
            because = (negative.fact_id,)
        if claim.act is Act.CORRECT:
            _retract(denied, f"{claim.speaker} corrected it: “{claim.span}”", because)
        else:
            _close(denied, _start(claim), f"{claim.speaker} said that it no longer holds: “{claim.span}”", because)

    def _enter(self, claim: Claim) -> None:
        if claim.functional and claim.polarity:
            if claim.act is Act.CORRECT and (wrong := self._wrong_value(claim)) is not None:
                self._correct(wrong, claim)
                return
            standing = self._add(claim)
            if not claim.ended:
                self._make_room(standing, claim)
            return
        opposite = self._live(claim.object.key, polarity=False) if claim.polarity and not claim.ended else None
        standing = self._add(claim)
        if opposite is not None:
            reason, because = f"{claim.speaker} now says the opposite: “{claim.span}”", (standing.fact_id,)
            if claim.act is Act.CORRECT:
                _retract(opposite, reason, because)
            else:
                _close(opposite, _start(claim), reason, because)

    def _correct(self, wrong: Standing, claim: Claim) -> None:
        standing = self._add(claim)
        if claim.valid.start is None:
            valid = wrong.valid
            standing.valid = replace(
                valid, end=claim.valid.end or (valid.end if wrong.status is Status.SUPERSEDED else None)
            )
        standing.because = (wrong.fact_id,)
        standing.status = Status.HELD if wrong.status is Status.HELD else wrong.status
        _retract(wrong, f"{claim.speaker} corrected it to {claim.object}: “{claim.span}”", (standing.fact_id,))

    def _wrong_value(self, claim: Claim) -> Standing | None:
        believed = [s for s in self.standings if s.status in (Status.HELD, Status.SUPERSEDED)]
        named = [s for s in believed if claim.replaces is not None and s.first.object.key == claim.replaces]
        current = [s for s in believed if s.status is Status.HELD and s.first.object.key != claim.object.key]
        return next(reversed(named or current), None)

    def _make_room(self, standing: Standing, claim: Claim) -> None:
        """Settle a new value of a functional slot with the value that was held so far."""
        if not (claim.functional and claim.polarity):
            return
        for other in self.standings:
            if other is standing or other.status is not Status.HELD or not other.first.polarity:
                continue
            if _ended_before(other, claim):
                continue
            if (
                claim.valid.start is not None
                and other.valid.start is not None
                and claim.valid.start < other.valid.start
            ):
                _close(standing, other.valid.start, f"{other.first.object} came after it", (other.fact_id,))
            elif _rank(claim) < _rank(other.first):
                standing.status = Status.QUARANTINED
                standing.reason = f"{other.first.speaker}, who is closer to it, says {other.first.object}"
                standing.because = (other.fact_id,)
            elif _disagree(other, claim):
                _dispute(standing, other)
            else:
                reason = f"{claim.speaker} said later: “{claim.span}”"
                _close(other, _start(claim), reason, (standing.fact_id,))
                if standing.valid.start is None:  # the old value ends where the new one starts
                    standing.valid = replace(standing.valid, start=other.valid.end)

    def _live(self, object_key: str, *, polarity: bool) -> Standing | None:
        for standing in reversed(self.standings):
            same = standing.first.object.key == object_key and standing.first.polarity == polarity
            if same and standing.status in (Status.HELD, Status.QUARANTINED):
                return standing
        return None

    def _add(self, claim: Claim) -> Standing:
        episode = sum(_same_value(standing.first, claim) for standing in self.standings)
        valid = claim.valid
        if claim.ended and valid.end is None:
            valid = replace(valid, end=_day(claim))
        standing = Standing(first=claim, episode=episode, claims=[claim], valid=valid)
        self.standings.append(standing)
        return standing


def _same_value(one: Claim, other: Claim) -> bool:
    return one.object.key == other.object.key and one.polarity == other.polarity


def _day(claim: Claim) -> date | None:
    return claim.known_at.date() if claim.known_at else None


def _start(claim: Claim) -> date | None:
    return claim.valid.start or _day(claim)


def _ended_before(standing: Standing, claim: Claim) -> bool:
    end, start = standing.valid.end, _start(claim)
    return end is not None and start is not None and end <= start


def _dated_end(standing: Standing) -> date | None:
    return next((claim.valid.end for claim in reversed(standing.claims) if claim.valid.end), None)


def _rank(claim: Claim) -> int:
    """Return how close a speaker is to the subject: 2 about oneself and one's own, 1 about others, 0 a machine."""
    if claim.role not in ("user", "system"):
        return 0
    key, speaker = claim.subject.key, claim.speaker.casefold()
    return 2 if key == speaker or key.startswith(f"{speaker}'s ") else 1


def _disagree(standing: Standing, claim: Claim) -> bool:
    """Two equal sources, neither of them the subject, and nothing says that one value came after the other."""
    speakers = {c.speaker for c in standing.claims}
    dated = claim.valid.start is not None
    return _rank(claim) == 1 and claim.speaker not in speakers and not dated


def _retract(standing: Standing, reason: str, because: tuple[str, ...] = ()) -> None:
    standing.status, standing.reason, standing.because = Status.RETRACTED, reason, because
    standing.disputed = False


def _close(standing: Standing, end: date | None, reason: str, because: tuple[str, ...] = ()) -> None:
    start = standing.valid.start
    if start is not None and end is not None and end < start:
        end = start
    precision = standing.valid.end_precision
    standing.valid = replace(standing.valid, end=end, end_precision="day" if end else precision)
    standing.status, standing.reason, standing.because = Status.SUPERSEDED, reason, because
    standing.disputed = False


def _dispute(one: Standing, other: Standing) -> None:
    for this, that in ((one, other), (other, one)):
        this.disputed = True
        this.reason = f"{that.first.speaker} says {that.first.object}"
        this.because = (that.fact_id,)
