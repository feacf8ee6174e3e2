"""Revision without language: claims and rules go in, structured questions are answered from the facts that they make.

A `Ledger` is a memory for whoever has structure already, and for measuring revision apart from understanding: what it
is told passes through the same revision and the same answers as what is read out of sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TypeVar

from doxa.backends.store import Row
from doxa.core.ontology import RelationType
from doxa.core.values import Claim, Draft, Fact, Question, Rule, Turn
from doxa.engine.history.replay import beliefs_at
from doxa.memory import Beliefs, Maintained, attribute, relation_type
from doxa.reason import answer

__all__ = ["Ledger"]

Told = TypeVar("Told", Claim, Rule)
LAST = datetime.max.replace(tzinfo=UTC)


class Ledger:
    """What somebody was told in claims. In memory only; not safe between threads.

    `policy` says which of several beliefs that clash gives way, as the setting `revise.policy` does.
    """

    def __init__(self, *, policy: str = "recency") -> None:
        self._policy = policy
        self._rows: list[Row] = []
        self._turns: dict[str, Turn] = {}
        self._beliefs = Beliefs(policy=policy)

    @staticmethod
    def relation(name: str) -> RelationType:
        """Return the relation of a name: of the inventory, a verb (`pick_up`), or with blanks a noun ("shoe size")."""
        return attribute(name) if " " in name else relation_type(name)

    def tell(self, turn: Turn, claims: Sequence[Claim], rules: Sequence[Rule] = ()) -> None:
        """Revise what is believed by what a turn says. Turns are told in order.

        Args:
            turn: who says it and when; its text is never read.
            claims: what it says. Turn, speaker, role and time are those of the turn.
            rules: what it says in general or on a condition.

        Cost: everything that was told before is revised again.
        """
        event = Maintained(
            known_at=turn.at,
            about=turn,
            claims=[_said(claim, turn) for claim in claims],
            rules=[_said(rule, turn) for rule in rules],
        )
        place = len(self._rows) + 1
        self._turns[turn.turn_id] = turn
        self._rows.append(Row(kind=event.kind, known_at=turn.at, about=place, body=event.body(), ordinal=place))
        self._beliefs = beliefs_at(self._rows, LAST, self._policy)

    def ask(self, question: Question, *, as_of: date | None = None) -> Draft:
        """Return the answer that the facts give, or that of somebody who does not know.

        Args:
            question: what is asked; its words play no part.
            as_of: the day of the world that is asked about; by default that of the question, else the last turn's.
        """
        today = next((turn.at.date() for turn in reversed(self._turns.values())), None)
        day = as_of or question.as_of
        found = self._turns.get
        return answer(question, self._beliefs, (), found, asker="", day=day, today=today)

    def facts(self) -> list[Fact]:
        """Return every fact, in the order in which they came to be."""
        return list(self._beliefs.facts.values())


def _said(told: Told, turn: Turn) -> Told:
    return replace(told, turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role, known_at=turn.at)
