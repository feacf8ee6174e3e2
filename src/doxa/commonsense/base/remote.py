"""A base of knowledge in a database that many processes read: put there, and opened."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends import load
from doxa.backends.collections import Collection, Item, Shelf, Shelves
from doxa.commonsense.base.base import KnowledgeBase
from doxa.commonsense.base.files import FORMAT, Card
from doxa.commonsense.base.packing import unit
from doxa.commonsense.base.protocol import Ids, Vectors
from doxa.core.access import without_password
from doxa.core.background import RELATIONS
from doxa.core.errors import InputError

__all__ = ["RemoteBase", "is_remote", "send"]

NAME = "commonsense"
SCHEMES = ("postgresql://", "postgres://")
KEPT = 20_000
"""Items of one collection that stay in memory, those used last: some 15 MB of vectors."""
BLOCK = 2_000
"""Items of a base on disk that are read together."""
MISSING = "There is no base of knowledge in {place}. Put one there: doxa kb build FOLDER --to {place}"


def is_remote(place: object) -> bool:
    """Tell whether a base is meant that lies in a database."""
    return str(place).startswith(SCHEMES)


def send(base: KnowledgeBase, place: str) -> None:
    """Put a base into a database, in the place of the one that is there; the same one is left as it is.

    Whoever has that one open reads on in it until the next but one comes.

    Raises:
        ConfigError: the address cannot be used.
        StoreError: the database failed, or has no pgvector; what was there is as it was.

    Cost: some thousand sentences a second, and an index of the events.
    """
    shelves = _opened(place)
    try:
        there = shelves.open(NAME)
        if there is not None and base.card.digest and there.card.get("digest") == base.card.digest:
            return
        shelves.write(NAME, _collections(base), card=asdict(base.card), dims=base.card.dims)
    finally:
        shelves.close()


def _collections(base: KnowledgeBase) -> dict[str, Collection]:
    """Return what a base is as collections; the numbers are those of the base."""
    card = base.card
    return {
        "sentences": Collection(items=_sentences(base)),
        "concepts": Collection(items=_concepts(base), found=True),
        "words": Collection(items=_plain(base.words, base.word_vectors, card.words), found=True),
        "groups": Collection(items=_groups(base)),
        "events": Collection(items=_events(base), nearest=True),
        "inferences": Collection(items=_inferences(base)),
    }


def _sentences(base: KnowledgeBase) -> Iterator[Item]:
    for ids in _blocks(base.card.sentences):
        for key, vector, truism in zip(ids.tolist(), base.vectors(ids), base.truisms(ids), strict=True):
            yield Item(
                text=base.sentences[key], vector=vector, first=base.sentence_concepts[key].tolist(),
                second=base.sentence_words[key].tolist(), number=float(truism),
            )  # fmt: skip


def _concepts(base: KnowledgeBase) -> Iterator[Item]:
    for ids in _blocks(base.card.concepts):
        for key, vector in zip(ids.tolist(), base.concept_vectors(ids), strict=True):
            yield Item(text=base.concepts[key], vector=vector, number=float(base.concept_group[key]))


def _groups(base: KnowledgeBase) -> Iterator[Item]:
    for key in range(base.card.groups):
        vector = unit(np.asarray(base.group_vectors[key : key + 1]))[0]
        yield Item(text="", vector=vector, first=base.group_sentences[key].tolist())


def _events(base: KnowledgeBase) -> Iterator[Item]:
    for ids in _blocks(base.card.events):
        for key, vector in zip(ids.tolist(), base.event_vectors(ids), strict=True):
            yield Item(text=base.events[key], vector=vector, first=base.event_inferences[key].tolist())


def _inferences(base: KnowledgeBase) -> Iterator[Item]:
    for ids in _blocks(base.card.inferences):
        for key, vector in zip(ids.tolist(), base.inference_vectors(ids), strict=True):
            yield Item(text="\t".join(base.inference(key)), vector=vector)


def _plain(texts: Any, vectors: Any, count: int) -> Iterator[Item]:
    for ids in _blocks(count):
        for key, vector in zip(ids.tolist(), vectors(ids), strict=True):
            yield Item(text=texts[key], vector=vector)


def _blocks(count: int) -> Iterator[NDArray[np.int64]]:
    return (np.arange(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


class RemoteBase:
    """A base in a database; see `Base`. Safe between threads.

    What links concepts is read when it is opened, 4 bytes for each concept and a vector for each group; all else where
    it is walked through, and the latest of it is kept.
    """

    def __init__(self, place: str) -> None:
        """Open the base in a database.

        Raises:
            InputError: there is none, or another version of Doxa made it.
            ConfigError: the address cannot be used.
            StoreError: the database cannot be reached.
        """
        self.place = place
        self._shelves = _opened(place)
        try:
            shelf = self._shelves.open(NAME)
            if shelf is None:
                raise InputError(MISSING.format(place=without_password(place)))
            if shelf.card.get("format") != FORMAT:
                raise InputError(
                    f"The base of knowledge in {without_password(place)} has format {shelf.card.get('format')}, and "
                    f"this Doxa reads {FORMAT}. Put it there again: doxa kb build FILE --to {without_password(place)}"
                )
            self.card = Card(**{**shelf.card, "sources": tuple(shelf.card["sources"])})
            self.group_vectors: Vectors = shelf.vectors("groups").reshape(self.card.groups, self.card.dims)
            self.concept_group: NDArray[np.int32] = shelf.numbers("concepts").astype(np.int32)
        except BaseException:
            self._shelves.close()
            raise
        self._shelf = shelf
        self._sentences, self._concepts, self._words, self._events, self._groups, self._inferences = (
            _Kept(shelf, name) for name in ("sentences", "concepts", "words", "events", "groups", "inferences")
        )
        card = self.card
        self.sentences, self.events = _Texts(self._sentences, card.sentences), _Texts(self._events, card.events)
        self.concepts, self.words = _Texts(self._concepts, card.concepts), _Texts(self._words, card.words)
        self.sentence_concepts = _Lists(self._sentences, lambda item: item.first)
        self.sentence_words = _Lists(self._sentences, lambda item: item.second)
        self.group_sentences = _Lists(self._groups, lambda item: item.first)
        self.event_inferences = _Lists(self._events, lambda item: item.first)

    def __len__(self) -> int:
        """Return how many sentences there are."""
        return self.card.sentences

    def expect(self, sentences: Ids) -> None:
        """Fetch sentences with their concepts and words, three queries at most."""
        items = self._sentences.items(sentences)
        self._concepts.items([key for item in items for key in item.first])
        self._words.items([key for item in items for key in item.second])

    def vectors(self, sentences: Ids) -> Vectors:
        """Return the vectors of sentences, `(n, dims)`."""
        return self._stacked(self._sentences, sentences)

    def similarity(self, sentences: Ids, targets: Vectors) -> Vectors:
        """Return the cosines of sentences with unit vectors `(t, dims)`, `(n, t)`, by the database; nothing is kept."""
        return self._shelf.cosines("sentences", sentences.tolist(), targets)

    def word_counts(self, sentences: Ids) -> NDArray[np.int64]:
        """Return how many content words each of some sentences has, `(n,)`, by the database."""
        return self._shelf.sizes("sentences", sentences.tolist())

    def truisms(self, sentences: Ids) -> Vectors:
        """Return how far nothing at all entails sentences, `(n,)`, 0 to 1."""
        return np.array([item.number for item in self._sentences.items(sentences)], dtype=np.float32)

    def concept_vectors(self, concepts: Ids) -> Vectors:
        """Return the vectors of concepts, `(n, dims)`; a number below 0 gives a row of zeros."""
        return self._stacked(self._concepts, concepts)

    def word_vectors(self, words: Ids) -> Vectors:
        """Return the vectors of words, `(n, dims)`; a number below 0 gives a row of zeros."""
        return self._stacked(self._words, words)

    def nearest_events(self, queries: Vectors, most: int) -> tuple[NDArray[np.int64], Vectors]:
        """Return the events nearest to unit vectors `(q, dims)`, best first, and their cosines, both `(q, most)`.

        By the index, which looks at some of them alone: now and then a near one is missed.
        """
        found = [self._shelf.nearest("events", query, most) for query in queries]
        width = min((len(row) for row in found), default=0)
        ids = np.array([[key for key, _ in row[:width]] for row in found], dtype=np.int64)
        cosines = np.array([[cosine for _, cosine in row[:width]] for row in found], dtype=np.float32)
        return ids.reshape(len(found), width), cosines.reshape(len(found), width)

    def inference_vectors(self, inferences: Ids) -> Vectors:
        """Return the vectors of inferences, `(n, dims)`."""
        return self._stacked(self._inferences, inferences)

    def inference(self, number: int) -> tuple[str, str]:
        """Return the relation and the tail of an inference.

        Raises:
            InputError: what is in the database is broken.
        """
        relation, _, tail = self._inferences.items([number])[0].text.partition("\t")
        if relation not in RELATIONS:
            raise InputError(f"The base in {without_password(self.place)} is broken: {relation[:30]!r} is no relation.")
        return relation, tail

    def close(self) -> None:
        """Give back the connections; may be called twice."""
        self._shelves.close()

    def _stacked(self, kept: _Kept, ids: Ids) -> Vectors:
        """Return the vectors of items at unit length, zeros for numbers below 0."""
        rows = np.zeros((len(ids), self.card.dims), dtype=np.float32)
        known = np.flatnonzero(np.asarray(ids) >= 0)
        if len(known):
            rows[known] = unit(np.stack([item.vector for item in kept.items(np.asarray(ids)[known])]))
        return rows


class _Kept:
    """The items of one collection, the latest of them in memory. Safe between threads."""

    def __init__(self, shelf: Shelf, name: str) -> None:
        self.shelf, self.name = shelf, name
        self._items: OrderedDict[int, Item] = OrderedDict()
        self._guard = threading.Lock()

    def items(self, ids: Ids | Sequence[int]) -> list[Item]:
        """Return items, in the order of their numbers; one query for those that are not here."""
        keys = np.asarray(ids, dtype=np.int64).tolist()
        with self._guard:
            found = {key: self._items[key] for key in keys if key in self._items}
            for key in found:
                self._items.move_to_end(key)
        if missing := [key for key in dict.fromkeys(keys) if key not in found]:
            found |= zip(missing, self.shelf.items(self.name, missing), strict=True)
            with self._guard:
                self._items |= {key: found[key] for key in missing}
                while len(self._items) > KEPT:
                    self._items.popitem(last=False)
        return [found[key] for key in keys]


class _Texts:
    """The texts of a collection."""

    def __init__(self, kept: _Kept, count: int) -> None:
        self._kept, self._count = kept, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> str:
        return self._kept.items([index])[0].text

    def places(self, texts: list[str]) -> NDArray[np.int64]:
        return np.array(self._kept.shelf.places(self._kept.name, texts), dtype=np.int64)


class _Lists:
    """The lists of the items of a collection."""

    def __init__(self, kept: _Kept, which: Callable[[Item], Sequence[int]]) -> None:
        self._kept, self._which = kept, which

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return np.array(self._which(self._kept.items([row])[0]), dtype=np.int32)

    def of(self, rows: Ids) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        lists = [self._which(item) for item in self._kept.items(rows)]
        owner = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
        return np.array([key for one in lists for key in one], dtype=np.int32), owner


def _opened(place: str) -> Shelves:
    _, _, rest = place.partition(":")
    shelves: Shelves = load("collections", f"postgresql:{rest}")
    return shelves
