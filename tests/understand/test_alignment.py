"""New values of what is known go where the old ones stand, in whatever words they are told."""

from datetime import UTC, datetime, timedelta

import pytest

from doxa.core.values import Status, Turn
from doxa.memory import Beliefs
from doxa.revise import revise
from doxa.understand import understand

DAY0 = datetime(2024, 3, 4, 9, tzinfo=UTC)


def told(parser, *texts, speaker="Ana"):
    """Return the beliefs after some turns of one speaker, a month apart."""
    beliefs, context = Beliefs(), []
    for n, text in enumerate(texts, 1):
        turn = Turn(turn_id=f"t{n}", user="u", session="s", speaker=speaker, role="user", text=text,
                    at=DAY0 + timedelta(days=30 * n), ordinal=n)  # fmt: skip
        found = understand(turn, context, beliefs, parser)
        changes = revise(found.claims, beliefs, turn_id=turn.turn_id, known_at=turn.at, rules=found.rules)
        beliefs.learn(found.claims, changes, found.rules)
        context.append(turn)
    return beliefs


def held(beliefs, number):
    """Return the objects with a number that are held."""
    return [f.object.label for f in beliefs.facts.values() if f.status is Status.HELD and number in f.object.label]


@pytest.mark.parametrize(
    ("first", "second", "old", "new"),
    [
        ("The garage behind the office costs 60 euros.", "They put the garage up, it's 75 euros now.", "60", "75"),
        ("The alarm code of the cabin is fox19.", "The alarm code is otter27 from today.", "fox19", "otter27"),
        ("The newsletter goes out at 09:30.", "fyi moved the newsletter to 11:15", "09:30", "11:15"),
        ("We have 7 goats.", "The vet took one, so we only have 6 goats left.", "7", "6"),
        ("The storage unit is box 14.", "They gave us another storage unit, box 31 now.", "14", "31"),
    ],
)  # fmt: skip
def test_a_new_value_ends_the_old_one(parser, first, second, old, new):
    """What is told in other words is an update of the same value."""
    beliefs = told(parser, first, second)
    assert held(beliefs, new) and not held(beliefs, old)


@pytest.mark.parametrize(
    ("first", "second", "old", "new"),
    [
        ("The garage costs 60 euros a month.", "The piano lesson costs 35 euros.", "60", "35"),
        ("Tom's rent is 700 euros.", "My rent is 900 euros.", "700", "900"),
        ("We have 7 goats.", "We have 12 geese.", "7", "12"),
        ("The house has 120 square metres.", "The house has 4 bedrooms.", "120", "4"),
    ],
)
def test_values_of_other_things_stay(parser, first, second, old, new):
    """Another thing, another person's, another measure: both values are held."""
    beliefs = told(parser, first, second)
    assert held(beliefs, old) and held(beliefs, new)
