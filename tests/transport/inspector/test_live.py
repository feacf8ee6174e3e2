"""What happens in a memory as server-sent events, on a real server."""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
import pytest
from starlette.requests import Request

from doxa.core.config import ServerConfig
from doxa.engine import Doxa, Live
from doxa.transport.http.access import Gate
from doxa.transport.inspector import following
from doxa.transport.inspector.visit import Visit
from doxa.transport.querying import Querying

SOON_S = 30.0


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Look more often than anybody needs to."""
    monkeypatch.setattr(following, "EVERY_S", 0.05)
    monkeypatch.setattr(following, "RECHECK_S", 0.2)


class Seen(list):
    """Events as they come: name, id, data."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = threading.Event()

    def of(self, *kinds: str) -> list[str]:
        """Return what the events of some kinds hold."""
        return [data for kind, _, data in self if kind in kinds]

    def until(self, true: Callable[["Seen"], Any]) -> None:
        """Wait until something is true of them."""
        deadline = time.monotonic() + SOON_S
        while not true(self):
            assert time.monotonic() < deadline and not self.ended.is_set(), list(self)
            time.sleep(0.01)


def read(lines: Iterator[str], seen: Seen) -> None:
    """Read events as the specification has it."""
    name, key, data = "", "", []
    for line in lines:
        if not line and data:
            seen.append((name, key, "\n".join(data)))
            name, data = "", []
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "id":
            key = value
        elif field in ("data", "data:"):
            data.append(value)


@contextmanager
def watching(url: str, secret: str = "", **asked: str) -> Iterator[Seen]:
    """Give what somebody sees who looks at a memory, from the first event on; hang up then."""
    seen = Seen()
    headers = {"Last-Event-ID": asked.pop("last")} if "last" in asked else {}
    where = urlsplit(url)
    headers |= {"Cookie": f"doxa_key={secret}; doxa_key_{where.port}={secret}"} if secret else {}
    client = HTTPConnection(where.netloc, timeout=30)
    client.request("GET", f"/inspect/live?{urlencode(asked)}", headers=headers)
    response = client.getresponse()
    assert response.headers["Content-Type"].startswith("text/event-stream")

    def look() -> None:
        try:
            read((line.decode().rstrip("\n") for line in response), seen)
        finally:
            seen.ended.set()

    socket = client.sock
    thread = threading.Thread(target=look)
    thread.start()
    try:
        seen.until(lambda seen: seen.of("waiting"))  # the last that is told of what there was
        yield seen
    finally:
        with suppress(OSError):  # the server has hung up
            socket.shutdown(SHUT_RDWR)
        thread.join(SOON_S)
        client.close()


def test_what_is_said_and_learned_is_told_as_it_happens(serving, told):
    with watching(serving().url, user="ana") as seen:
        told("I live in Porto.", at="2024-03-02")
        told("I moved to Lisbon.", at="2024-05-02")
        seen.until(lambda seen: len(seen.of("change")) >= 3)
        assert [kind for kind, _, _ in seen if kind == "turn"] == ["turn"] * 2
        changes = "\n".join(seen.of("change"))
        assert "learned" in changes and "ended" in changes and "an update" in changes
        seen.until(lambda seen: "is understood" in seen.of("waiting")[-1])


def test_who_comes_again_misses_nothing_and_hears_nothing_twice(serving, doxa, told):
    url = serving().url
    with watching(url, user="ana") as whole:
        for text in ("I live in Porto.", "I moved to Lisbon.", "Bruno works at Mareluz."):
            told(text)
        whole.until(lambda seen: len(seen.of("change")) == len(doxa.memory(user="ana").history()))
        events = [one for one in whole if one[0] in ("turn", "change")]
    for at, (_, key, _) in enumerate(events):
        rest = sorted(data for _, _, data in events[at + 1 :])
        for how in ({"after": key}, {"last": key, "after": events[-1][1]}):
            with watching(url, user="ana", **how) as seen:
                assert sorted(seen.of("turn", "change")) == rest


def test_two_who_look_see_the_same_and_others_memories_are_not_told(serving, told):
    url = serving().url
    with watching(url, user="ana") as one, watching(url, user="ana") as other, watching(url, user="bo") as bo:
        told("I live in Porto.")
        told("I live in Rome.", user="bo")
        bo.until(lambda seen: seen.of("change"))
        one.until(lambda seen: seen.of("change"))
        other.until(lambda seen: seen.of("change"))
        assert "Rome" not in str(one) + str(other) and "Porto" not in str(bo)
        assert one.of("turn", "change") == other.of("turn", "change")


def test_what_was_said_is_never_markup(serving, told):
    with watching(serving().url, user="ana") as seen:
        told("I live in <script>alert(1)</script>.", '"><img src=x onerror=alert(1)>\r\n\ndata: more\nevent: over')
        seen.until(lambda seen: len(seen.of("turn")) == 2)
        text = str(seen.of("turn", "change", "waiting"))
        assert "<script" not in text and "<img" not in text
        assert "&lt;script&gt;" in text and "onerror" in text
        assert not seen.of("over")


def test_of_much_at_once_the_latest_is_told(serving, doxa, told, monkeypatch):
    monkeypatch.setattr(following, "MOST_AT_ONCE", 3)
    told("I live in Porto.", "Bruno works at Mareluz.", "Carla lives in Faro.")
    with watching(serving().url, user="ana", after="0-0-0-0") as seen:
        assert len(seen.of("turn", "change")) == 3
        assert int(seen.of("skipped")[0]) >= 3


