"""The command that shows what a user is like in concepts, and takes one of them down or back."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from doxa.core.errors import InputError
from doxa.core.promotions import Promotion, PromotionReason
from doxa.transport.cli.app import command
from doxa.transport.cli.render import cited, clean, columns, count, put
from doxa.transport.cli.request import Request

__all__ = ["concepts"]


class Action(StrEnum):
    """What is done to a promotion."""

    DEMOTE = "demote"
    ENABLE = "enable"
    WHY = "why"


@command("concepts", example="doxa concepts demote p1_2c9a01b7e4d5 --reason 'that was long ago'")
def concepts(
    request: Request,
    action: Annotated[Action | None, typer.Argument(help="By default they are listed.")] = None,
    promotion_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The id of one of them.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what was demoted or has lost its support.")] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why it is demoted; it is kept.")] = "",
) -> None:
    """Show what the user is like in concepts, lifted from several statements.

    demote takes one down whatever speaks for it, enable takes that back, and why tells what it rests on.
    """
    if (action is None) != (promotion_id is None):
        raise InputError("concepts: expected an action with an id (demote ID, enable ID or why ID), or neither.")
    if action is None or promotion_id is None:
        _list(request, everything=everything)
        return
    with request.memory() as memory:
        if action is Action.WHY:
            found = memory.why_promoted(promotion_id)
            request.give(found, lambda out: _show_reason(out, found))
            return
        demoting = action is Action.DEMOTE
        now = memory.demote(promotion_id, reason=reason) if demoting else memory.enable(promotion_id)
    said = f"{'Demoted' if demoting else 'Enabled'}: {clean(str(now))}." + _standing(now, demoting=demoting)
    request.give(now, lambda out: out.print(said, soft_wrap=True))


def _list(request: Request, *, everything: bool) -> None:
    with request.memory(known=True) as memory:
        found = memory.promotions(active=not everything)
    request.give(found, lambda out: _show(out, found))
    if not request.json and found and not everything:
        request.note(f"{count(len(found), 'concept')}; --all also shows what does not stand")


def _standing(now: Promotion, *, demoting: bool) -> str:
    return "" if demoting or now.active else " Too little of what it rests on is still believed."


def _show(out: Console, found: Sequence[Promotion]) -> None:
    if not found:
        out.print("No concepts: too little was said that agrees.")
        return
    table = columns("id", "concept", "score", "turns")
    for one in found:
        what = Text(clean(str(one)))
        if not one.active:
            what.append(f" ({clean(one.demoted) if one.demoted else 'no longer supported'})", style="dim")
        table.add_row(one.promotion_id, what, f"{one.score:.2f}", clean(", ".join(one.turn_ids)))
    put(out, table)


def _show_reason(out: Console, found: PromotionReason) -> None:
    one = found.promotion
    put(out, clean(str(one)), style="bold")
    put(out, f"{one.promotion_id}, {one.concept}, score {one.score:.2f}", style="dim")
    if one.demoted:
        put(out, f"Demoted: {clean(one.demoted)}", style="yellow")
    for turn in found.turns:
        put(out, cited(turn, limit=400), indent=2)
    if found.lost:
        put(out, f"No longer by: {clean(', '.join(found.lost))}", style="dim", indent=2)
