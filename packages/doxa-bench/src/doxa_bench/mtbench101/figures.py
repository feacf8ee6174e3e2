"""Results -> figures like 4 to 7 of the paper, as PNG. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doxa_bench.mtbench101.dialogues import TASKS
from doxa_bench.mtbench101.measures import DialogueResult, by_task, by_turn, overall
from doxa_bench.mtbench101.tables import Results
from doxa_bench.paper.figures import DPI, errors_of, legend_below, new_figure, require_plots
from doxa_bench.paper.tables import Cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_figures"]

COLOURS = {
    "full": "#D55E00",
    "base": "#0072B2",
    "without tree": "#009E73",
    "without memory": "#CC79A7",
    "builtin": "#E69F00",
    "reference": "#666666",
    "mem0-style": "#56B4E9",
    "memorybank-style": "#F0E442",
    "comedy-style": "#999933",
    "as published": "#882255",
}
"""Okabe and Ito (2008); ours is always the same one."""
MARKERS = {"full": "o", "base": "s", "without tree": "^", "without memory": "D", "builtin": "v", "reference": "P",
    "mem0-style": "<", "memorybank-style": ">", "comedy-style": "*", "as published": "h",
}  # fmt: skip
ENOUGH = 5
"""Dialogues from which a turn is drawn; tables hold all."""
SCORE, F1 = "judge's score, 1 to 10", "word F1 with the reference (no judge)"
REFERENCE = "reference"
"""Its F1 is 1 by construction, which is not drawn."""


def draw_figures(
    folder: Path, results: Results, subset: Sequence[str], sensitivity: Sequence[Mapping[str, Any]], *, mark: str = ""
) -> list[Path]:
    """Draw every figure that there are results for, and return the files.

    Args:
        folder: where they go; it exists.
        results: system -> its results.
        subset: ids of the refined subset, for the ablation by task.
        sensitivity: rows of the sensitivity table.
        mark: what stands over every figure, such as that a stand-in was measured.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    require_plots()
    shown = {name: found for name, found in results.items() if found}
    quality = "score" if any(one.score is not None for found in shown.values() for one in found) else "f1"
    refined = {name: [one for one in found if one.id in set(subset)] for name, found in shown.items()}
    drawn: dict[str, Callable[[], Figure]] = {}
    if shown:
        drawn["figure-4-turns"] = lambda: _turns(shown, quality)
        drawn["figure-5-balance"] = lambda: _balance(shown, quality)
        drawn["figure-6-tasks"] = lambda: _tasks({name: found for name, found in refined.items() if found}, quality)
    if sensitivity:
        drawn["figure-7-sensitivity"] = lambda: _sensitivity(sensitivity)
    paths = []
    for name, draw in drawn.items():
        figure = draw()
        if mark:
            figure.suptitle(mark, fontsize=9, color="#AA0000")
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=DPI)
    return paths


def _turns(results: Results, quality: str) -> Figure:
    """Quality as lines and CS as bars, by turn (figure 4)."""
    figure, (upper, lower) = new_figure(12.0, 2, height=4.4)
    places: dict[int, int] = {}
    for number, (name, found) in enumerate(results.items()):
        turns = {turn: cells for turn, cells in by_turn(found).items() if _count(found, turn) >= ENOUGH}
        places |= {turn: _count(found, turn) for turn in turns}
        beside = (number - (len(results) - 1) / 2) * 0.8 / len(results)
        lines = {turn: cell for turn, cells in turns.items() if (cell := cells[quality]) is not None}
        if _is_drawn(name, quality):
            upper.errorbar(
                list(lines), [cell.value for cell in lines.values()], yerr=errors_of(list(lines.values())), capsize=2.5,
                label=name, color=COLOURS[name], marker=MARKERS[name], markersize=5,
            )  # fmt: skip
        bars = {turn: cell for turn, cells in turns.items() if (cell := cells["cs"]) is not None}
        lower.bar(
            [turn + beside for turn in bars], [cell.value for cell in bars.values()], width=0.75 / len(results),
            yerr=errors_of(list(bars.values())), capsize=2, label=name, color=COLOURS[name],
        )  # fmt: skip
    for axes in (upper, lower):
        axes.set_xticks(list(places), [f"{turn}\nn = {n}" for turn, n in places.items()])
        axes.set_xlabel("turn")
        legend_below(axes, 3, lines=2)
    upper.set_ylabel(_label(quality), fontsize=9)
    upper.set_ylim(*((1, 10.2) if quality == "score" else (0, None)))
    upper.set_title("(a) Quality by turn (95% interval)")
    lower.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
    lower.set_ylim(0, 1)
    lower.set_ylabel("consistency score")
    lower.set_title("(b) Consistency by turn (dotted: neutral)")
    return figure


