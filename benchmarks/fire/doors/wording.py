"""What reads words: times, and numbers, units and forms of words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from doors.base import decoded, encoded
from doxa.language import (
    from_third_person,
    opening,
    overlong,
    pared,
    past_of,
    sentence_places,
    split_text,
    stems_of,
    third_person,
)
from doxa.language.amounts import converted, is_money, numbers_of, unit_named
from doxa.language.times import find_times, number_of, period_of, read_numbers, read_times

__all__ = ["Amounts", "Times"]

SAID = datetime(2024, 5, 18, 10, tzinfo=UTC)
EDGES = (SAID, datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), datetime(2024, 2, 29, tzinfo=UTC))
UNITS = ("hour", "day", "week", "month", "quarter", "season", "year", "decade", "century", "weekend", "nonsense")
SENTENCES = (
    "I moved to Bonn on 18 May 2021, three weeks after Easter.",
    "We meet every other Tuesday from 9:30 to half past eleven until the end of next quarter.",
    "It was 2019-02-29T24:00, last century, in the summer of '69, around 5/4/2023 and 5.4.",
    "in 3 days, two and a half years ago, the day before yesterday, tomorrow night, by Friday",
    "from March to July, since 1999, between 8 and 10 pm, for 90 minutes, the 31st, Q3 2020, week 53",
    "twice a week, on weekdays, the first Monday of each month, biannually, once in a blue moon",
    "early 1990s, mid-June, late next year, 10 BC, year 0, year 9999, 12/31/9999, 1/1/0001",
)
NUMBERS = (
    "two hundred thousand and three point five million euros, 3,5 kg, 1.000,50 €, -5 °C, £12k, 7%",
    "half a dozen, one in three, 3/4, 1e5, twenty-first, a couple of hundred, no one, zero, .5 5. 5.5.5",
    "12 ft 3 in, 90 km/h, 2 x 4, $1,234,567.89, 1 234 567, ten to the third, infinity, NaN",
)


class Times:
    """Times in a text that is said at some moment."""

    seeds: Sequence[bytes] = encoded(*([text, 0, None, False] for text in SENTENCES), [SENTENCES[0], 1, True, True])
    words: Sequence[str] = sorted({word for text in SENTENCES for word in text.split()})

    def __init__(self, models: bool) -> None:
        """Open it; there is no engine behind it."""

    def __call__(self, data: bytes) -> None:
        given: Any = decoded(data)
        text, at, past, day_first = given if isinstance(given, list) and len(given) == 4 else (given, 0, None, False)
        moment, past = EDGES[at % 4 if isinstance(at, int) else 0], past if isinstance(past, bool) else None
        text = str(text)
        for one in read_times(text, moment, past=past, day_first=bool(day_first)):
            assert text[one.start : one.end] == one.text and one.kind
        find_times(text, moment, past=past, day_first=bool(day_first))
        period_of(UNITS[len(text) % len(UNITS)], moment.replace(tzinfo=None)) if at == 0 else None

    def close(self) -> None:
        """Nothing is open."""


class Amounts:
    """Numbers, units and sentences in a text, and the forms of its words."""

    seeds: Sequence[bytes] = [text.encode() for text in (*NUMBERS, *SENTENCES)]
    words: Sequence[str] = sorted({word for text in NUMBERS for word in text.split()})

    def __init__(self, models: bool) -> None:
        """Open it; there is no engine behind it."""

    def __call__(self, data: bytes) -> None:
        text = _text(data)
        for one in numbers_of(text):
            str(one)
        for start, end, value in read_numbers(text):
            assert 0 <= start < end <= len(text) and value == value
        for start, end in sentence_places(text):
            assert 0 <= start <= end <= len(text)
        split_text(text), opening(text), overlong(text), pared(text), stems_of(text)
        words = text.split()[:20]
        for word, other in zip(words, [*words, "hour"][1:], strict=True):
            number_of(word), unit_named(word), is_money(word), converted(word, other)
            third_person(word), past_of(word), from_third_person(word)

    def close(self) -> None:
        """Nothing is open."""


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")
