"""The values of the benchmark: turns that know what they are there for, and questions that know their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

__all__ = ["Part", "PreferenceDialogue", "PreferenceQuery", "PreferenceTurn"]

Part = Literal["evidence", "stale", "near", "bridge", "reply", "lead", "talk"]
"""What a turn is there for.

`evidence`: the user states a preference that holds. `stale`: one that was given up or reversed later. `near`: on the
subject of the dialogue, and no lasting preference of the user: other people's tastes, plain mentions, questions,
suggestions. `bridge`: says what another name stands for. `reply`: the assistant takes note. `lead`: what an elliptical
question follows on. `talk`: unrelated.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceTurn:
    """One turn of a dialogue."""

    turn_id: str
    session: str
    at: datetime
    role: str
    """`user` or `assistant`."""
    speaker: str
    text: str
    part: Part
    concept: str = ""
    """`workload.name` of the concept that it is about, if any."""
    thing: str = ""
    """What it names of that concept, if anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceQuery:
    """A question and the turns that should be found for it."""

    query_id: str
    text: str
    after: int
    """How many turns of the dialogue have been said when it is asked."""
    session: str
    """In which session it is asked."""
    at: datetime
    gold: frozenset[str]
    """Ids of the turns that state what holds and is sought."""
    stale: frozenset[str]
    """Ids of turns that state what no longer holds of the same concepts."""
    concepts: frozenset[str]
    """`workload.name` of the concepts that the gold turns state."""
    kind: str
    """`recommendation`, `preference`, `follow-up`; `explicit` is the one kind that shares words with its evidence."""
    subsets: frozenset[str]
    """Of alias, ellipsis, temporal-gap, cross-domain, cold-start, revised, recurring, once."""
    lead: str = ""
    """The turn right before, which an elliptical question needs; it is among the turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceDialogue:
    """What one user said over weeks, and what is asked along the way and in the end."""

    user: str
    workload: str
    split: str
    speaker: str
    turns: tuple[PreferenceTurn, ...]
    queries: tuple[PreferenceQuery, ...]
