"""A request that is asked with the key of the operator -> whether it keeps to what is its user's.

The account of `server.upstream_key` is that of all users: files, stored completions and the like are shown to `admin`
alone, and a response to whom it was made for, by its id as well as by what goes on from it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from starlette.requests import Request

from doxa.core.errors import InputError, NotFoundError
from doxa.transport.http.access import Room
from doxa.transport.http.openai.editing import Body
from doxa.transport.http.openai.proxy import proxy_of
from doxa.transport.http.openai.relaying import require_below
from doxa.transport.http.openai.who import let_in, room_of
from doxa.transport.http.problems import ForbiddenError

__all__ = ["let_through", "require_own"]

ANYBODYS = re.compile(
    r"GET /models(/.*)?"
    r"|POST /(chat/completions|completions|responses|embeddings|moderations|rerank|responses/(input_tokens|compact))"
    r"|POST /(audio/(speech|transcriptions|translations)|images/(generations|edits|variations))"
)
"""What leaves nothing in the account of an upstream, and shows nothing that is there."""
RESPONSE = re.compile(r"[A-Z]+ /responses/([A-Za-z0-9_-]+)(/[A-Za-z0-9_/-]*)?")
GOES_ON = ("previous_response_id", "conversation")
"""Fields of a body that name what it goes on from."""
ID = re.compile(r"[A-Za-z0-9_-]+")
"""Of other signs an upstream may drop some, and find the response of somebody else."""


def let_through(request: Request, body: bytes) -> None:
    """Let a request that touches no memory through to the upstream.

    Raises:
        ForbiddenError: it asks for what is of all users.
        NotFoundError: it asks for the response of another user, or goes on from it.
        InputError: nobody can tell what it goes on from.
        HTTPException: its path could lead elsewhere.
    """
    key, proxy = let_in(request), proxy_of(request)
    require_below(request)
    if not proxy.lends_key(request):
        return
    asked = f"{request.method} {request.scope['path'].partition('/openai/v1')[2]}"
    below = asked.startswith(f"{request.method} /responses")
    if below and body.strip():
        require_own(request, _read(body))
    if key is None or "admin" in key.rights or ANYBODYS.fullmatch(asked):
        return
    if found := RESPONSE.fullmatch(asked):
        _require_made_for(request, found[1])
    elif below and asked.count("/") > 1:
        raise NotFoundError("There is no such response of this user: an id has letters, digits, _ and - alone.")
    else:
        raise ForbiddenError(
            f"{asked[:80]} is of the account of server.upstream_key, which all users share. Send a key of your own for "
            "the upstream (Authorization, beside Doxa-Key), or one of Doxa's that may: doxa keys add --right admin."
        )


def require_own(request: Request, body: Body, room: Room | None = None) -> None:
    """Refuse a body that goes on from what is not its user's, where the upstream would not.

    Args:
        request: the request.
        body: its body.
        room: the room of its user; by default that which it names.

    Raises:
        NotFoundError: it goes on from the response of another user.
        InputError: nobody can tell what it goes on from.
    """
    if proxy_of(request).lends_key(request):
        for named in _named(body):
            _require_made_for(request, named, room, body)


def _require_made_for(request: Request, named: str, room: Room | None = None, body: Body | None = None) -> None:
    links = proxy_of(request).links
    if not links.is_known(named):
        return
    room = room or room_of(request, body.data if body else {})
    if links.get(room.scope, named) is None:
        raise NotFoundError(f"There is no response {named[:80]!r} of this user.")


def _named(body: Body) -> Iterator[str]:
    """Yield the ids that a body goes on from, each written in the one way that everybody reads alike."""
    _require_plain_names(body.names, GOES_ON)
    for field in GOES_ON:
        value = body.data.get(field)
        if isinstance(value, Mapping) and field == "conversation":
            _require_plain_names(body.names_in(field), ("id",))
            value = value.get("id")
        if value in (None, ""):
            continue
        if not isinstance(value, str) or not ID.fullmatch(value):
            raise InputError(f"{field}: expected an id of letters, digits, _ and -. Leave it out, or give one.")
        yield value


def _require_plain_names(names: list[str], known: tuple[str, ...]) -> None:
    """Refuse names that are given twice, or so that one reader takes them for known ones and another does not."""
    told = Counter(name.casefold() for name in names)
    for name in known:
        if told[name] > 1 or (told[name] and name not in names):
            raise InputError(f"{name}: expected once and in small letters; of several nobody can tell which counts.")


def _read(body: bytes) -> Body:
    try:
        return Body(body)
    except ValueError as exc:
        raise InputError(f"The body is no JSON object in UTF-8: {exc}. Send it as such, without a BOM.") from exc
