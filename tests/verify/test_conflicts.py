"""In which ways a clause of a reply differs from what was said."""

from datetime import datetime

import pytest

from doxa.verify.conflicts import conflict_of

AT = datetime(2025, 6, 1)


def conflict(clause, said):
    return conflict_of(clause, [(said, AT)], AT)


def differing(clause, said):
    found = conflict(clause, said)
    return {name for name, value in found.features.items() if value and name not in ("shared", "matched", "past")}


@pytest.mark.parametrize(
    ("clause", "said", "how"),
    [
        ("there are 45 pupils in your class", "There are 31 pupils in my class.", {"counted"}),
        ("your shift at the bakery ends at 8 am", "I have shifts at the bakery from 11 pm to 6 am.", {"typed"}),
        ("your baby is due in May", "We're expecting a baby in February.", {"typed"}),
        ("your landlord is called Mr. Petersen", "My landlord is called Mr. Sørensen.", {"related"}),
        ("you are travelling to Leipzig", "I'm travelling to Hamburg for a conference.", {"named"}),
        ("for the conference you will be going to Leipzig", "I'm travelling to Hamburg for a conference.", {"placed"}),
        ("your sister is called Karin", "My sister Ana lives in Rome.", {"related"}),
        ("your rent is 990", "My rent went up again, 1150 now instead of 990.", {"changed"}),
        ("the operation is on 9 December", "My operation is on 9 December. They moved the operation to 16 December.",
         {"changed"}),
        ("you have an office in Graz", "I don't have an office in Graz.", {"denied"}),
        ("your shop is open on Mondays", "My shop is closed on Mondays.", {"opposed"}),
    ],
)  # fmt: skip
def test_a_value_in_the_place_of_another_and_an_opposite_are_seen(clause, said, how):
    """Each by the feature that it is, and by no other."""
    assert differing(clause, said) == how


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("there are 31 pupils in your class", "There are 31 pupils in my class."),
        ("your rent is 1150", "My rent went up again, 1150 now instead of 990."),
        ("the operation is on 16 December", "My operation is on 9 December. They moved the operation to 16 December."),
        ("your landlord is called Sørensen", "My landlord is called Mr. Sørensen."),
        ("you are not a smoker", "I don't smoke."),
    ],
)
def test_what_was_said_differs_in_nothing(clause, said):
    assert differing(clause, said) == set()


def test_a_value_in_a_question_was_not_said():
    """A question of the assistant is no word of the user, though its words tell what the answer is about."""
    found = conflict("your day off is Thursday", "Is Thursday still your day off? No, Fridays now.")
    assert found.typed == 1.0 and not found.matched


def test_the_value_that_was_said_instead_is_told():
    found = conflict("there are 45 pupils in your class", "There are 31 pupils in my class.")
    assert found.instead == "“31”, not “45”"


def test_relative_days_are_read_on_the_day_on_which_they_were_said():
    """ "Tomorrow" of one day is "today" of the next."""
    said = [("My exam is tomorrow.", datetime(2025, 5, 31))]
    assert not conflict_of("your exam is on 1 June", said, AT).typed
    assert conflict_of("your exam is on 2 June", said, AT).typed == 1.0


def test_a_question_asks_for_values_and_takes_names_for_granted():
    found = conflict("how is your sister Karin after 20 days", "My sister Ana was away for 10 days.")
    assert found.presupposed(asked=True).related and not found.presupposed(asked=True).counted
    assert found.presupposed(asked=False).counted


def test_advice_may_name_another_place():
    found = conflict("you should move to Munich", "I moved to Berlin yesterday.")
    assert found.named and not found.presupposed(asked=False).named
