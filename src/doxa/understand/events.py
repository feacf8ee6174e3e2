"""Births, deaths and ages, prices and purchases, and other things that one verb alone tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from doxa.core.values import Modality
from doxa.memory import attribute, relation_type
from doxa.understand.descriptions import OCCUPATION, naming
from doxa.understand.referents import NAME, PET, clean, kin_of, term
from doxa.understand.scene import HOLE, MONEY, Proposition, Scene, from_then, say, value_term
from doxa.understand.times import MONTHS, number_of

__all__ = ["called", "fondness", "life", "price", "purchase", "relatives", "turns"]

BABY = re.compile(r"(?:a|another) (?:baby )?(?:little )?(boy|girl|son|daughter)$")
OFTEN = re.compile(r"\b(?:every|again and again|forever|all day)\b.*")


def life(scene: Scene) -> Iterator[Proposition]:
    """A birth or a death with its day; who has died is no longer alive."""
    point, clause = scene.point, scene.clause
    born = clause.verb == "bear"
    if clause.negated or clause.modality is not Modality.ASSERTED:
        return
    if scene.complement.at("on") == HOLE or point is not None:
        day = HOLE if point is None else str(point) if point.start == point.end else str(from_then(scene))
        yield say(scene, relation_type("born_on" if born else "died_on"), day, valid=point)
    if not born and clause.tense in ("past", "perfect") and HOLE not in clause.rest:
        yield say(scene, relation_type("has_state"), "alive", polarity=False, valid=from_then(scene))


def turns(scene: Scene) -> Iterator[Proposition]:
    """Yield what somebody becomes: an age, with the birthday that it tells, or an occupation."""
    if scene.clause.verb not in ("turn", "become"):
        return
    direct = scene.complement.direct
    match = re.match(r"([\w-]+)(?: years? old)?$", direct)
    number = number_of(match[1]) if match else None
    modality, since = scene.modality(event=True), from_then(scene)
    if number is not None and number < 130:
        yield say(scene, relation_type("has_age"), str(number), valid=since, modality=modality)
        if modality is Modality.ASSERTED and since.start is not None and since.start_precision == "day":
            yield say(scene, attribute("birthday"), f"{since.start.day} {MONTHS[since.start.month - 1].title()}")
    elif scene.clause.verb == "become" and OCCUPATION.search(clean(direct)):
        yield say(scene, relation_type("works_as"), direct, valid=since, modality=modality)


def relatives(scene: Scene) -> Iterator[Proposition]:
    """Yield relatives and pets by name ("I have a sister called Mia"), and note a new baby for the next sentence."""
    if scene.clause.verb != "have":
        return
    baby = BABY.match(scene.complement.direct)
    if baby:
        child = "daughter" if baby[1] in ("girl", "daughter") else "son"
        newborn = term(f"{scene.subject.label}'s {child}")
        scene.referents.mention(newborn)
        scene.referents.gender[newborn.key] = "f" if child == "daughter" else "m"
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
    if scene.clause.verb in ("go", "go+up", "go+down", "rise", "drop") and MONEY.search(value):
        polarity, modality = not scene.clause.negated, scene.modality()
        yield say(scene, relation_type("costs"), value, valid=from_then(scene), modality=modality, polarity=polarity)


def purchase(scene: Scene) -> Iterator[Proposition]:
    """Yield what was paid for something: "I paid 40 euros for the lamp"."""
    paid, thing = scene.complement.direct, scene.complement.at("for")
    if scene.clause.verb == "pay" and MONEY.search(paid) and thing:
        yield replace(say(scene, relation_type("costs"), paid), subject=value_term(scene, thing))


def fondness(scene: Scene) -> Iterator[Proposition]:
    """Yield what somebody "could watch every month": he likes it."""
    if scene.clause.verb in ("watch", "eat", "drink") and OFTEN.search(scene.clause.rest):
        yield say(scene, relation_type("likes"), OFTEN.sub("", scene.complement.direct))
