"""One seed, played: processes that do what clients ask, and what happens to them; what has to be so is looked at after.

A step is something that is begun: an act of a client at a process, a process that is started, ended or crashes, power
that fails, a disk that is full, a clock that jumps, or a process that goes on with what it was at.
"""

from __future__ import annotations

import gc
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from doxa.core.errors import DoxaError, InputError, NotFoundError
from simulation.acts import Acts
from simulation.disk import Disk
from simulation.engines import empty_file, encoder, engine_of, rewired, settings
from simulation.model import User, Wrong
from simulation.reference import Incomparable, believed, retold
from simulation.world import Act, Actor, Crash, Fault, World

__all__ = ["KINDS", "Kind", "Played", "play"]

Kind = Literal["log", "mind", "calm", "model"]
ACTORS = 3
KINDS: Mapping[Kind, float] = {"log": 0.5, "mind": 0.3, "calm": 0.15, "model": 0.05}
"""Shares of the seeds: turns that are kept as they stand, turns that are understood, those by one process that nothing
happens to (so that most steps are said, done by hand or erased), and those that a model reads as well."""
TROUBLED = 0.2
"""The share of acts that something is to happen to."""
SLICED = 0.25
"""The share of acts that others come in between of."""
SLICES = (1, 2, 3, 5, 8, 12, 20, 30)
"""After how many statements of it they do."""
FAULTS = ("error", "full", "locked", "crash", "crash", "torn", "no room", "not synced", "rename")
TURN = 200
"""Turns of the scheduler at most until what was begun has to be done."""


@dataclass(slots=True)
class Played:
    """What came of a seed."""

    seed: int
    kind: Kind
    steps: int
    digest: str
    wrong: str = ""
    counts: Counter[str] = field(default_factory=Counter)


