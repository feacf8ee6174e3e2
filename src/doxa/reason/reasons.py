"""Why: the reason that somebody states for what a question asks about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from doxa.core.values import Draft, Question, Turn
from doxa.language import stems
from doxa.reason.drafts import citation_of, quote
from doxa.reason.matching import wording
from doxa.reason.sentences import SENTENCE

__all__ = ["answer_why"]

WHY = re.compile(r"\bwhy\b|\bhow come\b|\bwhat (?:made|makes|was the reason|is the reason)\b", re.IGNORECASE)
SUBJECT = r"(?:I|we|you|he|she|it|they|there|the|my|our|his|her|their|this|that|[A-Z]\w+)\b"
BECAUSE = re.compile(
    rf"(?P<word>\bbecause(?: of)?|\bsince (?={SUBJECT} (?:\w+ )?\w+)|\bdue to|\bthanks to|\bso that|\bin order to|"
    r"\bthe reason (?:is|was)(?: that)?)\s+(?P<reason>[^.!?;]+)",
    re.IGNORECASE,
)
"""The reason stands behind the word."""
HENCE = re.compile(
    rf"^(?P<reason>[^.!?;]+?),? (?:so|that's why|that is why|which is why|therefore) (?P<effect>{SUBJECT}.+)$"
)
"""The reason stands before the word."""
OPENING = re.compile(r"^(?:that's|that is|this is) why\s+(?P<effect>.+)$", re.IGNORECASE)
"""The reason is the sentence before."""
ENOUGH = 0.6
"""Share of what is asked about that the other half of the sentence has to speak of."""
PERSONAL = re.compile(r"\b(?:I|me|my|we|us|our)\b")
ASKING = frozenset(stems("why how come what made makes reason did does do is was were are has have had"))


def _asks_why(question: Question) -> bool:
    """Tell whether a question asks for a reason."""
    return question.kind == "why" or WHY.search(question.text) is not None


def answer_why(
    question: Question, turns: Sequence[Turn], *, asker: str, unasserted: Collection[str] = ()
) -> Draft | None:
    """Return the reason that is stated for what a question asks about, or None when nobody states one.

    Args:
        question: what is asked.
        turns: turns that bear on it, best first.
        asker: who asks; what is asked about "me" is answered by what this person said.
        unasserted: sentences that say nothing by themselves, such as rules.

    Deterministic; cost O(words of the turns).
    """
    wanted = wording(question.text) - ASKING - wording(asker)
    if not wanted or not _asks_why(question):
        return None
    best: tuple[float, Turn, str, str] | None = None
    personal = PERSONAL.search(question.text) is not None
    for rank, turn in enumerate(turns):
        if personal and turn.speaker.casefold() != asker.casefold():
            continue
        for effect, reason, sentence in _stated(turn.text, unasserted):
            covered = len(wanted & wording(f"{turn.speaker} {effect}")) / len(wanted)
            score = covered - 0.01 * rank
            if covered >= ENOUGH and (best is None or score > best[0]):
                best = (score, turn, reason, sentence)
    if best is None:
        return None
    score, turn, reason, sentence = best
    text = quote(turn, sentence)
    return Draft(text=text, value=reason, citations=(citation_of(turn),), confidence=min(1.0, 0.8 * score))


def _stated(text: str, unasserted: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Yield what a text gives reasons for: the effect, its reason, and the sentence."""
    before = ""
    for sentence in SENTENCE.split(text):
        plain = sentence.strip().rstrip(".!")
        if not plain or plain.endswith("?") or any(plain.casefold() in rule.casefold() for rule in unasserted):
            before = ""
            continue
        because, hence, opening = BECAUSE.search(plain), HENCE.match(plain), OPENING.match(plain)
        if opening is not None and before:
            yield opening["effect"], before, f"{before}. {plain}"
        elif because is not None:
            word = because["word"].strip().casefold()
            purpose = f"{word} " if word in ("so that", "in order to") else ""
            effect = plain[: because.start()].rstrip(" ,")
            reason, comma, rest = because["reason"].partition(", ")
            if not effect and comma:  # "Because it rained, we stayed in"
                effect = rest
            else:
                reason = because["reason"]
            yield effect or before, f"{purpose}{reason.strip()}", plain
        elif hence is not None:
            yield hence["effect"], hence["reason"].strip(), plain
        before = plain
