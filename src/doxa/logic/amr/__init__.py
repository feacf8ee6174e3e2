"""amr: PENMAN -> OWL.

`graph` reads a graph, `vocabulary` names things, `patterns` and `translate` write it as OWL 2 in the design patterns
of FRED, `enrich` ties its classes to a lexicon and a top-level ontology.
"""

from doxa.logic.amr.dates import interval_of
from doxa.logic.amr.enrich import WordSense, enrich
from doxa.logic.amr.graph import AmrEdge, AmrGraph, AmrNode, lemma_of, read_amr, read_amrs
from doxa.logic.amr.scope import Scope, scopes
from doxa.logic.amr.translate import Translation, to_turtle, translate
from doxa.logic.amr.vocabulary import table as amr_terms

__all__ = [
    "AmrEdge",
    "AmrGraph",
    "AmrNode",
    "Scope",
    "Translation",
    "WordSense",
    "amr_terms",
    "enrich",
    "interval_of",
    "lemma_of",
    "read_amr",
    "read_amrs",
    "scopes",
    "to_turtle",
    "translate",
]
