"""Graphs: ontologies and exports in RDF, queries in SPARQL, sentences in PENMAN."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import mkdtemp

from doors.base import light, ours
from doxa.core.values import Fact, Interval, Relation, Term, Turn
from doxa.engine import extract_graph
from doxa.logic import (
    FactGraph,
    QueryGraph,
    amr_to_turtle,
    builtin_ontology,
    entries_of,
    read_amrs,
    read_axioms,
    read_ontology,
    read_quads,
    translate_amr,
)

__all__ = ["Amr", "Sparql", "Turtle"]

PREFIXES = """@prefix doxa: <https://doxa.dev/ontology#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix my: <urn:x:> .
"""
ONTOLOGIES = (
    'my:Boat a owl:Class ; rdfs:label "boat" ; rdfs:subClassOf my:Thing ; owl:disjointWith my:Car .\n'
    "my:Car a owl:Class . my:Thing a owl:Class .\n",
    "my:mentors a owl:ObjectProperty, owl:AsymmetricProperty ; rdfs:domain my:P ; rdfs:range my:P ;"
    " owl:inverseOf my:isMentoredBy ; rdfs:subPropertyOf my:knows . my:P a owl:Class .\n",
    "my:height a owl:DatatypeProperty, owl:FunctionalProperty ; rdfs:range xsd:decimal .\n"
    "[] a owl:AllDisjointClasses ; owl:members ( my:A my:B ) . my:A a owl:Class . my:B a owl:Class .\n",
    "my:r a owl:ObjectProperty ; owl:propertyChainAxiom ( my:r my:r ) ; owl:propertyDisjointWith my:s . "
    "my:s a owl:ObjectProperty, owl:TransitiveProperty, owl:SymmetricProperty .\n",
)
RDF_WORDS = (
    *(
        "a ",
        "owl:Class",
        "rdf:first",
        "rdf:rest",
        "rdf:nil",
        "( )",
        "[ ]",
        "_:b",
        " ; ",
        " , ",
        " .\n",
        "<urn:x>",
        "''",
    ),
    *(
        "owl:members",
        "owl:inverseOf",
        "owl:disjointWith",
        "rdfs:subClassOf",
        "rdfs:subPropertyOf",
        "rdfs:range",
        '"x"@en',
    ),
    *("owl:ObjectProperty", "owl:DatatypeProperty", "owl:propertyChainAxiom", "my:", "doxa:", "true", "1.5e3", '"""'),
    *(
        "owl:onProperty",
        "owl:someValuesFrom",
        "owl:Restriction",
        "owl:hasKey",
        "owl:oneOf",
        "owl:sameAs",
        "@prefix : <> .",
    ),
    *(
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#rest>",
        "_:b <http://www.w3.org/1999/02/22-rdf-syntax-ns#rest> _:b .",
    ),
)


class Turtle:
    """An ontology of somebody's own, and an export in RDF."""

    seeds: Sequence[bytes] = [
        *((PREFIXES + text).encode() for text in ONTOLOGIES),
        b'{"@context": {"a": "urn:a#"}, "@graph": [{"@id": "a:1", "@type": "a:T", "a:p": [{"@value": "x"}]}]}',
        b'<urn:a> <urn:b> "c"^^<http://www.w3.org/2001/XMLSchema#date> <urn:g> .\n',
    ]
    words: Sequence[str] = RDF_WORDS

    def __init__(self, models: bool) -> None:
        """Open it: the ontology that is built in."""
        self._known = builtin_ontology()
        self._path = Path(mkdtemp(prefix="fuzz-")) / "own.ttl"

    def __call__(self, data: bytes) -> None:
        self._path.write_bytes(data)
        with ours():
            known = read_ontology(self._path, known=self._known)
            read_axioms(self._path, known=known)
            for name in known.relations.keys() - self._known.relations.keys():
                known.ancestors(name)
        with suppress(SyntaxError, ValueError, RecursionError):  # who reads an export takes these for a broken one
            list(entries_of(read_quads(data)))

    def close(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)
        self._path.parent.rmdir()


