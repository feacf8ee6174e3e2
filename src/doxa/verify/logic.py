"""Claims of a reply -> what the theory of the memory says of them.

Two looks. First at what is held of the same thing in the same respect, at the time of which the claim speaks: a value
that excludes the claimed one, the opposite, another day of the same event, or a state that was over by then. Then the
claim is tried as if the user made it now: what `revise` would end, retract or dispute for its sake is what it clashes
with, under stated rules, axioms, disjoint and exclusive values and bounds on days; the reason of that change is the
minimal core that the solver found. A user may change the world, a reply may not: so every clash is a contradiction.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from doxa.core.values import Act, Change, ChangeKind, Claim, Fact, Interval, Modality, Status
from doxa.language import stems
from doxa.language.words import EMPTY
from doxa.memory import describe_rule, inventory, is_current, is_identity, rule_id
from doxa.verify.findings import Finding, Known, quoted
from doxa.verify.sentences import Clause, cue
from doxa.verify.values import relation_of

__all__ = ["by_logic", "by_own_word", "listed_many"]

GIVING_WAY = (ChangeKind.CLOSE, ChangeKind.RETRACT, ChangeKind.DISPUTE)
EVENTS = frozenset(["born_on", "born_in", "died_on"])
"""Relations of which the day is no end."""
LEAST_SHARED = 0.6
"""Share of the words of two propositions, less their values, that have to be common for them to be about one thing."""


class _When(NamedTuple):
    """Of which time a claim speaks."""

    kind: Literal["now", "then", "once"]
    """The present, a time that is told, or some time in the past."""
    valid: Interval = Interval()


def by_logic(claims: Sequence[Claim], clause: Clause, near: Sequence[Fact], known: Known) -> list[Finding]:
    """Return what the theory says of the claims of one clause; nothing of those that it neither holds nor excludes.

    Args:
        claims: what the clause says, as if the user had said it.
        clause: of the reply.
        near: facts that may bear on it, beside those about the same subjects.
        known: the memory.

    Sound for what was understood: every contradiction names facts and rules with which the claim has no model, or
    days that exclude each other. Cost: O(facts near) and one pure revision a claim.
    """
    facts = [fact for fact in near if fact.status is not Status.QUARANTINED]
    judged = (_Judged(claim, clause, facts, known) for claim in _plain(claims, known))
    return [one for about in judged if (one := about.finding()) is not None]


def by_own_word(claims: Sequence[Claim], clause: Clause, known: Known) -> Finding | None:
    """Return what the agent said before that excludes a claim of its reply; None for nothing.

    Its own word is no evidence, so it supports nothing; where the user has said anything of a claim, that counts alone
    (`by_logic`). Source: GreedySAT, "Algorithm", where the answers of the model are the theory; D-SMART, "Dynamic
    Structured Memory", where a turn is a question with its reply. Cost: O(facts near).
    """
    for claim in _plain(claims, known):
        about = known.beliefs.about(claim.subject.key, claim.relation.name)
        own = [
            replace(fact, status=Status.HELD)
            for fact in about
            if fact.status is Status.QUARANTINED
            and any(said.speaker == known.agent for said in known.beliefs.supporting(fact))
        ]
        found = _Judged(claim, clause, own, known, only=True).finding() if own else None
        if found is not None and found.label == "contradicted":
            return replace(found, by="history", reason=found.reason.replace("the memory holds", "said before"))
    return None


def _plain(claims: Sequence[Claim], known: Known) -> Iterator[Claim]:
    """Give what claims say of the world, as it is or is arranged to be, in the terms of the memory."""
    for claim in claims:
        if claim.act is not Act.WITHDRAW and claim.modality in (Modality.ASSERTED, Modality.PLANNED):
            yield _attribute(replace(known.beliefs.identity.told(claim), act=Act.STATE, replaces=None))


def listed_many(claims: Sequence[Claim]) -> bool:
    """Tell whether all claims are of relations that the ontology knows to have many values ("speaks", "likes")."""
    relations = inventory().relations
    kinds = [relations.get(claim.relation.name) for claim in claims]
    return bool(claims) and all(kind is not None and not kind.functional for kind in kinds)


class _Judged:
    """One claim held against the memory."""

    def __init__(self, claim: Claim, clause: Clause, near: Sequence[Fact], known: Known, *, only: bool = False) -> None:
        """`only`: it is held against the facts near it and nothing else."""
        self.claim, self.clause, self.known, self.only = claim, clause, known, only
        self.when = self._when()
        about = [] if only else known.beliefs.about(claim.subject.key, claim.relation.name)
        facts = {fact.fact_id: fact for fact in (*about, *near) if fact.status in (Status.HELD, Status.SUPERSEDED)}
        self.retracted = [fact for fact in (*about, *near) if fact.status is Status.RETRACTED]
        replaced = (f for f in facts.values() if f.status is not Status.SUPERSEDED or f.modality is Modality.ASSERTED)
        self.facts = [fact for fact in replaced if self._alike(fact)]

    def finding(self) -> Finding | None:
        """Return what is found; None where nothing is."""
        if self.claim.source:
            return None  # what somebody is said to say
        if not self.only and (restated := self._restated()) is not None:
            return self._for(restated)
        same = [fact for fact in self.facts if self._compared(fact) == "same"]
        agreeing = [fact for fact in same if fact.polarity == self.claim.polarity]
        wrong = self._other_day(agreeing)
        if wrong is not None:
            return self._against([wrong], "that was at another time")
        if any(fact.disputed for fact in same):
            return None
        held = self._then(agreeing)
        if held and self._over(held[-1]):
            return self._against(held[-1:], "that is not over")
        denied_then = self._then([fact for fact in same if fact.polarity != self.claim.polarity])
        if (exact := [fact for fact in held if self._tells_less(fact)]) and not _newer(denied_then, exact):
            return self._for(exact[-1])
        if denied_then:
            return self._against(denied_then[-1:], "")
        exclusive = [fact for fact in self.facts if fact.polarity and (self.claim.functional or fact.functional)]
        rivals = [fact for fact in exclusive if self._compared(fact) == "rival"]
        if self.when.kind == "once":
            rivals = rivals[-1:] if self._taken_back() else []
            if rivals and self.claim.polarity and not agreeing:
                return self._against(rivals, "what the reply says was taken back")
        if (instead := self._then(rivals)) and not any(fact.disputed for fact in instead):
            return self._against(instead[-1:], "") if self.claim.polarity else self._for(instead[-1])
        if held:
            return self._for(held[-1])
        past = self.when.kind == "once" or cue("past_verb", self.clause.text)
        if past and agreeing and self.when.kind != "then":
            return self._for(agreeing[-1])
        present = self.when.kind == "now" and self.claim.polarity and self.claim.modality is Modality.ASSERTED
        if agreeing and present and not is_identity(agreeing[-1]) and not _point(agreeing[-1].valid):
            return self._against(agreeing[-1:], "that is over")
        return self._revised() if self.when.kind == "now" and not self.only else None

    def _restated(self) -> Fact | None:
        """Return a fact that the claim only says again, however its words fall on relation and object.

        What the memory holds can never be contradicted by that very fact: "is invited" and "is | invited" are one.
        """
        if self.when.kind != "now" or self.claim.valid != Interval():
            return None
        words = _said_of(self.claim)
        same = (f for f in self.known.beliefs.about(self.claim.subject.key) if f.polarity == self.claim.polarity)
        return next((f for f in same if _said_of(f) == words and not f.disputed and self._now(f)), None)

    def _when(self) -> _When:
        claim, today = self.claim, self.known.today
        valid = claim.valid
        if valid.start is not None and not (valid.end is None and self._begins()):
            end = valid.start if valid.end is None else valid.end
            coarse = valid.start_precision if valid.end is None else valid.end_precision
            return _When("then", replace(valid, end=end, end_precision=coarse))
        if valid.end is not None and valid.end <= today:
            return _When("then", valid) if claim.ended else _When("once")
        return _When("once") if claim.ended or (cue("past", self.clause.text) and not self._begins()) else _When("now")

    def _begins(self) -> bool:
        return cue("begins", self.clause.text)

    def _then(self, facts: Iterable[Fact]) -> list[Fact]:
        """Return the facts that hold at the time of which the claim speaks."""
        if self.when.kind == "now":
            return [fact for fact in facts if self._now(fact)]
        if self.when.kind == "once":
            past = [f for f in facts if f.polarity and not is_current(f, self.known.today)]
            return [] if self.claim.polarity else past
        return [fact for fact in facts if _overlap(self.when.valid, fact.valid) and not self._later(fact)]

    def _later(self, fact: Fact) -> bool:
        """Tell whether of a state without a known beginning only a later time is known."""
        end, known_at = self.when.valid.end, fact.known_at
        open_ = fact.functional and fact.valid.start is None and fact.valid.end is None
        return open_ and end is not None and known_at is not None and known_at.date() > end and not fact.premises

    def _taken_back(self) -> bool:
        """Tell whether just what the claim says was believed and is no longer."""
        return any(self._alike(fact) and self._compared(fact) == "same" for fact in self.retracted)

    def _now(self, fact: Fact) -> bool:
        """Tell whether a fact holds today; a state that is known of one day long ago does not."""
        start, today = fact.valid.start, self.known.today
        if start is not None and start > today and fact.modality is Modality.ASSERTED:
            return False
        state = fact.functional and fact.modality is Modality.ASSERTED and fact.relation.name not in EVENTS
        return is_current(fact, today) and not (state and _point(fact.valid) and fact.valid.holds_on(today) is False)

    def _tells_less(self, fact: Fact) -> bool:
        """Tell whether the claim says no more than a fact."""
        return set(stems(self.claim.object.label)) <= set(stems(fact.object.label)) or bool(
            any(char.isdigit() for char in self.claim.object.label)
        )

    def _over(self, fact: Fact) -> bool:
        """Tell whether the clause says that something is over which is not."""
        ahead = self.claim.valid.end is not None and self.claim.valid.end > self.known.today
        return self.claim.ended and cue("over", self.clause.text) and fact.valid.end is None and not ahead

    def _alike(self, fact: Fact) -> bool:
        """Tell whether a fact is about the same thing in the same respect."""
        claim = self.claim
        if fact.subject.key == claim.subject.key and fact.relation.name == claim.relation.name:
            return True
        if {claim.relation.name, fact.relation.name} <= inventory().relations.keys():
            return False  # "works as" and "works at" share their words, and one value of each is no rival of the other
        mine, theirs = _frame(claim), _frame(fact)
        if not mine or not theirs or _owner(claim.subject.label) != _owner(fact.subject.label):
            return False
        said, told = (frozenset(stems(one.relation.label)) - EMPTY for one in (claim, fact))
        if (said or told) and not said & told:
            return False  # who has sold the car does not have it
        shared = len(mine & theirs) / len(mine | theirs)
        return shared >= LEAST_SHARED or (shared >= 0.5 and (mine <= theirs or theirs <= mine))

    def _compared(self, fact: Fact) -> Literal["same", "rival", "other"]:
        if fact.object.key == self.claim.object.key:
            return "same"
        return relation_of(self.claim.object.label, fact.object.label)

    def _other_day(self, facts: Sequence[Fact]) -> Fact | None:
        """Return a fact that began, by what was said, on other days than the claim says; None if one began then."""
        valid = self.claim.valid
        if (
            valid.start is None
            or not self.claim.polarity
            or not (self._begins() or self.claim.relation.name in ("born_on", "died_on"))
        ):
            return None
        dated = [(fact, told) for fact in facts if (told := self._told_start(fact)) is not None]
        if not dated or any(_meet(valid, told) for _, told in dated):
            return None
        return dated[-1][0]

    def _told_start(self, fact: Fact) -> Interval | None:
        """Return when a fact began, where somebody said so."""
        told = [claim.valid for claim in self.known.beliefs.supporting(fact) if claim.valid.start is not None]
        return told[-1] if told else None

    def _revised(self) -> Finding | None:
        """Try the claim as if the user made it now, and return what it would change."""
        claim = self.claim
        changes = self.known.revised([claim])
        clashes = [change for change in changes if self._clashes(change)]
        if not clashes:
            clashes = [change for change in changes if change.kind is ChangeKind.QUARANTINE and change.because]
        return self._core(clashes, changes) if clashes else None

    def _clashes(self, change: Change) -> bool:
        """Tell whether a change gives up what is held for the sake of the claim."""
        fact, claim = change.fact, self.claim
        if change.kind not in GIVING_WAY:
            return False
        slot = fact.subject.key == claim.subject.key and fact.relation.name == claim.relation.name
        if not slot:
            return True
        if fact.object.key == claim.object.key:
            return fact.polarity != claim.polarity
        return fact.polarity == claim.polarity and self._compared(fact) == "rival"

    def _core(self, clashes: Sequence[Change], changes: Sequence[Change]) -> Finding:
        """Return the contradiction with the facts and rules that make it, as the solver found them."""
        beliefs = self.known.beliefs
        first = next((change for change in clashes if not change.fact.premises), clashes[0])
        ids = list(dict.fromkeys((first.fact.fact_id, *first.because)))
        facts = [beliefs.facts[key] for key in ids if key in beliefs.facts]
        rules = {rule_id(rule): rule for rule in beliefs.rules}
        stated = [describe_rule(rules[key]) for key in ids if key in rules]
        found = self._against(facts, f"by the rule: {'; '.join(stated)}" if stated else "")
        return replace(found, because=(*found.because, *(key for key in ids if key in rules)))

    def _for(self, fact: Fact) -> Finding:
        return Finding(
            label="supported", because=(fact.fact_id,), reason=f"the memory holds: {quoted(fact, self.known)}"
        )

    def _against(self, facts: Sequence[Fact], why: str) -> Finding:
        held = "; ".join(quoted(self.known.beliefs.facts.get(fact.fact_id, fact), self.known) for fact in facts)
        reason = f"the memory holds: {held}" + (f"; {why}" if why else "")
        return Finding(label="contradicted", because=tuple(fact.fact_id for fact in facts), reason=reason)


def _attribute(claim: Claim) -> Claim:
    """Return a claim about somebody's employer, home or status as the relation that it names."""
    owner, _, noun = claim.subject.label.rpartition("'s ")
    name = _attributes().get(noun.casefold())
    if not owner or name is None or claim.relation.name not in ("has_state", "is_a", "is_called"):
        return claim
    kind = inventory().relations[name]
    subject = replace(claim.subject, key=owner.casefold(), label=owner)
    return replace(claim, subject=subject, relation=kind.relation, functional=kind.functional)


