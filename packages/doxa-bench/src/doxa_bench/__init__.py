"""doxa_bench: benchmark -> report.

Every benchmark goes through the engine's front door, as a user would, and its report says what it ran on.
"""

from doxa_bench.beam import BeamReport
from doxa_bench.beam import run as run_beam
from doxa_bench.beliefbank import BeliefBankReport
from doxa_bench.beliefbank import run as run_beliefbank
from doxa_bench.dialogre import DialogreReport
from doxa_bench.dialogre import run as run_dialogre
from doxa_bench.everyday import EverydayReport
from doxa_bench.everyday import run as run_everyday
from doxa_bench.extraction import Extraction, Extractor
from doxa_bench.facts import FactsReport
from doxa_bench.facts import run as run_facts
from doxa_bench.implicit import ImplicitReport
from doxa_bench.implicit import run as run_implicit
from doxa_bench.knowledge.cicero import CiceroReport
from doxa_bench.knowledge.figures import draw_alignment
from doxa_bench.knowledge.measure import measure as run_knowledge
from doxa_bench.knowledge.measure import measure_cicero as run_cicero
from doxa_bench.knowledge.run import KnowledgeReport
from doxa_bench.locomo import LocomoReport
from doxa_bench.locomo import run as run_locomo
from doxa_bench.locomo_answers import LocomoAnswersReport
from doxa_bench.locomo_answers import run as run_locomo_answers
from doxa_bench.longmemeval import LongMemEvalReport
from doxa_bench.longmemeval import run as run_longmemeval
from doxa_bench.mtbench101 import JudgeSpec as MtbenchJudge
from doxa_bench.mtbench101 import MtbenchReport, RefinedReport
from doxa_bench.mtbench101 import run as run_mtbench
from doxa_bench.mtbench101 import run_refined as run_mtbench_refined
from doxa_bench.nli import NliReport
from doxa_bench.nli import run as run_nli
from doxa_bench.observations import ObservationsReport
from doxa_bench.observations import run as run_observations
from doxa_bench.openie import OpenieReport
from doxa_bench.openie import run as run_openie
from doxa_bench.paper import PaperReport
from doxa_bench.paper import run as run_paper
from doxa_bench.prefeval import PrefevalReport
from doxa_bench.prefeval import run as run_prefeval
from doxa_bench.realtalk import run as run_realtalk
from doxa_bench.realtalk import run_answers as run_realtalk_answers
from doxa_bench.record import environment, write_record
from doxa_bench.replies import RepliesReport
from doxa_bench.replies import run as run_replies
from doxa_bench.revision import RevisionReport
from doxa_bench.revision import run as run_revision
from doxa_bench.tasks import FormsReport, RevisedReport, TasksReport, draw_forms
from doxa_bench.tasks import run_forms as run_task_forms
from doxa_bench.tasks import run_revised as run_task_revisions
from doxa_bench.tasks import run_scenarios as run_tasks
from doxa_bench.understanding import UnderstandingReport, write_predictions
from doxa_bench.understanding import run as run_understanding
from doxa_bench.worlds import WorldsReport
from doxa_bench.worlds import run as run_worlds

__all__ = [
    "BeamReport",
    "BeliefBankReport",
    "CiceroReport",
    "DialogreReport",
    "EverydayReport",
    "Extraction",
    "Extractor",
    "FactsReport",
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
    "run_beam",
    "run_beliefbank",
    "run_cicero",
    "run_dialogre",
    "run_everyday",
    "run_facts",
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
    "run_realtalk",
    "run_realtalk_answers",
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
