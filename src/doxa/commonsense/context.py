"""The last turns of a conversation -> what the searches compare with: vectors, explicit concepts, words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doxa.backends.blas import on_one_core
from doxa.backends.encoder import Encoder
from doxa.backends.parser import Parser
from doxa.commonsense.base import Base
from doxa.commonsense.base.groups import nearest
from doxa.commonsense.base.phrases import phrases_of

__all__ = ["Context", "Utterance", "read_context"]

Vectors = NDArray[np.float32]
LATEST = 6
"""Utterances that are the context of the next one; the encoder reads about as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What somebody says."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A conversation up to here, read once for all searches."""

    utterances: tuple[Utterance, ...]
    vector: Vectors
    """Of all its text, `(dims,)`."""
    utterance_vectors: Vectors
    """`(n, dims)`."""
    concepts: tuple[str, ...]
    """The explicit concepts, in order; each once."""
    concept_vectors: Vectors
    """`(c, dims)`."""
    groups: NDArray[np.int32]
    """The group of the base that each concept is in or nearest to, `(c,)`."""
    word_vectors: Vectors
    """The vectors of its content words, `(w, dims)`; each once."""

    @property
    def text(self) -> str:
        """The utterances in one text."""
        return " ".join(one.text for one in self.utterances)


@on_one_core()
def read_context(
    utterances: Sequence[Utterance], base: Base, *, encoder: Encoder, parser: Parser, latest: int = LATEST
) -> Context:
    """Read the latest utterances.

    Cost: a parse of each, a vector of each and of the whole; concepts and words that the base knows have theirs there,
    the others are encoded.
    """
    taken = tuple(one for one in utterances if one.text.strip())[-latest:]
    phrases = phrases_of([one.text for one in taken], parser)
    concepts = tuple(dict.fromkeys(concept for found, _ in phrases for concept in found))
    words = tuple(dict.fromkeys(word for _, found in phrases for word in found))
    known_concepts, known_words = base.concepts.places([*concepts]), base.words.places([*words])
    texts = [" ".join(one.text for one in taken), *(one.text for one in taken)]
    unknown = [one for one, at in zip((*concepts, *words), (*known_concepts, *known_words), strict=True) if at < 0]
    vectors = encoder.encode([*texts, *unknown])
    new = iter(vectors[len(texts) :])
    concept_vectors = _filled(base.concept_vectors(known_concepts), known_concepts, new)
    groups = nearest(concept_vectors, base.group_vectors)[0] if len(concepts) else np.empty(0, dtype=np.int32)
    groups[known_concepts >= 0] = base.concept_group[known_concepts[known_concepts >= 0]]
    return Context(
        utterances=taken,
        vector=vectors[0],
        utterance_vectors=vectors[1 : len(texts)],
        concepts=concepts,
        concept_vectors=concept_vectors,
        groups=groups,
        word_vectors=_filled(base.word_vectors(known_words), known_words, new),
    )


def _filled(rows: Vectors, known: NDArray[np.int64], new: Iterator[Vectors]) -> Vectors:
    """Return rows in which those of unknown names (-1) are the next new ones."""
    for place in np.flatnonzero(known < 0):
        rows[place] = next(new)
    return rows