def test_a_past_that_was_erased_has_to_be_looked_at_again(serving, doxa, told):
    told("I live in Porto.", "Bruno works at Mareluz.")
    with watching(serving().url, user="ana") as seen:
        first = doxa.memory(user="ana").turns()[0]
        doxa.memory(user="ana").forget(turn_id=first.turn_id)
        seen.until(lambda seen: seen.of("reload"))


def test_a_key_that_is_revoked_ends_the_stream_of_those_who_have_it(serving, keys, told):
    (key, secret), (_, other) = (keys.add(users=["ana"]) for _ in range(2))
    url = serving(open=False).url
    with watching(url, secret) as seen, watching(url, other) as kept:
        keys.revoke(key.key_id)
        assert seen.ended.wait(SOON_S)
        assert seen[-1][0] == "over"
        told("I live in Porto.")
        kept.until(lambda one: one.of("change"))
        assert "Porto" not in str(seen)


def test_a_stop_of_the_server_does_not_wait_for_those_who_look(serving, told):
    server = serving()
    with watching(server.url, user="ana") as one, watching(server.url, user="bo") as other:
        begun = time.monotonic()
        server.stop()
        assert time.monotonic() - begun < 2
        assert one.ended.wait(2) and other.ended.wait(2)


def test_nothing_is_looked_at_once_everybody_left(serving, told):
    server = serving()
    inspector = next(one for one in server.app.state.served.stopping if hasattr(one.__self__, "following")).__self__
    with watching(server.url, user="ana"):
        assert inspector.following.viewers == 1
    deadline = time.monotonic() + SOON_S
    while inspector.following._feeds or inspector.following._watchers:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_who_is_too_slow_is_told_to_load_again_and_goes_on(doxa, told, monkeypatch):
    """Batches are kept for a while, for all; nobody has a queue."""
    monkeypatch.setattr(following, "BATCHES", 2)

    async def look() -> None:
        seen = following.Following()
        slow = seen.events(visit_of(doxa), None)
        quick = seen.events(visit_of(doxa), None)
        for one in (slow, slow, quick, quick):  # how often to come again, and what waits
            await anext(one)
        for name in ("Bruno", "Carla", "Dora"):
            told(f"{name} lives in Faro.")
            while name not in await anext(quick):
                pass
        assert "event: reload" in await anext(slow)
        told("Elsa lives in Faro.")
        while "Elsa" not in await anext(slow):
            pass
        seen.stop()
        await slow.aclose()
        await quick.aclose()

    asyncio.run(asyncio.wait_for(look(), SOON_S))


def test_a_page_that_is_newer_than_the_last_look_is_not_out_of_date(doxa, told, monkeypatch):
    monkeypatch.setattr(following, "EVERY_S", 60.0)

    async def look() -> None:
        seen = following.Following()
        first = seen.events(visit_of(doxa), None)
        assert [await anext(first) for _ in range(2)]
        told("I live in Porto.")
        page = seen.events(visit_of(doxa), Live(doxa.parts, "ana").point())
        assert "reload" not in [await anext(page) for _ in range(2)][1]
        assert "I live in Porto." in await anext(first)
        assert seen.viewers == 2
        await page.aclose()
        await first.aclose()
        assert seen.viewers == 0
        seen.stop()

    asyncio.run(asyncio.wait_for(look(), SOON_S))


def visit_of(doxa: Doxa) -> Visit:
    """Return the request of somebody who looks at the memory of ana."""
    scope = {
        "type": "http", "method": "GET", "path": "/inspect/live", "query_string": b"user=ana", "headers": [],
        "client": None, "server": ("localhost", 80), "scheme": "http", "root_path": "",
    }  # fmt: skip
    return Visit(request=Request(scope), desk=Gate(doxa, open_=True), querying=Querying(ServerConfig().query_s))


@pytest.mark.parametrize("limit", ["MOST", "MOST_OF_A_KEY"])
def test_no_more_may_look_than_may(serving, monkeypatch, told, limit):
    monkeypatch.setattr(following, limit, 1)
    url = serving().url
    with watching(url, user="ana"):
        refused = httpx2.get(f"{url}/inspect/live", params={"user": "ana"})
        assert refused.status_code == 503 and refused.headers["retry-after"]


@pytest.mark.parametrize("after", ["x", "1-2", "<b>"])
def test_what_is_no_event_is_refused(ana, after):
    assert ana.get("/inspect/live", params={"after": after}).status_code == 400


def test_a_stream_needs_a_key_that_may_read(browser, keys):
    secret = keys.add(users=["ana"], rights=["write"])[1]
    one = browser(open=False)
    assert one.get("/inspect/live", follow_redirects=False).status_code == 303
    one.cookies.set("doxa_key", secret, path="/inspect")
    assert one.get("/inspect/live").status_code == 403
    one.cookies.set("doxa_key", keys.add(users=["bo"])[1], path="/inspect")
    assert one.get("/inspect/live", params={"user": "ana"}).status_code == 403


def test_pages_that_are_looked_at_long_say_where_news_begin(ana, told):
    told("I live in Porto.")
    assert re.search(r'data-news-from="/inspect/live\?after=\d+-1-', ana.page("now"))
    assert "data-news-from" not in ana.page("chat")
