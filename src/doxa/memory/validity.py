"""When a fact holds: by what is believed now, on a day of the world, and until when."""

from __future__ import annotations

from datetime import date

from doxa.core.values import Fact, Interval, Modality, Status

__all__ = ["held_on", "is_current", "turning_day"]


def is_current(fact: Fact, now: date | None) -> bool:
    """Tell whether a fact is believed and has not ended by `now`.

    What happened once stays true; a plan whose day is over is no plan any more. What something announced for a later
    day will displace ("790 from October") holds until then.
    """
    start, end = fact.valid.start, fact.valid.end
    if fact.status is Status.SUPERSEDED:
        return now is not None and start != end and end is not None and now < end and fact.valid.holds_on(now)
    if fact.status is not Status.HELD:
        return False
    if now is None:
        return True
    if fact.modality is Modality.PLANNED and start is not None:
        return now <= start or (fact.valid.holds_on(now) and start == end)
    return end is None or start == end or end > now


def turning_day(fact: Fact, now: date) -> date | None:
    """Return the first day after `now` on which `is_current` may tell otherwise of a fact; None when it never will."""
    start, end = fact.valid.start, fact.valid.end
    days = [start, end]
    if fact.modality is Modality.PLANNED and start is not None:
        days += [Interval.after(start, "day"), Interval.after(start, fact.valid.end_precision)]
    return min((day for day in days if day is not None and day > now), default=None)


def held_on(fact: Fact, day: date) -> bool:
    """Tell whether, by what is believed now, a fact held on a day; a state that gave way on its first day did not."""
    start, end = fact.valid.start, fact.valid.end
    if fact.status is Status.SUPERSEDED and start is not None and start == end and fact.valid.end_precision == "day":
        return False
    return fact.status in (Status.HELD, Status.SUPERSEDED) and fact.valid.holds_on(day)
