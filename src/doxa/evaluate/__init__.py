"""evaluate: benchmark -> report.

Every benchmark goes through the engine's front door, as a user would, and its report says what it ran on.
"""

from doxa.evaluate.locomo import LocomoReport
from doxa.evaluate.locomo import run as run_locomo
from doxa.evaluate.record import environment, write_record

__all__ = ["LocomoReport", "environment", "run_locomo", "write_record"]