QUERIES = (
    "SELECT * WHERE { ?p doxa:livesIn ?place } LIMIT 5",
    "ASK { ?a ?b ?c FILTER(?c > 5 && regex(str(?a), 'x')) }",
    "CONSTRUCT { ?a rdf:type ?b } WHERE { ?a a ?b . OPTIONAL { ?a rdfs:label ?l } }",
    "DESCRIBE <urn:x>",
    "SELECT (COUNT(DISTINCT ?p) AS ?n) (GROUP_CONCAT(?q; separator=',') AS ?g) { ?p ?q ?r } GROUP BY ?r HAVING(?n > 1)",
    "PREFIX a: <urn:a#> SELECT ?x { { ?x a:b* ?y } UNION { ?y ^a:b/a:c+ ?x } MINUS { ?x a a:d } } ORDER BY DESC(?x)",
    "SELECT * { VALUES (?a ?b) { (1 'x'@en) (UNDEF <urn:y>) } BIND(STRLEN(?b) AS ?c) FILTER NOT EXISTS { ?a ?c ?b } }",
    "SELECT ?x { SERVICE <http://127.0.0.1:1/> { ?x ?y ?z } }",
    "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
)
QUERY_WORDS = (
    *(
        "SELECT",
        "WHERE",
        "FILTER",
        "OPTIONAL",
        "UNION",
        "MINUS",
        "GRAPH ?g",
        "FROM <urn:x>",
        "SERVICE",
        "VALUES",
        "BIND",
    ),
    *(
        "EXISTS",
        "GROUP BY",
        "ORDER BY",
        "LIMIT 0",
        "OFFSET 1",
        "{",
        "}",
        "(",
        ")",
        "?x",
        "$y",
        "_:b",
        "<<",
        ">>",
        "/*",
        "#",
    ),
    *(
        "xsd:dateTime",
        "NOW()",
        "RAND()",
        "UUID()",
        "STRDT",
        "regex(?a, '(a*)*b')",
        "REPLACE",
        "'''",
        "\\u0041",
        "*",
        "+",
    ),
)


class Sparql:
    """A query over a memory of a few facts."""

    seeds: Sequence[bytes] = [text.encode() for text in QUERIES]
    words: Sequence[str] = QUERY_WORDS

    def __init__(self, models: bool) -> None:
        """Open it: three facts."""
        at = datetime(2024, 1, 1, tzinfo=UTC)
        told = [("ana", "lives_in", "oslo"), ("kim", "likes", "tea"), ("ana", "sister", "kim")]
        facts = [
            Fact(
                fact_id=f"f{place}", subject=Term(one, one), relation=Relation(name, name), object=Term(other, other),
                known_at=at,
                valid=Interval(start=date(2024, 1, 1)), turn_ids=("t",),
            )
            for place, (one, name, other) in enumerate(told)
        ]  # fmt: skip
        turn = Turn(turn_id="t", user="ana", session="s", speaker="Ana", role="user", text="So.", at=at)
        self._graph = QueryGraph(FactGraph("ana", builtin_ontology()), facts, {"t": turn})

    def __call__(self, data: bytes) -> None:
        with ours():
            self._graph.query(data.decode("utf-8", "surrogateescape"), limit_s=1.0)

    def close(self) -> None:
        """Nothing is open."""


SENTENCES = (
    "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))",
    '# ::id a.1\n# ::snt I live in Oslo.\n(l / live-01 :ARG0 (i / i) :location (c / city :name (n / name :op1 "O")))',
    "(p / possible-01 :ARG1 (h / have-rel-role-91 :ARG0 (i / i) :ARG1 (s / she) :ARG2 (b / brother)) :polarity -)",
    "(d / date-entity :year 2024 :month 13 :day 0 :weekday (f / friday))\n\n(x / x :quant 1e999 :op1 (y / y))",
    '(a / and :op1 (e / eat-01 :time (b / before :op1 (n / now))) :op2 (t / temporal-quantity :quant 3 :unit "d"))',
)


class Amr:
    """Graphs of sentences as somebody parsed them."""

    seeds: Sequence[bytes] = [text.encode() for text in SENTENCES]
    words: Sequence[str] = (
        *(
            ":ARG0",
            ":ARG1-of",
            ":op1",
            ":name",
            ":polarity",
            ":quant",
            ":mod",
            "/ ",
            "(",
            ")",
            "~e.1",
            '"',
            "amr-unknown",
        ),
        *(":time", ":year", "date-entity", ":value", "# ::id x\n", "\n\n", ":condition", "-", "have-org-role-91"),
    )

    def __init__(self, models: bool) -> None:
        """Open it; senses are left out, which need a lexicon."""
        self._config = light()

    def __call__(self, data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        with ours():
            amr_to_turtle([translate_amr(one, base="urn:x#") for one in read_amrs(text)])
        with ours():
            extract_graph("# ::id a\n" + text[text.find("(") :], config=self._config, senses=False)

    def close(self) -> None:
        """Nothing is open."""
