"""What is believed now: people and things, and of each what is sure and what is not."""

from __future__ import annotations

from starlette.responses import Response

from doxa.transport.inspector.visit import Visit

__all__ = ["PATHS"]


def now(visit: Visit) -> Response:
    """Show people and things, and of the one that the address names what is believed."""
    facts = visit.room.memory().facts()
    return visit.shown("now.html", facts=facts[:50])


PATHS = {"now": now}
