"""From clauses to propositions: what a clause says of whom, when, and how it is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from doxa.core.values import Modality, Term
from doxa.language.times import TimeSpan
from doxa.language.words import PRONOUNS
from doxa.memory import is_tie
from doxa.understand.clauses import PART_OF, Clause, Complement
from doxa.understand.descriptions import describe_subject
from doxa.understand.events import called, price
from doxa.understand.frames import match_frames
from doxa.understand.measures import measured
from doxa.understand.open_clauses import open_clause
from doxa.understand.plans import CANCELLING, MOVING, appointment, replanned, visit
from doxa.understand.predicates import framed, plain
from doxa.understand.predications import Predication
from doxa.understand.referents import PET, Referents, clean, kin_of, named, term
from doxa.understand.scene import (
    HOLE,
    Proposition,
    Scene,
    owner_of,
    possessed,
)

__all__ = ["HOLE", "Proposition", "propose", "propose_parsed"]

UNKNOWN_HAND = MOVING | CANCELLING
"""Verbs for what is done to somebody's plans, where "they" may be anybody."""
NO_ONE = re.compile(
    r"(?:(?:no|not|every|each|any) (?!one of my)\w|(?:every|some|any|no)(?:one|body|thing) )", re.IGNORECASE
)
"""Subjects of general statements, which are rules, and of denials of them."""
MEASURED = re.compile(r"(?!(?:we|they|it|this|that|he|she|my|our|his|her|their|its|the|an?)\b)[a-z]+(?: [a-z]+)?(?<!s)")
"""A noun without an article before a number is the speaker's: "blood pressure was 145 over 92"."""
ONE = re.compile(r"(?<=[a-z] )ones?$")
THING = re.compile(r"(?:the|a|an|my|our|this|that|his|her|their|[a-z]+$|\w+'s) ?", re.IGNORECASE)
WEATHER = frozenset("rain pour snow hail drizzle freeze storm thunder thaw".split())
"""Verbs whose "it" is nothing."""
UNNAMED = frozenset(["the children", "the kids", "the boys", "the girls"])
"""Groups whose members are not known here; what is said of them is left out."""


def propose(clause: Clause, complement: Complement, referents: Referents, at: datetime) -> Iterator[Proposition]:
    """Yield what the patterns make of a clause that was not parsed; its subject is noted in `referents`."""
    for scene in _scenes(clause, complement, [clause.subject], (), referents, at, dated=False):
        yield from _read(scene)


def propose_parsed(predication: Predication, referents: Referents, at: datetime) -> list[Proposition]:
    """Return what a parsed clause says: by the patterns for its verb, else under the name of the verb itself."""
    predication = _resolved(predication, referents)
    nouns = list(predication.subjects) or [""]
    found: list[Proposition] = []
    for scene in _scenes(
        predication.clause, predication.complement, nouns, predication.times, referents, at, dated=predication.dated
    ):
        known = list(_read(scene))
        anybody = predication.subjects[:1] and predication.subjects[0].casefold() == "they"
        more = () if known or anybody else open_clause(scene, predication)
        for told in (*known, *more):
            found.append(replace(_tied(told, referents), confidence=told.confidence * predication.sure))
    _note(found, referents)
    for text in (*predication.objects, *(text for _, text in predication.complement.phrases)):
        if named(text) and term(text) in referents.people:
            referents.mention(term(text))  # "ran into Pim, he ...": of those who are known, the last one named
    _note_topic(predication, referents)
    return found


def _resolved(predication: Predication, referents: Referents) -> Predication:
    """Put the thing that was spoken of for "it", and its noun for "one" ("the new one" -> "the new cello")."""

    clause = predication.clause
    vague = clause.verb == "be" and not predication.times and not re.search(r"\d", clause.rest)
    nobody = clause.verb in WEATHER or (referents.carried and vague)

    def plain(text: str) -> str:
        if text.casefold() == "it" and nobody:
            return text
        if text.casefold() == "it" and referents.topic is not None:
            return referents.topic.label
        return ONE.sub(referents.kind, text) if referents.kind else text

    complement = predication.complement
    phrases = tuple((prep, plain(text)) for prep, text in complement.phrases)
    objects = tuple(plain(text) for text in predication.objects)
    direct = plain(complement.direct) if len(objects) < 2 else complement.direct
    return replace(
        predication,
        subjects=tuple(plain(text) for text in predication.subjects),
        objects=objects,
        complement=Complement(direct=direct, phrases=phrases),
    )


