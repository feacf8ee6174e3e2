"""An application -> a server that listens, drains and stops."""

from __future__ import annotations

import ipaddress
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from doxa.core.config import ServerConfig
from doxa.core.errors import ConfigError

__all__ = ["require_keys", "serve"]

SWITCH_S = 0.0005
"""How long a thread that understands turns may hold up one that answers: a tenth of what Python lets it."""


def serve(app: FastAPI, settings: ServerConfig, *, started: Callable[[str], None]) -> None:
    """Listen until somebody says stop (SIGTERM, SIGINT); requests under way are answered first.

    Args:
        app: what is served.
        settings: where, and how long a shutdown waits.
        started: called once with the address, when requests are taken.

    Raises:
        ConfigError: keys are needed at this address and the settings want none, or the port is taken.
    """
    require_keys(settings)
    sys.setswitchinterval(SWITCH_S)
    server = _Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=int(settings.drain_s) or None,
            lifespan="on",
        ),
        started,
        app.state.served.stopping,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # what it tells of its life, we tell ourselves
    try:
        server.run()
    except SystemExit as exc:
        raise ConfigError(
            f"Port {settings.port} of {settings.host} cannot be listened on; another program may have it. "
            "Choose another with --port, or 0 for a free one."
        ) from exc


def require_keys(settings: ServerConfig) -> None:
    """Refuse to listen for anybody without keys.

    Raises:
        ConfigError: `server.open` is set and the address is not this machine's own.
    """
    if settings.open and not _is_loopback(settings.host):
        raise ConfigError(
            f"server.open lets everybody in who reaches {settings.host}, and is for this machine only. "
            "Make keys with `doxa keys add` and leave --open out, or listen on 127.0.0.1."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class _Server(uvicorn.Server):
    """A server that says where it listens, and lets go of those who only wait when it is to stop."""

    def __init__(
        self, config: uvicorn.Config, started: Callable[[str], None], stopping: Sequence[Callable[[], None]]
    ) -> None:
        super().__init__(config)
        self._told = started
        self._stopping = stopping

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let SIGTERM and SIGINT end the serving and nothing else: what is served has to be closed after it."""
        if threading.current_thread() is not threading.main_thread():
            yield  # signals are the main thread's
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.servers:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._told(f"http://{f'[{host}]' if ':' in host else host}:{port}")

    async def shutdown(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        for stop in self._stopping:
            stop()
        await super().shutdown(sockets)  # type: ignore[arg-type]
