"""Keys of records: what names become in them, today as in every release before."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.engine import finished, short

NAMES = st.lists(st.text(st.sampled_from("a/\0\x01\xff\ud800"), max_size=3), min_size=1, max_size=3)


@given(one=NAMES, other=NAMES)
def test_other_names_give_other_keys(one, other):
    """Also where a name has in it what stands between names."""
    assert (short(*one) == short(*other)) is (one == other)


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (("chat-1",), "eaeb9111b1c6744278e80397"),
        (("users", "ana"), "36bbc6fb6214aaba5281a76b"),
        (("",), "e3b0c44298fc1c149afbf4c8"),
    ],
    ids=str,
)
def test_keys_stay_what_they_are(names, key):
    """What is stored is found by them."""
    assert short(*names) == key


@pytest.mark.parametrize("fails", [False, True], ids=["ends", "fails"])
def test_who_is_cancelled_waits_for_the_end(fails):
    """However often, and whatever the end is; the event loop goes on."""
    begun, go_on, done = threading.Event(), threading.Event(), []

    def act():
        begun.set()
        go_on.wait(10)
        done.append(1)
        if fails:
            raise ValueError

    async def cancelled():
        acting = asyncio.create_task(finished(act))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        for _ in range(2):
            acting.cancel()
            await asyncio.sleep(0.01)
        early = acting.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await acting
        return early

    assert asyncio.run(cancelled()) is False and done == [1]


def test_a_call_gives_back_what_it_does_and_raises_what_it_raises():
    """As if it had been made here."""
    assert asyncio.run(finished(lambda: 3)) == 3
    with pytest.raises(ZeroDivisionError):
        asyncio.run(finished(lambda: 1 // 0))
