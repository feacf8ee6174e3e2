"""Arithmetic over what a dialogue states: right or not at all."""

from datetime import UTC, date, datetime
from fractions import Fraction

import pytest

from doxa.backends.parser import CachedParser
from doxa.backends.registry import load
from doxa.core.values import Turn
from doxa.language.amounts import converted, numbers_of
from doxa.reason import concerns, work_out
from doxa.reason.compute.expressions import Operation, steps, value_of, written

AT = datetime(2026, 6, 1, 10, tzinfo=UTC)


@pytest.fixture(scope="module")
def parser():
    parser = CachedParser(load("parser", "builtin"))
    yield parser
    parser.close()


def said(number, text, speaker="Ana"):
    return Turn(
        turn_id=f"t{number}", user="ana", session="s", speaker=speaker, role="user", text=text, at=AT, ordinal=number
    )


def answer(parser, *texts):
    turns = [said(n, *(text if isinstance(text, tuple) else (text,))) for n, text in enumerate(texts)]
    return work_out(texts[-1], turns[:-1], parser, asker=turns[-1], today=date(2026, 6, 1))


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (("I have 12 eggs.", "I used 5 of the eggs.", "How many eggs do I have left?"), "7"),
        (("Rita has 30 shells.", "Hugo has 18 shells.", "How many more shells does Rita have than Hugo?"), "12"),
        (
            (("I sold 4 lamps.", "Ana"), ("I sold 7 lamps.", "Ben"), "How many lamps did Ana and Ben sell together?"),
            "11",
        ),
        (("A box holds 6 cups.", "We bought 4 boxes.", "How many cups did we buy?"), "24"),
        (("I read 8 pages a day.", "How many pages do I read in a week?"), "56"),
        (
            (
                "A jacket costs 80 euros.",
                "In the sale it is 10% cheaper.",
                "How much does the jacket cost in the sale?",
            ),
            "72 euros",
        ),
        (
            ("I spent 9 euros on tea on 2 May.", "On 8 May I spent 4 euros on milk.", "How much did I spend in May?"),
            "13 euros",
        ),
        (("Lea is 34.", "Max is 29.", "Who is older, Lea or Max?"), "Lea"),
        (
            (
                "The fair is on 3 July 2026.",
                "The race is on 27 June 2026.",
                "How many days lie between the race and the fair?",
            ),
            "6 days",
        ),
        (("My aunt was born on 3 August 1958.", "How old is my aunt?"), "67"),
        (("The rope was 3 metres long.", "I cut off 80 centimetres.", "How long is the rope now?"), "220 centimetres"),
        (("We invited 24 guests.", "Sorry, we invited 28 guests.", "How many guests did we invite?"), "28"),
        (("The stove cost 90 euros.", "The sink was 60 euros.", "What did the stove and the sink cost together?"),
         "150 euros"),
        (("I paid 20 euros for the vase.", "I bought a lamp for 35 euros.", "How much did I pay for the vase and the "
          "lamp?"), "55 euros"),
        (("Ida earns 10 euros an hour.", "She got a 20% raise.", "How much does Ida earn an hour now?"), "12 euros"),
        (("Ida's wage was 10 euros an hour.", "Ida was given a raise of 3 euros an hour.", "What is Ida's wage now?"),
         "13 euros"),
        (("The fee was 80 euros.", "It is 100 euros now.", "By how many percent did the fee go up?"), "25%"),
        (("I borrowed 90 euros from Uli.", "I gave him back 40 euros.", "How much do I still owe Uli?"), "50 euros"),
        (("Eva was born in 1970.", "Jan was born in 1964.", "Who is older, Eva or Jan?"), "Jan"),
        (("Eva was born in 1970.", "Jan was born in 1964.", "Is Eva younger than Jan?"), "yes"),
        (("The mill was built in 1805.", "The barn was built in 1820.", "How many years older is the mill than the "
          "barn?"), "15 years"),
        (("My cat Mia weighs 4 kg.", "My mouse Bo weighs 30 grams.", "My dog Rex weighs 20 kg.",
          "Which of my pets is heavier?"), "Rex"),
        (("My cousin Ulf is 1.80 m tall.", "My cousin Jon is 1.75 m tall.", "Which of my cousins is taller?"), "Ulf"),
        (("Rita has 30 shells.", "Hugo has 18 shells.", "What is the difference between Rita's and Hugo's shells?"),
         "12"),
        (("I joined the club in 2010.", "I left the club in 2016.", "How long was I in the club?"), "6 years"),
        (("The fair is on 3 July 2026.", "The race is on 10 July 2026.", "How many days after the fair is the race?"),
         "7 days"),
        (("I sold 12 jars on Monday.", "On Tuesday I sold 8.", "Actually it was 15 on Monday.",
          "How many jars did I sell altogether?"), "23"),
        (("There are 4 red cups and 3 blue cups.", "How many blue cups are there?"), "3"),
    ],
)  # fmt: skip
def test_what_was_stated_adds_up(parser, texts, value):
    assert answer(parser, *texts).value == value


