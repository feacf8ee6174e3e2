"""What a parsed clause says when no pattern knows its verb: subject, verb with its preposition, object.

The relation is the verb's lemma with its particle and preposition, so that nothing that is said is lost for want of
an entry in the inventory (open information extraction in the sense of Banko et al. 2007).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from doxa.core.values import Interval, Modality, Term
from doxa.language.times import NUMBERS, TimeSpan
from doxa.memory import RelationType, relation_type, verb_type
from doxa.understand.descriptions import MEASURED, OCCUPATION
from doxa.understand.predications import Predication
from doxa.understand.referents import clean, named
from doxa.understand.scene import (
    CLAUSAL,
    EMPTY_OBJECT,
    HOLE,
    Proposition,
    Scene,
    coordinated,
    is_animate,
    say,
    value_term,
)

__all__ = ["open_clause"]

EMPTY_VERBS = frozenset(
    "be do have say tell think know mean guess hope wish wonder suppose believe feel seem sound look appear let thank "
    "thanks see agree hear understand imagine remember forget ask talk speak happen go come try get make want need "
    "keep put bet worry care matter mind wait welcome congratulate laugh smile joke will would can could may might "
    "should mean request".split()
)
"""Verbs that say too little without an object."""
EMPTY_SUBJECT = re.compile(
    r"^(?:it|that|this|these|those|there|they|them|everything|something|anything|nothing|all|one|thanks?|which|who|"
    r".* people|what|whatever|everyone|everybody|somebody|someone|anyone|nobody|people|things?|stuff|way|time|you|"
    r"(?:no|not|every|each|any|all) .*|mine|ours|yours|theirs|hers|"
    r"(?:exactly |only )?(?:one|none|some|most|either|neither|each|half|both|many|few) of\b.*)$",
    re.IGNORECASE,
)
EMPTY_PHRASE = re.compile(
    r"^(?:it|that|this|them|way|case|fact|time|course|least|all|general|end|meantime|once)$", re.IGNORECASE
)
LOOSE = frozenset(
    ["like", "than", "as", "because of", "due to", "instead of", "except", "despite", "of", "according to"]
)
"""Prepositions whose phrase is no participant."""
PLACING = frozenset("in at on near into onto by beside inside outside behind opposite".split())
BARE_ADVERB = re.compile(r"(?:up|down|out|off|on|over|in|back|here|there|away|about|next|same|sure|sorry)")
COMPARED = re.compile(
    r"(?:.* )?((?:more|less) [a-z]+|older|younger|taller|smaller|bigger|larger|shorter|longer|faster|slower|cheaper|"
    r"louder|quieter|warmer|colder|hotter|heavier|lighter|stronger|weaker|closer|happier|nicer|richer|poorer|smarter|"
    r"greater|higher|lower|earlier|later|better|worse)(?: than (.+))?",
    re.IGNORECASE,
)
"""A comparison; without what it compares with it tells nothing that stands by itself."""
COMPLEMENT_ADJECTIVE = re.compile(r"(?!(?:un)?known\b)[a-z]+(?:-[a-z]+)?", re.IGNORECASE)
CLOCK = re.compile(
    r"(?:\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?|noon|midnight|one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve)(?: (?:in the (?:morning|afternoon|evening)|at night|o'clock))?"
)
FLEETING = re.compile(
    r"(?:\w+ )?(?:glad|happy|sorry|welcome|sure|excited|nervous|great|okay|ok|fine|good|awesome|curious|aware|certain|"
    r"right|wrong|lucky|grateful|thankful|bored|worried|surprised|amazed|impressed|jealous|careful|kidding|correct|ready|"
    r"cool|kind|sweet|amazing|wonderful|nice|funny|interested|thrilled|pleased|honest|serious|back|here|there)",
    re.IGNORECASE,
)
"""How people feel or what they are politely called at the moment."""
CLOCK_PREPOSITIONS = frozenset("at from by until till before after between".split())
NUMBERED = re.compile(r"(?:the )?[A-Za-z]+ [A-Z]{0,2}\d[\w./-]*")
WEEKDAYS = re.compile(r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends|weekdays)", re.IGNORECASE)
LASTING = frozenset(
    "be have own keep live work know like love hate prefer want need belong stay remain use wear".split()
)
"""Verbs for states, which go on after the time that is named."""
MOST_WORDS = 9


def open_clause(scene: Scene, predication: Predication) -> Iterator[Proposition]:
    """Yield a proposition for every object, and for every participant, place or clock time behind a preposition.

    An event without either is said of its subject alone, with an empty object ("Dr. Halloran retires").
    """
    clause = scene.clause
    if clause.modality is Modality.HYPOTHETICAL or EMPTY_SUBJECT.match(scene.subject.key):
        return
    if clause.verb == "be":
        yield from _copular(scene, predication)
        return
    bare = not (scene.complement.phrases or predication.objects or scene.times)
    if clause.passive and clause.tense == "present" and bare:
        kind = relation_type("has_state")  # "it is broken"
        yield from _negatable(scene, kind, predication.form, not clause.negated, scene.modality(), scene.state(), 0.6)
        return
    modality = scene.modality(event=True)
    valid = _when(scene)
    polarity = not clause.negated and clause.aspect != "stop"
    spoken = False
    for text in predication.objects:
        if not _tells(text):
            continue
        spoken = True
        yield from _negatable(scene, _relation(scene, predication.form, ""), text, polarity, modality, valid, 0.7)
    if not (spoken and clause.negated):
        for claim in participants(scene, predication):
            spoken = True
            yield claim
    for preposition, text in _timetable(scene, alone=not predication.objects):
        spoken = True
        kind = replace(_relation(scene, predication.form, preposition), functional=not _person(scene))
        yield say(scene, kind, text, polarity=polarity, modality=modality, valid=valid, confidence=0.6)
    if not spoken and not predication.objects and clause.verb not in EMPTY_VERBS and _eventful(scene):
        yield Proposition(
            subject=scene.subject, kind=_relation(scene, predication.form, ""), object=Term("", ""), polarity=polarity,
            modality=modality, valid=valid, ended=clause.ended, confidence=0.5,
        )  # fmt: skip


def participants(scene: Scene, predication: Predication) -> Iterator[Proposition]:
    """Yield one proposition for every participant and place of an event ("played with the band", "played in Oslo")."""
    clause = scene.clause
    if clause.verb == "be" or clause.modality is Modality.HYPOTHETICAL or EMPTY_SUBJECT.match(scene.subject.key):
        return
    polarity = not clause.negated and clause.aspect != "stop"
    for preposition, text in scene.complement.phrases:
        kind = _relation(scene, predication.form, preposition)
        if preposition == "on" and scene.clock and WEEKDAYS.fullmatch(clean(text)):
            continue  # told with the time of day
        for part in coordinated(text) or [text]:
            if _participates(preposition, part, bool(predication.objects)):
                single = NUMBERED.fullmatch(part) is not None or kind.name in ("come_from", "date_from", "stem_from")
                numbered = single and not _person(scene)  # a thing is in one room at a time, and from one place
                kind = replace(kind, functional=kind.functional or numbered)
                yield from _negatable(scene, kind, part, polarity, scene.modality(event=True), _when(scene), 0.6)


def _person(scene: Scene) -> bool:
    return is_animate(scene) or bool(OCCUPATION.search(scene.noun or scene.subject.label))


def _timetable(scene: Scene, *, alone: bool) -> Iterator[tuple[str, str]]:
    """Yield the day and the clock time of something that is scheduled, each with its preposition.

    A day is the object only where it is what is told: of a thing, not of a person, and with nothing else.
    """
    for span in scene.times:
        first = span.text.casefold().split()[0]
        if span.kind == "clock":
            days = scene.complement.at("on")
            when = f"{scene.clock} on {days}" if WEEKDAYS.fullmatch(clean(days)) else scene.clock
            yield (first if first in CLOCK_PREPOSITIONS else "at"), when
        elif alone and span.kind == "point" and not _person(scene) and _dates(scene, span):
            start, precision = span.valid.start, span.valid.start_precision
            lead = "by" if first == "by" else "on" if precision == "day" else "in"
            yield lead, Interval.format(start, precision) if start else ""


def _dates(scene: Scene, span: TimeSpan) -> bool:
    """Tell whether a time is what a clause about a thing tells: when it is to be, or when it was made or took place."""
    clause = scene.clause
    if clause.tense in ("present", "future"):
        return span.valid.start_precision == "day"
    return not scene.complement.direct and (clause.passive or clause.verb == "be") and not clause.negated


def _copular(scene: Scene, predication: Predication) -> Iterator[Proposition]:
    """Yield what a clause with "be" says: what, how, where and when its subject is."""
    clause, told = scene.clause, predication.objects
    valid = scene.point if scene.clock and scene.point is not None else scene.state()
    ended = clause.ended or clause.tense == "past"
    claim = _Copula(scene, not clause.negated, scene.modality(), valid, ended)
    for text in told:
        if _tells(text) and HOLE not in text and not (BARE_ADVERB.fullmatch(text) and is_animate(scene)):
            yield from _described(claim, text, predication.subjects[0] if predication.subjects else "")
    for preposition, text in scene.complement.phrases:
        if preposition in CLOCK_PREPOSITIONS and CLOCK.fullmatch(text):
            yield from claim.that(_be(preposition), text)
        elif not told and _tells(text) and preposition and preposition.replace(" ", "+") not in LOOSE:
            yield from claim.that(relation_type("located_in") if preposition == "in" else _be(preposition), text)
    due = re.search(r"\bdue\b", clause.rest) is not None
    claim = replace(claim, ended=clause.ended)  # when it was stays so
    for preposition, text in _timetable(scene, alone=due or not told):
        yield from claim.that(replace(_be("due on" if due else preposition), functional=not _person(scene)), text)


@dataclass(frozen=True, slots=True)
class _Copula:
    """What the claims of one clause with "be" share."""

    scene: Scene
    polarity: bool
    modality: Modality
    valid: Interval
    ended: bool

    def that(self, kind: RelationType, text: str) -> Iterator[Proposition]:
        return _negatable(self.scene, kind, text, self.polarity, self.modality, self.valid, 0.5, ended=self.ended)


def _described(claim: _Copula, text: str, noun: str) -> Iterator[Proposition]:
    """Yield what a predicate noun or adjective says."""
    scene, compared = claim.scene, COMPARED.fullmatch(text)
    related = _related(scene, text) if COMPLEMENT_ADJECTIVE.fullmatch(text) else []
    if named(text) and re.match(r"(?:the|our|my) [a-z]", noun, re.IGNORECASE) and not named(scene.subject.label):
        yield from claim.that(relation_type("is_called"), text)  # "the lawyer is Mr Stephens"
    elif FLEETING.fullmatch(text) and is_animate(scene):
        return
    elif text == "due" and scene.times:
        return  # told with the day
    elif compared:
        if compared[2]:
            yield from claim.that(_be(f"{compared[1]} than"), compared[2])
    elif related:
        for kind, part in related:
            yield from claim.that(kind, part)
    else:
        noun_phrase = re.match(r"(?:an?|the|my|our|his|her|their|\d)\b", text, re.IGNORECASE)
        adjective = noun_phrase is None or MEASURED.search(text) is not None
        yield from claim.that(relation_type("has_state" if adjective else "is_a"), text)


def _related(scene: Scene, adjective: str) -> list[tuple[RelationType, str]]:
    """Return what an adjective is said with: "afraid of heights", "next to my desk"."""
    found: list[tuple[RelationType, str]] = []
    for preposition, text in scene.complement.phrases:
        if preposition in ("of", "to", "about", "at", "for", "with", "from", "in"):
            parts = [part for part in coordinated(text) or [text] if _tells(part)]
            found.extend((_be(f"{adjective} {preposition}"), part) for part in parts)
    return found


def _be(preposition: str) -> RelationType:
    return relation_type(f"be {preposition}".replace(" ", "_"))


def _relation(scene: Scene, form: str, preposition: str) -> RelationType:
    """Return the relation of the clause's verb: lemma, particle and preposition, with "be" in the passive."""
    verb = scene.clause.verb.replace("+", " ")
    if scene.clause.passive:
        verb = " ".join(["be", form, *verb.split()[1:]])
    name = f"{verb} {preposition}".strip().replace(" ", "_")
    return relation_type(name) if "_" in name else verb_type(name)


