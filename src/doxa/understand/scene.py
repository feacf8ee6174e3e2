"""What the patterns look at, and what they give: a clause with its parts and times, and propositions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from doxa.core.values import Act, Interval, Modality, Status, Term
from doxa.language.times import NUMBERS, TimeSpan
from doxa.memory import RelationType, relation_type
from doxa.understand.clauses import Clause, Complement
from doxa.understand.referents import KIN, PET, WHERE_FROM, Referents, clean, kin_of, named, term

__all__ = [
    "CLAUSAL",
    "EMPTY_OBJECT",
    "HOLE",
    "MONEY",
    "ORGANISATION",
    "Proposition",
    "Scene",
    "is_animate",
    "say",
    "coordinated",
    "known_of",
    "say_each",
    "owner_of",
    "possessed",
    "from_then",
    "value_term",
    "when_of",
]

HOLE = "Qhole"
"""Stands for what a question asks, so that a question and its answer pass through the same patterns."""
MONEY = re.compile(
    r"(?:[€$£]\s?\d|\b(?:\d[\d.,]*k?|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|"
    r"sixty|seventy|eighty|ninety|a hundred|two hundred)\s?(?:€|\$|£|euros?|dollars?|pounds?|francs?|zloty|kroner|"
    r"kronor|yen|rupees|cents?|usd|eur|gbp|bucks|quid)\b)",
    re.IGNORECASE,
)
EMPTY_OBJECT = re.compile(
    r"^(?:(?:it|that|this|them|these|those|something|anything|everything|nothing|much|many|more|less|so|what|how|why|who|"
    r"me|him|her|us|myself|yourself|himself|herself|each other|one another|each one)\b|"
    r"(?:one|ones|lot|lots|bit|things?|stuff|way|time|idea|question|problem|feeling|chance|look|sense|fun|confession|"
    r"secret|news|point|try|course|while|good time|great time|no idea|a lot|sure|enough|kind|sort|to|people|second|"
    r"minute|moment|none|trouble|luck|all|turn|part|place|care|advantage|note)(?:$| (?:of|to|that|for|with|in)\b))",
    re.IGNORECASE,
)
CLAUSAL = frozenset("am is are was were have has had do does did not never will would which who whose whom".split())
"""Words that show that a would-be noun phrase is a clause."""
OWNED = re.compile(r"(.+)(?:'s|(?<=s)') (.+)$")
MINE = re.compile(r"(my|our|your|his|her) (.+)$", re.IGNORECASE)
JOINT = re.compile(r",\s*(?:and|or|plus)\s+|\s+(?:and|or|plus)\s+|,(?!\d)\s*")
"""What stands between the parts of an enumeration; the comma of "3,100" does not."""
ORGANISATION = re.compile(
    r"\b(?:compan|agency|firm|bank\b|(?:book)?shop|store|hospital|clinic|council|library|school|"
    r"university|startup|start-?up|charity|brand|airline|brewery|office|caf[eé]|"
    r"restaurant|bakery|hotel|museum|factory|studio|lab\b|institute|newspaper|publisher|nursery|"
    r"theatre|theater|garage|brewery)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposition:
    """A claim before it has a source."""

    subject: Term
    kind: RelationType
    object: Term
    polarity: bool = True
    modality: Modality = Modality.ASSERTED
    valid: Interval = field(default_factory=Interval)
    ended: bool = False
    act: Act = Act.STATE
    confidence: float = 0.8
    source: str = ""
    """From whom or what the speaker has it; empty for his own word."""
    instead: str = ""
    """The words of what it corrects, where they are said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the clause patterns may look at: the clause, its parts and times, and who is who."""

    clause: Clause
    complement: Complement
    times: tuple[TimeSpan, ...]
    subject: Term
    owner: Term | None
    noun: str
    dated: bool
    """A time follows the verb at once ("is 3 October")."""
    referents: Referents
    at: datetime

    @property
    def today(self) -> date:
        return self.at.date()

    @property
    def span(self) -> TimeSpan | None:
        """The time that dates the clause: a stretch with both ends, else the first that is no mere length.

        How long something lasted tells when it began only if it goes on ("have lived here for six years").
        """
        dated = [span for span in self.times if span.kind != "clock"]
        whole = next((span for span in dated if span.kind == "range"), None)
        if whole is not None:
            return whole
        over = self.clause.tense == "past" and not self.clause.ended
        return next((s for s in dated if s.kind != "duration"), None if over else next(iter(dated), None))

    @property
    def point(self) -> Interval | None:
        """The day, month, year or stretch that dates the clause."""
        return self.span.valid if self.span is not None else None

    @property
    def clock(self) -> str:
        """The first clock time, without its preposition."""
        found = next((span.text for span in self.times if span.kind == "clock"), "")
        return re.sub(r"^(?:at|from|by|around|about) ", "", found)

    def state(self) -> Interval:
        """Return when a state holds."""
        span = self.span
        if span is None:
            return Interval()
        if self.clause.tense == "past" and span.kind == "point" and not self.clause.ended:
            return span.valid
        return span.state()

    def modality(self, *, event: bool = False) -> Modality:
        """Return how the clause is meant; an event in the present tense that lies ahead is planned."""
        modality = self.clause.modality
        ahead = self.point is not None and self.point.start is not None and self.point.start > self.today
        if modality is not Modality.ASSERTED or self.clause.tense != "present":
            return modality
        lasting = self.span is not None and self.span.kind in ("since", "duration")
        under_way = event and self.clause.progressive and not self.clause.aspect and not lasting
        from_then_on = self.span is not None and self.span.kind == "since" and not event
        return Modality.PLANNED if (ahead and not from_then_on) or under_way else modality


def say(
    scene: Scene, kind: RelationType, value: str, *, polarity: bool = True, modality: Modality = Modality.ASSERTED,
    valid: Interval | None = None, ended: bool = False, confidence: float = 0.8,
) -> Proposition:  # fmt: skip
    """Return the proposition that the subject of a scene has `value` as its object."""
    thing = value_term(scene, value, place=kind.range == "Place")
    return Proposition(
        subject=scene.subject, kind=kind, object=thing, polarity=polarity, modality=modality,
        valid=valid or Interval(), ended=ended, confidence=confidence,
    )  # fmt: skip


def say_each(
    scene: Scene,
    kind: RelationType,
    value: str,
    polarity: bool,
    modality: Modality,
    valid: Interval,
    *,
    ended: bool = False,
) -> Iterator[Proposition]:
    """Yield one proposition for every part of a coordinated object."""
    parts = coordinated(value) or [value]
    for part in parts[:1] if kind.functional else parts:
        if HOLE not in part and (set(part.casefold().split()) & CLAUSAL or part.endswith(" of")):
            continue
        if (
            HOLE not in part
            and (EMPTY_OBJECT.match(clean(part)) or clean(part) in NUMBERS)
            and part.casefold() not in ("me", "her", "him")
        ):
            continue
        claim = say(scene, kind, part, polarity=polarity, modality=modality, valid=valid, ended=ended)
        negated = re.match(r"no (?!one)(.+)", part)
        if negated:
            claim = replace(claim, polarity=not polarity, object=term(clean(negated[1])))
        if claim.object != claim.subject:
            yield claim
            yield from _denied_by_name(scene, claim)


def _denied_by_name(scene: Scene, claim: Proposition) -> Iterator[Proposition]:
    """Yield the denial of those who are known by name: who has no dog any more does not have Rex."""
    noun = claim.object.key
    relation = kin_of(noun) or (noun if noun in PET else None)
    if claim.polarity or relation is None or claim.kind.name != "has":
        return
    for fact in scene.referents.beliefs.about(claim.subject.key, relation.replace(" ", "_")):
        if fact.polarity and fact.status is Status.HELD:
            kind = relation_type(fact.relation.name, fact.relation.label)
            yield replace(claim, kind=replace(kind, functional=fact.functional), object=fact.object)


def value_term(scene: Scene, value: str, *, place: bool = False) -> Term:
    """Return the term of an object: a person for a pronoun or a relative, else the words without their article."""
    value = value.strip(" ,")
    if value == HOLE:
        return Term(HOLE.casefold(), HOLE)
    if re.match(r"(?:me|him|her|us|you)$", value, re.IGNORECASE):
        return scene.referents.resolve(value) or term(value)
    owned = re.match(r"(?:(?:my|our|his|her|your) (.+)|.+'s (.+))$", value, re.IGNORECASE)
    if owned:
        noun = (owned[1] or owned[2]).split()
        if any(word.casefold() in KIN or word.casefold() in PET for word in noun):
            return scene.referents.resolve(value) or term(clean(value))
    if place and named(clean(value)):
        return scene.referents.placed(value)
    return term(clean(value) or value)


def coordinated(text: str) -> list[str]:
    """Return the parts of "a, b and c" when every part is short enough to be a noun phrase; else nothing."""
    parts = [part.strip(" ,") for part in JOINT.split(text)]
    parts = [re.sub(r"^(?:both|either|also|even) ", "", part) for part in parts if part]
    return parts if len(parts) > 1 and all(len(part.split()) <= 4 for part in parts) else []


def owner_of(noun: str, referents: Referents) -> Term | None:
    """Return whose a possessed noun phrase is ("my sister's phone" -> the sister)."""
    named_owner = OWNED.match(noun)
    if named_owner:
        return referents.resolve(named_owner[1])
    match = MINE.match(noun)
    return referents.owner(match[1]) if match else None


def possessed(noun: str) -> str:
    """Return what is possessed in a noun phrase ("Leo's new phone number" -> "phone number")."""
    match = OWNED.match(noun) or MINE.match(noun)
    value = match[2] if match else re.sub(r"^[Tt]he ", "", noun) if noun.casefold().startswith("the ") else ""
    return re.sub(r"^(?:new|old|current|own|latest) ", "", value)


def is_animate(scene: Scene) -> bool:
    """Tell whether the subject is the speaker, somebody with a name, a relative or a pet."""
    return (
        scene.subject == scene.referents.speaker
        or named(scene.subject.label)
        or _described_person(scene.noun or scene.subject.label.rpartition("'s ")[2])
    )


def _described_person(noun: str) -> bool:
    """Tell whether a noun means a relative, an acquaintance or a pet, whatever stands around it."""
    where = WHERE_FROM.match(noun)
    return bool(kin_of(noun) or noun in PET or where)


def known_of(scene: Scene, value: str) -> list[tuple[RelationType, Term]]:
    """Return what is held of the subject with an object that the words name."""
    wanted = clean(value).casefold()
    found = []
    for fact in scene.referents.beliefs.about(scene.subject.key):
        words = fact.object.key.split()
        if (
            fact.polarity
            and fact.status is Status.HELD
            and (not wanted or wanted == fact.object.key or wanted in words or fact.object.key in wanted.split())
        ):
            kind = relation_type(fact.relation.name, fact.relation.label)
            if wanted or kind.name == "works_at":
                found.append((replace(kind, functional=fact.functional), fact.object))
    return found


def from_then(scene: Scene) -> Interval:
    """Return the state that began at the time which the clause names."""
    point = scene.point
    return Interval(start=point.start, start_precision=point.start_precision) if point else Interval()


def when_of(scene: Scene) -> str:
    """Return the day and clock time of a clause in words ("9 July 2024 at 16:30")."""
    point = scene.point
    day = Interval.format(point.start, point.start_precision) if point and point.start else ""
    return f"{day} at {scene.clock}" if day and scene.clock else day or scene.clock
