"""Relations that no ontology lists -> their place in one, for a graph that goes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from doxa.core.errors import BackendError
from doxa.core.ontology import Ontology, RelationType
from doxa.core.values import Fact, Relation
from doxa.engine.wiring.parts import Parts
from doxa.logic import merge
from doxa.memory import inventory, relation_type

__all__ = ["ontology_of"]


def ontology_of(facts: Iterable[Fact], parts: Parts) -> Ontology:
    """Return the ontology in use with every relation of some facts in it, new ones under the nearest group.

    How many values a new relation may have is not known, so it is not functional here. When the encoder fails new
    relations have no parent. Cost: one encoding for every new relation, once.
    """
    known = inventory()
    new = {fact.relation.name: fact.relation for fact in facts if fact.relation.name not in known.relations}
    return merge(known, Ontology(relations={name: _placed(new[name], parts) for name in new})) if new else known


def _placed(relation: Relation, parts: Parts) -> RelationType:
    kind = replace(relation_type(relation.name, relation.label), name=relation.name, label=relation.label)
    try:
        group = parts.mapper().group(relation.label)
    except BackendError:
        group = ""
    return replace(kind, functional=False, parents=(group,) if group else ())
