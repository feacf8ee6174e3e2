"""What every route of one application finds under `app.state.served`, and the room that it gets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection
from starlette.types import Scope

from doxa.core.config import ServerConfig
from doxa.engine import Doxa
from doxa.transport.http.access import Gate, Room
from doxa.transport.http.telling import Numbers
from doxa.transport.querying import Querying

__all__ = ["Served", "room_of", "served"]


@dataclass(slots=True, kw_only=True)
class Served:
    """The one engine that is served; routes reach it through rooms alone."""

    doxa: Doxa
    gate: Gate
    numbers: Numbers
    settings: ServerConfig
    querying: Querying
    """What answers queries in SPARQL."""
    stack: AsyncExitStack | None = None
    """Closed at the shutdown; what a protocol opens goes on it."""
    stopping: list[Callable[[], None]] = field(default_factory=list)
    """Called when the server is to stop, before it waits for requests under way: what waits for notices ends then."""
    waits: Callable[[Scope], bool] = lambda _: False
    """Tells of a request that it only waits for notices, perhaps for hours."""


def served(connection: HTTPConnection) -> Served:
    """Return what the application of a request serves."""
    found: Served = connection.app.state.served
    return found


def room_of(connection: HTTPConnection) -> Room:
    """Return the room of a request whose user the key or the header names."""
    room = served(connection).gate.room(connection)
    connection.state.key_id, connection.state.tenant = room.scope.key_id, room.scope.tenant
    return room
