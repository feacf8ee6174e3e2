"""The command that checks a reply against the memory: check."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from doxa.core.errors import InputError
from doxa.core.values import SentenceVerdict, Verdict
from doxa.transport.cli.app import DONE, ERROR, command
from doxa.transport.cli.ask import Speaker
from doxa.transport.cli.render import clean, count, put
from doxa.transport.cli.request import Request

__all__ = ["check"]

MARKS = {"supported": "✓", "neutral": "·", "uncertain": "?", "contradicted": "✗"}
STYLES = {"supported": "green", "neutral": "dim", "uncertain": "yellow", "contradicted": "red"}


@command("check", example='doxa check "You live in Berlin."')
def check(
    request: Request,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="What an assistant is about to say [default: standard input].")
    ] = None,
    speaker: Speaker = None,
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="Who is about to say it.")] = "assistant",
) -> int:
    """Check a reply against the memory, sentence by sentence.

    Each sentence is supported (✓), contradicted (✗) with what contradicts it and since when, uncertain (?) where
    something speaks against it and nothing is sure, or neutral (·): a question, a guess, advice, or something that the
    memory does not know. Exit code 0 when nothing is contradicted, 1 when something is, as with a linter.
    """
    said = text if text is not None else _piped()
    if not said.strip():
        raise InputError('Expected a reply to check, got nothing. Try: doxa check "You live in Berlin."')
    with request.memory(known=True) as memory:
        found = memory.check(said, agent=agent, speaker=speaker)
    request.give(found, lambda out: _show(out, found))
    return ERROR if found.label == "contradicted" else DONE


def _piped() -> str:
    return "" if sys.stdin.isatty() else sys.stdin.read()


def _show(out: Console, found: Verdict) -> None:
    """Print each sentence with its mark and, where it has one, its reason."""
    for one in found.sentences:
        put(out, f"{MARKS[one.label]} {clean(one.text)}", style=STYLES[one.label])
        if one.reason:
            put(out, _why(one), style="dim", indent=2)
    for promise in found.due:
        put(out, f"! {clean(promise)}", style="yellow")
    wrong = sum(one.label == "contradicted" for one in found.sentences)
    right = sum(one.label == "supported" for one in found.sentences)
    rest = len(found.sentences) - wrong - right
    put(
        out, f"{count(wrong, 'contradiction')}, {right} supported, {rest} neutral; consistency {found.consistency:.2f}."
    )


def _why(one: SentenceVerdict) -> str:
    ids = " ".join(one.because)
    return clean(f"{one.by}: {one.reason}" + (f" [{ids}]" if ids else ""))
