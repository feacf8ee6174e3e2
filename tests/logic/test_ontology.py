"""The relation inventory is valid OWL 2, and other ontologies are read into it."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.core.errors import FormatError, NotFoundError
from doxa.logic import builtin_ontology, read_ontology
from doxa.logic.names import local_of, name_of_local
from doxa.memory import attribute, relation_type, using, verb_type

SOURCE = files("doxa.logic").joinpath("ontology.ttl")
HEAD = """@prefix doxa: <urn:doxa:vocabulary#> . @prefix meta: <urn:doxa:meta#> . @prefix ex: <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def read(folder, text):
    """Read an extension of ours; its own text begins on line 4."""
    path = folder / "mine.ttl"
    path.write_text(HEAD + text)
    return read_ontology(path, known=builtin_ontology())


def test_the_inventory_is_read_with_its_axioms():
    ontology = builtin_ontology()
    lives_in, sister, older = (ontology.relations[name] for name in ("lives_in", "sister", "older_than"))
    assert (lives_in.functional, lives_in.domain, lives_in.range) == (True, "LivingBeing", "Place")
    assert "reside in" in lives_in.phrases
    assert sister.kind == "noun" and sister.disjoint == ("brother",) and "tie_relation" in ontology.ancestors("sister")
    assert (older.asymmetric, older.inverse, ontology.relations["younger_than"].inverse) == (
        True,
        "younger_than",
        "older_than",
    )
    assert ontology.relations["has_age"].datatype.endswith("#string") and ontology.relations["has_age"].range == "Age"
    assert ontology.relations["bake"].nature == "event" and ontology.relations["born_in"].nature == "permanent"
    assert list(ontology.classes_above("Person")) == ["LivingBeing", "Agent"]
    assert ontology.relations["same_as"].symmetric and ontology.relations["same_as"].transitive


def test_every_name_that_the_inventory_uses_is_in_it():
    ontology = builtin_ontology()
    for kind in ontology.relations.values():
        assert {kind.domain, kind.range} <= {"", *ontology.classes}, kind.name
        assert {*kind.parents, *kind.disjoint} <= ontology.relations.keys(), kind.name
        assert not kind.inverse or ontology.relations[kind.inverse].inverse == kind.name, kind.name
        assert kind.iri.endswith(local_of(kind.name))


def test_no_phrase_means_two_relations():
    """Otherwise the lexicon would have to guess."""
    seen = {}
    for kind in builtin_ontology().relations.values():
        for phrase in kind.phrases:
            assert seen.setdefault(phrase.casefold(), kind.name) == kind.name, phrase


def test_simple_properties_stay_simple():
    """OWL 2 DL, section 11.2: no cardinality, asymmetry or disjointness on a property with a transitive one below."""
    ontology = builtin_ontology()
    for kind in ontology.relations.values():
        below = [ontology.relations[name] for name in (kind.name, *ontology.kinds(kind.name))]
        if any(other.transitive for other in below):
            assert not (kind.functional or kind.inverse_functional or kind.asymmetric or kind.irreflexive), kind.name
            assert not kind.disjoint, kind.name


def test_the_inventory_loads_elsewhere_and_is_consistent(tmp_path):
    """rdflib reads the Turtle; owlready2 loads it, and its reasoner finds no class that must be empty."""
    rdflib, owlready2 = pytest.importorskip("rdflib"), pytest.importorskip("owlready2")
    graph = rdflib.Graph().parse(data=SOURCE.read_text(), format="turtle")
    graph.serialize(tmp_path / "ontology.nt", format="nt", encoding="utf-8")
    world = owlready2.World()
    loaded = world.get_ontology((tmp_path / "ontology.nt").as_uri()).load(format="ntriples")
    known = builtin_ontology()
    assert len(list(loaded.properties())) >= len(known.relations)
    assert {cls.iri for cls in loaded.classes()} >= {cls.iri for cls in known.classes.values()}


@given(st.text(st.characters(codec="utf-8"), max_size=12))
def test_any_name_comes_back_from_its_iri(name):
    local = local_of(name)
    assert name_of_local(local) == name
    assert local.isascii() and not set(local) & set(' "<>\\^`{|}') and not local[:1].isupper()


