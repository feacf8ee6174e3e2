"""A base of knowledge on disk, opened: sentences, concepts, groups of concepts, words, events and inferences."""

from __future__ import annotations

from collections.abc import Sized
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.commonsense.base.files import Card, Rows, check_ids, read_card
from doxa.commonsense.base.packing import cosines, unit
from doxa.commonsense.base.texts import Texts
from doxa.core.background import RELATIONS
from doxa.core.errors import InputError

__all__ = ["KnowledgeBase"]

Ids = NDArray[np.integer[Any]]
Vectors = NDArray[np.float32]


class KnowledgeBase:
    """Sentences that are linked by the concepts they share. It is read only, and may be shared by threads.

    Files are mapped into memory: opening reads only what links them, some milliseconds for 50,000 sentences, and later
    only what is walked through is read.
    """

    def __init__(self, folder: Path) -> None:
        """Open the base in a folder.

        Raises:
            InputError: there is none, or its files are broken.
        """
        self.folder = folder
        self.card: Card = read_card(folder)
        try:
            self.sentences = Texts(folder / "sentences")
            self.concepts = Texts(folder / "concepts")
            self.words = Texts(folder / "words")
            self.events = Texts(folder / "events")
            self._inferences = Texts(folder / "inferences")
            self._vectors = _mapped(folder, "sentence_vectors")
            self._truisms = _mapped(folder, "sentence_truisms")
            self._concept_vectors = _mapped(folder, "concept_vectors")
            self._word_vectors = _mapped(folder, "word_vectors")
            self._inference_vectors = _mapped(folder, "inference_vectors")
            self._event_vectors = _mapped(folder, "event_vectors")
            self.group_vectors: Vectors = _mapped(folder, "group_vectors")
            self.concept_group: NDArray[np.int32] = _mapped(folder, "concept_group")
            self.sentence_concepts = _rows(folder, "sentence_concepts")
            self.sentence_words = _rows(folder, "sentence_words")
            self.group_sentences = _rows(folder, "group_sentences")
            self.event_inferences = _rows(folder, "event_inferences")
            self._check()
        except (OSError, EOFError, ValueError) as exc:
            raise InputError(
                f"The base of knowledge in {folder} is broken ({exc}). Build it again: doxa kb build FILE --to "
                f"{folder} --force"
            ) from exc

    def _check(self) -> None:
        """Raise ValueError where the files do not fit the card, or each other."""
        card = self.card
        of_sentences = (self.sentences, self._vectors, self._truisms, self.sentence_concepts, self.sentence_words)
        sizes: dict[str, tuple[int, tuple[Sized, ...]]] = {
            "sentences": (card.sentences, of_sentences),
            "concepts": (card.concepts, (self.concepts, self._concept_vectors, self.concept_group)),
            "words": (card.words, (self.words, self._word_vectors)),
            "groups": (card.groups, (self.group_vectors, self.group_sentences)),
            "events": (card.events, (self.events, self._event_vectors, self.event_inferences)),
            "inferences": (card.inferences, (self._inferences, self._inference_vectors)),
        }
        for name, (expected, found) in sizes.items():
            if any(len(one) != expected for one in found):
                raise ValueError(f"expected {expected} {name}, found {', '.join(str(len(one)) for one in found)}")
        for vectors in (self._vectors, self._concept_vectors, self._word_vectors, self.group_vectors):
            if vectors.shape[1:] != (card.dims,):
                raise ValueError(f"expected vectors of {card.dims} numbers, found {vectors.shape[1:]}")
        self.sentence_concepts.check(card.concepts)
        self.sentence_words.check(card.words)
        self.group_sentences.check(card.sentences)
        self.event_inferences.check(card.inferences)
        check_ids(self.concept_group, card.groups)

    def __len__(self) -> int:
        """Return how many sentences there are."""
        return self.card.sentences

    def vectors(self, sentences: Ids) -> Vectors:
        """Return the vectors of sentences, `(n, dims)`."""
        return unit(self._vectors[sentences])

    def similarity(self, sentences: Ids, targets: Vectors) -> Vectors:
        """Return the cosines of sentences with unit vectors `(t, dims)`, `(n, t)`. Memory O(n t)."""
        return cosines(self._vectors, sentences, targets)

    def word_counts(self, sentences: Ids) -> NDArray[np.int64]:
        """Return how many content words each of some sentences has, `(n,)`."""
        return self.sentence_words.sizes(sentences)

    def truisms(self, sentences: Ids) -> Vectors:
        """Return how far nothing at all entails sentences, `(n,)`, 0 to 1 by the NLI model of the build."""
        return np.asarray(self._truisms[sentences], dtype=np.float32)

    def concept_vectors(self, concepts: Ids) -> Vectors:
        """Return the vectors of concepts, `(n, dims)`."""
        return unit(self._concept_vectors[concepts])

    def word_vectors(self, words: Ids) -> Vectors:
        """Return the vectors of words, each encoded by itself, `(n, dims)`."""
        return unit(self._word_vectors[words])

    def event_vectors(self, events: Ids) -> Vectors:
        """Return the vectors of events, `(n, dims)`."""
        return unit(self._event_vectors[events])

    def expect(self, sentences: Ids) -> None:
        """Nothing has to be fetched: what is read is mapped."""

    def nearest_events(self, queries: Vectors, most: int) -> tuple[NDArray[np.int64], Vectors]:
        """Return the events nearest to unit vectors `(q, dims)`, best first, and their cosines, both `(q, most)`.

        One product with the vectors of all events, which are kept widened from the first call on.
        """
        near: Vectors = queries @ self._widened_events.T
        order = np.argsort(-near, axis=1, kind="stable")[:, :most]
        return order.astype(np.int64), np.take_along_axis(near, order, axis=1)

    @cached_property
    def _widened_events(self) -> Vectors:
        return unit(self._event_vectors)

    def inference_vectors(self, inferences: Ids) -> Vectors:
        """Return the vectors of inferences, made of their statements, `(n, dims)`."""
        return unit(self._inference_vectors[inferences])

    def close(self) -> None:
        """Nothing is held but files that are mapped."""

    def inference(self, number: int) -> tuple[str, str]:
        """Return the relation and the tail of an inference.

        Raises:
            InputError: the file of the inferences is broken.
        """
        relation, _, tail = self._inferences[number].partition("\t")
        if relation not in RELATIONS:
            raise InputError(f"{self.folder / 'inferences.txt'} is broken: {relation[:30]!r} is no relation.")
        return relation, tail


def _mapped(folder: Path, name: str) -> Any:
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))  # a plain array: slicing a memmap is slow


def _rows(folder: Path, name: str) -> Rows:
    return Rows(_mapped(folder, f"{name}_starts"), _mapped(folder, f"{name}_ids"))
