"""reasoner: a conversation -> candidate inferences, scored (section III-B).

| who | how |
|---|---|
| `nearest` | the nearest events of an inference base, their tails put in terms of the speakers; offline |
| `comet` | a sequence-to-sequence model trained on such tuples (COMET), by `backends.seq2seq` |
| `prompted` | a language model, with a JSON schema |
"""

from doxa.commonsense.reasoner.candidates import Candidates, Reasoner

__all__ = ["Candidates", "Reasoner"]
