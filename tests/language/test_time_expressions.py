"""What time expressions mean, by kind, against hand-worked values. Said on Wednesday 12 June 2024 at 10:30."""

from datetime import UTC, datetime

import pytest

from doxa.language.times import Expression, read_times
from doxa.language.times.periods import Amount, Clock, Hours, Period, Repeat

AT = datetime(2024, 6, 12, 10, 30, tzinfo=UTC)

DAYS = {
    "iso": ("2023-04-05", "2023-04-05"),
    "month first": ("4/22/2023", "2023-04-22"),
    "day first where the month cannot be": ("22/4/2023", "2023-04-22"),
    "full stops, day first": ("5.4.2023", "2023-04-05"),
    "two-digit year": ("9-18-15", "2015-09-18"),
    "compact": ("the file of 20230405.", "2023-04-05"),
    "words": ("June the twenty-first 2019", "2019-06-21"),
    "year in words": ("5 May nineteen ninety six", "1996-05-05"),
    "before the day before": ("the day before yesterday", "2024-06-10"),
    "day after": ("the day after tomorrow", "2024-06-14"),
    "weekday of next week": ("next Friday", "2024-06-21"),
    "weekday of this week": ("this Friday", "2024-06-14"),
    "weekday and week": ("Tuesday of last week", "2024-06-04"),
    "week and weekday": ("next week on Monday", "2024-06-17"),
    "nth weekday": ("the second Tuesday of next month", "2024-07-09"),
    "last weekday": ("the last Friday of May 2023", "2023-05-26"),
    "weekday that fits a number": ("Friday the 13th", "2024-09-13"),
    "week from a weekday": ("a week from Friday", "2024-06-21"),
    "amount from a day": ("three days after 1 March 2024", "2024-03-04"),
    "weeks ago on a weekday": ("two weeks ago on Monday", "2024-05-27"),
    "fortnight": ("a fortnight ago", "2024-05-29"),
    "business days": ("in four business days", "2024-06-18"),
    "leap day": ("29 February", "2028-02-29"),
    "Easter": ("Easter 2025", "2025-04-20"),
    "Thanksgiving": ("Thanksgiving", "2024-11-28"),
    "the day after Thanksgiving": ("Black Friday 2023", "2023-11-24"),
    "beside a named day": ("the day after Christmas", "2024-12-26"),
    "weekday after a named day": ("the Tuesday after Easter 2025", "2025-04-22"),
    "weekday some weeks ago": ("Monday two weeks ago", "2024-05-27"),
    "day of a year": ("October 10th of last year", "2023-10-10"),
    "a day that is past comes again": ("on Valentine's Day", "2025-02-14"),
}
SPANS = {
    "week": ("last week", "2024-06-03", "2024-06-10"),
    "month": ("in March 2020", "2020-03-01", "2020-04-01"),
    "short year": ("May '21", "2021-05-01", "2021-06-01"),
    "year": ("in 2019", "2019-01-01", "2020-01-01"),
    "decade": ("in the 90s", "1990-01-01", "2000-01-01"),
    "decade in words": ("the nineteen-eighties", "1980-01-01", "1990-01-01"),
    "century": ("the 19th century", "1800-01-01", "1900-01-01"),
    "quarter": ("Q3 2023", "2023-07-01", "2023-10-01"),
    "quarter in words": ("the third quarter of 2023", "2023-07-01", "2023-10-01"),
    "season": ("in the summer of 2021", "2021-06-01", "2021-09-01"),
    "first week": ("the first week of July", "2024-07-01", "2024-07-08"),
    "week of a day": ("the week of 20 June", "2024-06-17", "2024-06-24"),
    "beginning": ("early July", "2024-07-01", "2024-07-16"),
    "end": ("the end of May 2023", "2023-05-16", "2023-06-01"),
    "days of a month": ("from 3 to 9 July", "2024-07-03", "2024-07-09"),
    "weekdays": ("from Monday to Wednesday", "2024-06-17", "2024-06-19"),
    "months share the year": ("Jan-Feb 2017", "2017-01-01", "2017-02-01"),
    "over the new year": ("from 30 December to 2 January", "2024-12-30", "2025-01-02"),
    "years": ("between 2015 and 2018", "2015-01-01", "2018-01-01"),
    "last days": ("the last three days", "2024-06-09", "2024-06-12"),
    "next months": ("the next two months", "2024-06-13", "2024-08-13"),
    "rest": ("later this month", "2024-06-12", "2024-07-01"),
    "weekend": ("next weekend", "2024-06-22", "2024-06-24"),
    "before last": ("the weekend before last", "2024-06-01", "2024-06-03"),
    "part of a decade": ("the early 1990s", "1990-01-01", "1995-01-01"),
    "last weeks of a month": ("the last two weeks of August 2023", "2023-08-18", "2023-09-01"),
    "week before a named day": ("the week before Christmas", "2024-12-16", "2024-12-23"),
}
BOUNDS = {
    "since": ("since 3 May 2020", "since", "2020-05-03"),
    "since looks back": ("since Friday", "since", "2024-06-07"),
    "until": ("until 3 July", "until", "2024-07-03"),
    "before": ("before 3 July", "before", "2024-07-03"),
    "by": ("by Friday", "before", "2024-06-14"),
    "no later than": ("no later than 3 July", "before", "2024-07-03"),
    "after": ("after Christmas", "after", "2024-12-25"),
    "around": ("around 5 July", "around", "2024-07-05"),
    "or later": ("2020 or later", "since", "2020-01-01"),
    "prior to": ("prior to 2015", "before", "2015-01-01"),
    "not before": ("not before Monday", "since", "2024-06-17"),
}
CLOCKS = {
    "half past": ("at half past seven", "07:30"),
    "quarter to": ("a quarter to nine pm", "20:45"),
    "minutes to": ("ten minutes to eight", "07:50"),
    "o'clock": ("7 o'clock", "07:00"),
    "noon": ("at noon", "12:00"),
    "twelve at night": ("12 in the night", "00:00"),
    "in the evening": ("8 in the evening", "20:00"),
    "bare hour": ("we meet at seven", "07:00"),
    "ish": ("at 6ish", "06:00"),
    "with a full stop": ("8.10 pm", "20:10"),
    "without one": ("340pm", "15:40"),
    "words": ("eleven twenty pm", "23:20"),
    "one letter": ("at 9:15a", "09:15"),
}
HOURS = {
    "from to": ("from 9 to 5", "09:00", "17:00"),
    "half known": ("between 2 and 4:30pm", "14:00", "16:30"),
    "across noon": ("from 10am to 3", "10:00", "15:00"),
    "across midnight": ("from 10pm to 2am", "22:00", "26:00"),
    "part of the day": ("in the early afternoon", "12:00", "14:00"),
    "length": ("from 2pm for 2 hours", "14:00", "16:00"),
}
MOMENTS = {
    "day and clock": ("3 July at 8pm", "2024-07-03 20:00", "2024-07-03 20:00"),
    "clock and day": ("8:30 on Friday", "2024-06-14 08:30", "2024-06-14 08:30"),
    "part of the day decides": ("tomorrow afternoon at 3", "2024-06-13 15:00", "2024-06-13 15:00"),
    "tonight": ("tonight at 8", "2024-06-12 20:00", "2024-06-12 20:00"),
    "last night": ("last night", "2024-06-11 20:00", "2024-06-12 00:00"),
    "hours ago": ("two hours ago", "2024-06-12 08:30", "2024-06-12 08:30"),
    "within": ("within 5 hours", "2024-06-12 10:30", "2024-06-12 15:30"),
    "hours on a day": ("Monday 11-4", "2024-06-17 11:00", "2024-06-17 16:00"),
    "from day to day": ("from 4pm today to 5pm tomorrow", "2024-06-12 16:00", "2024-06-13 17:00"),
}
AMOUNTS = {
    "weeks": ("it took three weeks", "P3W", 3 * 604800),
    "half": ("an hour and a half", "PT1.5H", 5400),
    "decimal": ("2.5 hours", "PT2.5H", 9000),
    "couple": ("a couple of days", "P2D", 2 * 86400),
    "sum": ("2 hours and 30 minutes", "PT2H30M", 9000),
    "letter": ("3h", "PT3H", 10800),
    "half a year": ("half a year", "P0.5Y", 15768000),
    "fraction": ("1 1/2 hours", "PT1.5H", 5400),
    "three quarters": ("three quarters of an hour", "PT0.75H", 2700),
    "at least": ("at least two years", "P2Y", 2 * 31536000),
}
REPEATS = {
    "every day": ("every day", "P1D"),
    "weekday": ("every Monday", "XXXX-WXX-1"),
    "plural": ("on Sundays at 9am", "XXXX-WXX-7T09"),
    "every other": ("every other Thursday", "P2W"),
    "every two": ("every two weeks", "P2W"),
    "adverb": ("weekly", "P1W"),
    "times": ("three times a week", "P1W"),
    "at a time": ("every day at 7:15 am", "T07:15"),
    "part of a weekday": ("on Monday mornings", "XXXX-WXX-1TMO"),
    "several weekdays": ("every Monday and Thursday", "XXXX-WXX-1,XXXX-WXX-4"),
    "working hours": ("Mon-Fri 9-5", "XXXX-WXX-1/XXXX-WXX-5T09/T17"),
    "day of the year": ("every 5th of May", "XXXX-05-05"),
    "prefix": ("bi-weekly", "P2W"),
    "day of the month": ("on the 5th of every month", "XXXX-XX-05"),
}
PROSE = [
    "I may go, he said, and we march on.",
    "She sat down and her son sat in the sun.",
    "Wait a second, he came second.",
    "That is the second time, the third floor and the first of its kind.",
    "Mark will fall over, spring to his feet and march away.",
    "I have 2015 euros and 780 people in 3 rooms.",
    "This may take longer than expected.",
    "Call +49 30-2010-2015 or 555-2016.",
    "It was version 3.11.7 and the ratio 4:3.",
    "Is 31 April a date? Is 2024-13-45 one, or 2015-1-32?",
    "I am at one with the world.",
    "The 200A is a guitar, and a K-200A too.",
    "May Lee and April Jones are here.",
    "Between you and me, from here to there, and in the end.",
]


