"""CoNLL-U -> sentences; sentences -> batches of tensors, with the noise of chat."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from doxa.backends.parser.features import SIZES, features
from doxa.backends.parser.lemmas import script

IGNORED = -100
MASK_ID, UNK_ID, CLS_ID, SEP_ID = 103, 100, 101, 102
MAX_PIECES_PER_WORD = 12
RENAMED = {  # labels of older treebanks, in the words of EWT since UD 2.15
    "obl:tmod": "obl:unmarked",
    "obl:npmod": "obl:unmarked",
    "nmod:tmod": "nmod:unmarked",
    "nmod:npmod": "nmod:unmarked",
    "flat:foreign": "flat",
}
SOURCES = ("EWT", "PUD", "ESLSpok", "Atis", "silver")


@dataclass(frozen=True, slots=True)
class Soft:
    """What an ensemble thinks of a sentence: probabilities of heads, labels, parts of speech."""

    arcs: NDArray[np.float16]  # (n, n + 1)
    labels: NDArray[np.float16]  # (n, labels), at the chosen head
    upos: NDArray[np.float16]  # (n, 17)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words with their analysis; `heads` count from 1, 0 is the root. An empty lemma is not known."""

    forms: tuple[str, ...]
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    source: str
    name: str = ""
    tags: tuple[int, ...] | None = None  # per word, a set of allowed tags as bits
    soft: Soft | None = None

    def keep(self, left: Sequence[int]) -> Sentence:
        """The sentence of the words at `left`, none of which hangs on a word that goes."""
        place = {0: 0} | {at + 1: new + 1 for new, at in enumerate(left)}
        soft = self.soft
        if soft is not None:
            arcs = soft.arcs[left][:, [0, *(at + 1 for at in left)]]
            soft = Soft(arcs / arcs.sum(1, keepdims=True).clip(1e-3), soft.labels[left], soft.upos[left])
        return replace(
            self,
            forms=tuple(self.forms[at] for at in left),
            lemmas=tuple(self.lemmas[at] for at in left),
            upos=tuple(self.upos[at] for at in left),
            heads=tuple(place.get(self.heads[at], IGNORED) for at in left),
            deprels=tuple(self.deprels[at] for at in left),
            tags=self.tags and tuple(self.tags[at] for at in left),
            soft=soft,
        )


@dataclass(frozen=True, slots=True)
class Inventory:
    """The classes of each task, in the order of the model's outputs."""

    upos: list[str]
    deprels: list[str]
    scripts: list[str]
    tags: list[str] = field(default_factory=lambda: ["O"])


def read(path: Path, source: str) -> list[Sentence]:
    """The sentences of a CoNLL-U file; empty nodes and ranges are left out."""
    return [sentence_of(rows, source, name) for name, rows in blocks(path)]


