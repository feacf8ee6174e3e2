"""Tools of an MCP server, called as a client calls them, for every set of tools there is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError

from doors.base import Fault, Renewed, decoded, encoded, opened
from doors.web import example
from doxa.core.access import RIGHTS, Scope
from doxa.core.config import MCP_PROFILES
from doxa.transport.http.access import Room
from doxa.transport.mcp.server import server

__all__ = ["Mcp"]

WAIT_S = 30.0
INTERNAL = -32603
OWN: Sequence[Any] = (
    ["doxa", "remember", {"text": "I live in Oslo.", "id": "t1", "when": "2024-05-01", "session": "s"}],
    ["doxa", "remember", {"messages": [{"role": "user", "content": "I like tea."}]}],
    ["doxa", "recall", {"query": "Where do I live?", "as_of": "2024-05-02", "max_tokens": 500}],
    ["doxa", "why", {"id": "t1"}],
    ["doxa", "tasks", {"tell": "Add milk to my list."}],
    ["reference", "create_entities", {"entities": [{"name": "X", "entityType": "thing", "observations": ["is blue"]}]}],
    ["reference", "create_relations", {"relations": [{"from": "X", "to": "Y", "relationType": "knows"}]}],
    ["mem0", "add_memory", {"text": "I like tea.", "user_id": "ana"}],
    [
        "graphiti",
        "add_memory",
        {"name": "x", "episode_body": "I live in Oslo.", "group_id": "ana", "source": "message"},
    ],
    ["doxa", "resource", "doxa://about/Ana"],
    ["reference", "resource", "memory://knowledge-graph"],
)


class Mcp(Renewed):
    """Calls `[set of tools, tool, arguments]`, or `[set, "resource", address]`."""

    anew = 1000
    words: Sequence[str] = (
        *MCP_PROFILES,
        "remember",
        "recall",
        "why",
        "correct",
        "forget",
        "tasks",
        "t1",
        "doxa://summary",
    )

    def __init__(self, models: bool) -> None:
        """Open it: an engine, and a client of a server for every set."""
        self._crashes = Crashes()
        self._models = models
        self._loop = asyncio.new_event_loop()
        self._begin()
        self.seeds: Sequence[bytes] = encoded(*OWN, *self._loop.run_until_complete(self._offered()))

    def _begin(self) -> None:
        self._doxa = opened(self._models)
        self._calls: asyncio.Queue[Any] = asyncio.Queue()
        ready = self._loop.create_future()
        self._serving = self._loop.create_task(self._serve(ready))
        self._loop.run_until_complete(ready)

    def _end(self) -> None:
        self._calls.put_nowait(None)
        self._loop.run_until_complete(self._serving)
        self._doxa.close()

    async def _serve(self, ready: asyncio.Future[None]) -> None:
        """Hold the clients open, in one task as they want it, and pass calls on."""
        async with AsyncExitStack() as stack:
            self._clients = {}
            for profile in MCP_PROFILES:
                room = Room(Scope(tenant="default", user="ana", rights=RIGHTS, key_id="fuzz"), self._doxa)
                made = server(profile, lambda _, room=room: room)
                self._clients[profile] = await stack.enter_async_context(Client(made, mode="auto"))
            ready.set_result(None)
            while (call := await self._calls.get()) is not None:
                call, done = call
                try:
                    done.set_result(await asyncio.wait_for(call(), WAIT_S))
                except Exception as exc:  # noqa: BLE001  it is raised where the call was made
                    done.set_exception(exc)

    async def _offered(self) -> list[Any]:
        found = []
        for profile, client in self._clients.items():
            for tool in (await client.list_tools()).tools:
                schema = tool.input_schema
                given = {key: example(one, {"components": {"schemas": schema.get("$defs", {})}})
                         for key, one in schema.get("properties", {}).items()}  # fmt: skip
                found += [[profile, tool.name, given], [profile, tool.name, {}]]
        return found

    def __call__(self, data: bytes) -> None:
        given = decoded(data)
        self._renew()
        if not isinstance(given, list) or len(given) != 3:
            given = ["doxa", "remember", {"text": given}]
        profile, name, arguments = given
        client = self._clients[profile if isinstance(profile, str) and profile in self._clients else "doxa"]
        name = str(name).encode("utf-8", "replace").decode()
        if name == "resource":
            self._done(lambda: client.read_resource(str(arguments).encode("utf-8", "replace").decode()), name)
        elif isinstance(arguments, dict):
            self._done(lambda: client.call_tool(name, arguments), name)
        self._doxa.wait("ana", rest_s=0.0)

    def _done(self, call: Any, name: str) -> None:
        """Have a call made, and hold its result against what it may say."""
        done = self._loop.create_future()
        self._calls.put_nowait((call, done))
        try:
            self._loop.run_until_complete(done)
        except MCPError as exc:
            if exc.error.code == INTERNAL:
                raise Fault(f"internal error in {name[:30]}: {str(exc)[:80]}") from exc
            return
        except (ValueError, RecursionError, TypeError):
            return  # the client itself cannot write it
        finally:
            self._crashes.raised()

    def close(self) -> None:
        """Close clients and engine."""
        self._end()
        self._loop.close()
        self._crashes.close()


class Crashes(logging.Handler):
    """What tools raise that they do not tell: the SDK writes it into its log, and nothing of it to the client."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._found: list[BaseException] = []
        self._logger = logging.getLogger("mcp")
        self._before = self._logger.propagate
        self._logger.addHandler(self)
        self._logger.propagate = False

    def close(self) -> None:
        """Leave the log as it was found."""
        self._logger.removeHandler(self)
        self._logger.propagate = self._before
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        """Take an exception out of the log."""
        if record.exc_info and record.exc_info[1] is not None:
            self._found.append(record.exc_info[1])

    def raised(self) -> None:
        """Raise what was found since the last call, if anything was."""
        found, self._found = self._found, []
        for one in found:
            raise one
