"""A new value -> the slot where the old one stands, although it is told of in other words.

"The wifi password here in the flat is herring42", and months later "the wifi password is mackerel77 from today"; "the
parking sets me back 85 dollars a month", then "they bumped the parking up, 110 a month now". Read alone the second
sentence starts a fact of its own, and both would be held. Whoever knows the first fact hears an update: the value is of
the same kind, and the sentence speaks of the same thing. So before a value becomes a claim, it is compared with the
values that are held. What shares too little with any of them, or as much with two, is left as it was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from doxa.core.values import Act, Claim, Fact, Interval, Modality, Status, Turn
from doxa.language import stems
from doxa.language.times import NUMBERS, find_times
from doxa.memory import Beliefs, is_name, measures
from doxa.understand.measures import COMPARED, with_number
from doxa.understand.referents import term

__all__ = ["realigned"]

DIFFERENCES = frozenset("lose gain put_on add shed save take_off".split())
"""Verbs of which the object is a difference."""
ENOUGH = 0.5
"""Share of what a held value is about that a sentence has to speak of."""
GENERIC = frozenset(
    stems(
        "space place thing level number price fee cost rate day time date value total amount bill size new old current "
        "costs is at on in takes place starts begins has weighs height earns salary called pays pay charge set sets"
    )
)
"""Words that say little about what a value is of; they count half."""
TAIL = re.compile(r" (?:in|on|at|of|for|from|behind|near|by|with|to|here|there|under|over|between) .*$")
FROM = re.compile(r"\b(?:from|as of|as from|since|starting|effective|beginning)\b(?: on)? ", re.IGNORECASE)
GOING_ON = re.compile(
    r"\b(?:it|that|them|this|now|again|up|down|left|only|back|instead|makes|more|from today|as of|any more|"
    r"anymore|still)\b",
    re.IGNORECASE,
)
"""Marks of a sentence that goes on about something."""
SHORT = 14
"""Words of a sentence that may go on about something without naming it."""
RECENT = 4
NAMED_KINDS = frozenset(["money", "number", "date", "clock", "weekday", "code"])
"""Kinds of values that do not say themselves what is counted."""
COUNTED = "|".join(sorted((word for word in NUMBERS if word not in ("a", "an", "one")), key=len, reverse=True))
VALUE = re.compile(
    r"(?:[€$£]\s?)\d[\d.,]*|\b\d{1,2}[:.]\d\d(?: ?[ap]m)?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|"
    rf"\b(?:\d[\d.,]*|{COUNTED})(?:\s(?:a|per)\s\w+|\s[a-z]+(?:\s(?:a|an|per)\s[a-z]+)?)?|\b[a-z]+\d+\b",
    re.IGNORECASE,
)
LABELLED = re.compile(r"\b[a-z]+ [A-Z]?\d[\w.]*\b", re.IGNORECASE)
"""A thing that is told from others by a number: "pier 7", "class 2B"."""
ROLE = frozenset(["is_a", "works_as", "is_elected", "is", "elected", "be_elected", "is_appointed"])


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence, and what stood before it in its turn."""

    text: str
    words: frozenset[str]
    earlier: frozenset[str]
    turn: Turn
    context: Sequence[Turn]
    beliefs: Beliefs


def realigned(
    claims: Sequence[Claim], text: str, before: str, turn: Turn, context: Sequence[Turn], beliefs: Beliefs
) -> list[Claim]:
    """Return the claims of a sentence, with new values of what is known in the slots of the old ones.

    Args:
        claims: what the sentence says by itself.
        text: the sentence, written out.
        before: the sentences of the turn before it.
        turn: the turn.
        context: earlier turns of the session.
        beliefs: what is held.

    Cost O(held values of the same kind that share a word with the sentence).
    """
    said = _Said(text, frozenset(stems(text)), frozenset(stems(before)), turn, context, beliefs)
    found = [claim if _differs(claim) else _moved(claim, said) for claim in claims]
    roles = [role for claim in claims if (role := _role(claim, said)) is not None]
    if not any(measures(claim.object.label) for claim in found):
        found += _values(said)
    return [*found, *roles]


def _differs(claim: Claim) -> bool:
    """Tell whether a value says by how much something changed, not what it is ("lost four kilos", "2 euros more")."""
    return claim.relation.name in DIFFERENCES or COMPARED.search(claim.object.label) is not None


def _moved(claim: Claim, said: _Said) -> Claim:
    """Return a claim in the slot of the value that it renews, if there is one."""
    kind = measures(claim.object.label)
    if not kind or not _states(claim) or said.beliefs.in_slot(said.beliefs.slot(claim)):
        return claim
    held = _rival(kind, said, claim)
    if held is None:
        return claim
    return replace(claim, subject=held.subject, relation=held.relation, functional=True)


def _states(claim: Claim) -> bool:
    plain = claim.polarity and claim.act in (Act.STATE, Act.CORRECT) and not claim.ended
    happened = claim.valid.start is not None and claim.valid.start == claim.valid.end and not claim.functional
    return plain and not happened and claim.modality in (Modality.ASSERTED, Modality.PLANNED)


