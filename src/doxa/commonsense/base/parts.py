"""What a build has done so far, kept in a folder: a build that was interrupted goes on from there.

Parsing and encoding take long, so their results are appended to files block by block; after an interruption the whole
blocks count as done and the rest is cut off.
"""

from __future__ import annotations

import io
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.backends.nli import Nli
from doxa.backends.parser import Parser
from doxa.commonsense.base.files import CARD, FILES, Card, read_card
from doxa.commonsense.base.packing import Packed, packed
from doxa.commonsense.base.phrases import Phrases, phrases_of
from doxa.core.errors import InputError

__all__ = ["BLOCK", "FOLDER", "Parts", "Tell"]

BLOCK = 1_024
"""Texts that are parsed or encoded together, and the most that is lost by an interruption; seconds."""
FOLDER = "base.parts"
MARK = "of.txt"
PHRASES = "phrases.jsonl"

Work = Callable[[Sequence[str]], NDArray[Any]]
Rows = TypeVar("Rows", bound=NDArray[Any])
Tell = Callable[[str, int, int], None]
"""Is told the step, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The unfinished files of a base, in a folder inside that of the base."""

    base: Path
    tell: Tell

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self.base / FOLDER

    def begin(self, content: str, groups: str, *, afresh: bool) -> None:
        """Keep what was done of the very same content, and drop everything else.

        Args:
            content: stands for the texts and the models.
            groups: stands for how concepts are grouped; with another one only the groups are made again.
            afresh: drop everything.
        """
        mark = self.folder / MARK
        held = mark.read_text(encoding="utf-8").split("\n") if mark.is_file() else []
        if held == [content, groups] and not afresh:
            return
        if held[:1] != [content] or afresh:
            shutil.rmtree(self.folder, ignore_errors=True)
        for name in (CARD, "group_vectors.npy", "concept_group.npy"):
            (self.folder / name).unlink(missing_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        new = mark.with_suffix(".new")
        new.write_text(f"{content}\n{groups}", encoding="utf-8")
        new.replace(mark)

    def complete(self) -> bool:
        """Tell whether nothing is left to do but to put the files in their place."""
        return (self.folder / CARD).is_file()

    def finish(self) -> Card:
        """Put all files in the place of what was there. Whoever has the old base open keeps it.

        The old card goes first and the new one comes last, so that there is never a card over mixed files.
        """
        card = read_card(self.folder)
        (self.base / CARD).unlink(missing_ok=True)
        for name in FILES:
            if (self.folder / name).exists():  # else it was moved before an interruption
                (self.folder / name).replace(self.base / name)
        (self.folder / CARD).replace(self.base / CARD)
        shutil.rmtree(self.folder)
        return card

    def vectors(self, name: str, step: str, texts: Sequence[str], encoder: Encoder) -> Packed:
        """Return the vectors of texts `(n, dims)`, mapped from `name.npy`, which is written block by block."""
        none: Packed = np.empty((0, encoder.dims), dtype=np.int8)
        return self._blocks(name, step, texts, none, lambda block: packed(encoder.encode(block)))

    def truisms(self, name: str, step: str, texts: Sequence[str], nli: Nli) -> NDArray[np.float16]:
        """Return how far nothing at all entails each text `(n,)`, written block by block as well."""
        none = np.empty(0, dtype=np.float16)
        return self._blocks(name, step, texts, none, lambda block: nli.classify([("", text) for text in block])[:, 0])

    def _blocks(self, name: str, step: str, texts: Sequence[str], none: Rows, work: Work) -> Rows:
        """Return what comes of each text, of the kind of `none`, mapped from `name.npy`: written block by block."""
        path = self.folder / f"{name}.npy"
        head, width = _header((len(texts), *none.shape[1:]), none.dtype), math.prod(none.shape[1:]) * none.itemsize
        with path.open("ab") as file:
            rows = max(0, file.tell() - len(head)) // width
            if file.tell() < len(head):
                file.truncate(0)
                file.write(head)
            done = rows if rows == len(texts) else rows // BLOCK * BLOCK
            file.truncate(len(head) + done * width)
            for start in range(done, len(texts), BLOCK):
                self.tell(step, start, len(texts))
                file.write(work(texts[start : start + BLOCK]).astype(none.dtype).tobytes())
                _to_disk(file)
        self.tell(step, len(texts), len(texts))
        mapped: Rows = np.load(path, mmap_mode="r")
        return mapped

    def phrases(self, step: str, texts: Sequence[str], parser: Parser) -> Iterator[Phrases]:
        """Yield the concepts and words of texts, which are written block by block, one text on a line.

        Raises:
            InputError: what was written is broken, as after a power cut.
        """
        path = self.folder / PHRASES
        with path.open("a+b") as file:
            done = _whole_blocks(file, len(texts))
            for start in range(done, len(texts), BLOCK):
                self.tell(step, start, len(texts))
                found = phrases_of(texts[start : start + BLOCK], parser)
                file.write("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in found).encode())
                _to_disk(file)
        self.tell(step, len(texts), len(texts))
        with path.open(encoding="utf-8") as lines:
            try:
                for line in lines:
                    concepts, words = json.loads(line)
                    yield tuple(concepts), tuple(words)
            except ValueError as exc:
                raise InputError(
                    f"{path} is broken ({exc}). Build the base from the start: doxa kb build --force"
                ) from exc


def _header(shape: tuple[int, ...], kind: np.dtype[Any]) -> bytes:
    """Return how a file of numpy begins that holds an array of a shape."""
    out = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, described)
    return out.getvalue()


def _whole_blocks(file: BinaryIO, most: int) -> int:
    """Return how many lines of a file are done, in whole blocks, and cut off what follows them."""
    file.seek(0)
    lines = place = done = end = 0
    for line in file:
        if not line.endswith(b"\n"):
            break
        lines, place = lines + 1, place + len(line)
        if lines % BLOCK == 0 or lines == most:
            done, end = lines, place
    file.truncate(end)
    return done


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
