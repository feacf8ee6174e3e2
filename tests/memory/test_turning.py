"""When a fact comes to stand otherwise though nothing happens to it."""

import random
from datetime import date, timedelta

from doxa.core.values import Fact, Interval, Modality, Relation, Status, Term
from doxa.memory import is_current, turning_day


def test_until_the_turning_day_a_fact_is_as_current_as_now():
    """Whatever its status, mood and time; the last days of the calendar are no trouble."""
    chance = random.Random(2)
    edges = (None, date(2024, 1, 1), date(2024, 2, 10), date(2024, 3, 1), date(2024, 12, 31), date.max)
    for _ in range(3_000):
        start, end = chance.choice(edges), chance.choice(edges)
        end = start if chance.random() < 0.3 else end
        fact = Fact(
            fact_id="f", subject=Term("a", "A"), relation=Relation("r", "r"), object=Term("b", "B"),
            status=chance.choice(list(Status)), modality=chance.choice(list(Modality)),
            valid=Interval(start=start, end=end, end_precision=chance.choice(("day", "month", "year"))),
        )  # fmt: skip
        now = date(2024, 1, 1) + timedelta(days=chance.randrange(400))
        turning = turning_day(fact, now)
        days = ((turning or now + timedelta(days=800)) - now).days if turning != date.max else 800
        same = {is_current(fact, now + timedelta(days=ahead)) for ahead in range(min(days, 800))}
        assert len(same) == 1 and (turning is None or turning > now)
