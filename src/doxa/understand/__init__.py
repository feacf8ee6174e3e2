"""understand: turn -> claims."""

from doxa.understand.grounding import ground
from doxa.understand.prompted import Roles, extract_with_model, prompt_version
from doxa.understand.questions import find_question, read_question
from doxa.understand.times import TimeSpan, find_times
from doxa.understand.turn import understand
from doxa.understand.values import Extraction, Statement, Understanding

__all__ = [
    "Extraction",
    "Roles",
    "Statement",
    "TimeSpan",
    "Understanding",
    "extract_with_model",
    "find_question",
    "find_times",
    "ground",
    "prompt_version",
    "read_question",
    "understand",
]
