"""Many processes on one database that are killed, held up and out of room: does what they were told add up?

    python benchmarks/fire/history.py [--on sqlite | --on postgres] [--operations 20000] [--minutes 15] [--json FILE]

Eight processes work on one database at once. Each has turns of its own, and no other sends or erases these; all of them
read the logs of all users. What an operation is: `receive` a turn with an id, new or sent again, `read` a log from some
row on, `append` what was made of the next turn of a user under the lease of that user, or erase a turn (`rewrite`), as
the engine's own store does it; `--engines` of the processes do the same through a whole engine (absorb, turns, wait,
forget). Meanwhile one after the other is killed (SIGKILL) and started again, one is stopped (SIGSTOP) for longer than a
lease and woken, and now and then the disk is full (a small one is mounted for it; where that may not be, no file may
grow: RLIMIT_FSIZE), or the database server crashes.

Every process tells what it begins, and what came of it, with the time of the clock that the machine's processes share,
through a pipe: what was told outlives it. Then the histories are held against each other and the tables (`check`): no
acknowledged turn is lost, none is there twice, a read that begins after an acknowledgement has it, one that begins
after an erasure does not, no log has what another user said, and no error was another than Doxa's own. A process that
is killed leaves operations of which nobody knows; its successor sends those turns again. Exit code 1 when anything of
that is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "scale"))

from journals import History, check, lines_of, scope_of, text_of, unsure_of
from one_writer import FORKS, Database

from doxa.backends import load
from doxa.backends.store import Head, NewRow, Row, Store, owner_name
from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig, ReaderConfig, StoreConfig
from doxa.core.errors import DoxaError, NotFoundError, StaleLeaseError, StoreConflictError
from doxa.engine import Doxa

LEASE_S, TIMEOUT_S = 1.0, 5.0
TURNS = 150
"""Turns of a user until another one takes the place: logs that are read whole stay short."""
AT = datetime(2024, 1, 1, tzinfo=UTC)
TRIES = 20
SHARES = {"tell": 40, "again": 8, "read": 34, "process": 10, "erase": 8}
SAID_EVERY_S = 20.0


class Journal:
    """Tells what a process does through a pipe: a line when it begins what changes something, one when it is done."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def tell(self, *line: Any) -> None:
        """Write a line. It is there once this returns, whatever becomes of the process."""
        os.write(self._pipe, json.dumps(line, separators=(",", ":")).encode() + b"\n")


@dataclass(slots=True)
class Mine:
    """A turn of this process."""

    user: str
    turn_id: str
    ordinal: int = 0
    """0 while nobody knows whether it is stored."""


class Worker:
    """One process: draws operations, does them, and tells of them."""

    def __init__(self, number: int, life: int, users: int, journal: Journal) -> None:
        self._number, self._life, self._users = number, life, users
        self._chance = random.Random(f"{number} {life}")
        self._journal = journal
        self._mine: list[Mine] = []
        self._count = 0
        self._names, self._shares = [*SHARES], [*SHARES.values()]

    def adopt(self, unsure: list[tuple[str, str]]) -> None:
        """Take over turns of which the process before did not learn whether they are stored."""
        self._mine += [Mine(user, turn_id) for user, turn_id in unsure]

    def work(self, memory: Stored | Engined) -> None:
        """Work until this process is ended."""
        while True:
            (name,) = self._chance.choices(self._names, self._shares)
            if name == "read":
                self._read(memory)
            elif name == "process":
                user = self._user()
                self._done("process", user, "", lambda user=user: memory.process(user))  # type: ignore[misc]
            elif name == "erase":
                self._erase(memory)
            elif name == "again" or (self._mine and not self._mine[-1].ordinal):
                self._send(memory, self._chance.choice(self._mine) if self._mine else self._new())
            else:
                self._send(memory, self._new())

    def _user(self) -> str:
        """Return somebody of whom there are not many turns yet: others follow as the turns of all become more."""
        place = self._count * 8 // TURNS
        return f"u{self._chance.randrange(place, place + self._users)}"

    def _new(self) -> Mine:
        self._count += 1
        self._mine = self._mine[-200:]
        self._mine.append(Mine(self._user(), f"{self._number}.{self._life}.{self._count}"))
        return self._mine[-1]

    def _send(self, memory: Stored | Engined, one: Mine) -> None:
        found = self._done("tell", one.user, one.turn_id, lambda: memory.tell(one.user, one.turn_id))
        if found is not None:
            one.ordinal = found

    def _erase(self, memory: Stored | Engined) -> None:
        known = [one for one in self._mine if one.ordinal]
        if known:
            one = self._chance.choice(known)
            self._mine.remove(one)  # it is not sent again
            self._done("erase", one.user, one.turn_id, lambda: memory.erase(one.user, one.turn_id, one.ordinal))

    def _read(self, memory: Stored | Engined) -> None:
        user, after = self._user(), 0
        if self._chance.random() < 0.5:
            after = self._chance.randrange(TURNS)
        began = time.monotonic_ns()
        try:
            rows = memory.read(user, after)
        except Exception as exc:  # noqa: BLE001  it is told
            self._failed("read", user, "", began, exc)
            return
        turns = [row.turn_id for row in rows if row.turn_id is not None]
        strange = [row.turn_id for row in rows if row.turn_id and row.body["text"] != text_of(user, row.turn_id)]
        self._journal.tell("read", user, began, time.monotonic_ns(), after, turns, strange)

    def _done(self, name: str, user: str, turn_id: str, act: Callable[[], int]) -> int | None:
        began = time.monotonic_ns()
        self._journal.tell("begin", name, user, turn_id, began)
        try:
            found = act()
        except Exception as exc:  # noqa: BLE001  it is told
            self._failed(name, user, turn_id, began, exc)
            return None
        self._journal.tell("done", name, user, turn_id, began, time.monotonic_ns(), found)
        return found

    def _failed(self, name: str, user: str, turn_id: str, began: int, exc: Exception) -> None:
        raw = "" if isinstance(exc, DoxaError) else f"{type(exc).__name__}: {exc}"
        kind = type(exc).__name__
        self._journal.tell("failed", name, user, turn_id, began, time.monotonic_ns(), kind, raw)
        time.sleep(0.002)


