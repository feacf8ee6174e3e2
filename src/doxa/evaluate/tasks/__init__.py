"""tasks: scenarios, forms, dialogues with revised slots -> what task memories hold, say and cost.

`scoring` judges what a system hands in after every turn (`scenarios`), by the rules of `values`, `slots` and
`mentions`; `systems` are ours, its ablations and a `linear` history; `table` runs them.
"""

from doxa.evaluate.tasks.scenarios import Expectation, Scenario, read_scenarios
from doxa.evaluate.tasks.scoring import Played, ScenarioScore, Violation, score
from doxa.evaluate.tasks.table import TasksReport, run_scenarios

__all__ = [
    "Expectation",
    "Played",
    "Scenario",
    "ScenarioScore",
    "TasksReport",
    "Violation",
    "read_scenarios",
    "run_scenarios",
    "score",
]
