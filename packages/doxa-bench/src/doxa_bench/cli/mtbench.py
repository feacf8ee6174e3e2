"""`doxa bench mtbench101` and `mtbench101-refined`: replies in long dialogues, and the dialogues that are hardest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.core.errors import InputError
from doxa.transport.cli.render import put
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted
from doxa_bench.cli.tables import show_table

if TYPE_CHECKING:
    from doxa_bench import MtbenchReport, RefinedReport

__all__ = ["measure_mtbench", "measure_refined", "show_mtbench"]

OUT = Path("mtbench101")
"""Where the files go unless `--out` says otherwise."""


def measure_mtbench(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[MtbenchReport, dict[str, Any]]:
    """Let the systems reply, score what they said, and return the report and it as plain data."""
    from doxa_bench import MtbenchJudge, run_mtbench

    if wanted.judge is None and (wanted.judge_base_url or wanted.judge_key_file):
        raise InputError("bench mtbench101: --judge-base-url and --judge-key-file are of a judge; add --judge MODEL.")
    judge = wanted.judge and MtbenchJudge(wanted.judge, wanted.judge_base_url, wanted.judge_key_file)
    names = (wanted.systems or "").split(",")
    report = run_mtbench(
        wanted.path,
        out=wanted.out or OUT,
        systems=[name.strip() for name in names if name.strip()],
        runs=wanted.runs or 3,
        judge=judge or None,
        limit=wanted.limit,
        sensitivity=bool(wanted.sensitivity),
        as_published=bool(wanted.as_published),
        parallel=wanted.parallel or 8,
        figures=bool(wanted.figures),
        seed=wanted.seed or 0,
        config=request.config,
        progress=tell,
    )
    return report, report.to_dict()


def measure_refined(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[RefinedReport, dict[str, Any]]:
    """Choose the refined subset, and return the report and it as plain data.

    Stage 1 goes by the judged replies of `base` in the folder of an earlier `bench mtbench101`, where there are any.
    """
    from doxa_bench import run_mtbench_refined

    report = run_mtbench_refined(wanted.path, out=wanted.out or OUT)
    return report, report.to_dict()


def show_mtbench(out: Console, found: dict[str, Any]) -> None:
    """Print every table, what was not measured, what failed, and the files; a stand-in is named first."""
    if found.get("stand_in"):
        put(out, "STAND-IN model: these numbers show that the harness works, not how good any model is.\n")
    for table in found["tables"].values():
        show_table(out, table)
    for name, reason in found["left_out"].items():
        put(out, f"Not measured: {name}: {reason.rstrip('.')}.")
    counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in found.get("counts", {}).items())
    models = ", ".join(f"{role} {name}" for role, name in found["models"].items() if name)
    put(
        out,
        f"Written: {', '.join(found['files']) or 'nothing'}; {counts + '; ' if counts else ''}"
        f"{models + '; ' if models else ''}revision {found.get('revision') or 'unknown'}",
    )
