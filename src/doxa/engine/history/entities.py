"""Beliefs -> the people and things that they are about; two names -> one entity, or two, by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Act, Change, Claim, Entity, Fact, Status, Term
from doxa.memory import SAME_AS, Beliefs, Identified, MemoryLog, UserState, is_identity, is_name, pair_of
from doxa.revise import revise
from doxa.understand import kind_of

__all__ = ["by_hand", "entities", "entity_of", "identifying", "joining"]

RECENT = 64
"""Claims of a name that tell what it is: the latest."""


def entities(beliefs: Beliefs) -> list[Entity]:
    """Return the people and things that believed facts are about, in the order in which they came up. O(facts)."""
    counts: dict[str, int] = {}
    labels: dict[str, str] = {}
    for fact in beliefs.facts.values():
        if fact.status is not Status.HELD or is_identity(fact):
            continue
        terms = (fact.subject, fact.object) if fact.object.key != fact.subject.key else (fact.subject,)
        for term in terms:
            if term is fact.subject or is_name(term) or len(beliefs.identity.names(term.key)) > 1:
                counts[term.key] = counts.get(term.key, 0) + 1
                labels.setdefault(term.key, term.label)
    return [entity_of(key, labels[key], count, beliefs) for key, count in counts.items()]


def entity_of(key: str, label: str, facts: int, beliefs: Beliefs) -> Entity:
    """Return the entity of a key, of which so many facts are believed. Cost: O(its names and their latest claims)."""
    names = beliefs.identity.names(key)
    said = [claim for name in names for claim in beliefs.said_of(name)[-RECENT:]]
    others = (beliefs.identity.seen[name].term.label for name in names if name in beliefs.identity.seen)
    aliases = {other.casefold(): other for other in others if other.casefold() != label.casefold()}
    return Entity(key=key, label=label, aliases=tuple(aliases.values()), kind=kind_of(said, names), facts=facts)


def by_hand(log: MemoryLog, user: str, names: tuple[str, str], *, same: bool, reason: str) -> list[Change]:
    """Join two names, or tell them apart, because a person says so; nothing happens when it is so already.

    Raises:
        NotFoundError: a name is not known.
        InputError: a name stands for several, or both names are one.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        event = identifying(state, user, names, reason, same=same)
        if event.changes:
            log.append(user, state, event)
        return list(event.changes)


def identifying(state: UserState, user: str, names: Sequence[str], reason: str, *, same: bool) -> Identified:
    """Return the event by which two names are joined or told apart; one without changes when it is so already.

    Raises:
        NotFoundError: a name is not known.
        InputError: they are not two names, or one stands for several.
    """
    if isinstance(names, str) or len(names) != 2:
        raise InputError(f"Expected two names, got {names!r}.")
    one, other = pair_of(*(_named(name, state.beliefs, user) for name in names))
    if one.key == other.key:
        raise InputError(f"Expected two names, got {names[0]!r} and {names[1]!r}: both are written {one.key!r}.")
    now = datetime.now(UTC)
    claim = Claim(
        subject=one, relation=SAME_AS, object=other, polarity=same, act=Act.CORRECT, speaker=user, known_at=now,
        span=reason or ("joined by hand" if same else "told apart by hand"),
    )  # fmt: skip
    changes = revise([claim], state.beliefs, turn_id=None, known_at=now)
    return Identified(known_at=now, reason=reason, claims=[claim], changes=changes)


def _named(name: object, beliefs: Beliefs, user: str) -> Term:
    """Return the term that a name or key means."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"Expected a name, got {name!r}.")
    known = (seen.term for seen in beliefs.identity.seen.values() if beliefs.said_of(seen.term.key))
    found = [term for term in known if name == term.key or name.casefold() == term.label.casefold()]
    exact = [term for term in found if term.key == name]
    meant = exact or found
    if not meant:
        raise NotFoundError(f"User {user!r} has nobody and nothing called {name!r}. `doxa entities` lists the names.")
    if len(meant) > 1:
        keys = ", ".join(repr(term.key) for term in meant)
        raise InputError(f"{name!r} stands for several; give one of these instead: {keys}.")
    return meant[0]


def joining(keys: Iterable[str], beliefs: Beliefs) -> tuple[Fact, ...]:
    """Return the held identities that make one entity of the names of each key."""
    found: dict[str, Fact] = {}
    for key in keys:
        names = set(beliefs.identity.names(key))
        for fact in beliefs.identities(key):
            if {fact.subject.key, fact.object.key} <= names and fact.status is Status.HELD and fact.polarity:
                found[fact.fact_id] = fact
    return tuple(found.values())
