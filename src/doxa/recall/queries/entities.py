"""Whom and what a query names, and by what other names they are known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from doxa.core.values import Status
from doxa.language import stems
from doxa.memory import KIN, PET, UserState, is_name, kin_of

__all__ = ["aliases", "entities_of"]

MOST = 6
"""Entities of one query that are looked at."""
NAMES_OF_ONE = 4
"""Other names of an entity that are searched for."""
CAPITAL = re.compile(r"(?<!\w)[^\W\d_a-z][\w'’-]*")
OWNED = re.compile(
    r"\b(?:(?P<mine>my|our)|(?P<owner>[^\W\d_a-z][\w-]*)['’]s?) (?:(?:older|younger|little|big|late|dear|best) )?"
    r"(?P<noun>[a-z][a-z-]+(?:-in-law)?)\b"
)
ALONE = re.compile(
    r"\b(?P<noun>mum|mom|mommy|dad|daddy|grandma|grandpa|granny|gran|nan|granddad|grandad)\b", re.IGNORECASE
)


def entities_of(text: str, state: UserState, *, asker: str = "") -> tuple[str, ...]:
    """Return the keys of the people and things that a text names or describes ("Ana", "my sister"), each once.

    Args:
        text: the query.
        state: who is known.
        asker: whose "my" it is.

    Cost O(words of the text + the facts that tie those it describes).
    """
    return tuple(dict.fromkeys(islice(_found(text, state, asker.casefold()), MOST)))


def aliases(keys: tuple[str, ...], text: str, state: UserState) -> dict[str, tuple[str, ...]]:
    """Return the stems of the other names of entities ("Rosa" for "mum"), by key; those that the text has are left out.

    Cost O(names of the entities).
    """
    said, found = set(stems(text)), dict[str, tuple[str, ...]]()
    for key in keys:
        names = state.beliefs.identity.names(key)[:NAMES_OF_ONE]
        labels = (name.rpartition("'s ")[2] for name in names)
        others = dict.fromkeys(stem for label in labels for stem in stems(label) if stem not in said)
        if others:
            found[key] = tuple(others)
    return found


def _found(text: str, state: UserState, asker: str) -> Iterator[str]:
    beliefs = state.beliefs
    for match in OWNED.finditer(text):
        owner = asker if match["mine"] else (match["owner"] or "").casefold()
        yield from _tied(owner, match["noun"], state)
    for match in ALONE.finditer(text):
        yield from _tied(asker, match["noun"], state)
    for match in CAPITAL.finditer(text):
        word = match[0].removesuffix("'s").removesuffix("’s").casefold()
        for key in beliefs.names.namesakes(word)[:2]:
            seen = beliefs.identity.seen.get(key)
            if seen is not None and is_name(seen.term):
                yield beliefs.key(key)


def _tied(owner: str, noun: str, state: UserState) -> Iterator[str]:
    """Yield those whom an owner calls by a noun for a relative, friend or pet, as far as they are known by name."""
    noun = noun.casefold()
    if not owner or not (noun in KIN or noun in PET or kin_of(noun)):
        return
    relation = (kin_of(noun) or noun).replace(" ", "_")
    for fact in state.beliefs.about(owner, relation)[-NAMES_OF_ONE:]:
        if fact.status is Status.HELD and fact.polarity:
            yield state.beliefs.key(fact.object.key)
