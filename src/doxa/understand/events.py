"""Births and deaths, and names: what one verb alone tells."""

from __future__ import annotations

from collections.abc import Iterator

from doxa.core.values import Modality
from doxa.memory import relation_type
from doxa.understand.descriptions import naming
from doxa.understand.scene import HOLE, Proposition, Scene, say
from doxa.understand.states import entered

__all__ = ["called", "life"]


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
