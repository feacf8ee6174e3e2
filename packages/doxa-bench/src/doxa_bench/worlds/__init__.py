"""worlds: propositional worlds, questions -> belief states, with and without a solver.

`world` draws worlds and labels them, `questions` asks about them, `answerers` answers, `systems` keeps the belief
state, `play` holds the dialogues, `run` is the benchmark and `report` what it gives back.
"""

from doxa_bench.worlds.report import Condition, WorldsReport
from doxa_bench.worlds.run import ANSWERERS, FAMILIES, run

__all__ = ["ANSWERERS", "FAMILIES", "Condition", "WorldsReport", "run"]