class Stored:
    """What is done to the store itself."""

    def __init__(self, store: Store) -> None:
        self._store, self._owner = store, owner_name()

    def tell(self, user: str, turn_id: str) -> int:
        """Store a turn, and return where."""
        body = {"session": "s", "speaker": "Ann", "role": "user", "text": text_of(user, turn_id), "verbatim": True}
        row = NewRow(kind="turn", known_at=AT, body=body)
        return self._store.receive(scope_of(user), row, turn_id=turn_id).row.ordinal

    def read(self, user: str, after: int) -> list[Row]:
        """Return a log from behind a row."""
        return self._store.read(scope_of(user), after=after)

    def process(self, user: str) -> int:
        """Write what was made of the next turn, under the lease; returns 0 where it is another's, or there is none."""
        scope = scope_of(user)
        fence = self._store.lease(scope, owner=self._owner, seconds=LEASE_S)
        if not fence:
            return 0
        try:
            head = self._store.head(scope)
            turn = self._next(scope, head)
            if turn is None:
                return 0
            row = NewRow(kind="maintained", known_at=AT, body={"intents": ["chat"]}, about=turn.ordinal, fence=fence)
            return self._store.append(scope, row, expected_state=head.state).ordinal
        except (StaleLeaseError, StoreConflictError):
            return 0
        finally:
            self._store.lease(scope, owner=self._owner, seconds=0)

    def _next(self, scope: str, head: Head) -> Row | None:
        if head.received <= head.maintained:
            return None
        return next((row for row in self._store.read(scope, after=head.maintained) if row.kind == "turn"), None)

    def erase(self, user: str, turn_id: str, ordinal: int) -> int:
        """Remove a turn and what was made of it; returns how many turns that were."""
        scope = scope_of(user)
        for _ in range(TRIES):
            rows = self._store.read(scope)
            gone = [row.ordinal for row in rows if row.turn_id == turn_id or row.about == ordinal]
            if not gone:
                return 0
            try:
                counts = self._store.rewrite(scope, delete=gone, replace={}, expected=rows[-1].ordinal)
            except StoreConflictError:
                continue
            return counts.get("turn", 0)
        raise StoreConflictError(f"{scope}: others are always faster.")


class Engined:
    """The same through a whole engine."""

    def __init__(self, engine: Doxa) -> None:
        self._engine = engine

    def tell(self, user: str, turn_id: str) -> int:
        """Have a turn remembered; where it is nobody needs to know."""
        talk = self._engine.dialogue(user=user, session="s", speaker="Ann")
        talk.absorb(text_of(user, turn_id), at=AT, turn_id=turn_id, verbatim=True)
        return 1

    def read(self, user: str, after: int) -> list[Any]:
        """Return the turns behind a row."""
        turns = self._engine.memory(user=user).turns(after=after, withdrawn=True)
        return [
            Row(ordinal=t.ordinal, kind="turn", turn_id=t.turn_id, known_at=AT, body={"text": t.text}) for t in turns
        ]

    def process(self, user: str) -> int:
        """Wait for what is received to be processed."""
        self._engine.wait(user)
        return 1

    def erase(self, user: str, turn_id: str, ordinal: int) -> int:
        """Have a turn forgotten."""
        try:
            return len(self._engine.memory(user=user).forget(turn_id=turn_id).turn_ids)
        except NotFoundError:
            return 0