@cache
def _attributes() -> dict[str, str]:
    """Return relations by the nouns that name them."""
    table = tomllib.loads(files("doxa.verify").joinpath("opposites.toml").read_text(encoding="utf-8"))
    known = inventory().relations
    return {noun: name for noun, name in table["attributes"].items() if name in known}


def _frame(said: Claim | Fact) -> frozenset[str]:
    """Return the stems of what a proposition is about, without its value and what every proposition has."""
    return frozenset(stems(f"{said.subject.label} {said.relation.label}")) - EMPTY


def _said_of(said: Claim | Fact) -> frozenset[str]:
    """Return the stems of what is said of a subject; relation and object together."""
    return frozenset(stems(f"{said.relation.label} {said.object.label}")) - EMPTY


def _owner(label: str) -> str:
    return label.partition("'s ")[0].casefold() if "'s " in label else ""


def _newer(some: Sequence[Fact], others: Sequence[Fact]) -> bool:
    """Tell whether some facts came to be known after all of the others."""
    times = [[fact.known_at for fact in facts if fact.known_at is not None] for facts in (some, others)]
    return bool(times[0]) and bool(times[1]) and max(times[0]) > max(times[1])


def _point(valid: Interval) -> bool:
    return valid.start is not None and valid.start == valid.end


def _meet(one: Interval, other: Interval) -> bool:
    """Tell whether two beginnings may be on one day, as coarse as they are told."""
    first, last = _days(one.start, one.start_precision)
    low, high = _days(other.start, other.start_precision)
    return first <= high and low <= last


def _days(day: date | None, precision: str) -> tuple[date, date]:
    start = day or date.min
    if precision == "year":
        return start, date(start.year, 12, 31)
    if precision == "month":
        return start, (start.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return start, start


def _overlap(one: Interval, other: Interval) -> bool:
    """Tell whether two times share a day; the last day of one that is told coarsely counts."""
    begins, ends = _span(one)
    starts, stops = _span(other)
    return begins <= stops and starts <= ends


def _span(valid: Interval) -> tuple[date, date]:
    begins = valid.start or date.min
    if _point(valid):
        return begins, _days(valid.start, valid.end_precision)[1]
    if valid.end is None:
        return begins, date.max
    return begins, max(begins, valid.end - timedelta(days=1)) if valid.end > date.min else begins