def _when(scene: Scene) -> Interval:
    point = scene.point
    if point is None:
        return Interval()
    span = next(span for span in scene.times if span.kind != "clock")
    happens = span.kind == "point" and scene.clause.verb not in LASTING
    return point if happens else scene.state()


def _tells(text: str) -> bool:
    bare = clean(text)
    if re.search(r"\b(?:whose|which|who|what|where)\b", bare, re.IGNORECASE):
        return False
    words = bare.casefold().split()
    if bare.casefold() in NUMBERS or not words or len(words) > MOST_WORDS or EMPTY_OBJECT.match(bare) or bare == "here":
        return False
    return not set(words) & CLAUSAL or named(bare)


def _participates(preposition: str, text: str, has_object: bool) -> bool:
    loose = preposition.replace(" ", "+") in LOOSE and (preposition != "of" or has_object)  # "is made of oak"
    if not preposition or loose or not _tells(text) or EMPTY_PHRASE.match(clean(text)):
        return False
    if preposition in CLOCK_PREPOSITIONS and CLOCK.fullmatch(text):
        return True
    definite = re.match(r"(?:the|my|our|his|her|their|an?|[A-Z]\w*'s)\b", text)
    local = preposition in PLACING and definite is not None
    return not has_object or named(clean(text)) or local or preposition in ("with", "to", "from")


