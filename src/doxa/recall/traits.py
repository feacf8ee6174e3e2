"""What a turn is, whatever is asked of it: how much it says, whether it asks, and what kind of thing it tells."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.language import opening, stems
from doxa.memory import Pack, PackWriter, UserState
from doxa.recall.graph.sheet import Sheet

__all__ = ["KINDS", "TRAITS", "TurnTraits", "traits_of"]

KINDS = ("time", "place", "reason", "count", "name")
"""Kinds of things that a turn may tell: the tables of `traits.toml`, then numbers and capitalised names."""
TRAITS = ("content", "detail", "asks", "ends_asking", "addresses", *KINDS)
"""The columns, each 0 to 1."""
FEW, MANY = 3, 8
"""So many content words say something; so many say it in full."""
PLAIN = 8
"""So many content words a question has at most that tells nothing."""
SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
WORD = re.compile(r"[a-z]+(?:['\u2019][a-z]+)?|\d+")
YOU = frozenset("you your yours yourself you're you've you'd you'll u".split())
COUNT = frozenset(
    "one two three four five six seven eight nine ten dozen hundred thousand once twice couple several few".split()
)
NAME = re.compile(r"(?<=[a-z,;:'\u2019\"\-] )[A-Z][a-z]\w*")
STEPS = 255

Places = NDArray[np.integer[Any]]


class TurnTraits:
    """One row of traits a place, a byte each; synced turn by turn."""

    def __init__(self) -> None:
        self._rows = Sheet(dict.fromkeys(TRAITS, "u1"))

    def sync(self, state: UserState) -> None:
        """Read the turns that came since. Cost O(their text)."""
        for place in range(len(self._rows), len(state.places)):
            traits = np.rint(STEPS * traits_of(opening(state.turns[state.places[place]].text)))
            self._rows.add(**dict(zip(TRAITS, traits.tolist(), strict=True)))

    def of(self, places: Places, name: str) -> NDArray[np.float32]:
        """Return a trait of some places, `(k,) float32` from 0 to 1; 0 for a place below 0."""
        found: NDArray[np.float32] = self._rows.take(name, places).astype(np.float32) / np.float32(STEPS)
        found[np.less(places, 0)] = 0
        return found

    def save(self, writer: PackWriter, name: str) -> None:
        """Write them."""
        self._rows.save(writer, name)

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._rows.load(pack, name)


def traits_of(text: str) -> NDArray[np.float32]:
    """Return the traits of a text, `(len(TRAITS),) float32`. What it asks is left out of what it tells.

    Deterministic. Cost O(words).
    """
    sentences = [sentence for sentence in SENTENCE.findall(text) if sentence.strip()]
    asks = [_asks(sentence) for sentence in sentences]
    told = " ".join(sentence for sentence, share in zip(sentences, asks, strict=True) if share < 1)
    content = len(set(stems(told)))
    words = WORD.findall(told.casefold().replace("\u2019", "'"))
    counts = {
        "content": content / FEW,
        "detail": content / MANY,
        "asks": sum(asks) / max(len(sentences), 1),
        "ends_asking": asks[-1] if asks else 0.0,
        "addresses": sum(word in YOU for word in words) / 3,
        **{kind: float(_tells(words, kind)) for kind in _words()},
        "count": float(any(word.isdigit() or word in COUNT for word in words)),
        "name": len(NAME.findall(told)) / 3,
    }
    return np.array([min(counts[name], 1.0) for name in TRAITS], dtype=np.float32)


def _asks(sentence: str) -> float:
    """Return how far a sentence asks, 0 to 1: a long question tells as well ("I moved in May, so can you ...?")."""
    return min(1.0, PLAIN / max(len(set(stems(sentence))), 1)) if sentence.rstrip().endswith("?") else 0.0


def _tells(words: list[str], kind: str) -> bool:
    known = _words()[kind]
    return any(word in known for word in words) or any(f"{a} {b}" in known for a, b in pairwise(words))


@cache
def _words() -> dict[str, frozenset[str]]:
    table = tomllib.loads(files("doxa.recall").joinpath("traits.toml").read_text(encoding="utf-8"))
    return {kind: frozenset(row["words"]) for kind, row in table.items()}
