"""Text to its time expressions, each with what it means on the day it is said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Literal

from doxa.language.times.amounts import AMOUNT_ACTIONS
from doxa.language.times.clocks import CLOCK_ACTIONS
from doxa.language.times.dates import DATE_ACTIONS
from doxa.language.times.direction import lies_behind
from doxa.language.times.grammar import Rule, rewrite, rules
from doxa.language.times.numbers import NUMBER_ACTIONS
from doxa.language.times.periods import Amount, Clock, Hours, Period, Repeat, Seen
from doxa.language.times.ranges import RANGE_ACTIONS
from doxa.language.times.relative import RELATIVE_ACTIONS
from doxa.language.times.repeats import REPEAT_ACTIONS
from doxa.language.times.tokens import NODES, UNKNOWN, Token, tokens_of, words

__all__ = ["Expression", "ExpressionKind", "read_numbers", "read_times"]

ExpressionKind = Literal["date", "daterange", "time", "timerange", "datetime", "datetimerange", "duration", "set"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A time expression: `text[start:end]` means `value`."""

    start: int
    end: int
    text: str
    value: Period | Clock | Hours | Amount | Repeat

    @property
    def kind(self) -> ExpressionKind:
        """Return the kind of time, in the terms of TIMEX3 and of the Recognizers-Text test suite."""
        match self.value:
            case Period(grain="instant"):
                return "datetime"
            case Period(grain="stretch"):
                return "datetimerange"
            case Period(grain="day"):
                return "date"
            case Period():
                return "daterange"
            case Clock():
                return "time"
            case Hours():
                return "timerange"
            case Amount():
                return "duration"
            case _:
                return "set"


@cache
def grammar_of_times() -> tuple[Rule, ...]:
    """Return the rules with their actions, in order; read and compiled once."""
    return rules({
        **NUMBER_ACTIONS, **CLOCK_ACTIONS, **DATE_ACTIONS, **RELATIVE_ACTIONS, **AMOUNT_ACTIONS, **REPEAT_ACTIONS,
        **RANGE_ACTIONS,
    })  # fmt: skip


@cache
def _triggers() -> frozenset[str]:
    """Return the characters without which a text names no time."""
    known = words()
    free = {UNKNOWN}.union(*(known.classes[name] for name in ("other", "bound", "stage")))
    free -= {known.chars[word] for name in ("unit", "relative") for word in known.values[name]}
    free -= {
        known.chars[word] for word in ("noon", "midnight", "midday", "now", "moment", "present", "eod", "eom", "eoy")
    }
    marks = {char for word, char in known.chars.items() if not word[0].isalpha()}
    return frozenset({*known.chars.values(), *"0123456789+", *NODES.values()} - free - marks)


def read_times(text: str, at: datetime, *, past: bool | None = None, day_first: bool = False) -> list[Expression]:
    """Return the time expressions of a text in order, none overlapping.

    Args:
        text: what was said.
        at: when it was said; its wall clock is the local time of the speaker.
        past: the tense: what a weekday, a day or a month without a year leaves open lies before `at` when true, after
            it when false; None leaves it to the words around each (`direction`), as for all that somebody tells.
        day_first: whether 5/4/2023 is 5 April. When false (the default) it is 4 May, unless another date of the text
            can only have its day first (22/4/2023). Dates with full stops (5.4.2023) always have.

    A date that does not exist is no time expression. Cost O(len(text)); deterministic.
    """
    if past is not None:
        return _read(text, at, past=past, day_first=day_first)
    ahead = _read(text, at, past=False, day_first=day_first)
    if not any(isinstance(one.value, Period) for one in ahead):
        return ahead
    other = {(one.start, one.end): one for one in _read(text, at, past=True, day_first=day_first)}
    return [_meant(text, at, other.get((one.start, one.end), one), one) for one in ahead]


def _meant(text: str, at: datetime, behind: Expression, ahead: Expression) -> Expression:
    """Return the reading of an expression that the words around it speak for."""
    one, other = behind.value, ahead.value
    if one == other or not (isinstance(one, Period) and isinstance(other, Period)):
        return ahead
    return behind if lies_behind(text, ahead.start, ahead.end, one.start, other.start, at) else ahead


def _read(text: str, at: datetime, *, past: bool, day_first: bool) -> list[Expression]:
    tokens = tokens_of(text)
    triggers = _triggers()
    if not any(token.char in triggers for token in tokens):
        return []
    seen = Seen(now=at.replace(tzinfo=None), past=past, day_first=day_first or _shows_day_first(tokens))
    tokens = rewrite(tokens, NODES, grammar_of_times(), seen, text)
    return [
        Expression(start=token.start, end=token.end, text=text[token.start : token.end], value=token.value)
        for token in tokens
        if isinstance(token.value, Period | Clock | Hours | Amount | Repeat)
    ]


def read_numbers(text: str) -> list[tuple[int, int, float]]:
    """Return the numbers of a text as (start, end, value), in digits or words ("twenty-five", "two and a half hours").

    Ordinals are none; signs, currencies and percentages are left to the reader. Cost O(len(text)); deterministic.
    """
    seen = Seen(now=datetime(1, 1, 1), past=False, day_first=False)  # noqa: DTZ001  # numbers have no date
    whole = (NUMBER_ACTIONS["number"], NUMBER_ACTIONS["fraction"])
    grammar = [rule for rule in grammar_of_times() if rule.action in whole]
    tokens = rewrite(tokens_of(text), NODES, grammar, seen, text)
    ordinals = words().values["ordinal"]
    return [
        (token.start, token.end, token.value)
        for token in tokens
        if isinstance(token.value, int | float) and token.word not in ordinals
    ]


def _shows_day_first(tokens: list[Token]) -> bool:
    """Tell whether a date in numbers has its day first for certain, and none its month."""
    dates = [token.value[:2] for token in tokens if token.char in (NODES["DATE"], NODES["SLASHED"])]
    firsts, seconds = ([int(date[place]) > 12 for date in dates if len(date[0]) < 3] for place in (0, 1))
    return any(firsts) and not any(seconds)
