"""Elliptic answers: "At Siemens." after "Where do you work?" becomes "I work at Siemens"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from doxa.core.values import Turn
from doxa.language.times import NUMBERS
from doxa.understand.clauses import parse_clause
from doxa.understand.declaratives import Declarative, declare, find_question
from doxa.understand.propose import HOLE
from doxa.understand.text import Sentence, sentences, words

__all__ = ["asked_statement", "completed"]

YES = re.compile(
    r"^(?:yes|yeah|yep|yup|sure|of course|correct|right|exactly|indeed|definitely|I do|I am|I have)\b[,!. ]*",
    re.IGNORECASE,
)
NO = re.compile(
    r"^(?:no|nope|nah|not any ?more|not really|I do not|I am not)\b[,!. ]*|^not (?=since|for|until|in)", re.IGNORECASE
)
OFFER = re.compile(
    r"\b(?:would you|shall|should|can I|could I|do you want|do you need|will you|may I|can you|could you|want me)\b",
    re.IGNORECASE,
)
SWAP = {
    "you": "I", "your": "my", "yours": "mine", "yourself": "myself", "i": "you", "my": "your", "me": "you",
    "mine": "yours", "we": "you", "our": "your",
}  # fmt: skip
NO_ANSWER = re.compile(
    r"^(?:no idea|not sure|I do not know|maybe|perhaps|why|what|haha|thanks|thank|good|fine|"
    r"great|very|ok|both|all|deal)\b",
    re.IGNORECASE,
)
COUNTED = re.compile(rf"(?:{'|'.join(sorted(NUMBERS, key=len, reverse=True))}|\d+|some|several) [a-z]", re.IGNORECASE)
PREPOSITION = re.compile(r"^(?:at|in|on|to|from|for|with|near|by|since|until)\b", re.IGNORECASE)


def completed(first: Sentence, context: Sequence[Turn], speaker: str) -> str | None:
    """Return the full statement that an elliptic answer makes, in the speaker's own first person; else None."""
    asked = next((turn for turn in reversed(context[-1:]) if turn.speaker != speaker), None)
    question = find_question(asked.text) if asked else None
    written = next((s.text for s in sentences(question) if s.text), "") if question else ""
    if not written or OFFER.search(written) or not first.text:
        return None
    written = re.sub(rf",? {re.escape(speaker)}$", "", written)
    declarative = declare(written)
    if declarative is None:
        return None
    statement = _swapped(declarative.text)
    if declarative.kind == "yesno":
        return _yes_or_no(statement, first.text)
    return _filled(declarative, statement, first.text)


def asked_statement(context: Sequence[Turn], speaker: str) -> str | None:
    """Return what the last question of somebody else asks to be true, in the speaker's own first person; else None."""
    asked = next((turn for turn in reversed(context[-1:]) if turn.speaker != speaker), None)
    question = find_question(asked.text) if asked else None
    written = next((s.text for s in sentences(question) if s.text), "") if question else ""
    declarative = declare(written) if written else None
    return _swapped(declarative.text) if declarative is not None and declarative.kind == "yesno" else None


def _swapped(text: str) -> str:
    """Exchange the first and the second person."""
    tokens = [SWAP.get(token.casefold(), token) for token in words(text)]
    joined = " ".join(tokens).replace(" , ", ", ")
    joined = re.sub(r"\bI are\b", "I am", joined)
    return re.sub(r"\bI were\b", "I was", re.sub(r"\byou am\b", "you are", joined))


def _yes_or_no(statement: str, answer: str) -> str | None:
    yes, no = YES.match(answer), NO.match(answer)
    match = yes or no
    if match is None:
        having = re.match(r"(.+? have) (?:got )?(?:any|an?|some) [\w ]+$", statement)
        counted = having and COUNTED.match(answer) and parse_clause(words(answer)) is None
        return f"{having[1]} {answer}" if having and counted else None
    tail = answer[match.end() :].strip(" ,")
    if tail and parse_clause(words(tail)) is not None and no:
        return None
    tail = re.sub(r",? no$", "", tail) if PREPOSITION.match(tail) and len(tail.split()) < 6 else ""
    if no:
        if tail and not re.match(r"since|for|until", tail):
            return None
        clause = re.match(r"(.+?) (am|is|are|was|were|do|does|did|have|has|had)\b(?: still)?(.*)$", statement)
        if clause is None:
            return None
        statement = f"{clause[1]} {clause[2]} not{clause[3]}"
    return f"{statement} {tail}".strip()


def _filled(declarative: Declarative, statement: str, answer: str) -> str | None:
    answer = re.sub(
        r"^(?:oh|well|yes|ah|hm|just|only|mostly|mainly|that is|it is|he is|she is|they are),? ",
        "",
        answer,
        flags=re.IGNORECASE,
    )
    if NO_ANSWER.match(answer) or len(answer.split()) > 12 or parse_clause(words(answer)) is not None:
        return None
    lowered = answer[:1].casefold() + answer[1:] if PREPOSITION.match(answer) else answer
    if HOLE not in statement:
        timed = declarative.kind in ("when", "how_long") and (
            PREPOSITION.match(answer) or re.match(r"[\w ]*\d|yesterday|last|next", answer)
        )
        return f"{statement} {lowered}" if timed else None
    if PREPOSITION.match(answer):
        return re.sub(rf"(?:\b(?:at|in|on|to|from|for|with|near) )?{HOLE}", lambda _: lowered, statement, count=1)
    if declarative.asks == "count":
        head = answer.split(",")[0]
        noun = "" if re.search(r"[a-z]{2,} [a-z]{3,}$", head) else f" {declarative.noun}"
        return re.sub(r" got$", "", statement.replace(HOLE, f"{head}{noun}", 1))
    return statement.replace(HOLE, answer, 1)
