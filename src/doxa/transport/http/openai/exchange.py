"""One request of a conversation -> the upstream with memory beside the user's words, and its answer -> the client.

What is said is remembered: the words of the user and the results of tools before the first byte of the answer, the
reply when the client has it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from doxa.backends.upstream import Answer, Asked
from doxa.core.errors import DoxaError, StoreLockedError
from doxa.core.verdicts import Verdict
from doxa.transport.http.access import AGENT_HEADER, Room
from doxa.transport.http.openai import checking
from doxa.transport.http.openai.conversation import digest, read_chat, read_responses
from doxa.transport.http.openai.editing import Body, insertion
from doxa.transport.http.openai.headers import for_upstream, named
from doxa.transport.http.openai.hearing import Ear, Heard
from doxa.transport.http.openai.lending import require_own
from doxa.transport.http.openai.proxy import Link, proxy_of
from doxa.transport.http.openai.relaying import Relayed, pass_on, path_of, send_whole
from doxa.transport.http.openai.replies import response_id
from doxa.transport.http.openai.steering import Steering
from doxa.transport.http.openai.who import room_of, session_of, session_of_words
from doxa.transport.http.state import served

__all__ = ["asked_of", "exchanged"]

logger = logging.getLogger("doxa.server")
SESSION = "Doxa-Session"
WAIT_S = 1.0
"""How long a message waits for what is remembered of it, which a long turn that is being read can hold up."""
SENT_S = 0.005
"""How long a request has to be on its way before what was said is stored: a thread that writes would hold it up."""
REST_S = 0.05
"""How long after an answer the reply is stored: the next message of who talks fast is there by then, and goes first."""
HEAD = 262_144
"""Bytes of a stream that are looked through for the id of its response, which its first event holds."""
LINKED = 100
"""Messages of the user of which a response knows what was put beside them."""


async def exchanged(request: Request, body: Body, *, chat: bool) -> Response:
    """Return the answer of the upstream to a request of a conversation. Cost: two queries, and one search by words."""
    made: list[Exchange] = []

    def make() -> None:  # one call of a thread, since each is a good part of what a request costs
        room = room_of(request, body.data)
        room.require("read")
        room.require("write")
        exchange = Exchange(request, room, body, chat=chat)
        made.append(exchange)
        if not recall_s:
            exchange.look_up()

    recall_s = served(request).settings.recall_ms / 1000
    with anyio.move_on_after(WAIT_S) as waited:
        await anyio.to_thread.run_sync(make, abandon_on_cancel=True)
    if waited.cancelled_caught:
        logger.warning("a message goes without what is remembered: the memory was busy for more than %g s", WAIT_S)
    if not made:
        raise StoreLockedError(f"The database did not answer within {WAIT_S:g} s; nothing was stored. Try again.")
    if recall_s:
        with anyio.move_on_after(recall_s):
            await anyio.to_thread.run_sync(made[0].search, abandon_on_cancel=True)
        with anyio.move_on_after(WAIT_S):
            await anyio.to_thread.run_sync(made[0].look_up, abandon_on_cancel=True)
    return Relayed(made[0].answer, made[0].remember, made[0].look_further)


def asked_of(request: Request, body: bytes, key: str | None) -> Asked:
    """Return a request as it goes to the upstream."""
    path = path_of(request)
    query = request.scope["query_string"].decode("latin-1")
    headers = for_upstream(request.headers, key=key)
    return Asked(method=request.method, path=f"{path}?{query}" if query else path, headers=headers, body=body)


class Exchange:
    """One request and its answer. `chat` tells chat completions from responses."""

    def __init__(self, request: Request, room: Room, body: Body, *, chat: bool) -> None:
        self._request = request
        self._room = room
        self._body = body
        self._chat = chat
        self._proxy = proxy_of(request)
        self._verify = served(request).settings.verify
        self._agent = request.headers.get(AGENT_HEADER)
        self._link, named_ = (None, None) if chat else self._linked()
        before = self._link.digest if self._link else digest(named_) if named_ else ""
        self._talk = read_chat(body) if chat else read_responses(body, before=before)
        session = self._link.session if self._link else session_of(request, body.data)
        self._session = session or (f"openai-{digest(named_)[:16]}" if named_ else session_of_words(self._talk))
        self._ear = Ear(room, self._session, self._agent, self._talk)
        self._heard = Heard(chat=chat)
        self._shelf = self._proxy.beside.shelf(room.scope, self._session)
        self._text: str | None = None
        """What is remembered as the reply, where it is known before its body is read."""
        self._known_as: str | None = None
        """The id of the response."""
        shown = self._session.isascii() and self._session.isprintable()
        self._more = {SESSION: self._session} if shown else {}

    async def answer(self, send: Send) -> None:
        """Have the upstream answer, and send the answer."""
        asked = asked_of(self._request, await self._with_memory(), self._proxy.key)
        if self._verify in ("repair", "block"):
            self._text = await self._steering().answer(asked, send)
            return
        answer = await self._ask(asked)
        try:
            await self._passed_on(answer, send)
        finally:
            await answer.close()

    async def look_further(self) -> None:
        """Look further for what bears on what the user said, while the upstream is at it."""
        await anyio.sleep(2 * SENT_S)
        await anyio.to_thread.run_sync(self.search)

    async def remember(self) -> None:
        """Store what the assistant said; look further for what bears on what the user said, where that is not done."""
        await anyio.sleep(REST_S)
        await anyio.to_thread.run_sync(self._store_reply)
        await anyio.to_thread.run_sync(self.search)

    async def _ask(self, asked: Asked) -> Answer:
        """Return the answer of the upstream; what was said is stored meanwhile, and durable when this returns."""
        answer: Answer | None = None
        failed: DoxaError | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._store_said)
            try:
                answer = await self._proxy.upstream().send(asked)
            except DoxaError as exc:  # outside of the group, where it would be wrapped
                failed = exc
        if answer is None:
            assert failed is not None  # one of the two
            raise failed
        return answer

    async def _store_said(self) -> None:
        await anyio.sleep(SENT_S)
        await anyio.to_thread.run_sync(self._ear.store_said)

    async def _check(self, text: str) -> Verdict | None:
        """Return whether a reply agrees with the memory; None where it says nothing."""
        if not text.strip():
            return None
        memory = self._room.memory("read")
        try:
            return await anyio.to_thread.run_sync(partial(memory.check, text, agent=self._agent or "assistant"))
        except DoxaError as exc:
            if self._verify == "block":  # what was not checked does not leave
                raise
            logger.error("a reply was not checked: %s", exc)
            return None

    def _link_to(self, key: str | None) -> None:
        """Keep where the conversation stands after a response, for a request that goes on from it."""
        if self._chat or key is None:
            return
        places = (*(self._link.places if self._link else ()), *(said.digest for said in self._talk.users))[-LINKED:]
        link = Link(session=self._session, digest=digest(self._talk.digest, key), places=places)
        for name in (key, self._conversation()):
            if name:
                self._proxy.links.keep(self._room.scope, name, link)
        self._known_as = key

    def _steering(self) -> Steering:
        repairs = served(self._request).doxa.parts.config.verify.repairs
        return Steering(
            ask=self._ask,
            check=self._check,
            link=self._link_to,
            chat=self._chat,
            repairs=repairs if self._verify == "repair" else 0,
            blocks=self._verify == "block",
            more=self._more,
        )

    def _conversation(self) -> str | None:
        named_ = self._body.data.get("conversation")
        named_ = named_.get("id") if isinstance(named_, dict) else named_
        return named_ if isinstance(named_, str) else None

    def _linked(self) -> tuple[Link | None, str | None]:
        """Return what the request goes on from, where that is known, and its id."""
        require_own(self._request, self._body, self._room)
        before = self._body.data.get("previous_response_id")
        key = before if before and isinstance(before, str) else self._conversation()
        return self._proxy.links.get(self._room.scope, key) if key else None, key

    def look_up(self) -> None:
        """Find what goes beside the words of the user, where that is not known yet."""
        earlier = self._link.places if self._link else ()
        try:
            self._shelf.complete(self._room.notebook(), self._talk, session=self._session, earlier=earlier)
        except DoxaError as exc:
            logger.error("a message goes without what is remembered: %s", exc)

    async def _with_memory(self) -> bytes:
        """Return the body with what is remembered beside the words of the user."""
        for said in self._talk.users[-1:]:
            self._shelf.settle(said)  # what is found by now, and nothing where that took too long
        beside = self._shelf.texts(self._talk, begins=self._link is None)
        kind = self._talk.kind
        return self._body.with_added([insertion(one.content, text, kind=kind) for one, text in beside if one.content])

    def search(self) -> None:
        """Look further for what bears on what the user said."""
        try:
            self._shelf.search(self._room.notebook(), self._talk)
        except DoxaError as exc:
            logger.error("nothing more is found for a message: %s", exc)

    async def _passed_on(self, answer: Answer, send: Send) -> None:
        heard, good = self._heard, answer.status < 300
        heard.encoding = named(answer.headers, b"content-encoding")
        heard.streamed = named(answer.headers, b"content-type").startswith("text/event-stream")
        more = self._more
        if heard.streamed:
            ending = self._verdict if self._verify == "annotate" and good else None
            await pass_on(answer, send, more=more, seen=self._see, ending=ending)
            heard.whole = good
            return
        body = b"".join([chunk async for chunk in answer.chunks()])
        heard.add(body)
        heard.whole = good
        if good:
            self._identify()
            if self._verify == "annotate" and (verdict := await self._check(heard.text())):
                more = more | checking.header(verdict)
        await send_whole(answer, body, send, more=more)

    def _see(self, piece: bytes) -> None:
        self._heard.add(piece)
        if self._known_as is None and self._heard.size < HEAD:
            self._identify()

    def _identify(self) -> None:
        """Look for the id of the response in what came so far; one in an encoding that is not read has none."""
        if not self._chat:
            with suppress(ValueError):
                self._link_to(response_id(self._heard.body, streamed=self._heard.streamed))

    async def _verdict(self) -> AsyncIterator[bytes]:
        self._heard.whole = True
        if verdict := await self._check(self._heard.text()):
            yield checking.last_event(verdict)

    def _store_reply(self) -> None:
        """Store what the assistant said, unless it was told of a shared memory: that is copied into no other."""
        if self._shelf.draws(self._talk, self._link.places if self._link else ()):
            return
        self._ear.store_reply(self._heard.text() if self._text is None else self._text)
