"""`doxa drift`: whether search does as well as it did, and what was done where it did not."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from doxa.core.drift import Drift, Refreshed
from doxa.core.errors import InputError
from doxa.transport.cli.app import DONE, command
from doxa.transport.cli.render import columns, count, when
from doxa.transport.cli.request import Request

__all__ = ["drift"]

SHOWN = 14
"""Windows that are shown, the latest ones."""


@command("drift", example="doxa drift --user ana")
def drift(
    request: Request,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Refresh promotions, missing vectors and weights now.")
    ] = False,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Put the weights of before the last refresh back.")
    ] = False,
) -> int:
    """Tell whether search does as well as it did, by a sample of all questions, failed ones included.

    Questions are counted in windows of a day (settings drift). The first ones tell what is usual; after a change what
    was learned is refreshed from what was asked since, and weights that find less of what is held back are refused.
    Exit code 0 in any case.
    """
    if refresh and rollback:
        raise InputError("drift: give either --refresh or --rollback.")
    with request.memory() as memory:
        found = memory.drift(refresh=refresh, rollback=rollback)
    request.give(found, lambda out: _show(out, found))
    return DONE


def _show(out: Console, found: Drift) -> None:
    out.print(found.reason, soft_wrap=True)
    if found.windows:
        table = columns("from", "questions", "judged", "Recall@10", "no answer", "views apart", "p95 ms", "")
        for window in found.windows[-SHOWN:]:
            raised = [alarm.signal for alarm in found.alarms if alarm.window == window.number]
            still = ["still open"] if found.open and window is found.windows[-1] else []
            table.add_row(
                when(window.start),
                str(window.asked),
                str(window.judged),
                f"{window.recall:.2f}" if window.judged else "",
                f"{window.abstained:.2f}",
                f"{window.disagreement:.2f}" if window.compared else "",
                f"{window.p95_ms:.0f}",
                ", ".join((*(f"alarm: {signal}" for signal in raised), *still)),
            )
        out.print(table)
    for done in found.refreshes[-3:]:
        out.print(f"Refreshed on {when(done.at)}: {_told(done)}", soft_wrap=True)
    if found.can_roll_back:
        out.print("The weights of before are kept: `doxa drift --rollback` puts them back.", soft_wrap=True)


def _told(done: Refreshed) -> str:
    """Return what a refresh did, in a sentence or two."""
    more = [
        f"{count(number, noun)} {what}"
        for number, noun, what in (
            (done.lifted, "promotion", "lifted"),
            (done.fallen, "promotion", "fallen"),
            (done.encoded, "turn", "encoded"),
        )
        if number
    ]
    back = " Rolled back since." if done.rolled_back else ""
    return f"{done.why} {done.lesson.reason}{' ' + ', '.join(more) + '.' if more else ''}{back}"
