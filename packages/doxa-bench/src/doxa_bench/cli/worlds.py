"""`doxa bench worlds` and `doxa bench beliefbank`: belief states revised without anything being understood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import BeliefBankReport, WorldsReport

__all__ = ["measure_beliefbank", "measure_worlds", "show_beliefbank", "show_worlds"]

TITLES = {
    "conditions": "random and stress schedules",
    "table2": "random and stress schedules, errors near the paper's Table 2 (Gemini 2.5 Flash)",
    "hard": "worlds that Algorithm 1 fails on",
}
LOGGED = 20
"""Entries of a log that are printed."""
NEAR_TABLE_1 = ", errors near the paper's Table 1 (gpt-4.1-mini)"


def measure_worlds(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[WorldsReport, dict[str, Any]]:
    """Return the report on worlds, and it as plain data."""
    from doxa_bench import run_worlds

    report = run_worlds(
        config=request.config,
        seed=wanted.seed or 0,
        dialogues=wanted.dialogues or 120,
        family=wanted.family,
        answerer=wanted.answerer,
        error=wanted.error_rate,
        contradiction=wanted.contradiction_rate,
        logs=bool(wanted.details),
        progress=tell,
    )
    return report, report.to_dict()


def measure_beliefbank(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[BeliefBankReport, dict[str, Any]]:
    """Return the report on BeliefBank, and it as plain data."""
    from doxa_bench import run_beliefbank

    report = run_beliefbank(wanted.path, seed=wanted.seed or 0, limit=wanted.limit, progress=tell)
    return report, report.to_dict()


def show_worlds(out: Console, found: dict[str, Any]) -> None:
    """Print a table like the paper's for each part of a run; a simulated one says so over every table."""
    for name, rows in found.items():
        if isinstance(rows, list) and rows and "system" in rows[0]:
            _show_rows(out, _title(name, rows), [*rows, *found["totals"][name]])
            _show_log(out, found.get("log", {}).get(name, ()))
    calls = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in found["calls"].items())
    put(
        out,
        "Accuracies are shares of questions; ± is one standard error over dialogues. Entailed: labelled by rules and "
        'beliefs together. Paper: final accuracy, inconsistent, retractions of its own models. Rows of "all" are sums.',
    )
    put(
        out,
        f"Answerer: {found['answerer']}; seed {found['seed']}; {calls + '; ' if calls else ''}{found['seconds']} s; "
        f"revision {found.get('revision') or 'unknown'}",
    )


def _title(name: str, rows: Sequence[dict[str, Any]]) -> str:
    simulated, part = rows[0]["simulated"], name.removeprefix("simulated ")
    near = NEAR_TABLE_1 if simulated and part == "conditions" and any(row["paper"] for row in rows) else ""
    title = TITLES.get(part, part)
    return f"{'SIMULATED answerer' if simulated else 'Answerer ' + rows[0]['answerer']}: {title}{near}"


def _show_rows(out: Console, title: str, rows: Sequence[dict[str, Any]]) -> None:
    heads = ("Setting", "Mode", "System", "Raw Acc.", "Final Acc.", "Entailed", "Incons.", "Contrad.", "Retracts")
    table = columns(*heads, "per dialogue", "Rejected", "Paper", title=title)
    for row in rows:
        table.add_row(
            row["setting"],
            row["mode"],
            row["system"],
            f"{row['raw_accuracy']:.3f}",
            f"{row['final_accuracy']:.3f} ± {row['final_accuracy_se']:.3f}",
            f"{row['entailed_accuracy']:.3f}",
            f"{row['inconsistent']}/{row['dialogues']}",
            str(row["contradictions"]),
            str(row["retractions"]),
            f"{row['retractions_per_dialogue']:.3f}",
            str(row["rejections"]),
            "; ".join(_paper(model, one) for model, one in (row["paper"] or {}).items()),
        )
    put(out, table)
    put(out, "")


def _paper(model: str, row: dict[str, Any]) -> str:
    return f"{model} {row['final_accuracy']:.3f}, {row['inconsistent']}, {row['retractions']}"


def _show_log(out: Console, log: Sequence[dict[str, Any]]) -> None:
    """Print the first literals that were given up or not taken in, each with its reason."""
    for one in log[:LOGGED]:
        where = f"{one['setting']} {one['mode']} {one['system']}, {one['dialogue']}, answer {one['turn']}"
        gone = "not taken in" if one["change"] == "rejected" else f"gives up {one['literal']} of answer {one['since']}"
        put(out, f"{where}: {one['said']}, {gone}")
        put(out, f"because of {'; '.join([*one['beliefs'], *one['rules']]) or 'nothing'}", indent=2)
    if log:
        put(out, f"{len(log):,} literals in all; the record has every one.\n")


def show_beliefbank(out: Console, found: dict[str, Any]) -> None:
    """Print a row for what was told and one for every system."""
    heads = ("policy", "accuracy", "from - to", "F1", "consistency", "given up", "turned down", "taken up again")
    table = columns(*heads, "µs per belief, p50 / p95")
    told = f"{found['accuracy_before']:.4f}", "", f"{found['f1_before']:.4f}", f"{found['consistency_before']:.4f}"
    table.add_row("(as told)", *told, "", "", "", "")
    for name, row in found["policies"].items():
        times = row["us_per_belief"]
        table.add_row(
            name,
            f"{row['accuracy']:.4f}",
            " - ".join(f"{end:.4f}" for end in row["accuracy_range"]),
            f"{row['f1']:.4f}",
            f"{row['consistency']:.4f}",
            *(f"{row[count]:,.0f}" for count in ("retractions", "rejections", "restored")),
            f"{times['p50']:,.0f} / {times['p95']:,.0f}" if times else "-",
        )
    put(out, table)
    put(
        out,
        f"\n{found['beliefs']:,} beliefs about {found['entities']} entities, {found['flipped']:.0%} of them flipped, "
        f"under {found['ground_constraints']:,} ground constraints; means of {len(found['seeds'])} seeds, of "
        f"consistency the lowest; revision {found.get('revision') or 'unknown'}",
    )
