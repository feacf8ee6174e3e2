"""replies: gold data, or replies from a file -> what the check of replies finds and what it costs.

`statements` words what gold data says, `generate` makes replies of it and plants contradictions, `run` holds them
against memories.
"""

from doxa_bench.replies.generate import Case, draw_cases, read_cases
from doxa_bench.replies.run import RepliesReport, run

__all__ = ["Case", "RepliesReport", "draw_cases", "read_cases", "run"]
