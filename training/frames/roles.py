"""Roles of frames: their labels, spans <-> BIO labels, spans of a tree, and what they are in the guidelines' words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doxa.backends.parser.labels import spans_of as spans

KINDS = ("none", "frame", "auxiliary", "light")
"""Of a word: says nothing itself, is a predicate, helps one (`be.03`), or is the verb of a light-verb construction."""
FRAMES = (1, 3)
TENSES = ("none", "past", "present", "future")
PARTICLE = "C-V"
OUTSIDE = 0
GUIDELINE = {  # PropBank -> role of the guidelines, where the role alone tells it
    "ARG0": "agent",
    "ARGM-LOC": "place",
    "ARGM-TMP": "time",
    "ARGM-MNR": "manner",
    "ARGM-CAU": "cause",
    "ARGM-PRP": "aim",
    "ARGM-PNC": "aim",
    "ARGM-COM": "company",
    "ARGM-GOL": "goal",
    "ARGM-PRD": "value",
}
FLAGS = {"ARGM-NEG": "not"}
SAYING = frozenset(
    "say think know hope believe ask tell wonder guess feel mean want wish decide promise suggest hear suppose".split()
)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Words `start` to `end`, the last not included, and their role."""

    start: int
    end: int
    role: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A predicate's place and its roles."""

    predicate: int
    spans: tuple[Span, ...]

    def keep(self, place: Mapping[int, int]) -> Frame:
        """The frame of the words in `place`, at their new places; the predicate is one of them."""
        spans = []
        for span in self.spans:
            left = [place[at] for at in range(span.start, span.end) if at in place]
            if left:
                spans.append(Span(left[0], left[-1] + 1, span.role))
        return Frame(place[self.predicate], tuple(spans))


def labels_of(spans: Iterable[Span], size: int, roles: Mapping[str, int]) -> NDArray[np.int64]:
    """BIO labels, `(size,)`: 0 outside, `1 + 2r` at the beginning of role `r`, `2 + 2r` within."""
    found = np.zeros(size, dtype=np.int64)
    for span in spans:
        if span.role in roles:
            found[span.start : span.end] = 2 + 2 * roles[span.role]
            found[span.start] -= 1
    return found


def heads_of(spans: Iterable[Span], heads: Sequence[int], roles: Mapping[str, int]) -> NDArray[np.int64]:
    """The role of each span at its head word, `1 + r`, else 0; `heads` count from 1."""
    found = np.zeros(len(heads), dtype=np.int64)
    for span in spans:
        if span.role in roles:
            found[head_of(span, heads)] = 1 + roles[span.role]
    return found


def head_of(span: Span, heads: Sequence[int]) -> int:
    """The first word of a span whose head is outside of it, and nearest to the root."""
    tops = [at for at in range(span.start, span.end) if not span.start <= heads[at] - 1 < span.end]
    return min(tops, key=lambda at: (_depth(at, heads), at)) if tops else span.start


def _depth(at: int, heads: Sequence[int]) -> int:
    steps = 0
    while heads[at] > 0 and steps < len(heads):
        at, steps = heads[at] - 1, steps + 1
    return steps


def spans_of(labels: Sequence[int], roles: Sequence[str]) -> tuple[Span, ...]:
    """The spans of BIO labels; an inner label that goes on with nothing begins one."""
    return tuple(Span(start, end, roles[role]) for start, end, role in spans(labels))


def tree_spans(
    predicate: int, chosen: Sequence[int], heads: Sequence[int], points: Sequence[bool], roles: Sequence[str]
) -> tuple[Span, ...]:
    """The spans of head words: what hangs on each, without the branch of the predicate and punctuation at the ends."""
    return tuple(sorted(_tree_spans(predicate, chosen, heads, points, roles)))


def _tree_spans(
    predicate: int, chosen: Sequence[int], heads: Sequence[int], points: Sequence[bool], roles: Sequence[str]
) -> Iterator[Span]:
    over = _over(predicate, heads)
    for word, label in enumerate(chosen):
        if not label or word == predicate:
            continue
        inside = [
            at
            for at in range(len(heads))
            if word in (line := _over(at, heads)) and not (predicate in line and word in over)
        ]
        if word in over:  # a branch that holds the predicate goes as a whole
            branch = over[over.index(word) - 1]
            inside = [at for at in inside if branch not in _over(at, heads)]
        start = end = word
        while start - 1 in inside:
            start -= 1
        while end + 1 in inside:
            end += 1
        while start < word and points[start]:
            start += 1
        while end > word and points[end]:
            end -= 1
        yield Span(start, end + 1, roles[label - 1])


def _over(at: int, heads: Sequence[int]) -> list[int]:
    """The word, its head, and so on up to the root."""
    line = [at]
    while heads[line[-1]] > 0 and len(line) <= len(heads):
        line.append(heads[line[-1]] - 1)
    return line


def guideline_role(role: str, lemma: str, words: Sequence[str]) -> str:
    """The role in the guidelines' words, a flag such as `not`, or empty where PropBank's does not tell it.

    Args:
        role: As PropBank has it.
        lemma: Of the predicate.
        words: The span, lower case.
    """
    first = words[0] if words else ""
    if role == "ARG1":
        return "content" if lemma in SAYING and len(words) > 2 else "theme"
    if role == "ARG2" and lemma == "be":
        return "value"
    if role == "ARG2" and first == "to" and lemma in ("give", "send", "tell", "show", "sell", "lend", "say", "write"):
        return "recipient"
    if role in ("ARGM-DIR", "ARG3", "ARG4", "ARG2") and first in ("from", "off"):
        return "source"
    if role in ("ARGM-DIR", "ARG4") and first in ("to", "into", "onto"):
        return "goal"
    if role == "ARGM-TMP" and first in ("for", "since", "every", "daily", "always", "often", "usually", "never"):
        return "span"
    if role == "ARGM-MNR" and first in ("with", "by", "via"):
        return "means"
    return FLAGS.get(role) or GUIDELINE.get(role.removeprefix("C-"), "")
