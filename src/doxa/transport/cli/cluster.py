"""`doxa cluster`: the server on many cores and machines, and bulk work there, through Ray."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from doxa.core.errors import InputError, MissingDependencyError
from doxa.core.storage import database_file
from doxa.transport.cli.app import DONE, INTERRUPTED, PARTLY, command
from doxa.transport.cli.render import clean, count
from doxa.transport.cli.request import Request

if TYPE_CHECKING:
    from doxa.core.config import Config
    from doxa.transport.cluster import Standing, Work

__all__ = ["cluster"]

LOOK_S = 2.0
"""How often a cluster that began here looks whether it was ended from elsewhere."""
GRACE_S = 6.0
"""How long it stays then: `doxa cluster down` is still at it."""


class Act(StrEnum):
    """What is done with a cluster."""

    UP = "up"
    DOWN = "down"
    STATUS = "status"
    INGEST = "ingest"
    FOLD = "fold"
    LEARN = "learn"


@command("cluster", example="doxa cluster up --db postgresql+psycopg://doxa@db/doxa --replicas 4")
def cluster(
    request: Request,
    act: Annotated[
        Act,
        typer.Argument(
            metavar="up|down|status|ingest|fold|learn",
            help="Start, end or show the replicas; take transcripts in, fold memories anew, or have search learn.",
        ),
    ],
    files: Annotated[list[Path] | None, typer.Argument(metavar="FILE...", help="Transcripts, for ingest.")] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address", metavar="HOST:PORT", help="Of the Ray cluster [default: that of this machine, else a new one]."
        ),
    ] = None,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on [DOXA_SERVER_HOST].")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=1, max=65535, help="Port to listen on [DOXA_SERVER_PORT].")
    ] = None,
    replicas: Annotated[
        int | None, typer.Option("--replicas", min=1, help="Replicas that always run [DOXA_CLUSTER_REPLICAS].")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Workers of bulk work [default: one for each core].")
    ] = None,
    format: Annotated[str, typer.Option("--format", help="Of transcripts: auto, openai, locomo or text.")] = "auto",
) -> int:
    """Serve a memory from replicas on a Ray cluster, or work on all of its users there.

    Every request goes to the replica that holds the state of its user; replicas that die are replaced, and more are
    started under load. Where no cluster runs on this machine one begins with `up` and ends with it (Ctrl-C). Bulk work
    takes one user at a time in each worker: the turns of FILE are the user's that the file names, else of --user, else
    of the file's name, and the same command goes on where it was interrupted.
    """
    if (act is Act.INGEST) != bool(files):
        raise InputError("Expected files with ingest and only there: doxa cluster ingest FILE...")
    config = _config(request, host=host, port=port, replicas=replicas)
    if act is Act.UP:
        return _up(request, config, address)
    return _joined(request, act, config, files or (), address=address, workers=workers, format=format)


def _joined(
    request: Request,
    act: Act,
    config: Config,
    files: Sequence[Path],
    *,
    address: str | None,
    workers: int | None,
    format: str,
) -> int:
    """Do something on a cluster that is there already, or, where it is bulk work, on one of its own."""
    fleet = _fleet()
    fleet.connect(config, address=address or ("auto" if act in (Act.DOWN, Act.STATUS) else None))
    try:
        if act is Act.DOWN:
            ended = fleet.down()
            request.give({"ended": ended}, lambda out: out.print("Ended." if ended else "No replicas ran."))
            return DONE
        if act is Act.STATUS:
            return _show(request, fleet.standing())
        chosen = request.options.user
        if act is Act.INGEST:
            work = fleet.ingest(config, files, user=chosen, format=format, workers=workers)
        else:
            whom = [chosen] if chosen else fleet.everybody(config)
            work = fleet.over_users(config, "fold" if act is Act.FOLD else "learn", whom, workers=workers)
        return _work(request, act, work)
    finally:
        fleet.disconnect()


def _fleet() -> Any:
    """Return what runs a cluster; the server's own packages are needed for it."""
    try:
        from doxa.transport import cluster as fleet
    except ImportError as exc:
        raise MissingDependencyError(str(exc.name), extra="cluster", purpose="doxa cluster") from exc
    return fleet


