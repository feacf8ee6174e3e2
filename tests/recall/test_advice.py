"""Whether advice is wanted: in words that no pattern holds, and not where something is looked up."""

from dataclasses import replace

import numpy as np
import pytest

from doxa.backends import load
from doxa.recall.concepts.concepts import BUILTIN
from doxa.recall.queries.advice import advice_of, with_advice
from doxa.recall.queries.query import Query

WANTED = [
    "Which scarf goes with this coat?",
    "What do I pack for the trip to Norway?",
    "Which of the cottages would be mine?",
    "My aunt wants to know my taste in music. What do I tell her?",
    "Find me a cosy place for the evening.",
]
NOT_WANTED = [
    "When did Sara move to Ghent?",
    "What was the name of the plumber?",
    "How many bicycles do I own?",
    "My cousin plays the violin.",
    "Who won the match on Sunday?",
]


@pytest.fixture(scope="module")
def encode():
    encoder = load("encoder", "builtin")
    yield lambda text: encoder.encode([text])[0]
    encoder.close()


@pytest.mark.parametrize("text", WANTED)
def test_advice_is_wanted(text, encode):
    assert advice_of(text, encode(text)) > 0.5


@pytest.mark.parametrize("text", NOT_WANTED)
def test_what_is_looked_up_or_told_is_no_wish_for_advice(text, encode):
    assert advice_of(text, encode(text)) < 0.5


@pytest.mark.parametrize(("vector", "encoder"), [(np.zeros(384), BUILTIN), (np.ones(384), "another")])
def test_without_a_vector_of_the_built_in_encoder_words_decide(vector, encoder):
    assert advice_of("Can you recommend a film?", vector.astype(np.float32), encoder=encoder) == 1.0
    assert advice_of("Which of the cottages would be mine?", vector.astype(np.float32), encoder=encoder) == 0.0


def test_a_query_seeks_a_preference_unless_it_is_about_the_past_or_somebody(encode):
    query = Query(text=WANTED[0], wording=WANTED[0], vector=encode(WANTED[0]))
    assert "preference" in with_advice(query, encoder=BUILTIN).seeks
    for other in (replace(query, historical=True), replace(query, speakers=frozenset(["Ben"]))):
        assert with_advice(other, encoder=BUILTIN) is other
