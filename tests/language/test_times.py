"""Time expressions against hand-worked dates. Said on Wednesday 12 June 2024."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from doxa.language.times import find_times
from doxa.language.times.tokens import words

AT = datetime(2024, 6, 12, 12, tzinfo=UTC)

PAST = {
    "iso": ("on 2023-04-05", "5 April 2023"),
    "day month": ("on 25 May", "25 May 2024"),
    "day month earlier": ("on 25 August", "25 August 2023"),
    "month day year": ("on May 3rd, 2021", "3 May 2021"),
    "ordinal word": ("on the first of June", "1 June 2024"),
    "month": ("in March", "March 2024"),
    "month year": ("in March 2020", "March 2020"),
    "end of month": ("at the end of April 2023", "April 2023"),
    "summers ago": ("two summers ago", "2022"),
    "year": ("in 2019", "2019"),
    "season": ("last summer", "2023"),
    "weekday": ("on Wednesday", "5 June 2024"),
    "weekday yesterday": ("on Tuesday", "11 June 2024"),
    "last weekday": ("last Friday", "7 June 2024"),
    "today": ("this morning", "12 June 2024"),
    "yesterday": ("yesterday", "11 June 2024"),
    "last month": ("last month", "May 2024"),
    "last week": ("last week", "from 3 June 2024 until 10 June 2024"),
    "days ago": ("three days ago", "9 June 2024"),
    "weeks ago": ("two weeks ago", "29 May 2024"),
    "years ago": ("5 years ago", "2019"),
    "since month": ("since January", "since January 2024"),
    "since year": ("since 2021", "since 2021"),
    "for years": ("for six years", "since 2018"),
    "for months": ("for the last two months", "since April 2024"),
    "from to years": ("from 2012 to 2017", "from 2012 until 2017"),
    "bare years": ("2014 to 2016", "from 2014 until 2016"),
    "from to days": ("from 3 to 9 May", "from 3 May 2024 until 9 May 2024"),
    "quarter": ("in the first quarter of 2023", "from January 2023 until April 2023"),
    "decade": ("in the 1990s", "from 1990 until 2000"),
    "named day": ("at Christmas", "25 December 2023"),
    "hours ago": ("two hours ago", "12 June 2024"),
    "decades ago": ("two decades ago", "2004"),
    "months ago": ("two months ago", "April 2024"),
    "after": ("after 3 May", "since 3 May 2024"),
    "before": ("before 3 May", "until 3 May 2024"),
}
FUTURE = {
    "day month": ("on 3 July", "3 July 2024"),
    "day month passed": ("on 3 May", "3 May 2025"),
    "weekday": ("on Monday", "17 June 2024"),
    "same weekday": ("on Wednesday", "19 June 2024"),
    "bare day": ("on the 26th", "26 June 2024"),
    "bare day passed": ("on the 4th", "4 July 2024"),
    "tomorrow": ("tomorrow", "13 June 2024"),
    "in weeks": ("in two weeks", "26 June 2024"),
    "next month": ("next month", "July 2024"),
    "next year": ("next year", "2025"),
    "until": ("until the 29th", "until 29 June 2024"),
    "weekend": ("this weekend", "from 15 June 2024 until 17 June 2024"),
}
NONE = [
    "I may go",
    "every Monday",
    "on Mondays",
    "31 February 2024",
    "0000-00-00",
    "2024-13-45",
    "780 euros",
    "march on",
    "three times a week",
    "every 5th of May",
    "on Monday mornings",
    "a two-hour film",
    "the Christmas tree",
    "I can't right now",
    "the weekend",
    "",
]


@pytest.mark.parametrize(("text", "valid"), PAST.values(), ids=PAST.keys())
def test_a_time_in_the_past_tense(text: str, valid: str) -> None:
    assert [str(span.valid) for span in find_times(f"it was {text}", AT, past=True)] == [valid]


@pytest.mark.parametrize(("text", "valid"), FUTURE.values(), ids=FUTURE.keys())
def test_a_time_that_lies_ahead(text: str, valid: str) -> None:
    assert [str(span.valid) for span in find_times(f"it will be {text}", AT, past=False)] == [valid]


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_time(text: str) -> None:
    assert find_times(text, AT, past=True) == []


def test_a_span_covers_its_words() -> None:
    text = "I moved on 25 May, at 8:45."
    spans = find_times(text, AT, past=True)
    assert [text[span.start : span.end] for span in spans] == ["on 25 May", "at 8:45"]
    assert [span.kind for span in spans] == ["point", "clock"]


def test_a_day_and_its_time_are_two_spans() -> None:
    """Whichever stands first."""
    for text, spans in (
        ("on Friday at 8pm", [("on Friday", "point"), ("at 8pm", "clock")]),
        ("at 8pm on Friday", [("at 8pm", "clock"), ("on Friday", "point")]),
        ("tomorrow from 9 to 5", [("tomorrow", "point"), ("from 9 to 5", "clock")]),
    ):
        assert [(span.text, span.kind) for span in find_times(text, AT, past=False)] == spans


@pytest.mark.parametrize("year", [1, 9999], ids=["first year", "last year"])
def test_the_ends_of_the_calendar_do_no_harm(year: int) -> None:
    at = datetime(year, 1, 1, tzinfo=UTC)
    text = "500 years ago, in 90 decades, last year, next year, on Sunday, yesterday, in May, this weekend, the 3rd"
    for past in (True, False):
        find_times(text, at, past=past)


def test_the_vocabulary_can_be_read_by_several_threads_at_once():
    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(words.__wrapped__) for _ in range(2))
    assert first.result() == second.result() == words()
