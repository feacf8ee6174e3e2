"""Alignment by threshold -> a figure as PNG (figure 3 of the paper). Needs matplotlib."""

from __future__ import annotations

from pathlib import Path

from doxa_bench.knowledge.alignment import THRESHOLDS
from doxa_bench.knowledge.run import KnowledgeReport
from doxa_bench.paper.figures import DPI, legend_below, new_figure, require_plots

__all__ = ["draw_alignment"]

STYLES = {
    "ours": ("Doxa", "#D55E00", "-o"),
    "dense": ("dense", "#0072B2", "-s"),
    "rerank": ("dense, re-ranked", "#56B4E9", "-^"),
    "bm25": ("BM25", "#999999", "-v"),
    "mmr": ("MMR", "#009E73", "-D"),
    "rerank_nli": ("dense, re-ranked by NLI", "#000000", ":"),
    "no_reasoner": ("Doxa without reasoner", "#D55E00", "--x"),
    "no_bridging": ("Doxa without bridging", "#CC79A7", "--+"),
    "no_check": ("Doxa without NLI", "#E69F00", "--1"),
}
"""System -> its label, its colour (Okabe and Ito 2008; ours is always the same one), line and marker."""
OTHER = "#666666", "-."


def draw_alignment(path: Path, report: KnowledgeReport) -> None:
    """Draw the alignment of every system over the thresholds; where no transition is left, its line ends.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    require_plots()
    figure, (axes,) = new_figure(7.0, height=5.0)
    found = report.to_dict()
    for name, row in {**found["systems"], **found["reference"], **found["ablations"]}.items():
        label, colour, style = STYLES.get(name, (name, *OTHER))
        points = [(one, value) for one in THRESHOLDS if (value := row[f"alignment@{one}"]) is not None]
        if points:
            width, above = (2.4, 3) if name == "ours" else (1.3, 2)
            axes.plot(
                *zip(*points, strict=True),
                style,
                color=colour,
                label=label,
                linewidth=width,
                markersize=5,
                zorder=above,
            )
    axes.set_xticks(THRESHOLDS)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("threshold of entailment")
    axes.set_ylabel("human-logic alignment")
    axes.set_title(f"{report.set}, {report.dialogues:,} dialogues")
    legend_below(axes, 3)
    figure.savefig(path, dpi=DPI)
