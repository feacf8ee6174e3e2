"""What a reader was taught: a small model on top of what it says, which mends its probabilities and names of relations.

    p'       = sigmoid(logit(p) + w . x)      how likely the user wants it kept; it is kept from `line` on
    relation = the reader's, unless v_r . x > STAYS for some r of those that were taught

The reader is surer than it is right, and is believed from `SURE` on. Once its probabilities are mended, they say how
often it is right, and the line lies elsewhere; whoever hears a taught reader is given p' moved by the difference, so
that the line is `SURE` for all of them. Untaught, the weights are zero, the line is `SURE`, and all stays as it was.

A file is a `.npz` without pickles, checked when it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from doxa.backends.parser import Heard, Line, Parse, Parser, Told, TurnReader
from doxa.core.errors import FormatError
from doxa.core.sealing import Seal
from doxa.memory import digest, load_arrays, save_arrays
from doxa.understand.hearing import SURE
from doxa.understand.teaching.heard import SIZE, features, log_odds

__all__ = ["STAYS", "Head", "TaughtReader", "load_head", "save_head", "taught", "taught_by"]

FORMAT: Final = "doxa-head-1"
STAYS: Final = 3.0
"""The log odds of the reader's own name of a relation against any other, before anything is learned."""
AGAIN: Final = "remove it, and `doxa teach` makes a new one"

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Head:
    """The weights of one user. Immutable: it is swapped whole."""

    weight: Array
    """`(SIZE,)`: what each feature adds to the log odds of a claim."""
    line: float = log_odds(SURE)
    """The log odds, mended, from which a claim is kept."""
    relations: tuple[str, ...] = ()
    """Those that marks gave in place of the reader's."""
    naming: Array
    """`(relations, SIZE)`: what each feature adds to the log odds of each."""
    marks: int = 0
    """Claims that it was fitted to."""
    own: bool = True
    """Whether they are those beside the memory; else nobody knows here what it repeats."""
    reader: str = ""
    """The reader whose claims they are."""

    @classmethod
    def untaught(cls) -> Self:
        """Return the head that changes nothing."""
        return cls(weight=np.zeros(SIZE, dtype=np.float32), naming=np.zeros((0, SIZE), dtype=np.float32))

    def mended(self, told: Told, lines: Sequence[Line]) -> Told:
        """Return a claim with the probability and the relation that were taught; the same one where nothing was.

        Deterministic. O(words of the turn), and one product of a matrix and a vector.
        """
        row = features(told, lines)
        relation, shift = self._named(told, row), float(self.weight @ row) + log_odds(SURE) - self.line
        p = round(1 / (1 + exp(-log_odds(told.p) - shift)), 4) if shift else told.p
        return told if (p, relation) == (told.p, told.relation) else replace(told, p=p, relation=relation)

    def odds(self, told: Told, lines: Sequence[Line]) -> float:
        """Return the log odds that a claim of the reader is wanted, mended and not moved."""
        return log_odds(told.p) + float(self.weight @ features(told, lines))

    def _named(self, told: Told, row: Array) -> str:
        if not self.relations:
            return told.relation
        scores = self.naming @ row
        scores[[at for at, name in enumerate(self.relations) if name == told.relation]] = -np.inf
        best = int(scores.argmax())
        return self.relations[best] if scores[best] > STAYS else told.relation

    def checksum(self) -> str:
        """Return a digest of everything that was learned; the same marks on the same claims give the same one."""
        return digest(_arrays(self))


class TaughtReader:
    """A `Parser` that reads turns, around another one: what that hears is mended by a head. It owns nothing."""

    def __init__(self, parser: Parser, reader: TurnReader, head: Head) -> None:
        """Wraps a parser; `reader` is the same one as a reader of turns."""
        self._parser, self._reader, self.head = parser, reader, head

    @property
    def name(self) -> str:
        """The name of the wrapped reader, with how many marks taught it."""
        return f"{self._parser.name}, taught by {self.head.marks} marks"

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Gives back the parses of the wrapped parser."""
        return self._parser.parse(sentences)

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """Gives back what each turn says, with the claims mended."""
        return [self._mended(heard, lines) for heard, lines in zip(self._reader.hear(turns), turns, strict=True)]

    def close(self) -> None:
        """Leaves the wrapped parser open: it belongs to others."""

    def _mended(self, heard: Heard, lines: Sequence[Line]) -> Heard:
        return replace(heard, claims=tuple(self.head.mended(told, lines) for told in heard.claims))


def taught(parser: Parser, head: Head | None) -> Parser:
    """Return a parser whose claims are mended by a head; the same parser where there is none, or it reads no turns."""
    return TaughtReader(parser, parser, head) if head is not None and isinstance(parser, TurnReader) else parser


def taught_by(parser: Parser) -> int:
    """Return how many marks taught a parser; 0 for one that nobody taught."""
    return parser.head.marks if isinstance(parser, TaughtReader) else 0


def load_head(path: Path, *, seal: Seal | None = None) -> Head:
    """Return the head of a file, which `seal` opens where it is encrypted.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is no such file, is damaged, or was made by a version that reads claims differently.
    """
    missing = f"There is no head at {path}. `doxa teach` makes one."
    arrays = load_arrays(path, format=FORMAT, what="a head", missing=missing, again=AGAIN, seal=seal)
    try:
        return _head(arrays)
    except (KeyError, ValueError) as exc:
        raise FormatError(f"the arrays do not fit together ({exc}); {AGAIN}", path=str(path)) from exc


def save_head(head: Head, path: Path, *, seal: Seal | None = None) -> None:
    """Write a head to a file, in one step: a reader sees the old file or the new one, whole; `seal` encrypts it.

    Raises:
        StoreReadOnlyError: the file cannot be written.
    """
    save_arrays(_arrays(head), path, seal=seal)


def _arrays(head: Head) -> dict[str, NDArray[Any]]:
    return {
        "format": np.array(FORMAT),
        "weight": head.weight,
        "line": np.array(head.line),
        "relations": np.array(list(head.relations), dtype=np.str_),
        "naming": head.naming,
        "marks": np.array(head.marks),
        "own": np.array(head.own),
        "reader": np.array(head.reader),
    }


def _head(arrays: dict[str, NDArray[Any]]) -> Head:
    relations = tuple(map(str, arrays["relations"]))
    for name, shape in (("weight", (SIZE,)), ("naming", (len(relations), SIZE))):
        if arrays[name].shape != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {arrays[name].shape}")
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name}: expected finite numbers")
    if not isfinite(line := float(arrays["line"])):
        raise ValueError(f"line: expected a finite number, got {line}")
    return Head(
        weight=arrays["weight"].astype(np.float32),
        line=line,
        relations=relations,
        naming=arrays["naming"].astype(np.float32),
        marks=int(arrays["marks"]),
        own=bool(arrays["own"]),
        reader=str(arrays["reader"]),
    )
