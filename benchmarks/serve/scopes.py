"""Random requests over every route, tool and profile of a server: does any answer hold what another's memory holds?

    python benchmarks/serve/scopes.py [--requests 10000] [--seed 0] [--json FILE]

Two tenants have users of the same and of other names; each memory is told of places that are named nowhere else.
Requests are made at random from what the server says of itself (its OpenAPI page, the tools of MCP), with ids of every
memory, and with headers, query and bodies that name any user. An answer may repeat an id that was asked for; a place of
another memory in it is a read across scopes. Requests that change and erase are among them, so what there is comes and
goes.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient

from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig, ReaderConfig, ServerConfig
from doxa.engine import Doxa, Keys
from doxa.transport.http import application

SCOPES = (("one", "ana"), ("one", "ben"), ("two", "ana"), ("two", "carla"))
WORDS = (
    "Where do I live?",
    "city",
    "tea",
    "I like tea.",
    "Who lives there?",
    "2024-05-01",
    "*",
    "",
    "default",
    "assistant",
)
METHODS = ("get", "post", "put", "patch", "delete")
TOLD_AGAIN = 60
"""After so many requests every memory is told its places again, since many requests erase."""
MCP_PATHS = ("/mcp", "/mcp/reference", "/mcp/mem0", "/mcp/graphiti")
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@dataclass
class Memory:
    """One user's memory: what opens it, what only it holds, and ids that are in it."""

    tenant: str
    user: str
    secret: str
    places: list[str]
    ids: list[str] = field(default_factory=list)


@dataclass
class Report:
    """What was asked and what came of it."""

    requests: int = 0
    routes: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    own: int = 0
    """Answers that hold a place of the memory that was asked: without any, the others would prove nothing."""
    across: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """Requests that were answered with 500."""


def places(tenant: str, user: str) -> list[str]:
    """Return names that no other memory holds."""
    return [f"{tenant.title()}{user.title()}{end}" for end in ("burg", "ville", "stad")]


@contextmanager
def served() -> Iterator[tuple[FastAPI, Doxa, list[Memory]]]:
    """Give an application on an engine in memory, and the memories that it holds."""
    config = Config(
        encoder=EncoderConfig(name="hash"),
        engine=EngineConfig(settle_s=10),
        grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"),
    )
    with Doxa.open(":memory:", config=config) as doxa:
        keys, memories = Keys(doxa), []
        for tenant, user in SCOPES:
            rights = ("read", "write", "erase", "admin")
            _, secret = keys.add(tenant=tenant, users=[user], rights=rights)
            memories.append(Memory(tenant=tenant, user=user, secret=secret, places=places(tenant, user)))
        tell(doxa, memories)
        yield application(doxa, ServerConfig(concurrency=256)), doxa, memories


def tell(doxa: Doxa, memories: Sequence[Memory]) -> None:
    """Tell every memory its places, in turns with ids that others have too, and note the ids of what came of it."""
    for memory in memories:
        engine = doxa.tenant(memory.tenant)
        chat = engine.dialogue(user=memory.user)
        home, work, trip = memory.places
        for text in (f"I live in {home}.", f"I work in {work}.", f"My sister lives in {trip}."):
            chat.absorb(text)
        chat.respond(f"Plan a dinner in {home} for Friday.")
        answer = chat.ask("Where do I live?").answer_id
        found = engine.memory(user=memory.user)
        facts = [fact.fact_id for fact in found.facts()]
        turns = [turn for fact in found.facts() for turn in fact.turn_ids]
        memory.ids = list(dict.fromkeys([*facts, *turns, answer or ""]))


