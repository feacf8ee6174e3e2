"""What one user's memory believes: claims by slot, the facts they support, rules, and every change so far.

A *slot* is a question with one answer at a time: `(Ana, lives in)` for a functional relation, and
`(Ana, likes, tea)` for one that has many objects. Facts of different slots never clash here.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date

from doxa.core.values import Change, ChangeKind, Claim, Fact, Modality, Rule, Status

__all__ = ["Beliefs", "Slot", "fact_id", "slot_of"]

Slot = tuple[str, ...]

ID_VERSION = "f1"
"""Prefix of fact ids; it changes when the way they are made changes."""


def slot_of(claim: Claim | Fact) -> Slot:
    """Return the slot of a proposition; plans and wishes never share a slot with assertions."""
    mood = "" if claim.modality is Modality.ASSERTED else str(claim.modality)
    base = (mood, claim.subject.key, claim.relation.name)
    return base if claim.functional else (*base, claim.object.key)


def fact_id(claim: Claim, episode: int) -> str:
    """Return the id of the `episode`-th time that this proposition came to hold; the same on every machine."""
    parts = (
        claim.subject.key,
        claim.relation.name,
        claim.object.key,
        str(claim.polarity),
        claim.modality,
        str(episode),
    )
    return f"{ID_VERSION}_{hashlib.blake2s(chr(31).join(parts).encode(), digest_size=6).hexdigest()}"


@dataclass(slots=True)
class Beliefs:
    """Claims, facts, rules and changes of one user. Folding an event costs O(its claims + its changes)."""

    claims: dict[Slot, list[Claim]] = field(default_factory=lambda: defaultdict(list))
    """Live claims of every slot, in the order in which they were said."""
    facts: dict[str, Fact] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    _rules: dict[str, tuple[Rule, ...]] = field(default_factory=dict)
    """Rules by the turn that states them, in the order in which they were said."""
    _by_slot: dict[Slot, list[str]] = field(default_factory=lambda: defaultdict(list))
    _by_turn: dict[str, list[Slot]] = field(default_factory=lambda: defaultdict(list))
    _by_subject: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _by_relation: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    _possessions: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _changes_of: dict[str, list[Change]] = field(default_factory=lambda: defaultdict(list))
    _changes_by: dict[str, list[Change]] = field(default_factory=lambda: defaultdict(list))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that hold, in the order in which they were said; O(number of rules)."""
        return tuple(rule for stated in self._rules.values() for rule in stated)

    def rules_of(self, turn_id: str) -> tuple[Rule, ...]:
        """Return the rules that a turn states; empty when it was withdrawn."""
        return self._rules.get(turn_id, ())

    def learn(self, claims: Iterable[Claim], changes: Iterable[Change], rules: Iterable[Rule] = ()) -> None:
        """Take over the claims and rules of a turn and the changes that they caused."""
        for rule in rules:
            self._rules[rule.turn_id] = (*self._rules.get(rule.turn_id, ()), rule)
        for claim in claims:
            slot = slot_of(claim)
            self.claims[slot].append(claim)
            self._by_turn[claim.turn_id].append(slot)
        self._apply(changes)

    def drop_turn(self, turn_id: str, changes: Iterable[Change]) -> None:
        """Give up the claims and rules of a withdrawn turn and take over what followed from it."""
        self._rules.pop(turn_id, None)
        for slot in self._by_turn.pop(turn_id, ()):
            self.claims[slot] = [claim for claim in self.claims[slot] if claim.turn_id != turn_id]
        self._apply(changes)

    def drop_support(self, fact: Fact, changes: Iterable[Change]) -> None:
        """Give up the claims that support a retracted fact and take over what followed from it."""
        slot = slot_of(fact)
        self.claims[slot] = [claim for claim in self.claims[slot] if not supports(claim, fact)]
        self._apply(changes)

    def _apply(self, changes: Iterable[Change]) -> None:
        for change in changes:
            fact = change.fact
            known = self.facts.get(fact.fact_id)
            if known is None:
                self._index(fact)
            elif change.kind is ChangeKind.SUPPORT:
                fact = replace(fact, turn_ids=(*known.turn_ids, *fact.turn_ids))
            self.facts[fact.fact_id] = fact
            self.changes.append(change)
            self._changes_of[fact.fact_id].append(change)
            if change.turn_id is not None:
                self._changes_by[change.turn_id].append(change)

    def _index(self, fact: Fact) -> None:
        key = fact.subject.key
        if key not in self._by_subject and "'s " in key:
            self._possessions[key.rpartition("'s ")[0]].append(key)
        self._by_slot[slot_of(fact)].append(fact.fact_id)
        self._by_subject[key].append(fact.fact_id)
        self._by_relation[key, fact.relation.name].append(fact.fact_id)

    def in_slot(self, slot: Slot) -> list[Fact]:
        """Return the facts of a slot, in the order in which they came to be."""
        return [self.facts[key] for key in self._by_slot.get(slot, ())]

    def about(self, subject_key: str, relation: str | None = None) -> list[Fact]:
        """Return every fact about a subject, or those of one relation, in the order in which they came to be."""
        if relation is None:
            return [self.facts[key] for key in self._by_subject.get(subject_key, ())]
        return [self.facts[key] for key in self._by_relation.get((subject_key, relation), ())]

    def possessions(self, owner_key: str) -> list[str]:
        """Return the keys of the subjects that are an owner's ("ana's rent" of "ana")."""
        return self._possessions.get(owner_key, [])

    def slots_of_turn(self, turn_id: str) -> list[Slot]:
        """Return the slots that a turn's claims touch, each once, in order."""
        return list(dict.fromkeys(self._by_turn.get(turn_id, ())))

    def claims_of(self, turn_id: str) -> list[Claim]:
        """Return the live claims of a turn, slot by slot; empty when it made none, or was withdrawn."""
        said = (claim for slot in self.slots_of_turn(turn_id) for claim in self.claims.get(slot, ()))
        return [claim for claim in said if claim.turn_id == turn_id]

    def changes_of(self, key: str) -> list[Change]:
        """Return what happened to a fact, oldest first; empty for an unknown id."""
        return list(self._changes_of.get(key, ()))

    def changes_by(self, turn_id: str) -> list[Change]:
        """Return what a turn changed, in order; empty when it changed nothing."""
        return list(self._changes_by.get(turn_id, ()))

    def select(
        self,
        *,
        current: bool = True,
        now: date | None = None,
        as_of: date | None = None,
        subject: str | None = None,
        relation: str | None = None,
    ) -> Iterator[Fact]:
        """Yield facts in the order in which they came to be.

        Args:
            current: only what is believed and holds on `as_of` or else on `now`.
            now: the memory's today.
            as_of: a day of the world; superseded facts that held then count as well.
            subject: key or label, without regard to case.
            relation: name or label, without regard to case.
        """
        for fact in self.facts.values():
            if not (_named(subject, fact.subject.key, fact.subject.label)):
                continue
            if not (_named(relation, fact.relation.name, fact.relation.label)):
                continue
            if as_of is not None and not held_on(fact, as_of):
                continue
            if as_of is None and current and not is_current(fact, now):
                continue
            yield fact


def _named(wanted: str | None, *names: str) -> bool:
    return wanted is None or wanted.casefold() in {name.casefold() for name in names}


def is_current(fact: Fact, now: date | None) -> bool:
    """Tell whether a fact is believed and has not ended by `now`.

    What happened once stays true; a plan whose day is over is no plan any more.
    """
    if fact.status is not Status.HELD:
        return False
    start, end = fact.valid.start, fact.valid.end
    if now is None:
        return True
    if fact.modality is Modality.PLANNED and start is not None:
        return now <= start or (fact.valid.holds_on(now) and start == end)
    return end is None or start == end or end > now


def held_on(fact: Fact, day: date) -> bool:
    """Tell whether, by what is believed now, a fact held on a day."""
    return fact.status in (Status.HELD, Status.SUPERSEDED) and fact.valid.holds_on(day)


def supports(claim: Claim, fact: Fact) -> bool:
    """Tell whether a claim is one of those that a fact rests on."""
    same = claim.object.key == fact.object.key and claim.polarity == fact.polarity
    return same and claim.modality is fact.modality and claim.turn_id in fact.turn_ids
