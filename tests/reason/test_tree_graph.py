"""The facts of a memory as a graph, and what a noun tells of whom it may mean."""

from datetime import date

import pytest

from doxa import Doxa
from doxa.core.config import Config, GraderConfig
from doxa.core.values import Term
from doxa.reason.tree import FactGraph, may_be

TODAY = date(2024, 12, 1)
TOLD = (
    ("2024-01-01", "My boss is Ruth."),
    ("2024-01-02", "Ruth's sister is called Mia."),
    ("2024-01-03", "Mia's dog is called Rex."),
    ("2024-01-04", "Ruth lives in Bonn."),
    ("2024-01-05", "My brother Leo lives in Ghent."),
    ("2024-01-06", "Leo is married."),
    ("2024-01-07", "Ruth is married."),
    ("2024-06-01", "Ruth moved to Cologne."),
    ("2024-06-02", "Leo does not like Rex."),
)


@pytest.fixture(scope="module")
def beliefs():
    with Doxa.open(":memory:", config=Config(grader=GraderConfig(name="none"))) as doxa:
        chat = doxa.dialogue(user="ana")
        for day, text in TOLD:
            chat.absorb(text, at=day)
        chat.flush()
        with doxa.parts.log.user("ana") as state:
            yield state.beliefs


def said(facts):
    return [f"{fact.subject} {fact.relation} {fact.object}" for fact in facts]


def graph_on(beliefs, day=None):
    return FactGraph(beliefs, day, TODAY)


def test_an_entity_is_expanded_both_ways(beliefs):
    """Facts that name an entity as their object belong to its neighbourhood as well."""
    found = said(graph_on(beliefs).expand(Term("mia", "Mia"), 1))
    assert set(found) == {"Mia dog Rex", "Ruth sister Mia"}


def test_hops_go_from_name_to_name(beliefs):
    """Two people who are both married are no neighbours; what no longer holds is left out."""
    found = said(graph_on(beliefs).expand(Term("mia", "Mia"), 2))
    assert "Ruth lives in Cologne" in found
    assert "Ruth lives in Bonn" not in found
    assert "Leo is married" not in said(graph_on(beliefs).expand(Term("ruth", "Ruth"), 2))


def test_a_path_is_walked_whatever_way_relations_point(beliefs):
    """From the dog to its owner's sister's subordinate, each link against its relation."""
    (path,) = graph_on(beliefs).paths(Term("rex", "Rex"), Term("ana", "Ana"), 1)
    assert said(path) == ["Mia dog Rex", "Ruth sister Mia", "Ana boss Ruth"]


def test_a_path_holds_on_the_day_that_is_asked_about(beliefs):
    """In March Ruth lived in Bonn, and Cologne had nothing to do with her."""
    assert graph_on(beliefs, date(2024, 3, 1)).paths(Term("rex", "Rex"), Term("cologne", "Cologne"), 1) == []
    (path,) = graph_on(beliefs, date(2024, 3, 1)).paths(Term("rex", "Rex"), Term("bonn", "Bonn"), 1)
    assert said(path)[-1] == "Ruth lives in Bonn"


def test_what_is_denied_ties_nothing(beliefs):
    """That Leo does not like Rex is no tie between them; the way round is found instead."""
    path = graph_on(beliefs).paths(Term("leo", "Leo"), Term("rex", "Rex"), 1)[0]
    assert said(path) == ["Ana brother Leo", "Ana boss Ruth", "Ruth sister Mia", "Mia dog Rex"]


def test_paths_are_loopless_and_the_cheapest_first(beliefs):
    """Asked for more paths than there are, each is given once."""
    found = graph_on(beliefs).paths(Term("mia", "Mia"), Term("leo", "Leo"), 5)
    assert len({tuple(fact.fact_id for fact in path) for path in found}) == len(found)
    assert len(found[0]) <= len(found[-1])


def test_nothing_leads_to_a_stranger(beliefs):
    """No entity, no path."""
    graph = graph_on(beliefs)
    assert graph.entity("Zoe") is None
    assert graph.paths(Term("zoe", "Zoe"), Term("ana", "Ana"), 3) == []


@pytest.mark.parametrize(
    ("noun", "key", "fits"),
    [("woman", "mia", True), ("man", "mia", False), ("brother", "mia", False), ("friend", "mia", True),
     ("uncle", "leo", False), ("brother", "leo", True), ("man", "ruth", True),
     ("cousin", "ana's mother", False), ("woman", "ana's mother", True)],
)  # fmt: skip
def test_nobody_is_taken_for_what_he_is_not(noun, key, fits, beliefs):
    """A sister is no man, a brother no uncle; of whom nothing is known nothing is ruled out."""
    facts = graph_on(beliefs).expand(Term(key, key.title()), 1)
    assert may_be(noun, key, facts) is fits
