"""evaluate: benchmark -> report.

Every benchmark goes through the engine's front door, as a user would, and its report says what it ran on.
"""

from doxa.evaluate.locomo import LocomoReport
from doxa.evaluate.locomo import run as run_locomo
from doxa.evaluate.record import environment, write_record
from doxa.evaluate.understanding import UnderstandingReport, write_predictions
from doxa.evaluate.understanding import run as run_understanding

__all__ = [
    "LocomoReport",
    "UnderstandingReport",
    "environment",
    "run_locomo",
    "run_understanding",
    "write_predictions",
    "write_record",
]
