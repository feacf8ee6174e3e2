"""Laws of reading times that hold for any text."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.language.times import find_times, read_times
from doxa.language.times.expressions import grammar_of_times
from doxa.language.times.grammar import rewrite
from doxa.language.times.periods import Hours, Period, Seen
from doxa.language.times.tokens import NODES, tokens_of, words

AT = datetime(2024, 6, 12, 10, 30, tzinfo=UTC)
VOCABULARY = [
    *words().chars,
    "Easter",
    "Christmas",
    "12:30",
    "3/4",
    "2016-11-07",
    "5.5",
    "2015",
    "31",
    "5",
    "1990s",
    "21st",
    "x",
]

timely = st.lists(st.sampled_from(VOCABULARY), max_size=14).map(" ".join)
texts = st.one_of(st.text(max_size=80), timely)
moments = st.datetimes(timezones=st.just(UTC))


@given(text=texts, at=moments, past=st.booleans())
def test_every_expression_lies_in_its_text_and_does_not_end_before_it_starts(
    text: str, at: datetime, past: bool
) -> None:
    """Whatever is said, whenever."""
    place = 0
    for expression in read_times(text, at, past=past):
        assert place <= expression.start < expression.end <= len(text)
        assert expression.text == text[expression.start : expression.end]
        place = expression.end
        if isinstance(expression.value, Period | Hours):
            assert expression.value.start <= expression.value.end


@given(text=texts, at=moments, past=st.booleans())
def test_every_dated_span_lies_in_its_text_and_its_interval_is_one(text: str, at: datetime, past: bool) -> None:
    """A point has equal ends; nothing ends before it starts; no two spans overlap."""
    place = 0
    for span in find_times(text, at, past=past):
        assert place <= span.start < span.end <= len(text)
        assert span.text == text[span.start : span.end]
        place = span.end
        if span.kind == "point":
            assert span.valid.start == span.valid.end
        if span.valid.start and span.valid.end:
            assert span.valid.start <= span.valid.end


@given(text=timely, past=st.booleans())
def test_the_same_text_means_the_same(text: str, past: bool) -> None:
    """Reading is a function of its arguments."""
    assert read_times(text, AT, past=past) == read_times(text, AT, past=past)


@given(text=timely)
def test_blanks_at_the_ends_change_nothing(text: str) -> None:
    """Only the places move."""
    plain = [expression.value for expression in read_times(text, AT, past=True)]
    padded = [expression.value for expression in read_times(f"  {text} ", AT, past=True)]
    assert [_unplaced(value) for value in plain] == [_unplaced(value) for value in padded]


def _unplaced(value: Any) -> Any:
    return replace(value, places=None) if isinstance(value, Period) else value


@dataclass
class Counted:
    """A rule that counts how often it is tried and how often its action runs."""

    rule: Any
    tries: list[int] = field(default_factory=lambda: [0])

    @property
    def regex(self) -> "Counted":
        return self

    @property
    def needs(self) -> Any:
        return self.rule.needs

    def search(self, *arguments: Any) -> Any:
        self.tries[0] += 1
        return self.rule.regex.search(*arguments)

    def action(self, *arguments: Any) -> Any:
        return self.rule.action(*arguments)


PIECES = [
    "5 years and ",
    "monday ",
    "from 5 to ",
    "1-",
    "every other ",
    "2 weeks ago ",
    "12/12/",
    "May 5, ",
    "the 3rd of ",
    "last ",
]


@pytest.mark.parametrize("piece", PIECES)
def test_the_work_grows_with_the_length_only(piece: str) -> None:
    """Twice the text is about twice the searches, on texts that are nothing but beginnings of times."""

    def work(length: int) -> int:
        text = (piece * length)[:length]
        counted = [Counted(rule) for rule in grammar_of_times()]
        rewrite(tokens_of(text), NODES, counted, Seen(now=AT.replace(tzinfo=None), past=True), text)  # type: ignore[arg-type]
        return sum(rule.tries[0] for rule in counted)

    assert work(10_000) < 2.5 * work(5_000)
