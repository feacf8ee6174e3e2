"""`doxa keys`: who may use a memory through `doxa serve`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console

from doxa.core.access import ANYONE, RIGHTS, Key
from doxa.core.errors import InputError
from doxa.transport.cli.app import DONE, command
from doxa.transport.cli.render import clean, columns, when
from doxa.transport.cli.request import Request

__all__ = ["keys", "shown"]


class Act(StrEnum):
    """What is done with keys."""

    ADD = "add"
    LIST = "list"
    REVOKE = "revoke"


@command("keys", example="doxa keys add --for ana --right read --right write --label phone")
def keys(
    request: Request,
    act: Annotated[Act, typer.Argument(metavar="add|list|revoke", help="Make a key, show all, or end one.")],
    key_id: Annotated[str | None, typer.Argument(metavar="KEY_ID", help="The key to revoke.")] = None,
    users: Annotated[
        list[str] | None,
        typer.Option(
            "--for", metavar="USER", help="Whose memory it opens; may be repeated [default: --user, else everybody's]."
        ),
    ] = None,
    rights: Annotated[
        list[str] | None,
        typer.Option("--right", metavar="RIGHT", help=f"{', '.join(RIGHTS)}; may be repeated [default: read, write]."),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="NAME", help="Of which tenant [DOXA_TENANT].")
    ] = None,
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What it is for.")] = "",
) -> int:
    """Make, list or revoke the API keys of `doxa serve`.

    A key is shown once, when it is made; the database keeps a hash of it. A revoked key is worthless at once.
    """
    from doxa.engine import Keys

    if (act is Act.REVOKE) != (key_id is not None):
        raise InputError("Expected the id of a key with revoke and only there: doxa keys revoke KEY_ID")
    if act is not Act.ADD and (users or rights or tenant or label):
        raise InputError("--for, --right, --tenant and --label are for doxa keys add.")
    with request.open(create=act is Act.ADD) as doxa:
        book = Keys(doxa)
        if act is Act.LIST:
            found = book.list()
            request.give([shown(key) for key in found], lambda out: _table(out, found))
        elif act is Act.REVOKE:
            ended = book.revoke(str(key_id))
            request.give(shown(ended), lambda out: out.print(f"Revoked: {ended.key_id}."))
        else:
            key, secret = book.add(
                tenant=tenant,
                users=users or (request.options.user or ANYONE,),
                rights=rights or ("read", "write"),  # type: ignore[arg-type]  # `add` looks
                label=label,
            )
            request.give({**shown(key), "secret": secret}, lambda out: _made(out, key, secret))
    return DONE


def shown(key: Key) -> dict[str, Any]:
    """Return what may be known of a key."""
    return {
        "key_id": key.key_id,
        "tenant": key.tenant,
        "users": sorted(key.users),
        "rights": [right for right in RIGHTS if right in key.rights],
        "label": key.label,
        "created_at": key.created_at,
        "revoked_at": key.revoked_at,
    }


def _made(out: Console, key: Key, secret: str) -> None:
    out.print(secret, soft_wrap=True)
    whose = "everybody" if ANYONE in key.users else ", ".join(sorted(key.users))
    out.print(f"It opens the memory of {clean(whose)} for {', '.join(shown(key)['rights'])}. It is not shown again.")


def _table(out: Console, found: Sequence[Key]) -> None:
    if not found:
        out.print("There are no keys. `doxa keys add` makes one.")
        return
    table = columns("id", "tenant", "users", "rights", "label", "made", "revoked")
    for key in found:
        known = shown(key)
        made, ended = when(key.created_at), when(key.revoked_at)
        users = clean(", ".join(known["users"]))
        table.add_row(key.key_id, clean(key.tenant), users, ", ".join(known["rights"]), clean(key.label), made, ended)
    out.print(table)
