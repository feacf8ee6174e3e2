"""facts: facts that replace each other -> questions over one and several of them, answered or not.

`sets` reads FactConsolidation, `material` holds relations and names, `draw` draws sets of the same form, `run` tells
the facts to a memory and asks.
"""

from doxa_bench.facts.draw import draw_set
from doxa_bench.facts.run import FactsReport, run
from doxa_bench.facts.sets import FactQuestion, FactSet, Told, read_set

__all__ = ["FactQuestion", "FactSet", "FactsReport", "Told", "draw_set", "read_set", "run"]
