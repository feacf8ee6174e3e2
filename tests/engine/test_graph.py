"""A memory as an OWL graph: it says what is believed and why, others can read it, and it comes back whole."""

import shutil
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doxa.core.config import Config
from doxa.core.errors import BackendUnavailableError, FormatError
from doxa.engine import Doxa

CONFIG = Config.from_tree({"encoder": {"name": "hash"}, "engine": {"settle_s": 10}})
GRAPHS = ("turtle", "nquads", "jsonld")
FORMATS = ("jsonl", *GRAPHS)
SAID = [
    "I live in Lisbon.",
    "My sister Mia lives in Graz.",
    "I don't like olives.",
    "I like tea.",
    "I moved to Rome on 3 May 2024.",
    "I am 34 years old.",
    "I plan to visit Oslo in June 2025.",
    "Sorry, I meant Bonn.",
    "Where do I live?",
    "I am allergic to nuts and to cats.",
    "My dog is called Rex.",
]


def told(doxa, *texts, user="ana"):
    """A memory that was told some texts, one a day."""
    chat = doxa.dialogue(user=user, agent="helper", session="s")
    for n, text in enumerate(texts):
        chat.respond(text, at=date(2024, 5, 1 + n % 28), turn_id=f"t{n}")
    chat.flush()
    return doxa.memory(user=user)


def again(memory, folder, format):
    """Export, import into an empty engine, export; return both texts and both lists of facts and changes."""
    first = memory.export(folder / "first", format=format)
    with Doxa.open(":memory:", config=CONFIG) as other:
        copy = other.memory(user=memory.user)
        copy.import_(first)
        second = copy.export(folder / "second", format=format)
        state = copy.facts(current=False), copy.history(), copy.stats()
    return (
        first.read_bytes(),
        second.read_bytes(),
        (memory.facts(current=False), memory.history(), memory.stats()),
        state,
    )


@pytest.mark.parametrize("format", FORMATS)
def test_export_import_export_is_identical(doxa, tmp_path, format):
    """Revisions, withdrawals, retractions and written replies included."""
    memory = told(doxa, *SAID)
    memory.withdraw(turn_id="t4", reason='it was "a plan"\nnot a move')
    memory.retract(memory.facts(relation="likes")[0].fact_id)
    first, second, was, is_now = again(memory, tmp_path, format)
    assert first == second and len(first) > 1000
    assert was == is_now


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.sampled_from(SAID) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(str.strip),
        min_size=1,
        max_size=6,
    ),
    thing=st.text(st.characters(codec="utf-8"), min_size=1, max_size=15).filter(str.strip),
    user=st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=10).filter(str.strip),
    format=st.sampled_from(FORMATS),
)
def test_any_memory_comes_back_as_it_was(tmp_path, texts, thing, user, format):
    """Whatever characters the names and the texts have."""
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        memory = told(doxa, *texts, f"I like {thing}.", f"{thing} lives in Rome.", user=user)
        first, second, was, is_now = again(memory, tmp_path, format)
        assert first == second
        assert was == is_now


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")  # rdflib warns of its own calls
@pytest.mark.parametrize("format", GRAPHS)
def test_rdflib_reads_it_and_what_it_writes_can_be_imported(doxa, tmp_path, format):
    """A tool of others may change blank nodes, order and prefixes, but not the memory."""
    rdflib = pytest.importorskip("rdflib")
    memory = told(doxa, *SAID)
    name = {"jsonld": "json-ld"}.get(format, format)
    graph = rdflib.Dataset(default_union=True)
    graph.parse(data=memory.export(tmp_path / "out", format=format).read_text(), format=name)
    vocabulary, things = rdflib.Namespace("urn:doxa:vocabulary#"), rdflib.Namespace("urn:doxa:user:ana:thing#")
    assert (things.ana, vocabulary.livesIn, things.bonn) in graph or (
        things.ana,
        vocabulary.livesIn,
        things.rome,
    ) in graph
    assert (things.ana, rdflib.RDF.type, vocabulary.Person) in graph
    triples = rdflib.Graph()
    for triple in graph.triples((None, None, None)):
        triples.add(triple)
    triples.serialize(tmp_path / "theirs", format="turtle", encoding="utf-8")
    with Doxa.open(":memory:", config=CONFIG) as other:
        copy = other.memory(user="ana")
        copy.import_(tmp_path / "theirs")
        assert copy.facts(current=False) == memory.facts(current=False)


def test_owlready_loads_it_and_its_reasoner_finds_it_consistent(doxa, tmp_path):
    """A memory with a denial, a dispute and a clash of classes is a consistent OWL 2 ontology all the same."""
    rdflib, owlready2 = pytest.importorskip("rdflib"), pytest.importorskip("owlready2")
    memory = told(doxa, *SAID, "Rome lives in Mia.", "I work at Rome.", "Mia's sister is Mia.", "Bonn is my brother.")
    graph = rdflib.Graph().parse(data=memory.export(tmp_path / "ana.ttl", format="turtle").read_text())
    graph.serialize(tmp_path / "ana.nt", format="nt", encoding="utf-8")
    world = owlready2.World()
    ontology = world.get_ontology((tmp_path / "ana.nt").as_uri()).load(format="ntriples")  # no guess by the first line
    ana = world["urn:doxa:user:ana:thing#ana"]
    assert "urn:doxa:vocabulary#Person" in {cls.iri for cls in ana.is_a}
    assert any(kind.iri.endswith("#Fact") for kind in ontology.classes())
    if shutil.which("java") is None:
        pytest.skip("the reasoner of owlready2 needs Java")
    with ontology:
        owlready2.sync_reasoner_hermit(world, debug=0)  # raises OwlReadyInconsistentOntologyError
    assert list(world.inconsistent_classes()) == []


