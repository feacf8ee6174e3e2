"""mtbench101: dialogues -> replies by several systems -> how consistent and how good they are.

`systems` reply, `play` keeps what they said, `scoring` measures it (`judge`, `lexical`, and CS and DER of
`doxa.verify`), `complexity` chooses the refined subset, `tables` and `figures` show it, `run` does all of it.
"""

from doxa.evaluate.mtbench101.report import MtbenchReport, RefinedReport
from doxa.evaluate.mtbench101.run import run, run_refined

__all__ = ["MtbenchReport", "RefinedReport", "run", "run_refined"]
