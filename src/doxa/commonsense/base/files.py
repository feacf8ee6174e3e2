"""The files of a base of knowledge: what they are called, and the card that says what they are."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.core.errors import InputError

__all__ = ["CARD", "FILES", "FORMAT", "Card", "Rows", "check_ids", "read_card", "save_rows", "write_card"]

FORMAT = 2
CARD = "base.json"

TEXTS = ("sentences", "concepts", "words", "events", "inferences")
ARRAYS = (
    "sentence_vectors",
    "sentence_truisms",
    "concept_vectors",
    "word_vectors",
    "event_vectors",
    "inference_vectors",
    "group_vectors",
    "concept_group",
)
ROWS = ("sentence_concepts", "sentence_words", "group_sentences", "event_inferences")
FILES = (
    *(f"{name}{end}" for name in TEXTS for end in (".txt", ".npy")),
    *(f"{name}.npy" for name in ARRAYS),
    *(f"{name}{end}.npy" for name in ROWS for end in ("_starts", "_ids")),
)
"""Every file of a base but its card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a base is made of, and by what."""

    encoder: str
    dims: int
    sentences: int
    concepts: int
    groups: int
    words: int
    events: int
    inferences: int
    sources: tuple[str, ...]
    """The names of the files it was built from."""
    nli: str = ""
    """Empty where there was none, so that nothing is known to be a truism."""
    format: int = FORMAT
    digest: str = ""
    """Of all that the base depends on: a base of the same digest need not be built again."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Lists of ids of different lengths, in two arrays: those of row i are `ids[starts[i]:starts[i + 1]]`."""

    starts: NDArray[np.int64]
    ids: NDArray[np.int32]

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        """Return the ids of one row."""
        return self.ids[self.starts[row] : self.starts[row + 1]]

    def of(self, rows: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ids of several rows, one after the other, and which of `rows` each belongs to."""
        sizes = self.sizes(rows)
        owner = np.repeat(np.arange(len(rows)), sizes)
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.ids[self.starts[rows][owner] + within], owner

    def sizes(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return how many ids each of some rows has."""
        sizes: NDArray[np.int64] = self.starts[rows + 1] - self.starts[rows]
        return sizes

    def check(self, below: int) -> None:
        """Raise ValueError where the arrays do not belong together, or an id is not 0 to below a number. O(ids)."""
        starts, ids = self.starts, self.ids
        if starts[0] != 0 or starts[-1] != len(ids) or (np.diff(starts) < 0).any():
            raise ValueError("its lists of ids do not fit each other")
        check_ids(ids, below)

    @classmethod
    def grouped(cls, keys: NDArray[np.integer[Any]], ids: NDArray[np.integer[Any]], rows: int) -> Rows:
        """Return the ids by key, in order; the keys are rows from 0 on."""
        order = np.argsort(keys, kind="stable")
        starts = np.zeros(rows + 1, dtype=np.int64)
        np.cumsum(np.bincount(keys, minlength=rows), out=starts[1:])
        return cls(starts, ids[order].astype(np.int32))


def check_ids(ids: NDArray[np.int32], below: int) -> None:
    """Raise ValueError where an id is not 0 to below a number. O(ids)."""
    if len(ids) and not 0 <= ids.min() <= ids.max() < below:
        raise ValueError(f"expected ids of 0 to {below - 1}, found {ids.min()} to {ids.max()}")


def read_card(folder: Path) -> Card:
    """Return the card of a base.

    Raises:
        InputError: there is none in this folder, it is not finished, or another version of Doxa made it.
    """
    path = folder / CARD
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise InputError(
                f"{path}: expected format {FORMAT}, it is {found['format']}. Build it again: doxa kb build FILE --to "
                f"{folder} --force"
            )
        return Card(**{**found, "sources": tuple(found["sources"])})
    except (FileNotFoundError, NotADirectoryError) as exc:
        raise InputError(
            f"There is no base of knowledge in {folder}. Make one: doxa kb build FILE --to {folder}"
        ) from exc
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise InputError(
            f"{path} cannot be read ({exc}). Build it again: doxa kb build FILE --to {folder} --force"
        ) from exc


def write_card(folder: Path, card: Card) -> None:
    """Write the card, last of all: files without one are not finished."""
    new = folder / f"{CARD}.new"
    new.write_text(json.dumps(asdict(card), indent=2) + "\n", encoding="utf-8")
    new.replace(folder / CARD)


def save_rows(path: Path, rows: Rows) -> None:
    """Write lists of ids to `path_starts.npy` and `path_ids.npy`."""
    np.save(path.with_name(f"{path.name}_starts.npy"), rows.starts)
    np.save(path.with_name(f"{path.name}_ids.npy"), rows.ids)
