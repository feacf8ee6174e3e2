"""Engines of simulated processes: the product's own, with its background work done where the seed says.

What is put in the place of something: the clock, the thread that processes turns (`Inline`, which does the same in the
thread that waits for it), whether the holder of a lease lives, the connections to SQLite, and the models, which are
shared by all engines and keep what they have found: a sentence is parsed once in the life of this program.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

import doxa
from doxa.backends import load
from doxa.backends.encoder import CachedEncoder
from doxa.backends.llm.scripted import ScriptedModel
from doxa.backends.parser import cached
from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig, ReaderConfig, StoreConfig
from doxa.core.errors import BackendError, BackendUnavailableError
from doxa.engine import Doxa
from doxa.engine.absorb import maintenance
from doxa.engine.absorb.maintenance import POLL_S, Maintenance
from doxa.understand import foreign_language
from simulation.clock import clocked
from simulation.world import Actor, World

__all__ = ["Inline", "engine_of", "rewired", "settings"]

Durability = Literal["process", "power"]
FOREIGN = foreign_language
TIMEOUT_S, LEASE_S = 2.0, 5.0
LOOKS, SHORT_LOOKS = 3000, 40
"""How often a process looks whether another is done, at most, and how often before it looks less often."""
FORWARD_S = 60.0
"""How far time goes on where nobody would ever be done: the clock was set back while somebody dead held a lease."""
REFUSAL = "I cannot help with that."
REPLIES = (REFUSAL, "", "[]", '{"facts": 3}', '{"claims": [{"subject": ', "\x00\ufffd" * 20, '["' + "a" * 200, "null")
"""What a model says that has lost its way."""


class Inline(Maintenance):
    """Processes turns in the thread of who waits for them, a block at a time."""

    sleep: Callable[[float], None]
    """By the clock of the world."""

    def schedule(self, user: str, *, after_s: float = 0.0) -> None:
        """Take note that there is something to do."""
        if user not in self._queue:
            self._queue.append(user)

    def wait(self, user: str, timeout_s: float | None = None) -> bool:
        """Process what had been received when it was called, or wait for who does."""
        wanted: int | None = None
        for look in range(LOOKS):
            head = self._parts.log.head(user)
            wanted = head.received if wanted is None else min(wanted, head.received)
            if wanted <= head.maintained:
                return True
            if timeout_s is not None and look:
                return False
            if self.process(user) == "busy":
                self.sleep(POLL_S if look < SHORT_LOOKS else FORWARD_S)
        raise AssertionError(f"the turns of {user} are never processed")

    def rest(self, user: str, timeout_s: float) -> None:
        """Wait for nothing: nobody lifts anything here."""

    def stop(self, *, drain: bool, limit_s: float | None = None) -> None:
        """Process what was scheduled, if that is wanted; what fails is left for the next."""
        self._stopping = True
        waiting, self._queue = self._queue, deque()
        for user in waiting if drain else ():
            try:
                self.wait(user, 0.0)
            except doxa.DoxaError:
                continue

    def _lift(self, user: str) -> bool:
        return False


class Faulty:
    """An encoder that fails for a while; it is shared, and never closed."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.failing = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts.

        Raises:
            BackendError: it fails just now.
        """
        if self.failing:
            raise BackendError("the encoder has stalled")
        found: NDArray[np.float32] = self._inner.encode(texts)
        return found

    def close(self) -> None:
        """Stay open."""


@cache
def parser() -> Any:
    """Return the built-in parser with what it has parsed; it is shared, never closed, and forgets nothing."""
    made = cached(load("parser", "builtin"))
    made._parses._capacity = 1 << 16
    if hasattr(made, "_turns"):
        made._turns._capacity = 1 << 16
    made.close = made.forget = lambda: None  # type: ignore[method-assign]
    return made


@cache
def encoder() -> Faulty:
    """Return the encoder of everything that is remembered."""
    return Faulty(CachedEncoder(load("encoder", "hash")))


@cache
def own_encoder() -> Any:
    """Return the built-in encoder, with what it has encoded."""
    return CachedEncoder(load("encoder", "builtin"), capacity=1 << 14)


def settings(durability: Durability, *, model: bool = False) -> Config:
    """Return the lightest settings; with `model`, those of an engine whose turns a language model reads."""
    tree: dict[str, Any] = {
        "encoder": EncoderConfig(name="hash"),
        "engine": EngineConfig(settle_s=0, lease_s=LEASE_S),
        "grader": GraderConfig(name="none"),
        "reader": ReaderConfig(name="none"),
        "nli": {"name": "none"},
        "lexicon": {"name": "none"},
        "recall": {"promote": False, "deadline_ms": 0},
        "store": StoreConfig(durability=durability, timeout_s=TIMEOUT_S),
    }
    if model:
        tree |= {"llm": {"name": "openai:scripted", "api_key": "none"}, "profile": "offline"}
        tree |= {"roles": {"extract": "prompted"}}
    return Config(**tree)


def scripted(world: World, chance: random.Random) -> ScriptedModel:
    """Return a language model that stalls, refuses and garbles; it never says anything that can be used."""

    def say() -> Iterator[Any]:
        while True:
            drawn = chance.random()
            world.clock.go(chance.choice((0.1, 1.0, 2 * LEASE_S)))
            if world.current is not None and world.current.act is not None:
                world.point(world.current, "MODEL")
            yield BackendUnavailableError("the model has stalled") if drawn < 0.3 else chance.choice(REPLIES)

    return ScriptedModel(say())


def engine_of(actor: Actor, path: Path, config: Config) -> Doxa:
    """Open the engine of a process."""
    actor.engine = Doxa.open(path, config=config)
    return actor.engine  # type: ignore[no-any-return]


@contextmanager
def rewired(world: World) -> Iterator[None]:
    """Have everything that Doxa looks at be of this world until the block ends."""
    load_all()
    with ExitStack() as stack:
        stack.enter_context(clocked(world.clock))
        sa.event.listen(sa.Engine, "do_connect", world.connected)
        stack.callback(sa.event.remove, sa.Engine, "do_connect", world.connected)
        parts = importlib.import_module("doxa.engine.wiring.parts")
        leases = importlib.import_module("doxa.backends.store.sql.leases")
        log = importlib.import_module("doxa.memory.log")
        numbers = iter(range(1, 1 << 30))
        given = {
            (parts, "load"): _loading(world),
            (parts, "_own_encoder"): own_encoder,
            (parts, "open_model"): lambda config: (
                scripted(world, random.Random(world.seed)) if config.llm.name is not None else None
            ),
            (maintenance, "Maintenance"): Inline,
            (Inline, "sleep"): world.clock.sleep,
            (maintenance, "owner_name"): lambda: f"here/{world.current.pid if world.current else 0}/{next(numbers)}",
            (leases, "_alive"): lambda owner: _alive(world, owner),
            (log, "WORTH"): 6,
            (log, "SAVED_LEAST"): 24,
            (importlib.import_module("doxa.understand"), "foreign_language"): language_of,
            (Path, "replace"): _replacing(world, Path.replace),
        }
        for (module, name), value in given.items():
            stack.callback(setattr, module, name, getattr(module, name, None))
            setattr(module, name, value)
        encoder().failing = False
        yield


@cache
def load_all() -> None:
    """Load every module of Doxa that an engine may come to, so that what it looks at can be replaced."""
    for package in ("backends.store", "core", "engine", "language", "memory", "reason", "recall", "revise", "tasks",
                    "understand", "verify", "logic"):  # fmt: skip
        found = importlib.import_module(f"doxa.{package}")
        for one in pkgutil.walk_packages(found.__path__, f"doxa.{package}."):
            if ".migrations" not in one.name:
                importlib.import_module(one.name)


def _loading(world: World) -> Callable[..., Any]:
    def loaded(kind: str, name: str, **given: Any) -> Any:
        if kind == "parser":
            return parser()
        return encoder() if kind == "encoder" else load(kind, name, **given)

    return loaded


def _alive(world: World, owner: str) -> bool:
    pid = owner.split("/")[1]
    return any(not actor.dead and str(actor.pid) == pid for actor in world.actors)


def _replacing(world: World, real: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
    def replaced(self: Path, target: Path) -> Path:
        world.renamed(self, target)
        return real(self, target)

    return replaced


@cache
def language_of(text: str) -> str:
    """Return the language of a text, found once in the life of this program."""
    return FOREIGN(text)


@cache
def empty_file() -> bytes:
    """Return a database file of the newest format with nothing in it: to make one takes half a second."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        Doxa.open(path, config=settings("process")).close()
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.read_bytes()
