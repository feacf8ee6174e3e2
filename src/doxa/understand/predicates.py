"""What a clause with a full verb says: by the table of frames, else what some verbs mean by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doxa.core.values import Interval, Modality
from doxa.language.times import MONTHS
from doxa.memory import attribute, relation_type
from doxa.understand.events import life
from doxa.understand.frames import Frame
from doxa.understand.referents import clean, named
from doxa.understand.scene import (
    Proposition,
    Scene,
    from_then,
    is_animate,
    known_of,
    say,
    say_each,
)
from doxa.understand.states import entered

__all__ = ["framed", "plain"]

WEEKDAY = re.compile(rf"^\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|{'|'.join(MONTHS)})\b", re.IGNORECASE)
"""What an appointment moves to, not a person."""


def framed(scene: Scene, frame: Frame, value: str) -> Iterator[Proposition]:
    """Say what a row of the table makes of a clause."""
    kind = attribute("landlord") if frame.relation == "landlord" else relation_type(frame.relation)
    clause = scene.clause
    if frame.relation == "lives_in" and (WEEKDAY.search(value) or (not is_animate(scene) and clause.verb == "move")):
        return
    event = bool(frame.event)
    modality = scene.modality(event=event)
    if frame.modality:
        modality = Modality(frame.modality) if modality is Modality.ASSERTED else modality
    polarity = frame.polarity != clause.negated
    valid = scene.state()
    if frame.event == "point":
        valid = scene.point or Interval()
    elif event and valid.start is not None:
        valid = Interval(start=valid.start, start_precision=valid.start_precision)
    if frame.event == "stop" or clause.aspect == "stop":
        if clause.negated or modality is not Modality.ASSERTED:
            return
        polarity = not frame.polarity
    if event and clause.negated and modality is Modality.ASSERTED and frame.event != "point":
        return
    if (
        clause.tense == "past"
        and not event
        and clause.aspect == ""
        and frame.relation in ("lives_in", "works_at", "works_as")
    ):
        yield from say_each(scene, kind, value, polarity, modality, valid, ended=True)
        return
    if clause.aspect == "start" and valid.start is not None:
        valid = Interval(start=valid.start, start_precision=valid.start_precision)
    yield from say_each(scene, kind, value, polarity, modality, valid, ended=clause.ended and not clause.negated)
    if frame.also and not clause.negated:
        yield from say_each(scene, relation_type(frame.also), value, True, modality, scene.point or Interval())


def plain(scene: Scene) -> Iterator[Proposition]:
    """Yield what a birth, a death, a change of state or leaving somewhere means."""
    clause, complement = scene.clause, scene.complement
    if (clause.verb == "bear" and clause.passive) or clause.verb in ("die", "pass+away"):
        if is_animate(scene):
            yield from life(scene)
        return
    found = list(entered(scene))
    if found:
        yield from found
        return
    if clause.verb == "leave" and complement.direct and not clause.passive:
        yield from _left(scene)


def _left(scene: Scene) -> Iterator[Proposition]:
    """Leaving a place of work, a club or a town that is known or looks like one."""
    if scene.modality(event=True) is not Modality.ASSERTED or scene.clause.negated or scene.clause.tense == "present":
        return
    value = scene.complement.direct
    known = [
        pair for pair in known_of(scene, value) if pair[0].name in ("works_at", "lives_in", "member_of", "studies_at")
    ]
    for relation, held in known:
        yield say(scene, relation, held.label, polarity=False, valid=from_then(scene))
    if not known and (
        named(clean(value)) or re.search(r"compan|agency|firm|bank|shop|hospital|council|library|school$", value)
    ):
        yield say(scene, relation_type("works_at"), value, polarity=False, valid=from_then(scene))
