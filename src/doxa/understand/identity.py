"""What a turn says about names: which stand for one person or thing, and which do not.

Three sources of evidence, the surest first: what is stated ("Bob is short for Robert"), a described relative who gets
a name ("my sister is called Mia"), and names that look alike (`variants.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from doxa.core.values import Act, Claim, Modality, Term, Turn
from doxa.language import MOST_SENTENCES
from doxa.memory import SAME_AS, Beliefs, is_name, is_tie, pair_of
from doxa.understand.declaratives import is_question
from doxa.understand.referents import NAME, PET, Referents, kin_of, named, term
from doxa.understand.text import sentences
from doxa.understand.variants import variants

__all__ = ["identify", "of_world"]

STATED, DESCRIBED = 0.95, 0.9
"""Confidence of an identity that is stated, and of a described relative who gets a name."""
ONE = rf"(?P<one>{NAME})"
TWO = rf"(?P<two>{NAME})"
SAME = r"(?:the )?same(?: (?:person|man|woman|thing|company|firm|place|city|one|guy|girl|band|band|dog|cat))?"
SORT = r"(?:nick|pet|stage|pen|maiden|former|old|new|other|full|real|birth|given|code|brand|short|first|last)[ -]?"
SOMEBODY = r"(?:[Ee]veryone|[Ee]verybody|[Pp]eople|[Ww]e|I|[Tt]hey|[Ff]riends|[Mm]ost people|[Mm]y \w+|[Oo]ur \w+)"
ADVERB = r"(?:(?:just|always|usually|all|now|also|often|actually|really|sometimes) )*"
WHOSE = r"(?:the|an?|my|our|his|her|their)"
STATEMENTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{ONE} (?:is|was) (?:\w+ )?(?:short|an? abbreviation|an? acronym|another name) (?:for|of) {TWO}$",
        rf"^{ONE} (?:is|was) {WHOSE} (?:{SORT}){{1,2}}?(?:name|form|nickname)? (?:for|of) {TWO}$",
        rf"^{ONE} (?:is|was) (?:{WHOSE} )?(?:abbreviation|nickname|alias|pseudonym) (?:for|of) {TWO}$",
        rf"^{ONE} (?:is|was) {TWO}'s (?:{SORT})?(?:name|nickname|alias|pseudonym)$",
        rf"^{TWO}'s (?:{SORT})?(?:name|nickname|alias|pseudonym) (?:is|was) {ONE}$",
        rf"^{ONE} (?:stands|is short) for {TWO}$",
        rf"^{ONE} (?:is|was) {ADVERB}{SAME} as {TWO}$",
        rf"^{ONE} and {TWO} are {ADVERB}(?:one and )?{SAME}$",
        rf"^{ONE} (?:is|was) {ADVERB}(?:known as|also (?:known as|called|named)|nicknamed|referred to as) {TWO}$",
        rf"^{ONE} (?:is|was) (?:now|formerly|previously|originally) (?:known as|called|named) {TWO}$",
        rf"^{ONE} {ADVERB}goes by (?:the name )?(?:of )?{TWO}$",
        rf"^{ONE}, (?:also known as|aka|a\.k\.a\.|alias|or|nicknamed|known as) {TWO}(?=,|$)",
        rf"^{SOMEBODY} {ADVERB}(?:calls?|named?|nicknamed?) {ONE},? {TWO}$",
    )
)
"""Whole clauses that say of two names that they are one's."""
DENIALS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^{ONE} (?:is|was) not {ADVERB}{SAME} as {TWO}$",
        rf"^{ONE} and {TWO} are not {ADVERB}{SAME}$",
        rf"^{ONE} and {TWO} are {ADVERB}(?:two )?different (?:people|persons|things|companies|firms|places|men|women)$",
        rf"^{ONE} (?:is|was) not {ADVERB}(?:short for|called|known as )?{TWO}$",
    )
)
HINT = re.compile(
    r"\b(?:calls?|called|named?|nickname|nicknamed|alias|aka|known|goes by|stands for|short for|same|different)\b|"
    r"a\.k\.a|\b[^\W\d_a-z][\w.'’-]* (?:is|was) not "
)
"""Without one of these words or forms a turn says nothing about names."""
OF_NAMES = re.compile(
    r"^(?:an? )?(?:short|(?:the )?same|(?:two )?different|.*\b(?:nick)?name|alias|abbreviation|acronym)\b"
)
LEAD = re.compile(
    r"^(?:and|but|so|well|oh|by the way|btw|fyi|also|note that|remember that|in fact|actually),? ", re.IGNORECASE
)
AGAIN = re.compile(
    r"\b(?:new|next|other|another|second|third|different|former|previous|ex|old|late)\b[\w ]{0,16}$", re.IGNORECASE
)
"""Before "sister": not the one who was spoken of."""


def identify(turn: Turn, context: Sequence[Turn], claims: Sequence[Claim], beliefs: Beliefs) -> list[Claim]:
    """Return the claims about names that follow from a turn: which stand for one person or thing, which do not.

    Args:
        turn: what was said.
        context: earlier turns of the session, oldest first.
        claims: what the turn says, as it was understood.
        beliefs: what was believed before it.

    Each has the turn as its source and its evidence as its span. Deterministic; never raises on any text. Cost
    O(len(text)), and for every name of the turn a bounded number of comparisons with names that are known.
    """
    found = list(_stated(turn, context, claims, beliefs))
    if turn.role != "assistant":
        found += _described(claims, beliefs)
        taken = {term.key for claim in found for term in (claim.subject, claim.object)}
        for one, other, probability, evidence in variants(claims, beliefs, skip=taken):
            found.append(_claim(turn, one, other, evidence, confidence=probability))
    surest: dict[tuple[str, str], Claim] = {}
    for claim in found:
        surest.setdefault((claim.subject.key, claim.object.key), claim)
    return list(surest.values())


