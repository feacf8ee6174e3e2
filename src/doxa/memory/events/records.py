"""The events that change nothing that is believed: feedback, promotions, the tasks, metadata, what is set aside."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from doxa.backends.store import Row
from doxa.core.feedback import Feedback
from doxa.core.promotions import Promotion, Support
from doxa.core.values import Turn
from doxa.memory.codec import feedback_from, feedback_to, promotion_from, promotion_to
from doxa.memory.events.base import Body, Event, TaskEvent, filled
from doxa.memory.promotions import LEAST_SUPPORT
from doxa.memory.state import UserState

__all__ = ["Annotated", "Demoted", "FeedbackGiven", "Promoted", "SetAside", "Tasked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackGiven(Event):
    """What some answers told of the search behind them, a micro-batch."""

    kind = "feedback"
    told: Sequence[Feedback]

    @property
    def is_empty(self) -> bool:
        return not self.told

    def apply(self, state: UserState) -> None:
        state.feedback.append(tuple(self.told))

    def without(self, turn_ids: Collection[str], facts: Collection[str]) -> Self:
        """Return it less what was asked by, or rests on, one of some turns; no facts but these are named by it."""

        def known(edges: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
            return tuple(edge for edge in edges if edge[0] in facts)

        left = (one for one in self.told if not any(key in turn_ids for key in (one.asked, *one.turn_ids)))
        return replace(self, told=[replace(one, edges=known(one.edges), misled=known(one.misled)) for one in left])

    def body(self) -> Body:
        return filled(feedback=[feedback_to(one) for one in self.told])

    @classmethod
    def from_row(cls, row: Row, turn: Turn | None = None, **others: Any) -> Self:
        told = [feedback_from(data, at=row.known_at) for data in row.body.get("feedback", ())]
        return cls(known_at=row.known_at, told=told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted(Event):
    """What several turns were lifted to, or that a demotion was taken back."""

    kind = "promoted"
    promotions: Sequence[Promotion] = ()
    enabled: str = ""
    """The promotion that is one again."""

    @property
    def is_empty(self) -> bool:
        return not self.promotions and not self.enabled

    def apply(self, state: UserState) -> None:
        for promotion in self.promotions:
            state.promotions.promote(promotion)
        if self.enabled:
            state.promotions.enable(self.enabled)

    def supported(self, state: UserState) -> Self:
        """Return what was promoted by the turns and facts that a state holds; less than the least support is none."""

        def left(promotion: Promotion) -> Iterator[Support]:
            for one in promotion.support:
                known = tuple(key for key in one.fact_ids if key in state.beliefs.facts)
                if state.turn(one.turn_id) is not None and bool(known) == bool(one.fact_ids):
                    yield replace(one, fact_ids=known)

        now = [replace(promotion, support=tuple(left(promotion))) for promotion in self.promotions]
        enabled = self.enabled if state.promotions.get(self.enabled) else ""
        return replace(self, promotions=[one for one in now if len(one.support) >= LEAST_SUPPORT], enabled=enabled)

    def body(self) -> Body:
        return filled(target=self.enabled, promotions=[promotion_to(promotion) for promotion in self.promotions])

    @classmethod
    def from_row(cls, row: Row, turn: Turn | None = None, **others: Any) -> Self:
        promotions = [promotion_from(data) for data in row.body.get("promotions", ())]
        return cls(known_at=row.known_at, promotions=promotions, enabled=row.body.get("target", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Demoted(Event):
    """A promotion was taken down."""

    kind = "demoted"
    kept = ("target", "reason", "automatic")
    target: str = ""
    """The promotion."""
    reason: str = ""
    automatic: bool = False
    """Nobody asked for it, the statements contradict each other by now."""

    @property
    def is_empty(self) -> bool:
        return not self.target

    def apply(self, state: UserState) -> None:
        state.promotions.demote(self.target, self.reason, automatic=self.automatic)

    def supported(self, state: UserState) -> Self:
        """Return it without its promotion where a state holds none."""
        return self if state.promotions.get(self.target) else replace(self, target="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasked(TaskEvent):
    """The tasks were changed by hand."""

    kind = "tasked"

    @property
    def is_empty(self) -> bool:
        return not self.tasks

    def apply(self, state: UserState) -> None:
        self._carry_out(state.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated(Event):
    """A turn has other metadata from then on."""

    kind = "annotated"
    kept = ("target", "metadata")
    target: str = ""
    """The id of the turn."""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, state: UserState) -> None:
        state.annotate(self.target, self.metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside(Event):
    """Something of a shared memory does not count for this user, or does again."""

    kind = "set_aside"
    kept = ("target", "reason", "taken_back")
    target: str = ""
    """The id of the fact or turn, with that of its memory (`core.shared`)."""
    reason: str = ""
    taken_back: bool = False

    def apply(self, state: UserState) -> None:
        if self.taken_back:
            state.aside.pop(self.target, None)
        else:
            state.aside[self.target] = self.known_at