def _values(said: _Said) -> Iterator[Claim]:
    """Yield claims for the values of a sentence of which nothing else was read."""
    for match in (*VALUE.finditer(said.text), *LABELLED.finditer(said.text)):
        value = match[0].strip()
        kind = measures(value)
        held = _rival(kind, said, None) if kind else None
        if held is None and (number := re.match(r"[€$£]?\d[\d.,:]*\d|[€$£]?\d", value)):
            held, value = _going_on(said), number[0]
            value = with_number(held.object.label, value) if held is not None else value
        if held is not None and term(value).key != held.object.key:
            yield Claim(
                subject=held.subject,
                relation=held.relation,
                object=term(value),
                modality=held.modality,
                valid=Interval(start=_start(said)),
                functional=True,
                turn_id=said.turn.turn_id,
                speaker=said.turn.speaker,
                role=said.turn.role,
                known_at=said.turn.at,
                span=said.text,
                confidence=0.8,
            )
            return


def _start(said: _Said) -> date | None:
    """Return since when a new value holds, where the sentence says so."""
    for span in find_times(said.text, said.turn.at, past=False):
        lead = said.text[: span.start]
        if span.valid.start is not None and (FROM.search(f"{lead[-20:]} ") or FROM.match(f"{span.text} ")):
            return span.valid.start
    return None


def _rival(kind: str, said: _Said, claim: Claim | None) -> Fact | None:
    """Return the held value of a kind that a sentence speaks of; None where none or several fit."""
    scored: dict[tuple[str, str], tuple[float, Fact]] = {}
    if claim is not None:  # "it" of the sentence is what its claim names
        said = replace(said, words=said.words | set(stems(f"{claim.subject.label} {claim.relation.label}")))
    for fact in said.beliefs.valued(kind, said.words | said.earlier):
        fit = _fit(fact, said, claim)
        key = (fact.subject.key, fact.relation.name)
        if fit >= ENOUGH and fit >= scored.get(key, (0.0, fact))[0]:
            scored[key] = (fit, fact)
    best = sorted(scored.values(), key=lambda pair: -pair[0])
    if not best or (len(best) > 1 and best[1][0] == best[0][0]):
        return None
    return best[0][1]


def _fit(fact: Fact, said: _Said, claim: Claim | None) -> float:
    """Return how much of what a held value is about a sentence speaks of, 0 to 1; 0 for another person's."""
    owner, _, noun = fact.subject.label.rpartition("'s ")
    person = is_name(fact.subject) and not owner
    names = fact.subject.label if person else owner
    mentioned = not names or names == said.turn.speaker or set(stems(names)) <= said.words | said.earlier
    if not mentioned or fact.status is not Status.HELD:
        return 0.0
    other = claim is not None and is_name(claim.subject) and claim.subject.label != said.turn.speaker
    if claim is not None and other and person and claim.subject.key != fact.subject.key:
        return 0.0
    about = [] if person and names == said.turn.speaker else stems(TAIL.sub("", noun or fact.subject.label))
    about += (
        stems(TAIL.sub("", fact.relation.label)) if fact.relation.label == fact.relation.name.replace("_", " ") else []
    )
    kind = measures(fact.object.label)
    about += [] if kind in NAMED_KINDS else kind.split()
    weights = {word: 0.5 if word in GENERIC else 1.0 for word in about}
    if not any(weight == 1.0 for weight in weights.values()):
        return 0.0
    got = sum(w * (1.0 if word in said.words else 0.8 if word in said.earlier else 0.0) for word, w in weights.items())
    telling = any(word in said.words | said.earlier for word, weight in weights.items() if weight == 1.0)
    return got / sum(weights.values()) if telling else 0.0


def _going_on(said: _Said) -> Fact | None:
    """Return the one value that was just spoken of, for a short sentence that goes on about it."""
    if len(said.text.split()) > SHORT or not GOING_ON.search(said.text):
        return None
    own = [turn for turn in said.context if turn.speaker == said.turn.speaker][-RECENT:]
    for turn in reversed(own):
        facts = {
            fact.fact_id: fact
            for claim in said.beliefs.said_in(turn.turn_id)
            for fact in said.beliefs.in_slot(said.beliefs.slot(claim))
            if fact.functional and fact.status is Status.HELD and re.match(r"[€$£]?\d", fact.object.label)
        }
        if facts:
            return next(iter(facts.values())) if len(facts) == 1 else None
    return None


def _role(claim: Claim, said: _Said) -> Claim | None:
    """Return who holds a post now, where somebody is said to be what another was known as."""
    if claim.relation.name not in ROLE or not is_name(claim.subject) or not _states(claim):
        return None
    role = set(stems(claim.object.label))
    for fact in said.beliefs.valued("", role):
        noun = stems(fact.relation.label)
        if fact.status is Status.HELD and noun and set(noun) <= role and is_name(fact.object):
            owner = fact.subject.label
            if owner == said.turn.speaker or set(stems(owner)) <= said.words | role:
                if fact.object.key == claim.subject.key:
                    return None
                return replace(
                    claim, subject=fact.subject, relation=fact.relation, object=claim.subject, functional=True
                )
    return None
