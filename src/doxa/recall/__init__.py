"""recall: query -> evidence.

`read_query` reads a query, several views (words, meaning, speaker, time) propose turns for it, every view scores what
any of them proposes, and the scores are added. No model, no database, no loop over turns.
"""

from doxa.recall.concepts import concepts_of, learn_directions
from doxa.recall.cues import rephrase
from doxa.recall.index import RecallIndex, index_of
from doxa.recall.plan import Plan
from doxa.recall.query import Query, read_query
from doxa.recall.search import Found, evidence_of, look_up, recall
from doxa.recall.spec import RecallSpec

__all__ = [
    "Found",
    "Plan",
    "Query",
    "RecallIndex",
    "RecallSpec",
    "concepts_of",
    "evidence_of",
    "index_of",
    "learn_directions",
    "look_up",
    "read_query",
    "recall",
    "rephrase",
]
