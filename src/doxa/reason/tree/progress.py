"""How far a state has come with the plans of its question: what is asked now, what comes next, what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from doxa.core.plans import HOLE, Plan
from doxa.core.values import Interval, Precision
from doxa.reason.tree.actions import Recall
from doxa.reason.tree.state import State, Step, Task

__all__ = ["FindPlans", "Fits", "Progress", "anything", "progress_of", "values_of"]

FindPlans = Callable[[str], Sequence[Plan]]
"""Question -> the ways to take it apart."""
Fits = Callable[[str, str], bool]
"""Noun of a description, name -> whether the one of that name may be meant ("the uncle who ...")."""
MOST_VALUES = 4
"""Answers to one sub-question that are followed, each on its own."""
MOST_LINKS = 6
"""Sub-questions of a chain."""
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a state stands."""

    plan: Plan | None = None
    """The plan that it follows last; None while it follows none."""
    pending: tuple[Recall, ...] = ()
    """What the plan asks next, all of it to be asked."""
    found: tuple[Step, ...] = ()
    """The steps that answer what is asked now, one for each part of it; empty until all are there."""
    links: tuple[Step, ...] = ()
    """The steps that led to what is asked now, first link first."""
    disputed: Step | None = None
    """The sub-question on which sources disagree; nothing goes on behind it."""
    choices: tuple[Plan, ...] = ()
    """Plans for what is asked now of which nothing was asked yet, the likeliest first."""


@dataclass(slots=True)
class _Walk:
    """The steps of a state, looked up by what they asked."""

    told: dict[Recall, Step]
    links: list[Step] = field(default_factory=list)


def anything(noun: str, name: str) -> bool:
    """Take everything for what a noun may mean."""
    return True


def progress_of(state: State, task: Task, plans: FindPlans, fits: Fits = anything) -> Progress:
    """Return where a state stands with the plans of its question. O(links x plans), beside what `plans` costs."""
    walk = _Walk({step.action: step for step in state.steps if isinstance(step.action, Recall)})
    asked = [Recall(task.text, task.day)]
    last: Plan | None = None
    for _ in range(MOST_LINKS):
        found = [walk.told[one] for one in asked if one in walk.told]
        if last is not None and len(found) == len(asked) and all(_answered(step) for step in found):
            return Progress(plan=last, found=tuple(found), links=tuple(walk.links))
        known = [plan for one in asked[:1] for plan in plans(one.query)] if len(asked) == 1 else []
        begun = next((plan for plan in known if _begun(plan, walk, asked[0].day)), None)
        if begun is None:
            pending = tuple(one for one in asked if one not in walk.told) if last is not None else ()
            return Progress(plan=last, pending=pending, links=tuple(walk.links), choices=tuple(known))
        if begun.kind != "chain":
            return _together(begun, walk, asked[0].day)
        step = walk.told[Recall(begun.asks[0], asked[0].day)]
        walk.links.append(step)
        if step.draft is not None and step.draft.disputed:
            return Progress(plan=begun, links=tuple(walk.links), disputed=step)
        if begun.rest == HOLE and _answered(step):
            return Progress(plan=begun, found=(walk.links.pop(),), links=tuple(walk.links))
        following = list(_filled(begun, step, asked[0].day, task, fits))
        if not _answered(step) or not following:
            return Progress(plan=begun, links=tuple(walk.links))
        asked, last = following, begun
    return Progress(plan=last, links=tuple(walk.links))


def _together(plan: Plan, walk: _Walk, day: date | None) -> Progress:
    """Return where a plan stands that asks for several things at once."""
    asks = [Recall(query, day) for query in plan.asks]
    found = [walk.told[one] for one in asks if one in walk.told]
    disputed = next((step for step in found if step.draft is not None and step.draft.disputed), None)
    if disputed is not None:
        return Progress(plan=plan, links=tuple(walk.links), disputed=disputed)
    pending = tuple(one for one in asks if one not in walk.told)
    if pending or not all(_answered(step) for step in found):
        return Progress(plan=plan, pending=pending if all(map(_answered, found)) else (), links=tuple(walk.links))
    return Progress(plan=plan, found=tuple(found), links=tuple(walk.links))


def _begun(plan: Plan, walk: _Walk, day: date | None) -> bool:
    return any(Recall(query, day) in walk.told for query in plan.asks)


def _answered(step: Step) -> bool:
    draft = step.draft
    return draft is not None and not draft.abstained and not draft.disputed and bool(draft.value)


def _filled(plan: Plan, step: Step, day: date | None, task: Task, fits: Fits) -> Iterable[Recall]:
    """Yield what a chain asks once its first question is answered: the rest, about each answer or each time."""
    if plan.join == "thing":
        named = values_of(step)[:MOST_VALUES]
        for value in (one for one in named if not plan.noun or fits(plan.noun, one)):
            yield Recall(plan.rest.replace(HOLE, _as_subject(value, task)), day)
        return
    for moment in _days(step.when, plan.join, task.today):
        yield Recall(plan.rest, moment)


def _as_subject(value: str, task: Task) -> str:
    return "I" if value.casefold() == task.asker.casefold() else value


def values_of(step: Step) -> list[str]:
    """Return the values of an answer, one by one where it names several facts."""
    draft = step.draft
    if draft is None or not draft.value:
        return []
    objects = {name.label.casefold() for fact in step.facts for name in (fact.subject, fact.object)}
    parts = [part.strip() for part in draft.value.split(", ")]
    several = len(parts) > 1 and all(part.casefold() in objects for part in parts)
    return parts if several else [draft.value]


def _days(when: Interval | None, join: str, today: date) -> list[date]:
    """Return the days that a time stands for: the last before it, the first after it, or its first and its last."""
    if when is None or when.start is None:
        return []
    start, end = when.start, when.end
    if join == "before":
        return [start - DAY] if start > date.min else []
    behind = _behind(start, when.start_precision)
    if join == "after":
        return [behind if end is None or end == start else end]
    if end == start or end is None:
        return [start]  # it happened then, or began then and goes on
    return list(dict.fromkeys([start, max(start, min(end - DAY, today))]))


def _behind(day: date, precision: Precision) -> date:
    """Return the first day behind a day, month or year; where the calendar ends, its last day."""
    following = {"year": (day.year + 1, 1), "month": (day.year + day.month // 12, day.month % 12 + 1)}
    if day.year == date.max.year:
        return date.max
    return date(*following[precision], 1) if precision in following else day + DAY
