"""`doxa bench prefeval`, and the comparisons of `doxa bench locomo`: evidence whose words no question repeats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import PrefevalReport

__all__ = ["measure_prefeval", "show_compared", "show_prefeval"]

MEASURES = ("recall@1", "recall@5", "recall@10", "ndcg@10")
OURS = "doxa"


def measure_prefeval(
    request: Request, wanted: Wanted, tell: Callable[[str, int, int], None] | None
) -> tuple[PrefevalReport, dict[str, Any]]:
    """Return the report on PrefEval, and it as plain data."""
    from doxa_bench import run_prefeval

    seed = wanted.seed or 0
    report = run_prefeval(wanted.path, limit=wanted.limit, seed=seed, config=request.config, progress=tell)
    return report, report.to_dict()


def show_prefeval(out: Console, found: dict[str, Any]) -> None:
    """Print every form by system, then Recall@5 by topic."""
    table = columns("form", "system", "n", *MEASURES)
    groups = {**found["forms"], **{name: found[name] for name in ("implicit", "no shared stem", "all")}}
    for group, systems in groups.items():
        for system, row in systems.items():
            table.add_row(group, system, str(row["n"]), *(_measure(row, name) for name in MEASURES))
    put(out, table)
    systems = list(found["all"])
    topics = columns("topic", "n", *(f"{system} R@5" for system in systems))
    for topic, row in found["topics"].items():
        topics.add_row(topic, str(row[OURS]["n"]), *(f"{row[system]['recall@5']:.2f}" for system in systems))
    put(out, "")
    put(out, topics)
    latency, tokens = found["latency_ms"], found["tokens"]
    put(
        out,
        f"\n{found['items']:,} items, {found['distractors']} turns between; search {latency['p50']} ms (p50), "
        f"{latency['p95']} ms (p95); {tokens['evidence']:,} tokens of evidence, the whole history is "
        f"{tokens['history']:,}; {found['turns_per_s']:,.0f} turns/s; encoder {found['models']['encoder']}; revision "
        f"{found.get('revision') or 'unknown'}",
    )


def show_compared(out: Console, found: dict[str, Any]) -> None:
    """Print every system on all and on implicit questions of LoCoMo, then by subtype and domain, if they were run."""
    groups = {**found.get("systems", {}), **found.get("subtypes", {}), **found.get("domains", {})}
    if not groups:
        return
    measures = [
        name for name in found["implicit"] if name.startswith(("recall@", "ndcg@")) and not name.endswith("_95")
    ]
    table = columns("questions", "system", "n", *measures)
    for group, systems in groups.items():
        for system, row in systems.items():
            table.add_row(group, system, str(row["n"]), *(_measure(row, name) for name in measures))
    put(out, "")
    put(out, table)
    tokens = found["tokens"]
    put(out, f"Tokens: {tokens['evidence']:,} of evidence; long context {tokens['long-context']:,} a question.")


def _measure(row: Mapping[str, Any], name: str) -> str:
    """Return a measure with its interval, where it has one: `0.75 (0.66-0.84)`."""
    interval = row.get(f"{name}_95")
    return f"{row[name]:.3f}" + (f" ({interval[0]:.2f}-{interval[1]:.2f})" if interval else "")
