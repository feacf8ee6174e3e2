"""`doxa bench beam`: long chats with an assistant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put, shorten
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import BeamReport

__all__ = ["measure_beam", "show_beam"]

MEASURES = ("recall@10", "ndcg@10")


def measure_beam(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[BeamReport, dict[str, Any]]:
    """Return the report on BEAM, and it as plain data."""
    from doxa_bench import run_beam

    report = run_beam(wanted.path, config=request.config, limit=wanted.limit, progress=tell)
    return report, report.to_dict(errors=wanted.errors or 0)


def show_beam(out: Console, found: dict[str, Any]) -> None:
    """Print what was found by kind and system, the marks of replies, the first wrong ones, and the run."""
    table = columns("questions", "system", "n", *MEASURES)
    for kind, systems in found["retrieval"].items():
        for system, row in systems.items():
            table.add_row(kind, system, str(row["n"]), *(_measure(row, name) for name in MEASURES))
    put(out, table)
    marks = columns("replies", "marked", "of", "share")
    for group in ("contradictions", "abstention"):
        for name, row in found[group].items():
            marks.add_row(name.replace("_", " "), str(row["marked"]), str(row["n"]), _share(row))
    put(out, "")
    put(out, marks)
    for one in found["errors"]:
        put(out, f"\n{one['kind']}: {one['question']}")
        put(out, shorten(one["reply"], 300) or "no answer", indent=2)
    search, ask = found["latency_ms"]["search"], found["latency_ms"]["ask"]
    put(
        out,
        f"\n{found['chats']} chats, {found['turns']:,} turns, {found['turns_per_s']:,.1f} turns/s; search "
        f"{search['p50']} ms (p50), {search['p95']} ms (p95); answer {ask['p50']} ms (p50), {ask['p95']} ms (p95); "
        f"encoder {found['models']['encoder']}; revision {found.get('revision') or 'unknown'}",
    )


def _measure(row: dict[str, Any], name: str) -> str:
    interval = row[f"{name}_95"]
    return f"{row[name]:.3f}" + (f" ({interval[0]:.2f}-{interval[1]:.2f})" if interval else "")


def _share(row: dict[str, Any]) -> str:
    if row["share"] is None:
        return "-"
    low, high = row["share_95"]
    return f"{row['share']:.3f} ({low:.2f}-{high:.2f})"
