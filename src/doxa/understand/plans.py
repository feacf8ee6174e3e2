"""Appointments, visits, and plans that move to another day or fall through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

from doxa.core.values import Fact, Interval, Modality, Status
from doxa.language import stems
from doxa.language.times import find_times
from doxa.memory import attribute, relation_type
from doxa.understand.referents import EVENT_NOUNS, term
from doxa.understand.scene import Proposition, Scene, is_animate, say, when_of

__all__ = ["CANCELLING", "MOVING", "appointment", "replanned", "visit"]

APPOINTMENT = re.compile(rf"^(?:an? )?((?:[\w-]+ ){{0,2}}(?:{EVENT_NOUNS}))$", re.IGNORECASE)
CANCELLING = frozenset(["cancel", "call+off", "drop"])
MOVING = frozenset(["move", "postpone", "reschedule", "push", "shift", "delay", "change"])


def appointment(scene: Scene) -> Iterator[Proposition]:
    """Yield an appointment ("I have a dentist appointment on ..."): a noun whose value is its day and time."""
    match = APPOINTMENT.match(scene.complement.direct)
    point = scene.point
    if match is None or point is None or scene.clause.verb not in ("have", "get", "book"):
        return
    if point.start_precision == "year":
        return
    ahead = point.start is not None and point.start >= scene.today
    modality = scene.clause.modality
    modality = Modality.PLANNED if modality is Modality.ASSERTED and ahead else modality
    polarity = not scene.clause.negated
    yield say(scene, attribute(match[1]), when_of(scene), modality=modality, valid=point, polarity=polarity)


def visit(scene: Scene) -> Iterator[Proposition]:
    """Yield a visit to the speaker: "Mia came on 3 May"."""
    speaker = scene.referents.speaker
    if scene.clause.verb not in ("come", "come+over", "come+round") or scene.subject == speaker or not scene.point:
        return
    if not is_animate(scene) or re.match(r"off|out|up|down", scene.clause.rest):
        return
    if not scene.complement.direct and not scene.complement.phrases:
        modality, polarity = scene.modality(event=True), not scene.clause.negated
        yield say(
            scene, relation_type("visits"), speaker.label, valid=scene.point, modality=modality, polarity=polarity
        )


def replanned(scene: Scene) -> Iterator[Proposition]:
    """Yield the plan that a clause moves or calls off, as it is from now on. Cost O(facts), only for such verbs."""
    clause = scene.clause
    if clause.verb not in CANCELLING | MOVING or clause.negated or clause.modality is not Modality.ASSERTED:
        return
    what = scene.subject.label if clause.passive else scene.complement.direct
    topic = set(stems(what)) - set(stems(scene.referents.speaker.label))
    plan = (
        _plan(scene, topic, any_plan=what.casefold() in ("it", "that", "this") and bool(scene.times)) if what else None
    )
    if plan is None:
        return
    kind = replace(relation_type(plan.relation.name, plan.relation.label), functional=plan.functional)
    told = Proposition(subject=plan.subject, kind=kind, object=plan.object, modality=plan.modality, valid=plan.valid)
    if clause.verb in CANCELLING:
        yield replace(told, polarity=False, valid=Interval())
        return
    day = _new_day(scene, plan.valid.start)
    if day is None and scene.clock and scene.complement.at("to") == "" and plan.valid.start is not None:
        day = plan.valid.start
    if day is not None:
        yield _moved(told, day, scene.clock)


def _plan(scene: Scene, topic: set[str], *, any_plan: bool) -> Fact | None:
    """Return the latest plan of which a clause speaks: by its words, by the day it names, or simply the latest."""
    days = {day for span in scene.times for day in (span.valid.start, span.valid.end) if day is not None}
    plans = [
        fact
        for fact in scene.referents.beliefs.facts.values()
        if fact.modality is Modality.PLANNED and fact.status is Status.HELD and fact.polarity
    ]
    worded = [fact for fact in plans if topic & set(stems(f"{fact.relation} {fact.object}"))]
    dated = [fact for fact in plans if fact.valid.start in days]
    return next(reversed(worded or dated or (plans if any_plan else [])), None)


def _new_day(scene: Scene, old: date | None) -> date | None:
    """Return the last day that a clause names, in the year nearest to the day that it replaces."""
    times = find_times(scene.clause.rest, scene.at, past=False)  # the new day lies ahead, although "they moved it"
    days = [day for span in times for day in (span.valid.start, span.valid.end) if day is not None]
    if not days or old is None:
        return days[-1] if days else None
    near = [days[-1] + timedelta(days=sign * 365) for sign in (-1, 0, 1) if 2 < days[-1].year < 9998]
    same_date = [day.replace(day=1, month=days[-1].month) + timedelta(days=days[-1].day - 1) for day in near]
    return min(same_date or days[-1:], key=lambda day: abs((day - old).days))


def _moved(told: Proposition, day: date, clock: str) -> Proposition:
    valid = Interval(start=day, end=day)
    if not re.search(r"\d", told.object.label):
        return replace(told, valid=valid)
    kept = re.search(r" at ([\d:.]+)$", told.object.label)
    clock = clock or (kept[1] if kept else "")
    return replace(told, object=term(f"{valid} at {clock}" if clock else str(valid)), valid=valid)
