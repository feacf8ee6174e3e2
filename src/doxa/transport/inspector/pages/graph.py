"""A person or thing and what it has to do with others: a drawing that grows, with what follows and nobody said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from doxa.core.errors import InputError
from doxa.core.values import Fact, Term
from doxa.core.views import Listing, Standing, Subject
from doxa.transport.inspector.pages.drawing import kind_of
from doxa.transport.inspector.pages.queries import EXAMPLES
from doxa.transport.inspector.visit import Visit
from doxa.transport.plain import plain

if TYPE_CHECKING:
    from doxa.engine import View

__all__ = ["PATHS"]

EDGES, AROUND, INFERRED, PEOPLE = 60, 24, 60, 30
IS_A = "is_a"
FORMATS = {
    "turtle": ("text/turtle", "ttl"),
    "jsonld": ("application/ld+json", "jsonld"),
    "json": ("application/json", "json"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """What stands around a person or thing."""

    subject: Subject
    facts: Listing[Fact]
    inferred: tuple[Fact, ...] = ()
    known: bool = True
    """Whether what follows is among it; else it is still to be worked out."""
    things: dict[str, Subject]
    """Those of its neighbours that are people or things, by key."""

    @property
    def classes(self) -> list[str]:
        """What it is, in a word each: as it was said, and as it follows."""
        kinds = [self.subject.entity.kind, *(fact.object.key for fact in self.inferred if fact.relation.name == IS_A)]
        return [kind for kind in dict.fromkeys(kinds) if kind]


def graph(visit: Visit) -> Response:
    """Show what stands around a person or thing.

    Parameters: `of` its key or name; `past` with what no longer is so; `after` where the list goes on.
    """
    with visit.room.view().opened() as view:
        people = view.people(limit=PEOPLE).items
        of = visit.text("of") or next((one.entity.key for one in people), "")
        near = _near(view, of, visit, limit=EDGES) if of else None
    return visit.shown("graph.html", near=near, people=people, examples=EXAMPLES)


def inferred(visit: Visit) -> Response:
    """Show what follows about a person or thing, however long that takes to work out."""
    view = visit.room.view()
    found = view.inferred_about(_of(visit))[:INFERRED]
    with view.opened():
        near = _near(view, _of(visit), visit, limit=1, inferred=found)
    return visit.shown("graph_inferred.html", near=near)


def near(visit: Visit) -> Response:
    """Return the neighbourhood of a person or thing, for the drawing."""
    with visit.room.view().opened() as view:
        found = _near(view, _of(visit), visit, limit=EDGES if visit.text("all") else AROUND)
    return JSONResponse(drawn(visit, found))


def proof(visit: Visit) -> Response:
    """Return how a fact follows, a sentence for each step, for the drawing."""
    return JSONResponse({"lines": list(visit.room.view().why(visit.text("fact")).derivation)})


def export(visit: Visit) -> Response:
    """Return what the page shows of a person or thing as a file."""
    name = visit.text("format", "turtle")
    if name not in FORMATS:
        raise InputError(f"format: expected one of {', '.join(FORMATS)}, got {name[:40]!r}.")
    with visit.room.view().opened() as view:
        found = _near(view, _of(visit), visit, limit=EDGES)
    facts = found.facts.items
    if name == "json":
        told = {"entity": found.subject.entity, "facts": facts, "inferred": found.inferred}
        response: Response = JSONResponse(plain(told))
    else:
        response = PlainTextResponse(view.written(facts, "jsonld" if name == "jsonld" else "turtle"))
    media, ending = FORMATS[name]
    response.headers["Content-Type"] = f"{media}; charset=utf-8"
    response.headers["Content-Disposition"] = f'attachment; filename="graph.{ending}"'
    return response


def _of(visit: Visit) -> str:
    if not (of := visit.text("of")):
        raise InputError("of: expected the key or name of a person or thing, got nothing.")
    return of


def _near(view: View, of: str, visit: Visit, *, limit: int, inferred: Sequence[Fact] | None = None) -> Near:
    subject = view.entity(of)
    standings: tuple[Standing, ...] = ("firm", "tentative", "past") if visit.text("past") else ("firm", "tentative")
    facts = view.about(subject.entity.key, standings, after=visit.text("after"), limit=limit)
    known = inferred is not None or view.follows()
    if inferred is None:
        inferred = view.inferred_about(subject.entity.key)[:INFERRED] if known and not visit.text("after") else ()
    ends = {term.key for fact in (*facts.items, *inferred) for term in (fact.subject, fact.object)}
    return Near(subject=subject, facts=facts, inferred=tuple(inferred), known=known, things=view.subjects(ends))


def drawn(visit: Visit, near: Near) -> dict[str, Any]:
    """Return a neighbourhood as nodes and edges."""
    entity = near.subject.entity
    shown = [*near.facts.items, *(one for one in near.inferred if one.relation.name != IS_A)]
    root = _node(visit, Term(entity.key, entity.label), near) | {"note": ", ".join(near.classes), "expand": None}
    nodes = {root["id"]: root}
    for fact in shown:
        for term in (fact.subject, fact.object):
            nodes.setdefault(_name(fact, term, near), _node(visit, term, near, fact))
    edges = [_edge(visit, fact, near) for fact in shown]
    if near.facts.next:
        rest = f"more:{entity.key}"
        address = visit.link("graph/near", of=entity.key, past=visit.text("past"), after=near.facts.next)
        nodes[rest] = {"id": rest, "label": "more", "kind": "more", "expand": address}
        edges.append({"id": f"{rest}>", "source": root["id"], "target": rest, "kind": "said"})
    shorn = [{name: value for name, value in node.items() if value} for node in nodes.values()]
    return {"root": root["id"], "nodes": shorn, "edges": edges}


def _name(fact: Fact, term: Term, near: Near) -> str:
    """Return the id of a node: the same thing is one node, a plain word is as many as it is said."""
    return f"e:{term.key}" if term.key in near.things or term is fact.subject else f"v:{fact.fact_id}"


def _node(visit: Visit, term: Term, near: Near, fact: Fact | None = None) -> dict[str, Any]:
    known = near.things.get(term.key)
    if fact is not None and known is None and term is not fact.subject:
        return {"id": _name(fact, term, near), "label": term.label or "–", "kind": "value"}
    return {
        "id": f"e:{term.key}",
        "label": term.label,
        "kind": "entity",
        "note": known.entity.kind if known is not None else "",
        "href": visit.link("graph", of=term.key, past=visit.text("past")),
        "expand": visit.link("graph/near", of=term.key, past=visit.text("past")) if known is not None else None,
    }


def _edge(visit: Visit, fact: Fact, near: Near) -> dict[str, Any]:
    edge = {
        "id": fact.fact_id,
        "source": _name(fact, fact.subject, near),
        "target": _name(fact, fact.object, near),
        "label": fact.relation.label if fact.polarity else f"not: {fact.relation.label}",
        "kind": kind_of(fact),
        "note": str(fact.valid),
        "href": visit.link("why", fact=fact.fact_id),
    }
    return edge | {"told": visit.link("graph/proof", fact=fact.fact_id)} if edge["kind"] == "inferred" else edge


PATHS = {
    "graph": graph,
    "graph/near": near,
    "graph/inferred": inferred,
    "graph/proof": proof,
    "graph/export": export,
}