def _work(number: int, life: int, location: str, users: int, engine: bool, pipe: Any, unsure: Any) -> None:
    """Be a process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    import logging

    logging.disable(logging.CRITICAL)
    worker = Worker(number, life, users, Journal(pipe.fileno()))
    worker.adopt(unsure)
    while True:  # to open it may be refused as well: no room, or a server that starts
        try:
            worker.work(opened(location, engine=engine))
        except DoxaError as exc:
            worker._failed("open", "", "", time.monotonic_ns(), exc)
            time.sleep(0.05)


def opened(location: str, *, engine: bool) -> Stored | Engined:
    """Open the database, alone or with an engine on it."""
    if not engine:
        return Stored(load("store", f"sql:{location}", timeout_s=TIMEOUT_S, pool_size=2))
    config = Config(
        encoder=EncoderConfig(name="hash"),
        engine=EngineConfig(settle_s=0, lease_s=LEASE_S),
        grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"),
        store=StoreConfig(timeout_s=TIMEOUT_S, pool_size=2),
    )
    return Engined(Doxa.open(location, config=config))


@dataclass(slots=True)
class Life:
    """A process, and what it told."""

    number: int
    engine: bool
    process: Any
    pipe: Any
    journal: Path
    told: Any
    """The journal, open."""
    life: int = 0
    paused: bool = False


class Company:
    """The processes, what they tell, and the trouble that is made for them."""

    def __init__(self, location: str, folder: Path, options: argparse.Namespace, *, room: Path | None) -> None:
        self.location, self._folder, self._options, self.room = location, folder, options, room
        self.made: Counter[str] = Counter()
        self.lines = 0
        self._chance = random.Random(options.seed)
        self._guard = threading.Lock()
        self._choose = selectors.DefaultSelector()
        self.lives = [self._start(number, 0, ()) for number in range(options.processes)]
        self.over = threading.Event()
        self._reader = threading.Thread(target=self._listen)
        self._reader.start()

    def _start(self, number: int, life: int, unsure: Any) -> Life:
        reading, writing = FORKS.Pipe(duplex=False)
        engine = number < self._options.engines
        process = FORKS.Process(
            target=_work, args=(number, life, self.location, self._options.users, engine, writing, list(unsure))
        )
        process.start()
        writing.close()
        path = self._folder / f"{number}.{life}.journal"
        made = Life(number, engine, process, reading, path, path.open("wb", buffering=0), life)
        self._choose.register(reading.fileno(), selectors.EVENT_READ, made)
        return made

    def _listen(self) -> None:
        while not self.over.is_set():
            with self._guard:
                for key, _ in self._choose.select(0.02):
                    self._take(key.data)
            time.sleep(0.001)

    def _take(self, life: Life) -> bool:
        data = os.read(life.pipe.fileno(), 1 << 20)
        life.told.write(data)
        self.lines += data.count(b'"done"') + data.count(b'["read"') + data.count(b'"failed"')
        return bool(data)

    def kill(self) -> None:
        """Kill one that is not stopped, and have another take its place."""
        with self._guard:
            at = self._chance.choice([at for at, one in enumerate(self.lives) if not one.paused])
            old = self.lives[at]
            old.process.kill()
            old.process.join()
            self._end(old)
            self.lives[at] = self._start(old.number, old.life + 1, unsure_of(old.journal))
        self.made["killed"] += 1

    def _end(self, life: Life) -> None:
        while self._take(life):
            pass
        self._choose.unregister(life.pipe.fileno())
        life.pipe.close()
        life.told.close()

    def pause(self, seconds: float) -> None:
        """Stop one for a while."""
        with self._guard:
            one = self._chance.choice([one for one in self.lives if not one.paused])
            one.paused = True
            os.kill(one.process.pid, signal.SIGSTOP)
        self.made["stopped"] += 1
        self.over.wait(seconds)
        with suppress(ProcessLookupError):
            os.kill(one.process.pid, signal.SIGCONT)
        one.paused = False

    def crowd(self, seconds: float) -> None:
        """Have the disk be full for a while, where it is one of ours; else let no file grow beyond what the log has."""
        if self.room is not None:
            filler = self.room / "filler"
            with filler.open("wb") as file, suppress(OSError):
                os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(self.room).free)
            self.made["disk full"] += 1
            self.over.wait(seconds)
            filler.unlink()
            return
        log = Path(f"{self.location}-wal")
        size = log.stat().st_size if log.exists() else 0
        pids = [one.process.pid for one in self.lives]
        for limit in (size, resource.RLIM_INFINITY):
            for pid in pids:
                with suppress(ProcessLookupError, PermissionError):
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            if limit == size:
                self.made["files may not grow"] += 1
                self.over.wait(seconds)

    def stop(self) -> None:
        """End all of them, and close what they told."""
        for one in self.lives:
            one.process.kill()
            one.process.join()
        self.over.set()
        self._reader.join()
        for one in self.lives:
            self._end(one)


def trouble(company: Company, options: argparse.Namespace, database: Database | None) -> None:
    """Make trouble until there were enough operations, or it took too long."""
    began = said = time.monotonic()
    turn = 0
    pausing: threading.Thread | None = None
    while company.lines < options.operations and time.monotonic() - began < 60 * options.minutes:
        time.sleep(options.every_s)
        turn += 1
        if turn % 2:
            company.kill()
        elif pausing is None or not pausing.is_alive():
            pausing = threading.Thread(target=company.pause, args=(2.5 * LEASE_S,))
            pausing.start()
        if database is None and turn % 3 == 0:
            company.crowd(options.every_s / 2)
        elif database is not None and turn % 40 == 20:
            how = "immediate" if turn % 80 == 20 else "fast"
            database.restart(how)
            company.made[f"database {how}"] += 1
        if (now := time.monotonic()) - said > SAID_EVERY_S:
            said = now
            print(f"{now - began:.0f} s: {company.lines} operations, {dict(company.made)}", file=sys.stderr, flush=True)
    if pausing is not None:
        pausing.join()


@contextmanager
def located(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Database | None, Path | None]]:
    """Give the address of an empty database, its server where there is one, and the disk where it is one of ours."""
    if options.on == "postgres":
        database = Database(Path(tempfile.mkdtemp(prefix="doxa-history-")))
        try:
            yield database.url, database, None
        finally:
            database.close()
        return
    room = folder / "disk"
    room.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={options.disk_mb}m", "none", str(room)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield str(room / "memory.db"), None, room if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(room)], check=True)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Run it, and return the report."""
    with (
        tempfile.TemporaryDirectory(prefix="doxa-history-", dir=options.folder) as name,
        located(options, Path(name)) as (location, database, room),
    ):
        load("store", f"sql:{location}").close()
        began = time.monotonic()
        company = Company(location, Path(name), options, room=room)
        try:
            trouble(company, options, database)
        finally:
            company.stop()
        seconds = time.monotonic() - began
        history = History.of(Path(name))
        store = load("store", f"sql:{location}")
        try:
            wrong = check(history, store)
        finally:
            store.close()
        done = sum(history.outcomes.values())
        return {
            "on": options.on,
            "processes": options.processes,
            "of these with an engine": options.engines,
            "operations": done,
            "through an engine": _through_engines(Path(name), options.engines),
            "seconds": round(seconds, 1),
            "operations a second": round(done / seconds, 1),
            "users": len(history.turns),
            "turns": sum(map(len, history.turns.values())),
            "acknowledged": sum(one.is_known for of in history.turns.values() for one in of.values()),
            "erased": sum(one.is_erased for of in history.turns.values() for one in of.values()),
            "wrong": wrong,
            "raw": dict(history.raw.most_common(20)),
            "trouble": dict(company.made),
            "outcomes": dict(history.outcomes.most_common()),
            "load": os.getloadavg(),
            "cpus": len(os.sched_getaffinity(0)),
        }


def _through_engines(folder: Path, engines: int) -> int:
    own = [path for path in folder.glob("*.journal") if int(path.name.partition(".")[0]) < engines]
    return sum(line[0] != "begin" for path in own for line in lines_of(path))


def main(arguments: list[str] | None = None) -> None:
    """Run, print, and tell whether all is as it should be."""
    options = read_options(arguments)
    report = run(options)
    text = json.dumps(report, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text, encoding="utf-8")
    sys.exit(1 if sum(report["wrong"].values()) else 0)


def read_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the settings of a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--engines", type=int, default=1, help="how many of the processes have a whole engine")
    parser.add_argument("--users", type=int, default=6, help="users that are talked to at a time")
    parser.add_argument("--every-s", type=float, default=0.7, help="seconds between two troubles")
    parser.add_argument("--disk-mb", type=int, default=512, help="size of the disk that is mounted to be full")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--folder", help="where the database and the journals are; a file system in memory is faster")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
