"""Files of sentences and inferences -> a base of knowledge in a folder."""

from __future__ import annotations

import errno
import hashlib
import os
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.backends.nli import Nli
from doxa.backends.parser import Parser
from doxa.commonsense.base.base import KnowledgeBase
from doxa.commonsense.base.files import CARD, FILES, FORMAT, Card, Rows, save_rows, write_card
from doxa.commonsense.base.groups import grouped
from doxa.commonsense.base.packing import Packed
from doxa.commonsense.base.parts import BLOCK, FOLDER, Parts, Tell
from doxa.commonsense.base.reading import Tuple, read_sentences, read_tuples
from doxa.commonsense.base.texts import write_texts
from doxa.commonsense.statements import neutral, statement
from doxa.core.errors import InputError, StoreError, StoreFullError, StoreLockedError, StoreReadOnlyError

try:
    import fcntl
except ImportError:  # Windows has none: there, nothing keeps two builds apart
    fcntl = None  # type: ignore[assignment]

__all__ = ["build"]


def build(
    files: Sequence[Path],
    folder: Path,
    *,
    encoder: Encoder,
    parser: Parser,
    nli: Nli | None = None,
    inferences: Sequence[Path] = (),
    groups: int | None = None,
    seed: int = 0,
    force: bool = False,
    tell: Tell | None = None,
) -> Card:
    """Build a base of knowledge, or go on with a build of the same that was interrupted.

    The same texts, models, groups and seed give the same files, byte by byte on one machine; a finished base of them is
    left as it is. A base of others in that folder stays usable until the new one takes its place, all files at once.

    Args:
        files: of sentences, in any form that `read_sentences` knows; a sentence that comes twice is kept once.
        folder: where it is put; made where it is missing.
        encoder, parser: make vectors, find concepts and words; the base can only be used with the same encoder.
        nli: tells truisms; without one, no sentence counts as one.
        inferences: files of events and what follows from them (`read_tuples`), for the built-in reasoner.
        groups, seed: of concepts; by default one group for every 100.
        force: build it from the start, also where it is finished or was begun.
        tell: is told how far it is; of a base that is finished already, nothing.

    Raises:
        InputError: a file cannot be read or holds no sentence, none has a concept, or the folder holds something else.
        StoreError: the folder cannot be written, is full, or another build is at work there; what was done is kept.
        BackendError: a model failed; what was done is kept.

    Cost: 220 sentences a second on two cores: a parse, a vector and an NLI pair for each, a vector for each concept and
    word. In memory the texts and at most 0.5 GB for the groups; on disk 0.4 KB for each text and name.
    """
    sentences, tuples = _read(files, inferences)
    content, grouping = _digest(sentences, tuples, (encoder, parser, nli)), _grouping(groups, seed)
    digest = hashlib.sha256(f"{content} {grouping}".encode()).hexdigest()
    if not force and (card := _finished(folder, digest)):
        return card
    with _writing(folder):
        parts = Parts(folder, tell or (lambda step, done, whole: None))
        parts.begin(content, grouping, afresh=force)
        if not parts.complete():
            _truisms(parts, sentences, nli)
            _groups(parts, *_sentences(parts, sentences, encoder, parser), groups, seed)
            _inferences(parts, tuples, encoder)
            write_card(parts.folder, _card(parts.folder, encoder, nli, (*files, *inferences), digest))
        return parts.finish()


def _read(files: Sequence[Path], inferences: Sequence[Path]) -> tuple[list[str], list[Tuple]]:
    """Return the distinct sentences and inferences of files, in order."""
    sentences = list(dict.fromkeys(chain.from_iterable(read_sentences(path) for path in files)))
    if not sentences:
        raise InputError("Expected files of sentences, got none.")
    return sentences, list(dict.fromkeys(chain.from_iterable(read_tuples(path) for path in inferences)))


def _grouping(groups: object, seed: object) -> str:
    """Return what stands for how concepts are grouped."""
    if groups is not None and (not isinstance(groups, int) or groups < 1):
        raise InputError(f"Expected a number of groups of concepts, 1 or more; got {groups!r}.")
    if not isinstance(seed, int) or seed < 0:
        raise InputError(f"Expected a seed of 0 or more, got {seed!r}.")
    return f"{groups} {seed}"


def _digest(sentences: Sequence[str], tuples: Sequence[Tuple], models: Sequence[Encoder | Parser | Nli | None]) -> str:
    """Return what stands for the texts, how inferences are put into words, and the models."""
    names = " ".join(model.name if model else "none" for model in models)
    found = hashlib.sha256(f"{FORMAT} {names} {BLOCK} {len(sentences)}\n".encode())
    for line in chain(sentences, ("\t".join((*one, statement(*one))) for one in tuples)):
        found.update(line.encode() + b"\n")
    return found.hexdigest()


def _finished(folder: Path, digest: str) -> Card | None:
    """Return the card of the base that is there, if it is this one and whole."""
    try:
        card = KnowledgeBase(folder).card
    except InputError:
        return None
    return card if card.digest == digest else None


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Make the folder if need be, and say in our words what the disk says."""
    kept = "What was done is kept: build it again to go on."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        if held and not {CARD, FOLDER}.intersection(held) and not set(FILES) <= set(held):
            raise InputError(f"Expected an empty folder, or one with a base of knowledge: {folder} holds {held[0]!r}.")
        with _alone(folder):
            yield
    except (FileExistsError, NotADirectoryError) as exc:
        raise InputError(f"Expected a folder for the base of knowledge, {exc.filename} is a file.") from exc
    except OSError as exc:
        if exc.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFullError(f"No room is left for the base of knowledge in {folder}. {kept}") from exc
        if exc.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise StoreReadOnlyError(f"{exc.filename or folder} cannot be written: {exc.strerror}. {kept}") from exc
        raise StoreError(f"{exc.filename or folder} cannot be written: {exc}. {kept}") from exc


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep every other build out of a folder; the system lets go of it, however this process ends."""
    if fcntl is None:
        yield
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as exc:
        raise StoreLockedError(f"Another build is at work in {folder}. Wait for it, or choose another folder.") from exc
    finally:
        os.close(held)


