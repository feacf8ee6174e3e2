"""The dialogue: what was said, a field to say more, and beside it what changes in the memory meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import anyio.to_thread
from starlette.responses import RedirectResponse, Response

from doxa.core.values import Reply
from doxa.transport.inspector.rendering import render
from doxa.transport.inspector.visit import SEE_OTHER, Visit
from doxa.transport.streaming import EVENTS, streamed

__all__ = ["PATHS", "POSTS"]

SESSIONS, TURNS, RECENT = 12, 30, 20


def chat(visit: Visit) -> Response:
    """Show a session, the sessions there are, and what changed last.

    Parameters: `session` which one, by default that of the latest turn; `before` the ordinal of the turn before which
    the page of it ends; `sessions` where the list of them begins.
    """
    before = visit.number("before", 0)
    with visit.room.live().opened() as live:
        sessions = live.sessions(after=visit.text("sessions"), limit=SESSIONS)
        latest = live.sessions(limit=1).items
        name = visit.text("session") or (latest[0].name if latest else "default")
        news = live.recent(RECENT)
    said = live.said(name, before=before or None, limit=TURNS)  # outside: what replies cite may be of other memories
    return visit.shown("chat.html", sessions=sessions, name=name, said=said, news=news, new=_new_name())


async def say(visit: Visit) -> Response:
    """Answer what is said, and remember both; step by step as server-sent events, where a script asks for them."""
    session, text = visit.text("session") or "default", visit.sent("text").replace("\r\n", "\n")

    def respond() -> Reply:
        visit.room.require("read")
        return visit.counted(visit.room.dialogue("write", session=session).respond(text))

    def told() -> dict[str, Any]:
        respond()
        said = visit.room.live().said(session, limit=2)
        return {"html": "\n".join(render("_said.html", visit=visit, one=one) for one in said.items[-2:])}

    inspector = visit.request.state.inspector
    if EVENTS in visit.request.headers.get("accept", ""):
        await anyio.to_thread.run_sync(lambda: visit.room)
        return await streamed(told, dict, problem=inspector.problem)
    await anyio.to_thread.run_sync(respond)
    return RedirectResponse(f"{visit.link('chat', session=session)}#say", SEE_OTHER)


def _new_name() -> str:
    """Return a name for another session."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"


PATHS = {"chat": chat}
POSTS = {"chat/say": say}
