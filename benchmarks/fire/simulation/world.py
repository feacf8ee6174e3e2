"""One world: its clock, its disk, its processes, and the chance by which they are troubled; one thing at a time.

Every process is a thread, of which only the one runs that has the baton. It is given away where a statement is about to
reach SQLite, where somebody sleeps, and where an act ends: so the seed alone says what happens in which order.
"""

from __future__ import annotations

import errno
import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from simulation.clock import Clock
from simulation.disk import FULL, IOERR_FSYNC, IOERR_WRITE, OK

__all__ = ["Actor", "Crash", "Fault", "World"]

BEGAN = 1_704_067_200.0
"""The 1st of January 2024."""
WAITS_S = 0.01
MOST_WAITS = 400
STATEMENTS = ("error", "full", "locked", "crash")
WRITES = ("torn", "no room", "not synced")


class Crash(BaseException):
    """The process is gone: nothing after it happens."""


@dataclass(slots=True)
class Fault:
    """What goes wrong: at which of the points that are still to come."""

    kind: str
    after: int
    share: float = 0.0
    """How much of a write that is torn reaches the file."""
    fired: bool = False


@dataclass(slots=True)
class Act:
    """Something that a process is at."""

    name: str
    user: str
    call: Callable[[], Any]
    done: Callable[[Any, BaseException | None], None]
    """Called with what came of it, or what it raised."""
    slice: int = 0
    """After how many points others have their turn; 0: never."""
    fault: Fault | None = None
    points: int = 0
    troubled: bool = False
    """Whether anything went wrong, or somebody else was in the way."""


class Actor:
    """A simulated process: one engine, in a thread of its own that runs when it is told to."""

    def __init__(self, world: World, number: int) -> None:
        self.world, self.number = world, number
        self.pid = 0
        self.engine: Any = None
        self.dead = True
        self.act: Act | None = None
        self.connections: list[Connection] = []
        self._go = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, name=f"simulated-{number}", daemon=True)
        self._thread.start()

    def begin(self, act: Act) -> None:
        """Begin an act, and run until it ends or is interrupted."""
        self.act = act
        self.resume()

    def resume(self) -> None:
        """Go on with the act."""
        self.world.current = self
        self._go.release()
        self.world.back.acquire()
        self.world.current = None

    def pause(self) -> None:
        """Let others have their turn; called in the thread of the process."""
        self.world.back.release()
        self._go.acquire()
        if self.dead:
            raise Crash

    def end(self) -> None:
        """End the thread."""
        self.act = None
        self._go.release()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self._go.acquire()
            act = self.act
            if act is None:
                return
            found, failed = None, None
            try:
                found = act.call()
            except BaseException as exc:  # noqa: BLE001  whatever it is, it is looked at
                failed = exc
            self.act = None
            act.done(found, failed)
            del act, found, failed
            self.world.back.release()


class Cursor(sqlite3.Cursor):
    """A cursor whose statements may go wrong."""

    def execute(self, sql: str, *given: Any) -> Any:
        """Execute a statement, unless something happens first."""
        self.connection.before(sql)  # type: ignore[attr-defined]
        try:
            return super().execute(sql, *given)
        finally:
            self.connection.after(sql)  # type: ignore[attr-defined]

    def executemany(self, sql: str, *given: Any) -> Any:
        """Execute a statement several times, unless something happens first."""
        self.connection.before(sql)  # type: ignore[attr-defined]
        try:
            return super().executemany(sql, *given)
        finally:
            self.connection.after(sql)  # type: ignore[attr-defined]


