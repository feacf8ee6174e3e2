"""Births and deaths, names and prices: what one verb alone tells."""

from __future__ import annotations

from collections.abc import Iterator

from doxa.core.values import Modality
from doxa.memory import relation_type
from doxa.understand.descriptions import naming
from doxa.understand.scene import HOLE, MONEY, Proposition, Scene, from_then, say
from doxa.understand.states import entered

__all__ = ["called", "life", "price"]

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
