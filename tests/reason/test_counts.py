"""Numbers that are stated count what is asked for, or they are no answer."""

import pytest

from doxa import Doxa


@pytest.fixture(scope="module")
def doxa():
    with Doxa.open(":memory:") as doxa:
        yield doxa


ALIKE = pytest.mark.xfail(strict=True, reason="what is near in meaning and another thing is counted as well")


@pytest.mark.parametrize(
    ("said", "asked", "value"),
    [
        pytest.param("Dora has 3 cats.", "How many dogs does Dora have?", None, marks=ALIKE),
        ("Dora has 3 cats.", "How many cats does Dora have?", "3"),
        ("Dora has 3 cats.", "How many pets does Dora have?", "3"),
        ("My aunt has three kids.", "How many children does my aunt have?", "three"),
        pytest.param("The hotel has 90 rooms.", "How many guests are in the hotel?", None, marks=ALIKE),
        pytest.param("I drink 4 cups of tea a day.", "How many cups of coffee do I drink?", None, marks=ALIKE),
        ("My sister bought 5 paintings.", "How many pictures did my sister buy?", "5"),
    ],
)
def test_a_number_counts_what_it_is_said_of(doxa, said, asked, value):
    chat = doxa.dialogue(user=f"{said} {asked}", speaker="Ana")
    chat.absorb(said)
    chat.flush()
    reply = chat.ask(asked)
    assert (None if reply.abstained else reply.value) == value


def test_a_day_is_no_length_of_time(doxa):
    chat = doxa.dialogue(user="diet", speaker="Ana")
    chat.absorb("I started my diet on 1 March.")
    chat.flush()
    reply = chat.ask("How many days were there between the start of my diet and my wedding?")
    assert reply.abstained or not f"{reply.value}".startswith("0 ")
