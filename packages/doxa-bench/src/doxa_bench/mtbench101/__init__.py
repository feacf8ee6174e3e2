"""mtbench101: dialogues -> replies by several systems -> how consistent and how good they are.

`systems`, `prompted`, `styles` and `published` reply, `play` keeps what they said, `scoring` measures it (`judge`,
`lexical`, and CS and DER of `doxa.verify`), `complexity` chooses the refined subset, `tables` and `figures` show it,
`run` does all of it.
"""

from doxa_bench.mtbench101.opened import JudgeSpec
from doxa_bench.mtbench101.report import MtbenchReport, RefinedReport
from doxa_bench.mtbench101.run import run, run_refined

__all__ = ["JudgeSpec", "MtbenchReport", "RefinedReport", "run", "run_refined"]
