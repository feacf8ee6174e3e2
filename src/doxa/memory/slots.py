"""A proposition -> the question with one answer at a time that it answers, and the id of the fact that it becomes."""

from __future__ import annotations

import hashlib

from doxa.core.values import Claim, Fact, Modality
from doxa.memory.dimensions import dimension_of

__all__ = ["Slot", "fact_id", "slot_of"]

Slot = tuple[str, ...]
ID_VERSION = "f1"
"""Prefix of fact ids; it changes when the way they are made changes."""


def slot_of(claim: Claim | Fact) -> Slot:
    """Return the slot of a proposition; plans and wishes never share a slot with assertions.

    A functional relation that the ontology does not list has a slot for each kind of value (`dimension_of`).
    """
    mood = "" if claim.modality is Modality.ASSERTED else str(claim.modality)
    base = (mood, claim.subject.key, claim.relation.name)
    if not claim.functional:
        return (*base, claim.object.key)
    dimension = dimension_of(claim.relation, claim.object)
    return (*base, "", dimension) if dimension else base


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
