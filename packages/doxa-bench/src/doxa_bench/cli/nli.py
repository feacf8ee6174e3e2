"""`doxa bench nli`: how well the configured model judges what follows from what."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import NliReport

__all__ = ["measure_nli", "show_nli"]


def measure_nli(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[NliReport, dict[str, Any]]:
    """Judge the pairs of a file, and return the report and it as plain data."""
    from doxa_bench import run_nli

    report = run_nli(wanted.path, config=request.config, limit=wanted.limit, progress=tell)
    return report, report.to_dict()


def show_nli(out: Console, found: dict[str, Any]) -> None:
    """Put the report: one line for all, one per class with what it was taken for."""
    put(
        out,
        f"{found['pairs']} pairs of {found['data']}: accuracy {found['accuracy']:.3f} (standard error "
        f"{found['standard_error']:.3f}), macro F1 {_number(found['macro_f1'])}, ECE {found['ece']:.3f}, "
        f"{found['pairs_per_s']} pairs per second by {found['models']['nli']}",
    )
    taken = next(iter(found["confusion"].values()))
    table = columns("label", "precision", "recall", "F1", "pairs", *(f"as {label}" for label in taken))
    for label, row in found["classes"].items():
        measures = (_number(row[name]) for name in ("precision", "recall", "f1"))
        counts = (str(count) for count in found["confusion"][label].values())
        table.add_row(label, *measures, str(row["pairs"]), *counts)
    out.print(table)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
