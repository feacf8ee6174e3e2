"""`doxa bench implicit`: preferences that a later question needs and does not name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import ImplicitReport

__all__ = ["measure_implicit", "show_implicit"]

GROUPS = {
    "workloads": "workload",
    "kinds": "kind of question",
    "subsets": "subset",
    "stages": "turns of history",
    "distances": "turns since it was first said",
}


def measure_implicit(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[ImplicitReport, dict[str, Any]]:
    """Return the report of the implicit benchmark, and it as plain data."""
    from doxa.core.config import data_folder
    from doxa_bench import run_implicit

    report = run_implicit(
        dialogues=wanted.dialogues or 500,
        seed=wanted.seed or 0,
        data=wanted.data or data_folder(),
        ablations=bool(wanted.ablations),
        answers=bool(wanted.answers),
        long=wanted.long or 0,
        config=request.config,
        progress=tell,
    )
    return report, report.to_dict()


def show_implicit(out: Console, found: dict[str, Any]) -> None:
    """Print the main table, then Recall@10 by group."""
    recall, ndcg = f"recall@{found['k']}", f"ndcg@{found['k']}"
    heads = ("system", "Recall@10 (95%)", "nDCG@10 (95%)", "faithful", "stale", "p95 ms", "cost", "time", "paper")
    table = columns(*heads, title=f"{found['questions']:,} questions without a word of their evidence")
    for name, row in found["main"].items():
        paper = row["paper"]
        table.add_row(
            name,
            _interval(row, recall),
            _interval(row, ndcg),
            f"{row['faithful']:.3f}",
            str(row["stale"]),
            f"{row['ms']['p95']:,.0f}",
            _ratio(row["cost"]),
            _ratio(row["time"]),
            "/".join(f"{value:.3f}" for value in paper) if paper else "",
        )
    long = found["long_context"]
    table.add_row("long context", "", "", "", "", "", _ratio(long["cost"]), "", "0.601/0.423")
    put(out, table)
    answered = {name: row["answered"] for name, row in found["kinds"].items() if "answered" in row}
    if answered:
        put(out, "answered from what was said: " + ", ".join(f"{name} {share:.3f}" for name, share in answered.items()))
    for group, title in GROUPS.items():
        rows = columns(title, "n", *(name for name, row in found["main"].items() if not row["ablation"]))
        for name, row in found[group].items():
            shown = [found["main"][system]["ablation"] for system in row["systems"]]
            values = [
                f"{one[recall]:.3f}" for one, hidden in zip(row["systems"].values(), shown, strict=True) if not hidden
            ]
            rows.add_row(name, str(row["n"]), *values)
        put(out, "")
        put(out, rows)
    put(
        out,
        "\nIntervals: 10,000 resamples of dialogues. Faithful: share of the first three turns that state a preference "
        "that holds; stale: turns found that state one that was given up; cost: tokens of the evidence, time: of a "
        "search, both over dense; paper: table 5, on other data. Long context is costed, not run.",
    )
    put(
        out,
        f"{found['dialogues']:,} dialogues, {found['turns']:,} turns, {found['turns_per_s']:,.0f} turns/s; seed "
        f"{found['seed']}; unrelated talk: {found['distractors']}; encoder {found['models']['encoder']}; revision "
        f"{found.get('revision') or 'unknown'}",
    )


def _interval(row: Mapping[str, Any], name: str) -> str:
    low, high = row[f"{name}_95"]
    return f"{row[name]:.3f} ({low:.3f}-{high:.3f})"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
