"""`doxa amr`: sentences or AMR graphs as OWL."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from doxa.core.errors import FormatError, InputError
from doxa.transport.cli.app import command
from doxa.transport.cli.request import Request

__all__ = ["amr"]


@command("amr", example="doxa amr graphs.amr > graphs.ttl")
def amr(
    request: Request,
    source: Annotated[str, typer.Argument(metavar="FILE|-", help="Sentences or AMR graphs; - reads standard input.")],
    base: Annotated[str | None, typer.Option("--base", metavar="IRI", help="What all names start with; no #.")] = None,
    senses: Annotated[
        bool, typer.Option("--senses/--no-senses", help="Say what the words mean, or leave it out.")
    ] = True,
    speaker: Annotated[str, typer.Option("--speaker", metavar="NAME", help="Who says I.")] = "I",
) -> None:
    """Turn sentences or AMR graphs into OWL, written as Turtle.

    Graphs in PENMAN notation need nothing else; sentences need a parser (DOXA_AMR: a SPRING service, amrlib, or the
    language model). Words get WordNet synsets, supersenses and DOLCE classes where WordNet is installed (doxa doctor).
    With --json also the claims of each sentence. The memory is not touched.
    """
    from doxa.engine import extract_graph

    options: dict[str, Any] = {"base": base} if base else {}
    try:
        found = extract_graph(_text(source), config=request.config, senses=senses, speaker=speaker, **options)
    except FormatError as exc:
        where = "standard input" if source == "-" else source
        raise FormatError(f"{where}{':' if exc.line else ': '}{exc}") from exc
    for reason in found.trace.degraded:
        request.note(f"Note: {reason}")
    for sentence in found.sentences:
        for warning in sentence.warnings:
            request.note(f"Note: {sentence.name}: {warning}")
    request.give(found, lambda _: sys.stdout.write(found.turtle))


def _text(source: str) -> str:
    """Return the text of a file, or of standard input."""
    if source == "-":
        return sys.stdin.read()
    try:
        return Path(source).read_text(encoding="utf-8")
    except OSError as exc:
        raise InputError(f"{source} cannot be read: {exc.strerror}.") from exc
    except UnicodeDecodeError as exc:
        raise InputError(f"Expected UTF-8 text in {source}: {exc}.") from exc
