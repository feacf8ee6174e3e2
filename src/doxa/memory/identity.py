"""Which names stand for one entity: the fold of the identity facts that are held.

An identity is a fact like any other, "Ana's sister is the same as Mia", with the turns that say it; so it is revised,
withdrawn, erased and asked about at an earlier time like any other. What the held ones join is an entity; its
*representative* is the key under which its facts meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from doxa.core.values import Claim, Fact, Modality, Relation, Status, Term
from doxa.memory.names import Name
from doxa.memory.paged import Form, Pack, PackWriter, Table

__all__ = ["SAME_AS", "Identity", "Renames", "is_identity", "pair_of"]

SAME_AS = Relation("same_as", "is the same as")
ABOUT_NAMES = frozenset(["is_called"])
"""Relations whose object is a name, not who bears it."""
OWNED = "'s "
Renames = Mapping[str, Term | None]
"""Key -> representative, for the names that a change touches; None for a name that stands for itself alone."""


def is_identity(told: Claim | Fact) -> bool:
    """Tell whether a claim or fact says that two names stand for one entity."""
    return told.relation.name == SAME_AS.name


def pair_of(one: Term, other: Term) -> tuple[Term, Term]:
    """Return two terms in the order in which an identity names them, so that a pair has one slot."""
    return (one, other) if one.key <= other.key else (other, one)


@dataclass(frozen=True, slots=True)
class Seen:
    """A name as it first came up: `order` is its place among all names, from 0."""

    order: int
    term: Term


SEEN: Form[Seen] = Form(
    lambda seen: [seen.order, seen.term.key, seen.term.label], lambda data: Seen(data[0], Term(data[1], data[2]))
)


@dataclass(slots=True)
class Identity:
    """Names joined by held identity facts. A lookup costs O(1); a change O(names of the entities that it touches)."""

    seen: Table[Seen] = field(default_factory=lambda: Table(SEEN))
    """The names that came up, by key, in order."""
    speakers: set[str] = field(default_factory=set)
    """Keys of those who speak; their own name stays that of their entity."""
    _joined: dict[str, dict[str, float]] = field(default_factory=dict)
    _apart: dict[str, set[str]] = field(default_factory=dict)
    _chosen: dict[str, Term] = field(default_factory=dict)
    _members: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def see(self, term: Term) -> None:
        """Note a term; the first label of a key is kept."""
        if term.key not in self.seen:
            self.seen[term.key] = Seen(len(self.seen), term)

    def save(self, writer: PackWriter, name: str) -> None:
        """Write it."""
        self.seen.save(writer, f"{name}.seen")
        joined = [(key, list(joined.items()), sorted(self._apart.get(key, ()))) for key, joined in self._joined.items()]
        chosen = [(key, [term.key, term.label], self._members[key]) for key, term in self._chosen.items()]
        writer.value(f"{name}.rest", (sorted(self.speakers), joined, chosen))

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of what is here."""
        self.seen.load(pack, f"{name}.seen")
        speakers, joined, chosen = pack.value(f"{name}.rest")
        self.speakers = set(speakers)
        self._joined = {key: dict(others) for key, others, _ in joined}
        self._apart = {key: set(others) for key, _, others in joined}
        self._chosen = {key: Term(*term) for key, term, _ in chosen}
        self._members = {key: tuple(members) for key, _, members in chosen}

    def canonical(self, term: Term, renames: Renames | None = None) -> Term:
        """Return the representative of a term; `renames` are looked at before what is folded.

        Whatever belongs to a name belongs to its entity: "Ana's sister's dog" is "Mia's dog" once the sister is Mia.
        """
        if not self._chosen and not renames:
            return term
        return self._canonical(term, renames or {})

    def _canonical(self, term: Term, renames: Renames) -> Term:
        known = self._representative(term.key, renames)
        if known is not None:
            return known
        owner, _, noun = term.key.rpartition(OWNED)
        if not owner:
            return term
        holder, _, noun_label = term.label.rpartition(OWNED)
        new = self._canonical(Term(owner, holder), renames)
        if new.key == owner:
            return term
        moved = Term(f"{new.key}{OWNED}{noun}", f"{new.label}{OWNED}{noun_label}")
        return self._representative(moved.key, renames) or moved

    def _representative(self, key: str, renames: Renames) -> Term | None:
        return renames[key] if key in renames else self._chosen.get(key)

    def told(self, claim: Claim, renames: Renames | None = None) -> Claim:
        """Return a claim about the entities that its names stand for; an identity stays about the names."""
        if (not self._chosen and not renames) or is_identity(claim):
            return claim
        subject, thing = self.canonical(claim.subject, renames), claim.object
        if claim.relation.name not in ABOUT_NAMES:
            thing = self.canonical(thing, renames)
        replaces = claim.replaces and self.canonical(Term(claim.replaces, claim.replaces), renames).key
        if subject == claim.subject and thing == claim.object and replaces == claim.replaces:
            return claim
        return replace(claim, subject=subject, object=thing, replaces=replaces)

    def names(self, key: str) -> tuple[str, ...]:
        """Return the keys that stand for the entity of a key, itself included, in the order in which they came up."""
        return self._members.get(key, (key,))

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The names of every entity that has more than one, by each of its keys."""
        return self._members

    def one(self, one: str, other: str) -> bool:
        """Tell whether two keys stand for one entity."""
        return one == other or other in self.names(one)

    def apart(self, one: str, other: str) -> bool:
        """Tell whether it is held that the entities of two keys are not one."""
        there = set(self.names(other))
        return any(there & self._apart.get(key, set()) for key in self.names(one))

    def renames(self, facts: Iterable[Fact]) -> dict[str, Term | None]:
        """Return the representatives after identity facts have changed, for the keys that this touches.

        Args:
            facts: identity facts as they are after the change; not folded yet.
        """
        groups = self._after(facts).groups()
        return {key: chosen if len(group) > 1 else None for group, chosen in groups for key in group}

    def fold(self, facts: Iterable[Fact]) -> None:
        """Take over identity facts as they are after a change."""
        after = self._after(facts)
        for term in after.terms.values():
            self.see(term)
        self._joined.update(after.joined)
        self._apart.update(after.apart)
        for group, chosen in after.groups():
            for key in group:
                self._chosen.pop(key, None)
                self._members.pop(key, None)
                if len(group) > 1:
                    self._chosen[key] = chosen
                    self._members[key] = tuple(sorted(group, key=lambda name: self.seen[name].order))

    def _after(self, facts: Iterable[Fact]) -> _Change:
        """Return what the names that facts are about are joined to and kept apart from after a change."""
        after = _Change(self)
        for fact in facts:
            for term, other in ((fact.subject, fact.object), (fact.object, fact.subject)):
                after.terms[term.key] = term
                joined = after.joined.setdefault(term.key, dict(self._joined.get(term.key, {})))
                apart = after.apart.setdefault(term.key, set(self._apart.get(term.key, ())))
                holds = fact.status is Status.HELD and not fact.disputed and fact.modality is Modality.ASSERTED
                if fact.polarity:
                    joined.pop(other.key, None)
                    if holds:
                        joined[other.key] = fact.confidence
                elif holds:
                    apart.add(other.key)
                else:
                    apart.discard(other.key)
        return after


@dataclass(slots=True)
class _Change:
    """An identity with some of its names joined or told apart otherwise; what it does not hold is as it was."""

    before: Identity
    joined: dict[str, dict[str, float]] = field(default_factory=dict)
    apart: dict[str, set[str]] = field(default_factory=dict)
    terms: dict[str, Term] = field(default_factory=dict)

    def groups(self) -> list[tuple[set[str], Term]]:
        """Return the entities near the change with their representatives.

        Names are joined by the surest facts first, and never across a held "is not the same as".
        """
        near = self._near()
        pairs = {
            (min(one, other), max(one, other), sure) for one in near for other, sure in self._joined_to(one).items()
        }
        group = {key: {key} for key in near}
        for one, other, _ in sorted(pairs, key=lambda pair: (-pair[2], self._order(pair[0]), self._order(pair[1]))):
            first, second = group[one], group[other]
            barred = any(second & self.apart.get(key, self.before._apart.get(key, set())) for key in first)
            if first is not second and not barred:
                first |= second
                group.update(dict.fromkeys(second, first))
        found = {id(keys): keys for keys in group.values()}.values()
        return [(keys, self._term(min(keys, key=self._rank))) for keys in found]

    def _near(self) -> dict[str, None]:
        """Return every name that is joined to one that the change is about, before it or after it."""
        found: dict[str, None] = {}
        waiting = [name for key in self.terms for name in self.before.names(key)]
        while waiting:
            key = waiting.pop()
            if key not in found:
                found[key] = None
                waiting += self._joined_to(key)
        return found

    def _joined_to(self, key: str) -> Mapping[str, float]:
        return self.joined.get(key, self.before._joined.get(key, {}))

    def _term(self, key: str) -> Term:
        seen = self.before.seen.get(key)
        return seen.term if seen is not None else self.terms[key]

    def _order(self, key: str) -> int:
        """Return when a name came up; names that are new with the change come last, in its order."""
        seen = self.before.seen.get(key)
        return seen.order if seen is not None else len(self.before.seen) + list(self.terms).index(key)

    def _rank(self, key: str) -> tuple[object, ...]:
        """Return what decides which name stands for an entity: a speaker's own, else a name, the fullest, the first."""
        name = Name.of(self._term(key).label)
        fullness = 0 if name.acronym else len(name.tokens) + bool(name.tokens and not name.short)
        return key not in self.before.speakers, OWNED in key, -fullness, self._order(key)
