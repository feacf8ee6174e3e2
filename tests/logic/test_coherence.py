"""What can be asserted together, and what has to stand as a record alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.core.ontology import Ontology, RelationType
from doxa.core.values import Fact, Relation, Term
from doxa.logic import OwlState, builtin_ontology, merge
from doxa.logic.coherence import Coherent

INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
DESK = RelationType(name="desk", label="desk", iri="urn:x#desk", kind="noun", datatype=INTEGER)
BADGE = RelationType(name="badge", label="badge", iri="urn:x#badge", inverse_functional=True)
ONTOLOGY = merge(builtin_ontology(), Ontology(relations={"desk": DESK, "badge": BADGE}))


def facts(*rows):
    """Facts from "subject relation object", with "not" before the relation of a denial."""
    for n, row in enumerate(rows):
        subject, *no, relation, value = row.split()
        yield Fact(
            fact_id=f"f{n}",
            subject=Term(subject, subject),
            relation=Relation(relation, relation),
            object=Term(value, value),
            polarity=not no,
        )


@pytest.mark.parametrize(
    ("rows", "asserted", "denied"),
    [
        (["ana lives_in rome", "ana likes tea"], 2, 0),
        (["ana born_in rome", "ana born_in bonn", "mia born_in bonn"], 1, 0),
        (["ana lives_in rome", "ana lives_in bonn"], 2, 0),
        (["ana married_to bo", "bo married_to eve", "cy married_to dee", "dee married_to cy"], 2, 0),
        (["ana sister ana"], 0, 0),
        (["ana older_than bo", "bo older_than ana"], 1, 0),
        (["ana older_than bo", "ana younger_than bo"], 1, 0),
        (["ana child bo", "bo child ana"], 1, 0),
        (["ana sister mia", "ana brother mia"], 1, 0),
        (["ana lives_in rome", "rome lives_in bonn"], 1, 0),
        (["ana lives_in rome", "bo married_to rome"], 1, 0),
        (["rex is_a dog", "ana dog rex", "rex married_to bo"], 2, 0),
        (["ana desk 12", "bo desk twelve"], 1, 0),
        (["ana badge b1", "bo badge b1", "cy badge b2"], 1, 0),
        (["ana not likes tea", "ana likes tea"], 1, 0),
        (["ana not likes tea", "ana likes rum"], 1, 1),
        (["ana son leo", "ana not child leo"], 1, 0),
        (["ana desk 12", "ana not desk 12", "ana not desk 13"], 1, 1),
        (["ana frobs tea", "ana not frobs rum"], 1, 1),
        (["wheel not part_of car"], 0, 0),
    ],
    ids=str,
)
def test_what_clashes_is_left_out(rows, asserted, denied):
    found = Coherent.of(facts(*rows), ONTOLOGY)
    assert (len(found.asserted), len(found.denied)) == (asserted, denied)


def test_things_get_the_classes_that_follow():
    found = Coherent.of(facts("ana married_to bo", "ana lives_in rome"), ONTOLOGY)
    assert list(found.classes["ana"]) == ["Person", "LivingBeing"]
    assert list(found.classes["bo"]) == ["Person"] and list(found.classes["rome"]) == ["Place"]


NAMES = st.sampled_from("ana bo cy dee eve fin 12".split())
RELATIONS = st.sampled_from(sorted(name for name, kind in ONTOLOGY.relations.items() if not kind.abstract))
CLOSE = st.sampled_from(
    "sister brother child parent son mother married_to older_than younger_than part_of desk".split()
)
ROWS = st.tuples(NAMES, st.sampled_from([" ", " ", " ", " not "]), CLOSE | CLOSE | RELATIONS, NAMES)


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, max_size=40))
def test_what_is_asserted_has_no_clash_by_the_rules_of_owl(rows):
    """Not even one that needs things of two names to be two things."""
    found = Coherent.of(facts(*(f"{one}{sign}{relation} {other}" for one, sign, relation, other in rows)), ONTOLOGY)
    assert OwlState("ana", ONTOLOGY, [*found.asserted, *found.denied]).inconsistencies() == []
