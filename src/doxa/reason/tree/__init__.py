"""tree: question + memory -> answer, by a search over what to look at next.

D-SMART's reasoning tree (section "Reasoning Tree for Memory Traversal" and Algorithm 2).
"""

from doxa.reason.tree.actions import (
    Action,
    Answer,
    Ask,
    Compute,
    ExpandEntity,
    FindPath,
    Recall,
    Think,
    is_terminal,
    name_of,
)
from doxa.reason.tree.roles import Policy, Proposal, Recalled, Tools, Valuer, Writer
from doxa.reason.tree.state import State, Step, Task

__all__ = [
    "Action",
    "Answer",
    "Ask",
    "Compute",
    "ExpandEntity",
    "FindPath",
    "Policy",
    "Proposal",
    "Recall",
    "Recalled",
    "State",
    "Step",
    "Task",
    "Think",
    "Tools",
    "Valuer",
    "Writer",
    "is_terminal",
    "name_of",
]
