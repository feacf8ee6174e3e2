"""times: text, date of speaking -> time expressions with what they mean."""

from doxa.language.times.expressions import Expression, read_numbers, read_times
from doxa.language.times.periods import Amount, Clock, Hours, Period, Repeat, period_of
from doxa.language.times.validity import DAYS, MONTHS, NUMBERS, TimeSpan, find_times, number_of

__all__ = [
    "Amount",
    "Clock",
    "DAYS",
    "Expression",
    "Hours",
    "MONTHS",
    "NUMBERS",
    "Period",
    "Repeat",
    "TimeSpan",
    "find_times",
    "number_of",
    "period_of",
    "read_numbers",
    "read_times",
]
