"""paper: measurements -> the tables and figures of the paper.

`studies` replays questions through the learned parts of search, `scaling` lengthens histories; `tables` and `figures`
draw what those and the benchmarks measured, `run` does all of it.
"""

from doxa_bench.paper.figures import require_plots
from doxa_bench.paper.run import PaperReport, run

__all__ = ["require_plots", "PaperReport", "run"]