def of_world(claims: Sequence[Claim], names: Sequence[Claim]) -> list[Claim]:
    """Return the claims of a turn that do not only repeat what it says of names ("Bob is short": for Robert)."""
    pairs = [{claim.subject.key: claim.subject, claim.object.key: claim.object} for claim in names]
    return [claim for claim in claims if not any(_repeats(claim, pair) for pair in pairs)]


def _repeats(claim: Claim, pair: dict[str, Term]) -> bool:
    if claim.subject.key not in pair or claim.relation.name == "is_called":
        return False
    words = rf"\b(?:{'|'.join(re.escape(key) for key in pair)})\b"
    copula = claim.relation.name in ("has_state", "is_a")
    return claim.object.key in pair or (
        copula and bool(re.search(words, claim.object.key) or OF_NAMES.search(claim.object.key))
    )


def _claim(
    turn: Turn, one: Term, other: Term, span: str, *, polarity: bool = True, confidence: float = STATED
) -> Claim:
    subject, thing = pair_of(one, other)
    return Claim(
        subject=subject, relation=SAME_AS, object=thing, polarity=polarity, confidence=confidence,
        act=Act.STATE if polarity else Act.CORRECT, turn_id=turn.turn_id, speaker=turn.speaker, role=turn.role,
        known_at=turn.at, span=span,
    )  # fmt: skip


def _stated(turn: Turn, context: Sequence[Turn], claims: Sequence[Claim], beliefs: Beliefs) -> Iterator[Claim]:
    if HINT.search(turn.text):
        yield from _read(turn, Referents.of(turn, context, beliefs))
    for claim in claims:
        if claim.relation.name == "is_called" and _whole(claim) and is_name(claim.subject) and is_name(claim.object):
            yield _claim(turn, claim.subject, claim.object, claim.span)


def _read(turn: Turn, referents: Referents) -> Iterator[Claim]:
    """Yield what the sentences of a turn say about names, one after the other, so that "my sister" is who she is."""
    for sentence in sentences(turn.text)[:MOST_SENTENCES]:
        text = LEAD.sub("", sentence.text)
        if is_question(sentence.raw, text, sentence.question) or text.casefold().startswith(("if ", "unless ")):
            continue
        for one, other, polarity in _pairs(text, referents):
            if one.key != other.key:
                yield _claim(turn, one, other, sentence.raw, polarity=polarity)
        referents.note(sentence.raw)


def _whole(claim: Claim) -> bool:
    """Tell whether a claim says of the present how things are."""
    stated = claim.modality is Modality.ASSERTED and claim.act is not Act.WITHDRAW
    return stated and claim.polarity and not claim.ended


def _pairs(text: str, referents: Referents) -> Iterator[tuple[Term, Term, bool]]:
    """Yield the names that a sentence makes one or tells apart."""
    for patterns, polarity in ((STATEMENTS, True), (DENIALS, False)):
        stated = next((found for pattern in patterns if (found := pattern.match(text))), None)
        if stated is not None and _names(stated["one"], stated["two"]):
            yield _term(stated["one"], referents), _term(stated["two"], referents), polarity
            return


def _names(*labels: str) -> bool:
    return all(named(label) for label in labels)


def _term(label: str, referents: Referents) -> Term:
    return referents.resolve(label) or term(label)


def _described(claims: Sequence[Claim], beliefs: Beliefs) -> Iterator[Claim]:
    """Yield that "Ana's sister" is Mia when Mia is named as the sister and no other sister is known by name."""
    for claim in claims:
        if not _whole(claim) or not is_tie(claim.relation.name) or not is_name(claim.object):
            continue
        noun = claim.relation.label
        described = Term(f"{claim.subject.key}'s {noun}", f"{claim.subject.label}'s {noun}")
        others = [fact for fact in beliefs.about(claim.subject.key, claim.relation.name) if fact.polarity]
        if any(not beliefs.identity.one(fact.object.key, claim.object.key) for fact in others):
            continue
        if re.search(rf", {re.escape(claim.object.label)},? and\b", claim.span):  # "my wife, Toby and I": a list
            continue
        known = beliefs.said_of(described.key) and len(beliefs.identity.names(described.key)) == 1
        if known and not _another(claim) and not beliefs.identity.apart(described.key, claim.object.key):
            subject, thing = pair_of(described, claim.object)
            yield Claim(
                subject=subject, relation=SAME_AS, object=thing, confidence=DESCRIBED, turn_id=claim.turn_id,
                speaker=claim.speaker, role=claim.role, known_at=claim.known_at, span=claim.span,
            )  # fmt: skip


def _another(claim: Claim) -> bool:
    """Tell whether the words before the relation say that somebody else is meant ("my new landlord")."""
    for match in re.finditer(r"[\w-]+(?: [\w-]+)?", claim.span):
        noun = match[0]
        if (kin_of(noun) or (noun if noun in PET else None)) == claim.relation.label:
            return bool(AGAIN.search(claim.span[: match.start()]) or AGAIN.search(noun.rpartition(" ")[0]))
    before, named_so, _ = claim.span.partition(claim.relation.label)
    return bool(named_so and AGAIN.search(before))