@pytest.mark.parametrize(
    ("name", "local"), [("lives_in", "livesIn"), ("half-sister", "half-sister"), ("Öl_a", "%C3%96lA"), ("_a", "%5Fa")]
)
def test_names_read_well_as_iris(name, local):
    assert local_of(name) == local


def test_a_file_adds_relations_and_refines_known_ones(tmp_path):
    ontology = read(
        tmp_path,
        """
ex:Robot a owl:Class ; rdfs:subClassOf doxa:Agent .
ex:mentorsRemotely a owl:ObjectProperty ; rdfs:domain ex:Robot ; skos:altLabel "coach online" .
ex:deskNumber a owl:DatatypeProperty, owl:FunctionalProperty ; rdfs:range xsd:integer ;
    rdfs:subPropertyOf doxa:shoeSize .
doxa:likes a owl:FunctionalProperty .
ex:isCoveredBy a owl:ObjectProperty ; owl:inverseOf doxa:contain .
""",
    )
    mentors, desk = ontology.relations["mentors_remotely"], ontology.relations["desk_number"]
    assert (mentors.kind, mentors.label, mentors.domain) == ("verb", "mentors remotely", "Robot")
    assert mentors.phrases == ("coach online",) and mentors.iri == "http://example.org/mentorsRemotely"
    assert desk.kind == "noun" and desk.functional and desk.datatype.endswith("#integer")
    assert list(ontology.ancestors("desk_number")) == ["shoe_size", "measure_relation"]
    assert ontology.relations["likes"].functional and not builtin_ontology().relations["likes"].functional
    assert ontology.relations["likes"].past == "liked"
    assert ontology.relations["contain"].inverse == "is_covered_by"
    assert "Agent" in ontology.classes_above("Robot")
    with using(ontology):
        assert relation_type("likes").functional and attribute("desk number").datatype
        assert relation_type("mentors_remotely").past == "mentored remotely"
        assert verb_type("like").functional
    assert not relation_type("likes").functional


def test_an_undeclared_parent_is_named_with_its_line(tmp_path):
    with pytest.raises(FormatError, match=r"mine\.ttl:5.*bakesFor.*expected a relation of the ontology.*doxa:bakke"):
        read(tmp_path, "\nex:bakesFor a owl:ObjectProperty ; rdfs:subPropertyOf doxa:bakke .\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ex:a ex:b", r"mine\.ttl:\d+.*expected an ontology in Turtle"),
        ("doxa:lieks a owl:FunctionalProperty .", "lieks: expected an owl:ObjectProperty"),
        ("doxa:likes rdfs:range doxa:Persn .", "expected a class of the ontology, got doxa:Persn"),
        ('doxa:likes meta:nature "often" .', "expected a nature of state, event, permanent, got 'often'"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path, text, message):
    with pytest.raises(FormatError, match=message):
        read(tmp_path, text)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(NotFoundError, match=r"no\.ttl"):
        read_ontology(tmp_path / "no.ttl", known=builtin_ontology())


def test_a_noun_and_a_verb_may_share_a_name():
    """ "Ana's cook is Tom" is no case of "Ana cooks"."""
    assert relation_type("cook").kind == "verb"
    assert attribute("cook").kind == relation_type("cook", "cook").kind == "noun"


LOOP = "[] a owl:AllDisjointClasses ; owl:members _:b . _:b rdf:first ex:A ; rdf:rest _:b . ex:A a owl:Class ."


@pytest.mark.timeout(20)
def test_a_list_that_leads_back_to_itself_ends_there(tmp_path):
    """It was followed for ever."""
    ontology = read(tmp_path, "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n" + LOOP)
    assert "A" in ontology.classes


@pytest.mark.parametrize("levels", [501, 50_000])
def test_triples_in_triples_have_a_bound(tmp_path, levels):
    """The parser goes down a level by a call: some thousand ended the process."""
    with pytest.raises(FormatError, match=r"mine\.ttl: .*levels"):
        read(tmp_path, "ex:a ex:b " + "<<( ex:a ex:b " * levels + "ex:c" + " )>>" * levels + " .")


def test_marks_in_texts_and_comments_are_no_levels(tmp_path):
    text = "<< " * 2000
    assert read(tmp_path, f'ex:A a owl:Class ; rdfs:comment "{text}" . # {text}').classes["A"]
