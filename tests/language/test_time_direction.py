"""Which of two days is meant where the words leave it open."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path

import pytest

from doxa.language.times import find_times, read_times
from doxa.language.times.direction import lies_behind

FRIDAY = datetime(2024, 5, 17, 18, 0)
EXAMPLES = Path(__file__).parents[2] / "training/times/examples.jsonl"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("dentist thursday", date(2024, 5, 23)),
        ("got the dentist on thursday at 3", date(2024, 5, 23)),
        ("i saw her on thursday, she looked tired", date(2024, 5, 16)),
        ("we went to the lake on sunday", date(2024, 5, 12)),
        ("mum is coming on sunday", date(2024, 5, 19)),
        ("The exam is on 20 May.", date(2024, 5, 20)),
        ("moved in on 1 may", date(2024, 5, 1)),
    ],
)
def test_the_words_around_tell_which_day_is_meant(text: str, day: date) -> None:
    """Of the nearest one behind and the nearest one ahead."""
    (span,) = (one for one in find_times(text, FRIDAY) if one.kind == "point")
    assert span.valid.start == day


def test_a_tense_that_is_given_decides() -> None:
    """Questions know theirs."""
    days = [find_times("on thursday", FRIDAY, past=past)[0].valid.start for past in (True, False)]
    assert days == [date(2024, 5, 16), date(2024, 5, 23)]


def test_what_is_not_open_is_the_same_either_way() -> None:
    """A year, "yesterday", a clock time."""
    text = "yesterday at 5 pm, and on 3 March 2021"
    assert read_times(text, FRIDAY) == read_times(text, FRIDAY, past=True) == read_times(text, FRIDAY, past=False)


def test_the_weights_that_ship_are_those_of_the_examples() -> None:
    """Nine in ten come out right even of what was labelled by hand in messages as people type them."""
    rows = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["label"] != "none"]
    told = [
        lies_behind(
            row["text"],
            row["start"],
            row["end"],
            *(datetime.fromisoformat(row[key]) for key in ("behind", "ahead", "at")),
        )
        == (row["label"] == "behind")
        for row in rows
    ]
    assert sum(told) / len(told) > 0.95
