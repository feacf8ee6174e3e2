"""Keys of records: what names become in them, today as in every release before, and which are refused."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.core.errors import InputError
from doxa.engine import Doxa, Records, finished, short

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


@pytest.fixture(scope="module")
def engine(light):
    with Doxa.open(":memory:", config=light()) as opened:
        yield opened


@pytest.mark.parametrize("sign", ["\0", "\ud800"], ids=["NUL", "half a surrogate pair"])
@pytest.mark.parametrize(
    "call",
    [
        lambda records, name: records.put({name: b"1"}),
        lambda records, name: records.put({name: None}),
        lambda records, name: records.put({"a": b"1"}, expected={name: None}),
        lambda records, name: records.put({"a": b"1"}, said_by={"a": name}),
        lambda records, name: records.get("a", name),
        lambda records, name: records.all(name),
        lambda records, name: records.last(name),
        lambda records, name: records.erase(name),
    ],
    ids=["put", "remove", "expected", "said by", "get", "all", "last", "erase"],
)
def test_a_name_that_not_every_database_can_store_is_refused(engine, call, sign):
    records = Records(engine, user="ana", shelf="notes")
    with pytest.raises(InputError, match="half surrogate pairs"):
        call(records, f"a{sign}b")
    assert records.all() == {}


@pytest.mark.parametrize("sign", ["\0", "\ud800"], ids=["NUL", "half a surrogate pair"])
def test_a_shelf_that_not_every_database_can_store_is_refused(engine, sign):
    with pytest.raises(InputError, match="half surrogate pairs"):
        Records(engine, user="ana", shelf=f"a{sign}b")


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
