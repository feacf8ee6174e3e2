"""logic: beliefs, rules -> models, clashes, corrections; ontologies, facts -> relations, RDF, OWL 2 RL; AMR -> OWL.

The only package that touches RDF tools and solvers. It knows values only; `memory` stands above it.
"""

from doxa.logic.amr import (
    AmrGraph,
    AmrNode,
    Scope,
    Translation,
    WordSense,
    amr_terms,
    interval_of,
    read_amr,
    read_amrs,
    scopes,
)
from doxa.logic.amr import enrich as enrich_amr
from doxa.logic.amr import to_turtle as amr_to_turtle
from doxa.logic.amr import translate as translate_amr
from doxa.logic.archive import FORMAT, LogEntry, entries_of, excerpt, to_quads
from doxa.logic.closure import Closure
from doxa.logic.connections import Connections
from doxa.logic.consistency import check_dl, check_rl
from doxa.logic.consistency import report as consistency_of
from doxa.logic.cores import preferred_conflict
from doxa.logic.corrections import (
    Correction,
    Policy,
    as_printed,
    correct,
    greedy,
    minimal,
    recency,
    trust,
    weighted,
)
from doxa.logic.differences import ORIGIN, Difference, aged, at_least, at_most, between, exactly
from doxa.logic.formats import GraphFormat, read_quads, write_quads
from doxa.logic.graph import FactGraph
from doxa.logic.hermit import Hermit
from doxa.logic.literals import Lit
from doxa.logic.ontology import builtin_ontology, merge, read_axioms, read_ontology
from doxa.logic.optimum import heaviest
from doxa.logic.owl import OwlState
from doxa.logic.query import QueryGraph
from doxa.logic.schema import from_models
from doxa.logic.theory import Name, Theory

__all__ = [
    "FORMAT",
    "ORIGIN",
    "AmrGraph",
    "AmrNode",
    "Closure",
    "Connections",
    "Correction",
    "Difference",
    "FactGraph",
    "GraphFormat",
    "Hermit",
    "Lit",
    "LogEntry",
    "Name",
    "OwlState",
    "Policy",
    "QueryGraph",
    "Scope",
    "Theory",
    "Translation",
    "WordSense",
    "aged",
    "amr_terms",
    "amr_to_turtle",
    "as_printed",
    "at_least",
    "at_most",
    "between",
    "builtin_ontology",
    "check_dl",
    "check_rl",
    "consistency_of",
    "correct",
    "enrich_amr",
    "entries_of",
    "exactly",
    "excerpt",
    "from_models",
    "greedy",
    "heaviest",
    "interval_of",
    "merge",
    "minimal",
    "preferred_conflict",
    "read_amr",
    "read_amrs",
    "read_axioms",
    "read_ontology",
    "read_quads",
    "recency",
    "scopes",
    "to_quads",
    "translate_amr",
    "trust",
    "weighted",
    "write_quads",
]
