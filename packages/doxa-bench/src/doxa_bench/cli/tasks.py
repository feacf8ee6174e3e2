"""`doxa bench tasks`: does a task memory stay right while the user changes their mind?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.core.errors import InputError
from doxa.transport.cli.render import columns, put, shorten
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import FormsReport, RevisedReport, TasksReport

    Report = TasksReport | FormsReport | RevisedReport

__all__ = ["NO_DATA", "measure_tasks", "show_tasks"]

Tell = Callable[[str, int, int], None]
FILES = {"gold": "dev.jsonl", "published": "published.jsonl"}
"""Set -> its file in a folder of scenarios."""
SCENARIO_OPTIONS = {"data", "seed", "systems", "predictions", "details", "limit", "parallel"}
NO_DATA = ("forms",)
"""Sets that need no --data."""


def measure_tasks(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[Report, dict[str, Any]]:
    """Return the report on a set of tasks, and it as plain data."""
    name = wanted.set_ or "gold"
    if name not in SETS:
        raise InputError(f"bench tasks: expected --set out of {', '.join(SETS)}; got {name!r}.")
    measure, takes = SETS[name]
    if refused := sorted(wanted.given - takes - {"set"}):
        raise InputError(f"bench tasks --set {name}: it takes no --{', --'.join(refused)}.")
    return measure(request, wanted, name, tell)


def _scenarios(request: Request, wanted: Wanted, name: str, tell: Tell | None) -> tuple[Report, dict[str, Any]]:
    from doxa_bench import run_tasks

    report = run_tasks(
        wanted.path / FILES[name] if wanted.path.is_dir() else wanted.path,
        set=name,
        systems=_systems(wanted),
        seed=wanted.seed or 0,
        limit=wanted.limit,
        config=request.config,
        parallel=wanted.parallel or 1,
        progress=tell,
    )
    if wanted.predictions is not None:
        report.write_predictions(wanted.predictions, next(iter(report.systems)))
    return report, report.to_dict(details=bool(wanted.details))


def _systems(wanted: Wanted) -> list[str]:
    return [name.strip() for name in (wanted.systems or "").split(",") if name.strip()]


def _revised(request: Request, wanted: Wanted, name: str, tell: Tell | None) -> tuple[Report, dict[str, Any]]:
    from doxa_bench import run_task_revisions

    report = run_task_revisions(wanted.path, set=name, limit=wanted.limit, config=request.config, progress=tell)
    return report, report.to_dict(details=bool(wanted.details))


def _forms(request: Request, wanted: Wanted, name: str, tell: Tell | None) -> tuple[Report, dict[str, Any]]:
    from doxa_bench import draw_forms, run_task_forms

    report = run_task_forms(
        rounds=wanted.rounds or 100,
        seed=wanted.seed or 0,
        systems=_systems(wanted),
        config=request.config,
        progress=tell,
    )
    if wanted.plot is not None:
        draw_forms(wanted.plot, report)
    return report, report.to_dict()


Measure = Callable[[Request, Wanted, str, Tell | None], "tuple[Report, dict[str, Any]]"]
SETS: Mapping[str, tuple[Measure, set[str]]] = {
    "gold": (_scenarios, SCENARIO_OPTIONS),
    "published": (_scenarios, SCENARIO_OPTIONS),
    "forms": (_forms, {"seed", "systems", "rounds", "plot"}),
    "sgd": (_revised, {"data", "limit", "details"}),
    "smcalflow": (_revised, {"data", "limit", "details"}),
}
"""How each set is run, and the options that it takes beside --set."""


def show_tasks(out: Console, found: dict[str, Any]) -> None:
    """Print what was measured of a set."""
    show = {"forms": _show_forms, "sgd": _show_revised, "smcalflow": _show_revised}.get(found["set"], _show_scenarios)
    show(out, found)


def _show_forms(out: Console, found: dict[str, Any]) -> None:
    """Print the tokens of the first six rounds, and the totals by the number of rounds."""
    table = columns("round", "turn", "linear history", "ours", "saved")
    for row in found["rounds"]:
        table.add_row(str(row["round"]), shorten(row["text"], 60), str(row["flat"]), str(row["ours"]), _percent(row))
    put(out, table)
    totals = columns(
        "rounds", "linear history", "ours", "saved", "current values in the last prompt", "superseded ones"
    )
    for row in found["totals"]:
        held, stale = f"{row['held']}/{row['fields']}", f"{row['stale']}/{row['replaced']}"
        totals.add_row(str(row["rounds"]), f"{row['flat']:,}", f"{row['ours']:,}", _percent(row), held, stale)
    put(out, "")
    put(out, totals)
    _show_states(out, found["states"])
    paper = found["paper"]
    put(
        out,
        f"\nThe paper, six rounds: {paper['flat']} and {paper['ours']} tokens, {_percent(paper)} saved, counted in its "
        f"own way. Tokens: {found['tokenizer']}. Seed {found['seed']}; revision {found.get('revision') or 'unknown'}",
    )


def _show_states(out: Console, found: Mapping[str, Any]) -> None:
    """Print which slots each system had right after every turn of a form."""
    table = columns("state of", "slots right", "by round", "made up", "all in the last reply", "tokens of prompts")
    for name, row in found.items():
        by_round = " ".join(f"{right}/{n}" for right, n in row["by_round"] if n)
        share = f"{row['slots_ok']}/{row['slots_n']} = {row['slots'] or 0:.3f}"
        last = "yes" if row["closing_reply"] else "no"
        table.add_row(name, share, by_round, str(row["hallucinations"]), last, f"{row['tokens']:,}")
    put(out, "")
    put(out, table)


def _show_revised(out: Console, found: dict[str, Any]) -> None:
    """Print the accuracy on revised values beside that of the most recent mention, then by slot."""
    table = columns("revised values", "n", "ours (95%)", "most recent mention (95%)", "lost", "old kept", "asked back")
    groups = {name: found[name] for name in ("at the turn", "with an old value", "at the end") if name in found}
    for name, row in {**groups, **found["slots"]}.items():
        ours, recent = (f"{row[one] or 0:.3f}" + _interval(row[f"{one}_95"]) for one in ("ours", "recent"))
        table.add_row(name, str(row["n"]), ours, recent, str(row["lost"]), str(row["kept"]), str(row["asked"]))
    put(out, table)
    for one in found.get("details", ()):
        old = f" (was {', '.join(one['old'])})" if one["old"] else ""
        put(out, f"\n{one['dialogue']} {one['slot']}, {one['outcome']}: {shorten(one['text'], 200)}")
        put(out, f"expected {', '.join(one['new'])}{old}; held {shorten(one['held'], 300) or 'nothing'}", indent=2)
    left = ", ".join(f"{count} {reason}" for reason, count in found["left_out"].items()) or "none"
    put(
        out,
        f"\n{found['dialogues']} dialogues, {found['turns_per_s']:,.0f} turns/s; left out: {left}. The most recent "
        "mention is told the slot and every value that it takes in the data. Intervals are over dialogues. Revision "
        f"{found.get('revision') or 'unknown'}",
    )


def _percent(row: Mapping[str, Any]) -> str:
    return f"{100 * row['saving']:.1f}%"


def _show_scenarios(out: Console, found: dict[str, Any]) -> None:
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
            f"{row['turns_per_s']:,.0f}",
        )
    for row in found.get("paper", {}).values():
        wrong, consistent = (str(row["hallucinations"]), str(row["confusions"])), f"{row['consistent']}/4"
        paper.add_row(f"{row['name']}, in the paper", "27", *wrong, consistent, "")
    put(out, paper)
    put(out, "")
    put(out, more)
    for name, row in found["systems"].items():
        if "calls" in row:
            put(
                out,
                f"{name}: " + ", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in row["calls"].items()),
            )
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
