"""Columns: what search asks of every indexed turn at once."""

from datetime import UTC, datetime, timedelta, timezone
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.core.values import Turn
from doxa.memory import Columns, microseconds
from doxa.memory.paged import Pack, PackWriter

AT = datetime(2023, 5, 7, 12, tzinfo=UTC)


def turn(session="a", speaker="Ana", role="user", at=AT):
    return Turn(turn_id="", user="u", session=session, speaker=speaker, role=role, text="", at=at)


def test_interleaved_sessions_keep_their_own_neighbours():
    columns = Columns()
    for session in "abab":
        columns.add(turn(session))
    assert columns.before.tolist() == [-1, -1, 0, 1]
    assert columns.after.tolist() == [2, 3, -1, -1]


def test_growth_keeps_every_row():
    columns = Columns()
    for number in range(1000):
        assert columns.add(turn(speaker=f"s{number % 3}", at=AT + timedelta(days=number))) == number
    assert len(columns) == 1000
    assert columns.before.tolist() == list(range(-1, 999))
    assert columns.speaker.tolist() == [number % 3 for number in range(1000)]
    assert np.diff(columns.at).tolist() == [86_400_000_000] * 999


def test_roles_are_told_apart():
    columns = Columns()
    for role in ("user", "assistant", "tool"):
        columns.add(turn(role=role))
    assert columns.said_by("assistant", np.arange(3)).tolist() == [False, True, False]


@pytest.mark.parametrize("at", [AT, AT.replace(tzinfo=None), AT.astimezone(timezone(timedelta(hours=5)))], ids=str)
def test_moments_are_exact_and_naive_ones_are_utc(at):
    assert microseconds(at + timedelta(microseconds=1)) == 1_683_460_800_000_001


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["Ana", "Ben"]), st.booleans()), max_size=40))
def test_columns_are_the_same_once_they_were_saved(steps):
    """Whenever they are saved and loaded, they hold what they would have held."""
    plain, held = Columns(), Columns()
    for session, speaker, saved in steps:
        if saved:
            file = BytesIO()
            writer = PackWriter(file)
            held.save(writer, "c")
            writer.close({})
            held = Columns()
            held.load(Pack(file.getvalue()), "c")
        assert plain.add(turn(session, speaker)) == held.add(turn(session, speaker))
    for name in ("before", "after", "speaker", "at"):
        assert np.array_equal(getattr(plain, name), getattr(held, name))
    assert plain.speakers == held.speakers and np.array_equal(plain.said_by("user"), held.said_by("user"))
