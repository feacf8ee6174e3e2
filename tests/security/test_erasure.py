"""A word that is forgotten is in no byte of what Doxa keeps (`benchmarks/fire/erasure.py` measures more of it)."""

import base64
import io
import json
import random
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from doxa.engine import Doxa

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "fire"))
import erasure
import splits

ROOT = Path(__file__).parents[2]
ROWS = "answers heads keys records".split()
EVENTS = "turn maintained promoted feedback annotated retracted undone set_aside".split()
SPLIT = (1, 12, 21, 65)
"""Files in which SQLite itself leaves a word."""
PLACES = {"copies", "snapshots", "marks", "left by a killed process", "temporary", "memory of the engine"}
PLACES |= {f"rows: {table}" for table in ROWS} | {f"rows: log: {kind}" for kind in EVENTS}
"""Where a word is before it is forgotten; tasks, rules and preferences are in what the log maintained."""


@pytest.mark.parametrize("everything", [False, True], ids=["turns", "everything"])
@pytest.mark.parametrize("script", erasure.SCRIPTS)
def test_no_file_holds_a_word_that_was_forgotten(tmp_path, script, everything):
    """Nor row, nor cache: at once, later on, and closed. Copies that somebody made stay, and are named in the docs."""
    secret = erasure.word(random.Random(script), script)
    found = erasure.in_a_file(tmp_path, secret, everything=everything)
    assert {"memory.db", "memory.db.taught/default/ana.jsonl"} <= found["before"].keys()
    assert any(name.endswith(".fold") for name in found["before"])
    before, after = found["bytes"]["before"], found["bytes"]["after"]
    assert {place for place, count in before.items() if count} >= PLACES
    assert {place for place, count in after.items() if count} == {"copies"}
    assert (found["after"], found["later"], found["closed"]) == ({}, {}, {}) and found["kept"]


@pytest.mark.parametrize("everything", [False, True], ids=["turns", "everything"])
def test_no_row_of_postgres_holds_it(postgres, everything):
    """What the server has in pages that it freed is its own matter (`docs/how-to/postgres.md`)."""
    import psycopg

    name, secret = postgres.make(), erasure.word(random.Random(7), "mixed")
    try:
        turns = erasure.filled(postgres.url(name), secret)
        with psycopg.connect(postgres.url(name), autocommit=True) as connection:
            before = erasure.rows_with(connection, secret[: erasure.LETTERS])
            with Doxa.open(postgres.url(name), config=erasure.SETTINGS) as doxa:
                erasure.forget(doxa, turns, secret, everything=everything)
            after = erasure.rows_with(connection, secret[: erasure.LETTERS])
    finally:
        postgres.drop(name)
    assert any(table.startswith("events") for table in before) and after == {}


def test_nothing_that_is_asked_for_tells_it(tmp_path):
    """In the process that forgot it, whose caches were full of it."""
    secret = erasure.word(random.Random(8))
    with Doxa.open(tmp_path / "memory.db", config=erasure.SETTINGS) as doxa:
        turns = erasure.fill(doxa, "ana", secret)
        memory, talk = doxa.memory(user="ana"), doxa.dialogue(user="ana")
        questions = ("Where do I live?", "Who is my friend?", "What do I love?", "What is on my list?", "What of it?")
        assert secret in repr([talk.ask(question) for question in questions])
        memory.forget(turn_id=turns)
        told = [talk.ask(question) for question in questions] + [memory.search(one) for one in questions]
        told += [memory.turns(withdrawn=True), memory.facts(current=False), memory.history(), memory.summary()]
        told += [memory.tasks(), memory.rules(), memory.promotions(active=False), memory.answers(), memory.entities()]
        told += [memory.stats(), memory.disputes(), memory.withdrawn(), memory.inferred()]
        told += [memory.export(tmp_path / name).read_text() for name in ("x.jsonl",)]
    assert secret[: erasure.LETTERS].casefold() not in repr(told).casefold()


PACKED = {
    "plain": lambda text: text.encode(),
    "small": lambda text: text.casefold().encode(),
    "UTF-16": lambda text: b"\1" + text.encode("utf-16-le"),
    "big UTF-16": lambda text: text.encode("utf-16-be"),
    "JSON": lambda text: json.dumps({"a": text}).encode(),
    "base64": lambda text: base64.b64encode(text.encode()),
    "base64, one later": lambda text: base64.b64encode(b"x" + text.encode() + b"yz"),
    "base64, two later": lambda text: base64.b64encode(b"xy" + text.encode()),
    "hex": lambda text: text.encode().hex().encode(),
    "zlib": lambda text: b"head" + zlib.compress(b"much text " * 50 + text.encode()),
    "npz": lambda text: archived(text),
}


def archived(text):
    """Return an array of bytes as numpy packs it."""
    file = io.BytesIO()
    np.savez_compressed(file, words=np.frombuffer(b"much text " * 50 + text.encode(), dtype=np.uint8))
    return file.getvalue()


@pytest.mark.parametrize("script", erasure.SCRIPTS)
@pytest.mark.parametrize("packed", PACKED)
def test_the_search_finds_a_word_however_it_is_kept(tmp_path, packed, script):
    """Else finding nothing would prove nothing."""
    secret = erasure.word(random.Random(9), script)
    (tmp_path / "file.bin").write_bytes(
        b"\0" * 37 + PACKED[packed](f"x {secret} y") if packed != "npz" else archived(secret)
    )
    found = erasure.leaks(tmp_path, secret[: erasure.LETTERS])
    assert [*found] == ["file.bin"]


@pytest.mark.parametrize("seed", [0, 7, *SPLIT])
def test_no_page_keeps_a_copy_from_before_it_was_split(tmp_path, seed):
    """Logs of several users, of turns of any length, lie in each other's pages."""
    kept, erased = splits.left(tmp_path / "memory.db", seed)
    assert kept and not erased
