"""`doxa bench everyday`: can a memory of chats as people type them be trusted?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.transport.cli.render import columns, put, shorten
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import EverydayReport

__all__ = ["measure_everyday", "show_everyday"]

Tell = Callable[[str, int, int], None]
CHATS = Path("benchmarks/everyday")
"""Where the chats lie in the source tree."""
HALVES = ("held_out", "dev", "everyday")
MEASURES = (
    ("answers right", "answers", "right"),
    ("answers wrong", "answers", "wrong"),
    ("answers silent", "answers", "silent"),
    ("never said: silent", "never_said_silent", ""),
    ("of those at 0.9 and more, right", "sure_and_right", ""),
    ("firm facts right", "facts", "right"),
    ("firm facts noise", "facts", "noise"),
    ("firm facts wrong", "facts", "wrong"),
    ("required facts that are firm", "required_found", ""),
    ("truths called contradicted", "checker", "truths_contradicted"),
    ("falsehoods called contradicted", "checker", "falsehoods_caught"),
    ("falsehoods contradicted or uncertain", "checker", "falsehoods_flagged"),
    ("plans and maybes called supported", "checker", "plans_supported"),
    ("truths called supported", "checker", "truths_supported"),
)


def measure_everyday(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[EverydayReport, dict[str, Any]]:
    """Return the report on everyday chats, and it as plain data with the first mistakes of `dev`."""
    from doxa_bench import run_everyday

    report = run_everyday(wanted.data or CHATS, config=request.config, parallel=wanted.parallel or 1, progress=tell)
    if wanted.predictions is not None:
        report.write_predictions(wanted.predictions)
    return report, report.to_dict(errors=wanted.errors or 0)


def show_everyday(out: Console, found: dict[str, Any]) -> None:
    """Print what was found of each half, held out first, and the first mistakes of `dev`."""
    halves = {name: value for name, value in found.items() if isinstance(value, Mapping) and "answers" in value}
    table = columns("measure", *halves)
    for label, group, name in MEASURES:
        rows = (half[group][name] if name else half[group] for half in halves.values())
        table.add_row(label, *(_share(row) for row in rows))
    for label, name in (("calibration error", "ece"), ("risk over coverage", "aurc")):
        table.add_row(label, *(f"{half['calibration'][name] or 0:.3f}" for half in halves.values()))
    for label, of in (("chats / questions", ("chats", "questions")), ("firm facts / tentative", ("n", "tentative"))):
        numbers = (half if "chats" in of else half["facts"] for half in halves.values())
        table.add_row(label, *(" / ".join(str(one[name]) for name in of) for one in numbers))
    put(out, table)
    for one in found["errors"]:
        put(out, "\n" + shorten("  ".join(f"{key}: {value}" for key, value in one.items()), 600))
    revision = found.get("revision") or "unknown"
    put(out, f"\n{found['turns']:,} turns, {found['turns_per_s']:.0f} turns/s; revision {revision}")


def _share(row: Mapping[str, Any]) -> str:
    if row["share"] is None:
        return "-"
    low, high = row["interval_95"] or (0.0, 1.0)
    return f"{row['share']:.3f} ({low:.2f}-{high:.2f})"
