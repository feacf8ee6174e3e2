"""What happens in a memory, as it happens: a stream of events for the pages that show it."""

from __future__ import annotations

import anyio.to_thread
from starlette.responses import Response, StreamingResponse

from doxa.core.views import Point
from doxa.transport.inspector.visit import Visit
from doxa.transport.streaming import EVENTS, UNBUFFERED

__all__ = ["PATHS"]

UNAVAILABLE = 503
AGAIN = "As many look at memories as may, or the server is about to stop. Load the page again in a while."


async def live(visit: Visit) -> Response:
    """Tell what happens as server-sent events.

    `turn`, `change` and `task` hold what is shown of it as HTML, and have the id that goes on behind them (`after`, or
    the header `Last-Event-ID`); `waiting` holds what waits to be understood; `skipped` how much is left out; `reload`
    says that all has to be looked at again, and `over` that the key no longer counts.
    """
    await anyio.to_thread.run_sync(lambda: visit.room.require("read"))
    given = visit.request.headers.get("last-event-id", "") or visit.text("after")
    after = Point.read(given) if given else None
    following = visit.request.state.inspector.following
    if following.is_full(visit.room.scope.key_id):
        return Response(AGAIN, UNAVAILABLE, media_type="text/plain", headers={"Retry-After": "5"})
    return StreamingResponse(following.events(visit, after), media_type=EVENTS, headers=UNBUFFERED)


PATHS = {"live": live}
