"""chains: question, names in it -> sentences that lead from one of them to the answer, each held by what was said last.

"At what location did the author of Endymion breathe his last?": from Endymion over "The author of X is Y." to a man,
over "Y died in the city of Z." to a city. A chain is read as its sentences with letters for the names, and held
against the question with the letter for the name that it starts from; that needs no grammar of either.

Source: D-SMART searches the graph for such chains with a language model that proposes each step (section "Reasoning
Tree for Memory Traversal"). Here all of them are laid out and compared at once, by the vectors of the encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from doxa.memory import MentionIndex, Tie

__all__ = ["Chain", "Hop", "best_chains"]

LETTERS = "XYZWV"
HOPS = 4
FAN = 4
"""Things that one sentence with a name left open may lead to; what leads to more leads nowhere in particular."""
NEAR = 40
"""Sentences that are looked at from one name, the latest."""
STARTS = 8
"""Names of a question from which chains are looked for."""
LOOKED_AT = 400
"""Sentences of a name that are looked at for those, also the latest: most of what is said of a hub may not count."""
BEAM = 12
"""Chains that are compared as a whole."""
Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Hop:
    """A sentence that leads from one of its names to another."""

    tie: Tie
    source: int
    target: int
    """Numbers of the names in the sentence."""
    alike: tuple[Hop, ...] = ()
    """What the same sentence says of other things, where it holds of all: "Lena plays X"."""

    def told(self, here: str, there: str) -> str:
        """Return the sentence with letters for both names."""
        return self.tie.masked(sorted([(self.source, here), (self.target, there)]))


@dataclass(frozen=True, slots=True)
class Chain:
    """Hops from a name of the question to an answer, and how near they are to the question."""

    start: tuple[int, int]
    """Where the question names what it starts from."""
    hops: tuple[Hop, ...]
    score: float = 0.0

    @property
    def values(self) -> tuple[str, ...]:
        """What it leads to, as it was first said to last."""
        last = self.hops[-1]
        return tuple(dict.fromkeys(hop.tie.name(hop.target) for hop in reversed((last, *last.alike))))

    def told(self) -> str:
        """Return its sentences with letters for the names."""
        return " ".join(hop.told(LETTERS[at], LETTERS[at + 1]) for at, hop in enumerate(self.hops))


def best_chains(question: str, index: MentionIndex, encode: Encode, counts: Callable[[Tie], bool]) -> list[Chain]:
    """Return the chains that are nearest to a question, best first.

    Args:
        question: as it was asked.
        index: what sentences tie.
        encode: makes vectors; those of sentences with letters are worth keeping.
        counts: tells whether a sentence may be a step; no others are read.

    Chains begin at the first `STARTS` names of the question. Cost: O(sentences around them, to `HOPS`), and a vector
    for each that differs.
    """
    found: list[Chain] = []
    named = {key: (start, end) for start, end, key in reversed(index.named_in(question))}
    for key, (start, end) in islice(reversed(named.items()), STARTS):
        asked = encode([f"{question[:start]}X{question[end:]}"])[0]
        chains = list(_chains((start, end), key, index, asked, encode, counts))
        if not chains:
            continue
        rough = np.array([chain.score for chain in chains])
        kept = [chains[at] for at in np.argsort(-rough)[:BEAM]]
        vectors = encode([chain.told() for chain in kept])
        found += [
            Chain(chain.start, chain.hops, float(vector @ asked)) for chain, vector in zip(kept, vectors, strict=True)
        ]
    return sorted(found, key=lambda chain: -chain.score)


def _chains(
    start: tuple[int, int],
    key: str,
    index: MentionIndex,
    asked: NDArray[np.float32],
    encode: Encode,
    counts: Callable[[Tie], bool],
) -> Iterator[Chain]:
    """Yield the chains from a name, a beam of each length, with how near the sum of their sentences is."""
    level: list[tuple[Chain, NDArray[np.float32], frozenset[str]]] = [
        (Chain(start, ()), np.zeros_like(asked), frozenset((key,)))
    ]
    for _ in range(HOPS):
        following = []
        for chain, total, seen in level:
            here = chain.hops[-1].tie.keys[chain.hops[-1].target] if chain.hops else key
            hops = [hop for hop in _hops(here, index, counts) if hop.tie.keys[hop.target] not in seen]
            if not hops:
                continue
            for hop, vector in zip(hops, encode([hop.told("X", "Y") for hop in hops]), strict=True):
                summed = total + vector
                score = float(summed @ asked / max(float(np.linalg.norm(summed)), 1e-6))
                longer = Chain(start, (*chain.hops, hop), score)
                following.append((longer, summed, seen | {hop.tie.keys[hop.target]}))
        following.sort(key=lambda one: -one[0].score)
        level = following[:BEAM]
        yield from (chain for chain, _, _ in level)


def _hops(key: str, index: MentionIndex, counts: Callable[[Tie], bool]) -> list[Hop]:
    """Return what leads on from a name: sentences that hold, of those alike but for the other name a few at most."""
    groups: dict[str, list[Hop]] = {}
    for number in islice(reversed(index.by_name.get(key)), LOOKED_AT):
        tie = index.ties[number]
        if not index.holds(number) or not counts(tie):
            continue
        for source, own in enumerate(tie.keys):
            if own != key:
                continue
            for target, other in enumerate(tie.keys):
                if other != key:
                    hop = Hop(tie, source, target)
                    groups.setdefault(hop.told("X", "Y"), []).append(hop)
        if len(groups) >= NEAR:
            break
    return [
        replace(group[0], alike=tuple(group[1:]))
        for group in groups.values()
        if len({hop.tie.keys[hop.target] for hop in group}) <= FAN
    ]
