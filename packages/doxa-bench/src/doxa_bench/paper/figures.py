"""Measurements -> figures as PNG. Needs matplotlib, which is loaded here and nowhere else.

Colours are those of Okabe and Ito (2008), which colour-blind people can tell apart; ours is always the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doxa.core.errors import MissingDependencyError
from doxa_bench.implicit import AskedQuery
from doxa_bench.paper.tables import DISTANCES, OURS, STAGES, Cell, measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DPI", "draw_figures", "errors_of", "legend_below", "new_figure", "require_plots"]

COLOURS = {OURS: "#D55E00", "dense": "#0072B2", "hipporag": "#009E73", "bm25": "#999999", "summary": "#CC79A7"}
SHOWN = (OURS, "dense", "hipporag", "summary", "bm25")
"""Systems in figures, where they were run; tables hold all."""
LABELS = {OURS: "Doxa", "dense": "dense", "hipporag": "HippoRAG-style", "summary": "summary of facts", "bm25": "BM25"}
MARKERS = {OURS: "o", "dense": "s", "hipporag": "^", "summary": "D", "bm25": "v"}
LEADS = {"graph": "#009E73", "dense": "#0072B2", "lexical": "#999999"}
DPI = 150
ENOUGH = 5
"""Questions from which a group is drawn; tables hold smaller ones as well."""
RECALL = "Recall@10"


def require_plots() -> None:
    """Raise MissingDependencyError where figures cannot be drawn."""
    try:
        import matplotlib as _  # noqa: F401
    except ImportError as exc:
        raise MissingDependencyError("matplotlib", purpose="Drawing figures") from exc


def draw_figures(folder: Path, asked: Sequence[AskedQuery], studied: Mapping[str, Any]) -> list[Path]:
    """Draw every figure that there are measurements for, and return the files.

    Args:
        folder: where they go; it exists.
        asked: the questions of the implicit benchmark.
        studied: the replays and the scaling, by name (`run`).

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    require_plots()
    implicit = [one for one in asked if one.implicit]
    drawn: dict[str, Callable[[], Figure]] = {}
    if implicit:
        drawn["figure-1-distance"] = lambda: _distance(implicit)
        drawn["figure-7-maturity"] = lambda: _maturity(implicit)
    if studied.get("consistency"):
        drawn["figure-3-consistency"] = lambda: _consistency(studied["consistency"])
    if studied.get("sensitivity"):
        drawn["figure-4-sensitivity"] = lambda: _sensitivity(studied["sensitivity"])
    if studied.get("routing"):
        drawn["figure-5-routing"] = lambda: _routing(studied["routing"])
    if studied.get("scaling"):
        drawn["figure-6-scaling"] = lambda: _scaling(studied["scaling"])
    paths = []
    for name, draw in sorted(drawn.items()):
        paths.append(folder / f"{name}.png")
        draw().savefig(paths[-1], dpi=DPI)
    return paths


