"""What a SPARQL query gives: rows of RDF terms, or yes or no."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Bindings", "Node"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An RDF term. `short` is how people write it: `thing:lisbon`, or the value of a literal."""

    kind: Literal["uri", "literal", "bnode"]
    value: str
    short: str
    datatype: str = ""
    """The IRI of the datatype of a literal; empty for a plain string."""
    language: str = ""

    def __str__(self) -> str:
        return self.short

    def to_json(self) -> dict[str, str]:
        """Return the term as SPARQL 1.1 Query Results JSON has it."""
        data = {"type": self.kind, "value": self.value}
        if self.language:
            return {**data, "xml:lang": self.language}
        return {**data, "datatype": self.datatype} if self.datatype else data


@dataclass(frozen=True, slots=True, kw_only=True)
class Bindings:
    """The solutions of a query, in order. A graph (`CONSTRUCT`, `DESCRIBE`) has the variables of a triple."""

    variables: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Node], ...] = ()
    """A variable without a value in a row is not in it."""
    truth: bool | None = None
    """The answer to `ASK`; None for other queries."""

    def __iter__(self) -> Iterator[Mapping[str, Node]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return bool(self.rows) if self.truth is None else self.truth

    def to_json(self) -> dict[str, Any]:
        """Return the result in the shape of SPARQL 1.1 Query Results JSON.

        Source: https://www.w3.org/TR/sparql11-results-json/; a graph, which it has no shape for, is given as rows.
        """
        if self.truth is not None:
            return {"head": {}, "boolean": self.truth}
        rows = [{name: node.to_json() for name, node in row.items()} for row in self.rows]
        return {"head": {"vars": list(self.variables)}, "results": {"bindings": rows}}
