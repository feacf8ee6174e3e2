"""tasks: scenarios, forms, dialogues with revised slots -> what task memories hold, say and cost.

`scoring` judges what a system hands in after every turn (`scenarios`), by the rules of `values`, `slots` and
`mentions`; `systems` are ours, its ablations, a `linear` history and the `baselines` that ask a language model; `table`
runs them. `forms` counts the tokens of `prompts` while a form is filled in, `forms_state` scores what is held then, and
`revising` asks for values that users of `sgd` and `smcalflow` have `revised`.
"""

from doxa_bench.tasks.figures import draw_forms
from doxa_bench.tasks.forms import FormsReport, run_forms
from doxa_bench.tasks.revising import RevisedReport, run_revised
from doxa_bench.tasks.scenarios import Expectation, Scenario, read_scenarios
from doxa_bench.tasks.scoring import Played, ScenarioScore, Violation, score
from doxa_bench.tasks.table import TasksReport, run_scenarios

__all__ = [
    "Expectation",
    "FormsReport",
    "Played",
    "RevisedReport",
    "Scenario",
    "ScenarioScore",
    "TasksReport",
    "Violation",
    "draw_forms",
    "read_scenarios",
    "run_forms",
    "run_revised",
    "run_scenarios",
    "score",
]
