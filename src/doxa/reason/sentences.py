"""Answers that quote: the sentence of the evidence that covers the question, or none."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from doxa.core.values import Draft, Question, Turn
from doxa.language import stems
from doxa.reason.drafts import citation_of, quote
from doxa.reason.kinds import PATTERNS, PLACES, absolute, fitting, weekdays

__all__ = ["answer_from_sentences"]

COVERAGE = 0.6
"""Share of the question's content words that a turn has to cover before it may be quoted as an answer."""
SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
NAME = re.compile(r"\b(?!I\b)[A-Z][\w'\u2019-]+")
MONEY = re.compile(
    r"[€$£¥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:euros?|dollars?|pounds?|yen|francs?|%)(?:\s(?:a|per)\s\w+)?", re.I
)
FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.I)
SELF = re.compile(r"\b(?:i|me|we|us)\b", re.I)
MINE = re.compile(r"\b(?:my|our)((?: [\w'-]+){1})", re.I)
ORDER = re.compile(r"^(?:please )?(?:forget|ignore|delete|disregard|remove|drop|strike|scratch|remind)\b", re.I)
TIME = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:january|february|march|april|may|june|july|august|"
    r"september|october|november|december|yesterday|today|tomorrow|tonight|last|next|ago|since|every|each|"
    r"spring|summer|autumn|winter|morning|evening|noon|midnight|daily|weekly|week|month|years?|days?)\b",
    re.I,
)
COUNT = re.compile(r"\b(?:no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both|half)\b", re.I)
KIN = re.compile(
    r"\b(?:mum|mom|dad|mother|father|sister|brother|wife|husband|partner|friend|boss|son|daughter)\b", re.I
)
EXACT = re.compile(r"\b(?:what|which) (?:date|time)\b", re.I)
"""Asks for a number: a month alone, or \"soon\", is no answer."""
NUMBER = re.compile(r"\b\d[\d.,]*\b")
TAKEN_BACK = re.compile(
    r"\b(?:(?:withdraw|disregard|scratch|strike|ignore|forget|delete)\b.{0,20}\b(?:what|that|it|this|mine|thing|about)|"
    r"(?:take|taking|took) (?:\w+ ){0,4}back|(?:was|am|is) (?:wrong|mistaken|nonsense|rubbish)|mixed up|misremember)",
    re.IGNORECASE,
)
"""A sentence that takes something back tells nothing of it."""
CONDITION = re.compile(
    r"^(?:if|unless|should|suppose|supposing|provided|whenever|in case)\b|\beither\b|\bone or the other\b|"
    r"\b(?:only if|would have|if only|not both)\b",
    re.IGNORECASE,
)
"""Opens what is said on a condition."""
SHORT = 9
"""Words of a sentence that has room for one place only."""
PLACED = re.compile(r"\b(?:in|at|to|near) ((?:the )?[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*)*)")


def answer_from_sentences(
    question: Question, turns: Sequence[Turn], *, asker: str, unasserted: Collection[str] = ()
) -> Draft | None:
    """Return the sentence that answers a question, quoted with its source, or None when none covers it.

    Args:
        question: what is asked.
        turns: turns that bear on it, best first.
        asker: who asks; a question about "me" is answered by what this person said of himself.
        unasserted: sentences that say nothing by themselves, such as rules.

    A name in the question must be the speaker or be mentioned. Cost O(words of the turns).
    """
    wanted = {stem for term in question.terms for stem in stems(term)}
    names = _names(question)
    content = wanted - names
    if not content or question.kind == "yesno":
        return None
    own = question.subject is not None and question.subject.key == asker.casefold()
    personal = own or bool(FIRST_PERSON.search(question.text))
    known = wanted | names | {word for term in question.terms for word in _words(term)}
    best: tuple[float, str, Turn] | None = None
    for rank, turn in enumerate(turns):
        words = _words(f"{turn.speaker} {turn.text}")
        if not names <= words or (personal and turn.speaker.casefold() != asker.casefold()):
            continue
        for sentence in SENTENCE.split(turn.text):
            if personal and not _of_oneself(sentence, content):
                continue
            if not _may_answer(question, sentence, turn, names, unasserted):
                continue
            if not _words(re.sub(r"['’]\w+", "", sentence)) - known - _words(turn.speaker):
                continue  # it says no more than the question
            covered = len(content & _words(sentence)) / len(content)
            score = covered - 0.01 * rank
            if covered >= COVERAGE and (best is None or score > best[0]):
                best = (score, sentence.strip(), turn)
    if best is None:
        return None
    return _quoted(question, *best)


