"""commonsense: a conversation -> background, sentences of general knowledge that support what follows from it.

Source: Liu et al., Reasoning in Action: MCTS-Driven Knowledge Retrieval for Large Language Models.
"""

from doxa.commonsense.background import Retrieved, Spec, retrieve, selected
from doxa.commonsense.base import Base, Card, KnowledgeBase, build, is_remote, open_base, send
from doxa.commonsense.context import Context, Utterance, read_context
from doxa.commonsense.reasoner import Candidates, Reasoner
from doxa.commonsense.reasoner.comet import CometReasoner
from doxa.commonsense.reasoner.nearest import NearestReasoner
from doxa.commonsense.reasoner.prompted import PromptedReasoner

__all__ = [
    "Base",
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
    "is_remote",
    "open_base",
    "read_context",
    "retrieve",
    "selected",
    "send",
]
