"""What the searches ask of a base of knowledge, wherever it lies: in files of one machine, or in a database of many."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from doxa.commonsense.base.files import Card

__all__ = ["Base", "Ids", "Linked", "Listed", "Vectors"]

Ids = NDArray[np.integer[Any]]
Vectors = NDArray[np.float32]


class Listed(Protocol):
    """Texts by their numbers."""

    def __len__(self) -> int:
        """Return how many there are."""

    def __getitem__(self, index: int, /) -> str:
        """Return one text."""

    def places(self, texts: list[str]) -> NDArray[np.int64]:
        """Return where texts are, -1 for those that are nowhere; for texts that are sorted."""


class Linked(Protocol):
    """Lists of numbers, one for each of something."""

    def __getitem__(self, row: int, /) -> NDArray[np.int32]:
        """Return the numbers of one row."""

    def of(self, rows: Ids, /) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of several rows, one after the other, and which of `rows` each belongs to."""


class Base(Protocol):
    """Sentences that are linked by the concepts they share, with events and what follows from them. Read only."""

    card: Card
    group_vectors: Vectors
    concept_group: NDArray[np.int32]

    @property
    def sentences(self) -> Listed:
        """Its sentences."""

    @property
    def concepts(self) -> Listed:
        """Their concepts, sorted."""

    @property
    def words(self) -> Listed:
        """Their content words, sorted."""

    @property
    def events(self) -> Listed:
        """Events of which something follows."""

    @property
    def sentence_concepts(self) -> Linked:
        """The concepts of each sentence."""

    @property
    def sentence_words(self) -> Linked:
        """The words of each sentence."""

    @property
    def group_sentences(self) -> Linked:
        """The sentences of each group of concepts, ascending."""

    @property
    def event_inferences(self) -> Linked:
        """What follows from each event."""

    def __len__(self) -> int:
        """Return how many sentences there are."""

    def expect(self, sentences: Ids) -> None:
        """Be told which sentences will be read one by one, so that they can be fetched at once."""

    def vectors(self, sentences: Ids) -> Vectors:
        """Return the vectors of sentences, `(n, dims)`."""

    def similarity(self, sentences: Ids, targets: Vectors) -> Vectors:
        """Return the cosines of sentences with unit vectors `(t, dims)`, `(n, t)`."""

    def word_counts(self, sentences: Ids) -> NDArray[np.int64]:
        """Return how many content words each of some sentences has, `(n,)`."""

    def truisms(self, sentences: Ids) -> Vectors:
        """Return how far nothing at all entails sentences, `(n,)`, 0 to 1."""

    def concept_vectors(self, concepts: Ids) -> Vectors:
        """Return the vectors of concepts, `(n, dims)`; a number below 0 gives any row."""

    def word_vectors(self, words: Ids) -> Vectors:
        """Return the vectors of words, `(n, dims)`; a number below 0 gives any row."""

    def nearest_events(self, queries: Vectors, most: int) -> tuple[NDArray[np.int64], Vectors]:
        """Return the events nearest to unit vectors `(q, dims)`, best first, and their cosines, both `(q, most)`.

        Fewer where there are fewer.
        """

    def inference_vectors(self, inferences: Ids) -> Vectors:
        """Return the vectors of inferences, `(n, dims)`."""

    def inference(self, number: int) -> tuple[str, str]:
        """Return the relation and the tail of an inference."""

    def close(self) -> None:
        """Give back what it holds; may be called twice."""
