"""`doxa ask`: one question, one answer with its sources."""

from __future__ import annotations

from typing import Annotated

import typer

from doxa.core.errors import InputError
from doxa.transport.cli.app import command
from doxa.transport.cli.request import Request, day_of, moment_of
from doxa.transport.cli.show import show_reply

__all__ = ["AsOf", "KnownAt", "ShowTrace", "Speaker", "ask"]

AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="DATE", help="What was true on that day (1 July 2024, 2024-07-01).")
]
KnownAt = Annotated[
    str | None, typer.Option("--known-at", metavar="DATE", help="What the memory believed then; UTC unless it says.")
]

ShowTrace = Annotated[
    bool, typer.Option("--trace", help="Show every step, how long it took, and the tree of the search.")
]

Speaker = Annotated[
    str | None, typer.Option("--speaker", metavar="NAME", help="Who says I [default: who spoke as the user so far].")
]


@command("ask", example='doxa ask "Where did I live?" --as-of 2024-07-01')
def ask(
    request: Request,
    question: Annotated[str | None, typer.Argument(metavar="[QUESTION]", help="As you would ask a person.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    speaker: Speaker = None,
    again: Annotated[
        str | None, typer.Option("--again", metavar="ANSWER_ID", help="Ask what was asked before once more.")
    ] = None,
    trace: ShowTrace = False,
) -> None:
    """Answer a question, with the turns that the answer rests on."""
    if question is None and again is None:
        raise typer.BadParameter('it is missing. Try: doxa ask "Where do I live?"', param_hint="QUESTION")
    if question is not None and not question.strip():
        raise InputError('Expected a question, got nothing. Try: doxa ask "Where do I live?"')
    if again is not None and any((question, as_of, known_at, speaker)):
        raise InputError("ask: --again repeats a question as it was asked; give nothing else with it.")
    day, moment = day_of(as_of), moment_of(known_at)
    with request.open() as doxa:
        request.require_user(doxa)
        user = request.config.user
        dialogue = doxa.dialogue(user=user, speaker=speaker)
        reply = dialogue.ask_again(again) if again else dialogue.ask(str(question), as_of=day, known_at=moment)
    request.give(reply, lambda out: show_reply(out, reply, trace=trace))