def blocks(path: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """The id and the words' columns of each sentence of a CoNLL-U file."""
    rows: list[list[str]] = []
    name = ""
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("# sent_id = "):
            name = line.removeprefix("# sent_id = ")
        elif line.startswith("#"):
            continue
        elif line:
            columns = line.split("\t")
            if columns[0].isdigit():
                rows.append(columns)
        elif rows:
            yield name, rows
            rows = []


def sentence_of(rows: list[list[str]], source: str, name: str) -> Sentence:
    """The sentence of a block of columns."""
    known = source not in ("ESLSpok", "Atis")  # no lemmas there, or of another convention
    return Sentence(
        forms=tuple(row[1].replace(" ", "") for row in rows),
        lemmas=tuple(row[2] if known and (row[2] != "_" or row[1] == "_") else "" for row in rows),
        upos=tuple(row[3] for row in rows),
        heads=tuple(int(row[6]) for row in rows),
        deprels=tuple(RENAMED.get(row[7], row[7]) for row in rows),
        source=source,
        name=name,
    )


def inventory(sentences: Sequence[Sentence], *, rare: int = 2, tags: Sequence[str] = ("O",)) -> Inventory:
    """The classes that occur; deprels and scripts seen less than `rare` times are left out."""
    upos = Counter(tag for one in sentences for tag in one.upos)
    deprels = Counter(label for one in sentences for label in one.deprels)
    scripts = Counter(
        script(form, lemma) for one in sentences for form, lemma in zip(one.forms, one.lemmas, strict=True) if lemma
    )
    return Inventory(
        upos=sorted(upos),
        deprels=sorted(label for label, count in deprels.items() if count > rare),
        scripts=sorted(s for s, count in scripts.items() if count >= rare),
        tags=list(tags),
    )


def disturb(sentence: Sentence, chooser: random.Random) -> Sentence:
    """The sentence as somebody in a hurry would type it: sometimes without capitals, or without punctuation."""
    draw = chooser.random()
    if draw < 0.10:
        sentence = _without(sentence, _ending(sentence))
    elif draw < 0.16:
        sentence = _without(sentence, _points(sentence))
    draw = chooser.random()
    if draw < 0.15:
        return replace(sentence, forms=tuple(form.lower() for form in sentence.forms))
    if draw < 0.17:
        return replace(sentence, forms=tuple(form.upper() for form in sentence.forms))
    if draw < 0.20 and sentence.forms[0][:1].isupper() and sentence.upos[0] != "PROPN":
        return replace(sentence, forms=(sentence.forms[0].lower(), *sentence.forms[1:]))
    return sentence


def _points(sentence: Sentence) -> set[int]:
    heads = set(sentence.heads)
    return {at for at, tag in enumerate(sentence.upos) if tag == "PUNCT" and at + 1 not in heads}


def _ending(sentence: Sentence) -> set[int]:
    return {len(sentence.forms) - 1} & _points(sentence)


def _without(sentence: Sentence, gone: set[int]) -> Sentence:
    left = [at for at in range(len(sentence.forms)) if at not in gone]
    return sentence.keep(left) if left and gone else sentence


class Batcher:
    """Sentences -> padded tensors."""

    def __init__(self, tokenizer: Tokenizer, classes: Inventory) -> None:
        """Takes the tokenizer of the encoder, without truncation, and the classes."""
        self._tokenizer = tokenizer
        self._upos = {tag: at for at, tag in enumerate(classes.upos)}
        self._deprels = {label: at for at, label in enumerate(classes.deprels)}
        self._scripts = {one: at for at, one in enumerate(classes.scripts)}
        self._all_tags = (1 << len(classes.tags)) - 1
        self._tag_count = len(classes.tags)
        self._labels = len(classes.deprels)
        self._pieces: dict[str, list[int]] = {}

    def pieces(self, form: str) -> list[int]:
        """The ids of a word's pieces, one at least."""
        if form not in self._pieces:
            ids = self._tokenizer.encode(form, add_special_tokens=False).ids[:MAX_PIECES_PER_WORD]
            self._pieces[form] = ids or [UNK_ID]
        return self._pieces[form]

    def batch(self, sentences: Sequence[Sentence], *, hide: float = 0.0) -> dict[str, torch.Tensor]:
        """One batch; a share `hide` of the pieces is masked."""
        pieces = [[self.pieces(form) for form in one.forms] for one in sentences]
        words = max(len(one) for one in pieces)
        length = 2 + max(sum(map(len, one)) for one in pieces)
        count = len(sentences)
        out = {
            "ids": torch.zeros((count, length), dtype=torch.long),
            "mask": torch.zeros((count, length), dtype=torch.long),
            "first": torch.zeros((count, words + 1), dtype=torch.long),
            "pool": torch.zeros((count, words + 1, length)),
            "features": torch.zeros((count, words + 1, len(SIZES)), dtype=torch.long),
            "source": torch.zeros(count, dtype=torch.long),
            "words": torch.zeros((count, words), dtype=torch.bool),
            "heads": torch.full((count, words), IGNORED),
            "deprels": torch.full((count, words), IGNORED),
            "upos": torch.full((count, words), IGNORED),
            "scripts": torch.full((count, words), IGNORED),
            "tags": torch.ones((count, words, self._tag_count), dtype=torch.bool),
        }
        for row, one in enumerate(sentences):
            self._fill(out, row, one, pieces[row])
        if hide:
            out["ids"] = self.hidden(out["ids"], hide)
        if any(one.soft is not None for one in sentences):
            self._soften(out, sentences, words)
        return out

    def hidden(self, ids: torch.Tensor, share: float) -> torch.Tensor:
        """The ids with a share of the pieces masked."""
        chosen = (torch.rand(ids.shape) < share) & (ids > CLS_ID) & (ids != SEP_ID)
        return ids.masked_fill(chosen, MASK_ID)

    def _fill(self, out: dict[str, torch.Tensor], row: int, one: Sentence, pieces: list[list[int]]) -> None:
        ids = [CLS_ID, *(piece for word in pieces for piece in word), SEP_ID]
        size = len(one.forms)
        out["ids"][row, : len(ids)] = torch.tensor(ids)
        out["mask"][row, : len(ids)] = 1
        out["pool"][row, 0, 0] = 1.0
        start = 1
        for at, word in enumerate(pieces, start=1):
            out["first"][row, at] = start
            out["pool"][row, at, start : start + len(word)] = 1.0 / len(word)
            start += len(word)
        out["features"][row, 1 : size + 1] = torch.from_numpy(features(one.forms))
        out["source"][row] = 0 if one.source == "silver" else SOURCES.index(one.source)
        out["words"][row, :size] = True
        out["heads"][row, :size] = torch.tensor(one.heads)
        out["deprels"][row, :size] = torch.tensor([self._deprels.get(label, IGNORED) for label in one.deprels])
        out["upos"][row, :size] = torch.tensor([self._upos.get(tag, IGNORED) for tag in one.upos])
        scripts = [
            self._scripts.get(script(form, lemma), IGNORED) if lemma else IGNORED
            for form, lemma in zip(one.forms, one.lemmas, strict=True)
        ]
        out["scripts"][row, :size] = torch.tensor(scripts)
        if one.tags is not None:
            allowed = [[bool(bits >> tag & 1) for tag in range(self._tag_count)] for bits in one.tags]
            out["tags"][row, :size] = torch.tensor(allowed)

    def _soften(self, out: dict[str, torch.Tensor], sentences: Sequence[Sentence], words: int) -> None:
        count = len(sentences)
        out["soft"] = torch.tensor([one.soft is not None for one in sentences])
        out["soft_arcs"] = torch.zeros((count, words, words + 1))
        out["soft_labels"] = torch.zeros((count, words, self._labels))
        out["soft_upos"] = torch.zeros((count, words, len(self._upos)))
        for row, one in enumerate(sentences):
            if one.soft is not None:
                size = len(one.forms)
                out["soft_arcs"][row, :size, : size + 1] = torch.from_numpy(one.soft.arcs.astype(np.float32))
                out["soft_labels"][row, :size] = torch.from_numpy(one.soft.labels.astype(np.float32))
                out["soft_upos"][row, :size] = torch.from_numpy(one.soft.upos.astype(np.float32))


def batches(
    sentences: Sequence[Sentence], *, words: int, chooser: random.Random | None = None
) -> Iterator[list[Sentence]]:
    """Groups of sentences of like length with about `words` words in all; shuffled when there is a chooser."""
    noise = chooser.random if chooser else lambda: 0.0
    ordered = sorted(sentences, key=lambda one: len(one.forms) + 4 * noise())
    groups: list[list[Sentence]] = [[]]
    size = 0
    for one in ordered:
        if groups[-1] and size + len(one.forms) > words:
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += len(one.forms)
    if chooser:
        chooser.shuffle(groups)
    yield from (group for group in groups if group)