class Maker:
    """Makes requests out of schemas."""

    def __init__(self, rng: random.Random, memories: Sequence[Memory]) -> None:
        self._rng = rng
        self._memories = memories
        self.defs: Mapping[str, Any] = {}
        self.own: Memory | None = None
        """The memory whose key the request has: most of what it names is of it, so that much is answered."""

    def anything(self) -> str:
        """Return a word, the name of a user or of a tenant, or an id out of any memory."""
        one = self.own if self.own and self._rng.random() < 0.6 else self._rng.choice(self._memories)
        return self._rng.choice([*WORDS, one.user, one.tenant, f"{one.tenant}/{one.user}", *one.ids, *one.ids])

    def value(self, schema: Mapping[str, Any], depth: int = 0) -> Any:
        """Return a value that mostly fits a schema."""
        if "$ref" in schema:
            return self.value(self._named(schema["$ref"]), depth + 1)
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self.value(self._rng.choice(schema[several]), depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._rng.choice(schema["enum"])
        kind = schema.get("type", self._rng.choice(["string", "object"]))
        kind = self._rng.choice(kind) if isinstance(kind, list) else kind
        return self._plain(kind, schema, depth)

    def _plain(self, kind: str, schema: Mapping[str, Any], depth: int) -> Any:
        match kind:
            case "object":
                wanted = set(schema.get("required", ()))
                taken = {
                    name: self.value(part, depth + 1)
                    for name, part in schema.get("properties", {}).items()
                    if name in wanted or (depth < 6 and self._rng.random() < 0.4)
                }
                extra = schema.get("additionalProperties", True) and self._rng.random() < 0.2
                return taken | ({"user_id": self.anything(), "user": self.anything()} if extra else {})
            case "array":
                return [self.value(schema.get("items", {}), depth + 1) for _ in range(self._rng.randint(1, 2))]
            case "integer":
                return self._rng.choice([0, 1, 2, 5, 50])
            case "number":
                return self._rng.choice([0.0, 0.1, 0.5, 1.0])
            case "boolean":
                return self._rng.random() < 0.5
            case "null":
                return None
            case _:
                return self.anything()

    def _named(self, reference: str) -> Mapping[str, Any]:
        found: Any = self.defs
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        return found  # type: ignore[no-any-return]


class Player:
    """Sends random requests of one memory after another."""

    def __init__(self, app: FastAPI, client: TestClient, memories: Sequence[Memory], rng: random.Random) -> None:
        self.report = Report()
        self._client, self._memories, self._rng = client, memories, rng
        self._maker = Maker(rng, memories)
        self._page = app.openapi()
        self._routes = [
            (path, method, self._page["paths"][path][method])
            for path in self._page["paths"]
            for method in self._page["paths"][path]
            if method in METHODS and path not in ("/healthz", "/readyz", "/metrics")
        ]
        self._sessions = {(path, one.secret): self._session(path, one) for path in MCP_PATHS for one in memories}
        self._tools = {path: self._listed(path) for path in MCP_PATHS}

    def play(self) -> None:
        """Send one request and look at the answer."""
        memory = self._maker.own = self._rng.choice(self._memories)
        if self._rng.random() < 0.3:
            self._call(memory)
        else:
            self._request(memory)

    def _request(self, memory: Memory) -> None:
        path, method, declared = self._rng.choice(self._routes)
        self._maker.defs = self._page
        query = {}
        filled = path
        for one in declared.get("parameters", ()):
            value = self._maker.value(one["schema"])
            if one["in"] == "path":
                filled = filled.replace(f"{{{one['name']}}}", str(value) or "x")
            elif one["in"] == "query" and (one.get("required") or self._rng.random() < 0.3):
                query[one["name"]] = value
        filled = re.sub(r"\{[^}]*\}", lambda _: self._maker.anything() or "x", filled)
        if self._rng.random() < 0.2:
            query["user_id"] = self._maker.anything()
        content = declared.get("requestBody", {}).get("content", {})
        body = self._maker.value(content["application/json"]["schema"]) if "application/json" in content else None
        if path.startswith("/openai") and body is None and method == "post":
            body = {"model": "doxa", "messages": [{"role": "user", "content": self._maker.anything() or "Hello."}]}
        headers = self._headers(memory)
        sent: dict[str, Any] = {"json": body} if body is not None else {}
        answer = self._client.request(method.upper(), filled, params=query, headers=headers, **sent)
        self._look(
            f"{method.upper()} {path}", memory, answer.status_code, answer.text, f"{filled} {query} {body} {headers}"
        )

    def _headers(self, memory: Memory) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {memory.secret}"}
        for name in ("Doxa-User", "Doxa-Session", "Doxa-Agent"):
            if self._rng.random() < (0.25 if name == "Doxa-User" else 0.1):
                headers[name] = self._maker.anything() or "x"
        return headers

    def _call(self, memory: Memory) -> None:
        path, tools = self._rng.choice(list(self._tools.items()))
        tool = self._rng.choice(tools)
        self._maker.defs = tool["inputSchema"]
        arguments = self._maker.value(tool["inputSchema"])
        params = {"name": tool["name"], "arguments": arguments}
        whose = (
            memory if self._rng.random() < 0.9 else self._rng.choice(self._memories)
        )  # a session that it has heard of
        headers = {**self._headers(memory), "Mcp-Session-Id": self._sessions[path, whose.secret]}
        status, text = self._rpc(path, headers, "tools/call", params)
        self._look(f"{path} {tool['name']}", memory, status, text, str(params))

    def _session(self, path: str, memory: Memory) -> str:
        about = {"name": "scopes", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        headers = {**MCP_HEADERS, "Authorization": f"Bearer {memory.secret}"}
        session: str = self._client.post(path, json=body, headers=headers).headers["mcp-session-id"]
        said = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._client.post(path, json=said, headers={**headers, "Mcp-Session-Id": session})
        return session

    def _listed(self, path: str) -> list[dict[str, Any]]:
        secret = self._memories[0].secret
        headers = {"Authorization": f"Bearer {secret}", "Mcp-Session-Id": self._sessions[path, secret]}
        _, text = self._rpc(path, headers, "tools/list", {})
        line = next((one for one in text.splitlines() if one.startswith("data:")), text)
        tools: list[dict[str, Any]] = json.loads(line.removeprefix("data:"))["result"]["tools"]
        return tools

    def _rpc(self, path: str, headers: Mapping[str, str], method: str, params: Mapping[str, Any]) -> tuple[int, str]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self._client.post(path, json=body, headers={**MCP_HEADERS, **headers})
        return answer.status_code, answer.text

    def _look(self, route: str, memory: Memory, status: int, text: str, sent: str) -> None:
        report = self.report
        report.requests += 1
        report.routes[route] += 1
        report.statuses[status] += 1
        report.own += any(place in text for place in memory.places)
        others = [place for one in self._memories if one is not memory for place in one.places if place in text]
        if others:
            report.across.append(f"{memory.tenant}/{memory.user}: {route} told of {others}: {sent}")
        if status == 500:
            report.faults.append(f"{route}: {sent}: {text[:300]}")


def play(requests: int, seed: int = 0) -> Report:
    """Return what came of so many random requests."""
    rng = random.Random(seed)
    with served() as (app, doxa, memories), TestClient(app, raise_server_exceptions=False) as client:
        player = Player(app, client, memories, rng)
        for place in range(requests):
            if place and place % TOLD_AGAIN == 0:
                tell(doxa, memories)
            player.play()
        return player.report


def main() -> None:
    """Play, print, and leave with 1 when something was read across."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report = play(options.requests, options.seed)
    print(f"requests                {report.requests}")
    print(f"routes and tools        {len(report.routes)}")
    print(f"answers with own places {report.own}")
    print(f"read across scopes      {len(report.across)}")
    print(f"answered with 500       {len(report.faults)}")
    print(f"by status               {dict(sorted(report.statuses.items()))}")
    for line in [*report.across[:20], *report.faults[:20]]:
        print(line)
    if options.json:
        found = {"requests": report.requests, "routes": len(report.routes), "own": report.own}
        found |= {"across": len(report.across), "faults": len(report.faults)}
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    raise SystemExit(1 if report.across or not report.own else 0)


if __name__ == "__main__":
    main()
