"""recall: query -> evidence.

Every indexed turn is scored in several views at once (words, meaning, neighbours, speaker, time), and the
scores are added. `rephrase` is what to encode in place of the query. No model, no database, no loop over turns.
"""

from doxa.recall.cues import rephrase
from doxa.recall.search import recall
from doxa.recall.spec import RecallSpec

__all__ = ["RecallSpec", "recall", "rephrase"]
