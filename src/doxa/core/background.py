"""What common sense adds to a conversation: inferences, and sentences that support them. Never facts about anybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["RELATIONS", "Background", "Inference", "Relation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A way in which one event leads to another, or to what somebody is, feels or wants."""

    name: str
    statement: str
    """Puts the other end into words; `x` is who it is about, `{event}` what happens, `{tail}` what is inferred."""
    about: Literal["event", "person"]


RELATIONS = {
    relation.name: relation
    for relation in (
        Relation(name="Causes", statement="{event} causes {tail}", about="event"),
        Relation(name="xReason", statement="{event} because {tail}", about="event"),
        Relation(name="HinderedBy", statement="{event} can be hindered by {tail}", about="event"),
        Relation(name="IsBefore", statement="{event} happens before {tail}", about="event"),
        Relation(name="IsAfter", statement="{event} happens after {tail}", about="event"),
        Relation(name="xNeed", statement="but before, x needed {tail}", about="person"),
        Relation(name="xAttr", statement="x is seen as {tail}", about="person"),
        Relation(name="xEffect", statement="as a result, x will {tail}", about="person"),
        Relation(name="xReact", statement="as a result, x feels {tail}", about="person"),
        Relation(name="xWant", statement="as a result, x wants {tail}", about="person"),
        Relation(name="xIntent", statement="because x wanted {tail}", about="person"),
    )
}
"""The eleven relations with their statements. Source: Liu et al., MCTS-Driven Knowledge Retrieval, table I."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """What follows by common sense from what somebody said."""

    text: str
    """In words, about the people of the conversation: "as a result, Ann wants to save money"."""
    relation: str
    """A name in `RELATIONS`."""
    event: str
    """What it follows from: an event that is like what was said, or the words themselves."""
    tail: str
    score: float
    """How sure the reasoner is, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """A sentence of general knowledge that bears on a conversation. It says nothing about the user."""

    text: str
    inference: Inference | None = None
    """What it supports; None where it was searched for without one."""
    path: tuple[str, ...] = ()
    """The sentences that were walked through, the last one being this."""
    concepts: tuple[str, ...] = ()
    """The concept by which each sentence of the path was left."""
    score: float = 0.0
    """The critic's value of the path and, where an NLI model told, how apt the sentence is; mostly 0.3 to 1.5."""
