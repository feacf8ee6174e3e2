"""Tokens of filling in a form -> a figure as PNG. Needs matplotlib."""

from __future__ import annotations

from pathlib import Path

from doxa_bench.paper.figures import DPI, legend_below, new_figure, require_plots
from doxa_bench.tasks.forms import PAPER, PAPER_ROUNDS, FormsReport

__all__ = ["draw_forms"]

OURS, FLAT = "#D55E00", "#0072B2"
"""Okabe and Ito (2008); ours is always the same one."""


def draw_forms(path: Path, report: FormsReport) -> None:
    """Draw the tokens of each round, and the saving by the number of rounds.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    require_plots()
    figure, (left, right) = new_figure(11.0, 2)
    rounds = range(1, len(report.by_round) + 1)
    left.plot(rounds, [flat for flat, _ in report.by_round], color=FLAT, label="linear history")
    left.plot(rounds, [ours for _, ours in report.by_round], color=OURS, linewidth=2.0, label="Doxa")
    lengths = [one.rounds for one in report.savings]
    left.plot(lengths, [one.closing for one in report.savings], "--", color=OURS, label="Doxa, closing round")
    left.set_ylim(bottom=0)
    left.set_xlabel("round")
    left.set_ylabel("tokens of the prompt")
    left.set_title("(a) Prompt of each round")
    legend_below(left, 3)
    right.plot(lengths, [100 * one.saving for one in report.savings], color=OURS, linewidth=2.0, label="Doxa")
    right.plot(
        [PAPER_ROUNDS],
        [100 * PAPER["saving"]],
        "D",
        color="#666666",
        label=f"TME, {PAPER_ROUNDS} rounds (its tokenizer)",
    )
    right.set_ylim(min(0, *(100 * one.saving for one in report.savings)), 100)
    right.set_xlabel("rounds of the form, closed by the last one")
    right.set_ylabel("tokens saved in all, %")
    right.set_title("(b) Saving against a linear history")
    legend_below(right, 2)
    figure.savefig(path, dpi=DPI)
