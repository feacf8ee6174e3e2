"""`doxa bench facts`: questions over facts that replace each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put, shorten
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import FactsReport

__all__ = ["measure_facts", "show_facts"]

MEASURES = ("right", "in_top_1", "in_top_10")
MARKS = ("by_value", "abstained")
"""Of replies alone."""


def measure_facts(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[FactsReport, dict[str, Any]]:
    """Return the report on FactConsolidation or a drawn set, and it as plain data."""
    from doxa_bench import run_facts

    report = run_facts(
        wanted.data,
        facts=wanted.facts,
        seed=wanted.seed or 0,
        limit=wanted.limit,
        config=request.config,
        progress=tell,
    )
    return report, report.to_dict(errors=wanted.errors or 0)


def show_facts(out: Console, found: dict[str, Any]) -> None:
    """Print every system by kind of question, the first mistakes, and the run."""
    table = columns("questions", "system", "n", *(name.replace("_", " ") for name in MEASURES + MARKS))
    for kind, systems in {**found["kinds"], **found["hops"]}.items():
        for system, row in systems.items():
            marks = ("-" if row[name] is None else f"{row[name]:.3f}" for name in MARKS)
            table.add_row(kind, system, str(row["n"]), *(_measure(row, name) for name in MEASURES), *marks)
    put(out, table)
    for one in found["errors"]:
        put(out, f"\n{one['kind']}: {one['question']}")
        put(out, f"expected {' or '.join(one['accepted'])}; got {shorten(one['reply'], 200) or 'no answer'}", indent=2)
    times = "; ".join(f"{kind} {row['p50']} / {row['p95']} ms" for kind, row in found["latency_ms"].items())
    put(
        out,
        f"\n{found['turns']:,} facts, {found['turns_per_s']:,.0f} a second; answer (p50 / p95) {times}; "
        f"encoder {found['models']['encoder']}; revision {found.get('revision') or 'unknown'}",
    )


def _measure(row: dict[str, Any], name: str) -> str:
    low, high = row[f"{name}_95"]
    return f"{row[name]:.3f} ({low:.2f}-{high:.2f})"
