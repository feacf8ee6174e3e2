"""What to try next without a language model: the plans of the question first, then the graph around its entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from doxa.core.plans import Plan
from doxa.core.values import Term
from doxa.reason.drafts import abstention
from doxa.reason.tree.actions import Action, Answer, Ask, Compute, ExpandEntity, FindPath, Recall
from doxa.reason.tree.progress import FindPlans, Fits, Progress, anything, progress_of
from doxa.reason.tree.roles import Proposal, Tools
from doxa.reason.tree.state import State, Task

__all__ = ["GraphPolicy"]

LIKELY, ALTERNATIVE, GUESS = 8.0, 4.0, 1.0
"""Weights of moves, before they are made to sum to 1: what a plan says next, another plan, a look around."""


@dataclass(frozen=True, slots=True)
class GraphPolicy:
    """A `Policy` that needs no model.

    - A question that asks through another ("the man my sister lives with") is taken apart (`understand.plans_of`),
      and its sub-questions are recalled one by one, each with the answers to those before it. Where it may be read in
      several ways, each reading is a branch, and one whose sub-question has no answer ends there.
    - A question of how two are tied: FIND PATH between them.
    - A comparison: recall both sides, then COMPUTE.
    - Else the entities of the question are expanded, the one with the fewest facts first: it says the most.
    - Where sources disagree on a sub-question: ASK which one is right.
    - At the root, to say that it is not known is a move too, so that no poor answer is given for want of another.

    Probabilities are the shares of the weights. Deterministic; cost O(plans) a state, and no call of anything.

    Source: the paper's policy is a language model throughout (prompt in appendix E); it has no sub-questions.
    """

    tools: Tools
    plans: FindPlans
    fits: Fits = anything

    def propose(self, states: Sequence[State], task: Task, width: int) -> list[list[Proposal]]:
        """Return up to `width` moves for each state."""
        return [self._moves(state, task, width) for state in states]

    def _moves(self, state: State, task: Task, width: int) -> list[Proposal]:
        weights: dict[Action, float] = {}
        done = {step.action for step in state.steps}
        for action, weight in self._weighed(state, task):
            if action not in done:
                weights[action] = max(weight, weights.get(action, 0.0))
        unknown = [] if state.steps else [Proposal(Answer(), GUESS, abstention())]
        best = sorted(weights.items(), key=lambda move: -move[1])[: max(width - len(unknown), 1)]
        found = [*(Proposal(action, weight) for action, weight in best), *unknown][:width]
        total = sum(proposal.probability for proposal in found)
        return [replace(proposal, probability=proposal.probability / total) for proposal in found]

    def _weighed(self, state: State, task: Task) -> Iterator[tuple[Action, float]]:
        progress = progress_of(state, task, self.plans, self.fits)
        if progress.disputed is not None:
            yield Ask(_which(progress)), LIKELY
            return
        if progress.found:
            compares = progress.plan is not None and progress.plan.kind == "compare"
            yield (Compute(task.text) if compares else Answer()), LIKELY
            yield Answer(), ALTERNATIVE
            return
        if progress.pending:
            for number, one in enumerate(progress.pending):
                yield one, LIKELY / (1 + number)
            return
        if any(isinstance(step.action, FindPath) for step in state.steps):
            yield Answer(), LIKELY
            return
        if progress.plan is not None:
            return  # its sub-question has no answer
        if any(isinstance(step.action, ExpandEntity) for step in state.steps):
            yield from self._look_around(state, task)  # the plans are tried elsewhere
            return
        for number, plan in enumerate(progress.choices):
            for action in self._begin(plan, task):
                yield action, LIKELY / (1 + number)
        yield from self._look_around(state, task)

    def _begin(self, plan: Plan, task: Task) -> Iterator[Action]:
        if plan.asks:
            yield Recall(plan.asks[0], task.day)
            return
        ends = [self._entity(name, task) for name in plan.names]
        if len(ends) == 2 and ends[0] is not None and ends[1] is not None:
            if plan.kind == "path":
                first, second = sorted((ends[0], ends[1]), key=lambda term: term.key)
                yield FindPath(first, second)
            else:
                yield from (ExpandEntity(end) for end in ends if end is not None)

    def _entity(self, name: str, task: Task) -> Term | None:
        return self.tools.entity(task.asker if name.casefold() in ("i", "me", "myself") else name)

    def _look_around(self, state: State, task: Task) -> Iterator[tuple[Action, float]]:
        """Expand what the question names, others before the asker; answer once something was seen."""
        for number, entity in enumerate(task.entities):
            yield ExpandEntity(entity, 2 if number == 0 else 1), GUESS / (1 + number)
        if state.facts:
            yield Answer(), GUESS


def _which(progress: Progress) -> str:
    """Return what to ask where sources disagree on a sub-question."""
    step = progress.disputed
    assert step is not None
    told = step.draft.text if step.draft is not None else step.observation
    return f"{told} Which of them is right?"
