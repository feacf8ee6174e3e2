"""recall: query -> evidence.

`read_query` reads a query, several views (words, meaning, speaker, time) propose turns for it, every view scores what
any of them proposes, and the scores are added. No model, no database, no loop over turns.
"""

from doxa.recall.concepts.concepts import concepts_of, learn_directions
from doxa.recall.concepts.promote import Candidates, Gate, Proposal, candidates_of
from doxa.recall.concepts.stances import stance_of
from doxa.recall.doubt import apart
from doxa.recall.graph.tags import STATED, labelled
from doxa.recall.index import index_of
from doxa.recall.learning.alarms import AlarmSpec, alarms_of, reference_of
from doxa.recall.learning.align import LAMBDA, AlignSpec
from doxa.recall.learning.learn import aligned_weights, figures, refresh, routed_weights
from doxa.recall.learning.policy import PolicySpec
from doxa.recall.learning.replays import Replay, measure, play, replay_of, rewards_of
from doxa.recall.learning.windows import WindowSpec, bucket_of, filled, measured, quota, rank_of, thinned
from doxa.recall.plan import Plan
from doxa.recall.queries.advice import wants_advice
from doxa.recall.queries.cues import rephrase
from doxa.recall.queries.leaning import is_incomplete
from doxa.recall.queries.prompted import Rewriting, rewrite_with_model
from doxa.recall.queries.query import Query, encoded, enriched, read_query
from doxa.recall.ranking import ranking_of
from doxa.recall.route import PLANS, STATIC, cost_of, error_route_rate, flips
from doxa.recall.search import Found, evidence_of, look_up, recall
from doxa.recall.spec import RecallSpec
from doxa.recall.views import VIEWS, Look
from doxa.recall.weights import ALIGNED, Weights, WeightSlot, load_weights, save_weights, shipped

__all__ = [
    "ALIGNED",
    "LAMBDA",
    "PLANS",
    "STATED",
    "STATIC",
    "VIEWS",
    "AlarmSpec",
    "AlignSpec",
    "Candidates",
    "Found",
    "Gate",
    "Look",
    "Plan",
    "PolicySpec",
    "Proposal",
    "Query",
    "RecallSpec",
    "Replay",
    "Weights",
    "WeightSlot",
    "WindowSpec",
    "alarms_of",
    "aligned_weights",
    "apart",
    "bucket_of",
    "candidates_of",
    "Rewriting",
    "concepts_of",
    "cost_of",
    "encoded",
    "enriched",
    "error_route_rate",
    "evidence_of",
    "figures",
    "filled",
    "flips",
    "index_of",
    "labelled",
    "learn_directions",
    "load_weights",
    "is_incomplete",
    "look_up",
    "measure",
    "measured",
    "play",
    "quota",
    "rank_of",
    "read_query",
    "ranking_of",
    "recall",
    "rewrite_with_model",
    "reference_of",
    "refresh",
    "rephrase",
    "replay_of",
    "rewards_of",
    "routed_weights",
    "save_weights",
    "shipped",
    "stance_of",
    "thinned",
    "wants_advice",
]