def test_a_fact_has_its_provenance_and_a_denial_is_one(doxa, tmp_path):
    """Every record names its turns, speaker, times and standing; the assertion names its record."""
    rdflib = pytest.importorskip("rdflib")
    memory = told(doxa, "I live in Lisbon.", "I moved to Rome on 3 May 2024.", "I don't like olives.")
    graph = rdflib.Graph().parse(data=memory.export(tmp_path / "ana.ttl", format="turtle").read_text())
    rows = graph.query(
        """PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX meta: <urn:doxa:meta#> PREFIX doxa: <urn:doxa:vocabulary#>
        SELECT ?object ?status ?from ?said ?who WHERE {
            ?fact a meta:Fact ; meta:relation doxa:livesIn ; meta:object/rdfs:label ?object ; meta:status ?status ;
                prov:wasDerivedFrom/prov:value ?said ; prov:wasAttributedTo/rdfs:label ?who .
            OPTIONAL { ?fact meta:validFrom ?from } } ORDER BY ?object"""
    )
    assert [tuple(None if cell is None else str(cell) for cell in row) for row in rows] == [
        ("Lisbon", "superseded", None, "I live in Lisbon.", "Ana"),
        ("Rome", "held", "2024-05-03", "I moved to Rome on 3 May 2024.", "Ana"),
    ]
    owl, things = rdflib.OWL, rdflib.Namespace("urn:doxa:user:ana:thing#")
    (denial,) = graph.subjects(rdflib.RDF.type, owl.NegativePropertyAssertion)
    assert graph.value(denial, owl.sourceIndividual) == things.ana
    assert graph.value(denial, owl.targetIndividual) == things.olives
    axioms = set(graph.objects(None, owl.annotatedTarget))
    assert things.rome in axioms and things.lisbon not in axioms


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@prefix ex: <urn:x:> . ex:a ex:b ex:c .", "expected a Doxa export"),
        ("@prefix ex: <urn:x:> .\nex:a ex:b", r"expected a Doxa export .*RDF.*Unexpected end.*doxa ingest"),
        ("# What is known of ana\n\n- Ana is called Ana (D1:1)\n", "Markdown, which is for people"),
        ('{"@context": {}, "@graph": []}', "expected a Doxa export"),
        ("\x00\x01", "expected a Doxa export"),
        ("", "expected a Doxa export"),
    ],
)
def test_other_graphs_are_refused(doxa, tmp_path, text, message):
    path, memory = tmp_path / "in.ttl", doxa.memory(user="ana")
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        memory.import_(path)
    assert memory.stats()["turns"] == 0


def test_a_damaged_graph_is_refused_whole(doxa, tmp_path):
    """A turn without its text is named, and nothing is stored."""
    path = told(doxa, "I live in Rome.").export(tmp_path / "ana.ttl", format="turtle")
    path.write_text(path.read_text().replace("meta:session", "meta:sitting"))
    with Doxa.open(":memory:", config=CONFIG) as other:
        with pytest.raises(FormatError, match="meta:session of"):
            other.memory(user="ana").import_(path)
        assert other.users() == []


def test_a_relation_that_no_ontology_lists_has_a_place_in_it(doxa, tmp_path):
    """It comes under the nearest group, in the export and in what SPARQL asks."""
    memory = told(doxa, "My favourite drink is coffee.")
    (fact,) = memory.facts(current=False, subject="Ana")
    assert fact.relation.name == "favourite_drink"
    asked = memory.sparql("SELECT ?group { doxa:favouriteDrink rdfs:subPropertyOf ?group }")
    (group,) = [str(row["group"]) for row in asked]
    assert group.endswith("Relation")
    text = memory.export(tmp_path / "ana.ttl", format="turtle").read_text()
    assert f"rdfs:subPropertyOf {group}" in text and f"{group} a owl:ObjectProperty" in text


def test_without_an_encoder_a_new_relation_has_no_parent(doxa, tmp_path, monkeypatch):
    """The graph goes out all the same."""

    def fails():
        raise BackendUnavailableError("no model here")

    monkeypatch.setattr(type(doxa.parts), "mapper", lambda parts: fails())
    memory = told(doxa, "My favourite drink is coffee.")
    assert memory.sparql("ASK { thing:ana doxa:favouriteDrink ?what }").truth
    assert not memory.sparql("ASK { doxa:favouriteDrink rdfs:subPropertyOf ?group }").truth


def test_an_erasure_reaches_what_was_kept_for_the_graph(doxa):
    """Neither the graph nor the phrases that were placed in the ontology are kept."""
    memory = told(doxa, "My favourite drink is coffee.")
    memory.sparql("ASK {}")
    mapper = doxa.parts.mapper()
    assert mapper.group.cache_info().currsize > 0
    memory.forget(everything=True)
    assert mapper.group.cache_info().currsize == mapper.relate.cache_info().currsize == 0
    with doxa.parts.log.user("ana") as state:
        assert state.derived == {}