def _config(request: Request, *, host: str | None, port: int | None, replicas: int | None) -> Config:
    config = request.config
    given = {name: value for name, value in {"host": host, "port": port}.items() if value is not None}
    server = config.server.model_copy(update=given)
    if replicas is not None:
        most = config.cluster.max_replicas
        fewest = {"replicas": replicas, "max_replicas": max(most, replicas) if most else 0}
        config = config.model_copy(update={"cluster": config.cluster.model_copy(update=fewest)})
    placed: Config = _fleet().placed(config.model_copy(update={"server": server}))
    return placed


def _up(request: Request, config: Config, address: str | None) -> int:
    from doxa.transport.http import require_keys

    fleet = _fleet()
    require_keys(config.server)
    over = threading.Event()
    own = fleet.connect(config, address=address, told=not (request.options.quiet or request.json))
    signal.signal(signal.SIGTERM, lambda *_: over.set())  # Ray has put one of its own there, which ends all at once
    try:
        if database_file(config.db) is not None:
            request.note(
                "All replicas share one file, which one machine alone can do: for more, name a Postgres (--db)."
            )
        found = fleet.up(config)
        where = f"http://{config.server.host}:{config.server.port}"
        request.give(
            {"address": where, **_plain(found)},
            lambda out: out.print(f"Doxa serves {clean(request.place)} at {where} from {_said(found)}", soft_wrap=True),
        )
        if not own:
            return DONE
        request.note("Stop with Ctrl-C, or with `doxa cluster down` from elsewhere.")
        while not over.wait(LOOK_S):
            if fleet.standing().status == "NOT_STARTED":
                over.wait(GRACE_S)
                return DONE
        return _ended(request)
    except KeyboardInterrupt:
        return _ended(request)
    finally:
        fleet.disconnect()


def _ended(request: Request) -> int:
    request.note("Stopping: requests under way are answered, and what was received is being understood.")
    _fleet().down()
    return DONE


def _show(request: Request, found: Standing) -> int:
    def show(out: Console) -> None:
        out.print(f"{found.status}: {_said(found)}")
        if found.message:
            out.print(clean(found.message), soft_wrap=True)

    request.give(_plain(found), show)
    return DONE


def _plain(found: Standing) -> dict[str, Any]:
    return {
        "status": found.status,
        "replicas": dict(found.replicas),
        "nodes": found.nodes,
        "cpus": found.cpus,
        "message": found.message,
        "ray": found.address,
    }


def _said(found: Standing) -> str:
    states = ", ".join(f"{number} {state.lower()}" for state, number in found.replicas.items() if number)
    return f"{states or 'no replicas'} on {count(found.nodes, 'machine')} with {found.cpus:g} cores"


def _work(request: Request, act: Act, work: Iterator[Work]) -> int:
    began, done = perf_counter(), []
    try:
        for one in work:
            done.append(one)
            for problem in one.problems:
                request.err.print(clean(problem), soft_wrap=True)
            if request.shows_progress:
                request.note(f"{', '.join(map(clean, one.users))}: {_told(act, one)}")
    except KeyboardInterrupt:
        request.note("Interrupted; what is done is kept. The same command goes on.")
        return INTERRUPTED
    seconds = perf_counter() - began
    turns = sum(one.new + one.known + one.turns for one in done)
    total = {
        "users": sum(len(one.users) for one in done),
        "new": sum(one.new for one in done),
        "known": sum(one.known for one in done),
        "failed": sum(one.failed for one in done),
        "turns": turns,
        "seconds": round(seconds, 3),
        "turns_per_s": round(turns / seconds, 1),
        "problems": [problem for one in done for problem in one.problems],
    }
    people, all_turns = count(int(total["users"]), "user"), count(turns, "turn")  # type: ignore[call-overload]
    request.give(total, lambda out: out.print(f"{people}, {all_turns} in {seconds:.1f} s, {turns / seconds:,.0f}/s"))
    return PARTLY if total["problems"] else DONE


def _told(act: Act, one: Work) -> str:
    if act is Act.INGEST:
        return f"{one.new:,} new, {one.known:,} known, {one.failed:,} failed in {one.seconds:.1f} s"
    return one.told or f"{count(one.turns, 'turn')} in {one.seconds:.1f} s"
