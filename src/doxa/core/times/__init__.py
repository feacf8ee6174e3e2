"""times: text, date of speaking -> time expressions with what they mean."""

from doxa.core.times.expressions import Expression, read_times
from doxa.core.times.validity import DAYS, MONTHS, NUMBERS, TimeSpan, find_times, number_of

__all__ = ["DAYS", "Expression", "MONTHS", "NUMBERS", "TimeSpan", "find_times", "number_of", "read_times"]