def only(text: str, *, past: bool = False) -> Expression:
    """Return the one time expression of a text."""
    found = read_times(text, AT, past=past)
    assert len(found) == 1, [expression.text for expression in found]
    return found[0]


@pytest.mark.parametrize(("text", "day"), DAYS.values(), ids=DAYS.keys())
def test_a_day(text: str, day: str) -> None:
    expression = only(text)
    assert isinstance(expression.value, Period)
    assert (expression.kind, f"{expression.value.start:%Y-%m-%d}") == ("date", day)


@pytest.mark.parametrize(("text", "start", "end"), SPANS.values(), ids=SPANS.keys())
def test_a_stretch_of_days(text: str, start: str, end: str) -> None:
    expression = only(text)
    assert isinstance(expression.value, Period)
    assert expression.kind == "daterange"
    assert (f"{expression.value.start:%Y-%m-%d}", f"{expression.value.end:%Y-%m-%d}") == (start, end)


@pytest.mark.parametrize(("text", "bound", "day"), BOUNDS.values(), ids=BOUNDS.keys())
def test_an_open_bound(text: str, bound: str, day: str) -> None:
    value = only(text).value
    assert isinstance(value, Period)
    assert (value.bound, f"{value.start:%Y-%m-%d}") == (bound, day)


@pytest.mark.parametrize(("text", "time"), CLOCKS.values(), ids=CLOCKS.keys())
def test_a_time_of_day(text: str, time: str) -> None:
    value = only(text).value
    assert isinstance(value, Clock)
    assert f"{value.hour:02}:{value.minute:02}" == time


