"""Dates of events, from the sentence that tells of them."""

from datetime import UTC, datetime

import pytest

from doxa.core.values import Citation, Draft, Evidence, Question, Turn
from doxa.reason.telling import tellings
from doxa.reason.when import answer_when, asks_when, dated_well

AT = datetime(2023, 7, 15, 13, tzinfo=UTC)
"""A Saturday."""


def asked(text, *said, speaker="Ana", ask="When did Ana go to the lake?", at=AT):
    """Return the answer to a question after some turns, the last of which is `text`."""
    turns = {
        str(n): Turn(turn_id=str(n), user="u", session="s", speaker=who, role="user", text=line, at=at, ordinal=n)
        for n, (who, line) in enumerate([*said, (speaker, text)])
    }
    evidence = [Evidence(text="", turn_ids=(key,), score=1.0 - 0.01 * n) for n, key in enumerate(reversed(turns))]
    question = Question(text=ask, kind="when")
    return answer_when(question, tellings(question, evidence, turns.get, asker="u"))


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("I went to the lake yesterday.", "14 July 2023"),
        ("Two days ago I went to the lake.", "13 July 2023"),
        ("I went to the lake last Wednesday.", "the Wednesday before 15 July 2023"),
        ("On Friday I went to the lake.", "14 July 2023"),
        ("I went to the lake last week!", "the week before 15 July 2023"),
        ("We went to the lake last weekend.", "the weekend before 15 July 2023"),
        ("I went to the lake a few days ago.", "a few days before 15 July 2023"),
        ("I went to the lake two weeks ago.", "two weeks before 15 July 2023"),
        ("I went to the lake last month.", "June 2023"),
        ("I went to the lake three months ago.", "April 2023"),
        ("I went to the lake last summer.", "summer 2022"),
        ("I went to the lake last year.", "2022"),
        ("I went to the lake ten years ago.", "2013"),
        ("I went to the lake on July 5th.", "5 July 2023"),
        ("I just went to the lake!", "15 July 2023"),
        ("Such a day! I went to the lake. That was last week.", "the week before 15 July 2023"),
        ("I went to the lake at 5 pm yesterday.", "14 July 2023"),
    ],
    ids=lambda value: value,
)
def test_a_time_is_told_as_exactly_as_it_was_said(said, value):
    """Seen from the day of speaking, and no day is made of a week."""
    assert asked(said).value == value


def test_the_exact_day_stands_in_the_text():
    """Who reads "last Wednesday" gets its date as well."""
    assert asked("I went to the lake last Wednesday.").text.startswith(
        "12 July 2023 (the Wednesday before 15 July 2023)."
    )


def test_plans_are_told_of_what_is_to_come():
    """A month that lies ahead is that of this year or the next."""
    ask = "When is Ana going to the lake?"
    assert asked("We are going to the lake next month.", ask=ask).value == "August 2023"
    assert (
        asked("I went to the lake last week.", ("Ana", "Next month I will go to the lake."), ask=ask).value
        == "August 2023"
    )


def test_what_somebody_else_did_does_not_date_it():
    """The person who is asked about says it, or nobody does."""
    told = asked("I went to the lake yesterday.", ("Ana", "I went to the lake last week."), speaker="Ben")
    assert told.value == "the week before 15 July 2023" and told.citations[0].speaker == "Ana"


def test_the_year_alone_is_given_where_it_is_asked_for():
    """Months and days are left out."""
    assert asked("I went to the lake last month.", ask="Which year did Ana go to the lake?").value == "2023"


def test_nothing_that_tells_of_it_is_no_answer():
    """A question, or a turn about something else, gives no date."""
    assert asked("Did you go to the lake yesterday?") is None
    assert asked("I bought a violin yesterday.") is None


def test_times_of_day_are_left_to_others():
    """They are no dates."""
    assert not asks_when(Question(text="What time does the train leave?", kind="when"))
    assert asked("The train leaves tomorrow.", ask="What time does the train leave?") is None


def dated(value, turn_id):
    return Draft(text=value, value=value, citations=(Citation(turn_id=turn_id),), confidence=0.9)


def test_a_date_of_another_event_is_not_kept():
    """The sentence behind a date has to tell as much of the question as any other."""
    lines = {"0": "I went hiking yesterday.", "1": "I went to the lake with Ben last week."}
    turns = {
        key: Turn(turn_id=key, user="u", session="s", speaker="Ana", role="user", text=line, at=AT, ordinal=int(key))
        for key, line in lines.items()
    }
    evidence = [Evidence(text="", turn_ids=(key,), score=1.0) for key in turns]
    question = Question(text="When did Ana go to the lake with Ben?", kind="when")
    told = tellings(question, evidence, turns.get, asker="u")
    assert dated_well(dated("14 July 2023", "0"), question, told) is None
    assert dated_well(dated("8 July 2023", "1"), question, told).value == "8 July 2023"
    assert dated_well(dated("3 July 2023", "1"), question, told).value == "the week before 15 July 2023"
    assert dated_well(None, question, told) is None and dated_well(dated("x", "0"), question, []).value == "x"
