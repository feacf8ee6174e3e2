"""What a claim, a withdrawal or a retraction changes: the difference between the facts before and after.

Identities come first: what they join or part decides in which slots the other claims meet. Then the neighbourhood of
what is touched, the slots that cases of rules connect with it, is told again (`settle`); all others stay as they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from doxa.core.values import EARLIEST, UNBELIEVED, Atom, Change, ChangeKind, Claim, Fact, Rule, Status, Term
from doxa.logic import Theory
from doxa.memory import Beliefs, PredicateIndex, Slot, in_force, inventory, is_identity, predicate_of, rule_id, slot_of
from doxa.revise.axioms import axioms
from doxa.revise.bounds import COMPARISONS, LIFE, dated
from doxa.revise.ground import Case, Literal, RuleBase, Spoken
from doxa.revise.policies import Policy
from doxa.revise.resolve import Standing, resolve
from doxa.revise.settle import settle

__all__ = ["bring_back", "cut_short", "give_up", "retract", "revise", "withdraw"]

UNSUPPORTED = "nothing that is still trusted supports it"


def revise(
    claims: Sequence[Claim],
    beliefs: Beliefs,
    *,
    turn_id: str | None,
    known_at: datetime,
    rules: Sequence[Rule] = (),
) -> list[Change]:
    """Return what the claims and rules of a turn change, by the policy of the beliefs. Pure.

    Args:
        claims: what the turn says.
        beliefs: what was believed before it; not changed.
        turn_id: the turn that says it; None for what a person does by hand.
        known_at: when it was said.
        rules: what the turn says in general or on a condition.

    Cost: O(claims in the slots that are touched, and in those that cases of rules connect with them). Where
    identities change, the slots of every claim that uses a renamed name are touched as well.
    """
    return _Revision(beliefs=beliefs, turn_id=turn_id, known_at=known_at, added=claims, stated=rules).changes()


def cut_short(beliefs: Beliefs) -> Sequence[Rule]:
    """Return the rules of which the latest step left cases out: it looks at `ground.MAX_CASES` for a proposition."""
    rules: Sequence[Rule] = beliefs.kept.get("cut", ())
    return rules


def withdraw(turn_id: str, beliefs: Beliefs, *, known_at: datetime, reason: str = "") -> list[Change]:
    """Return what changes when a turn is no longer trusted: unsupported facts go, displaced ones return.

    Its rules go as well, and what followed from them.
    """
    said = [*beliefs.said_in(turn_id), *beliefs.accepted_in(turn_id)]
    rules = beliefs.rules_of(turn_id)
    return give_up(said, rules, beliefs, known_at=known_at, reason=reason or f"turn {turn_id} was withdrawn")


def retract(fact: Fact, beliefs: Beliefs, *, known_at: datetime, reason: str = "") -> list[Change]:
    """Return what changes when a fact is declared never to have been true: what it displaced returns."""
    said = beliefs.supporting(fact)
    return give_up(said, (), beliefs, known_at=known_at, reason=reason or "it was retracted by hand")


def give_up(
    claims: Sequence[Claim], rules: Sequence[Rule], beliefs: Beliefs, *, known_at: datetime, reason: str
) -> list[Change]:
    """Return what changes when live claims and rules are no longer trusted. Pure; cost as for `revise`."""
    return _Revision(
        beliefs=beliefs, turn_id=None, known_at=known_at, dropped=claims, lifted=rules, gone=reason
    ).changes()


def bring_back(
    claims: Sequence[Claim], rules: Sequence[Rule], beliefs: Beliefs, *, known_at: datetime, reason: str
) -> list[Change]:
    """Return what changes when claims and rules that were given up are trusted again, in their old places."""
    return _Revision(
        beliefs=beliefs, turn_id=None, known_at=known_at, added=claims, stated=rules, gone=reason
    ).changes()


@dataclass(slots=True, kw_only=True)
class _Revision:
    """One step from the facts before to the facts after some claims and rules come in or go."""

    beliefs: Beliefs
    turn_id: str | None
    known_at: datetime
    added: Sequence[Claim] = ()
    dropped: Sequence[Claim] = ()
    stated: Sequence[Rule] = ()
    lifted: Sequence[Rule] = ()
    gone: str = UNSUPPORTED
    renames: dict[str, Term | None] = field(default_factory=dict)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    """When a claim came in, by the identity in memory of the claim as it is told now."""

    def changes(self) -> list[Change]:
        """Return what changes: identities first, then the facts of every slot that is touched."""
        named = [change for slot in self._slots(identities=True) for change in self._identity(slot)]
        facts = [change.fact for change in named]
        self.renames = self.beliefs.identity.renames(facts) if facts else {}
        layout = self.beliefs.layout(self.renames)
        held: dict[Slot, Sequence[Claim]] = {s: self.beliefs.live_in(s) for s in self._slots(identities=False)}
        held |= layout
        held |= {s: self.beliefs.live_in(s) for s in self._renamed_conclusions() if s not in held}
        cases, people = self._neighbourhood(held)
        after = self._standings(held, cases, people)
        before = {fact.fact_id: fact for slot in held for fact in self.beliefs.in_slot(slot)}
        moves = self._moves(layout, before, after, "; ".join(map(_spoken, facts))) if layout else []
        return [*named, *moves, *self._difference(before, after)]

    def _slots(self, *, identities: bool) -> list[Slot]:
        """Return the slots that claims come into or go from, by the new names."""
        touched = (claim for claim in (*self.dropped, *self.added) if is_identity(claim) == identities)
        return list(dict.fromkeys(slot_of(self._told(claim)) for claim in touched))

    def _renamed_conclusions(self) -> list[Slot]:
        """Return the slots of what follows about names that stand for something else now."""
        was, now = self.beliefs.key, self._named
        moved = {was(key) for key in self.renames if was(key) != now(Term(key, key)).key}
        told = (fact for key in moved for fact in (*self.beliefs.about(key), *self.beliefs.valued_at(key)))
        return [slot_of(fact) for fact in told if fact.premises]

    def _told(self, claim: Claim) -> Claim:
        return self.beliefs.identity.told(claim, self.renames)

    def told_now(self) -> Iterator[Claim]:
        """Yield the claims that come in, by the new names."""
        return map(self._told, self.added)

    def _live(self, slot: Slot, held: Sequence[Claim]) -> list[Claim]:
        """Return the claims of a slot: those that it holds and those that come in, less those that go."""
        gone = {claim.number for claim in self.dropped}
        live = [claim for claim in held if claim.number not in gone]
        coming = [claim for claim in self.added if slot_of(self._told(claim)) == slot]
        new = {id(claim): place for place, claim in enumerate(self.added)}
        said = sorted([*live, *coming], key=self.beliefs.place)
        told = [self._told(claim) for claim in said]
        came = ((self.beliefs.place(claim), new.get(id(claim), 0)) for claim in said)
        self.places |= zip(map(id, told), came, strict=True)
        return told

    def _identity(self, slot: Slot) -> list[Change]:
        before = {fact.fact_id: fact for fact in self.beliefs.in_slot(slot)}
        return self._difference(before, resolve(self._live(slot, self.beliefs.live_in(slot))))

    def _standings(
        self, held: Mapping[Slot, Sequence[Claim]], cases: Sequence[Case], people: frozenset[str]
    ) -> list[Standing]:
        policy = Policy(self.beliefs.policy)
        claims = {slot: self._live(slot, said) for slot, said in held.items()}
        if not cases and not people:
            return [standing for said in claims.values() for standing in resolve(said, policy)]
        theory = self.beliefs.kept.setdefault("theory", Theory())
        cores = self.beliefs.kept.setdefault("cores", {})
        return settle(
            claims, cases, theory, policy, order=lambda claim: self.places[id(claim)], people=people, cores=cores
        )

    def _neighbourhood(self, held: dict[Slot, Sequence[Claim]]) -> tuple[list[Case], frozenset[str]]:
        """Add the slots that may clash with some slots; return the cases and the lives that connect them."""
        cases: list[Case] = []
        connected = -1
        while True:
            people = self._lives(held)
            if len(held) == connected:
                return cases, people
            cases = self._connect(held)
            connected = len(held)

    def _lives(self, held: dict[Slot, Sequence[Claim]]) -> frozenset[str]:
        """Return the people whose dates some slots may break, and add the slots that bound their lives."""
        people: dict[str, int] = {}
        waiting = [slot for slot in held if slot[0] == "" and len(slot) > 2]
        while waiting:
            subject, relation, *rest = (slot := waiting.pop())[1:]
            spoken = (subject, rest[0]) if relation in COMPARISONS and rest else (subject,)
            bounding = relation in LIFE or relation in COMPARISONS
            if not bounding and not dated(self._live(slot, held[slot])):
                continue
            for person in spoken:
                found = [s for name in LIFE for s in self.beliefs.functional_slots(person, name)]
                found += self._compared(person) if relation in LIFE else []
                if bounding or found:
                    people[person] = people.get(person, 0) + 1
                for other in found:
                    if other not in held:
                        held[other] = self.beliefs.live_in(other)
                        waiting.append(other)
        return frozenset(people) if sum(people.values()) > 1 else frozenset()

    def _compared(self, person: str) -> list[Slot]:
        """Return the slots in which somebody is said to be older or younger than another."""
        index, facts = self.predicates(), self.beliefs.facts
        told = (facts[key] for name in COMPARISONS for key in index.relating(name))
        return [slot_of(fact) for fact in told if person in (fact.subject.key, fact.object.key)]

    def _connect(self, held: dict[Slot, Sequence[Claim]]) -> list[Case]:
        """Return the cases of rules that touch some slots, and add the slots that those connect with them.

        Transitively: facts that no chain of cases joins to what is touched cannot clash with it.
        """
        rules, changing = self._rules(), RuleBase(self._changing(), named=self._named)
        known = _Known(self)
        rules.cut.clear()
        cases: dict[tuple[str, ...], Case] = {}
        met: set[tuple[str, str, str]] = set()
        waiting = [said for slot, claims in held.items() for said in known.in_slot(slot, claims)]
        for case in changing.all_cases(known):
            waiting += self._enter(held, case, known)
        while waiting:
            subject, relation, thing = waiting.pop()
            if (key := (subject.key, relation.name, thing.key)) in met:
                continue
            met.add(key)
            for case in rules.touching(subject, relation, thing, known):
                if case.name not in cases:
                    cases[case.name] = case
                    waiting += self._enter(held, case, known)
        self.beliefs.kept["cut"] = tuple((rules.cut | changing.cut).values())
        return list(cases.values())

    def _enter(self, held: dict[Slot, Sequence[Claim]], case: Case, known: _Known) -> list[Spoken]:
        """Add the slots that a case speaks of, and return what they and the case speak of."""
        spoken = [_parts(literal.atom) for literal in case.literals()]
        for slot in [slot for literal in case.literals() for slot in self._slots_of(literal)]:
            if slot not in held:
                held[slot] = self.beliefs.live_in(slot)
                spoken += known.in_slot(slot, held[slot])
        return spoken

    def _slots_of(self, literal: Literal) -> Iterator[Slot]:
        subject, predicate = literal.proposition
        for key in self.predicates().saying(predicate, subject):
            yield slot_of(self.beliefs.facts[key])
        yield from self.beliefs.functional_slots(subject, literal.atom.relation.name)

    def predicates(self) -> PredicateIndex:
        """Return the index of what facts say; without stated rules that of the relations which axioms speak of."""
        stated = bool(self.stated) or self.beliefs.has_rules
        return self.beliefs.predicates(None if stated else axioms(inventory()).relations)

    def _rules(self) -> RuleBase:
        """Return the rules that hold after this step; kept between turns until a rule or a name changes."""
        kept: dict[str, RuleBase] = self.beliefs.kept
        if self.stated or self.lifted or self.renames:
            lifted = {id(rule) for rule in self.lifted}
            still = (rule for rule in self.beliefs.stated_rules if id(rule) not in lifted)
            return self._compiled(in_force([*still, *self.stated]))
        if "rules" not in kept:
            kept["rules"] = self._compiled(self.beliefs.rules)
        return kept["rules"]

    def _changing(self) -> list[Rule]:
        """Return the rules that begin or cease to hold with this step: those that come or go, or are lifted by them."""
        moving = [*self.stated, *self.lifted]
        lifts = {rule.lifts for rule in moving if rule.lifts}
        return [*moving, *(rule for rule in self.beliefs.stated_rules if lifts and rule_id(rule) in lifts)]

    def _compiled(self, rules: Sequence[Rule]) -> RuleBase:
        known = axioms(inventory())
        told = sorted(rules, key=lambda rule: (rule.known_at or EARLIEST, self.beliefs.place_of_turn(rule)))
        return RuleBase([*known.rules, *told], constraints=known.constraints, named=self._named)

    def _named(self, term: Term) -> Term:
        return self.beliefs.identity.canonical(term, self.renames)

    def _moves(
        self, layout: Mapping[Slot, list[Claim]], before: dict[str, Fact], after: Sequence[Standing], reason: str
    ) -> list[Change]:
        """Return what goes on under another name in the slots between which claims move."""
        staying = {standing.fact_id for standing in after}
        moves: list[Change] = []
        leaving = [fact for key, fact in before.items() if key not in staying and slot_of(fact) in layout]
        for fact in leaving:
            heirs = [
                standing for standing in after if standing.fact_id not in before and self._continues(standing, fact)
            ]
            del before[fact.fact_id]
            if not heirs and fact.status is not Status.RETRACTED:  # what nobody said any more stays where it was
                moves.append(self._change(ChangeKind.MOVE, fact, reason, (fact.fact_id,)))
            for heir in heirs:
                first = heir.first
                fact_now = replace(fact, fact_id=heir.fact_id, subject=first.subject, object=first.object)
                before[heir.fact_id] = fact_now
                moves.append(self._change(ChangeKind.MOVE, fact_now, reason, (fact.fact_id,)))
        return moves

    def _continues(self, standing: Standing, fact: Fact) -> bool:
        """Tell whether a fact under new names is what an earlier one was: the same proposition, from a common turn."""
        first, named = standing.first, self.beliefs.identity.canonical
        same = first.relation == fact.relation and first.polarity == fact.polarity and first.modality is fact.modality
        if not same or not {claim.turn_id for claim in standing.claims} & set(fact.turn_ids):
            return False
        pairs = ((first.subject, fact.subject), (first.object, fact.object))
        return all(new.key == named(old, self.renames).key or named(new).key == old.key for new, old in pairs)

    def _difference(self, before: Mapping[str, Fact], after: Iterable[Standing]) -> list[Change]:
        old = dict(before)
        changes: list[Change] = []
        for standing in after:
            fact = standing.fact()
            was = old.pop(fact.fact_id, None)
            if was is not None and _supported(was, fact):
                fresh = replace(fact, turn_ids=fact.turn_ids[len(was.turn_ids) :])
                changes.append(self._change(ChangeKind.SUPPORT, fresh, standing.reason, standing.because))
            elif was != fact:
                said = standing.reason or (f"“{standing.first.span}”" if is_identity(fact) else "")
                change = self._change(_kind(was, fact), fact, said, standing.because)
                changes.append(replace(change, conflict=standing.conflict))
        for fact in old.values():
            if fact.status is not Status.RETRACTED:
                retracted = replace(fact, status=Status.RETRACTED, disputed=False)
                changes.append(self._change(_kind(fact, retracted), retracted, self.gone))
        order = [ChangeKind.SPLIT, ChangeKind.RETRACT, ChangeKind.CLOSE]
        return sorted(changes, key=lambda change: order.index(change.kind) if change.kind in order else len(order))

    def _change(self, kind: ChangeKind, fact: Fact, reason: str, because: tuple[str, ...] = ()) -> Change:
        return Change(
            kind=kind, fact=fact, turn_id=self.turn_id, known_at=self.known_at, reason=reason, because=because
        )


@dataclass(slots=True)
class _Known:
    """What is spoken of after a step, as the variables of rules see it."""

    step: _Revision
    known: defaultdict[tuple[str, str | None], list[Spoken]] = field(default_factory=lambda: defaultdict(list))
    """What is spoken of by relation and subject, and by relation, as far as it was asked for."""

    def saying(self, predicate: str) -> Iterator[Spoken]:
        yield from (_parts(self.step.beliefs.facts[key]) for key in self.step.predicates().saying(predicate))
        yield from (said for said in self._added() if predicate_of(said[1], said[2]) == predicate)

    def relating(self, relation: str, subject: str | None = None) -> Iterable[Spoken]:
        if (relation, None) not in self.known:
            facts = (_parts(self.step.beliefs.facts[key]) for key in self.step.predicates().relating(relation))
            added = (said for said in self._added() if said[1].name == relation)
            for said in (*facts, *added):
                for whose in (None, said[0].key):
                    self.known[relation, whose].append(said)
        return self.known.get((relation, subject), ())

    def in_slot(self, slot: Slot, claims: Sequence[Claim]) -> Iterator[Spoken]:
        """Yield what a slot speaks of: its claims, those that come in, and its facts, derived ones included."""
        told = self.step.beliefs.identity.told
        said = (*(_parts(told(claim, self.step.renames)) for claim in claims), *self._added(slot))
        known = map(_parts, self.step.beliefs.in_slot(slot))
        yield from {(s.key, r.name, t.key): (s, r, t) for s, r, t in (*said, *known)}.values()

    def _added(self, slot: Slot | None = None) -> Iterator[Spoken]:
        for claim in self.step.told_now():
            if slot is None or slot_of(claim) == slot:
                yield _parts(claim)


def _parts(told: Claim | Fact | Atom) -> Spoken:
    return told.subject, told.relation, told.object


def _spoken(fact: Fact) -> str:
    joined = fact.status is Status.HELD and fact.polarity
    return f"{fact.subject} {'is' if joined else 'is not'} {fact.object}"


def _supported(was: Fact, fact: Fact) -> bool:
    """Tell whether nothing happened to a fact but that more turns say it."""
    same = replace(fact, turn_ids=was.turn_ids, confidence=was.confidence) == was
    return same and len(fact.turn_ids) > len(was.turn_ids) and fact.turn_ids[: len(was.turn_ids)] == was.turn_ids


def _kind(was: Fact | None, fact: Fact) -> ChangeKind:
    if is_identity(fact):
        return _kind_of_identity(was, fact)
    if fact.status is Status.RETRACTED:
        return ChangeKind.RETRACT
    if fact.status is Status.QUARANTINED:
        return ChangeKind.QUARANTINE
    if fact.status is Status.TENTATIVE:
        return ChangeKind.NOTE
    if fact.disputed and not (was and was.disputed):
        return ChangeKind.DISPUTE
    if fact.status is Status.SUPERSEDED and (was is None or was.status is not Status.SUPERSEDED):
        return ChangeKind.ASSERT if was is None else ChangeKind.CLOSE
    if was is None or was.status in UNBELIEVED:
        return ChangeKind.ASSERT
    settled, open_again = was.disputed and not fact.disputed, was.valid.end is not None and fact.valid.end is None
    if was.status is not fact.status or settled or open_again:
        return ChangeKind.RESTORE
    return ChangeKind.REFINE


def _kind_of_identity(was: Fact | None, fact: Fact) -> ChangeKind:
    """Return what happened to an identity: "is not the same as" splits as soon as it is held."""
    holds, held = fact.status is Status.HELD, was is not None and was.status is Status.HELD
    if holds == held:
        return ChangeKind.REFINE if holds else ChangeKind.QUARANTINE
    if holds:
        return ChangeKind.MERGE if fact.polarity else ChangeKind.SPLIT
    return ChangeKind.SPLIT if fact.polarity else ChangeKind.RETRACT
