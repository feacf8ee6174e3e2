"""`doxa bench tables`: every table and figure of the paper on long-term memory, in one run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import PaperReport

__all__ = ["measure_tables", "show_table", "show_tables"]

OUT = Path("tables")
"""Where the files go unless `--out` says otherwise."""


def measure_tables(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[PaperReport, dict[str, Any]]:
    """Write the tables and figures, and return the report and it as plain data."""
    from doxa.core.config import data_folder
    from doxa_bench import run_paper

    report = run_paper(
        wanted.out or OUT,
        data=wanted.data or data_folder(),
        dialogues=wanted.dialogues or 500,
        seed=wanted.seed or 0,
        config=request.config,
        progress=tell,
    )
    return report, report.to_dict()


def show_tables(out: Console, found: dict[str, Any]) -> None:
    """Print every table, what was not measured, and the files."""
    for table in found["tables"].values():
        show_table(out, table)
    for name, reason in found["left_out"].items():
        put(out, f"Not measured: {name}: {reason}.")
    put(out, f"Written: {', '.join(found['files'])}; revision {found.get('revision') or 'unknown'}")


def show_table(out: Console, table: dict[str, Any]) -> None:
    """Print one table, as plain data, and its note."""
    shown = columns(*table["heads"], title=table["title"])
    for row in table["rows"]:
        shown.add_row(*map(_cell, row))
    put(out, shown)
    put(out, table["note"])


def _cell(value: Any) -> str:
    if isinstance(value, list):
        mean, low, high = value
        return f"{mean:.3f}" + (f" ({low:.2f}-{high:.2f})" if low is not None else "")
    return f"{value:.3f}" if isinstance(value, float) else str(value)