class Connection(sqlite3.Connection):
    """A connection of a simulated process to SQLite."""

    world: World
    actor: Actor

    def cursor(self, *_: Any, **__: Any) -> Any:
        """Return a cursor."""
        return super().cursor(Cursor)

    def execute(self, sql: str, *given: Any) -> Any:
        """Execute a statement in a cursor of its own."""
        return self.cursor().execute(sql, *given)

    def before(self, sql: str) -> None:
        """Have happen what is to happen before a statement."""
        if self.actor.dead:
            raise Crash
        if sql.startswith(("BEGIN IMMEDIATE", "VACUUM")):
            self.world.wait_for_writer(self)
        elif sql.startswith("PRAGMA wal_checkpoint"):
            self.world.wait_for_others(self)
        self.world.point(self.actor, sql[:6])

    def after(self, sql: str) -> None:
        """Take note of what a statement did: SQLite itself rolls back where there is no room."""
        if sql.startswith("BEGIN IMMEDIATE") and self.in_transaction:
            self.world.writer = self
        elif self.world.writer is self and not self.in_transaction:
            self.world.writer = None
        if self.actor.dead:
            raise Crash

    def commit(self) -> None:
        """Commit, unless something happens first; the process may end before it learns of it."""
        wrote = self.world.writer is self
        if wrote:
            self.world.point(self.actor, "COMMIT")
        try:
            super().commit()
        finally:
            if wrote and not self.in_transaction:
                self.world.writer = None
            if self.actor.dead and not self.world.burying:
                raise Crash
        if wrote:
            self.world.writer = None
            self.world.point(self.actor, "DONE")

    def rollback(self) -> None:
        """Roll back."""
        super().rollback()
        if self.world.writer is self:
            self.world.writer = None

    def close(self) -> None:
        """Close."""
        if self.world.writer is self:
            self.world.writer = None
        super().close()