def _eventful(scene: Scene) -> bool:
    """Tell whether a verb alone tells something: it is dated, past, denied, planned, or a habit of somebody."""
    clause = scene.clause
    if is_animate(scene) and clause.tense in ("past", "perfect") and clause.modality is Modality.ASSERTED:
        return bool(scene.times or clause.negated or clause.ended)  # "she laughed" is soon over
    told = scene.point or clause.tense != "present" or clause.negated or clause.progressive or is_animate(scene)
    return bool(told or re.match(r"(?:the|my|our|his|her|their)\b", clause.subject, re.IGNORECASE))


def _negatable(
    scene: Scene,
    kind: RelationType,
    text: str,
    polarity: bool,
    modality: Modality,
    valid: Interval,
    confidence: float,
    *,
    ended: bool = False,
) -> Iterator[Proposition]:
    no = re.match(r"(?:no|neither|not any) (?!one\b)(.+)", text, re.IGNORECASE)
    if no:
        text, polarity = no[1], not polarity
    if kind.name in ("is_a", "has_state"):
        text = re.sub(r"^(?:very|really|so|quite|pretty|just|already|also|too|still|rather|now) ", "", text)
    claim = say(
        scene, kind, text, polarity=polarity, modality=modality, valid=valid, confidence=confidence,
        ended=ended or scene.clause.ended,
    )  # fmt: skip
    claim = replace(claim, object=value_term(scene, text))
    if claim.object != claim.subject and claim.object.key:
        yield claim
