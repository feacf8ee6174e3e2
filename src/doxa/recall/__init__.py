"""recall: query -> evidence.

`read_query` reads a query, several views (words, meaning, speaker, time) propose turns for it, every view scores what
any of them proposes, and the scores are added. No model, no database, no loop over turns.
"""

from doxa.recall.align import AlignSpec
from doxa.recall.concepts import concepts_of, learn_directions
from doxa.recall.cues import rephrase
from doxa.recall.feedback import EdgeStrengths
from doxa.recall.index import RecallIndex, index_of
from doxa.recall.learn import aligned_weights, figures, refresh, routed_weights
from doxa.recall.plan import Plan
from doxa.recall.policy import PolicySpec
from doxa.recall.promote import Candidates, Gate, Proposal, candidates_of
from doxa.recall.prompted import Rewriting, rewrite_with_model
from doxa.recall.query import Query, advised, encoded, enriched, read_query
from doxa.recall.replays import Replay, measure, play, replay_of, rewards_of
from doxa.recall.route import PLANS, STATIC, cost_of, error_route_rate, flips
from doxa.recall.search import Found, evidence_of, look_up, recall
from doxa.recall.spec import RecallSpec
from doxa.recall.views import VIEWS, Look
from doxa.recall.weights import Weights, WeightSlot, load_weights, save_weights, shipped

__all__ = [
    "Look",
    "VIEWS",
    "flips",
    "error_route_rate",
    "STATIC",
    "rewards_of",
    "measure",
    "PolicySpec",
    "routed_weights",
    "aligned_weights",
    "AlignSpec",
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
    "advised",
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