@dataclass(slots=True)
class World:
    """All that there is in one run. It decides what becomes of a write (`disk.Watcher`)."""

    seed: int
    durability: str = "process"
    clock: Clock = field(default_factory=lambda: Clock(began=BEGAN))
    back: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    actors: list[Actor] = field(default_factory=list)
    current: Actor | None = None
    writer: Connection | None = None
    """Who has SQLite's write lock."""
    burying: bool = False
    """Whether what dead processes held open is being closed."""
    full: bool = False
    """Whether the disk has no room left."""
    pids: int = 100
    renames: dict[Path, bytes | None] = field(default_factory=dict)
    """What was in the place of files that took it, since the power failed the last time."""
    counts: Counter[str] = field(default_factory=Counter)
    chance: random.Random = field(init=False)
    _trace: Any = field(init=False)
    told: Callable[[str], None] | None = None
    """Is called with every line of the trace."""

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self._trace = blake2b(digest_size=16)
        self.clock.pause = self._slept_in_python

    def note(self, line: str) -> None:
        """Add a line to the trace."""
        self._trace.update(line.encode() + b"\n")
        if self.told is not None:
            self.told(line)

    @property
    def digest(self) -> str:
        """A digest of everything that has happened."""
        return str(self._trace.hexdigest())

    def connected(self, dialect: Any, record: Any, arguments: Any, given: Any) -> sqlite3.Connection:
        """Make a connection of who runs; SQLAlchemy calls it (`do_connect`)."""
        actor = self.current
        settings = {**given, "check_same_thread": False}
        if actor is None:
            return sqlite3.connect(*arguments, **settings)
        if actor.dead:
            raise Crash
        made: Connection = sqlite3.connect(*arguments, factory=Connection, **settings)
        made.world, made.actor = self, actor
        actor.connections.append(made)
        return made

    def point(self, actor: Actor, what: str) -> None:
        """Have happen what is to happen at this point, and let others have their turn."""
        if self.burying:
            return
        if actor.dead:
            raise Crash
        act = actor.act
        if act is None:
            return
        act.points += 1
        if act.slice and act.points % act.slice == 0 and what != "DONE":
            act.troubled = True
            self.note(f"  {actor.number} waits before {what}")
            actor.pause()
        if (fault := act.fault) is not None and not fault.fired and fault.kind in STATEMENTS:
            fault.after -= 1
            if fault.after <= 0 and (what not in ("DONE", "MODEL") or fault.kind == "crash"):
                self._happens(actor, act, fault, what)

    def _happens(self, actor: Actor, act: Act, fault: Fault, what: str) -> None:
        fault.fired = act.troubled = True
        self.counts[f"{fault.kind} at {what.lower()}"] += 1
        self.note(f"  {actor.number}: {fault.kind} at {what}")
        match fault.kind:
            case "crash":
                actor.dead = True
                raise Crash
            case "error":
                raise sqlite3.OperationalError("disk I/O error")
            case "full":
                raise sqlite3.OperationalError("database or disk is full")
            case _:
                raise sqlite3.OperationalError("database is locked")

    def wait_for_writer(self, connection: Connection) -> None:
        """Wait while another process writes; SQLite itself then finds the lock free, or gives up."""
        actor = connection.actor
        waits = 0
        while self.writer is not None and self.writer is not connection and not self.burying and waits < MOST_WAITS:
            assert actor.act is not None
            actor.act.troubled = True
            waits += 1
            self.clock.go(WAITS_S)
            actor.pause()

    def wait_for_others(self, connection: Connection) -> None:
        """Let others end what they are at: who empties the write-ahead log needs it for himself."""
        actor = connection.actor
        for _ in range(40):
            if self.burying or not any(one.act for one in self.actors if one is not actor and not one.dead):
                return
            assert actor.act is not None
            actor.act.troubled = True
            self.clock.go(WAITS_S)
            actor.pause()

    def _slept_in_python(self) -> None:
        actor = self.current
        if actor is not None and actor.act is not None and not actor.dead:
            actor.act.troubled = True
            actor.pause()

    def renamed(self, part: Path, target: Path) -> None:
        """Take note of a file that takes another's place, unless there is no room, or it fails.

        Raises:
            OSError: it does.
        """
        actor = self.current
        act = actor.act if actor is not None else None
        if actor is None or act is None:
            return
        if actor.dead:
            raise Crash
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        if act.fault is not None and act.fault.kind == "rename" and not act.fault.fired:
            act.fault.fired = act.troubled = True
            self.counts["rename failed"] += 1
            raise OSError(errno.EIO, "Input/output error")
        self.renames.setdefault(target, target.read_bytes() if target.exists() else None)

    def lose_renames(self) -> None:
        """Have files that took another's place since the last time be the old ones, or cut off, by chance."""
        for target, before in sorted(self.renames.items()):
            drawn = self.chance.random()
            if drawn < 0.4 and target.exists():
                self.counts["renames lost"] += 1
                target.unlink() if before is None else target.write_bytes(before)
            elif drawn < 0.7 and target.exists():
                self.counts["files cut off"] += 1
                target.write_bytes(target.read_bytes()[: self.chance.randrange(64) * 64])
        self.renames.clear()

    # What the disk asks.

    def owner(self) -> Actor | None:
        """Return who opens a file."""
        return self.current

    def is_dead(self, owner: Actor | None) -> bool:
        """Tell whether nothing of a process reaches the disk any more."""
        return self.burying or (owner is not None and owner.dead)

    def slept(self, seconds: float) -> None:
        """Let time pass where SQLite waits for a lock."""
        self.clock.go(seconds)

    def may_write(self, owner: Actor | None, path: str, offset: int, size: int, *, grows: bool) -> tuple[int, int]:
        """Decide on a write."""
        if owner is None or owner.act is None:
            return OK, size
        if self.full and grows:
            owner.act.troubled = True
            self.counts["no room for a write"] += 1
            return FULL, 0
        fault = owner.act.fault
        if fault is None or fault.fired or fault.kind not in WRITES[:2]:
            return OK, size
        fault.after -= 1
        if fault.after > 0:
            return OK, size
        fault.fired = owner.act.troubled = True
        self.counts[f"{fault.kind} at a write"] += 1
        self.note(f"  {owner.number}: {fault.kind} at a write")
        if fault.kind == "no room":
            return FULL, 0
        owner.dead = True
        return IOERR_WRITE, int(size * fault.share)

    def may_sync(self, owner: Actor | None, path: str) -> int:
        """Decide on a sync."""
        if owner is None or owner.act is None:
            return OK
        fault = owner.act.fault
        if fault is None or fault.fired or fault.kind != "not synced":
            return OK
        fault.fired = owner.act.troubled = True
        self.counts["not synced at a sync"] += 1
        self.note(f"  {owner.number}: not synced")
        return IOERR_FSYNC
