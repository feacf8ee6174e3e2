"""A sentence of a reply + the turns that bear on it -> the premise that the NLI model reads.

A premise is what was said, in its order, so that the model sees what was changed or taken back later; the turns are
those that share most with the sentence, and what was said right after each of them, where a change often goes on with
"it" or "they". What another than the user said has the speaker's name before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from doxa.core.values import Turn
from doxa.language import split_text, stems
from doxa.verify.findings import Known
from doxa.verify.sentences import Spoken

__all__ = ["Premise", "bears", "premise_of", "premised"]

MOST_TURNS = 6
MOST_WORDS = 90
"""Words of a premise; the model reads 256 pieces of both sides, and was trained on premises of this size."""
MOST_OF_TURN = 45
"""Words of one turn; of a longer one the sentences that share most with the reply are read."""
REFERRING = re.compile(
    r"^(?:and |but |so )?(?:she|he|they|it|her|his|their|its|that|this|these|those)\b", re.IGNORECASE
)
OPEN_QUESTION = re.compile(r"\b(?:how|what|when|where|why|which|who|whose)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Premise:
    """What was said that bears on a sentence."""

    text: str
    said: tuple[tuple[str, datetime], ...]
    """What it is made of, turn by turn, and when that was said."""
    turns: tuple[Turn, ...]
    """The turns of the text, the one that shares most with the sentence first."""


def bears(sentence: Spoken) -> bool:
    """Tell whether a sentence may say or take for granted how things are: all but small talk, guesses, and questions
    that are answered by yes or no ("How is your cat?" takes a cat for granted, "Have you a cat?" does not)."""
    if sentence.kind == "question":
        return bool(OPEN_QUESTION.search(sentence.text))
    return sentence.kind != "hedge"


def premised(sentence: Spoken, before: str) -> str:
    """Return a sentence as the model reads it: after the one before it, where it refers to that one."""
    return f"{before} {sentence.text}".strip() if REFERRING.match(sentence.text) else sentence.text


def premise_of(text: str, known: Known) -> Premise | None:
    """Return the premise for a sentence; None where nobody said anything that shares a word with it.

    Deterministic. Cost: one look-up of turns, and O(words) of those that are taken.
    """
    near = known.said(text)
    wanted = frozenset(stems(text))
    chosen: dict[str, Turn] = {}
    words = 0
    for turn in (one for close in near for one in (close, *known.after(close))):
        key = turn.turn_id or str(turn.ordinal)
        size = len(turn.text.split())
        if key in chosen or (chosen and words + min(size, MOST_OF_TURN) > MOST_WORDS):
            continue
        chosen[key] = turn
        words += min(size, MOST_OF_TURN)
        if len(chosen) == MOST_TURNS:
            break
    if not chosen:
        return None
    ordered = sorted(chosen.values(), key=lambda turn: (turn.at, turn.ordinal))
    shown = [_shown(turn, wanted) for turn in ordered]
    shared = [len(wanted & frozenset(stems(text))) for text in shown]
    closest = sorted(range(len(ordered)), key=shared.__getitem__)[::-1]
    said = tuple(
        (text if turn.speaker == known.user else f"{turn.speaker}: {text}", turn.at)
        for turn, text in zip(ordered, shown, strict=True)
    )
    return Premise(text=" ".join(text for text, _ in said), said=said, turns=tuple(ordered[at] for at in closest))


def _shown(turn: Turn, wanted: frozenset[str]) -> str:
    """Return the text of a turn in one line: of a long one the sentences that share most with what is wanted."""
    words = turn.text.split()
    if len(words) > MOST_OF_TURN:
        words = [word for sentence in _closest(split_text(turn.text), wanted) for word in sentence.split()]
    return " ".join(words[:MOST_OF_TURN])


def _closest(sentences: Sequence[str], wanted: frozenset[str]) -> list[str]:
    """Return the sentences of a long turn that share most with a reply, in their order."""
    ranked = sorted(range(len(sentences)), key=lambda place: (-len(wanted & frozenset(stems(sentences[place]))), place))
    kept: list[int] = []
    words = 0
    for place in ranked:
        size = len(sentences[place].split())
        if kept and words + size > MOST_OF_TURN:
            continue
        kept.append(place)
        words += size
    return [sentences[place] for place in sorted(kept)]