def play(
    seed: int, *, steps: int, folder: Path, kind: Kind | None = None, told: Callable[[str], None] | None = None
) -> Played:
    """Play one seed and return what came of it; everything it writes is in a folder that is emptied first.

    Args:
        seed: says what happens.
        steps: how many.
        folder: where.
        kind: of what kind the world is; by default the seed says so.
        told: is called with everything that happens, a line each.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    world = World(seed)
    world.told = told
    empty_file()
    gc.collect(0)
    gc.disable()
    try:
        with rewired(world):
            return Play(world, folder, kind).run(steps)
    finally:
        gc.enable()
        shutil.rmtree(folder, ignore_errors=True)


class Play:
    """A world with its users and processes."""

    def __init__(self, world: World, folder: Path, kind: Kind | None) -> None:
        self.world, self.chance = world, world.chance
        self.kind: Kind = kind or self.chance.choices([*KINDS], [*KINDS.values()])[0]
        world.durability = self.chance.choice(("process", "power"))
        self.config = settings(world.durability, model=self.kind == "model")
        self.path = folder / "memory.db"
        self.path.write_bytes(empty_file())
        self.folder = folder
        self.disk = Disk(world, seed=world.seed)
        self.users = [User(f"u{number}") for number in range(2 if self.kind == "log" else 1)]
        world.actors = [Actor(world, number) for number in range(1 if self.kind == "calm" else ACTORS)]
        self.acts = Acts(self)
        self.step = 0
        self.wrong: BaseException | None = None
        self.counts: Counter[str] = Counter()
        self._looking: sqlite3.Connection | None = None

    def run(self, steps: int) -> Played:
        """Play so many steps, then hold what is believed against an engine that was never troubled."""
        wrong = ""
        try:
            while self.step < steps:
                self.step += 1
                self._step()
                self._raise()
            self._end()
        except Wrong as exc:
            wrong = f"{type(exc).__name__}: {exc}"
        finally:
            self._leave()
        for user in self.users:
            for row in user.rows:
                self.world.note(f"{user.name} {row.ordinal} {row.kind} {row.turn_id} {row.known_at} {row.text}")
        counts = self.counts + self.world.counts
        return Played(self.world.seed, self.kind, self.step, self.world.digest, wrong, counts)

    def _raise(self) -> None:
        if self.wrong is not None:
            exc, self.wrong = self.wrong, None
            raise exc if isinstance(exc, Wrong) else Wrong(f"{type(exc).__name__}: {exc}") from exc

    def _step(self) -> None:
        if self.world.full and self.chance.random() < 0.2:
            self.world.full = False
            self.world.note(f"{self.step} the disk is free")
        if self.kind != "calm" and self.chance.random() < 0.06:
            self._misfortune()
            return
        actor = self.chance.choice(self.world.actors)
        if actor.act is not None:
            self.counts["went on"] += 1
            actor.resume()
            self._buried(actor)
        elif actor.dead:
            self.begin(actor, "open", "", lambda: self._opened(actor), self._after_open(actor))
        elif self.chance.random() < 0.03:
            self.begin(actor, "close", "", lambda: self._closed(actor), self._after_close(actor))
        else:
            self.acts.one(actor)

    def begin(
        self, actor: Actor, name: str, user: str, call: Callable[[], Any],
        done: Callable[[Any, BaseException | None], None],
    ) -> None:  # fmt: skip
        """Have a process begin an act, with what is to happen to it."""
        fault = None
        share = (
            0.0 if self.kind == "calm" else 1.0 if name != "open" else 0.4
        )  # many statements: else processes would do little but be opened
        if self.chance.random() < TROUBLED * share:
            kind = self.chance.choice(FAULTS)
            most = 12 if kind in ("error", "full", "locked", "crash") else 8
            fault = Fault(kind, self.chance.randrange(1, most), self.chance.random())
        size = self.chance.choice(SLICES) if self.chance.random() < SLICED * share else 0
        self.counts[name] += 1
        act = Act(name, user, call, lambda found, failed: self._done(actor, act, found, failed, done), size, fault)
        self.world.note(f"{self.step} {actor.number} {name} {user} {fault.kind if fault else ''}")
        actor.begin(act)
        self._buried(actor)

    def _done(
        self, actor: Actor, act: Act, found: Any, failed: BaseException | None,
        done: Callable[[Any, BaseException | None], None],
    ) -> None:  # fmt: skip
        """Look at what came of an act; in the thread of the process, so that nothing may be raised here."""
        said = type(failed).__name__ if failed is not None else "ok"
        self.world.note(f"{self.step} {actor.number} {act.name} {said}")
        if failed is not None:
            self.counts[f"{act.name}: {said}"] += 1
        try:
            self._expected(act, failed)
            done(found, failed)
        except BaseException as exc:  # noqa: BLE001  it is raised by the scheduler
            self.wrong = self.wrong or exc

    def _expected(self, act: Act, failed: BaseException | None) -> None:
        """Raise where something failed that had no reason to, or otherwise than Doxa's errors do."""
        if failed is None or isinstance(failed, (Crash, InputError, NotFoundError)):
            return
        if not isinstance(failed, DoxaError):
            raise Wrong(f"{act.name} of {act.user}: raised {type(failed).__name__}: {failed}") from failed
        if not (act.troubled or self.world.full or encoder().failing):
            raise Wrong(f"{act.name} of {act.user}: failed for no reason: {failed}") from failed

    def _buried(self, actor: Actor) -> None:
        """Close what a process held open that has just crashed, and look at the log."""
        if actor.dead and actor.act is None and (actor.engine is not None or actor.connections):
            self._bury(actor)
        self.look()

    def _bury(self, actor: Actor) -> None:
        actor.dead = True
        if actor.act is not None:
            actor.resume()
        self.world.current = actor
        if not any(not one.dead for one in self.world.actors):
            self._blink()
        self.world.burying = True
        for connection in actor.connections:
            connection.close()
        self.world.burying = False
        self.world.current = None
        actor.connections.clear()
        actor.engine, actor.dead = None, True
        for user in self.users:
            if any(one.unsure for one in user.said.values()) or user.doing:
                user.erasing += self.counts["not synced"] > 0

    def _opened(self, actor: Actor) -> None:
        self.world.pids += 1
        actor.pid, actor.dead = self.world.pids, False
        engine_of(actor, self.path, self.config)

    def _after_open(self, actor: Actor) -> Callable[[Any, BaseException | None], None]:
        def done(_: Any, failed: BaseException | None) -> None:
            actor.dead = failed is not None

        return done

    def _closed(self, actor: Actor) -> None:
        if not any(one.engine is not None for one in self.world.actors if one is not actor):
            self._blink()
        actor.engine.close()

    def _after_close(self, actor: Actor) -> Callable[[Any, BaseException | None], None]:
        def done(_: Any, failed: BaseException | None) -> None:
            actor.dead = True

        return done

    def _misfortune(self) -> None:
        """Have something happen to the world."""
        drawn = self.chance.random()
        if drawn < 0.35:
            jump = self.chance.choice((-3600.0, -30.0, -1.0, 1.0, 30.0, 3600.0, 86400.0))
            self.world.note(f"{self.step} the clock jumps by {jump}")
            self.counts["clock jumped"] += 1
            self.world.clock.jump(jump)
        elif drawn < 0.55:
            actor = self.chance.choice(self.world.actors)
            self.world.note(f"{self.step} {actor.number} is killed")
            self.counts["killed"] += not actor.dead
            self._bury(actor)
            self.look()
        elif drawn < 0.7:
            self._lose_power()
        elif drawn < 0.85:
            self.world.full = True
            self.counts["disk full"] += 1
            self.world.note(f"{self.step} the disk is full")
        else:
            encoder().failing = not encoder().failing
            self.counts["encoder stalled"] += encoder().failing
            self.world.note(f"{self.step} the encoder {'stalls' if encoder().failing else 'works'}")

    def _lose_power(self) -> None:
        self.world.note(f"{self.step} the power fails")
        self.counts["power failed"] += 1
        for actor in self.world.actors:
            self._bury(actor)
        self._blink()
        for how, count in self.disk.lose_power(self.chance).items():
            self.counts[f"writes {how} when the power failed"] += count
        self.path.with_name(f"{self.path.name}-shm").unlink(missing_ok=True)
        self.world.lose_renames()
        self.world.full = False
        for user in self.users:
            user.lost = self.world.durability == "process"
            user.erasing += any(one.gone == "maybe" for one in user.said.values()) or bool(user.doing)

    def look(self) -> None:
        """Compare every log with what has to be there; while no process is there, nobody can."""
        writer = self.world.writer
        if writer is not None and writer.actor.act is None and not writer.actor.dead:
            raise Wrong(f"{writer.actor.number} has ended what it was at, and still has the write lock")
        if not any(not one.dead and one.engine is not None and one.connections for one in self.world.actors):
            return
        if self._looking is None:
            where = f"file:{self.path}?mode=ro&vfs=unix"
            self._looking = sqlite3.connect(where, uri=True, isolation_level=None, check_same_thread=False)
        for user in self.users:
            user.check(self._looking, self.step)

    def _blink(self) -> None:
        """Let the file go: who is the last to hold it empties the write-ahead log."""
        if self._looking is not None:
            self._looking.close()
            self._looking = None

    def calm(self) -> None:
        """Have everything end that was begun."""
        for _ in range(TURN * ACTORS):
            busy = [actor for actor in self.world.actors if actor.act is not None]
            if not busy:
                return
            actor = self.chance.choice(busy)
            assert actor.act is not None
            actor.act.slice = 0
            actor.resume()
            self._buried(actor)
            self._raise()
        raise Wrong(f"never done: {[actor.act.name for actor in self.world.actors if actor.act]}")

    def plainly(self, actor: Actor, call: Callable[[], Any]) -> Any:
        """Return what a call gives in a process that nothing happens to."""
        out: list[Any] = []
        failures: list[BaseException] = []

        def done(found: Any, failed: BaseException | None) -> None:
            out.append(found)
            if failed is not None:
                failures.append(failed)

        actor.begin(Act("look", "", call, done))
        while not out:
            actor.resume()
        if failures:
            raise Wrong(f"failed for no reason: {type(failures[0]).__name__}: {failures[0]}") from failures[0]
        return out[0]

    def agree(self) -> None:
        """Have every process say what it believes of every user: it has to be the same."""
        self.calm()
        self.world.full, encoder().failing = False, False
        living = [actor for actor in self.world.actors if not actor.dead]
        for user in self.users:
            said = []
            for actor in living:
                self.plainly(actor, partial(actor.engine.wait, user.name))
            for actor in living:
                said.append(self.plainly(actor, partial(believed, actor.engine, user.name)))
            self.counts["compared with each other"] += len(said)
            for one in said[1:]:
                if one != said[0]:
                    raise Wrong(f"{user.name}: two processes do not believe the same: {_difference(said[0], one)}")
        self.look()

    def _end(self) -> None:
        self.calm()
        self.world.full, encoder().failing = False, False
        actor = self.world.actors[0]
        if actor.dead:
            self.plainly(actor, lambda: self._opened(actor))
            actor.dead = False
        self.look()
        self.acts.tell_all(actor)
        self.agree()
        self._require_gone()
        for user in self.users:
            if self.kind == "model" or (self.kind == "log" and self.chance.random() < 0.5):
                continue
            mine = self.plainly(actor, partial(believed, actor.engine, user.name))
            self._hold_against(user, mine)

    def _require_gone(self) -> None:
        """Require that what was erased is in no byte of any file, where no turn says what another says."""
        if self.kind != "log":
            return
        files = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        for user in self.users:
            for one in user.said.values():
                word = one.text.partition(".")[0].encode()
                left = [path.name for path, data in files.items() if one.gone == "yes" and word in data]
                if left:
                    raise Wrong(f"{user.name}: {one.turn_id} was erased, and {word!r} is in {left}")
            self.counts["erased, and looked for in every byte"] += sum(one.gone == "yes" for one in user.said.values())

    def _hold_against(self, user: User, mine: dict[str, Any]) -> None:
        """Compare what is believed with an engine that was never told what was erased, and that nothing happened to."""
        other = self.folder / f"{user.name}.db"
        other.write_bytes(empty_file())
        was = self.world.clock.wall_s
        try:
            never = retold(user, self.world, other, settings("process"))
        except Incomparable as exc:
            self.counts["not comparable"] += 1
            self.world.note(f"not comparable: {exc}")
            return
        finally:
            self.world.clock.wall_s = was
        self.counts["compared with an untroubled engine"] += 1
        if never != mine:
            raise Wrong(f"{user.name}: believed otherwise than by who was told the same: {_difference(never, mine)}")

    def _leave(self) -> None:
        for actor in self.world.actors:
            self._bury(actor)
            actor.end()
        self._blink()
        self.disk.close()
        encoder().failing = False


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    told = []
    for name in one:
        if one[name] == other[name]:
            continue
        if isinstance(one[name], list):
            told.append(f"{name}: only there {[x for x in one[name] if x not in other[name]]}")
            told.append(f"only here {[x for x in other[name] if x not in one[name]]}")
        else:
            told.append(f"{name}: there {one[name]}, here {other[name]}")
    return "; ".join(told)
