"""commonsense: a conversation -> background, sentences of general knowledge that support what follows from it.

Source: Liu et al., Reasoning in Action: MCTS-Driven Knowledge Retrieval for Large Language Models.
"""

from doxa.commonsense.background import Retrieved, Spec, retrieve, selected
from doxa.commonsense.base import Card, KnowledgeBase, build
from doxa.commonsense.context import Context, Utterance, read_context
from doxa.commonsense.reasoner import Candidates, Reasoner
from doxa.commonsense.reasoner.comet import CometReasoner
from doxa.commonsense.reasoner.nearest import NearestReasoner
from doxa.commonsense.reasoner.prompted import PromptedReasoner

__all__ = [
    "Candidates",
    "Card",
    "CometReasoner",
    "Context",
    "KnowledgeBase",
    "NearestReasoner",
    "PromptedReasoner",
    "Reasoner",
    "Retrieved",
    "Spec",
    "Utterance",
    "build",
    "read_context",
    "retrieve",
    "selected",
]
