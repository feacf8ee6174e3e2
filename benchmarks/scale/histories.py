"""A history of as many turns as are wanted, with vectors, for benchmarks of scale.

Real dialogues are read from the data folder and encoded once by the built-in encoder (`Base`, kept in a cache file). A
turn of the history is a real one of which every passage is told in another way (`History`): one of its words is
taken from a passage that is near in meaning, and its vector lies between those of both, with a little noise. So no two
turns are copies, words are about as frequent as they are, and vectors stay where real ones are. The vectors are made
that way because encoding them takes hours; the questions that are asked are real, and so are their vectors.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from doxa import backends
from doxa.backends.transcripts import read
from doxa.core.values import Turn
from doxa.memory import encoded_texts

MOST_CHARS = 600
"""A longer turn is cut: what is far down in an answer of a page is no dialogue."""
NEAR = 16
"""A passage is mixed with one of so many that are nearest to it, of a sample of `AMONG`."""
AMONG = 20_000
MIXED = 0.5
"""The largest share of the other passage in a vector."""
NOISE = 0.15
"""The length of what is added at random."""
PART = 10_000
"""Turns that are made at a time."""


def talks(data: Path) -> Iterator[list[str]]:
    """Give dialogues of people, and of people with assistants, as lists of texts."""
    for path in (data / "measure/locomo/locomo_dev6.json", *sorted((data / "measure/realtalk").glob("*.json"))):
        yield from locomo(path)
    for session in json.loads((data / "open/longmemeval/haystack_session_pool.json").read_text(encoding="utf-8")):
        yield [turn["content"][:MOST_CHARS] for turn in session["turns"]]
    for path in sorted((data / "open/synthetic_persona_chat").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield re.findall(r"^User \d: (.+)$", row["Best Generated Conversation"], re.MULTILINE)
    with (data / "measure/dailydialog/multireftest.json").open(encoding="utf-8") as file:
        for line in file:
            yield [re.sub(r" (?=[,.?!])", "", turn["text"]) for turn in json.loads(line)["dialogue"]]
    with (data / "measure/empathetic_dialogues/fixed_test.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if len(row) == 4][1:]
        yield [row[3].replace("_comma_", ",") for row in rows]


def locomo(path: Path) -> Iterator[list[str]]:
    """Give the conversations of a file in LoCoMo's form, or of one in that of REALTALK."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(found, list):
        yield from ([line.text for line in one.lines] for one in read(path).conversations)
        return
    sessions = (said for name, said in found.items() if re.fullmatch(r"session_\d+", name))
    yield [turn["clean_text"] for said in sessions for turn in said if turn["clean_text"].strip()]


def questions(data: Path) -> list[str]:
    """Return the questions about LoCoMo and REALTALK, none of which is part of a history."""
    found = json.loads((data / "measure/locomo/locomo_dev6.json").read_text(encoding="utf-8"))
    chats = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted((data / "measure/realtalk").glob("*.json"))
    ]
    return [one["question"] for talk in chain(found, chats) for one in talk["qa"]]


@dataclass(frozen=True)
class Base:
    """Real turns with their passages, and the vectors of all."""

    texts: list[str]
    """Of the rows: of every turn the whole and then its passages, as `encoded_texts` gives them."""
    first: NDArray[np.int64]
    """The row at which every turn begins, and the end."""
    vectors: NDArray[np.float16]
    near: NDArray[np.int32]
    """Rows that are near to every row in meaning, `(rows, NEAR)`."""
    asked: list[str]
    queries: NDArray[np.float32]
    """The vectors of what is asked."""


def base(data: Path, cache: Path) -> Base:
    """Return the real turns, encoded; the first time that takes some minutes."""
    said = [text for talk in talks(data) for text in talk if text.strip()]
    turn = Turn(turn_id="", user="u", session="", speaker="", role="user", text="", at=datetime(2026, 1, 1, tzinfo=UTC))
    parts = [encoded_texts(replace(turn, text=text)) for text in said]
    texts, asked = list(chain.from_iterable(parts)), questions(data)
    if not cache.exists():
        encoder = backends.load("encoder", "builtin")
        print(f"encoding {len(texts)} texts")
        chunks = [encoder.encode(texts[at : at + 4096]).astype(np.float16) for at in range(0, len(texts), 4096)]
        vectors = np.concatenate(chunks)
        np.savez(cache, vectors=vectors, queries=encoder.encode(asked), near=neighbours(vectors))
    held = np.load(cache)
    first = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    if len(held["vectors"]) != len(texts):
        raise SystemExit(f"{cache} is of other data: delete it")
    return Base(texts, first, held["vectors"], held["near"], asked, held["queries"])


def neighbours(vectors: NDArray[np.float16]) -> NDArray[np.int32]:
    """Return for every row the nearest ones of a sample, itself and copies of it left out."""
    sample = np.random.default_rng(0).choice(len(vectors), min(AMONG, len(vectors)), replace=False)
    others = vectors[sample].astype(np.float32).T.copy()
    found = []
    for start in range(0, len(vectors), 2048):
        scores = vectors[start : start + 2048].astype(np.float32) @ others
        scores[scores > 0.99] = -1
        found.append(sample[np.argpartition(-scores, NEAR, axis=1)[:, :NEAR]].astype(np.int32))
    return np.concatenate(found)


@dataclass(frozen=True)
class History:
    """Turns of a history, told from real ones."""

    base: Base
    seed: int = 0

    def part(self, number: int, size: int = PART) -> tuple[list[str], NDArray[np.int64], NDArray[np.float32]]:
        """Return `size` turns: their texts, the bounds of their rows, and the vectors of those."""
        random = np.random.default_rng((self.seed, number))
        known, picked = self.base, random.integers(0, len(self.base.first) - 1, size)
        counts = np.diff(known.first)[picked]
        bounds = np.concatenate([[0], np.cumsum(counts)])
        rows = np.repeat(known.first[picked] - bounds[:-1], counts) + np.arange(bounds[-1])
        others = known.near[rows, random.integers(0, NEAR, len(rows))]
        share = random.uniform(0.1, MIXED, (len(rows), 1)).astype(np.float32)
        own = known.vectors[rows].astype(np.float32)
        vectors = (1 - share) * own + share * known.vectors[others].astype(np.float32)
        whole, many = bounds[:-1], counts > 1
        for at in np.flatnonzero(many).tolist():  # the whole moves with its passages
            inside = slice(bounds[at] + 1, bounds[at + 1])
            vectors[whole[at]] = own[whole[at]] + (vectors[inside] - own[inside]).mean(axis=0)
        vectors += NOISE / vectors.shape[1] ** 0.5 * random.standard_normal(vectors.shape, dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        where = random.random((len(rows), 2))
        texts = [
            " ".join(self._told(int(rows[row]), int(others[row]), *where[row]) for row in passages(start, stop))
            for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        ]
        return texts, bounds, vectors

    def _told(self, row: int, other: int, at: float, of: float) -> str:
        """Return a passage in which one word is another passage's."""
        words, theirs = self.base.texts[row].split(), self.base.texts[other].split()
        if words and theirs:
            words[int(at * len(words))] = theirs[int(of * len(theirs))]
        return " ".join(words)


def passages(start: int, stop: int) -> range:
    """Return the rows of the passages of a turn, or of the whole where it has but one."""
    return range(start + 1, stop) if stop > start + 1 else range(start, stop)
