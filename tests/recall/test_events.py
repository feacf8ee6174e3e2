"""Events and sessions as times, and the other names of whom a query names."""

from datetime import UTC, date, datetime

import pytest

from doxa.recall import read_query
from doxa.recall.queries.times import Days

TODAY = datetime(2024, 8, 1, 12, tzinfo=UTC)


def day(month: int, number: int) -> datetime:
    return datetime(2024, month, number, 12, tzinfo=UTC)


@pytest.fixture
def year(words):
    """A few months of one person's life, one session a month."""
    words.say("I live with my parents in Wels.", at=day(2, 3), session="one")
    words.say("We moved my things into the new flat.", at=day(4, 20), session="two")
    words.say("My pottery class is on Wednesdays.", at=day(6, 8), session="three")
    words.say("My bike was stolen.", at=day(7, 15), session="four")
    return words


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Where did I live before the move?", Days(date.min, date(2024, 4, 20))),
        ("What did I start after the move?", Days(date(2024, 4, 20), date.max)),
        ("What have I learned since we moved into the flat?", Days(date(2024, 4, 20), date.max)),
        ("How did I get there when my bike was stolen?", Days(date(2024, 7, 5), date(2024, 7, 22))),
    ],
)
def test_an_event_is_the_day_on_which_it_was_told(year, text, days):
    assert read_query(text, year.state, at=TODAY).days == days


@pytest.mark.parametrize(
    "text", ["Where did I live before the earthquake?", "What do I do before work?", "Did we talk about bikes?"]
)
def test_what_is_not_known_dates_nothing(year, text):
    assert read_query(text, year.state, at=TODAY).days is None


def test_what_was_before_an_event_is_history(year):
    assert read_query("Where did I live before the move?", year.state, at=TODAY).historical
    assert not read_query("What did I start after the move?", year.state, at=TODAY).historical


def test_a_date_goes_before_an_event(year):
    """A withdrawn turn dates nothing."""
    found = read_query("What did I do in June, after the move?", year.state, at=TODAY).days
    assert found == Days(date(2024, 6, 1), date(2024, 6, 30))
    year.state.withdraw(["t2"], TODAY, by=("turn", "t2"))
    assert read_query("Where did I live before the move?", year.state, at=TODAY).days is None


@pytest.mark.parametrize(
    ("text", "asked_in", "month"),
    [
        ("What did I tell you in our first conversation?", "", 2),
        ("What did I say when we first talked?", "", 2),
        ("What did I say in our last session?", "", 7),
        ("What did I say last time we talked?", "four", 6),
        ("What was in the session before last?", "", 6),
        ("What did I say earlier in this chat?", "three", 6),
    ],
)
def test_a_session_is_the_days_on_which_it_was_held(year, text, asked_in, month):
    days = read_query(text, year.state, at=TODAY, asked_in=asked_in).days
    assert days is not None and (days.first.month, days.last.month) == (month, month)


def test_the_first_session_of_an_empty_memory_is_no_time(words):
    assert read_query("What did I tell you in our first conversation?", words.state).days is None
