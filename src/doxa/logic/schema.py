"""Pydantic classes -> an ontology: a class for each, a relation for each field.

A field with one value (`home: Place`) is functional, a collection (`pets: list[Animal]`) is not; what the types cannot
say comes in `Field(json_schema_extra={...})`.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from doxa.core.errors import InputError
from doxa.core.ontology import ClassType, Nature, Ontology, RelationType
from doxa.logic.names import PREFIXES, relation_iri

__all__ = ["from_models"]

DATATYPES: Sequence[tuple[type, str]] = (
    (bool, "boolean"),  # before int, which it is a kind of
    (int, "integer"),
    (float, "double"),
    (Decimal, "decimal"),
    (datetime, "dateTime"),
    (date, "string"),  # OWL 2 has no date
)


class _Said(BaseModel):
    """What `json_schema_extra` may say of a relation."""

    model_config = ConfigDict(extra="forbid")
    phrases: list[str] = Field(default=[], description="other wordings that mean it")
    functional: bool | None = None
    inverse: str = ""
    inverse_functional: bool = False
    symmetric: bool = False
    transitive: bool = False
    asymmetric: bool = False
    irreflexive: bool = False
    disjoint: list[str] = []
    parents: list[str] = []
    nature: Nature = "state"
    noun: bool = True


@dataclass(frozen=True, slots=True)
class _Value:
    """What a field holds: the name of a class or a datatype, and whether there are many."""

    cls: str
    datatype: str
    many: bool


def from_models(models: Iterable[type[BaseModel]], *, known: Ontology) -> Ontology:
    """Return the classes and relations that pydantic classes describe, those that their fields refer to included.

    A class or a field whose name is known refines what is known of it.

    Raises:
        InputError: something given is no pydantic class, or a field says what cannot be said of a relation.
    """
    models = list(_with_bases(models))
    names = {*known.classes, *(model.__name__ for model in models)}
    classes = {model.__name__: _class(model, names, known) for model in models}
    relations: dict[str, RelationType] = {}
    for model in models:
        for name, info in model.model_fields.items():
            if name in model.__annotations__:  # not what it has from a parent
                kind = _relation(model, name, info, known)
                relations[name] = _of_both(relations[name], kind) if name in relations else kind
    _check(relations, known)
    return Ontology(classes=classes, relations=relations)


def _with_bases(models: Iterable[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """Yield models, their parents, and the models of their fields, each once."""
    seen: set[type] = {BaseModel}
    waiting: list[Any] = list(models)
    while waiting:
        model = waiting.pop(0)
        if model in seen:
            continue
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise InputError(f"ontology: expected the path of a Turtle file or a pydantic class, got {model!r}.")
        seen.add(model)
        model.model_rebuild()  # names in quotes that were not defined yet
        waiting += [base for base in model.__bases__ if issubclass(base, BaseModel)]
        waiting += [part for info in model.model_fields.values() for part in _models_in(info.annotation)]
        yield model


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _class(model: type[BaseModel], names: Collection[str], known: Ontology) -> ClassType:
    name = model.__name__
    old = known.classes.get(name) or ClassType(name=name, label=name.lower(), iri=PREFIXES["doxa"] + name)
    parents = [base.__name__ for base in model.__bases__ if base.__name__ in names and base.__name__ != name]
    return replace(old, parents=tuple(dict.fromkeys((*old.parents, *parents))))


def _relation(model: type[BaseModel], name: str, info: FieldInfo, known: Ontology) -> RelationType:
    said, value = _said(model, name, info), _value(info.annotation)
    words = (info.title or name.replace("_", " ")).casefold()
    fresh = RelationType(
        name=name,
        label=words,
        iri=relation_iri(name),
        kind="noun" if said.noun else "verb",
        domain=model.__name__,
        range=value.cls,
        datatype=value.datatype,
        nature=said.nature,
    )
    old = known.relations.get(name, fresh)
    return replace(
        old,
        phrases=tuple(dict.fromkeys((*old.phrases, *said.phrases))),
        functional=not value.many if said.functional is None else said.functional,
        inverse=said.inverse or old.inverse,
        inverse_functional=old.inverse_functional or said.inverse_functional,
        symmetric=old.symmetric or said.symmetric,
        transitive=old.transitive or said.transitive,
        asymmetric=old.asymmetric or said.asymmetric,
        irreflexive=old.irreflexive or said.irreflexive,
        disjoint=tuple(dict.fromkeys((*old.disjoint, *said.disjoint))),
        parents=tuple(dict.fromkeys((*old.parents, *said.parents))),
    )


def _said(model: type[BaseModel], name: str, info: FieldInfo) -> _Said:
    extra = info.json_schema_extra
    try:
        return _Said.model_validate(extra if isinstance(extra, Mapping) else {})
    except ValidationError as exc:
        error = exc.errors()[0]
        raise InputError(
            f"ontology: {model.__name__}.{name}: json_schema_extra may say {', '.join(_Said.model_fields)}; "
            f"{'.'.join(map(str, error['loc']))}: {error['msg']}."
        ) from exc


def _value(annotation: Any, *, many: bool = False) -> _Value:
    """Return what an annotation stands for; `X | None` is X, and of several types none is meant."""
    origin, parts = get_origin(annotation), [part for part in get_args(annotation) if part is not type(None)]
    if origin is Annotated or (origin in (Union, types.UnionType) and len(parts) == 1):
        return _value(parts[0], many=many)
    if origin in (list, set, frozenset, tuple, Sequence, Collection):
        return _value(parts[0] if parts else str, many=True)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _Value(annotation.__name__, "", many)
    found = (name for kind, name in DATATYPES if isinstance(annotation, type) and issubclass(annotation, kind))
    return _Value("", PREFIXES["xsd"] + next(found, "string"), many)


def _of_both(one: RelationType, other: RelationType) -> RelationType:
    """Return a relation that two classes have: of any subject, and of one value only if both say so."""
    return replace(
        one,
        domain=one.domain if one.domain == other.domain else "",
        range=one.range if one.range == other.range else "",
        functional=one.functional and other.functional,
        phrases=tuple(dict.fromkeys((*one.phrases, *other.phrases))),
    )


def _check(relations: Mapping[str, RelationType], known: Ontology) -> None:
    for kind in relations.values():
        for name in (*kind.parents, *kind.disjoint, *filter(None, [kind.inverse])):
            if name not in relations and name not in known.relations:
                raise InputError(f"ontology: {kind.name}: expected the name of a relation, got {name!r}.")
