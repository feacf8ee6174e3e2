"""States of the reasoning tree: what was gathered, how, what it is worth, how far from the root.

The four-tuple of D-SMART (section "Reasoning Tree for Memory Traversal"): the subgraph is `facts`, the trajectory
`steps`, with `value` and `depth`. Beside them `log_probability`, the logarithm of the product of equation 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from doxa.core.plans import Plan
from doxa.core.values import Draft, Evidence, Fact, Interval, Question, Term, Turn
from doxa.reason.tree.actions import Action, is_terminal

__all__ = ["Key", "State", "Step", "Task"]

Key = tuple[frozenset[str], frozenset[str], str]
LEAST_PROBABILITY = 1e-6
"""A move that its policy gives nothing still has a logarithm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One question on its way through the tree. Roles read nothing of the memory but this and the states.

    It holds values only, so that a role may keep it while the memory changes.
    """

    text: str
    """What was asked, as it was said."""
    question: Question | None = None
    """How it was understood; None when it is no question."""
    asker: str = "user"
    agent: str = "assistant"
    today: date
    """The memory's today."""
    day: date | None = None
    """The day of the world that is asked about; None is today."""
    entities: tuple[Term, ...] = ()
    """The entities of the memory that the question names, the asker last."""
    facts: tuple[Fact, ...] = ()
    """What is believed and bears on the question, best first."""
    recent: tuple[Turn, ...] = ()
    """The turns just before the question, oldest first."""
    evidence: tuple[Evidence, ...] = ()
    """Turns that bear on the question, best first."""
    plans: tuple[Plan, ...] = ()
    """The ways to answer the question by others, the likeliest first; none for one that asks for one thing."""
    seed: int = 0
    background: tuple[str, ...] = ()
    """Sentences of general knowledge: material for a reply, never evidence."""
    profile: tuple[str, ...] = ()
    """What the asker is like, the same sentences all through a session."""
    history: tuple[Turn, ...] | None = None
    """The dialogue before the message, oldest first, from the same turn on as for the messages before it; None where
    `recent` is all there is."""
    tasks: str = ""
    """The tasks that bear on the message, in lines."""
    noted: tuple[str, ...] = ()
    """What the message itself changed in the memory."""
    own: tuple[str, ...] = ()
    """What the agent said before that bears on the message, and nobody else has spoken of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One move of a trajectory, and what came of it."""

    action: Action
    observation: str = ""
    """What the move showed, in words: a thought, the answer to a sub-question, a result with its working."""
    facts: tuple[Fact, ...] = ()
    """What it added to the subgraph."""
    turn_ids: tuple[str, ...] = ()
    """The turns that it rests on, beside those of its facts."""
    draft: Draft | None = None
    """The answer that it found: to a sub-question (RECALL), of a calculation (COMPUTE)."""
    when: Interval | None = None
    """The time that the answer to a sub-question tells of."""
    probability: float = 1.0
    """What the policy gave the move, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One node of the tree."""

    facts: tuple[Fact, ...] = ()
    """The subgraph: what was gathered on the way here, in the order in which it was found."""
    steps: tuple[Step, ...] = ()
    """The trajectory, first move first."""
    value: float = 1.0
    """How promising it is, 0 to 1; of an answer, how good it is."""
    log_probability: float = 0.0
    """Sum of the logarithms of its moves' probabilities (equation 3)."""
    draft: Draft | None = None
    """The answer, of a terminal state."""

    @property
    def depth(self) -> int:
        """How many moves it is away from the root."""
        return len(self.steps)

    @property
    def terminal(self) -> bool:
        """Whether it answers, or asks the user."""
        return bool(self.steps) and is_terminal(self.steps[-1].action)

    @property
    def turn_ids(self) -> tuple[str, ...]:
        """The turns that it rests on, each once, in order."""
        found = [key for step in self.steps for key in step.turn_ids]
        found += [key for fact in self.facts for key in fact.turn_ids]
        return tuple(dict.fromkeys(found))

    @property
    def key(self) -> Key:
        """What it knows, however it came to know it: states with one key are merged.

        Two ways to gather the same facts in another order are one state. Looking without finding anything changes
        nothing, so that such a state is its parent. What a sub-question was answered is known of that sub-question.
        """
        steps = [step for step in self.steps if step.observation and not is_terminal(step.action)]
        told = frozenset(f"{step.action}\n{step.observation}" if step.draft else step.observation for step in steps)
        end = ""
        if self.terminal:
            end = str(self.steps[-1].action) + (f"\n{self.draft.text}\n{self.draft.value}" if self.draft else "")
        return frozenset(fact.fact_id for fact in self.facts), told, end

    def after(self, step: Step, draft: Draft | None = None) -> State:
        """Return the state that a move leads to, not valued yet."""
        known = {fact.fact_id for fact in self.facts}
        new = tuple(fact for fact in step.facts if fact.fact_id not in known)
        return replace(
            self,
            facts=(*self.facts, *new),
            steps=(*self.steps, step),
            log_probability=self.log_probability + math.log(max(step.probability, LEAST_PROBABILITY)),
            draft=draft,
        )

    def observations(self) -> Sequence[str]:
        """Return what its moves showed, in order, those that showed nothing left out."""
        return [step.observation for step in self.steps if step.observation]
