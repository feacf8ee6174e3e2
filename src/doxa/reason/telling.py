"""Which sentence tells of what is asked: evidence and the words that it shares with the question, person by person.

Retrieval ranks turns by everything that is known of them; an answer is one sentence of one of them. A sentence tells of
a question when it, with what stands around it, covers what the question speaks of. Rare words count more, and they are
rare when few of the turns that were found have them, so that no statistics of the whole memory are needed.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace

from doxa.core.values import Evidence, Question, Turn
from doxa.language import stems
from doxa.language.times import read_times

__all__ = ["SENTENCE", "Telling", "asked_of", "content_of", "excerpt", "narrowed", "tellings"]

ABOVE, FOUND, AROUND = 0.2, 0.5, 0.3
"""Weights of the words of a sentence, of the rank of its turn and of the words around it."""
OTHER = 0.55
"""What is left of the fit of a sentence that somebody else says than the one who is asked about."""
LIGHT = frozenset(
    stems(
        "do does did get got go went gone have had has take took make made say said tell told thing kind type sort "
        "name way time date day week month year long often many much first last new currently recently when start "
        "started begin began plan planned planning going decide decided mention mentioned according"
    )
)
"""Stems that say little about which sentence tells of a question."""
LIGHT_WEIGHT = 0.3
SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
"""Stands between sentences."""
READ_CHARS = 900
"""Characters of a turn that a model reads at once, beside a question and the turn before."""
FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Telling:
    """A sentence that may tell what is asked."""

    turn: Turn
    sentence: str
    place: int
    """Which sentence of its turn it is, from 0."""
    sentences: tuple[str, ...]
    """All of its turn."""
    fit: float
    """0 to 1: how much it is about what is asked."""
    covered: float
    """0 to 1: the share of the question's words that it has itself, the rare ones weighing more."""
    around: float
    """The same with the whole turn."""
    meaning: float
    """How near its turn is to the question in meaning: the cosine that search found, 0 without an encoder."""
    own: bool
    """Said by the person asked about, or the question asks about none of those who speak."""


def tellings(
    question: Question, evidence: Sequence[Evidence], turn: Callable[[str], Turn | None], *, asker: str
) -> list[Telling]:
    """Return the sentences of the evidence, those that tell most of what is asked first.

    Args:
        question: what is asked.
        evidence: turns that bear on it, best first, with the scores of retrieval.
        turn: gives the turn of an id.
        asker: who asks: "I" in the question.

    Deterministic; cost O(words of the turns).
    """
    told = [(item, said) for item in evidence for key in item.turn_ids if (said := turn(key))]
    if not told:
        return []
    people = asked_of(question, {said.speaker for _, said in told}, asker)
    content = content_of(question) - {stem for name in people for stem in stems(name)}
    weights = _weights(content, [said for _, said in told])
    top = max(item.score for item, _ in told) or 1.0
    found = [
        _telling(said, place, sentences, item, top, weights, around, own=not people or said.speaker in people)
        for item, said in told
        for sentences in [tuple(part.strip() for part in SENTENCE.split(said.text) if part.strip())]
        for around in [_covered(said.text, weights)]
        for place in range(len(sentences))
    ]
    return sorted(found, key=lambda one: -one.fit)


def excerpt(text: str, about: Set[str], longest: int) -> str:
    """Return the neighbouring sentences of a text that hold most of some stems, the fewest that do, within a length.

    Deterministic; cost O(words).
    """
    sentences = [part for part in SENTENCE.split(text) if part] or [text]
    held = [about & set(stems(part)) for part in sentences]
    best, first, last = -1, 0, 0
    found: Counter[str] = Counter()
    size, end = 0, 0
    for start, part in enumerate(sentences):
        while end < len(sentences) and (end <= start or size + len(sentences[end]) <= longest):
            found.update(held[end])
            size += len(sentences[end]) + 1
            end += 1
        if len(found) > best:
            best, first, last = len(found), start, end - 1
        size -= len(part) + 1
        found.subtract(held[start])
        for stem in held[start]:
            if not found[stem]:
                del found[stem]
    wanted = set().union(*held[first : last + 1])
    told: set[str] = set()
    last = next(end for end in range(first, last + 1) if (told := told | held[end]) == wanted)
    return " ".join(sentences[first : last + 1])[:longest]


def narrowed(turn: Turn, about: Set[str]) -> Turn:
    """Return a turn that is too long to be read at once with the part alone that is nearest to some stems."""
    if len(turn.text) <= READ_CHARS:
        return turn
    text = " ".join(turn.text.split())
    part = excerpt(text, about, READ_CHARS // 2)
    start = max(text.find(part), 0)
    spare = (READ_CHARS - len(part)) // 2
    begin, end = max(0, start - spare), start + len(part) + spare
    begin = text.find(" ", begin) + 1 if begin else 0
    return replace(turn, text=text[begin:end])


def asked_of(question: Question, speakers: Iterable[str], asker: str) -> frozenset[str]:
    """Return those of some speakers whom a question is about: by name, or as "I"; empty for none of them."""
    words = {word.casefold() for word in re.findall(r"[^\W_]+", question.text)}
    named = {name for name in speakers if name and name.split()[0].casefold() in words}
    if not named and FIRST_PERSON.search(question.text):
        named = {name for name in speakers if name.casefold() == asker.casefold()}
    return frozenset(named)


def content_of(question: Question) -> frozenset[str]:
    """Return the stems that say what a question is about, without the times that it names."""
    text = question.text
    for expression in reversed(_times(text)):
        text = f"{text[: expression[0]]} {text[expression[1] :]}"
    return frozenset(stems(text)) or frozenset(stems(question.text))


def _times(text: str) -> list[tuple[int, int]]:
    from datetime import datetime

    found = read_times(text, datetime(2000, 1, 1), past=True)  # noqa: DTZ001 - only where they stand
    return [(one.start, one.end) for one in found]


def _weights(content: frozenset[str], turns: Sequence[Turn]) -> dict[str, float]:
    """Return what each stem of a question weighs: the log of how few of the turns have it; the sum is 1."""
    having = Counter(stem for said in turns for stem in content & set(stems(said.text)))
    raw = {
        stem: math.log(1 + len(turns) / (1 + having[stem])) * (LIGHT_WEIGHT if stem in LIGHT else 1.0)
        for stem in content
    }
    total = sum(raw.values()) or 1.0
    return {stem: weight / total for stem, weight in raw.items()}


def _telling(
    said: Turn, place: int, sentences: tuple[str, ...], item: Evidence, top: float, weights: dict[str, float],
    around: float, *, own: bool,
) -> Telling:  # fmt: skip
    covered = _covered(sentences[place], weights)
    fit = ABOVE * covered + FOUND * item.score / top + AROUND * around
    return Telling(
        turn=said,
        sentence=sentences[place],
        place=place,
        sentences=sentences,
        fit=fit if own else OTHER * fit,
        covered=covered,
        around=around,
        meaning=item.scores.get("dense", 0.0),
        own=own,
    )


def _covered(text: str, weights: dict[str, float]) -> float:
    return sum(weights[stem] for stem in set(stems(text)) & weights.keys())
