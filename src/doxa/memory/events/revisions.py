"""The events that change what is believed: a turn that was understood, and what a person did by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from doxa.backends.store import Row
from doxa.core.values import Claim, Rule, Turn
from doxa.memory.beliefs import Beliefs, GivenUp
from doxa.memory.events.base import Body, Revision, filled
from doxa.memory.state import Note, UserState

__all__ = ["Accepted", "Distrusted", "Identified", "Maintained", "Retracted", "Undone", "Withdrawal", "Withdrawn"]

BY_CLAIMS = ("identified", "accepted")
"""The kinds of events in which a person says something: it is taken back by what is said, others by their target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintained(Revision):
    """What a turn says, what that changes, and how it was understood."""

    kind = "maintained"
    kept = ("claims", "rules", "changes", "degraded", "extraction", "denials", "task_reading")
    about: Turn | None = None
    claims: Sequence[Claim] = ()
    rules: Sequence[Rule] = ()
    denials: int = 0
    """How many of the claims, the last ones, a model's judgement added: they deny what the others clash with."""
    extraction: Mapping[str, Any] = field(default_factory=dict)
    """What a language model read out of the turn, as data; a replay reads it from here and asks no model."""
    note: Note = field(default_factory=Note)
    degraded: str = ""
    task_reading: Mapping[str, Any] = field(default_factory=dict)
    """What a language model said that the turn does to the tasks, as data; nothing that is folded hangs on it."""

    def apply(self, state: UserState, vector: NDArray[np.float32] | None = None) -> None:
        if self.about is not None:
            claims, changes, rules = list(self.claims), list(self.changes), list(self.rules)
            state.maintain(self.about, claims, changes, vector, rules=rules, note=self.note)
            if self.degraded:
                state.degraded[self.about.turn_id] = self.degraded
            self._count(state)
        self._carry_out(state.tasks)

    def _count(self, state: UserState) -> None:
        """Count what models cost that read the turn."""
        note, tasks = self.note, self.task_reading.get("cost")
        if note.by:
            state.spend("read", note.prompt_tokens, note.completion_tokens)
        if note.judged_by:
            state.spend("judge", note.judge_prompt_tokens, note.judge_completion_tokens)
        if tasks:
            state.spend("tasks", *tasks[1:])

    def believe(self, beliefs: Beliefs) -> None:
        beliefs.learn(self.claims, self.changes, self.rules)

    def body(self) -> Body:
        note, kept = self.note, Revision.body(self)
        return filled(
            **{name: kept.get(name) for name in ("claims", "rules", "changes", "degraded")},
            intents=list(note.intents),
            by=note.by,
            tokens=[note.prompt_tokens, note.completion_tokens] if note.by else [],
            dropped=list(note.dropped),
            **{name: kept.get(name) for name in ("extraction", "denials", "tasks", "task_reading")},
            route=note.route,
            judged_by=note.judged_by,
            judge_tokens=[note.judge_prompt_tokens, note.judge_completion_tokens] if note.judged_by else [],
            taught=note.taught,
        )

    @classmethod
    def from_row(cls, row: Row, turn: Turn | None = None, **others: Any) -> Self:
        return super(Maintained, cls).from_row(row, about=turn, note=_note_from(row.body), **others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal(Revision):
    """Something that a person no longer trusts: a turn, a source, or a fact."""

    kept = ("changes", "target", "reason")
    target: str = ""
    """The id of the turn or of the fact, or the name of the source."""
    reason: str = ""

    @property
    def given_up(self) -> GivenUp:
        """What it gives up."""
        return _given_up(self.kind, self.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn(Withdrawal):
    """A turn was withdrawn."""

    kind = "withdrawn"

    def believe(self, beliefs: Beliefs) -> None:
        beliefs.drop_turn(self.target, self.changes)

    def _trust(self, state: UserState) -> None:
        state.withdraw([self.target], self.known_at, by=self.given_up)


@dataclass(frozen=True, slots=True, kw_only=True)
class Distrusted(Withdrawal):
    """A source is no longer trusted."""

    kind = "distrusted"

    def believe(self, beliefs: Beliefs) -> None:
        beliefs.drop_source(self.target, self.changes)

    def _trust(self, state: UserState) -> None:
        state.withdraw(state.turns_of(self.target), self.known_at, by=self.given_up)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted(Withdrawal):
    """A fact was retracted."""

    kind = "retracted"

    @property
    def is_empty(self) -> bool:
        return not self.target

    def believe(self, beliefs: Beliefs) -> None:
        beliefs.drop_support(beliefs.facts[self.target], self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified(Revision):
    """Two names were joined or told apart."""

    kind = "identified"
    kept = ("claims", "changes", "reason")
    claims: Sequence[Claim] = ()
    reason: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.claims

    def believe(self, beliefs: Beliefs) -> None:
        beliefs.learn(self.claims, self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted(Revision):
    """A person said by hand that what a turn says is so, or that several values that are disputed all are."""

    kind = "accepted"
    kept = ("claims", "changes", "beside")
    claims: Sequence[Claim] = ()
    """What is accepted, in the words of the turns that say it; a claim itself tells by what reason (`accepted`)."""
    beside: bool = False
    """Whether all of it holds beside each other."""

    @property
    def is_empty(self) -> bool:
        return not self.claims

    def believe(self, beliefs: Beliefs) -> None:
        beliefs.learn(self.claims, self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone(Revision):
    """The last revision that was not taken back before was taken back."""

    kind = "undone"
    kept = ("claims", "changes", "target", "undoes", "reason")
    undoes: str = ""
    """The kind of that revision."""
    target: str = ""
    """The turn, source or fact that it was about."""
    claims: Sequence[Claim] = ()
    """What it said of two names, or accepted."""
    reason: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.claims if self.undoes in BY_CLAIMS else self.target)

    @property
    def given_up(self) -> GivenUp:
        """What is taken up again; of a turn that is undone, what is given up."""
        return _given_up(self.undoes, self.target)

    def believe(self, beliefs: Beliefs) -> None:
        match self.undoes:
            case "maintained":
                beliefs.drop_turn(self.target, self.changes)
            case kind if kind in BY_CLAIMS:
                beliefs.drop_claims(self.claims, self.changes)
            case _:
                beliefs.bring_back(self.given_up, self.changes)

    def _trust(self, state: UserState) -> None:
        if self.undoes == "maintained":
            state.withdraw([self.target], self.known_at, by=self.given_up)
        elif self.undoes not in BY_CLAIMS:
            state.trust(self.given_up)


def _given_up(kind: str, target: str) -> GivenUp:
    """Return what an event of a kind gives up."""
    match kind:
        case "distrusted":
            return "source", target.casefold()
        case "retracted":
            return "fact", target
        case _:
            return "turn", target


def _note_from(body: Mapping[str, Any]) -> Note:
    """Return how a turn was understood; rows of earlier versions do not say."""
    prompt, completion = body.get("tokens") or (0, 0)
    judge_prompt, judge_completion = body.get("judge_tokens") or (0, 0)
    return Note(
        intents=tuple(body.get("intents", ())),
        by=body.get("by", ""),
        prompt_tokens=prompt,
        completion_tokens=completion,
        dropped=tuple(body.get("dropped", ())),
        route=body.get("route", ""),
        judged_by=body.get("judged_by", ""),
        judge_prompt_tokens=judge_prompt,
        judge_completion_tokens=judge_completion,
        taught=body.get("taught", 0),
    )
