"""The step from a turn to its claims."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from doxa.core.values import Act, Claim, Modality, Turn
from doxa.memory import Beliefs
from doxa.understand.answers import completed
from doxa.understand.clauses import Clause, parse_clause
from doxa.understand.distil import clauses_of
from doxa.understand.idioms import plainly
from doxa.understand.propose import HOLE, Proposition, propose
from doxa.understand.questions import is_question
from doxa.understand.referents import NAME, Referents
from doxa.understand.repairs import corrections, is_withdrawal, mended, withdrawals
from doxa.understand.text import Sentence, sentences, words
from doxa.understand.values import Statement, Understanding

__all__ = ["understand"]

MOST_SENTENCES = 120
"""Sentences read per turn; what follows is kept as text. It bounds the cost of a very long message."""

GREETING = re.compile(r"^(?:hi|hello|hey|good (?:morning|evening|afternoon)|guten \w+|welcome)\b", re.IGNORECASE)
HEDGE = re.compile(
    r"^(?:I (?:think|guess|suppose|believe|imagine|heard|read|hear|reckon|doubt)(?: that)?|"
    r"apparently|allegedly|supposedly|maybe|perhaps|probably|possibly|"
    r"it (?:seems|looks like|sounds like)(?: like| that)?|rumou?r has it(?: that)?|there is "
    r"a rumou?r that|word is(?: that)?),? ",
    re.IGNORECASE,
)
CERTAIN = re.compile(
    r"^(?:I (?:know|said|told you|can (?:honestly |safely |now |finally |proudly )*say|"
    r"mentioned|already said|must say|have to say|should say|am "
    r"(?:happy|glad|proud) to say)|remember|note|by the way|the truth is|"
    r"the thing is|as you know|for the record|fun fact|in fact|to be exact|to be honest|it "
    r"turns out|turns out|"
    r"(?:good|bad|sad|great|big|exciting|terrible) news|update|I just found out)(?: that)?[,:]? (?=\S)",
    re.IGNORECASE,
)
TOLD = re.compile(
    rf"^(?P<who>{NAME}|(?i:my|his|her|our) [\w-]+(?: {NAME})?) (?:(?:just|also|now) )?(?P<verb>says?|"
    rf"said|told (?:me|us)|thinks?|thought|claims?|claimed|believes?|heard|reckons?|mentioned|"
    rf"insists?|writes?|wrote)(?: that)?,? (?P<what>.+)$"
)
WISH = re.compile(r"^I (?:only )?wish (?:that )?(?P<rest>.+)$", re.IGNORECASE)
UNREAL = re.compile(r"\b(?:would have|could have|should have|as if|pretend(?:ing)?)\b", re.IGNORECASE)
ECHO = re.compile(
    r"\b(?:noted|got it|you (?:said|told|mentioned)|I have (?:it|both|corrected|changed|taken|"
    r"struck)|saved|struck out)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Reading:
    """What is found while a turn is read, sentence by sentence."""

    turn: Turn
    context: Sequence[Turn]
    beliefs: Beliefs
    referents: Referents
    claims: list[Claim] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    intents: dict[str, None] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)


def understand(turn: Turn, context: Sequence[Turn], beliefs: Beliefs) -> Understanding:
    """Return the claims, statements, intents and questions of a turn.

    Args:
        turn: what was said.
        context: earlier turns of the session, oldest first.
        beliefs: what is known; it names relatives and holds what a correction or withdrawal refers to.

    Deterministic; never raises on any text. Cost O(len(text)) plus, for a withdrawal or correction, O(claims).
    """
    reading = _Reading(turn, context, beliefs, Referents.of(turn, context, beliefs))
    found = sentences(turn.text)[:MOST_SENTENCES]
    for place, sentence in enumerate(found):
        _sentence(reading, sentence, first=place == 0)
    if not reading.intents:
        reading.intents["chat"] = None
    return Understanding(
        claims=tuple(dict.fromkeys(reading.claims)),
        statements=tuple(reading.statements),
        intents=tuple(reading.intents),
        questions=tuple(reading.questions),
    )


def _sentence(reading: _Reading, sentence: Sentence, *, first: bool) -> None:
    if GREETING.match(sentence.raw):
        reading.intents["greet"] = None
    if is_question(sentence.raw, sentence.text, sentence.question):
        reading.intents["ask"] = None
        reading.questions.append(sentence.raw)
        reading.referents.note(sentence.raw)
        return
    if not sentence.text or (reading.turn.role == "assistant" and ECHO.search(sentence.text)):
        return
    if is_withdrawal(sentence.text) and reading.turn.role != "assistant":
        _repair(
            reading, withdrawals(sentence.text, reading.turn, reading.context, reading.beliefs), sentence, Act.WITHDRAW
        )
        return
    mending = (
        corrections(sentence.text, reading.turn, reading.context, reading.beliefs)
        if reading.turn.role == "user"
        else []
    )
    if mending:
        _repair(reading, mending, sentence, Act.CORRECT)
        return
    whole = (
        completed(sentence, reading.context, reading.turn.speaker)
        if first and reading.turn.role != "assistant"
        else None
    )
    if whole:
        _state(reading, replace(sentence, text=whole))
    _state(reading, sentence)
    reading.referents.note(sentence.raw)


def _repair(reading: _Reading, claims: list[Claim], sentence: Sentence, act: Act) -> None:
    reading.intents["withdraw" if act is Act.WITHDRAW else "correct"] = None
    reading.claims.extend(claims)
    reading.statements.append(Statement(text=sentence.raw, act=act))


def _state(reading: _Reading, sentence: Sentence) -> None:
    found: list[Proposition] = []
    for text in clauses_of(plainly(mended(sentence.text, reading.turn.at))):
        found.extend(_clause(reading, text.strip(" ,"), Modality.ASSERTED, 0))
        reading.referents.note_place(text)
    if reading.turn.role == "assistant":
        found = [p for p in found if p.subject != reading.referents.speaker]
    if not found:
        return
    span = sentence.text
    reading.claims.extend(
        _claim(reading.turn, proposition, span) for proposition in found if HOLE not in proposition.object.label
    )
    reading.statements.append(Statement(text=span, modality=found[0].modality))
    reading.intents["inform"] = None
    if any(proposition.modality is Modality.PLANNED for proposition in found):
        reading.intents["plan"] = None


def _clause(reading: _Reading, text: str, modality: Modality, depth: int) -> list[Proposition]:
    if depth > 3 or UNREAL.search(text):
        return []
    hedge, certain, told, wish = HEDGE.match(text), CERTAIN.match(text), TOLD.match(text), WISH.match(text)
    if hedge:
        return _clause(reading, text[hedge.end() :], Modality.POSSIBLE, depth + 1)
    if certain:
        return _clause(reading, text[certain.end() :], modality, depth + 1)
    if told:
        return _told(reading, told, depth)
    if wish:
        had = re.match(r"(?:I|we) had (.+)$", wish["rest"])
        return _clause(reading, f"I want {had[1]}", Modality.DESIRED, depth + 1) if had else []
    tokens = words(text)
    clause = parse_clause(tokens, terse=reading.turn.role != "assistant")
    if clause is None:
        return []
    lead, clause = _leading_time(clause)
    found = propose(clause, lead, reading.referents, reading.turn.at)
    if modality is Modality.ASSERTED:
        return found
    return [replace(p, modality=modality) if p.modality in (Modality.ASSERTED, Modality.PLANNED) else p for p in found]


def _told(reading: _Reading, told: re.Match[str], depth: int) -> list[Proposition]:
    """Read what somebody is reported to say: firm about himself, hearsay about anything else."""
    who = reading.referents.resolve(told["who"])
    if who is None:
        return []
    reading.referents.mention(who)
    about_self = re.match(r"(?:he|she)\b", told["what"]) and told["verb"].startswith(
        ("told", "said", "says", "mention")
    )
    return _clause(reading, told["what"], Modality.ASSERTED if about_self else Modality.POSSIBLE, depth + 1)


def _leading_time(clause: Clause) -> tuple[str, Clause]:
    """Split "On Saturday I" into its time and its subject."""
    match = re.match(
        r"(.*?\b)(I|we|he|she|it|they|you|(?:my|our|his|her|the) [\w' ]+|[^\W\d_a-z][\w']*(?:(?:, "
        r"| and )(?:I|[^\W\d_a-z][\w']*))*)$",
        clause.subject,
    )
    lead = re.match(
        r"(?:on|in|since|until|from|at|last|next|this|yesterday|today|tomorrow|tonight|for|after|"
        r"before|by|these days|nowadays|\d+|an? (?:year|month|week|day|couple|few)|two|three|four|five|six)\b",
        clause.subject,
        re.IGNORECASE,
    )
    if match is None or lead is None or not match[1].strip(" ,"):
        return "", clause
    return match[1], replace(clause, subject=match[2])


def _claim(turn: Turn, proposition: Proposition, span: str) -> Claim:
    return Claim(
        subject=proposition.subject,
        relation=proposition.kind.relation,
        object=proposition.object,
        polarity=proposition.polarity,
        modality=proposition.modality,
        valid=proposition.valid,
        ended=proposition.ended,
        functional=proposition.kind.functional,
        confidence=proposition.confidence,
        turn_id=turn.turn_id,
        speaker=turn.speaker,
        role=turn.role,
        known_at=turn.at,
        span=span,
    )
