"""Files of sentences and inferences -> a base of knowledge in a folder.

What takes long (parsing and encoding) is done in blocks, each kept in a file of its own until the end: a build that was
interrupted goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.backends.parser import Parser
from doxa.commonsense.base.files import CARD, FORMAT, Card, Rows, save, write_card
from doxa.commonsense.base.groups import grouped
from doxa.commonsense.base.phrases import phrases_of
from doxa.commonsense.base.reading import Tuple, read_sentences, read_tuples
from doxa.commonsense.base.texts import write_texts
from doxa.commonsense.statements import neutral, statement
from doxa.core.errors import InputError

__all__ = ["build"]

BLOCK = 4_096
PARTS = "parts"

Tell = Callable[[str, int, int], None]
Half = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class _Making:
    """What every step of a build needs."""

    folder: Path
    encoder: Encoder
    parser: Parser
    tell: Tell

    @property
    def parts(self) -> Path:
        return self.folder / PARTS


def build(
    files: Sequence[Path],
    folder: Path,
    *,
    encoder: Encoder,
    parser: Parser,
    inferences: Sequence[Path] = (),
    groups: int | None = None,
    seed: int = 0,
    tell: Tell | None = None,
) -> Card:
    """Build a base of knowledge, or go on with a build of the same that was interrupted.

    Args:
        files: of sentences, in any form that `read_sentences` knows; a sentence that comes twice is kept once.
        folder: where it is put; made where it is missing. A finished base of other content is replaced.
        encoder: makes the vectors; the base can only be used with the same.
        parser: finds concepts and words.
        inferences: files of events and what follows from them (`read_tuples`), for the built-in reasoner.
        groups: of concepts; by default one for every 40 concepts.
        seed: of the groups.
        tell: is told the step, how much of it is done, and how much there is.

    Raises:
        InputError: a file cannot be read or holds no sentence.

    Cost: one parse and one vector for each sentence, one vector for each concept and word: about 260 sentences a
    second on two cores; 0.9 KB on disk for each, beside its text, and 2 KB while it is built.
    """
    sentences = list(dict.fromkeys(chain.from_iterable(read_sentences(path) for path in files)))
    if not sentences:
        raise InputError(f"Expected sentences in {', '.join(map(str, files)) or 'a file'}, found none.")
    tuples = list(dict.fromkeys(chain.from_iterable(read_tuples(path) for path in inferences)))
    making = _Making(folder, encoder, parser, tell or (lambda step, done, whole: None))
    _start(making, sentences, tuples)
    vectors, concepts, words = _sentences(making, sentences)
    concept_names, of_concept = _vocabulary(concepts)
    word_names, of_word = _vocabulary(words)
    concept_vectors = _encoded(making, "concepts", concept_names)
    word_vectors = _encoded(making, "words", word_names)
    centres, group = grouped(
        concept_vectors, groups=groups, seed=seed, tell=lambda done, whole: making.tell("groups", done, whole)
    )
    events = _inferences(making, tuples)
    (folder / CARD).unlink(missing_ok=True)
    write_texts(folder / "sentences", sentences)
    write_texts(folder / "concepts", concept_names)
    write_texts(folder / "words", word_names)
    save(folder / "sentence_vectors.npy", vectors)
    save(folder / "concept_vectors.npy", concept_vectors)
    save(folder / "word_vectors.npy", word_vectors)
    save(folder / "group_vectors.npy", centres.astype(np.float32))
    save(folder / "concept_group.npy", group)
    _save_rows(folder / "sentence_concepts", of_concept)
    _save_rows(folder / "sentence_words", of_word)
    _save_rows(folder / "group_sentences", _by_group(of_concept, group, len(centres)))
    card = Card(
        encoder=encoder.name,
        dims=encoder.dims,
        sentences=len(sentences),
        concepts=len(concept_names),
        groups=len(centres),
        words=len(word_names),
        events=events,
        inferences=len(tuples),
        sources=tuple(path.name for path in (*files, *inferences)),
    )
    write_card(folder, card)
    shutil.rmtree(making.parts)
    return card


def _start(making: _Making, sentences: Sequence[str], tuples: Sequence[Tuple]) -> None:
    """Keep the parts of an interrupted build of the very same, and drop all others."""
    digest = hashlib.sha256(f"{FORMAT} {making.encoder.name} {making.parser.name} {BLOCK}\n".encode())
    for line in (*sentences, *map("\t".join, tuples)):
        digest.update(line.encode("utf-8", "replace") + b"\n")
    mark = making.parts / "of.txt"
    if not mark.is_file() or mark.read_text(encoding="utf-8") != digest.hexdigest():
        shutil.rmtree(making.parts, ignore_errors=True)
        making.parts.mkdir(parents=True)
        mark.write_text(digest.hexdigest(), encoding="utf-8")


def _sentences(making: _Making, sentences: Sequence[str]) -> tuple[Half, list[list[str]], list[list[str]]]:
    """Return the vectors of the sentences, and the concepts and words of each."""
    vectors = _encoded(making, "sentences", sentences)
    concepts: list[list[str]] = []
    words: list[list[str]] = []
    for start in range(0, len(sentences), BLOCK):
        making.tell("concepts", start, len(sentences))
        path = making.parts / f"phrases-{start:09}.txt"
        if not path.is_file():
            found = phrases_of(sentences[start : start + BLOCK], making.parser)
            lines = ("\t".join(("|".join(first), "|".join(second))) for first, second in found)
            new = path.with_suffix(".new")
            new.write_text("\n".join(lines), encoding="utf-8")
            new.replace(path)
        for line in path.read_text(encoding="utf-8").split("\n"):
            first, _, second = line.partition("\t")
            concepts.append([one for one in first.split("|") if one])
            words.append([one for one in second.split("|") if one])
    making.tell("concepts", len(sentences), len(sentences))
    return vectors, concepts, words


def _encoded(making: _Making, step: str, texts: Sequence[str]) -> Half:
    """Return the vectors of texts `(n, dims)`, block by block."""
    blocks = []
    for start in range(0, len(texts), BLOCK):
        making.tell(f"vectors of {step}", start, len(texts))
        path = making.parts / f"{step.replace(' ', '-')}-{start:09}.npy"
        if not path.is_file():
            save(path, making.encoder.encode(texts[start : start + BLOCK]).astype(np.float16))
        blocks.append(np.load(path))
    making.tell(f"vectors of {step}", len(texts), len(texts))
    return np.concatenate(blocks) if blocks else np.empty((0, making.encoder.dims), dtype=np.float16)


def _vocabulary(lists: Sequence[Sequence[str]]) -> tuple[list[str], Rows]:
    """Return the distinct names, sorted by their bytes, and which of them each list holds."""
    names = sorted(set(chain.from_iterable(lists)), key=lambda name: name.encode("utf-8", "replace"))
    number = {name: place for place, name in enumerate(names)}
    starts = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in lists], out=starts[1:])
    return names, Rows(starts, np.fromiter((number[name] for one in lists for name in one), dtype=np.int32))


def _by_group(of_concept: Rows, group: NDArray[np.int32], groups: int) -> Rows:
    """Return the sentences of each group, each once and in order."""
    sentences = np.repeat(np.arange(len(of_concept.starts) - 1), np.diff(of_concept.starts))
    pairs = np.unique(group[of_concept.ids].astype(np.int64) * len(of_concept.starts) + sentences)
    return Rows.grouped(pairs // len(of_concept.starts), pairs % len(of_concept.starts), groups)


def _inferences(making: _Making, tuples: Sequence[Tuple]) -> int:
    """Write the events with their vectors, and the inferences of each; returns how many events there are."""
    names = list(dict.fromkeys(event for event, _, _ in tuples))
    number = {event: place for place, event in enumerate(names)}
    ordered = sorted(tuples, key=lambda one: number[one[0]])
    folder = making.folder
    said = [neutral(event) for event in names]
    follows = [statement(*one) for one in ordered]
    save(folder / "event_vectors.npy", _encoded(making, "events", said))
    save(folder / "inference_vectors.npy", _encoded(making, "inferences", follows))
    write_texts(folder / "events", names)
    write_texts(folder / "inferences", ["\t".join(one[1:]) for one in ordered])
    owners = np.array([number[event] for event, _, _ in ordered], dtype=np.int64)
    _save_rows(folder / "event_inferences", Rows.grouped(owners, np.arange(len(ordered)), len(names)))
    return len(names)


def _save_rows(path: Path, rows: Rows) -> None:
    save(path.with_name(f"{path.name}_starts.npy"), rows.starts)
    save(path.with_name(f"{path.name}_ids.npy"), rows.ids)

