"""A graph of facts says the same in every format, whatever the names in it."""

import random
import shutil
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.core.values import Fact, Interval, Modality, Relation, Status, Term, Turn
from doxa.logic import FactGraph, LogEntry, builtin_ontology, entries_of, read_quads, to_quads, write_quads

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
TERMS = st.builds(Term, TEXT, TEXT)
RELATIONS = st.builds(Relation, TEXT, TEXT) | st.sampled_from(
    [kind.relation for kind in builtin_ontology().relations.values()]
)
DAYS = st.none() | st.dates()
FACTS = st.builds(
    Fact,
    fact_id=st.integers(0, 10**6).map("f1_{}".format),
    subject=TERMS,
    relation=RELATIONS,
    object=TERMS,
    polarity=st.booleans(),
    modality=st.sampled_from(Modality),
    valid=st.builds(Interval, start=DAYS, end=DAYS),
    status=st.sampled_from(Status),
    turn_ids=st.lists(TEXT, max_size=2).map(tuple),
    known_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    confidence=st.floats(0, 1),
)


@given(facts=st.lists(FACTS, max_size=5), said=TEXT, turn_id=TEXT, user=TEXT.filter(bool))
def test_every_format_holds_the_same_graph(facts, said, turn_id, user):
    """Read again, it has the same statements, and the log in it is the same."""
    turn = Turn(turn_id=turn_id, user=user, session=said, speaker=said, role="user", text=said, at=datetime.now(UTC))
    body = {"session": said, "speaker": said, "role": "user", "text": said}
    log = [
        LogEntry(kind="turn", at=turn.at, body=body, turn=turn),
        LogEntry(kind="maintained", at=turn.at, body={"claims": [said]}, about=turn_id),
    ]
    graph = FactGraph(user, builtin_ontology())
    quads = list(to_quads(graph, facts, [fact for fact in facts if fact.status is Status.HELD], log))
    triples = {str(quad.triple) for quad in quads}
    for format in ("turtle", "nquads", "jsonld"):
        text = write_quads(quads, format, graph.prefixes)
        assert text == write_quads(quads, format, graph.prefixes)
        again = list(read_quads(text.encode()))
        assert {str(quad.triple) for quad in again} == triples
        first, second = entries_of(again)
        assert (first["turn_id"], first["body"]) == (turn_id, body)
        assert (second["about"], second["body"]) == (turn_id, {"claims": [said]})
    assert {str(quad) for quad in read_quads(write_quads(quads, "nquads", {}).encode())} == {str(q) for q in quads}


def test_what_is_asserted_of_anything_said_is_consistent(tmp_path):
    """Three hundred random facts about nine things, most of which clash: the reasoner of owlready2 finds no fault."""
    rdflib, owlready2 = pytest.importorskip("rdflib"), pytest.importorskip("owlready2")
    if shutil.which("java") is None:
        pytest.skip("the reasoner of owlready2 needs Java")
    chance, graph = random.Random(3), FactGraph("ana", builtin_ontology())
    kinds = [kind for kind in builtin_ontology().relations.values() if not kind.abstract]
    names = "ana bo cy rome graz tea rex party dog".split()
    facts = []
    for n in range(300):
        one, other = (Term(name, name) for name in (chance.choice(names), chance.choice(names)))
        kind, polarity = chance.choice(kinds), chance.random() < 0.8
        facts.append(Fact(fact_id=f"f{n}", subject=one, relation=kind.relation, object=other, polarity=polarity))
    quads = to_quads(graph, facts, facts, [])
    world = owlready2.World()
    data = rdflib.Graph().parse(data=write_quads(quads, "turtle", graph.prefixes))
    assert len(list(data.subjects(rdflib.RDF.type, rdflib.OWL.Axiom))) > 50
    data.serialize(tmp_path / "facts.nt", format="nt", encoding="utf-8")
    with world.get_ontology((tmp_path / "facts.nt").as_uri()).load(format="ntriples"):
        owlready2.sync_reasoner_hermit(world, debug=0)
    assert list(world.inconsistent_classes()) == []


def test_a_day_is_a_date_and_a_share_is_a_decimal():
    """As XML Schema writes them."""
    valid = Interval(start=date(2024, 5, 3), start_precision="month")
    fact = Fact(
        fact_id="f", subject=Term("a", "A"), relation=Relation("likes", "likes"), object=Term("b", "B"), valid=valid,
        confidence=0.25,
    )  # fmt: skip
    said = [str(triple) for triple in FactGraph("ana", builtin_ontology()).record(fact, {})]
    assert any('"2024-05-03"^^<http://www.w3.org/2001/XMLSchema#date>' in triple for triple in said)
    assert any('"0.25"^^<http://www.w3.org/2001/XMLSchema#decimal>' in triple for triple in said)
