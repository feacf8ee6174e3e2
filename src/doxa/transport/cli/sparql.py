"""The command that asks the graph in its own language: sparql."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from doxa.core.bindings import Bindings
from doxa.transport.cli.app import command
from doxa.transport.cli.ask import AsOf, KnownAt
from doxa.transport.cli.render import clean, columns, count, put
from doxa.transport.cli.request import Request, day_of, moment_of

__all__ = ["sparql"]


@command("sparql", example='doxa sparql "SELECT ?who ?place { ?who doxa:livesIn ?place }"')
def sparql(
    request: Request,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="SELECT, ASK, CONSTRUCT or DESCRIBE.")],
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """Ask what is believed in SPARQL; nothing is changed.

    Known prefixes: doxa (classes and relations), thing, fact, turn, event, change (of the user), meta (status,
    validFrom, ... of a fact), prov, dul, owl, rdf, rdfs, skos, xsd. --json prints SPARQL results JSON.
    """
    day, moment = day_of(as_of), moment_of(known_at)
    with request.memory(known=True) as memory:
        found = memory.sparql(query, as_of=day, known_at=moment)
    request.give(found.to_json() if request.json else found, lambda out: _show(out, found))
    if found.truth is None and not request.json and found.rows:
        request.note(count(len(found), "row"))


def _show(out: Console, found: Bindings) -> None:
    """Print rows as a table, one line per row, or yes or no."""
    if found.truth is not None:
        out.print("yes" if found.truth else "no")
        return
    if not found.rows:
        out.print("No rows.")
        return
    table = columns(*found.variables)
    for row in found.rows:
        table.add_row(*(clean(str(row.get(name, ""))) for name in found.variables))
    put(out, table)
