"""Turns as they are learned: words behind those of the turns before, frames over them, claims, what words refer to."""

from __future__ import annotations

import gzip
import pickle
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "corpus"))

import corpus
from roles import Span
from treebank import Sentence

from doxa.backends.parser.sequences import Said as Word

ROLES = sorted(corpus.ROLES)
FRAME_FLAGS = ("not", "past", "future", "over", "plan", "wish", "maybe", "if", "implied", "quoted")
ACTS = ("state", *sorted(corpus.ACTS))
PARTS = ("subject", "object", "verb", "from", "to", "on", "instead", "by")
"""What the words of a claim are to it."""
CLAIM_FLAGS = ("not", "plan", "wish", "maybe", "over", "withdraw", "minor", "correct")
PREPOSITIONS = frozenset("of in on at for with from to by about near under over between into".split())
OPEN = "open"
"""The relation that a word of the turn names: those that are too rare to be learned by name."""


@dataclass(frozen=True, slots=True)
class Told:
    """A claim in places of words: `spans` have parts as roles; where nothing is the object, the verb is."""

    anchor: int
    relation: str
    spans: tuple[Span, ...]
    flags: frozenset[str]


@dataclass(slots=True)
class Said:
    """A predicate in places of words."""

    word: int
    roles: tuple[Span, ...]
    flags: frozenset[str]
    act: str
    asks: str = ""


@dataclass(slots=True)
class Spoken:
    """A turn behind those before it."""

    name: str
    words: tuple[Word, ...]
    begin: int
    """The first word of the turn itself; its speaker is two before."""
    frames: list[Said] = field(default_factory=list)
    claims: list[Told] = field(default_factory=list)
    points: dict[int, int] = field(default_factory=dict)
    """From the last word of what refers to the last word of what it means."""
    lost: Counter[str] = field(default_factory=Counter)
    open_anchors: set[int] = field(default_factory=set)
    """Words on which a claim hangs that could not be placed."""
    open_points: set[int] = field(default_factory=set)
    """Words of which nobody said what they refer to."""
    marked: bool = False
    """Whether claims were marked in the words that say them, those of the turns before included; frames were not."""

    @property
    def forms(self) -> tuple[str, ...]:
        return tuple(word.form for word in self.words)

    @property
    def stands_alone(self) -> bool:
        """Whether nothing of what it says is in words of the turns before."""
        first = self.begin - 2
        spans = [span for frame in self.frames for span in frame.roles] + [
            s for claim in self.claims for s in claim.spans
        ]
        return all(span.start >= first for span in spans) and all(goal >= first for goal in self.points.values())

    def alone(self) -> Spoken:
        """The turn without those before it; it has to stand alone."""
        off = self.begin - 2

        def moved(spans: Iterable[Span]) -> tuple[Span, ...]:
            return tuple(Span(one.start - off, one.end - off, one.role) for one in spans)

        return replace(
            self,
            words=self.words[off:],
            begin=2,
            frames=[replace(one, word=one.word - off, roles=moved(one.roles)) for one in self.frames],
            claims=[replace(one, anchor=one.anchor - off, spans=moved(one.spans)) for one in self.claims],
            points={source - off: goal - off for source, goal in self.points.items()},
            open_anchors={at - off for at in self.open_anchors if at >= off},
            open_points={at - off for at in self.open_points},
        )


@dataclass(frozen=True, slots=True)
class Turns:
    """What `prepare_turns.py` writes."""

    train: list[Spoken]
    dev: list[Spoken]
    plain: list[Spoken]
    """Turns of which nothing is known."""
    trees: dict[str, Sentence]
    """By the names of turns."""
    relations: list[str]
    """Those that are learned by name; the first one is that of all others."""
    meanings: torch.Tensor
    """What relations mean, `(relations, 384)`."""


def load_turns(path: Path) -> Turns:
    """The file that was written."""
    found: Turns = pickle.loads(gzip.decompress(path.read_bytes()))
    return found
