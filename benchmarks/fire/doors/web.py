"""HTTP without a server: the REST interface, the proxy that speaks as OpenAI does, and the routes of mem0's clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from doors.base import Fault, Renewed, decoded, encoded, opened
from doors.requests import MEM0, OPENAI, REST
from doxa.core.config import ServerConfig
from doxa.engine import Keys
from doxa.transport.http import application

__all__ = ["Mem0", "OpenAI", "Rest"]

WAIT_S = 30.0
HEADERS = {"Doxa-User": "ana", "Content-Type": "application/json", "Host": "localhost", "Accept": "application/json"}


class Answer:
    """What an application answered."""

    def __init__(self) -> None:
        self.status, self.body = 0, b""

    @property
    def json(self) -> Any:
        """The body as a value; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Web(Renewed):
    """Requests `{"m": method, "p": path, "q": {...}, "h": {...}, "b": body}`; a body is a text, or JSON."""

    tags: Sequence[str] = ()
    """Which operations are asked for."""
    words: Sequence[str] = (
        "ana",
        "t1",
        "a1",
        "application/json",
        "text/turtle",
        "gzip",
        "Bearer x",
        'W/"1"',
        "*",
        "true",
    )
    more: Sequence[Any] = ()

    def __init__(self, models: bool) -> None:
        """Open it: an engine, a key for it and an application."""
        self._models = models
        self._loop = asyncio.new_event_loop()
        self._begin()
        self.seeds: Sequence[bytes] = encoded(*self._operations(), *self.more)

    def _begin(self) -> None:
        self._doxa = opened(self._models)
        _, secret = Keys(self._doxa).add(users=["ana"], rights=["read", "write", "erase", "admin"])
        self._headers = HEADERS | {"Authorization": f"Bearer {secret}"}
        self.app = application(self._doxa, ServerConfig(query_s=1.0))
        self._ended, began = asyncio.Event(), asyncio.Event()
        self._living = self._loop.create_task(self._live(began, self._ended))
        self._loop.run_until_complete(began.wait())

    async def _live(self, began: asyncio.Event, ended: asyncio.Event) -> None:
        """Hold the application open, in one task as it wants it."""
        async with self.app.router.lifespan_context(self.app):
            began.set()
            await ended.wait()

    def _end(self) -> None:
        self._ended.set()
        self._loop.run_until_complete(self._living)
        self._doxa.close()

    def _operations(self) -> Iterator[dict[str, Any]]:
        """Yield a plain request for every operation there is, by the schema of the application."""
        schema = self.app.openapi()
        for path, methods in schema["paths"].items():
            for method, told in methods.items():
                if self.tags and not set(self.tags).intersection(told.get("tags", ())):
                    continue
                taken = told.get("parameters", ())
                for one in taken:
                    if one["in"] == "path":
                        path = path.replace("{" + one["name"] + "}", "t1")
                query = {one["name"]: example(one["schema"], schema) for one in taken if one["in"] == "query"}
                request = {"m": method.upper(), "p": path, "q": query, "h": {}}
                yield {**request, "q": {}}
                for body in list(told.get("requestBody", {}).get("content", {}).values())[:1]:
                    request["b"] = example(body.get("schema", {}), schema)
                yield request

    def __call__(self, data: bytes) -> None:
        given = decoded(data)
        request = (
            given if isinstance(given, dict) else {"m": "POST", "p": "/v1/memory/turns", "b": data.decode("latin-1")}
        )
        self._renew()
        answer = self._loop.run_until_complete(asyncio.wait_for(self._asked(request), WAIT_S))
        if answer.status in (0, 500):
            raise Fault(f"{answer.status} at {self._route(request)}: {_reason(answer)}")
        self._doxa.wait("ana", rest_s=0.0)
        self._check(request, answer)

    def _route(self, request: Mapping[str, Any]) -> str:
        return f"{str(request.get('m'))[:8]} {'/'.join(str(request.get('p')).split('/')[:5])[:60]}"

    def _check(self, request: Mapping[str, Any], answer: Answer) -> None:
        """Hold receipts against what is there."""
        told = answer.json
        receipts = told.get("receipts", ()) if isinstance(told, dict) else ()
        stored = [one["turn_id"] for one in receipts if isinstance(one, dict) and one.get("outcome") == "stored"]
        found = (
            {turn.turn_id for turn in self._doxa.memory(user="ana").turns(stored, withdrawn=True)} if stored else set()
        )
        if missing := set(stored) - found:
            raise Fault(f"{len(missing)} acknowledged turns are gone")

    async def _asked(self, request: Mapping[str, Any]) -> Answer:
        answer, body = Answer(), _body(request.get("b"))
        sent = asyncio.Event()
        pieces = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if pieces:
                return pieces.pop()
            await sent.wait()
            return {"type": "http.disconnect"}

        async def send(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
            elif message["type"] == "http.response.body":
                answer.body += message.get("body", b"")
                if not message.get("more_body"):
                    sent.set()

        await self.app(self._scope(request, len(body)), receive, send)
        return answer

    def _scope(self, request: Mapping[str, Any], size: int) -> dict[str, Any]:
        path = "/" + _text(request.get("p", "")).lstrip("/")
        given = request.get("h") if isinstance(request.get("h"), dict) else {}
        named = {**self._headers, "Content-Length": str(size), **{str(k): _text(v) for k, v in (given or {}).items()}}
        query = request.get("q")
        method = str(request.get("m")).upper().encode("ascii", "ignore").decode()[:12]  # servers let no other through
        asked = (
            urlencode({k: _text(v) for k, v in query.items()}, errors="replace")
            if isinstance(query, dict)
            else _text(query or "")
        )
        return {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
            "method": method or "GET", "path": path,
            "raw_path": quote(path, errors="replace").encode(), "query_string": asked.encode("utf-8", "replace"),
            "headers": [(_latin(name).lower(), _latin(value)) for name, value in named.items()],
            "client": ("127.0.0.1", 5), "server": ("localhost", 80), "state": {},
        }  # fmt: skip

    def close(self) -> None:
        """Close application and engine."""
        self._end()
        self._loop.close()


def _latin(text: str) -> bytes:
    return text.encode("latin-1", "replace")


def _text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode()


def _body(value: object) -> bytes:
    if value is None:
        return b""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()


def _reason(answer: Answer) -> str:
    """Return which error an answer names, whatever its protocol."""
    text = answer.body.decode("utf-8", "replace")
    return text[text.find("(") : text.find(")") + 1] if "(" in text else text[:80]


def example(schema: Any, whole: Mapping[str, Any], deep: int = 0) -> Any:
    """Return a value that fits a schema."""
    if "$ref" in schema:
        return example(whole["components"]["schemas"][schema["$ref"].rpartition("/")[2]], whole, deep + 1)
    for name in ("anyOf", "oneOf", "allOf"):
        if name in schema:
            return example(schema[name][0], whole, deep + 1)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    if schema.get("examples"):
        return schema["examples"][0]
    match schema.get("type"):
        case "object":
            inner = schema.get("properties", {})
            return {name: example(one, whole, deep + 1) for name, one in inner.items()} if deep < 8 else {}
        case "array":
            return [example(schema.get("items", {}), whole, deep + 1)] if deep < 8 else []
        case "integer" | "number":
            return schema.get("default", schema.get("minimum", 1))
        case "boolean":
            return schema.get("default", False)
        case "string":
            return schema.get("default") or "2024-05-01"
    return "x"


class Rest(Web):
    """Doxa's own interface, and what else is served beside it."""

    more = REST


class OpenAI(Web):
    """The proxy without an upstream: the built-in writer answers."""

    tags = ("openai",)
    words = (*Web.words, *"user assistant system developer tool input_text function doxa conv_1".split())
    more = OPENAI


class Mem0(Web):
    """What clients of mem0 call."""

    tags = ("mem0",)
    words = (*Web.words, *"user_id agent_id run_id AND OR NOT gte in icontains created_at metadata".split())
    more = MEM0
