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
from doxa.reason.tree.graph import FactGraph
from doxa.reason.tree.people import may_be
from doxa.reason.tree.policy import GraphPolicy
from doxa.reason.tree.roles import Policy, Proposal, Recalled, Tools, Valuer, Writer
from doxa.reason.tree.search import Tree, search_tree
from doxa.reason.tree.spec import TreeSpec
from doxa.reason.tree.state import State, Step, Task
from doxa.reason.tree.telling import tree_data
from doxa.reason.tree.value import CoverageValuer
from doxa.reason.tree.writer import ChainWriter

__all__ = [
    "Action",
    "Answer",
    "Ask",
    "ChainWriter",
    "Compute",
    "CoverageValuer",
    "ExpandEntity",
    "FactGraph",
    "FindPath",
    "GraphPolicy",
    "Policy",
    "Proposal",
    "Recall",
    "Recalled",
    "State",
    "Step",
    "Task",
    "Think",
    "Tools",
    "Tree",
    "TreeSpec",
    "Valuer",
    "Writer",
    "is_terminal",
    "may_be",
    "name_of",
    "search_tree",
    "tree_data",
]
