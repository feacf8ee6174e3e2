"""An engine and its settings -> the application that serves it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

import anyio.to_thread
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from doxa.core.config import ServerConfig
from doxa.engine import Doxa
from doxa.transport.http import openai, operation, rest
from doxa.transport.http.access import Gate
from doxa.transport.http.guard import Guard
from doxa.transport.http.problems import Shape, install, shape_of
from doxa.transport.http.state import Served
from doxa.transport.http.telling import Numbers, Telling

__all__ = ["application"]

SHAPES: Mapping[str, Shape] = {"/openai/": openai.openai_shape}
"""How protocols other than Doxa's own say what went wrong, by the beginning of their paths."""


def application(doxa: Doxa, settings: ServerConfig | None = None) -> FastAPI:
    """Return the application on an engine, which stays the caller's to close.

    Args:
        doxa: the engine of the tenant of the settings; keys open other tenants on the same database.
        settings: by default those of the engine.
    """
    settings = settings or doxa.parts.config.server
    numbers = Numbers()
    served = Served(
        doxa=doxa, gate=Gate(doxa, open_=settings.open, rate=settings.rate), numbers=numbers, settings=settings
    )
    app = FastAPI(
        title="Doxa",
        version=version("doxa"),
        summary="A memory for language models that dates and sources what it believes.",
        lifespan=_lifespan(settings),
        redoc_url=None,
    )
    app.state.served = served
    for router in (operation.router, rest.router, openai.router):
        app.include_router(router)
    told = shape_of(SHAPES)
    install(app, told)
    if settings.cors:
        app.add_middleware(CORSMiddleware, allow_origins=list(settings.cors), allow_methods=["*"], allow_headers=["*"])
    larger = {"/v1/memory/import": settings.max_import_bytes}
    app.add_middleware(
        Guard,
        max_body_bytes=settings.max_body_bytes,
        larger=larger,
        concurrency=settings.concurrency,
        told=told,
    )
    app.add_middleware(Telling, numbers=numbers)
    return app


def _lifespan(settings: ServerConfig) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Engine calls run in threads: as many as there may be requests, so that none waits for a thread.
        anyio.to_thread.current_default_thread_limiter().total_tokens = max(40, settings.concurrency)
        async with AsyncExitStack() as stack:
            app.state.served.stack = stack
            yield

    return lifespan