@pytest.mark.parametrize(
    "texts",
    [
        ("Rosa has some apples.", "How many apples does Rosa have?"),
        ("Rosa has 3 cats.", "How many dogs does Rosa have?"),
        ("Rosa has about 40 books.", "How many books does Rosa have?"),
        ("The stove cost 90 euros.", "The sink is new.", "What did the stove and the sink cost together?"),
        ("Ida earns 10 euros an hour.", "She got a raise.", "How much does Ida earn an hour now?"),
        ("Eva was born in 1970.", "Jan lives in Rome.", "Who is older, Eva or Jan?"),
        ("My cat Mia weighs 4 kg.", "My dog Rex is black.", "Which of my pets is heavier?"),
        ("Eva was born in 1970.", "Jan is 56.", "Who is older, Eva or Jan?"),
    ],
)
def test_what_is_not_certain_is_not_computed(parser, texts):
    found = answer(parser, *texts)
    assert found is None or found.abstained


def test_a_part_is_no_answer_where_a_sum_is_asked(parser):
    found = answer(parser, "Jo has a few coins.", "Pat has 9 coins.", "How many coins do Jo and Pat have together?")
    assert found is not None
    assert found.abstained


def test_a_question_for_a_sum_that_names_nothing_is_left_to_others(parser):
    """ "It" is no thing that could be counted."""
    found = answer(parser, "I bought 3 chairs and 2 tables.", "How much did it cost me in total?")
    assert found is None or found.abstained


def test_the_working_and_its_turns_are_shown(parser):
    found = answer(
        parser, "I have 12 eggs.", "It is raining.", "I used 5 of the eggs.", "How many eggs do I have left?"
    )
    assert "12 - 5 = 7" in found.text
    assert [citation.turn_id for citation in found.citations] == ["t0", "t2"]


def test_other_questions_cost_one_look():
    assert not concerns("Where does Dora work?")
    assert concerns("How many cats does Dora have?")


def test_an_expression_is_exact_and_shows_its_steps():
    third = Operation(operator="÷", parts=(Fraction(1), Fraction(3)))
    whole = Operation(operator="×", parts=(third, Fraction(3)))
    assert value_of(whole) == 1
    assert steps(whole) == ("1 ÷ 3 ≈ 0.3333", "0.3333 × 3 = 1")


@pytest.mark.parametrize(("number", "text"), [(Fraction(5), "5"), (Fraction(5, 2), "2.5"), (Fraction(2, 3), "0.6667")])
def test_numbers_are_written_as_people_do(number, text):
    assert written(number) == text


@pytest.mark.parametrize(
    ("text", "values"),
    [("-2, +5 and 1,200", [-2, 5, 1200]), ("half of them", [Fraction(1, 2)]), ("twenty-five and a dozen", [25, 12])],
)
def test_numbers_are_read_exactly(text, values):
    assert [number.value for number in numbers_of(text)] == values


def test_units_convert_within_a_dimension_only():
    assert converted("metre", "centimetre") == 100
    assert converted("month", "day") is None