def _balance(results: Results, quality: str) -> Figure:
    """Quality against CS, DER as the size of a bubble: one for each task, a cross for all (figure 5)."""
    figure, (axes,) = new_figure(8.5, height=5.2)
    for name, found in results.items():
        if not _is_drawn(name, quality):
            continue
        tasks = {task: cells for task, cells in by_task(found).items() if cells["cs"] and cells[quality]}
        points = list(tasks.values())
        for task, cells in tasks.items():
            axes.annotate(
                task, (_value(cells["cs"]), _value(cells[quality])), fontsize=8, ha="center", va="center", zorder=4
            )
        axes.scatter(
            [_value(cells["cs"]) for cells in points], [_value(cells[quality]) for cells in points],
            s=[20 + 900 * _value(cells["der"]) for cells in points], color=COLOURS[name], alpha=0.35, linewidths=0,
        )  # fmt: skip
        middle = overall(found)
        if middle["cs"] and middle[quality]:
            axes.scatter(
                [middle["cs"].value], [_value(middle[quality])], marker="X", s=150, color=COLOURS[name],
                edgecolors="white", label=f"{name} (DER {_value(middle['der']):.0%})", zorder=3,
            )  # fmt: skip
    axes.axvline(0.5, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlabel("consistency score")
    axes.set_ylabel(_label(quality))
    axes.set_title("Quality against consistency: X all dialogues, bubbles one task each, area DER", fontsize=11)
    axes.margins(0.1)
    legend_below(axes, 2)
    return figure


def _tasks(results: Results, quality: str) -> Figure:
    """Quality, CS and DER of every task on the refined subset (figure 6)."""
    figure, panels = new_figure(13.0, 3, height=5.6)
    found = {name: by_task(rows) for name, rows in results.items()}
    tasks = [task for task in TASKS if any(task in rows for rows in found.values())]
    for axes, measure in zip(panels, (quality, "cs", "der"), strict=True):
        for number, (name, rows) in enumerate(found.items()):
            if not _is_drawn(name, measure):
                continue
            beside = (number - (len(found) - 1) / 2) * 0.6 / max(1, len(found))
            cells = {tasks.index(task) + beside: cell for task in rows if (cell := rows[task][measure]) is not None}
            axes.errorbar(
                [cell.value for cell in cells.values()], list(cells), xerr=errors_of(list(cells.values())), fmt="none",
                ecolor=COLOURS[name], elinewidth=1.0, alpha=0.6,
            )  # fmt: skip
            axes.scatter(
                [cell.value for cell in cells.values()], list(cells), color=COLOURS[name], marker=MARKERS[name], s=26,
                label=name, zorder=3,
            )  # fmt: skip
        _list_tasks(axes, tasks, results)
        axes.set_xlabel({"score": SCORE, "f1": "word F1", "cs": "consistency score", "der": "DER"}[measure])
        axes.set_xlim(*((1, 10.2) if measure == "score" else (-0.02, 1.02)))
    panels[1].set_title("Refined subset by task (95% interval)")
    legend_below(panels[1], 4)
    return figure


def _is_drawn(name: str, measure: str) -> bool:
    """Tell whether a measure of a system says anything: the reference is what F1 compares with."""
    return (name, measure) != (REFERENCE, "f1")


def _list_tasks(axes: Axes, tasks: Sequence[str], results: Results) -> None:
    any_of = next(iter(results.values()), [])
    counts = {task: len({one.id for one in any_of if one.task == task}) for task in tasks}
    axes.set_yticks(range(len(tasks)), [f"{task} ({counts[task]})" for task in tasks])
    axes.invert_yaxis()
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)


def _sensitivity(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Quality as bars and CS as points over the configurations (figure 7)."""
    figure, (axes,) = new_figure(9.0, height=4.6)
    quality = "score" if any(row.get("score") is not None for row in rows) else "f1"
    places = list(range(len(rows)))
    _bars(axes, places, [row[quality] for row in rows], COLOURS["base"], _short(quality))
    axes.set_ylim(0, 10 if quality == "score" else 1)
    axes.set_ylabel(_label(quality), fontsize=9)
    axes.set_xticks(
        places, [f"{row['name']}\nD={row['depth']} B={row['beam']}\nS={row['branching']}" for row in rows], fontsize=9
    )
    legend_below(axes, 2, lines=3)
    if all(row.get("cs") is not None for row in rows):
        other = axes.twinx()
        cells = [row["cs"] for row in rows]
        other.errorbar(
            places, [cell.value for cell in cells], yerr=errors_of(cells), color=COLOURS["full"], fmt="o",
            capsize=3, label="consistency score (right)",
        )  # fmt: skip
        other.set_ylim(0, 1)
        other.set_ylabel("consistency score")
        other.spines[["top"]].set_visible(False)
        handles = [*axes.get_legend_handles_labels()[0], *other.get_legend_handles_labels()[0]]
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=2, frameon=False, fontsize=9)
    axes.set_title("Sensitivity to depth, beam and branching of the tree")
    return figure


def _bars(axes: Axes, places: Sequence[int], cells: Sequence[Cell], colour: str, label: str) -> None:
    axes.bar(
        places, [cell.value for cell in cells], yerr=errors_of(cells), width=0.55, color=colour, alpha=0.75, capsize=3,
        label=f"{label} (left)",
    )  # fmt: skip


def _count(found: Sequence[DialogueResult], turn: int) -> int:
    return len({one.id for one in found if len(one.turns) >= turn})


def _label(quality: str) -> str:
    return SCORE if quality == "score" else F1


def _short(quality: str) -> str:
    return "judge's score" if quality == "score" else "word F1"


def _value(cell: Cell | None) -> float:
    return 0.0 if cell is None else cell.value