def _quoted(question: Question, score: float, sentence: str, turn: Turn) -> Draft:
    value = absolute(_span(question, sentence), turn.at.date())
    text = quote(turn, sentence)
    return Draft(text=text, value=value, citations=(citation_of(turn),), confidence=0.5 * score)


def _may_answer(question: Question, sentence: str, turn: Turn, names: set[str], unasserted: Collection[str]) -> bool:
    """Tell whether a sentence is asserted, by the source that is asked for, and of the right kind."""
    if sentence.rstrip().endswith("?") or _conditional(sentence, unasserted):
        return False
    if question.source and not _is_from(question.source, sentence, turn):
        return False
    return _fits(question, sentence, names)


def _names(question: Question) -> set[str]:
    found = {stem for name in NAME.findall(question.text[1:]) for stem in _words(name)}
    if question.subject is not None and question.subject.label in question.text:
        found |= _words(question.subject.label)
    return found


def _words(text: str) -> set[str]:
    """Return the stems of a text as those of a question's terms, which are stems already and are stemmed once more."""
    return {twice for stem in stems(text) for twice in stems(stem)}


def _fits(question: Question, sentence: str, names: set[str]) -> bool:
    """Tell whether a sentence can hold an answer of the kind that is asked for, and is no order to forget."""
    if ORDER.search(sentence) or TAKEN_BACK.search(sentence):
        return False
    if question.expects in PATTERNS and fitting(sentence, question.expects) is None:
        return False
    if question.noun and re.search(
        rf"\b(?:an?|another|some|new) (?:\w+ )?{re.escape(question.noun)}\b(?!,| called| named)", sentence, re.I
    ):
        return False  # it introduces one, and does not say which
    attribute = re.match(r"what (?:is|was|are|were) the (\w+) of\b", question.text, re.IGNORECASE)
    if attribute and attribute[1] not in ("name", "names") and not _words(attribute[1]) & _words(sentence):
        return False
    if not weekdays(question.text) <= weekdays(sentence):
        return False
    if question.expects == "name":
        return any(not _words(name) & names for name in NAME.findall(f" {sentence}"[2:]))
    match question.kind:
        case "when" | "how_long":
            exact = question.kind == "when" and EXACT.search(question.text)
            return bool((NUMBER if exact else TIME).search(sentence))
        case "how_much" | "count":
            return bool(NUMBER.search(sentence) or COUNT.search(sentence))
        case "who":
            others = [stem for name in NAME.findall(f" {sentence}"[2:]) for stem in _words(name)]
            return bool(set(others) - names) or bool(KIN.search(sentence))
        case _:
            return True


def _of_oneself(sentence: str, content: set[str]) -> bool:
    """Tell whether a speaker speaks of himself or of what is asked, not of somebody else who is his."""
    return bool(SELF.search(sentence)) or any(_words(noun) & content for noun in MINE.findall(sentence))


def _conditional(sentence: str, unasserted: Collection[str]) -> bool:
    """Tell whether a sentence only says what would be if something else were."""
    plain = sentence.strip().rstrip(".!").casefold()
    return CONDITION.search(sentence) is not None or any(plain in rule.casefold() for rule in unasserted if plain)


def _is_from(source: str, sentence: str, turn: Turn) -> bool:
    """Tell whether a sentence gives the word of a source: of its speaker, or of somebody or something that it names."""
    return _words(source) <= _words(f"{turn.speaker} {sentence}")


def _span(question: Question, sentence: str) -> str:
    """Return the part of a sentence that a question asks for; the sentence when it cannot be told apart."""
    if question.expects in PATTERNS:
        pattern = {"how_much": MONEY}.get(question.kind)
        match = pattern.search(sentence) if pattern else None
        part = match[0] if match else fitting(sentence, question.expects)
        return part.strip() if part and len(part.split()) < len(sentence.split()) else sentence
    asked = _words(question.text)
    if question.kind == "who" or question.expects == "name":
        return _only(
            [name for name in NAME.findall(f" {sentence}"[2:]) if not _words(name) & asked and fitting(name, "person")],
            sentence,
        )
    if question.expects in PLACES and len(sentence.split()) <= SHORT:
        found = [match[1] for match in PLACED.finditer(sentence) if not _words(match[1]) & asked]
        return _only([place for place in found if fitting(place, question.expects)], sentence)
    return sentence


def _only(parts: Sequence[str], sentence: str) -> str:
    """Return the one part that there is, else the sentence."""
    return parts[0] if len(set(parts)) == 1 else sentence
