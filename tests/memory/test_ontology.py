"""The relation inventory and its sentences."""

from datetime import UTC, date, datetime

import pytest

from doxa.core.values import Fact, Interval, Modality, Status, Term
from doxa.memory import attribute, describe, relation_type

ANA = Term("ana", "Ana")


def fact(name: str, value: str, **changes: object) -> Fact:
    kind = attribute(name) if " " in name else relation_type(name)
    return Fact(fact_id="f", subject=ANA, relation=kind.relation, object=Term(value.casefold(), value), **changes)


SINCE = Interval(start=date(2024, 5, 25))
POINT = Interval(start=date(2024, 3, 1), end=date(2024, 3, 1), start_precision="month", end_precision="month")

SENTENCES = {
    "present": (fact("lives_in", "Bonn", valid=SINCE), "Ana lives in Bonn since 25 May 2024"),
    "denied": (fact("likes", "olives", polarity=False), "Ana does not like olives"),
    "denied be": (fact("allergic_to", "nuts", polarity=False), "Ana is not allergic to nuts"),
    "superseded": (fact("lives_in", "Bonn", status=Status.SUPERSEDED), "Ana lived in Bonn"),
    "planned": (
        fact("lives_in", "Bonn", modality=Modality.PLANNED, valid=SINCE),
        "Ana plans to live in Bonn since 25 May 2024",
    ),
    "wanted": (fact("wants", "boat", modality=Modality.DESIRED), "Ana wants boat"),
    "possible": (fact("works_at", "Nexora", modality=Modality.POSSIBLE), "Ana may work at Nexora"),
    "noun": (fact("favourite film", "Alien"), "Ana's favourite film is Alien"),
    "noun denied": (fact("favourite film", "Alien", polarity=False), "Ana's favourite film is not Alien"),
    "the time is the object": (fact("born_on", "March 2024", valid=POINT), "Ana was born on March 2024"),
    "until a day ahead": (
        fact(
            "works_hours", "40 hours", valid=Interval(end=date(2024, 8, 1)), known_at=datetime(2024, 5, 15, tzinfo=UTC)
        ),
        "Ana works 40 hours until 1 August 2024",
    ),
    "until a day before": (
        fact(
            "works_hours", "40 hours", valid=Interval(end=date(2024, 5, 1)), known_at=datetime(2024, 5, 15, tzinfo=UTC)
        ),
        "Ana worked 40 hours until 1 May 2024",
    ),
    "verb outside": (fact("climb", "Rysy", valid=POINT), "Ana climbed Rysy in March 2024"),
}


@pytest.mark.parametrize(("given", "sentence"), SENTENCES.values(), ids=SENTENCES.keys())
def test_a_fact_reads_as_a_sentence(given: Fact, sentence: str) -> None:
    assert describe(given) == sentence


@pytest.mark.parametrize(
    ("name", "functional"),
    [("lives_in", True), ("works_at", True), ("has_age", True), ("likes", False), ("speaks", False), ("sister", False)],
)
def test_the_inventory_knows_what_has_one_object(name: str, functional: bool) -> None:
    assert relation_type(name).functional is functional


def test_an_attribute_has_one_value_unless_its_noun_says_one_of_many() -> None:
    assert attribute("shoe size").functional
    assert not attribute("hobby").functional


def test_a_type_comes_back_from_its_relation() -> None:
    for kind in (relation_type("lives_in"), relation_type("climb"), attribute("shoe size")):
        assert relation_type(kind.relation.name, kind.relation.label) == kind
