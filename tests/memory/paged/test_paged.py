"""Collections in a pack: whatever was done before and since it was written, they hold what plain ones hold."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.core.errors import PackError
from doxa.memory.paged import Keys, Lists, Pack, PackWriter, Records, Table, write_pack

WORDS = st.text(max_size=3)
NUMBERS = st.integers(0, 2**32 - 1)


def again(held: Any, empty: Any) -> Any:
    """Return what is held as it is once it was written and read, by way of what is empty."""
    file = BytesIO()
    writer = PackWriter(file)
    held.save(writer, "one")
    writer.close({})
    empty.load(Pack(file.getvalue()), "one")
    return empty


@given(st.lists(st.tuples(st.integers(0, 9), WORDS)))
def test_records_are_a_list(steps):
    plain: list[str] = []
    held: Records[str] = Records()
    for number, word in steps:
        if number == 0:
            held = again(held, Records())
        elif number == 1 and plain:
            plain[len(word) % len(plain)] = word
            held.replace(len(word) % len(plain), word)
        else:
            assert held.append(word) == len(plain)
            plain.append(word)
        assert held == plain
        assert held[-2:] == plain[-2:]
        rows = range(0, len(plain), 2)
        assert list(held.chosen(rows)) == plain[::2]
        assert held.chosen(rows)[-2:] == plain[::2][-2:]


@given(st.lists(st.tuples(st.integers(0, 9), WORDS)))
def test_keys_keep_their_numbers(steps):
    plain: dict[str, int] = {}
    held = Keys()
    for number, word in steps:
        if number == 0:
            held = again(held, Keys())
        elif number == 1:
            assert held.get(word) == plain.get(word)
        else:
            assert held.add(word) == plain.setdefault(word, len(plain))
    assert list(held) == list(plain)


@given(st.lists(st.tuples(st.integers(0, 9), WORDS, NUMBERS)))
def test_a_table_is_a_dict(steps):
    plain: dict[str, int] = {}
    held: Table[int] = Table()
    for number, word, value in steps:
        if number == 0:
            held = again(held, Table())
        elif number < 4:
            assert held.pop(word, None) == plain.pop(word, None)
        else:
            held[word] = plain[word] = value
        assert held == plain
        assert len(held) == len(plain)
        assert [*reversed(held)] == [*held][::-1]


@given(st.lists(st.tuples(st.integers(0, 9), WORDS, st.integers(0, 3) | NUMBERS)))
def test_lists_are_lists(steps):
    plain: dict[str, list[tuple[int, int]]] = {}
    held = Lists("IH")
    for number, word, value in steps:
        if number == 0:
            held = again(held, Lists("IH"))
        elif number == 1:
            rows = plain.get(word, [])[1:]
            plain[word] = rows
            held.put(word, rows)
        elif number == 3:
            plain[word] = [row for row in plain.get(word, []) if row[0] != value]
            held.drop(word, {value})
        elif number == 2 and plain.get(word):
            (first, _), *plain[word] = plain[word]
            held.remove(word, first)
        else:
            plain.setdefault(word, []).append((value, value % 7))
            held.append(word, value, value % 7)
        assert held.rows(word) == plain.get(word, [])
        assert list(held.get(word)) == [first for first, _ in plain.get(word, [])]
        assert held.count(word) == len(plain.get(word, []))
        assert held.arrays(word, latest=2)[0].tolist() == [first for first, _ in plain.get(word, [])[-2:]]
    assert {key: held.rows(key) for key in held if key in held} == {key: rows for key, rows in plain.items() if rows}


def test_no_byte_of_a_pack_changes_unseen(tmp_path):
    path = tmp_path / "one.pack"
    numbers = np.arange(40_000, dtype=np.int64)
    with write_pack(path, {"ordinal": 3}) as writer:
        writer.array("numbers", numbers[:100], numbers[100:])
        writer.blob("text", [b"lives", b" in Lisbon"])
        writer.value("plain", {"a": [1, None, "x"]})
    pack = Pack.open(path)
    assert pack.about == {"ordinal": 3}
    assert np.array_equal(pack.array("numbers"), numbers)
    assert bytes(pack.read("text", 5, 15)) == b" in Lisbon"
    assert pack.value("plain") == {"a": [1, None, "x"]}
    good = path.read_bytes()
    for at in range(0, len(good), 1009):
        bad = bytearray(good)
        bad[at] ^= 1
        with pytest.raises(PackError, match="pack"):
            Pack(bytes(bad)).verify()
    for size in (0, 10, len(good) // 2, len(good) - 1):
        with pytest.raises(PackError, match="pack"):
            Pack(good[:size])


def test_a_pack_reads_what_is_asked_for_and_no_more():
    file = BytesIO()
    writer = PackWriter(file)
    held: Records[str] = Records()
    for number in range(100_000):
        held.append(f"said {number}")
    held.save(writer, "said")
    writer.close({})
    bad = bytearray(file.getvalue())
    bad[-500_000] ^= 1  # somewhere in the values
    loaded: Records[str] = Records()
    loaded.load(Pack(bytes(bad)), "said")
    assert loaded[0] == "said 0"
    with pytest.raises(PackError, match="not what was written"):
        list(loaded)


def test_a_pack_that_failed_half_way_leaves_the_old_one(tmp_path):
    path = tmp_path / "one.pack"
    with write_pack(path, {}) as writer:
        writer.value("x", 1)
    with pytest.raises(TypeError), write_pack(path, {}) as writer:
        writer.value("x", object())
    assert Pack.open(path).value("x") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["one.pack"]