def _note_topic(predication: Predication, referents: Referents) -> None:
    """Note the thing that a clause is about, its subject before its object, for what follows in the turn."""
    objects = () if predication.clause.verb == "be" else predication.objects
    for text in (*predication.subjects, *objects):
        noun = clean(text)
        if noun.casefold() in PRONOUNS or named(noun) or kin_of(noun) or not noun:
            continue
        if predication.clause.modality in (Modality.POSSIBLE, Modality.HYPOTHETICAL, Modality.DESIRED):
            continue
        thing = referents.resolve(text)
        if thing is not None and thing != referents.speaker and THING.match(text):
            referents.topic, referents.kind, referents.carried = thing, noun.split()[-1], False
            return


def _scenes(
    clause: Clause,
    complement: Complement,
    nouns: list[str],
    times: tuple[TimeSpan, ...],
    referents: Referents,
    at: datetime,
    *,
    dated: bool,
) -> Iterator[Scene]:
    """Yield one scene for every subject that is known; people among them are noted when its reading is done."""
    if complement.direct == "here":
        prep = "to" if clause.verb in ("move", "relocate", "go", "travel", "fly", "drive") else "in"
        place = ((prep, referents.place.label),) if referents.place else ()
        complement = Complement(direct="", phrases=(*place, *complement.phrases))
    if clause.verb == "be" and re.match(r"[€$£]?\d", complement.direct):
        nouns = [f"my {noun}" if MEASURED.fullmatch(noun) else noun for noun in nouns]
    for noun in nouns:
        subject = _subject(noun, clause, referents)
        if subject is None:
            continue
        scene = Scene(
            clause=clause,
            complement=complement,
            times=times,
            subject=subject,
            owner=owner_of(noun, referents),
            noun=possessed(noun),
            dated=dated,
            referents=referents,
            at=at,
        )
        yield scene
        _mention(noun, scene)


def _tied(told: Proposition, referents: Referents) -> Proposition:
    """Return a tie with the person whom the name means among those who have it."""
    if not is_tie(told.kind.name) or not named(told.object.label) or not told.polarity:
        return told
    return replace(told, object=referents.tied(told.subject, told.kind.name, told.object))


def _note(found: Sequence[Proposition], referents: Referents) -> None:
    """Note the people whom a clause introduces ("my best friend is Kofi")."""
    for told in found:
        if is_tie(told.kind.name) and named(told.object.label):
            referents.mention(told.object)


def _subject(noun: str, clause: Clause, referents: Referents) -> Term | None:
    """Return whom a clause is about; a sentence without a subject is about its speaker."""
    if noun.casefold() in UNNAMED or PART_OF.match(noun) or NO_ONE.match(noun):
        return None
    subject = referents.resolve(noun) if noun else referents.speaker
    anybody = noun.casefold() == "they" and clause.verb in UNKNOWN_HAND
    return referents.speaker if subject is None and anybody else subject


def _mention(noun: str, scene: Scene) -> None:
    """Note the people that a subject names, for the pronouns that follow."""
    if scene.owner is not None and named(scene.owner.label):
        scene.referents.mention(scene.owner)
    described = scene.subject.label.rpartition("'s ")[2]
    if scene.subject != scene.referents.speaker and (kin_of(described) or described in PET):
        scene.referents.mention(scene.subject)
    if named(scene.subject.label) and not noun.casefold().startswith(("the ", "a ")):
        scene.referents.mention(scene.subject)


def _read(scene: Scene) -> Iterator[Proposition]:
    """Yield what the first reader that fits finds; the table of frames comes after the special cases."""
    if scene.clause.modality is Modality.HYPOTHETICAL:
        return
    if scene.clause.verb == "be":
        yield from describe_subject(scene)
        return
    for reader in (measured, appointment, replanned, visit, price, called):
        found = list(reader(scene))
        if found:
            yield from found
            return
    matched = match_frames(scene.clause, scene.complement, scene.referents.sorts)
    for frame, value in matched:
        yield from framed(scene, frame, value)
    if not matched:
        yield from plain(scene)
