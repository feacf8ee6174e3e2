"""History + replies -> how consistent they are: consistency score (CS) and the label that the entailment rate counts.

Source: Lei et al., D-SMART, section "Evaluation Metrics", equations 4 and 5. An NLI model gives P(entailment) and
P(contradiction) of each reply against the dialogue history; CS is their difference scaled to 0..1, DER the share of
replies whose label is entailment. With a history and a reply that fit the model at once, both are the paper's exactly.

What the paper leaves open, and what is done here:

    premise      "the dialogue history" of turn i: every earlier turn of both sides and the message that is answered
                 (the paper scores first turns, which have no other history). Texts as they are, without names
    long history turns are packed, newest first, into chunks that fit the model; every chunk ends with the message that
                 is answered, so that "Yes, on Monday" can be read. Entailment and contradiction are the largest over
                 the chunks, neutrality the smallest, scaled to sum to 1: what one chunk entails and another
                 contradicts is neither
    hypothesis   the whole reply; of a long one, runs of whole sentences that fit, and the mean over them by length
    ties         neutral: neither rewarded nor punished
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from doxa.core.tokens import estimate_tokens
from doxa.verify import Classify, consistency_score

__all__ = ["EntailmentLabel", "PremiseSpec", "TurnScore", "hypotheses", "premises", "score_replies"]

EntailmentLabel = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[EntailmentLabel, ...] = ("entailment", "neutral", "contradiction")

BREAK = re.compile(r"(?<=[.!?])\s+|\s*\n+\s*")
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PremiseSpec:
    """How a history and a reply are cut into what an NLI model can read; tokens are estimates, which lean high."""

    premise_tokens: int = 160
    hypothesis_tokens: int = 72
    max_chunks: int = 4
    """Of a longer history: the newest chunk, and those that share most words with the reply."""
    max_parts: int = 6
    """Of a longer reply: as many parts, evenly spread."""

    @property
    def max_pairs(self) -> int:
        """Most pairs that one reply costs."""
        return self.max_chunks * self.max_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnScore:
    """What one reply is worth against its history."""

    p_entailment: float
    p_neutral: float
    p_contradiction: float
    cs: float
    """Equation 4, 0 (contradiction) to 1 (entailment)."""
    label: EntailmentLabel
    least_cs: float
    """CS of the least consistent part; the same as `cs` for a reply in one part."""
    pairs: int
    cut: bool = False
    """Something of the history or the reply was left out, since it was longer than the spec allows."""


def score_replies(
    asked: Sequence[tuple[Sequence[str], str]], classify: Classify, spec: PremiseSpec | None = None
) -> list[TurnScore]:
    """Return the score of each reply against its own history.

    Args:
        asked: for each reply the texts before it, oldest first, the last of them what it answers; and the reply.
        classify: the NLI model; it is called once, with every pair.
        spec: how long texts are cut.

    An empty reply, or one without a history, says nothing that could be judged: it is neutral, at no cost.
    """
    spec = spec or PremiseSpec()
    cuts = [_cut(history, reply, spec) for history, reply in asked]
    pairs = [(premise, part) for cut in cuts for part in cut.parts for premise in cut.chunks]
    rows = np.asarray(classify(pairs), dtype=np.float64) if pairs else np.empty((0, 3))
    ends = list(accumulate(cut.pairs for cut in cuts))
    return [_score(cut, rows[end - cut.pairs : end]) for cut, end in zip(cuts, ends, strict=True)]


def premises(history: Sequence[str], spec: PremiseSpec | None = None) -> tuple[str, ...]:
    """Return the chunks of a history, newest first; each ends with its last text unless that fills half of a chunk."""
    spec = spec or PremiseSpec()
    said = [text.strip() for text in history if text.strip()]
    if not said:
        return ()
    asked = said[-1]
    shared = asked if estimate_tokens(asked) * 2 <= spec.premise_tokens else ""
    room = spec.premise_tokens - estimate_tokens(shared)
    older = said[:-1] if shared else said
    units = [unit for text in older for unit in _runs(text, room)]
    packed = [" ".join(filter(None, (*reversed(chunk), shared))) for chunk in _packed(list(reversed(units)), room)]
    return tuple(packed) or (shared,)


def hypotheses(reply: str, spec: PremiseSpec | None = None) -> tuple[str, ...]:
    """Return a reply as the parts that are judged, in order: the whole where it fits, else runs of sentences."""
    return tuple(_runs(reply.strip(), (spec or PremiseSpec()).hypothesis_tokens))


@dataclass(frozen=True, slots=True)
class _Cut:
    chunks: tuple[str, ...]
    parts: tuple[str, ...]
    cut: bool

    @property
    def pairs(self) -> int:
        return len(self.chunks) * len(self.parts)


def _cut(history: Sequence[str], reply: str, spec: PremiseSpec) -> _Cut:
    chunks, parts = premises(history, spec), hypotheses(reply, spec)
    fewer, some = _nearest(chunks, reply, spec.max_chunks), _spread(parts, spec.max_parts)
    return _Cut(fewer, some, len(fewer) < len(chunks) or len(some) < len(parts))


def _nearest(chunks: tuple[str, ...], reply: str, most: int) -> tuple[str, ...]:
    """Return the newest chunk and those with most words of the reply; of equal ones the newer."""
    if len(chunks) <= most:
        return chunks
    words = set(WORD.findall(reply.casefold()))
    shared = [len(words & set(WORD.findall(chunk.casefold()))) for chunk in chunks]
    best = sorted(range(1, len(chunks)), key=lambda at: (-shared[at], at))[: most - 1]
    return tuple(chunks[at] for at in (0, *sorted(best)))


def _spread(parts: tuple[str, ...], most: int) -> tuple[str, ...]:
    if len(parts) <= most:
        return parts
    return tuple(parts[round(at * (len(parts) - 1) / max(1, most - 1))] for at in range(most))


def _score(cut: _Cut, rows: NDArray[np.float64]) -> TurnScore:
    """Return the score of one reply from its rows, `(parts x chunks, 3)`."""
    if not len(rows):
        return TurnScore(
            p_entailment=0.0, p_neutral=1.0, p_contradiction=0.0, cs=0.5, label="neutral", least_cs=0.5, pairs=0
        )
    by_part = rows.reshape(len(cut.parts), len(cut.chunks), 3)
    pooled = np.stack([by_part[:, :, 0].max(1), by_part[:, :, 1].min(1), by_part[:, :, 2].max(1)], axis=1)
    pooled /= pooled.sum(axis=1, keepdims=True)
    weights = np.asarray([estimate_tokens(part) for part in cut.parts], dtype=np.float64)
    e, n, c = (weights @ pooled / weights.sum()).tolist()
    return TurnScore(
        p_entailment=e,
        p_neutral=n,
        p_contradiction=c,
        cs=consistency_score(e, c),
        label=_label(e, n, c),
        least_cs=float(((pooled[:, 0] - pooled[:, 2]) + 1).min() / 2),
        pairs=cut.pairs,
        cut=cut.cut,
    )


def _label(e: float, n: float, c: float) -> EntailmentLabel:
    if e > n and e > c:
        return LABELS[0]
    return LABELS[2] if c > n and c > e else LABELS[1]


def _runs(text: str, room: int) -> Iterator[str]:
    """Yield a text in runs of whole sentences of at most so many tokens; a longer sentence is cut between words."""
    if not text:
        return
    if estimate_tokens(text) <= room:
        yield text
        return
    sentences = [piece for part in BREAK.split(text) if part for piece in _pieces(part, room)]
    for run in _packed(sentences, room):
        yield " ".join(run)


def _pieces(sentence: str, room: int) -> Iterator[str]:
    if estimate_tokens(sentence) <= room:
        yield sentence
        return
    for run in _packed(sentence.split(), room):
        yield " ".join(run)


def _packed(units: Sequence[str], room: int) -> Iterator[list[str]]:
    """Yield units in groups of at most so many tokens, in order; a unit that is longer stands alone."""
    group, used = list[str](), 0
    for unit in units:
        size = estimate_tokens(unit)
        if group and used + size > room:
            yield group
            group, used = [], 0
        group.append(unit)
        used += size
    if group:
        yield group
