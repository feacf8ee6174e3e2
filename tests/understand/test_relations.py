"""Relation phrases find their relation, and none is dropped."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.backends import load
from doxa.core.ontology import Ontology, RelationType
from doxa.logic import builtin_ontology, merge
from doxa.understand import RelationMapper
from doxa.understand.relations import encoded, wordings

MEASURE = Path(__file__).parents[2] / "training" / "relations" / "measure.py"


class Counting:
    """An encoder that counts what it is asked for."""

    def __init__(self):
        self.asked, self._inner = 0, load("encoder", "hash")
        self.name, self.dims = self._inner.name, self._inner.dims

    def encode(self, texts):
        self.asked += len(texts)
        return self._inner.encode(texts)

    def close(self):
        self._inner.close()


@pytest.fixture(scope="module")
def words():
    """A mapper whose encoder knows no meaning: what it finds, the lexicon has."""
    return RelationMapper(load("encoder", "hash"), threshold=1.01)


@pytest.mark.parametrize(
    ("phrase", "name", "inverted"),
    [
        ("lives in", "lives_in", False),
        ("has been living in", "lives_in", False),
        ("currently resides in", "lives_in", False),
        ("was born in", "born_in", False),
        ("is allergic to", "allergic_to", False),
        ("will travel to", "travels_to", False),
        ("bought", "buys", False),
        ("works_at", "works_at", False),
        ("dad", "father", False),
        ("has a brother called", "brother", False),
        ("is the sister of", "sister", True),
        ("is a colleague of", "colleague", True),
        ("is owned by", "own", True),
        ("is older than", "older_than", False),
        ("HOBBY", "hobby", False),
    ],
)
def test_the_lexicon_knows_a_phrase_in_every_form(words, phrase, name, inverted):
    found = words.relate(phrase)
    assert (found.relation.name, found.by, found.inverted, found.score) == (name, "lexicon", inverted, 1.0)


@pytest.mark.parametrize(
    ("phrase", "name", "label"),
    [
        ("photographed", "photograph", "photographs"),
        ("juggles with", "juggle_with", "juggles with"),
        ("is wrapped in", "be_wrapped_in", "is wrapped in"),
        ("climbing partner", "climbing_partner", "climbing partner"),
        ("?!", "relate_to", "relates to"),
    ],
)
def test_a_phrase_that_nothing_means_is_a_new_relation(words, phrase, name, label):
    found = words.relate(phrase)
    assert found.by == "new" and found.relation.name == name
    assert found.relation.parents == (found.parent,) and found.parent in builtin_ontology().relations
    assert found.relation.label == label


@settings(max_examples=20)
@given(st.text(max_size=40))
def test_every_text_gives_a_relation(text):
    """The same one every time."""
    mapper = RelationMapper(load("encoder", "hash"))
    found = mapper.relate(text)
    assert found.relation.name and found == RelationMapper(load("encoder", "hash")).relate(text)


def test_a_phrase_is_worked_out_once_and_wordings_are_encoded_once():
    """Work, not seconds: nothing is encoded for the lexicon, and nothing twice."""
    encoder = Counting()
    mapper = RelationMapper(encoder)
    mapper.relate("lives in")
    assert encoder.asked == 0
    mapper.relate("frobnicates with")
    first = encoder.asked
    mapper.relate("frobnicates with")
    assert encoder.asked == first > 1000
    mapper.relate("grumbles about")
    assert encoder.asked == first + 1


def test_the_vectors_in_the_package_are_those_of_the_ontology():
    """Run `python training/relations/wordings.py` when this fails: else users wait for what is missing."""
    encoder = load("encoder", "builtin")
    texts = wordings(builtin_ontology())
    shipped = encoded([], encoder)
    assert set(texts) == set(shipped)
    sample = texts[::40]
    cosines = (encoder.encode(sample) * np.stack([shipped[text] for text in sample])).sum(axis=1)
    assert cosines.min() > 0.999


def test_a_new_relation_is_placed_among_relations_between_things():
    mapper = RelationMapper(load("encoder", "builtin"))
    groups = {mapper.group(phrase) for phrase in ("weighs in at", "sneezed at", "is wrapped in", "")}
    assert all(not builtin_ontology().relations[name].datatype for name in groups)
    assert mapper.group("plays a duet on") == "activity_relation"


def test_relations_of_the_user_are_found_as_well():
    belays = RelationType(name="belays", label="belays", iri="urn:x#belays", phrases=("hold the rope for",))
    mapper = RelationMapper(load("encoder", "hash"), merge(builtin_ontology(), Ontology(relations={"belays": belays})))
    assert mapper.relate("held the rope for").relation.name == "belays"


def test_meaning_is_found_in_other_words():
    """The half of the labelled phrases that the threshold was not chosen on; see training/relations."""
    measure = runpy.run_path(str(MEASURE))
    mapper = RelationMapper(load("encoder", "builtin"))
    _, rows = measure["halves"]()
    found = measure["scores"](rows, mapper)
    assert found["precision"] >= 0.85 and found["recall"] >= 0.65 and found["accuracy"] >= 0.74, found
    new = mapper.relate("sneezed at")
    assert new.by == "new" and new.score < 0.64 and np.isfinite(new.score)
