"""What every test gets: no network, the data folder, fixed settings for hypothesis."""

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


class NetworkBlockedError(RuntimeError):
    """A test tried to leave this machine."""


class NetworkGuard:
    """An audit hook, so that C extensions and background threads are held too. It cannot be removed, only opened."""

    def __init__(self) -> None:
        self.open = False
        self.attempts: list[str] = []

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if self.open or not event.startswith("socket."):
            return
        place = _place(event, args)
        if place is None or _is_local(place):
            return
        self.attempts.append(place)
        raise NetworkBlockedError(
            f"{event} to {place!r}: tests stay on this machine. Use a scripted backend or a loopback server, "
            "or mark the test `live` and run it with --live."
        )


def _place(event: str, args: tuple[object, ...]) -> str | None:
    """Return the host that the event is about; None where it is about none."""
    if event in ("socket.getaddrinfo", "socket.gethostbyaddr", "socket.gethostbyname"):
        host = args[0]
    elif event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"):
        address = args[1]
        host = address[0] if isinstance(address, tuple) else None  # AF_UNIX addresses are plain strings
    else:
        return None
    if isinstance(host, bytes):
        host = host.decode()
    return host if isinstance(host, str) else None


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


GUARD = NetworkGuard()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--live", action="store_true", help="run the tests marked `live`, which talk to real services")


def pytest_configure(config: pytest.Config) -> None:
    sys.addaudithook(GUARD)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--live"):
        return
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(pytest.mark.skip(reason="talks to a real service; run with --live"))


@pytest.fixture(autouse=True)
def network_guard(request: pytest.FixtureRequest) -> Iterator[NetworkGuard]:
    """The guard of this test; an attempt fails it even where the code under test swallowed the error."""
    GUARD.open = request.node.get_closest_marker("live") is not None
    GUARD.attempts.clear()
    yield GUARD
    GUARD.open = False
    assert not GUARD.attempts, f"tried to reach {GUARD.attempts}"


@pytest.fixture(scope="session")
def loopback() -> None:
    """For tests with a server on this machine; they are skipped where the cut network takes loopback with it."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=5).close()
    except OSError as exc:
        pytest.skip(f"loopback is down here ({exc})")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with benchmark data, which is not part of the repository."""
    folder = Path(os.environ.get("DOXA_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no benchmark data in {folder}; set DOXA_DATA to the folder that holds it")
    return folder