def _sentences(parts: Parts, sentences: Sequence[str], encoder: Encoder, parser: Parser) -> tuple[Rows, Packed]:
    """Write the sentences, their concepts and words, and the vectors of all; returns what the groups need."""
    folder = parts.folder
    parts.vectors("sentence_vectors", "vectors of sentences", sentences, encoder)
    concepts, words = _Names(), _Names()
    for of_concepts, of_words in parts.phrases("concepts", sentences, parser):
        concepts.add(of_concepts)
        words.add(of_words)
    word_names, of_word = words.ordered()
    concept_names, of_concept = concepts.ordered()
    if not concept_names:
        raise InputError(
            f"Expected English sentences that say something of things; the parser found no concept (a noun phrase) in "
            f"any of {len(sentences):,}, such as {sentences[0][:60]!r}, so nothing could be found by them."
        )
    parts.vectors("word_vectors", "vectors of words", word_names, encoder)
    write_texts(folder / "sentences", sentences)
    write_texts(folder / "concepts", concept_names)
    write_texts(folder / "words", word_names)
    save_rows(folder / "sentence_concepts", of_concept)
    save_rows(folder / "sentence_words", of_word)
    return of_concept, parts.vectors("concept_vectors", "vectors of concepts", concept_names, encoder)


def _groups(parts: Parts, of_concept: Rows, vectors: Packed, groups: int | None, seed: int) -> None:
    """Write the groups of the concepts, and the sentences of each; the groups are made once."""
    centres_at, group_at = parts.folder / "group_vectors.npy", parts.folder / "concept_group.npy"
    if not group_at.exists():  # the last of the two, written under another name first
        tell = partial(parts.tell, "groups")
        centres, group = grouped(vectors, groups=groups, seed=seed, tell=tell)
        np.save(centres_at, centres)
        new = group_at.with_suffix(".new.npy")
        np.save(new, group)
        new.replace(group_at)
    by_group = _by_group(of_concept, np.load(group_at), len(np.load(centres_at, mmap_mode="r")))
    save_rows(parts.folder / "group_sentences", by_group)


class _Names:
    """Distinct names with a number each, and which of them each text has."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._ids = array("i")
        self._sizes = array("i")

    def add(self, names: Sequence[str]) -> None:
        """Take the names of the next text."""
        self._ids.extend(self._number.setdefault(name, len(self._number)) for name in names)
        self._sizes.append(len(names))

    def ordered(self) -> tuple[list[str], Rows]:
        """Return the names sorted by their bytes, and the names of each text by their new places."""
        names = sorted(self._number, key=str.encode)
        place = np.empty(len(names), dtype=np.int32)
        place[[self._number[name] for name in names]] = np.arange(len(names), dtype=np.int32)
        starts = np.zeros(len(self._sizes) + 1, dtype=np.int64)
        np.cumsum(self._sizes, out=starts[1:])
        return names, Rows(starts, place[np.array(self._ids, dtype=np.int32)])


def _by_group(of_concept: Rows, group: NDArray[np.int32], groups: int) -> Rows:
    """Return the sentences of each group, each once and in order."""
    sentences = np.repeat(np.arange(len(of_concept.starts) - 1), np.diff(of_concept.starts))
    pairs = np.unique(group[of_concept.ids].astype(np.int64) * len(of_concept.starts) + sentences)
    return Rows.grouped(pairs // len(of_concept.starts), pairs % len(of_concept.starts), groups)


def _inferences(parts: Parts, tuples: Sequence[Tuple], encoder: Encoder) -> None:
    """Write the events, the inferences of each, and the vectors of both."""
    folder = parts.folder
    names = list(dict.fromkeys(event for event, _, _ in tuples))
    number = {event: place for place, event in enumerate(names)}
    ordered = sorted(tuples, key=lambda one: number[one[0]])
    parts.vectors("event_vectors", "vectors of events", [neutral(event) for event in names], encoder)
    follows = [statement(*one) for one in ordered]
    parts.vectors("inference_vectors", "vectors of inferences", follows, encoder)
    write_texts(folder / "events", names)
    write_texts(folder / "inferences", ["\t".join(one[1:]) for one in ordered])
    owners = np.array([number[event] for event, _, _ in ordered], dtype=np.int64)
    save_rows(folder / "event_inferences", Rows.grouped(owners, np.arange(len(ordered)), len(names)))


def _truisms(parts: Parts, sentences: Sequence[str], nli: Nli | None) -> None:
    """Write how far nothing at all entails each sentence."""
    if nli is None:
        np.save(parts.folder / "sentence_truisms.npy", np.zeros(len(sentences), dtype=np.float16))
    else:
        parts.truisms("sentence_truisms", "truisms", sentences, nli)


def _card(folder: Path, encoder: Encoder, nli: Nli | None, files: Sequence[Path], digest: str) -> Card:
    """Return the card of the files that lie in a folder."""
    texts = ("sentences", "concepts", "words", "events", "inferences")
    counts = {name: len(np.load(folder / f"{name}.npy", mmap_mode="r")) - 1 for name in texts}
    groups = len(np.load(folder / "group_vectors.npy", mmap_mode="r"))
    sources = tuple(path.name for path in files)
    judged = nli.name if nli else ""
    return Card(
        encoder=encoder.name, dims=encoder.dims, groups=groups, sources=sources, nli=judged, digest=digest, **counts
    )
