"""What users add to the ontology counts when turns are read and beliefs revised."""

import os

import pytest
from pydantic import BaseModel, Field

from doxa.core.config import Config
from doxa.core.errors import ConfigError, FormatError, InputError
from doxa.engine import Doxa
from doxa.logic import builtin_ontology, read_ontology
from doxa.memory import inflected, relation_type, using, verb_type

TURTLE = """@prefix doxa: <urn:doxa:vocabulary#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix ex: <http://example.org/> .
doxa:likes a owl:FunctionalProperty .
ex:lockerCode a owl:DatatypeProperty ; skos:altLabel "padlock code" .
ex:climbs a owl:ObjectProperty, owl:FunctionalProperty ; skos:altLabel "ascend" .
ex:sleepsOn a owl:ObjectProperty ; skos:altLabel "doze on" .
"""


class Climber(BaseModel):
    """Somebody who climbs."""

    ropes: list[str] = Field(default=[], json_schema_extra={"phrases": ["rope brand"]})
    desk_number: int = 0


@pytest.fixture
def turtle(tmp_path):
    path = tmp_path / "mine.ttl"
    path.write_text(TURTLE)
    return path


def facts(doxa, *texts):
    """Tell some texts and return the objects of what is held, by relation."""
    chat = doxa.dialogue(user="ana")
    for n, text in enumerate(texts):
        chat.absorb(text, at=f"2024-05-0{n + 1}", turn_id=f"t{n}")
    chat.flush()
    found = {}
    for fact in doxa.memory(user="ana").facts():
        found.setdefault(fact.relation.name, []).append(str(fact.object))
    return found


def test_without_an_extension_nothing_changes(config):
    with Doxa.open(config=config) as doxa:
        assert facts(doxa, "I like tea.", "I like rum.")["likes"] == ["tea", "rum"]


def test_a_functional_relation_of_the_user_is_revised(config, turtle):
    """A new value takes the place of the old one, and other engines know nothing of it."""
    with Doxa.open(config=config, ontology=turtle) as doxa, Doxa.open(config=config) as other:
        assert facts(doxa, "I like tea.", "I like rum.", "I climb Rysy.", "I climb Triglav.") == {
            "likes": ["rum"],
            "climbs": ["Triglav"],
        }
        assert facts(other, "I like tea.", "I like rum.")["likes"] == ["tea", "rum"]
    assert not relation_type("likes").functional


def test_verbs_are_found_by_name_and_phrase(turtle):
    """In base form, as a verb with its preposition is read; the forms of verbs stay what grammar makes them."""
    with using(read_ontology(turtle, known=builtin_ontology())):
        assert verb_type("climb").name == verb_type("ascend").name == "climbs"
        assert relation_type("sleep_on").name == relation_type("doze_on").name == "sleeps_on"
        assert relation_type("sleep_on").past == "slept on"
        assert inflected("climb").name == "climb"
        assert relation_type("doze_on", "dozes on").name == "doze_on"  # what was stored before keeps its name
    assert relation_type("sleep_on").name == "sleep_on"


def test_phrases_name_the_relation_and_the_export_has_its_iri(config, turtle, tmp_path):
    with Doxa.open(config=config, ontology=[turtle, Climber]) as doxa:
        found = facts(doxa, "My padlock code is 4711.", "My rope brand is Tendon.", "My desk number is 12.")
        assert found == {"locker_code": ["4711"], "ropes": ["Tendon"], "desk_number": ["12"]}
        memory = doxa.memory(user="ana")
        text = memory.export(tmp_path / "ana.ttl", format="turtle").read_text()
        assert "<http://example.org/lockerCode> a owl:DatatypeProperty" in text
        assert memory.sparql("SELECT ?n { thing:ana doxa:deskNumber ?n FILTER(?n > 11) }")
        (fact,) = memory.facts(relation="locker_code")
        assert memory.describe(fact) == "Ana's locker code is 4711"
    with Doxa.open(config=config, ontology=[turtle, Climber]) as copy:
        again = copy.memory(user="ana")
        again.import_(tmp_path / "ana.ttl")
        assert again.export(tmp_path / "again.ttl", format="turtle").read_text() == text


def test_the_setting_names_files(turtle, tmp_path):
    """As a list in the file, with the separator of PATH in the environment."""
    other = tmp_path / "other.ttl"
    other.write_text("")
    env = Config.load(environ={"DOXA_ONTOLOGY": f"{turtle}{os.pathsep}{other}", "DOXA_ENCODER": "hash"})
    assert env.ontology == (turtle, other)
    assert Config.from_tree({"ontology": [str(turtle)]}).ontology == (turtle,)
    assert Config.from_tree({"ontology": str(turtle)}).ontology == (turtle,)
    with Doxa.open(config=env) as doxa:
        assert facts(doxa, "I like tea.", "I like rum.")["likes"] == ["rum"]
    with pytest.raises(ConfigError, match="ontology"):
        Config.from_tree({"ontology": 5})


def test_a_bad_ontology_opens_nothing(config, tmp_path):
    """The file and the line are named, and no database is made."""
    (tmp_path / "bad.ttl").write_text("@prefix ex: <urn:x> .\nex:a ex:b\n")
    with pytest.raises(FormatError, match=r"bad\.ttl:3"):
        Doxa.open(tmp_path / "memory.db", config=config, ontology=tmp_path / "bad.ttl")
    with pytest.raises(InputError, match="expected the path of a Turtle file or a pydantic class"):
        Doxa.open(tmp_path / "memory.db", config=config, ontology=dict)
    with pytest.raises(InputError, match="one or a list of them, got 5"):
        Doxa.open(tmp_path / "memory.db", config=config, ontology=5)
    assert not (tmp_path / "memory.db").exists()
