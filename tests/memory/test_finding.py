"""Facts are found again as a walk over all of them would find them, and no question takes that walk."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engine.test_replay import CONFIG

from doxa import Doxa
from doxa.core.values import Fact, Relation, Status, Term
from doxa.language import stems_of
from doxa.memory.codec import FACT
from doxa.memory.finding import FactIndex
from doxa.memory.paged import Table

TOLD = (
    "My sister is called Mia.",
    "Mia lives in Porto.",
    "Bob Ray lives in Porto.",
    "Bob Ray likes green tea.",
    "My sister likes tea.",
    "I moved to New Porto.",
    "Robert Ray works at Halm Press.",
    "Bob is Robert.",
    "Mia does not live in Porto any more.",
)
QUESTIONS = (
    "Who lives in Porto?",
    "Where does Mia live?",
    "Where does my sister live?",
    "Who is Bob?",
    "Who is Mia?",
    "How many sisters do I have?",
    "How many presses did I mention?",
    "Is Bob married?",
    "Who likes tea?",
    "When did I move?",
    "What do you know about Halm?",
)


@pytest.fixture
def doxa():
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        for number, text in enumerate(TOLD):
            chat.absorb(text, at=f"2024-01-{number + 1:02d}")
        chat.flush()
        yield doxa


def test_what_an_index_finds_is_what_a_walk_finds(doxa):
    """By object, by relation and object, and by words, after names were joined and facts moved with them."""
    with doxa.parts.log.user("ana") as state:
        beliefs = state.beliefs
        facts = [fact for fact in beliefs.facts.values() if fact.relation.name != "same_as"]
        assert any(fact.status is not Status.HELD for fact in facts)
        for fact in facts:
            value, relation, words = fact.object, fact.relation.name, stems_of(fact.object.label)
            assert beliefs.valued_at(value.key) == [one for one in facts if one.object.key == value.key]
            of_relation = [one for one in facts if one.relation.name == relation]
            assert beliefs.of_relations([relation]) == of_relation
            sharing = [one for one in of_relation if words & stems_of(one.object.label)]
            assert not words or beliefs.of_relations([relation], words) == sharing
        for stem in ("porto", "ray", "live", "tea", "sister"):
            named = [
                one for one in facts
                if stem in stems_of(f"{one.subject.label} {one.relation.name.replace('_', ' ')} {one.object.label}")
            ]  # fmt: skip
            assert [fact.fact_id for fact in beliefs.naming([stem])] == [fact.fact_id for fact in named]
            subjects = {one.subject.key for one in facts if stem in stems_of(one.subject.label)}
            assert {term.key for term in beliefs.subjects_with([stem])} == subjects


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_question_walks_all_facts(doxa, question, monkeypatch):
    """Its cost does not grow with what is believed of others, once that is more than a few facts."""

    def walked(_):
        raise AssertionError("all facts are read")

    monkeypatch.setattr("doxa.reason.FEW", 0)
    monkeypatch.setattr(Table, "held", walked)
    assert doxa.dialogue(user="ana", session="s").ask(question).text


def test_a_fact_is_forgotten_whatever_its_ends_were_called_first():
    """One key may have labels of different words; what is told no longer is found by none of them."""
    facts = Table(FACT)
    index = FactIndex(facts)
    for number, label in enumerate(("Kim", "Kimberly Ray")):
        subject, tea = Term("kim", label), Term("tea", "tea")
        fact = Fact(fact_id=f"f{number}", subject=subject, relation=Relation("likes", "likes"), object=tea)
        facts[fact.fact_id] = fact
        index.add(facts.row(fact.fact_id), fact)
    for key in list(facts):
        row, fact = facts.row(key), replace(facts[key], object=Term("tea", "green tea"))
        index.remove(row, fact)
        del facts[key]
    assert index.about("kim", None, None) == index.subjects(["kim", "ray"]) == []
    assert index.naming({"kim", "tea", "green"}) == []
