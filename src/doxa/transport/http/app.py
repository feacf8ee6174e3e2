"""An engine and its settings -> the application that serves it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

import anyio.to_thread
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import Scope

from doxa.core.config import ServerConfig
from doxa.engine import Doxa
from doxa.transport.http import manual, mem0, openai, operation, rest
from doxa.transport.http.access import Gate
from doxa.transport.http.guard import Guard, Loopback
from doxa.transport.http.page import ABOUT, TAGS, describe
from doxa.transport.http.problems import Shape, as_problem, install, shaped
from doxa.transport.http.state import Served
from doxa.transport.http.telling import Numbers, Telling
from doxa.transport.inspector import PATH, Inspector
from doxa.transport.mcp import Endpoints, shape, waits
from doxa.transport.querying import Querying

__all__ = ["application"]

SHAPES: Mapping[str, Shape] = {"/mcp": shape, "/openai/": openai.openai_shape, **mem0.SHAPES}
"""How protocols other than Doxa's own say what went wrong, by the beginning of their paths."""

TOLD = ("ETag", "Mcp-Session-Id", "Retry-After", "X-Request-Id")
"""Headers of answers that pages of other origins may read."""


def application(doxa: Doxa, settings: ServerConfig | None = None, *, own_key: str = "") -> FastAPI:
    """Return the application on an engine, which stays the caller's to close.

    Args:
        doxa: the engine of the tenant of the settings; keys open other tenants on the same database.
        settings: by default those of the engine.
        own_key: a key with every right that counts as long as this application does, and is kept nowhere.
    """
    settings = settings or doxa.parts.config.server
    numbers = Numbers()
    doxa.parts.drifts.append(numbers.drifted)
    gate = Gate(doxa, open_=settings.open, rate=settings.rate, own=own_key, measures=numbers)
    querying = Querying(settings.query_s)
    served = Served(doxa=doxa, gate=gate, numbers=numbers, settings=settings, querying=querying)
    endpoints, inspector = Endpoints(gate.room, settings), Inspector(gate, querying, as_problem)
    served.stopping += [endpoints.stop, inspector.stop]
    app = FastAPI(
        title="Doxa",
        version=version("doxa"),
        summary="A memory for language models that dates and sources what it believes.",
        description=ABOUT,
        openapi_tags=TAGS,
        lifespan=_lifespan(settings, endpoints),
        docs_url=None,  # FastAPI's own are scripts from elsewhere, and empty offline
        redoc_url=None,
    )
    app.state.served, app.state.mcp = served, endpoints
    routers = (openai.router, rest.router, mem0.router, operation.router, manual.router)
    for router in routers:  # they are tried in this order, so the proxy's come first, where every millisecond counts
        app.include_router(router)
    app.router.routes.extend([*endpoints.routes, *inspector.routes])
    describe(app)
    told = shaped({**SHAPES, PATH: inspector.shape})
    install(app, told)
    served.waits = lambda scope: waits(scope) or inspector.waits(scope)
    _front(app, settings, numbers, told, served.waits)
    return app


def _front(app: FastAPI, settings: ServerConfig, numbers: Numbers, told: Shape, waits: Callable[[Scope], bool]) -> None:
    """Put in front of an application what every request passes, the last of it first."""
    if settings.cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors),
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=TOLD,
        )
    larger = {"/v1/memory/import": settings.max_import_bytes}
    app.add_middleware(
        Guard,
        max_body_bytes=settings.max_body_bytes,
        larger=larger,
        max_bytes_at_once=settings.max_bytes_at_once,
        concurrency=settings.concurrency,
        told=told,
        waits=waits,
    )
    if settings.open:
        app.add_middleware(Loopback, origins=settings.cors, told=told)
    app.add_middleware(Telling, numbers=numbers)


def _lifespan(settings: ServerConfig, endpoints: Endpoints) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Engine calls run in threads: as many as there may be requests, so that none waits for a thread.
        anyio.to_thread.current_default_thread_limiter().total_tokens = max(40, settings.concurrency)
        async with AsyncExitStack() as stack:
            app.state.served.stack = stack
            await stack.enter_async_context(endpoints.running())
            yield

    return lifespan
