"""What one user's memory believes: claims by slot, the facts they support, rules, and every change so far.

A *slot* is a question with one answer at a time: `(Ana, lives in)` for a functional relation, and
`(Ana, likes, tea)` for one that has many objects. Facts of different slots never clash here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice
from typing import Any, Literal

from doxa.core.values import Change, ChangeKind, Claim, Fact, Rule, Term
from doxa.memory.codec import CHANGE, CLAIM, FACT, rule_from, rule_to
from doxa.memory.consequences import Consequences
from doxa.memory.dimensions import ValueIndex
from doxa.memory.finding import FactIndex
from doxa.memory.identity import Identity, Renames, is_identity
from doxa.memory.names import NameIndex
from doxa.memory.paged import SEPARATOR, Keys, Lists, Pack, PackWriter, Records, Table, joined
from doxa.memory.predicates import PredicateIndex
from doxa.memory.rules import in_force
from doxa.memory.slots import Slot, slot_of
from doxa.memory.validity import held_on, is_current

__all__ = ["Beliefs", "GivenUp"]

GivenUp = tuple[Literal["turn", "fact", "source"], str]
"""What was withdrawn, retracted or distrusted: an id, or the name of a source in lower case."""

GivenUpThere = tuple[list[int], list[Rule]]
"""The claims, by number, and the rules that were given up with something."""


class Beliefs:
    """Claims, facts, rules and changes of one user. Folding an event costs O(its claims + its changes).

    Claims are kept as they were said; facts are about entities. Where names are joined or told apart, the claims that
    use them move to other slots, at a cost of O(claims about the names that are renamed).
    """

    def __init__(self, *, policy: str = "recency") -> None:
        self.policy = policy
        """Which of several beliefs that clash gives way (`revise.policies`)."""
        self.facts: Table[Fact] = Table(FACT)
        self.changes: Records[Change] = Records(CHANGE)
        self.identity = Identity()
        self.names = NameIndex()
        self.consequences = Consequences(self.facts)
        """What each fact has displaced, and what follows from it."""
        self.kept: dict[str, Any] = {}
        """What a step keeps for its next turn (a solver, compiled rules); it can be made anew at any time."""
        self._claims: Records[Claim] = Records(CLAIM)
        """All claims that ever came in, by number."""
        self._live = Lists()
        """Live claims of every slot, in the order in which they came in."""
        self._by_turn = Lists()
        self._accepted = Lists()
        """Live claims by which a person accepted what a turn says, by that turn."""
        self._by_name = Lists()
        """Live claims by the keys that they use, and by the owners in those ("ana" for "ana's sister")."""
        self._turns = Keys()
        """The turns that say anything, in order."""
        self._dropped: set[int] = set()
        """Claims of turns that are live no more."""
        self._aside: dict[GivenUp, list[GivenUpThere]] = defaultdict(list)
        """What was given up with a turn, fact or source; the latest last."""
        self._rules: dict[str, tuple[Rule, ...]] = {}
        """Rules by the turn that states them, in the order in which they were said."""
        self._index = FactIndex(self.facts)
        self._changes_of = Lists()
        self._changes_by = Lists()
        self._predicates = PredicateIndex(self.facts)
        self._values = ValueIndex(self.facts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Beliefs):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in COMPARED)

    __hash__ = None  # type: ignore[assignment]

    @property
    def claims(self) -> Mapping[Slot, list[Claim]]:
        """The live claims of every slot that ever had one, in the order in which they came in."""
        return _Slots(self)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that hold, in the order in which they were said; O(number of rules)."""
        return in_force(self.stated_rules)

    @property
    def stated_rules(self) -> tuple[Rule, ...]:
        """The rules that were stated and those that lift others, in the order in which they were said."""
        return tuple(rule for stated in self._rules.values() for rule in stated)

    @property
    def has_rules(self) -> bool:
        """Whether any rule was stated; O(1)."""
        return bool(self._rules)

    def rules_of(self, turn_id: str) -> tuple[Rule, ...]:
        """Return the rules that a turn states; empty when it was withdrawn."""
        return self._rules.get(turn_id, ())

    def learn(self, claims: Iterable[Claim], changes: Sequence[Change], rules: Iterable[Rule] = ()) -> None:
        """Take over the claims and rules of a turn and the changes that they caused."""
        for rule in rules:
            self._rules[rule.turn_id] = (*self._rules.get(rule.turn_id, ()), rule)
            self._turns.add(rule.turn_id)
            self.kept.pop("rules", None)
        self._rename(changes)
        for said in claims:
            claim = replace(said, number=len(self._claims))
            number = self._claims.append(claim)
            self._live.append(joined(*self.slot(claim)), number)
            self._told_in(claim).append(claim.turn_id, number)
            self._turns.add(claim.turn_id)
            if claim.turn_id and not claim.accepted:
                self.identity.speakers.add(claim.speaker.casefold())
            self._note_names(claim)
        self._apply(changes)

    def _told_in(self, claim: Claim) -> Lists:
        """Return where a claim is kept by its turn."""
        return self._accepted if claim.accepted else self._by_turn

    def _note_names(self, claim: Claim) -> None:
        for term in (claim.subject, claim.object):
            if is_name(term):
                self.names.add(term.key, term.label)
            if is_name(term) or term is claim.subject:
                self.identity.see(term)
        for key in _keys(claim):
            self._by_name.append(key, _number(claim))

    def drop_turn(self, turn_id: str, changes: Sequence[Change]) -> None:
        """Give up the claims and rules of a withdrawn turn and take over what followed from it."""
        claims = self._said([*self._by_turn.get(turn_id), *self._accepted.get(turn_id)])
        for told in (self._by_turn, self._accepted):
            if turn_id in told:
                told.put(turn_id, ())
        self._give_up(("turn", turn_id), claims, self.rules_of(turn_id), changes)

    def drop_support(self, fact: Fact, changes: Sequence[Change]) -> None:
        """Give up the claims that support a retracted fact and take over what followed from it."""
        self._give_up(("fact", fact.fact_id), self.supporting(fact), (), changes)

    def drop_source(self, source: str, changes: Sequence[Change]) -> None:
        """Give up what a source said and what was said on its word, and take over what followed from it."""
        self._give_up(("source", source.casefold()), *self.said_by(source), changes)

    def drop_claims(self, claims: Iterable[Claim], changes: Sequence[Change]) -> None:
        """Give up the live claims that are equal to these, and take over what followed from it."""
        self._give_up(None, self.live(claims), (), changes)

    def given_up(self, key: GivenUp) -> tuple[list[Claim], list[Rule]]:
        """Return the claims and rules that were given up last with a turn, fact or source; none when it was not."""
        numbers, rules = self._aside[key][-1] if self._aside.get(key) else ([], [])
        return self._said(numbers), rules

    def bring_back(self, key: GivenUp, changes: Sequence[Change]) -> None:
        """Take up again what was given up last with a turn, fact or source, in its old place, and what followed."""
        numbers, rules = self._aside[key].pop() if self._aside.get(key) else ([], [])
        for rule in rules:
            self._rules[rule.turn_id] = (*self._rules.get(rule.turn_id, ()), rule)
            self.kept.pop("rules", None)
        self._rules = dict(sorted(self._rules.items(), key=lambda stated: self._turns.get(stated[0]) or 0))
        self._rename(changes)
        for claim in self._said(numbers):
            self._dropped.discard(_number(claim))
            _put_in(self._live, joined(*self.slot(claim)), claim)
            _put_in(self._told_in(claim), claim.turn_id, claim)
            for name in _keys(claim):
                _put_in(self._by_name, name, claim)
        self._apply(changes)

    def _give_up(
        self, key: GivenUp | None, claims: Iterable[Claim], rules: Iterable[Rule], changes: Sequence[Change]
    ) -> None:
        self._rename(changes)
        live = [claim for claim in claims if _number(claim) in self._live.get(joined(*self.slot(claim)))]
        lifted = {id(rule): rule for rule in rules}
        if key is not None:
            self._aside[key].append(([_number(claim) for claim in live], list(lifted.values())))
        else:
            for claim in live:  # it is gone for good
                if claim.accepted:
                    self._accepted.remove(claim.turn_id, _number(claim))
        for turn_id in dict.fromkeys(rule.turn_id for rule in lifted.values()):
            self._rules[turn_id] = tuple(rule for rule in self._rules[turn_id] if id(rule) not in lifted)
            self.kept.pop("rules", None)
        self._rules = {turn_id: stated for turn_id, stated in self._rules.items() if stated}
        self._drop(live)
        self._apply(changes)

    def _drop(self, claims: Iterable[Claim]) -> None:
        slots, names = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
        for claim in claims:
            self._dropped.add(number := _number(claim))
            slots[joined(*self.slot(claim))].add(number)
            for key in _keys(claim):
                names[key].add(number)
        for lists, gone in ((self._live, slots), (self._by_name, names)):
            for key, numbers in gone.items():
                lists.drop(key, numbers)

    def _rename(self, changes: Iterable[Change]) -> None:
        """Move claims to the slots where they belong after identities have changed."""
        facts = [change.fact for change in changes if is_identity(change.fact)]
        if facts:
            layout = self.layout(self.identity.renames(facts))
            self.identity.fold(facts)
            self.kept.pop("rules", None)
            for slot, claims in layout.items():
                self._live.put(joined(*slot), map(_number, claims))

    def layout(self, renames: Renames) -> dict[Slot, list[Claim]]:
        """Return the live claims of every slot that claims leave or enter once names are renamed."""
        told = self.identity.told
        moving: dict[int, Claim] = {}
        for key in renames:
            if self.key(key) != self.identity.canonical(Term(key, key), renames).key:
                moving |= {_number(claim): claim for claim in self.said_of(key) if not is_identity(claim)}
        layout: dict[Slot, list[Claim]] = {}
        for claim in moving.values():
            old, new = slot_of(told(claim)), slot_of(told(claim, renames))
            for slot in (old, new):
                if slot not in layout:
                    layout[slot] = [said for said in self.live_in(slot) if said.number not in moving]
            layout[new].append(claim)
        for claims in layout.values():
            claims.sort(key=lambda claim: self._turns.get(claim.turn_id) or 0)
        return layout

    def _apply(self, changes: Iterable[Change]) -> None:
        for change in changes:
            fact = change.fact
            if change.kind is ChangeKind.MOVE:
                for key in change.because:
                    self._forget(key)
            if change.kind is not ChangeKind.MOVE or fact.fact_id not in change.because:
                known = self.facts.get(fact.fact_id)
                if known is not None and change.kind is ChangeKind.SUPPORT:
                    fact = replace(fact, turn_ids=(*known.turn_ids, *fact.turn_ids))
                because = (self._last_because(known), change.because)
                self.facts[fact.fact_id] = fact
                row = self.facts.row(fact.fact_id) or 0
                if known is None:
                    for index in (self._predicates, self._values, self._index):
                        index.add(row, fact)
                premises = ((known.premises if known else ()), fact.premises)
                self.consequences.note(row, because=because, premises=premises)
            number = self.changes.append(change)
            self._changes_of.append(fact.fact_id, number)
            if change.turn_id is not None:
                self._changes_by.append(change.turn_id, number)

    def _last_because(self, fact: Fact | None) -> tuple[str, ...]:
        """Return what the last change of a fact names as its cause."""
        if fact is None:
            return ()
        changes = map(self.changes.__getitem__, reversed(self._changes_of.get(fact.fact_id)))
        noted = (one for one in changes if one.kind is not ChangeKind.MOVE or fact.fact_id not in one.because)
        last = next(noted, None)
        return () if last is None else last.because

    def _forget(self, fact_id: str) -> None:
        """Drop a fact that another took over; its changes stay in the history."""
        row = self.facts.row(fact_id)
        if row is None:
            return
        fact = self.facts.at(row)
        for index in (self._predicates, self._values, self._index):
            index.remove(row, fact)
        self.consequences.note(row, because=(self._last_because(fact), ()), premises=(fact.premises, ()))
        del self.facts[fact_id]

    def slot(self, claim: Claim | Fact) -> Slot:
        """Return the slot of a claim or fact by the entities that its names stand for."""
        if is_identity(claim):
            return slot_of(claim)
        if isinstance(claim, Claim):
            return slot_of(self.identity.told(claim))
        named = self.identity.canonical
        return slot_of(replace(claim, subject=named(claim.subject), object=named(claim.object)))

    def supporting(self, fact: Fact) -> list[Claim]:
        """Return the live claims that a fact rests on. O(claims of its slot)."""
        turns, value = {*fact.turn_ids, ""}, fact.object.key  # what was said by hand has no turn
        return [
            claim
            for claim in self.live_in(self.slot(fact))
            if claim.polarity == fact.polarity and claim.modality is fact.modality and claim.turn_id in turns
            and (claim.object.key == value or self.identity.told(claim).object.key == value)
        ]  # fmt: skip

    def live(self, claims: Iterable[Claim]) -> list[Claim]:
        """Return the live claims that are equal to these; of several that are, the one that came in last."""
        slots = ((claim, self.live_in(self.slot(claim))) for claim in claims)
        found = (max((one for one in slot if one == claim), key=self.place, default=None) for claim, slot in slots)
        return [one for one in found if one is not None]

    def said_in(self, turn_id: str) -> list[Claim]:
        """Return the live claims of a turn."""
        return self._said(self._by_turn.get(turn_id))

    def accepted_in(self, turn_id: str) -> list[Claim]:
        """Return the live claims by which a person accepted what a turn says."""
        return self._said(self._accepted.get(turn_id))

    def said_by(self, source: str) -> tuple[list[Claim], list[Rule]]:
        """Return the live claims of a speaker or on the word of a quoted source, and the speaker's rules. O(claims)."""
        name = source.casefold()
        live = (claim for slot in self.claims.values() for claim in slot)
        said = [claim for claim in live if name in (claim.speaker.casefold(), claim.source.casefold())]
        return sorted(said, key=self.place), [rule for rule in self.stated_rules if rule.speaker.casefold() == name]

    def place(self, claim: Claim) -> int:
        """Return when a claim came in, among all of them; one that is new comes last."""
        return len(self._claims) if claim.number is None else claim.number

    def place_of_turn(self, said: Claim | Rule) -> int:
        """Return when the turn of a claim or rule came in, among all that say anything; a new one comes last."""
        number = self._turns.get(said.turn_id)
        return len(self._turns) if number is None else number

    def said_of(self, key: str) -> Sequence[Claim]:
        """Return the live claims that use a key, in the order in which they came in; other names are not looked at.

        Cost O(log n); each is read when it is asked for, so that the latest of many cost no more than those of few.
        """
        return self._claims.chosen(self._by_name.get(key))

    def live_in(self, slot: Slot) -> list[Claim]:
        """Return the live claims of a slot, in the order in which they came in."""
        return self._said(self._live.get(joined(*slot)))

    def in_slot(self, slot: Slot) -> list[Fact]:
        """Return the facts of a slot, in the order in which they came to be."""
        return self._index.in_slot(slot)

    def _said(self, numbers: Iterable[int]) -> list[Claim]:
        return [self._claims[number] for number in numbers]

    def about(self, subject_key: str, relation: str | None = None, *, latest: int | None = None) -> list[Fact]:
        """Return every fact about an entity, or those of one relation, in the order in which they came to be.

        Args:
            subject_key: the key of any name of the entity.
            relation: the name of a relation.
            latest: at most so many, those that came to be last; others are not read.
        """
        return self._index.about(self.key(subject_key), relation, latest)

    def valued_at(self, object_key: str) -> list[Fact]:
        """Return every fact whose object is an entity, in the order in which they came to be; identities are not told.

        Args:
            object_key: the key of any name of the entity.
        """
        return self._index.valued_at(self.key(object_key))

    def of_relations(self, names: Iterable[str], stems: Collection[str] = ()) -> list[Fact]:
        """Return the facts of some relations, in the order in which they came to be; identities are not told.

        Args:
            names: of the relations.
            stems: only those whose object has one of them; empty for all.
        """
        return self._index.of_relations(names, stems)

    def naming(self, stems: Collection[str]) -> list[Fact]:
        """Return the facts that have one of some stems in the name of their subject, relation or object, in order.

        Cost O(facts found + relations).
        """
        return self._index.naming(stems)

    def subjects_with(self, stems: Iterable[str]) -> list[Term]:
        """Return those of whom anything is told and whose name has one of some stems, in the order in which they came.

        Cost O(subjects found).
        """
        return self._index.subjects(stems)

    def functional_slots(self, subject_key: str, relation: str) -> list[Slot]:
        """Return the slots in which a relation of an entity has one value at a time; [] where it may have many."""
        facts = self._index.about(subject_key, relation, None)
        return list(dict.fromkeys(map(slot_of, facts))) if facts and facts[0].functional else []

    def key(self, key: str) -> str:
        """Return the key under which the facts about an entity are kept, by that of any of its names."""
        return self.identity.canonical(Term(key, key)).key

    def possessions(self, owner_key: str) -> list[str]:
        """Return the keys of the subjects that are an owner's ("ana's rent" of "ana")."""
        return self._index.possessions(self.key(owner_key))

    def identities(self, key: str) -> list[Fact]:
        """Return the identity facts about the names of an entity, in the order in which they came to be."""
        return self._index.identities(self.identity.names(key))

    def latest_slots(self, turns: int | None) -> Iterable[list[Claim]]:
        """Return the live claims of the last turns that claim something, slot by slot; None for those of all turns."""
        if turns is None:
            return self.claims.values()
        slots: dict[Slot, list[Claim]] = defaultdict(list)
        for turn_id in reversed(list(islice(self._by_turn.latest(), turns))):
            for claim in self.said_in(turn_id):
                if claim.number not in self._dropped:
                    slots[self.slot(claim)].append(claim)
        return slots.values()

    def slots_of_turn(self, turn_id: str) -> list[Slot]:
        """Return the slots that a turn's claims touch, each once, in order."""
        return list(dict.fromkeys(self.slot(claim) for claim in self.said_in(turn_id)))

    def claims_of(self, turn_id: str) -> list[Claim]:
        """Return the live claims of a turn, slot by slot; empty when it made none, or was withdrawn."""
        said = (claim for slot in self.slots_of_turn(turn_id) for claim in self.live_in(slot))
        return [claim for claim in said if claim.turn_id == turn_id and not claim.accepted]

    def valued(self, kind: str, words: Collection[str]) -> list[Fact]:
        """Return facts with one value of a kind (`measures`) at a time, about what stems name; most alike first."""
        return [self.facts[key] for key in self._values.alike(kind, words)]

    def predicates(self, relations: frozenset[str] | None) -> PredicateIndex:
        """Return the index of the facts of some relations by what they say; None for all.

        It is kept up to date; the first use, and one that asks for more relations, costs O(facts).
        """
        if not self._predicates.covers(relations):
            self._predicates = PredicateIndex.of(self.facts, relations)
        return self._predicates

    def changes_of(self, key: str) -> list[Change]:
        """Return what happened to a fact and to those that it goes on from, oldest first; empty for an unknown id."""
        numbers = (number for fact_id in self.lineage([key]) for number in self._changes_of.get(fact_id))
        return [self.changes[number] for number in numbers]

    def lineage(self, keys: Iterable[str]) -> dict[str, None]:
        """Return the ids of facts and of those that they go on from under another name, the earliest first."""
        found: dict[str, None] = {}
        waiting = list(keys)
        while waiting:
            key = waiting.pop()
            if key not in found:
                found[key] = None
                known = (self.changes[number] for number in self._changes_of.get(key))
                moves = (change for change in known if change.kind is ChangeKind.MOVE)
                waiting += [earlier for change in moves for earlier in change.because]
        return dict.fromkeys(reversed(found))

    def changes_by(self, turn_id: str) -> list[Change]:
        """Return what a turn changed, in order; empty when it changed nothing."""
        return [self.changes[number] for number in self._changes_by.get(turn_id)]

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
            subject: key, label or another name of an entity, without regard to case.
            relation: name or label, without regard to case. Identities are told only when they are asked for.
        """
        meant = None if subject is None else self.key(subject.casefold())
        for fact in self.facts.values():
            if not (fact.subject.key == meant or _named(subject, fact.subject.key, fact.subject.label)):
                continue
            if relation is None and is_identity(fact):
                continue
            if not (_named(relation, fact.relation.name, fact.relation.label)):
                continue
            if as_of is not None and not held_on(fact, as_of):
                continue
            if as_of is None and current and not is_current(fact, now):
                continue
            yield fact

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of it but what `kept` holds."""
        for part in PARTS:
            getattr(self, part).save(writer, f"{name}.{part}")
        aside = [
            (key, [(numbers, [rule_to(rule) for rule in rules]) for numbers, rules in given])
            for key, given in self._aside.items()
            if given
        ]
        rules = [(turn_id, [rule_to(rule) for rule in rules]) for turn_id, rules in self._rules.items()]
        writer.value(f"{name}.rest", (sorted(self._dropped), aside, rules))

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of what is here."""
        for part in PARTS:
            getattr(self, part).load(pack, f"{name}.{part}")
        dropped, aside, rules = pack.value(f"{name}.rest")
        self._dropped = set(dropped)
        self._rules = {turn_id: tuple(map(rule_from, stated)) for turn_id, stated in rules}
        for (kind, what), given in aside:
            self._aside[kind, what] = [(numbers, list(map(rule_from, lifted))) for numbers, lifted in given]


TOLD = (
    *("facts", "changes", "identity", "names", "_claims", "_live", "_by_turn", "_accepted", "_by_name", "_index"),
    *("_changes_of", "_changes_by", "_turns"),
)
PARTS = (*TOLD, "consequences", "_predicates", "_values")
"""What is written and read one by one."""
COMPARED = (*TOLD, "policy", "_rules", "_aside")
"""What makes two of them equal: the rest is made from it."""


class _Slots(Mapping[Slot, list[Claim]]):
    """The live claims of every slot, as a mapping that is read in place."""

    def __init__(self, beliefs: Beliefs) -> None:
        self._beliefs = beliefs

    def __getitem__(self, slot: Slot) -> list[Claim]:
        return self._beliefs.live_in(slot)

    def __iter__(self) -> Iterator[Slot]:
        return (tuple(key.split(SEPARATOR)) for key in self._beliefs._live)

    def __len__(self) -> int:
        return len(self._beliefs._live)


def _number(claim: Claim) -> int:
    assert claim.number is not None, "a claim of the memory has a number"
    return claim.number


def _put_in(lists: Lists, key: str, claim: Claim) -> None:
    """Put a claim in its place among others, if it is not there."""
    if (number := _number(claim)) not in (known := lists.get(key)):
        lists.put(key, sorted([*known, number]))


def _named(wanted: str | None, *names: str) -> bool:
    return wanted is None or wanted.casefold() in {name.casefold() for name in names}


def is_name(term: Term) -> bool:
    """Tell whether a term is called by a name, not described ("Ana's sister") and not a plain word or amount."""
    return term.label[:1].isupper() and "'s " not in term.label


def _keys(claim: Claim) -> Iterator[str]:
    """Yield the keys that a claim uses, and those of the owners in them, each once."""
    keys: dict[str, None] = {}
    for key in (claim.subject.key, claim.object.key):
        keys[key] = None
        while owner := key.rpartition("'s ")[0]:
            keys[owner] = None
            key = owner
    yield from keys
