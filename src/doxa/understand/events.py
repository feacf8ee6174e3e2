"""Births and deaths, names and prices: what one verb alone tells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doxa.core.values import Modality
from doxa.memory import attribute, relation_type
from doxa.understand.descriptions import naming
from doxa.understand.referents import NAME, PET, kin_of, term
from doxa.understand.scene import HOLE, MONEY, Proposition, Scene, from_then, say
from doxa.understand.states import entered

__all__ = ["called", "life", "price", "relatives"]

PRICING = frozenset("raise increase lower reduce put cut bump".split())


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
