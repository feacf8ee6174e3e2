"""What a clause with a full verb says: by the table of frames, else under the name of a common verb."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doxa.core.values import Interval, Modality
from doxa.language.times import MONTHS
from doxa.language.verbs import gerund_of
from doxa.memory import attribute, relation_type, verb_type
from doxa.understand.events import life
from doxa.understand.frames import Frame
from doxa.understand.referents import clean, named
from doxa.understand.scene import (
    EMPTY_OBJECT,
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

SVO = frozenset(
    "start begin climb walk cook bake paint draw watch use visit collect knit sew hike cycle sing write read teach run "
    "coach tutor support follow recommend suggest meet see take wear ride build fix repair adopt pass fail book "
    "cancel break ask call help marry hire avoid attend host organise organize celebrate practise "
    "share borrow lend earn "
    "propose sponsor design develop maintain train raise grow win foster babysit publish record translate order "
    "receive miss bring give eat drink swap exchange renew complete finish injure sprain tear speak "
    "play feed groom chair serve volunteer close open tutor study learn".split()
)
INTRANSITIVE = frozenset(
    "climb swim ski run walk fence meditate sing dance paint cook bake cycle hike jog smoke travel surf "
    "knit garden drive row draw rehearse volunteer".split()
)
WEEKDAY = re.compile(rf"^\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|{'|'.join(MONTHS)})\b", re.IGNORECASE)
"""What an appointment moves to, not a person."""
POINT_VERBS = frozenset(
    "pass fail book break visit meet see buy sell win lose find give receive cancel attend finish complete bring take "
    "marry propose sprain injure adopt order call ask publish fix repair celebrate hire build climb".split()
)


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
    """A common verb with its object, under the verb's own name."""
    clause, complement = scene.clause, scene.complement
    if (clause.verb == "bear" and clause.passive) or clause.verb in ("die", "pass+away"):
        if is_animate(scene):
            yield from life(scene)
        return
    found = list(entered(scene))
    if found:
        yield from found
        return
    if clause.passive or "+" in clause.verb:
        if clause.verb in ("give+up", "stop"):
            yield from _given_up(scene)
        return
    if clause.verb in ("quit", "stop") and complement.direct:
        yield from _given_up(scene)
        return
    if clause.verb == "leave" and complement.direct:
        yield from _left(scene)
        return
    if clause.ability:
        return
    point = clause.tense in ("past", "perfect", "future") or clause.progressive
    valid = scene.state()
    if clause.verb in POINT_VERBS and point and scene.point is not None:
        valid = scene.point
    polarity = not clause.negated and clause.aspect != "stop"
    modality = scene.modality(event=clause.verb in POINT_VERBS)
    if complement.direct and clause.verb in SVO:
        yield from say_each(
            scene, verb_type(clause.verb), complement.direct, polarity, modality, valid, ended=clause.ended
        )
    elif _is_activity(scene):
        kind = relation_type("does")
        yield say(
            scene, kind, gerund_of(clause.verb), polarity=polarity, modality=modality, valid=valid, ended=clause.ended
        )


def _is_activity(scene: Scene) -> bool:
    """Tell whether a verb says what somebody does again and again ("I swim", "he smokes a pack a day")."""
    clause, complement = scene.clause, scene.complement
    alone = not complement.direct and not any("than" in preposition for preposition, _ in complement.phrases)
    habit = clause.verb in INTRANSITIVE and (alone or clause.verb == "smoke")
    return habit and is_animate(scene) and bool(clause.aspect or clause.ended or clause.tense == "present")


def _given_up(scene: Scene) -> Iterator[Proposition]:
    value = scene.complement.direct
    if (
        not value
        or scene.modality() is not Modality.ASSERTED
        or scene.clause.negated
        or EMPTY_OBJECT.match(clean(value))
    ):
        return
    yield say(scene, relation_type("does"), value, polarity=False, valid=scene.state())


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
