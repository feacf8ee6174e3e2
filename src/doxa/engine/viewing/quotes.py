"""A fact and the turns that it rests on -> where their texts say it.

A claim keeps its sentence as it was understood: with quotes and spaces mended, and short forms written out. Where that
does not stand in the text letter for letter, it is the sentence that has most of its words in their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

from doxa.core.values import Claim, Fact, Turn
from doxa.core.views import Place, Quote
from doxa.language import sentence_places
from doxa.memory import Beliefs

__all__ = ["quotes_of"]

SHARE = 0.6
"""Least part of the words of a claim's sentence that stand in the text in their order."""
RARE = 3
"""Words of a claim's sentence by which it is looked for: the longest, which are the rarest."""
MOST_PLACES = 32
"""Places of each of these words that are looked at."""
AROUND = 500
"""Characters to either side of a word that may be of its sentence."""
LONGEST_LABEL = 300
MOST_WORDS = 300
"""Words of a sentence that are compared: what is longer was quoted letter for letter, or not read."""
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Word:
    folded: str
    start: int
    end: int


def quotes_of(fact: Fact, turns: Iterable[Turn], beliefs: Beliefs) -> tuple[Quote, ...]:
    """Return where turns say a fact; of what follows from others, and of what nobody is quoted with, the turns alone.

    Cost: linear in the texts, with a bound on what is compared of each.
    """
    said: dict[str, list[Claim]] = {}
    if not fact.premises:
        for claim in beliefs.supporting(fact):
            said.setdefault(claim.turn_id, []).append(claim)
    return tuple(_quote(fact, turn, said.get(turn.turn_id, ())) for turn in turns)


def _quote(fact: Fact, turn: Turn, claims: Sequence[Claim]) -> Quote:
    for claim in claims:
        if (sentence := _sentence(claim.span.strip(), turn.text)) is not None:
            return Quote(
                turn_id=turn.turn_id,
                sentence=sentence,
                subject=_label((claim.subject.label, fact.subject.label), turn.text, sentence),
                object=_label((claim.object.label, fact.object.label), turn.text, sentence),
            )
    return Quote(turn_id=turn.turn_id)


def _sentence(span: str, text: str) -> Place | None:
    """Return where a text says a sentence; None where it is not clear."""
    if not span:
        return None
    if (at := _find(span, text)) is not None:
        return at, at + len(span)
    wanted = [word.folded for word in islice(_words(span, 0, len(span)), MOST_WORDS)]
    best, most = None, 0
    for start, end in _candidates(wanted, text):
        words = list(islice(_words(text, start, end), MOST_WORDS))
        if sum((Counter(wanted) & Counter(word.folded for word in words)).values()) <= max(most, len(wanted) * SHARE):
            continue  # no order of them can be better
        matcher = SequenceMatcher(None, wanted, [word.folded for word in words], autojunk=False)
        blocks = matcher.get_matching_blocks()
        if (shared := sum(block.size for block in blocks)) > max(most, len(wanted) * SHARE):
            most = shared
            first, last = words[blocks[0].b], words[blocks[-2].b + blocks[-2].size - 1]
            long = len(words) > 2 * len(wanted) + RARE  # several sentences that nothing parts
            best = (first.start, last.end) if long else (start, end)
    return best


def _find(span: str, text: str) -> int | None:
    """Return where a text has some words as they are, and not within others."""
    at = -1
    for _ in range(MOST_PLACES):
        at = text.find(span, at + 1)
        if at < 0:
            return None
        end = at + len(span)
        if not (_joined(text[at - 1 : at], span[0]) or _joined(span[-1], text[end : end + 1])):
            return at
    return None


def _joined(one: str, other: str) -> bool:
    return WORD.fullmatch(one + other) is not None and len(one + other) == 2


def _candidates(wanted: Sequence[str], text: str) -> Iterator[Place]:
    """Yield the sentences of a text around the rarest of some words, each once, in order."""
    rarest = sorted(dict.fromkeys(wanted), key=len, reverse=True)[:RARE]
    near = sorted(
        (max(0, match.start() - AROUND), min(len(text), match.end() + AROUND))
        for word in rarest
        for match in islice(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE), MOST_PLACES)
    )
    stretches: list[Place] = []
    for start, end in near:
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(end, stretches[-1][1])
        else:
            stretches.append((start, end))
    for start, end in stretches:
        yield from ((start + one, start + other) for one, other in sentence_places(text[start:end]))


def _words(text: str, start: int, end: int) -> Iterator[_Word]:
    for match in WORD.finditer(text, start, end):
        yield _Word(match[0].casefold(), *match.span())


def _label(labels: Iterable[str], text: str, within: Place) -> Place | None:
    """Return where the first label that stands in a part of a text does, whatever its case and spaces."""
    for label in dict.fromkeys(labels):
        pieces = r"\s+".join(re.escape(piece).replace("'", "['’]") for piece in label.split())
        if pieces and len(label) <= LONGEST_LABEL:
            pattern = re.compile(rf"(?<!\w){pieces}(?!\w)", re.IGNORECASE)
            if (match := pattern.search(text, *within)) is not None:
                return match.span()
    return None
