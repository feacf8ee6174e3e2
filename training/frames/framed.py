"""Sentences with frames, and batches of them."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import torch
from decomp import TRAITS, Traits
from roles import Frame, heads_of, labels_of
from tokenizers import Tokenizer
from treebank import IGNORED, Batcher, Inventory, Sentence


@dataclass(frozen=True, slots=True)
class Marks:
    """What is known of each word as a predicate or argument; -100 or NaN where nothing is."""

    kinds: tuple[int, ...]
    tenses: tuple[int, ...]
    negated: tuple[int, ...]
    durations: tuple[int, ...]
    traits: Traits

    def keep(self, left: Sequence[int]) -> Marks:
        """Those of the words at `left`."""
        lists = {
            name: tuple(getattr(self, name)[at] for at in left) for name in ("kinds", "tenses", "negated", "durations")
        }
        return Marks(traits=self.traits[list(left)], **lists)


@dataclass(frozen=True, slots=True)
class Framed(Sentence):
    """A sentence with its frames; without marks, neither is known."""

    marks: Marks | None = None
    frames: tuple[Frame, ...] = ()

    def keep(self, left: Sequence[int]) -> Framed:
        """As of `Sentence`; frames of words that go are left out."""
        place = {at: new for new, at in enumerate(left)}
        kept = Sentence.keep(self, left)
        return replace(
            kept,
            marks=self.marks and self.marks.keep(left),
            frames=tuple(one.keep(place) for one in self.frames if one.predicate in place),
        )


def framed(one: Sentence) -> Framed:
    """The same sentence, with room for frames."""
    return Framed(**{part.name: getattr(one, part.name) for part in fields(one)})


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `prepare.py` writes."""

    train: list[Framed]
    dev: list[Framed]
    test: list[Framed]
    plain: list[Sentence]
    classes: Inventory
    roles: list[str]


def load(path: Path) -> Prepared:
    """The file that was written."""
    prepared: Prepared = pickle.loads(gzip.decompress(path.read_bytes()))
    return prepared


class FrameBatcher(Batcher):
    """Sentences -> padded tensors; the frames of a batch are in one list."""

    def __init__(self, tokenizer: Tokenizer, classes: Inventory, roles: Sequence[str]) -> None:
        """As of `Batcher`, and the roles."""
        super().__init__(tokenizer, classes)
        self.tag_names, self.label_names = tuple(classes.upos), tuple(classes.deprels)
        self.roles = {role: at for at, role in enumerate(roles)}

    def batch(self, sentences: Sequence[Sentence], *, hide: float = 0.0) -> dict[str, torch.Tensor]:
        """One batch; a share `hide` of the pieces is masked, and given as they were under `plain`."""
        out = super().batch(sentences)
        out["plain"] = out["ids"]
        if hide:
            out["ids"] = self.hidden(out["ids"], hide)
        count, size = out["words"].shape
        for name in ("kinds", "tenses", "negated", "durations"):
            out[name] = torch.full((count, size), IGNORED)
        out["traits"] = torch.full((count, size, len(TRAITS)), torch.nan)
        for row, one in enumerate(sentences):
            if isinstance(one, Framed) and one.marks is not None:
                self._mark(out, row, one.marks)
        return out | self._frames(sentences, size)

    def _mark(self, out: dict[str, torch.Tensor], row: int, marks: Marks) -> None:
        size = len(marks.kinds)
        for name in ("kinds", "tenses", "negated", "durations"):
            out[name][row, :size] = torch.tensor(getattr(marks, name))
        out["traits"][row, :size] = torch.from_numpy(marks.traits)

    def _frames(self, sentences: Sequence[Sentence], size: int) -> dict[str, torch.Tensor]:
        known = [
            (row, one, frame) for row, one in enumerate(sentences) if isinstance(one, Framed) for frame in one.frames
        ]
        labels = np.full((len(known), size), IGNORED)
        heads = np.full((len(known), size), IGNORED)
        for at, (_, one, frame) in enumerate(known):
            labels[at, : len(one.forms)] = labels_of(frame.spans, len(one.forms), self.roles)
            heads[at, : len(one.forms)] = heads_of(frame.spans, one.heads, self.roles)
        return {
            "frame_rows": torch.tensor([row for row, _, _ in known], dtype=torch.long),
            "frame_words": torch.tensor([frame.predicate for _, _, frame in known], dtype=torch.long),
            "role_labels": torch.from_numpy(labels),
            "role_heads": torch.from_numpy(heads),
        }
