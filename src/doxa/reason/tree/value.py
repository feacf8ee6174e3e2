"""How good a state is without a language model: how much of the question it covers, and how sure that is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from doxa.core.plans import HOLE
from doxa.core.values import Draft, Fact
from doxa.language import stems, stems_of
from doxa.reason.matching import wording
from doxa.reason.tree.actions import Ask, FindPath, Recall, Think
from doxa.reason.tree.progress import FindPlans, Fits, anything, progress_of
from doxa.reason.tree.state import State, Task

__all__ = ["CoverageValuer", "coverage"]

ABSTAINED, ASKED, STARTED, UNDER_WAY = 0.3, 0.5, 0.4, 0.5
"""Value of not knowing; of asking back, for a reason; of a look around; of a plan of which something is answered."""
LEAST = 0.5
"""Share of a value that does not hang on coverage: the same thing may be said in other words."""
LEFT_OUT = 0.2
"""What is left of coverage where a name of the question is spoken of nowhere."""
IGNORING = 0.25
"""What is left of the value of an answer that leaves a name out, or gives a link of the chain for its end."""
NAME = re.compile(r"\b(?!I\b)[A-Z][\w'’-]+")
ANYBODY = frozenset(
    stem
    for stem in stems("person man woman guy girl boy lady people one somebody someone thing place before after when")
)
"""Stems of what a question says of anybody, and of what joins its clauses."""


@dataclass(frozen=True, slots=True)
class CoverageValuer:
    """A `Valuer` that needs no model.

    An answer is worth its confidence times how much of the question it covers: the question's names and content words
    that stand in the facts and turns that it rests on, or in a sub-question that facts answered. An open state is worth
    the share of its plan that is answered; one that only looked around, what its facts cover.

    The paper asks a language model for relevance, progress and potential, or accuracy, completeness and clarity
    (appendix E, figures 12 and 13); coverage stands for the first of each, progress for the second.

    Deterministic; cost O(words of the facts of a state).
    """

    plans: FindPlans
    fits: Fits = anything

    def score(self, states: Sequence[State], task: Task) -> list[float | None]:
        """Return the value of each state."""
        values = [self._value(state, task) for state in states]
        links = {value for state in states for value in _first_links(state, task)}
        for number, state in enumerate(states):
            if len(state.steps) == 1 and state.draft is not None and state.draft.value in links:
                values[number] *= IGNORING
        return list(values)

    def _value(self, state: State, task: Task) -> float:
        if state.terminal:
            return self._of_answer(state, task)
        progress = progress_of(state, task, self.plans, self.fits)
        if progress.disputed is not None:
            return ASKED
        if progress.found:
            return _least(step.draft for step in progress.found)
        if any(isinstance(step.action, FindPath) for step in state.steps):
            return 1.0
        if progress.plan is not None:
            done, left = len(progress.links) + 1, len(progress.pending) + 1
            return UNDER_WAY + (1 - UNDER_WAY) * done / (done + left)
        return STARTED * coverage(state, task)

    def _of_answer(self, state: State, task: Task) -> float:
        draft = state.draft
        if draft is None:
            return 0.0
        if isinstance(state.steps[-1].action, Ask):
            return ASKED
        if draft.abstained:
            return ABSTAINED
        if any(isinstance(step.action, FindPath) for step in state.steps):
            return draft.confidence
        covered = coverage(state, task)
        if covered <= LEFT_OUT:
            return draft.confidence * IGNORING
        return draft.confidence * (LEAST + (1 - LEAST) * covered)


def coverage(state: State, task: Task) -> float:
    """Return the share of a question's content words that a state speaks of, 0 to 1; far less where a name is left out.

    Its facts speak, the turns that its answer quotes, and sub-questions that were answered: to know who owns Rex is to
    have covered "owns Rex", in whatever words the facts say it. The noun of the answer's kind and nouns that fit
    anybody ("the man who") are no content.
    """
    question = task.question
    if question is None:
        return 1.0
    wanted = {stem for term in question.terms for stem in stems(term)} - ANYBODY
    wanted -= {twice for word in question.noun.split() for stem in stems(word) for twice in stems(stem)}
    if not wanted:
        return 1.0
    spoken = {stem for fact in _cited(state) for stem in _words_of(fact)}
    for step in state.steps:
        if isinstance(step.action, Recall) and step.draft is not None and not step.draft.abstained:
            spoken.update(stems(step.action.query))
        if isinstance(step.action, Think):
            spoken.update(stems(step.observation))
    if state.draft is not None:
        spoken.update(stem for citation in state.draft.citations for stem in stems(citation.text))
    spoken.update(wording(task.asker))
    spoken |= {twice for stem in spoken for twice in stems(stem)}
    share = len(wanted & spoken) / len(wanted)
    left_out = [name for name in NAME.findall(task.text[1:]) if not set(stems(name)) <= spoken]
    return share * LEFT_OUT if left_out else share


def _first_links(state: State, task: Task) -> Iterator[str]:
    """Yield the answer to a first sub-question that is not what is asked, only the way to it."""
    if state.terminal or len(state.steps) != 1 or not isinstance(state.steps[0].action, Recall):
        return
    step, query = state.steps[0], state.steps[0].action.query
    link = any(plan.join == "thing" and query in plan.asks and plan.rest not in ("", HOLE) for plan in task.plans)
    if link and step.draft is not None and step.draft.value:
        yield step.draft.value


def _cited(state: State) -> list[Fact]:
    """Return the facts of a state that its answer rests on; all of an open one."""
    if state.draft is None:
        return list(state.facts)
    used = {citation.turn_id for citation in state.draft.citations}
    return [fact for fact in state.facts if used & set(fact.turn_ids)]


def _words_of(fact: Fact) -> set[str]:
    return stems_of(f"{fact.subject.label} {fact.relation.label} {fact.object.label}")


def _least(drafts: Iterable[Draft | None]) -> float:
    sure = [draft.confidence for draft in drafts if draft is not None]
    return min(sure, default=0.0)
