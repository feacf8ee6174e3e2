"""evaluate: benchmark -> report.

Every benchmark goes through the engine's front door, as a user would, and its report says what it ran on.
"""

from doxa.evaluate.beliefbank import BeliefBankReport
from doxa.evaluate.beliefbank import run as run_beliefbank
from doxa.evaluate.dialogre import DialogreReport
from doxa.evaluate.dialogre import run as run_dialogre
from doxa.evaluate.everyday import EverydayReport
from doxa.evaluate.everyday import run as run_everyday
from doxa.evaluate.extraction import Extraction, Extractor
from doxa.evaluate.implicit import ImplicitReport
from doxa.evaluate.implicit import run as run_implicit
from doxa.evaluate.knowledge.cicero import CiceroReport
from doxa.evaluate.knowledge.figures import draw_alignment
from doxa.evaluate.knowledge.measure import measure as run_knowledge
from doxa.evaluate.knowledge.measure import measure_cicero as run_cicero
from doxa.evaluate.knowledge.run import KnowledgeReport
from doxa.evaluate.locomo import LocomoReport
from doxa.evaluate.locomo import run as run_locomo
from doxa.evaluate.locomo_answers import LocomoAnswersReport
from doxa.evaluate.locomo_answers import run as run_locomo_answers
from doxa.evaluate.longmemeval import LongMemEvalReport
from doxa.evaluate.longmemeval import run as run_longmemeval
from doxa.evaluate.mtbench101 import JudgeSpec as MtbenchJudge
from doxa.evaluate.mtbench101 import MtbenchReport, RefinedReport
from doxa.evaluate.mtbench101 import run as run_mtbench
from doxa.evaluate.mtbench101 import run_refined as run_mtbench_refined
from doxa.evaluate.nli import NliReport
from doxa.evaluate.nli import run as run_nli
from doxa.evaluate.observations import ObservationsReport
from doxa.evaluate.observations import run as run_observations
from doxa.evaluate.openie import OpenieReport
from doxa.evaluate.openie import run as run_openie
from doxa.evaluate.paper import PaperReport
from doxa.evaluate.paper import run as run_paper
from doxa.evaluate.prefeval import PrefevalReport
from doxa.evaluate.prefeval import run as run_prefeval
from doxa.evaluate.record import environment, write_record
from doxa.evaluate.replies import RepliesReport
from doxa.evaluate.replies import run as run_replies
from doxa.evaluate.revision import RevisionReport
from doxa.evaluate.revision import run as run_revision
from doxa.evaluate.tasks import FormsReport, RevisedReport, TasksReport, draw_forms
from doxa.evaluate.tasks import run_forms as run_task_forms
from doxa.evaluate.tasks import run_revised as run_task_revisions
from doxa.evaluate.tasks import run_scenarios as run_tasks
from doxa.evaluate.understanding import UnderstandingReport, write_predictions
from doxa.evaluate.understanding import run as run_understanding
from doxa.evaluate.worlds import WorldsReport
from doxa.evaluate.worlds import run as run_worlds

__all__ = [
    "BeliefBankReport",
    "CiceroReport",
    "DialogreReport",
    "EverydayReport",
    "Extraction",
    "Extractor",
    "FormsReport",
    "ImplicitReport",
    "KnowledgeReport",
    "LocomoAnswersReport",
    "LocomoReport",
    "LongMemEvalReport",
    "MtbenchJudge",
    "MtbenchReport",
    "NliReport",
    "ObservationsReport",
    "OpenieReport",
    "PaperReport",
    "PrefevalReport",
    "RefinedReport",
    "RepliesReport",
    "RevisedReport",
    "RevisionReport",
    "TasksReport",
    "UnderstandingReport",
    "WorldsReport",
    "draw_alignment",
    "draw_forms",
    "environment",
    "run_beliefbank",
    "run_cicero",
    "run_dialogre",
    "run_everyday",
    "run_implicit",
    "run_knowledge",
    "run_locomo",
    "run_locomo_answers",
    "run_longmemeval",
    "run_mtbench",
    "run_mtbench_refined",
    "run_nli",
    "run_observations",
    "run_openie",
    "run_paper",
    "run_prefeval",
    "run_replies",
    "run_revision",
    "run_task_forms",
    "run_task_revisions",
    "run_tasks",
    "run_understanding",
    "run_worlds",
    "write_predictions",
    "write_record",
]