@pytest.mark.parametrize(("text", "start", "end"), HOURS.values(), ids=HOURS.keys())
def test_a_stretch_of_the_day(text: str, start: str, end: str) -> None:
    value = only(text).value
    assert isinstance(value, Hours)
    assert [f"{second // 3600:02}:{second // 60 % 60:02}" for second in (value.start, value.end)] == [start, end]


@pytest.mark.parametrize(("text", "start", "end"), MOMENTS.values(), ids=MOMENTS.keys())
def test_a_day_with_a_time(text: str, start: str, end: str) -> None:
    value = only(text).value
    assert isinstance(value, Period)
    assert (f"{value.start:%Y-%m-%d %H:%M}", f"{value.end:%Y-%m-%d %H:%M}") == (start, end)


@pytest.mark.parametrize(("text", "timex", "seconds"), AMOUNTS.values(), ids=AMOUNTS.keys())
def test_an_amount_of_time(text: str, timex: str, seconds: float) -> None:
    value = only(text).value
    assert isinstance(value, Amount)
    assert (value.timex, value.seconds) == (timex, seconds)


@pytest.mark.parametrize(("text", "timex"), REPEATS.values(), ids=REPEATS.keys())
def test_what_comes_again_is_no_date(text: str, timex: str) -> None:
    value = only(text).value
    assert isinstance(value, Repeat)
    assert value.timex == timex


@pytest.mark.parametrize("text", PROSE)
def test_prose_that_only_looks_like_a_time(text: str) -> None:
    assert [expression.text for expression in read_times(text, AT, past=False)] == []


def test_days_of_a_list_share_their_month() -> None:
    """In "the 5th, 6th and 8th of July" every day is one of July."""
    found = read_times("the 5th, 6th and 8th of July", AT, past=False)
    assert [f"{day.value.start:%Y-%m-%d}" for day in found if isinstance(day.value, Period)] == [
        "2024-07-05",
        "2024-07-06",
        "2024-07-08",
    ]


def test_a_named_zone_is_kept_beside_the_time() -> None:
    """The time stays as it was said."""
    value = only("at 5pm CET").value
    assert isinstance(value, Clock)
    assert (value.hour, value.zone_min) == (17, 60)


def test_numbers_may_have_their_day_first() -> None:
    """By an option, or because another date of the same text cannot be read otherwise."""
    assert [
        f"{read_times('5/4/2023', AT, past=True, day_first=first)[0].value.start:%d %B}" for first in (False, True)
    ] == [
        "04 May",
        "05 April",
    ]
    hinted = read_times("5/4/2023 and 22/4/2023", AT, past=True)
    assert [f"{expression.value.start:%d %B}" for expression in hinted] == ["05 April", "22 April"]


def test_the_tense_decides_what_is_left_open() -> None:
    """Monday lies behind in the past tense and ahead otherwise; a year that is said leaves nothing open."""
    for text, back, ahead in (
        ("Monday", "2024-06-10", "2024-06-17"),
        ("on 3 July", "2023-07-03", "2024-07-03"),
        ("the 20th", "2024-05-20", "2024-06-20"),
        ("Christmas", "2023-12-25", "2024-12-25"),
        ("3 July 2022", "2022-07-03", "2022-07-03"),
    ):
        days = [only(text, past=past).value for past in (True, False)]
        assert [f"{day.start:%Y-%m-%d}" for day in days if isinstance(day, Period)] == [back, ahead]
