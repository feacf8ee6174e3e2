"""Questions in SPARQL: a box, examples, and what they find as a table and as a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from urllib.parse import unquote

import anyio.to_thread
from starlette.responses import JSONResponse, PlainTextResponse, Response

from doxa.core.bindings import Bindings, Node
from doxa.core.errors import BackendUnavailableError, InputError
from doxa.transport.inspector.visit import Visit
from doxa.transport.querying import BusyError

__all__ = ["EXAMPLES", "PATHS"]

ROWS, LONGEST_QUERY = 200, 8_000
EXAMPLES = {
    "Who lives where": "SELECT ?who ?place WHERE { ?who doxa:livesIn ?place }",
    "What is said most of": (
        "SELECT ?who (COUNT(*) AS ?facts) WHERE { ?fact a meta:Fact ; meta:subject ?who }\n"
        "GROUP BY ?who ORDER BY DESC(?facts) LIMIT 20"
    ),
    "The latest facts, and the turns that say them": (
        "SELECT ?fact ?what ?when ?turn WHERE {\n"
        "  ?fact a meta:Fact ; rdfs:label ?what ; prov:generatedAtTime ?when ; prov:wasDerivedFrom ?turn\n"
        "} ORDER BY DESC(?when) LIMIT 20"
    ),
    "What is disputed": "SELECT ?fact ?what WHERE { ?fact meta:disputed true ; rdfs:label ?what } LIMIT 50",
    "Is anybody a sibling of anybody?": "ASK { ?one doxa:sister|doxa:brother|doxa:sibling ?other }",
    "A graph of homes": "CONSTRUCT { ?who doxa:livesIn ?place } WHERE { ?who doxa:livesIn ?place }",
}


async def sparql(visit: Visit) -> Response:
    """Show what a query finds.

    Parameters: `q`, the query; without it the box and the examples are shown.
    """
    await anyio.to_thread.run_sync(visit.room.require, "read")
    query, found, trouble = visit.request.query_params.get("q", ""), None, ""
    if query.strip():
        try:
            found = await _found(visit, query)
        except (InputError, BackendUnavailableError, BusyError) as problem:
            trouble = str(problem)
    return await anyio.to_thread.run_sync(_page, visit, query, found, trouble)


def _page(visit: Visit, query: str, found: Bindings | None, trouble: str) -> Response:
    rows = found.rows[:ROWS] if found is not None else ()
    keys = {name for row in rows for node in row.values() if (name := _local(node, "thing"))}
    things = visit.room.view().subjects(keys) if keys else {}

    def link(node: Node) -> str:
        if (key := _local(node, "thing")) in things:
            return visit.link("graph", of=key)
        for kind in ("fact", "turn"):
            if key := _local(node, kind):
                return visit.link("why", **{kind: key})
        return ""

    return visit.shown(
        "sparql.html", query=query, found=found, rows=rows, link=link, trouble=trouble, examples=EXAMPLES
    )


async def export(visit: Visit) -> Response:
    """Return what a query finds as a file: `format` is "csv" or "json"."""
    name = visit.text("format", "csv")
    if name not in ("csv", "json"):
        raise InputError(f"format: expected csv or json, got {name[:40]!r}.")
    found = await _found(visit, visit.request.query_params.get("q", ""))
    response: Response
    if name == "json":
        response = await anyio.to_thread.run_sync(lambda: JSONResponse(found.to_json()))
        response.headers["Content-Type"] = "application/sparql-results+json"
    else:
        text = await anyio.to_thread.run_sync(lambda: "".join(_lines(found)))
        response = PlainTextResponse(text, media_type="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="results.{name}"'
    return response


async def _found(visit: Visit, query: str) -> Bindings:
    if len(query) > LONGEST_QUERY:
        raise InputError(f"q: expected at most {LONGEST_QUERY:,} characters, got {len(query):,}.")

    def ask(limit_s: float) -> Bindings:
        return visit.room.memory().sparql(query, limit_s=limit_s)

    return await visit.querying.answer(ask)


def _local(node: Node, kind: str) -> str:
    """Return the key of something of the user's, where a node names one of this kind."""
    prefix, colon, name = node.short.partition(":") if node.kind == "uri" else ("", "", "")
    return unquote(name) if colon and prefix == kind else ""


def _lines(found: Bindings) -> Iterator[str]:
    """Yield results as SPARQL 1.1 Query Results CSV has them; the answer to ASK as one value."""
    out = io.StringIO(newline="")
    write = csv.writer(out, lineterminator="\r\n").writerow
    if found.truth is not None:
        write(["answer"])
        write([str(found.truth).lower()])
    else:
        write(found.variables)
    for row in found.rows:
        write([row[name].value if name in row else "" for name in found.variables])
    yield out.getvalue()


PATHS = {"graph/sparql": sparql, "graph/sparql/export": export}
