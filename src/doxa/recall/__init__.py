"""recall: query -> evidence.

`read_query` reads a query, several views (words, meaning, speaker, time) propose turns for it, every view scores what
any of them proposes, and the scores are added. No model, no database, no loop over turns.
"""

from doxa.recall.concepts import concepts_of, learn_directions
from doxa.recall.cues import rephrase
from doxa.recall.feedback import EdgeStrengths
from doxa.recall.index import RecallIndex, index_of
from doxa.recall.learn import figures, refresh
from doxa.recall.plan import Plan
from doxa.recall.promote import Candidates, Gate, Proposal, candidates_of
from doxa.recall.prompted import Rewriting, rewrite_with_model
from doxa.recall.query import Query, encoded, enriched, read_query
from doxa.recall.replays import Replay, play, replay_of
from doxa.recall.route import PLANS, cost_of
from doxa.recall.search import Found, evidence_of, look_up, recall
from doxa.recall.spec import RecallSpec
from doxa.recall.weights import Weights, WeightSlot, load_weights, save_weights, shipped

__all__ = [
    "PLANS",
    "EdgeStrengths",
    "Candidates",
    "Found",
    "Gate",
    "Plan",
    "Proposal",
    "Query",
    "RecallIndex",
    "RecallSpec",
    "candidates_of",
    "Rewriting",
    "concepts_of",
    "Replay",
    "WeightSlot",
    "Weights",
    "cost_of",
    "encoded",
    "enriched",
    "evidence_of",
    "figures",
    "index_of",
    "learn_directions",
    "load_weights",
    "look_up",
    "play",
    "read_query",
    "recall",
    "rewrite_with_model",
    "refresh",
    "rephrase",
    "replay_of",
    "save_weights",
    "shipped",
]
