"""Births, deaths and ages, prices, gifts, and other things that one verb alone tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from doxa.core.values import Interval, Modality, Status
from doxa.language.times import MONTHS, number_of
from doxa.memory import attribute, relation_type
from doxa.understand.descriptions import naming
from doxa.understand.referents import NAME, PET, clean, kin_of, named, term
from doxa.understand.scene import (
    EMPTY_OBJECT,
    HOLE,
    MONEY,
    Proposition,
    Scene,
    from_then,
    is_animate,
    say,
    value_term,
)
from doxa.understand.states import entered

__all__ = [
    "PRICING",
    "boundary",
    "called",
    "life",
    "price",
    "departure",
    "relatives",
    "transfer",
    "turns",
]

PRICING = frozenset("raise increase lower reduce put cut bump".split())
AMOUNT = re.compile(r"^\d[\d.,]*(?: (?:a|per) \w+)?$")
BOUNDARIES = {
    "begin": "begins_on", "start": "begins_on", "end": "ends_on", "expire": "expire_on", "run+out": "run_out_on",
}  # fmt: skip
BACK = re.compile(r"\bback\b")
HANDING = frozenset("give hand donate lend pass give+away pass+on hand+down hand+on hand+over give+back return".split())


def life(scene: Scene) -> Iterator[Proposition]:
    """A birth or a death with its day; who has died is no longer alive."""
    point, clause = scene.point, scene.clause
    born = clause.verb == "bear"
    if clause.negated or clause.modality is not Modality.ASSERTED:
        return
    if scene.complement.at("on") == HOLE or point is not None:
        day = HOLE if point is None else str(point)
        yield say(scene, relation_type("born_on" if born else "died_on"), day, valid=point)
    if not born and HOLE not in clause.rest:
        yield from entered(scene)


def turns(scene: Scene) -> Iterator[Proposition]:
    """Yield the age that somebody turns, with the birthday that it tells."""
    if scene.clause.verb != "turn":
        return
    match = re.match(r"([\w-]+)(?: years? old)?$", scene.complement.direct)
    number = number_of(match[1]) if match else None
    modality, since = scene.modality(event=True), from_then(scene)
    if number is not None and number < 130:
        yield say(scene, relation_type("has_age"), str(number), valid=since, modality=modality)
        certain = modality in (Modality.ASSERTED, Modality.PLANNED)
        exact = scene.point is not None and scene.point.start == scene.point.end
        if certain and exact and since.start is not None and since.start_precision == "day":
            yield say(scene, attribute("birthday"), f"{since.start.day} {MONTHS[since.start.month - 1].title()}")


def boundary(scene: Scene) -> Iterator[Proposition]:
    """Yield the day on which something that is no person begins or ends: "the lease runs until 30 June"."""
    clause, point = scene.clause, scene.point
    kind = BOUNDARIES.get(clause.verb)
    until = next((span.valid for span in scene.times if span.kind == "until"), None)
    if clause.verb in ("run", "last", "go+on") and until is not None:
        kind, point = "ends_on", replace(until, start=until.end, start_precision=until.end_precision)
    hole = scene.complement.at("on") == HOLE
    if kind is None or is_animate(scene) or scene.complement.direct or not (hole or (point and point.start)):
        return
    day = HOLE if hole else Interval.format(point.start, point.start_precision) if point else ""
    told = replace(relation_type(kind), functional=True)
    yield say(scene, told, day, polarity=not clause.negated, modality=clause.modality)


def relatives(scene: Scene) -> Iterator[Proposition]:
    """Yield relatives and pets by name ("I have a sister called Mia"), and note a pet without a name."""
    if scene.clause.verb not in ("have", "get", "adopt", "buy", "take+in", "rescue", "bring+home"):
        return
    pet = re.match(r"(?:an?|another) (?:[\w-]+ ){0,2}?([\w-]+)$", scene.complement.direct)
    if pet and (pet[1] in PET or kin_of(pet[1])):
        scene.referents.mention(term(f"{scene.subject.label}'s {kin_of(pet[1]) or pet[1]}"))
    match = re.match(
        rf"(?:an?|two|three|four|one|another|\d) (?:[a-z]+ ){{0,2}}?([\w-]+?)s?(?: (?:called|named)|"
        rf",) ({NAME}(?:(?:, | and ){NAME})*)$",
        scene.complement.direct,
    )
    if match is None:
        return
    relation = kin_of(match[1]) or (match[1] if match[1] in PET else None)
    if relation:
        for name in re.split(r", | and ", match[2]):
            yield say(scene, attribute(relation), name)


def called(scene: Scene) -> Iterator[Proposition]:
    """Yield a name: "my landlord is called Herr Brandt", "we named the cat Kiki"."""
    clause = scene.clause
    if clause.verb in ("call", "name") and clause.passive and "'s " in scene.subject.label and scene.complement.direct:
        yield from naming(scene, scene.complement.direct, scene.subject)


def price(scene: Scene) -> Iterator[Proposition]:
    """Yield a new price: "my membership went up to 34 euros a month"."""
    value = scene.complement.at("to")
    polarity, modality = not scene.clause.negated, scene.modality()
    verb, passive = scene.clause.verb.partition("+")[0], scene.clause.passive
    risen = verb in ("go", "rise", "drop", "increase") or (verb in PRICING and passive)
    if risen and MONEY.search(value):
        yield say(scene, relation_type("costs"), value, valid=from_then(scene), modality=modality, polarity=polarity)


def departure(scene: Scene) -> Iterator[Proposition]:
    """Yield where somebody lived until a move: "we moved from Turku to Oulu two years ago"."""
    before, clause = scene.complement.at("from"), scene.clause
    moved = clause.verb in ("move", "relocate", "move+over") and clause.tense in ("past", "perfect")
    if moved and scene.referents.beliefs.about(scene.subject.key, "lives_in"):
        return  # what is known of his homes is closed by the new one
    if moved and is_animate(scene) and named(clean(before)) and scene.complement.at("to") and not clause.negated:
        since = from_then(scene)
        valid = Interval(end=since.start, end_precision=since.start_precision) if since.start else Interval()
        yield say(scene, relation_type("lives_in"), before, valid=valid, ended=True)


def transfer(scene: Scene) -> Iterator[Proposition]:
    """Yield who has what was handed over, and who has it no more: "I gave my old camera to Renske"."""
    clause, thing = scene.clause, scene.complement.direct
    who = next(
        (noun for prep, noun in scene.complement.phrases if prep in ("to", "on to", "") and named(clean(noun))), ""
    )
    if clause.verb not in HANDING or clause.passive or not (thing and who) or EMPTY_OBJECT.match(clean(thing)):
        return
    modality, valid, polarity = scene.modality(event=True), from_then(scene), not clause.negated
    given = say(scene, relation_type("has"), thing, modality=modality, valid=valid, polarity=polarity)
    yield replace(given, subject=value_term(scene, who))
    held = scene.referents.beliefs.about(scene.subject.key, "has")
    mine = re.match(r"(?:my|our|his|her|their)\b", thing) or any(
        fact.polarity and fact.status is Status.HELD and fact.object.key == clean(thing).casefold() for fact in held
    )
    if mine and modality is Modality.ASSERTED and polarity:
        until = Interval(end=valid.start, end_precision=valid.start_precision) if valid.start else Interval()
        yield say(scene, relation_type("has"), thing, valid=until, ended=True)
