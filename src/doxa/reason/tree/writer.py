"""Answers from what a state has gathered, without a language model: nothing is said that is not cited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from dateutil import parser as dateparser

from doxa.core.plans import Plan
from doxa.core.values import Citation, Draft, Fact, Term
from doxa.reason.drafts import draft_of, sentence_of
from doxa.reason.kinds import NUMBER_WORDS
from doxa.reason.tree.actions import Compute, ExpandEntity, FindPath, Recall
from doxa.reason.tree.progress import FindPlans, Fits, Progress, anything, progress_of, values_of
from doxa.reason.tree.roles import Tools
from doxa.reason.tree.state import State, Step, Task

__all__ = ["ChainWriter"]

SURE = 0.95
"""Confidence of what follows from facts that are undisputed."""
LINK = 0.98
"""What every further fact of a path takes from it."""
FIRST_DAY = datetime(1, 1, 1, tzinfo=UTC)
"""Gives what a date leaves out: a year begins on 1 January."""
COUNTED = {word: number for number, word in enumerate(NUMBER_WORDS[:21])}
""""no" to "twenty"."""
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class ChainWriter:
    """A `Writer` that needs no model: it says the last link of a chain of facts, and cites all of them.

    A chain gives the answer to its last question; a comparison, the one with more; a path, its links in order; what is
    shared, the values that all sides have. Deterministic; cost O(facts of the state).
    """

    tools: Tools
    plans: FindPlans
    fits: Fits = anything

    def write(self, states: Sequence[State], task: Task) -> list[Draft | None]:
        """Return an answer from each state; None where its facts do not answer the question."""
        return [self._written(state, task) for state in states]

    def _written(self, state: State, task: Task) -> Draft | None:
        for step in reversed(state.steps):
            if isinstance(step.action, Compute) and step.draft is not None:
                return _citing(step.draft, [one for one in state.steps if one.draft is not None])
        path = next((step for step in state.steps if isinstance(step.action, FindPath)), None)
        if path is not None:
            return self._path(path, task)
        progress = progress_of(state, task, self.plans, self.fits)
        if progress.found and progress.plan is not None:
            return self._planned(progress.plan, progress)
        return self._common(state, progress, task)

    def _planned(self, plan: Plan, progress: Progress) -> Draft | None:
        match plan.kind:
            case "compare":
                return _compared(plan, progress)
            case "same":
                return _same(progress)
            case "shared":
                return _shared(progress)
            case _:
                return _chained(progress)

    def _path(self, step: Step, task: Task) -> Draft | None:
        """Tell how two entities hang together, by the best chain of facts between them."""
        assert isinstance(step.action, FindPath)
        found = self.tools.paths(step.action.source, step.action.target, step.action.k)
        if not found:
            return None
        asker = task.asker.casefold()
        first = next((plan.names[0] for plan in task.plans if plan.kind == "path"), "")
        start = self.tools.entity(task.asker if first.casefold() in ("i", "me") else first) if first else None
        chain = list(found[0])
        source = step.action.source
        if start is not None and start.key == step.action.target.key:
            chain, source = chain[::-1], step.action.target
        ties = _tied(chain, source, asker)
        text = " ".join(sentence_of(fact) for fact in chain)
        draft = draft_of(text, ties, chain, self.tools.turn)
        return replace(draft, confidence=draft.confidence * LINK ** (len(chain) - 1))

    def _common(self, state: State, progress: Progress, task: Task) -> Draft | None:
        """Tell what two entities that were expanded have in common: the same relation to the same thing."""
        plan = next((one for one in (progress.choices or task.plans) if one.kind == "shared" and not one.asks), None)
        seen = [step.action.entity.key for step in state.steps if isinstance(step.action, ExpandEntity)]
        if plan is None or len(seen) < 2:
            return None
        told = [fact for fact in state.facts if fact.polarity and fact.object.key]
        pairs: dict[tuple[str, str], dict[str, Fact]] = {}
        for fact in told:
            if fact.subject.key in seen:
                pairs.setdefault((fact.relation.name, fact.object.key), {})[fact.subject.key] = fact
        shared = [facts for facts in pairs.values() if len(facts) >= 2]
        if not shared:
            return None
        facts = [fact for both in shared for fact in both.values()]
        value = ", ".join(dict.fromkeys(str(next(iter(both.values())).object) for both in shared))
        return draft_of(" ".join(sentence_of(fact) for fact in facts), value, facts, self.tools.turn)


def _chained(progress: Progress) -> Draft:
    """Return the answer to the last question of a chain; several answers one after another, each once."""
    drafts = [step.draft for step in progress.found if step.draft is not None]
    value = ", ".join(dict.fromkeys(draft.value for draft in drafts if draft.value))
    text = " ".join(dict.fromkeys(draft.text for draft in drafts))
    sure = min(draft.confidence for draft in drafts)
    draft = Draft(text=text, value=value, citations=_cited([*progress.found]), confidence=sure)
    return _because(draft, progress.links)


def _because(draft: Draft, links: Sequence[Step]) -> Draft:
    """Add the links that led to an answer, in words and as citations."""
    told = [step.draft.text for step in links if step.draft is not None and step.draft.text not in draft.text]
    sure = min([draft.confidence, *(step.draft.confidence for step in links if step.draft is not None)])
    return replace(
        draft, text=" ".join([draft.text, *told]), citations=_merged(draft.citations, _cited(links)), confidence=sure
    )


def _compared(plan: Plan, progress: Progress) -> Draft | None:
    """Return the one of two with more, or less, of what was asked; None where it cannot be told."""
    amounts = [amount for step in progress.found if (amount := _amount(step)) is not None]
    if len(amounts) != 2 or amounts[0][0] != amounts[1][0]:
        return None
    (_, first), (_, second) = amounts
    told = " ".join(step.draft.text for step in progress.found if step.draft is not None)
    sure = min(step.draft.confidence for step in progress.found if step.draft is not None)
    cited = _cited(progress.found)
    if first == second:
        value, opening = ("no", "No, it is the same. ") if plan.tests else ("the same", "It is the same. ")
        return Draft(text=f"{opening}{told}", value=value, citations=cited, confidence=sure)
    more = (first > second) == (plan.sign > 0)
    if plan.tests:
        value = "yes" if more else "no"
        return Draft(text=f"{value.capitalize()}. {told}", value=value, citations=cited, confidence=sure)
    value = plan.names[0 if more else 1]
    return Draft(text=f"{value[:1].upper()}{value[1:]}. {told}", value=value, citations=cited, confidence=sure)


def _amount(step: Step) -> tuple[Literal["day", "number"], float] | None:
    """Return the time (as an ordinal) or the number that answers a sub-question; None where it gives neither."""
    if step.draft is None or not step.draft.value:
        return None
    asked = step.action.query.casefold() if isinstance(step.action, Recall) else ""
    value = step.draft.value.strip()
    if asked.startswith("when"):
        if step.when is not None and step.when.start is not None:
            return "day", step.when.start.toordinal()
        try:
            return "day", dateparser.parse(value, default=FIRST_DAY).date().toordinal()
        except (ValueError, OverflowError):
            return None
    number = NUMBER.search(value)
    if number:
        return "number", float(number[0].replace(",", ""))
    return next(
        (("number", float(n)) for word in value.split() if (n := COUNTED.get(word.casefold())) is not None), None
    )


def _same(progress: Progress) -> Draft | None:
    """Return whether two sub-questions have the same answer."""
    sides = [{value.casefold() for value in values_of(step)} for step in progress.found]
    told = " ".join(dict.fromkeys(step.draft.text for step in progress.found if step.draft is not None))
    sure = min(step.draft.confidence for step in progress.found if step.draft is not None)
    value = "yes" if set.intersection(*sides) else "no"
    return Draft(text=f"{value.capitalize()}. {told}", value=value, citations=_cited(progress.found), confidence=sure)


def _shared(progress: Progress) -> Draft | None:
    """Return what all sub-questions have among their answers; None where that is nothing."""
    sides = [values_of(step) for step in progress.found]
    keys = [{value.casefold() for value in side} for side in sides]
    common = [value for value in sides[0] if all(value.casefold() in side for side in keys)]
    if not common:
        return None
    told = " ".join(dict.fromkeys(step.draft.text for step in progress.found if step.draft is not None))
    sure = min(step.draft.confidence for step in progress.found if step.draft is not None)
    return Draft(text=told, value=", ".join(common), citations=_cited(progress.found), confidence=sure)


def _tied(chain: Sequence[Fact], source: Term, asker: str) -> str:
    """Return a chain of facts as ties, from one end to the other ("Ana - boss - Ruth - sister - Mia")."""
    here, words = source, [source.label]
    for fact in chain:
        forward = fact.subject.key == here.key
        there = fact.object if forward or fact.object.key != here.key else fact.subject
        words += [fact.relation.label, there.label]
        here = there
    return " - ".join(words)


def _cited(steps: Sequence[Step]) -> tuple[Citation, ...]:
    return _merged(*(step.draft.citations for step in steps if step.draft is not None))


def _merged(*groups: Sequence[Citation]) -> tuple[Citation, ...]:
    return tuple({citation.turn_id: citation for group in reversed(groups) for citation in reversed(group)}.values())[
        ::-1
    ]


def _citing(draft: Draft, steps: Sequence[Step]) -> Draft:
    """Return an answer with what the steps before it rest on cited as well."""
    return replace(draft, citations=_merged(draft.citations, _cited(steps)))
