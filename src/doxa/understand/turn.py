"""The step from a turn to its claims."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from doxa.backends.parser import Parser, TurnReader, split
from doxa.core.values import Act, Claim, Modality, Rule, Term, Turn
from doxa.language import MOST_SENTENCES
from doxa.language.times import Repeat, read_times
from doxa.memory import Beliefs, inventory, measures
from doxa.understand.alignment import realigned
from doxa.understand.declaratives import is_question
from doxa.understand.earlier import Earlier
from doxa.understand.extract import Scope, extract, joined, parsed_texts, people
from doxa.understand.hearing import Hearing, amended, heard_lines, hearing_of
from doxa.understand.propose import Proposition
from doxa.understand.referents import Referents, kin_of, named, term
from doxa.understand.refinements import refined
from doxa.understand.repairs import is_mending, is_slip, mended, resaid, settled, taken_back
from doxa.understand.rules import find_rules
from doxa.understand.text import Sentence, sentences
from doxa.understand.values import Statement, Understanding
from doxa.understand.withdrawals import Withdrawal, dropped_rules, is_withdrawal, withdrawals

__all__ = ["read_ahead", "understand"]

ADDITION = re.compile(r"\b(?:also|as well|too)\b", re.IGNORECASE)
"""Says that a value comes on top of others: what it adds to is not over."""
AMENDING = {Act.WITHDRAW: "withdraw", Act.CORRECT: "correct"}
"""The intents of a turn that does something to earlier words."""
OPEN = frozenset(["has", "is_a", "has_state"])
"""Listed relations that say so little that their objects tell whether there is one at a time."""

GREETING = re.compile(r"^(?:hi|hello|hey|good (?:morning|evening|afternoon)|guten \w+|welcome)\b", re.IGNORECASE)
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
    parser: Parser | None
    claims: list[Claim] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    intents: dict[str, None] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    said: str = ""
    """The sentences of the turn so far, written out."""
    withdrawn_rules: list[str] = field(default_factory=list)
    plain: Collection[str] = ()
    """Sentences that do nothing with earlier words, whatever they look like."""
    hearing: Hearing | None = None
    """What a reader of turns heard; None where there is none."""
    span: tuple[int, int] = (0, 0)
    """Where the sentence that is read stands in the turn."""

    def earlier(self, *, whole: bool = False) -> Earlier:
        found = Earlier(self.turn, self.context, self.beliefs, tuple(self.claims))
        return replace(found, reach=None) if whole else found


def understand(
    turn: Turn,
    context: Sequence[Turn],
    beliefs: Beliefs,
    parser: Parser | None = None,
    *,
    plain: Collection[str] = (),
) -> Understanding:
    """Return the claims, statements, intents and questions of a turn.

    Args:
        turn: what was said.
        context: earlier turns of the session, oldest first.
        beliefs: what is known; it names relatives and holds what a correction or withdrawal refers to.
        parser: parses its sentences.
        plain: written-out sentences that take nothing back and put nothing right, whatever they look like.

    Deterministic; never raises on any text. Cost O(len(text)) plus, for a withdrawal or correction, O(claims).
    """
    reading = _Reading(turn, context, beliefs, Referents.of(turn, context, beliefs), parser, plain=plain)
    if parser is not None:
        for name in people(context[-2:], parser):
            reading.referents.mention(reading.referents.called(name))
    _spoken_of(reading)
    found = sentences(turn.text)[:MOST_SENTENCES]
    reading.hearing = hearing_of(turn, context, parser)
    for sentence in found:
        start = reading.span[1]
        end = len(turn.text) + 1 if sentence is found[-1] else _end(turn.text, start, sentence.raw)
        reading.span = start, end
        _sentence(reading, sentence)
    if not reading.intents:
        reading.intents["chat"] = None
    return Understanding(
        claims=tuple(dict.fromkeys([*taken_back(reading.claims), *reading.claims])),
        rules=tuple(dict.fromkeys(reading.rules)),
        withdrawn_rules=tuple(dict.fromkeys(reading.withdrawn_rules)),
        statements=tuple(reading.statements),
        intents=tuple(reading.intents),
        questions=tuple(reading.questions),
    )


def _end(text: str, start: int, raw: str) -> int:
    """Return where a sentence of a turn ends that begins at `start` or later; it may be written with other marks."""
    tail = re.escape(raw[-12:].strip()).replace("'", "['\u2019]")
    least = start + 0.8 * len(raw) - 3
    return next((one.end() for one in re.finditer(tail, text) if one.end() >= least), min(len(text), start + len(raw)))


def read_ahead(told: Sequence[tuple[Turn, Sequence[Turn]]], parser: Parser, *, most: int) -> None:
    """Have a parser that remembers see turns together, so that `understand` need not wait for it turn by turn.

    Args:
        told: turns and the earlier ones of their sessions, as `understand` will be given them.
        parser: the one that it will be given.
        most: sentences of a turn that are parsed.

    Raises:
        BackendError: the parser failed.
    """
    parser.parse([forms for turn, _ in told for forms in _sentences_ahead(turn, most)])
    if isinstance(parser, TurnReader):
        parser.hear([lines for turn, context in told if (lines := heard_lines(turn, context))])


def _sentences_ahead(turn: Turn, most: int) -> list[list[str]]:
    """Return the words of what `understand` will have parsed of a turn, `most` sentences of it."""
    texts = [text for one in sentences(turn.text)[:most] if one.text for text in parsed_texts(one.text, turn.at)]
    return [[word.form for word in words] for text in texts[:most] for words in split(text) if words]


def _spoken_of(reading: _Reading) -> None:
    """Note whom the last turns were about by a description ("the plumber"), and forget names that were corrected."""
    referents = reading.referents
    for earlier in reading.context[-2:]:
        for claim in reading.beliefs.said_in(earlier.turn_id):
            if claim.act is Act.CORRECT and claim.replaces is not None:
                referents.people = [person for person in referents.people if person.key != claim.replaces]
            who = _described(claim)
            if who is not None:
                referents.mention(who)
            if who != claim.subject and claim.subject != referents.speaker and not named(claim.subject.label):
                referents.topic, referents.carried = claim.subject, True


def _described(claim: Claim) -> Term | None:
    """Return the person whom a claim is about by a description, or whose thing it is about."""
    owner, _, noun = claim.subject.label.rpartition("'s ")
    if kin_of(noun):
        return claim.subject
    if owner:
        return term(owner) if kin_of(owner.rpartition("'s ")[2]) else None
    return claim.subject if claim.relation.name == "is_called" and not named(noun) else None


def _sentence(reading: _Reading, sentence: Sentence) -> None:
    if GREETING.match(sentence.raw):
        reading.intents["greet"] = None
    if is_question(sentence.raw, sentence.text, sentence.question):
        reading.intents["ask"] = None
        reading.questions.append(sentence.raw)
        reading.referents.note(sentence.raw)
        return
    if not sentence.text or (reading.turn.role == "assistant" and ECHO.search(sentence.text)):
        return
    takes = reading.turn.role == "user" and sentence.text not in reading.plain
    if takes and (rest := _taken(reading, sentence)) is not None:
        if rest:
            _state(reading, replace(sentence, text=rest))
        return
    _state(reading, _ruled(reading, sentence))
    reading.referents.note(sentence.raw)


def _taken(reading: _Reading, sentence: Sentence) -> str | None:
    """Take what a sentence takes back; return what is left of it to be read, None when it takes nothing back."""
    text = sentence.text
    reading.said = f"{reading.said} {text}."
    if not is_withdrawal(text):
        return None
    rules, taken = dropped_rules(text, reading.beliefs), Withdrawal()
    if not rules and (found := withdrawals(text, reading.earlier(whole=True))) is not None:
        taken = found
    elif not rules and not (rules := dropped_rules(text, reading.beliefs, named=False)):
        return None
    reading.withdrawn_rules.extend(rules)
    reading.intents["withdraw"] = None
    reading.claims.extend(taken.claims)
    if taken.claims:
        reading.statements.append(Statement(text=sentence.raw, act=Act.WITHDRAW))
    return taken.rest


def _ruled(reading: _Reading, sentence: Sentence) -> Sentence:
    """Take the rules of a sentence, and return what it says beside them."""
    found, rest = find_rules(sentence.text, reading.turn, reading.context, reading.referents, reading.parser)
    if found:
        reading.span = reading.span[1], reading.span[1]  # what a rule is about is not told
        reading.rules.extend(found)
        reading.statements.append(Statement(text=sentence.text, modality=Modality.HYPOTHETICAL))
        reading.intents["inform"] = None
    return replace(sentence, text=rest)


def _state(reading: _Reading, sentence: Sentence) -> None:
    turn = reading.turn
    scope = Scope(referents=reading.referents, at=turn.at, role=turn.role, parser=reading.parser)
    text, said = mended(sentence.text, turn.at), reading.said
    if turn.role == "user" and is_slip(text):
        before = _said_before(reading)
        meant = resaid(text, before, turn.at)
        text, said = meant, f"{said} {before}" if meant != text else said
    found = extract(text, scope)
    if reading.hearing is not None:
        heard = reading.hearing.propositions(reading.referents, *reading.span)
        found = joined(found, [one for one in heard if not _displaces(one, reading.beliefs)])
    found = list(refined(found, sentence.text, reading.beliefs))
    span = sentence.text
    earlier = reading.earlier()
    claims = [claim for one in found for claim in amended(_claim(turn, one, span), one.instead, earlier, span)]
    if turn.role == "user":
        if text != sentence.text or is_mending(said):
            claims = settled(claims, earlier, said)
        claims = realigned(claims, text, reading.said, turn, reading.context, reading.beliefs)
    claims = _distinct(claims)
    if not claims:
        return
    reading.claims.extend(claims)
    act = next((claim.act for claim in claims if claim.act in AMENDING), claims[0].act)
    reading.statements.append(Statement(text=span, act=act, modality=claims[0].modality))
    reading.intents[AMENDING.get(act, "inform")] = None
    if any(proposition.modality is Modality.PLANNED for proposition in found):
        reading.intents["plan"] = None


def _said_before(reading: _Reading) -> str:
    """Return the last sentence that the speaker said before this turn; nothing if that is long ago."""
    own = [one.text for one in reading.context[-3:] if one.speaker == reading.turn.speaker]
    return sentences(own[-1])[-1].text if own and own[-1].strip() else ""


def _displaces(heard: Proposition, beliefs: Beliefs) -> bool:
    """Tell whether something else is believed where there is one value at a time: what is heard is not sure enough."""
    known = beliefs.about(heard.subject.key, heard.kind.name) if heard.kind.functional else ()
    return heard.act is Act.STATE and any(fact.object != heard.object for fact in known)


def _distinct(claims: Sequence[Claim]) -> list[Claim]:
    """Return claims without those that say no more than one before them."""
    kept: dict[object, Claim] = {}
    for one in claims:
        kept.setdefault((one.subject, one.relation.name, one.object, one.polarity, one.act, one.replaces), one)
    return list(kept.values())


def _single(turn: Turn, proposition: Proposition) -> bool:
    """Tell whether a proposition has one value at a time: by its relation, or as a state that measures something.

    "The ferry leaves from pier 3" has; what happened on a day ("I ran 5 km") may happen with another value.
    """
    if proposition.kind.functional:
        return True
    valid, states = proposition.valid, proposition.modality in (Modality.ASSERTED, Modality.PLANNED)
    happened = valid.start is not None and valid.start == valid.end and valid.start <= turn.at.date()
    listed = inventory().relations.get(proposition.kind.name)
    open_ = listed is None or listed.name in OPEN
    return open_ and states and not happened and not proposition.ended and bool(measures(proposition.object.label))


def _at_times(turn: Turn, span: str) -> bool:
    """Tell whether a sentence is about some of the time ("on Fridays"): at other times another value holds."""
    return any(isinstance(one.value, Repeat) for one in read_times(span, turn.at))


def _claim(turn: Turn, proposition: Proposition, span: str) -> Claim:
    return Claim(
        subject=proposition.subject,
        relation=proposition.kind.relation,
        object=proposition.object,
        polarity=proposition.polarity,
        modality=proposition.modality,
        act=proposition.act,
        valid=proposition.valid,
        ended=proposition.ended,
        functional=_single(turn, proposition),
        adds=ADDITION.search(span) is not None or (proposition.kind.usual and _at_times(turn, span)),
        confidence=proposition.confidence,
        turn_id=turn.turn_id,
        speaker=turn.speaker,
        source=proposition.source,
        role=turn.role,
        known_at=turn.at,
        span=span,
    )
