"""`doxa bench knowledge`: is what is retrieved for a dialogue diverse, and does it go where people go?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console

from doxa.core.errors import InputError
from doxa.transport.cli.render import columns, put, shorten
from doxa.transport.cli.request import Request
from doxa_bench.cli.options import Wanted

if TYPE_CHECKING:
    from doxa_bench import CiceroReport, KnowledgeReport

    Report = KnowledgeReport | CiceroReport

__all__ = ["measure_knowledge", "show_knowledge"]

Tell = Callable[[str, int, int], None]
EXAMPLES = 5
"""Dialogues that --details shows."""
CICERO = "cicero"
GROUPS = ("systems", "ablations", "reference")


def measure_knowledge(request: Request, wanted: Wanted, tell: Tell | None) -> tuple[Report, dict[str, Any]]:
    """Return the report on a set of dialogues or on CICERO, and it as plain data."""
    from doxa_bench import environment

    report = _measured(request, wanted, tell)
    return report, {**report.to_dict(), "models": dict(report.models), **environment()}


def _measured(request: Request, wanted: Wanted, tell: Tell | None) -> Report:
    from doxa_bench import draw_alignment, run_cicero, run_knowledge

    building = tell or _Steps(request)
    if wanted.set_ == CICERO:
        if refused := sorted(wanted.given & {"systems", "details", "plot", "labels", "predictions"}):
            raise InputError(f"bench knowledge --set cicero: it takes no --{', --'.join(refused)}.")
        return run_cicero(wanted.data, limit=wanted.limit, config=request.config, progress=tell, building=building)
    report = run_knowledge(
        wanted.data,
        set=wanted.set_ or "dailydialog",
        systems=[name.strip().replace("-", "_") for name in (wanted.systems or "").split(",") if name.strip()],
        limit=wanted.limit,
        examples=EXAMPLES if wanted.details else 0,
        labels=wanted.labels,
        config=request.config,
        progress=tell,
        building=building,
    )
    if wanted.predictions is not None:
        report.labelled.write(wanted.predictions)
    if wanted.plot is not None:
        draw_alignment(wanted.plot, report)
    return report


class _Steps:
    """Says on standard error which step of building a base has begun, where there is no bar to show it."""

    def __init__(self, request: Request) -> None:
        self._request, self._said = request, set[str]()

    def __call__(self, step: str, done: int, whole: int) -> None:
        if not self._said:
            self._request.note("Building a base of knowledge, once; it takes some minutes.")
        if step not in self._said:
            self._said.add(step)
            self._request.note(f"  {step}: {whole:,}")


def show_knowledge(out: Console, found: dict[str, Any]) -> None:
    """Print the tables of the paper: overlap (III), alignment (IV) and, if a model was asked, its part (II)."""
    if found["set"] == CICERO:
        _show_cicero(out, found)
        return
    overlaps = ("semantic", "ROUGE-1", "ROUGE-2", "ROUGE-L (95%)")
    table = columns("", "system", *overlaps, "aligned @0.5 (95%)", "no threshold", "next", "ms p95")
    for group in GROUPS:
        for number, (name, row) in enumerate(found[group].items()):
            table.add_row(
                "" if number else group,
                name.replace("_", " "),
                *(_number(row[measure]) for measure in ("semantic_overlap", "rouge1", "rouge2")),
                _number(row["rougeL"]) + _interval(row.get("rougeL_95")),
                _number(row["alignment@0.5"]) + _interval(row.get("alignment@0.5_95")),
                _number(row.get("alignment@no threshold")),
                _number(row["next_similarity"]),
                f"{row['ms_p95']:.0f}",
            )
    put(out, table)
    if found["compared"]:
        put(out, f"\nours: {_compared(found['compared'])}")
    if "model" in found:
        _show_model(out, found["model"])
    for one in found["examples"]:
        _show_example(out, one)
    base = found["base"]
    put(
        out,
        f"\n{found['set']}, {found['n']:,} dialogues; {base['sentences']:,} sentences, {base['inferences']:,} "
        "inferences. Overlap is between the sentences of a dialogue: less is better. "
        "Next: how like they are to what is said next. "
        f"Transitions by {_transitions(found['transitions'])}. Intervals are over dialogues; {_models(found)}",
    )


def _transitions(found: Mapping[str, Any]) -> str:
    if "phrases" not in found:
        return str(found["by"])
    left = f"{found['missing']:,} dialogues without labels, {found['strange']:,} phrases that nobody said"
    return f"{found['by']}: {found['phrases']:,} phrases; left out: {left}"


def _compared(found: Mapping[str, Any]) -> str:
    """Return every ratio with its interval, and whatever else is said of them."""
    parts = []
    for name, value in found.items():
        if isinstance(value, str):
            parts.append(f"{name.replace('_', ' ')} {value}")
        elif not name.endswith("_95"):
            parts.append(f"{name.replace('_', ' ')} {_number(value)}{_interval(found.get(f'{name}_95'))}")
    return ", ".join(parts)


def _show_model(out: Console, found: Mapping[str, Any]) -> None:
    table = columns("system", "like the model's, average", "nearest")
    for name, row in found["systems"].items():
        table.add_row(name.replace("_", " "), _number(row["average"]), _number(row["max"]))
    put(out, "")
    put(out, table)
    put(out, f"{found['dialogues']:,} dialogues asked of {found['name']}, {found['failed']} calls failed")


def _show_example(out: Console, one: Mapping[str, Any]) -> None:
    put(out, f"\n{one['id']}: {shorten(' / '.join(one['context']), 400)}")
    put(out, f"then: {shorten(' / '.join(one['next']), 300)}", indent=2)
    for name, sentences in one["retrieved"].items():
        put(out, f"{name.replace('_', ' ')}: {shorten(' | '.join(sentences), 600)}", indent=2)


def _show_cicero(out: Console, found: Mapping[str, Any]) -> None:
    table = columns("question", "n", "inferences (95%)", "target alone (95%)", "chance", "gain 95%", "nothing inferred")
    for name, row in {**found["kinds"], "all": found}.items():
        table.add_row(
            name,
            str(row["n"]),
            _number(row["accuracy"]) + _interval(row["accuracy_95"]),
            _number(row["target"]) + _interval(row["target_95"]),
            _number(row["chance"]),
            _interval(row["gain_95"]).strip(" ()"),
            str(row["nothing_inferred"]),
        )
    put(out, table)
    base = found["base"]
    put(out, f"\nA base with {base['events']:,} events and {base['inferences']:,} inferences; {_models(found)}")


def _models(found: Mapping[str, Any]) -> str:
    models = ", ".join(f"{role} {name}" for role, name in found["models"].items())
    fewer = found["degraded"]
    degraded = (
        f"; inferred less than it could for {fewer['dialogues']:,}: {fewer['first']}" if fewer["dialogues"] else ""
    )
    return f"{models}{degraded}; revision {found.get('revision') or 'unknown'}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(bounds: list[float] | None) -> str:
    return "" if bounds is None else f" ({bounds[0]:.3f} to {bounds[1]:.3f})"