def new_figure(width: float, panels: int = 1, *, height: float = 4.0) -> tuple[Figure, list[Axes]]:
    """Return a figure of so many inches, and its panels from left to right, in the look that all figures share."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = [figure.add_subplot(1, panels, number + 1) for number in range(panels)]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(axis="y", color="#dddddd", linewidth=0.6)
        one.set_axisbelow(True)
    return figure, axes


def legend_below(axes: Axes, columns: int, *, lines: int = 1) -> None:
    """Put the legend under the axis, whose tick labels have so many lines, where it hides no data."""
    from matplotlib.transforms import ScaledTranslation

    if not axes.get_legend_handles_labels()[0]:
        return
    down = ScaledTranslation(0, -(26 + 13 * lines) / 72, axes.figure.dpi_scale_trans)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=axes.transAxes + down, ncols=columns,
        frameon=False, fontsize=9, handlelength=3.2,
    )  # fmt: skip


def _shown(asked: Sequence[AskedQuery]) -> list[str]:
    return [name for name in SHOWN if name in asked[0].systems]


def _large(groups: Mapping[str, list[AskedQuery]]) -> dict[str, list[AskedQuery]]:
    """Return the groups with enough questions to draw; all that have any where none has enough."""
    large = {name: found for name, found in groups.items() if len(found) >= ENOUGH}
    return large or {name: found for name, found in groups.items() if found}


def errors_of(cells: Sequence[Cell]) -> list[list[float]]:
    """Return the lengths of error bars below and above, `(2, n)`."""
    below = [max(0.0, c.value - (c.value if c.low is None else c.low)) for c in cells]
    above = [max(0.0, (c.value if c.high is None else c.high) - c.value) for c in cells]
    return [below, above]


def _by_group(axes: Axes, asked: Sequence[AskedQuery], bounds: Mapping[str, tuple[int, int]], field: str) -> None:
    groups = {
        name: [one for one in asked if low <= getattr(one, field) <= high] for name, (low, high) in bounds.items()
    }
    groups = _large(groups)
    systems = _shown(asked)
    for number, name in enumerate(systems):
        cells = [measured(found, lambda one, name=name: one.systems[name].recall) for found in groups.values()]  # type: ignore[misc]
        # Points of one group stand side by side, so that no interval hides another.
        places = [place + (number - (len(systems) - 1) / 2) * 0.07 for place in range(len(groups))]
        axes.errorbar(
            places, [cell.value for cell in cells], yerr=errors_of(cells), label=LABELS[name], color=COLOURS[name],
            marker=MARKERS[name], markersize=5, capsize=2.5, linewidth=2.0 if name == OURS else 1.2,
        )  # fmt: skip
    axes.set_xticks(range(len(groups)), [f"{name}\nn = {len(found)}" for name, found in groups.items()])
    axes.set_ylim(-0.03, 1.05)  # marks at 0 and 1 are not cut
    axes.set_ylabel(f"{RECALL} (95% interval)")


def _distance(asked: Sequence[AskedQuery]) -> Figure:
    figure, (axes,) = new_figure(8.0)
    _by_group(axes, asked, {name.removesuffix(" turns"): bound for name, bound in DISTANCES.items()}, "distance")
    axes.set_xlabel("turns between the statement and the question")
    axes.set_title("Implicit recall by distance")
    legend_below(axes, 5, lines=2)
    return figure


def _maturity(asked: Sequence[AskedQuery]) -> Figure:
    figure, (left, right) = new_figure(11.0, 2)
    _by_group(left, asked, {name.removesuffix(" turns"): bound for name, bound in STAGES.items()}, "after")
    left.set_xlabel("turns of history when the question is asked")
    left.set_title("(a) Cold start against mature histories")
    legend_below(left, 3, lines=2)
    _gap(right, asked)
    return figure


def _gap(axes: Axes, asked: Sequence[AskedQuery]) -> None:
    """Show what ours finds more than dense, paired by question."""
    groups = {name.removesuffix(" turns"): [one for one in asked if low <= one.after <= high]
              for name, (low, high) in STAGES.items()}  # fmt: skip
    groups = _large(groups)
    cells = [measured(found, lambda one: one.systems[OURS].recall - one.systems["dense"].recall)
             for found in groups.values()]  # fmt: skip
    axes.bar(
        range(len(cells)),
        [cell.value for cell in cells],
        yerr=errors_of(cells),
        color=COLOURS[OURS],
        capsize=4,
        width=0.5,
    )
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(cells)), [f"{name}\nn = {len(found)}" for name, found in groups.items()])
    axes.set_ylabel(f"{RECALL} above dense (95% interval)")
    axes.set_xlabel("turns of history when the question is asked")
    axes.set_title("(b) Advantage over dense")


def _consistency(rows: Sequence[Mapping[str, float]]) -> Figure:
    figure, (left, right) = new_figure(11.0, 2)
    for weight, style, fill in ((max(row["lambda"] for row in rows), "-", None), (0.0, "--", "white")):
        mine = [row for row in rows if row["lambda"] == weight]
        steps, label = list(range(len(mine))), f"λ = {weight:g}"
        # Without the loss: hollow marks over the filled ones, so that equal values are seen to be equal.
        for axes, name, title, colour in (
            (left, "disagreement", "", COLOURS["dense"]),
            (right, "recall", "Recall@10, ", COLOURS[OURS]),
            (right, "ndcg", "nDCG@10, ", "#666666"),
        ):
            values = [row[name] for row in mine]
            axes.plot(
                steps, values, style, marker="o", markerfacecolor=fill or colour, color=colour, label=title + label
            )
            axes.set_xticks(steps, [f"{row['steps']:g}" for row in mine])
            axes.set_xlabel("steps of the optimiser")
    left.set_ylim(bottom=0)
    left.set_ylabel("symmetric KL, graph against dense")
    left.set_title("(a) Disagreement on the test questions")
    right.set_ylabel("mean over test questions")
    right.set_title("(b) What is found, same budget")
    legend_below(left, 2)
    legend_below(right, 2)
    return figure


def _sensitivity(rows: Sequence[Mapping[str, float]]) -> Figure:
    figure, (axes,) = new_figure(6.5)
    taus, lambdas = sorted({row["tau"] for row in rows}), sorted({row["lambda"] for row in rows})
    at = {(row["tau"], row["lambda"]): row["recall"] for row in rows}
    grid = [[at[tau, weight] for weight in lambdas] for tau in taus]
    image = axes.imshow(grid, cmap="viridis", aspect="auto", origin="lower")
    middle = (min(map(min, grid)) + max(map(max, grid))) / 2
    for y, values in enumerate(grid):
        for x, value in enumerate(values):
            axes.text(
                x,
                y,
                f"{value:.3f}",
                ha="center",
                va="center",
                fontsize=9,
                color="white" if value <= middle else "black",
            )
    axes.grid(visible=False)
    axes.set_xticks(range(len(lambdas)), [f"{weight:g}" for weight in lambdas])
    axes.set_yticks(range(len(taus)), [f"{tau:g}" for tau in taus])
    axes.set_xlabel("consistency weight λ")
    axes.set_ylabel("promotion gate τ")
    axes.set_title(f"{RECALL} on the test worlds")
    figure.colorbar(image, ax=axes, label=RECALL)
    return figure


def _routing(found: Mapping[str, Any]) -> Figure:
    figure, (left, right) = new_figure(12.0, 2)
    groups = {name: row for name, row in found["leads"].items() if row["n"] >= 5}
    bottom = [0.0] * len(groups)
    for lead, colour in LEADS.items():
        values = [row[lead] for row in groups.values()]
        left.barh(range(len(groups)), values, left=bottom, color=colour, label=f"{lead} first", height=0.65)
        bottom = [one + value for one, value in zip(bottom, values, strict=True)]
    left.set_yticks(range(len(groups)), [f"{name} (n = {row['n']})" for name, row in groups.items()])
    left.invert_yaxis()
    left.set_xlim(0, 1)
    left.grid(visible=False)
    left.set_xlabel("share of questions")
    left.set_title("(a) Which view leads, by kind of question")
    legend_below(left, 3)
    _quality_cost(right, found)
    return figure


def _quality_cost(axes: Axes, found: Mapping[str, Any]) -> None:
    for lead, colour in LEADS.items():
        plans = [one for one in found["plans"] if one["name"].startswith(lead)]
        axes.scatter(
            [one["cost"] for one in plans],
            [one["recall"] for one in plans],
            color=colour,
            s=36,
            label=f"one plan, {lead} first",
        )
    marks = {
        "router": ("*", 240, COLOURS[OURS]),
        "static plan": ("P", 90, "black"),
        "best plan in hindsight": ("X", 90, "#CC79A7"),
    }
    for one in found["policies"]:
        marker, size, colour = marks[one["name"]]
        axes.scatter([one["cost"]], [one["recall"]], marker=marker, s=size, color=colour, label=one["name"], zorder=3)
    axes.set_xlabel("candidates scored, in shares of the full budget")
    axes.set_ylabel(RECALL)
    axes.margins(0.12)
    axes.set_title("(b) Quality and cost")
    legend_below(axes, 3)


def _scaling(rows: Sequence[Mapping[str, Any]]) -> Figure:
    figure, (first, second, third) = new_figure(14.0, 3)
    places, names = list(range(len(rows))), [f"{row['factor']}x\n{row['turns']:,} turns" for row in rows]
    for number, name in enumerate((OURS, "dense")):
        for measure, style in (("recall", "-"), ("ndcg", "--")):
            beside = [place + (number - 0.5) * 0.1 for place in places]
            key = f"{name} {measure}"
            bounds = [row[f"{key}_95"] or (None, None) for row in rows]
            cells = [Cell(value=row[key], low=low, high=high) for row, (low, high) in zip(rows, bounds, strict=True)]
            label = f"{LABELS[name]}, {'Recall@10' if measure == 'recall' else 'nDCG@10'}"
            first.errorbar(
                beside, [cell.value for cell in cells], yerr=errors_of(cells), fmt=style, marker=MARKERS[name],
                color=COLOURS[name], capsize=2.5, label=label,
            )  # fmt: skip
    first.set_ylim(-0.03, 1.05)
    first.set_ylabel("mean (95% interval)")
    first.set_title("(a) Quality")
    for key, label, style in (("p50_ms", "p50", "--"), ("p95_ms", "p95", "-")):
        second.plot(places, [row[key] for row in rows], style, marker="o", color=COLOURS[OURS], label=label)
    second.set_ylim(bottom=0)
    second.set_ylabel("ms a search, without the encoder")
    second.set_title("(b) Latency")
    third.bar(places, [row["disk_kb"] for row in rows], color=COLOURS[OURS], width=0.5, label="KB on disk")
    third.set_ylabel("KB on disk a user, vectors included")
    third.set_title("(c) Storage")
    for axes in (first, second, third):
        axes.set_xticks(places, names)
        axes.set_xlabel("history")
    legend_below(first, 2, lines=2)
    legend_below(second, 2, lines=2)
    return figure
