"""`doxa bench locomo --answers` and `doxa bench longmemeval`: questions about long histories, answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put, shorten
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import LocomoAnswersReport, LongMemEvalReport

__all__ = ["measure_locomo_answers", "measure_longmemeval", "show_answers"]

MEASURES = ("f1", "contained", "false_abstention", "abstention")
Tell = Callable[[str, int, int], None]


def measure_locomo_answers(
    request: Request, wanted: Wanted, tell: Tell | None
) -> tuple[LocomoAnswersReport, dict[str, Any]]:
    """Return the report on the answers to LoCoMo's questions, and it as plain data."""
    from doxa_bench import run_locomo_answers

    report = run_locomo_answers(wanted.path, config=request.config, limit=wanted.limit, out=wanted.out, progress=tell)
    return report, report.to_dict(errors=wanted.errors or 0)


def measure_longmemeval(
    request: Request, wanted: Wanted, tell: Tell | None
) -> tuple[LongMemEvalReport, dict[str, Any]]:
    """Return the report on LongMemEval, and it as plain data."""
    from doxa_bench import run_longmemeval

    report = run_longmemeval(
        wanted.path, config=request.config, limit=wanted.limit, seed=wanted.seed or 0, out=wanted.out, progress=tell
    )
    return report, report.to_dict(errors=wanted.errors or 0)


def show_answers(out: Console, found: dict[str, Any]) -> None:
    """Print the measures by kind of question, the area under risk and coverage, the worst answers and the run."""
    table = columns("questions", "n", *(name.replace("_", " ") for name in MEASURES))
    for name, row in (*found["categories"].items(), ("all", found)):
        table.add_row(name, str(row["n"]), *(_measure(row, measure) for measure in MEASURES))
    put(out, table)
    for one in found["errors"]:
        put(out, f"\n{one['group']}: {one['question']}")
        put(
            out, f"expected {one['gold'] or 'nothing known'}; got {shorten(one['value'], 200) or 'no answer'}", indent=2
        )
    risk, latency = found["risk_coverage"], found["latency_ms"]
    put(out, f"\nRisk over coverage: {risk['aurc']} (best order {risk['best']}). {found['figure']}".rstrip())
    put(
        out,
        f"{found['turns']:,} turns, {found['turns_per_s']:,.0f} turns/s; answer {latency['p50']} ms (p50), "
        f"{latency['p95']} ms (p95); encoder {found['models']['encoder']}; revision "
        f"{found.get('revision') or 'unknown'}",
    )


def _measure(row: dict[str, Any], name: str) -> str:
    """Return a measure with its interval: `0.75 (0.66-0.84)`."""
    if row[name] is None:
        return "-"
    interval = row.get(f"{name}_95")
    return f"{row[name]:.3f}" + (f" ({interval[0]:.2f}-{interval[1]:.2f})" if interval else "")
