"""The values of the core -> the models of what `plain` writes of them, for the OpenAPI page and clients made from it.

They are made from the dataclasses, so that what is documented is what is sent: a term or a relation is its label, a
fact has its keys beside them, a trace may be left out. Descriptions are the docstrings of the fields.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from doxa.core.trace import Trace
from doxa.core.values import Change, Fact, Relation, Reply, Term

__all__ = ["NEXT", "Changes", "answer", "page", "shown", "written"]

NEXT = "The cursor of the next page; null where this is the last one."
VERSION = "The version of the memory afterwards; see the header ETag of reads."
KEYS = "The keys of subject and object and the name of the relation between them: what the fact is told apart by."
TRACE = "How the answer was found, step by step; null where that was not asked for."
MORE: Mapping[type, Mapping[str, tuple[Any, str]]] = {
    Fact: {"keys": (list[str], KEYS)},
    Trace: {"ms": (float, "Milliseconds of all steps together.")},
}
"""What `plain` adds to the fields of a value."""


def answer(name: str, /, **types: Any) -> type[BaseModel]:
    """Return a model of a body with these fields, whose types may be values of the core.

    Args:
        name: that of the model, as clients see it.
        types: the type of each field, or a pair of it and what the field says.
    """
    said = {key: given if isinstance(given, tuple) else (given, None) for key, given in types.items()}
    return _model(name, None, {key: (_type(one), Field(description=about)) for key, (one, about) in said.items()})


def page(kind: type) -> type[BaseModel]:
    """Return a model of one page of values."""
    return answer(f"{kind.__name__}Page", items=list[kind], next=(str | None, NEXT))  # type: ignore[valid-type]


def written(name: str, /, **types: Any) -> type[BaseModel]:
    """Return a model of what a write gives back: these fields, and the version of the memory."""
    return answer(name, **types, version=(int, VERSION))


@cache
def shown(kind: type) -> type[BaseModel]:
    """Return a model of what `plain` writes of a dataclass."""
    hints, said = get_type_hints(kind), _docstrings(kind)
    names = [field.name for field in fields(kind) if not field.metadata]
    types = {name: (_type(hints[name]), said.get(name)) for name in names}
    types |= MORE.get(kind, {})
    if kind is Reply:
        types["trace"] = (shown(Trace) | None, TRACE)
    told = {key: (one, Field(description=about)) for key, (one, about) in types.items()}
    return _model(kind.__name__, inspect.getdoc(kind), told)


def _model(name: str, said: str | None, fields: Mapping[str, Any]) -> type[BaseModel]:
    made: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid"), __doc__=said, **fields)
    return made


def _type(given: Any) -> Any:
    """Return the type of what `plain` writes of a value of a type."""
    origin, inner = get_origin(given), get_args(given)
    if given in (Term, Relation):
        return str
    if is_dataclass(given) and isinstance(given, type):
        return shown(given)
    if origin is None or origin is Literal:
        return given
    if origin in (Union, UnionType):
        return Union[tuple(map(_type, inner))]  # noqa: UP007  there is no other way to join types that are not known
    if origin is tuple and inner[-1:] != (...,):
        return tuple[tuple(map(_type, inner))]  # type: ignore[misc]
    if issubclass(origin, Mapping):
        return dict[str, _type(inner[1])]  # type: ignore[misc]
    return list[_type(inner[0])]  # type: ignore[misc]


def _docstrings(kind: type) -> dict[str, str]:
    """Return what stands under the fields of a class."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    said: dict[str, str] = {}
    for field, after in zip(body.body, body.body[1:], strict=False):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                said[name] = inspect.cleandoc(text)
    return said


Changes = written("Changes", changes=(list[Change], "What changed of what is believed."))
