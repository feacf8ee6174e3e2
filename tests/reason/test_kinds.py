"""What kind of thing a value is."""

from datetime import date

import pytest

from doxa.core.values import Fact, Relation, Term
from doxa.reason.kinds import absolute, fitting, place_of, relations_of_attribute, weekdays

FITS = {
    "a date": ("due on 19 March 2024, I think", "date", "19 March 2024"),
    "a day of a month": ("the 30th of August", "date", "the 30th of August"),
    "a month is no date": ("March 2024", "date", None),
    "the month of a date": ("19 March 2024", "month", "March 2024"),
    "the year of a date": ("19 March 2024", "year", "2024"),
    "a clock time": ("every day at 9:30", "clock", "9:30"),
    "an hour": ("five", "clock", "five"),
    "a word is no clock time": ("the barn", "clock", None),
    "a number": ("34 euros a month", "number", "34 euros a month"),
    "no number": ("a lot", "number", None),
    "a duration": ("for four years or so", "duration", "four years"),
    "a country": ("Portugal", "country", "Portugal"),
    "a city is no country": ("Porto", "country", None),
    "a country is no city": ("Portugal", "city", None),
    "a district is no city": ("the Bonfim district", "city", None),
    "a district": ("the Bonfim district", "district", "the Bonfim district"),
    "a country is no district": ("Portugal", "neighbourhood", None),
    "a country is no university": ("Scotland", "university", None),
    "an address": ("12 Alder Street", "address", "12 Alder Street"),
    "a town is no address": ("Riga", "address", None),
    "a date is no person": ("19 March", "person", None),
    "a fruit": ("apples", "fruits", "apples"),
    "a name may be a pet's": ("Luna", "pets", "Luna"),
    "a colour": ("dark red", "colour", "dark red"),
    "no colour": ("fast", "colour", None),
    "a name": ("Nurr", "name", "Nurr"),
    "a noun is no name": ("new flatmate", "name", None),
}


@pytest.mark.parametrize(("label", "expects", "value"), FITS.values(), ids=FITS.keys())
def test_a_value_fits_what_is_asked_for(label, expects, value):
    """The part that fits is given back, or nothing."""
    assert fitting(label, expects) == value


def fact(relation, label, value):
    """Make a fact about Ana."""
    return Fact(
        fact_id="f",
        subject=Term("ana", "Ana"),
        relation=Relation(relation, label),
        object=Term(value.casefold(), value),
    )


@pytest.mark.parametrize(
    ("relation", "label", "value", "place"),
    [
        ("lives_in", "lives in", "Riga", "Riga"),
        ("works_as", "works as", "nurse at the mill", "the mill"),
        ("flight_to_riga", "flight to riga", "3 May", "Riga"),
        ("eats", "eats", "soup", None),
    ],
    ids=["object", "inside the object", "inside the relation", "none"],
)
def test_a_fact_names_a_place(relation, label, value, place):
    """In its object, inside it, or in the name of its relation."""
    assert place_of(fact(relation, label, value)) == place


def test_attributes_lead_to_relations_in_singular_and_plural():
    """The relation that is asked for adds those that answer for it."""
    assert relations_of_attribute("employer")[0] == "works_at"
    assert relations_of_attribute("hobbies") == relations_of_attribute("hobby") != ()
    assert "runs" in relations_of_attribute("", "works_as") and relations_of_attribute("spoon") == ()


def test_days_are_told_from_the_day_of_speaking():
    """What is no such word stays as it is."""
    assert absolute("yesterday", date(2024, 5, 1)) == "30 April 2024"
    assert absolute("today", date(2024, 5, 1)) == "1 May 2024" and absolute("in May", date(2024, 5, 1)) == "in May"


def test_days_of_the_week_are_named_in_the_singular():
    """Plural and case make no difference."""
    assert weekdays("on Fridays and saturday") == {"friday", "saturday"} and weekdays("in May") == set()
