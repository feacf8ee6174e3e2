"""`doxa bench replies`: are contradictions found in replies, and none where there is none?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put, shorten
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import RepliesReport

__all__ = ["measure_replies", "show_replies"]

Tell = Callable[[str, int, int], None]


def measure_replies(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[RepliesReport, dict[str, Any]]:
    """Return the report on checked replies, and it as plain data with the first mistakes."""
    from doxa_bench import run_replies

    report = run_replies(
        wanted.path, config=request.config, seed=wanted.seed or 0, count=wanted.dialogues or 400, progress=tell
    )
    return report, {**report.to_dict(), "errors": report.mistakes()[: wanted.errors or 0]}


def show_replies(out: Console, found: dict[str, Any]) -> None:
    """Print what was found by kind, the rates with their intervals, the latency and the first mistakes."""
    table = columns("kind", "replies", "contradicted")
    for kind, row in found["kinds"].items():
        table.add_row(kind, str(row["replies"]), str(row["contradicted"]))
    put(out, table)
    for one in found["errors"]:
        put(out, f"\n{one['id']} {one['kind']}: {shorten(one['reply'], 200)}")
        put(out, f"called {one['label']}. {one['reason']}".strip(), indent=2)
    latency = found["latency_ms"]
    put(
        out,
        f"\nCaught {_rate(found, 'catch_rate')}, false alarms {_rate(found, 'false_alarms')}, supported of those that "
        f"repeat what is right {found['support'] or 0:.3f}. A check takes {latency.get('p50', 0):.1f} ms (p50), "
        f"{latency.get('p95', 0):.1f} ms (p95); encoder {found['models']['encoder']}; revision "
        f"{found.get('revision') or 'unknown'}",
    )


def _rate(found: dict[str, Any], name: str) -> str:
    low, high = found[f"{name}_95"]
    return f"{found[name] or 0:.3f} ({low:.2f}-{high:.2f})"
