"""`doxa bench`: how well the memory does on a public benchmark, with everything that is needed to do it again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from doxa.transport.cli.app import command
from doxa.transport.cli.render import columns, put
from doxa.transport.cli.request import Request

__all__ = ["Benchmark", "bench"]


class Benchmark(StrEnum):
    """Benchmarks that can be run."""

    LOCOMO = "locomo"


@command("bench", example="doxa bench locomo --data locomo10.json --json")
def bench(
    request: Request,
    name: Annotated[Benchmark, typer.Argument(help="Which benchmark.", show_choices=True)],
    data: Annotated[Path, typer.Option("--data", metavar="FILE", help="Its data; it does not come with Doxa.")],
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="How much evidence a search gives back.")] = 10,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first conversations.")] = None,
    record: Annotated[bool, typer.Option(" /--no-record", help="Write no run record under runs/.")] = True,
) -> None:
    """Measure the memory on a benchmark.

    Prints recall@k and ndcg@k with their standard errors, per category, latency, turns per second, git revision and
    versions. Works on a memory of its own; --db and --user play no part.
    """
    from doxa.evaluate import run_locomo, write_record

    with _progress(request) as tell:
        report = run_locomo(data, k=k, config=request.config, limit=limit, progress=tell)
    found = report.to_dict()
    if record:
        path = write_record(name.value, found, config=request.config, models=report.models)
        request.note(f"Recorded in {path}")
    request.give(found, lambda out: _show(out, found))


def _progress(request: Request) -> AbstractContextManager[Callable[[str, int, int], None] | None]:
    return _Bars(request) if request.shows_progress else nullcontext()


class _Bars:
    """One bar that follows what the benchmark says it is doing."""

    def __init__(self, request: Request) -> None:
        parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._progress = Progress(*parts, console=request.err, transient=True)
        self._task = self._progress.add_task("reading", total=None)

    def __enter__(self) -> Callable[[str, int, int], None]:
        self._progress.start()
        return self._tell

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def _tell(self, what: str, done: int, total: int) -> None:
        self._progress.update(self._task, description=what, completed=done, total=total)


def _show(out: Console, found: dict[str, Any]) -> None:
    measures = list(next(iter(found["categories"].values()), {}))
    table = columns("category", *measures)
    for name, row in (*found["categories"].items(), ("all", found)):
        table.add_row(name, *(str(row[measure]) for measure in measures))
    put(out, table)
    latency = found["latency_ms"]
    put(
        out,
        f"\n{found['turns']:,} turns, {found['turns_per_s']:,.0f} turns/s; "
        f"search {latency['p50']} ms (p50), {latency['p95']} ms (p95); "
        f"encoder {found['models']['encoder']}; revision {found.get('revision') or 'unknown'}",
    )
