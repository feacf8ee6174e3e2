"""understand: turn -> claims."""

from doxa.understand.questions import find_question, read_question
from doxa.understand.times import TimeSpan, find_times
from doxa.understand.turn import understand
from doxa.understand.values import Statement, Understanding

__all__ = [
    "Statement",
    "TimeSpan",
    "Understanding",
    "find_question",
    "find_times",
    "read_question",
    "understand",
]
