"""`doxa bench tasks`: does a task memory stay right while the user changes their mind?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.core.errors import InputError
from doxa.transport.cli.bench_options import Wanted
from doxa.transport.cli.render import columns, put, shorten
from doxa.transport.cli.request import Request

if TYPE_CHECKING:
    from doxa.evaluate import TasksReport

__all__ = ["NO_DATA", "measure_tasks", "show_tasks"]

Tell = Callable[[str, int, int], None]
FILES = {"gold": "dev.jsonl", "published": "published.jsonl"}
"""Set -> its file in a folder of scenarios."""
NO_DATA = ("forms",)


def measure_tasks(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[TasksReport, dict[str, Any]]:
    """Return the report on a set of tasks, and it as plain data."""
    name = wanted.set_ or "gold"
    if name not in SETS:
        raise InputError(f"bench tasks: expected --set out of {', '.join(SETS)}; got {name!r}.")
    measure, takes = SETS[name]
    if refused := sorted(wanted.given - takes - {"set", "limit"}):
        raise InputError(f"bench tasks --set {name}: it takes no --{', --'.join(refused)}.")
    return measure(request, wanted, name, tell)


def _scenarios(request: Request, wanted: Wanted, name: str, tell: Tell | None) -> tuple[TasksReport, dict[str, Any]]:
    from doxa.evaluate import run_tasks

    report = run_tasks(
        wanted.path / FILES[name] if wanted.path.is_dir() else wanted.path,
        set=name,
        systems=_systems(wanted),
        seed=wanted.seed or 0,
        limit=wanted.limit,
        config=request.config,
        progress=tell,
    )
    if wanted.predictions is not None:
        report.write_predictions(wanted.predictions, next(iter(report.systems)))
    return report, report.to_dict(details=bool(wanted.details))


def _systems(wanted: Wanted) -> list[str]:
    return [name.strip() for name in (wanted.systems or "").split(",") if name.strip()]


SETS: Mapping[str, tuple[Callable[[Request, Wanted, str, Tell | None], tuple[Any, dict[str, Any]]], set[str]]] = {
    name: (_scenarios, {"data", "seed", "systems", "predictions", "details"}) for name in FILES
}
"""How each set is run, and the options that it takes beside --set and --limit."""


def show_tasks(out: Console, found: dict[str, Any]) -> None:
    """Print the table of the paper, the shares behind it, tokens per round and, if asked for, every violation."""
    paper = columns("system", "rounds", "hallucinations", "confusions", "consistent", "without labels")
    more = columns(
        "system", "slots right (95%)", "derived", "replies", "intent fine", "coarse", "parts", "tokens a round"
    )
    for name, row in found["systems"].items():
        counts, of = row["counts"], row["scenarios"]
        paper.add_row(
            name,
            str(row["rounds"]),
            str(row["hallucinations"]),
            str(row["confusions"]),
            f"{row['consistent']}/{of}",
            f"{row['consistent_no_intent']}/{of}",
        )
        more.add_row(
            name,
            _share(row, "slots", "slots_ok", "slots_n") + _interval(row["slots_95"]),
            f"{counts['derived_ok']}/{counts['derived_n']}",
            f"{counts['reply_ok']}/{counts['reply_n']}",
            _share(row, "intent_fine", "intent_fine", "intent_n"),
            _share(row, "intent_coarse", "intent_coarse", "intent_n"),
            f"{counts['multi_hit']}/{counts['multi_n']}",
            f"{row['tokens_a_round'] or 0:.0f}",
        )
    put(out, paper)
    put(out, "")
    put(out, more)
    for one in found.get("details", ()):
        _show_scenario(out, one)
    put(out, f"\nTokens: {found['tokenizer']}. Intervals are over scenarios. {_where(found)}")


def _show_scenario(out: Console, one: Mapping[str, Any]) -> None:
    put(out, f"\n{one['system']}, {one['scenario']}")
    for turn in one["turns"]:
        put(out, f"{turn['turn']}. {shorten(turn['text'], 200)}", indent=2)
        for kind in ("hallucination", "confusion"):
            if turn[kind]:
                put(out, f"{kind}: {'; '.join(turn[kind])}", indent=4)
        for miss in turn["violations"]:
            came = shorten(miss["came"], 300)
            put(out, f"{miss['kind']} {miss['slot']}: expected {miss['expected']}, came {came}", indent=4)


def _share(row: Mapping[str, Any], name: str, part: str, whole: str) -> str:
    share = row[name]
    return f"{row['counts'][part]}/{row['counts'][whole]}" + ("" if share is None else f" = {share:.3f}")


def _interval(bounds: list[float] | None) -> str:
    return "" if bounds is None else f" ({bounds[0]:.2f}-{bounds[1]:.2f})"


def _where(found: Mapping[str, Any]) -> str:
    return f"Seed {found['seed']}; {found['data']}; revision {found.get('revision') or 'unknown'}"
