"""What a clause with "be" says: who somebody is, how old, how much something costs, what is like what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from doxa.core.values import Interval, Modality, Term
from doxa.language.times import MONTHS, number_of
from doxa.memory import attribute, relation_type
from doxa.understand.measures import COMPARED, measured
from doxa.understand.referents import NAME, PET, clean, kin_of, named, term
from doxa.understand.refinements import is_country
from doxa.understand.scene import (
    EMPTY_OBJECT,
    HOLE,
    MONEY,
    ORGANISATION,
    Proposition,
    Scene,
    from_then,
    is_animate,
    known_of,
    say,
    say_each,
    when_of,
)
from doxa.understand.states import exclusive

__all__ = ["MEASURED", "OCCUPATION", "STATES", "describe_subject", "naming"]

MEASURED = re.compile(r"\d\S* .*\b(?:tall|high|long|wide|deep|thick|heavy|old|away)$", re.IGNORECASE)
"""A number with its unit and its dimension."""
OCCUPATION = re.compile(
    r"(?:\b(?:lead|chef|cook|nurse|pilot|clerk|artist|vet|judge|guide|intern|student|architect|analyst|assistant|"
    r"freelancer|coach|head|director|model|agent|host|surgeon|physician|guard|trainee|apprentice|officer|therapist|"
    r"paramedic|medic|midwife|mechanic|barista|cashier|courier|carer|roofer|welder|tailor|soldier|sailor|lifeguard|"
    r"secretary|ranger|miner|tiler|potter|au pair|broker|porter|scout|tutor|vicar|priest|monk|nun|rabbi|dj|mp|cop|"
    r"electrician|technician|optician|paralegal|solicitor|barrister|conductor|stewardess|steward|postman|buyer|usher|"
    r"caretaker|gamekeeper|housekeeper|bookseller|headteacher|scaffolder|plasterer|joiner|florist|undertaker)$|"
    r"[a-z]{3,}(?:ist|ian|eer|tor|sor|wright|smith|man|woman|ess|maker|grapher)$|"
    r"(?:teach|paint|writ|driv|work|bak|build|design|engine|develop|manag|lawy|train|farm|plumb|lectur|research|garden|"
    r"photograph|programm|bank|butch|cater|clean|danc|sing|edit|fish|hairdress|illustrat|interpret|jewell|report|"
    r"bartend|carpent|consult|barb|dress|account|attend|bookkeep|firefight|foot?ball|translat|"
    r"play|report|review|produc|wait|office|own|found|report)(?:er|eer|or|ant|ent)$)"
)
NOT_OCCUPATION = re.compile(
    r"\b(?:alto|sister|brother|mother|father|fan|person|man|woman|believer|lover|vegetarian|"
    r"beginner|swimmer|sleeper|eater|number|winter|summer|matter|member|neighbour|dinner|holder)$"
)
DIET = re.compile(
    r"\b(vegetarian|vegan|pescatarian|pescetarian|flexitarian|lactose[- ]intolerant|gluten[- "
    r"]free|coeliac|celiac|keto|halal|kosher|teetotal)\b",
    re.I,
)
STATES = frozenset(
    "dead broken fine ill sick pregnant retired unemployed homeless deaf blind diabetic asthmatic tired sore swollen "
    "healthy recovered cancelled postponed closed open finished ready empty full late overdue lost missing redundant "
    "off proud happy sad afraid scared bilingual left-handed dyslexic alive deceased working".split()
)
SELF_DATED = re.compile(
    r"birthday|anniversary|deadline|appointment|interview|meeting|exam|flight|wedding|party|"
    r"visit|due date|check-?up|reservation|trip|concert|graduation|lesson|viewing|session|dinner|"
    r"lunch|funeral|surgery|operation|\btest\b",
    re.I,
)
SAME_AS = {
    "job": "works_as",
    "occupation": "works_as",
    "profession": "works_as",
    "position": "works_as",
    "employer": "works_at",
    "address": "lives_at",
    "age": "has_age",
    "weight": "weighs",
    "salary": "earns",
    "hometown": "comes_from",
    "home town": "comes_from",
    "birthplace": "born_in",
    "place of birth": "born_in",
    "date of birth": "born_on",
    "marital status": "marital_status",
    "diet": "follows_diet",
    "name": "is_called",
}
"""Nouns for what a relation of the inventory says."""


def describe_subject(scene: Scene) -> Iterator[Proposition]:
    """Return what a clause with "be" says, by the first reader that finds something."""
    for reader in (
        _same_person,
        measured,
        _age,
        exclusive,
        _owned_value,
        _adjective,
        _origin,
        _noun_of,
    ):
        found = list(reader(scene))
        if found:
            yield from found
            return


def _same_person(scene: Scene) -> Iterator[Proposition]:
    """ "My sister is Mia", "Mia is my sister", "his name is Duarte", "my landlord is Herr Brandt"."""
    direct = scene.complement.direct.split(", ")[0]
    polarity = not scene.clause.negated
    if scene.owner and scene.noun:
        relation = kin_of(scene.noun) or (scene.noun if scene.noun in PET else None)
        if scene.noun == "name" and direct.casefold() == scene.owner.key:
            return
        if scene.noun == "name" and (named(direct) or direct == HOLE):
            yield from naming(scene, direct, scene.owner)
            return
        if relation and (named(direct) or direct == HOLE):
            yield replace(say(scene, attribute(relation), direct, polarity=polarity), subject=scene.owner)
            return
    direct = re.sub(rf"^the (?=(?:{'|'.join(sorted(PET))})$)", "our ", direct)  # "Marmite is the cat"
    match = re.match(r"(?:(my|our|his|her|your)|(.+)'s) ([\w-]+(?: [\w-]+)?)$", direct)
    if match and scene.clause.tense == "present":
        relation = kin_of(match[3]) or (match[3] if match[3] in PET else None)
        owner = scene.referents.owner(match[1]) if match[1] else scene.referents.resolve(match[2])
        if relation and owner and owner != scene.subject:
            claim = say(scene, attribute(relation), scene.subject.label, polarity=polarity)
            yield replace(claim, subject=owner)


def naming(scene: Scene, name: str, whose: Term) -> Iterator[Proposition]:
    """Say what somebody or something is called; "Owner's dog" becomes the dog by name."""
    owner, _, noun = whose.label.rpartition("'s ")
    if owner and (kin_of(noun) or noun in PET):
        yield replace(say(scene, attribute(kin_of(noun) or noun), name), subject=term(owner))
    elif whose.key != name.casefold():
        yield replace(say(scene, relation_type("is_called"), name), subject=whose)


def _age(scene: Scene) -> Iterator[Proposition]:
    direct = scene.complement.direct
    match = re.match(r"([\w-]+)(?: (years?|months?|weeks?) old| years of age)?$", direct)
    if not match or not is_animate(scene) or (not match[2] and scene.clause.subject.casefold() in ("we", "they")):
        return
    number = number_of(match[1]) if match[1] != HOLE else 0
    if (
        number is None
        or (match[1] == HOLE and "old" not in direct)
        or number > 120
        or (match[1].casefold() in ("one", "a", "an") and not match[2])
    ):
        return
    value = (
        match[1] if match[1] == HOLE else f"{number} {match[2]}" if match[2] and match[2][0] in "mw" else str(number)
    )
    yield say(
        scene, relation_type("has_age"), value, polarity=not scene.clause.negated, ended=scene.clause.tense == "past"
    )


def _owned_value(scene: Scene) -> Iterator[Proposition]:
    """ "My gym membership is 29 euros a month", "Leo's new phone number is 0171", "my favourite film is Alien"."""
    clause, direct = scene.clause, scene.complement.direct
    polarity = not clause.negated
    ended = clause.tense == "past" or clause.ended
    priced = MONEY.search(direct) and not COMPARED.search(clause.rest)
    if priced and (scene.noun or scene.subject != scene.referents.speaker):
        since = next((s.state() for s in scene.times if s.kind in ("since", "until", "range")), None)
        yield say(
            scene,
            relation_type("costs"),
            direct.split(", ")[0],
            polarity=polarity,
            ended=ended,
            valid=since,
            modality=clause.modality,
        )
        return
    if not scene.owner and SELF_DATED.search(scene.clause.subject) and clause.subject.casefold() != "it":
        yield from _event(scene)
    if scene.owner and scene.noun and not kin_of(scene.noun):
        noun = clean(re.sub(r"^(?:new|old|current|own|latest) ", "", scene.noun))
        if scene.times and (not direct or scene.dated) and "either" not in clause.rest and SELF_DATED.search(noun):
            yield from _dated_noun(scene, noun)
        elif direct and not scene.dated and _valuable(direct, noun):
            kind = relation_type(SAME_AS[noun]) if noun in SAME_AS else attribute(noun)
            yield replace(
                say(
                    scene,
                    kind,
                    direct,
                    polarity=polarity,
                    ended=ended,
                    modality=scene.modality(),
                    valid=from_then(scene),
                ),
                subject=scene.owner,
            )


def _valuable(direct: str, noun: str) -> bool:
    word = clean(direct)
    if direct == HOLE or noun.startswith("favo"):
        return True
    if re.match(r"(?:\+?\d|[€$£])", word) or named(word):
        return True
    return (
        bool(re.search(r"number|size|colour|color|name|address|job|breed|password|code|plan|goal|hobby|dream", noun))
        and len(word.split()) <= 6
    )


def _event(scene: Scene) -> Iterator[Proposition]:
    """ "The party is on Saturday at Nick's place": the day and the place of something that nobody owns."""
    polarity, place = not scene.clause.negated, scene.complement.at("at")
    hole = HOLE in (scene.complement.direct, scene.complement.at("on"))
    modality, valid = scene.modality(), scene.point or Interval()
    if scene.point is not None or hole:
        start = scene.point.start if scene.point else None
        exact = Interval.format(start, scene.point.start_precision) if scene.point and start else ""
        day = HOLE if hole else exact or when_of(scene)
        ahead = scene.point is not None and scene.point.start is not None and scene.point.start >= scene.today
        modality = Modality.PLANNED if ahead and modality is Modality.ASSERTED else modality
        yield say(scene, relation_type("takes_place_on"), day, polarity=polarity, modality=modality, valid=valid)
    clock = scene.clock or next(
        (noun for prep, noun in scene.complement.phrases if prep == "at" and noun.isdigit()), ""
    )
    if clock:
        yield say(scene, relation_type("takes_place_at"), clock, polarity=polarity, modality=modality, valid=valid)
    room = scene.complement.at("in")
    if room and not EMPTY_OBJECT.match(clean(room)):
        kind = replace(relation_type("take_place_in"), functional=True)
        yield say(scene, kind, room, polarity=polarity, modality=modality, valid=valid)
    if place and not EMPTY_OBJECT.match(clean(place)) and not re.match(r"\d", place):
        yield say(scene, relation_type("takes_place_at"), place, polarity=polarity, modality=modality, valid=valid)


def _dated_noun(scene: Scene, noun: str) -> Iterator[Proposition]:
    point = scene.point or Interval()
    if noun.endswith("birthday"):
        if point.start and point.start_precision == "day":
            day = f"{point.start.day} {MONTHS[point.start.month - 1].title()}"
            yield replace(say(scene, attribute(noun), day), subject=scene.owner or scene.subject)
        return
    ahead = point.start is not None and point.start >= scene.today
    modality = Modality.PLANNED if ahead and scene.clause.modality is Modality.ASSERTED else scene.clause.modality
    yield replace(
        say(scene, attribute(noun), when_of(scene), modality=modality, valid=point),
        subject=scene.owner or scene.subject,
    )


def _adjective(scene: Scene) -> Iterator[Proposition]:
    clause, complement = scene.clause, scene.complement
    polarity = not clause.negated
    state = scene.state()
    ended = clause.ended or clause.tense == "past"
    if re.fullmatch(r"(?:also |very |badly |severely |mildly )*allergic", complement.direct) and complement.at("to"):
        yield from say_each(scene, relation_type("allergic_to"), complement.at("to"), polarity, scene.modality(), state)
        return
    diet = DIET.search(complement.direct)
    if diet and len(complement.direct.split()) <= 4:
        yield say(
            scene,
            relation_type("follows_diet"),
            diet[1].casefold(),
            polarity=polarity,
            valid=state,
            ended=ended,
            modality=scene.modality(),
        )
        return
    compared = re.match(r"(?:\w+ ){0,4}?(older|younger|taller) than (.+)$", complement.direct)
    if compared:
        yield say(scene, relation_type(f"{compared[1]}_than"), compared[2], polarity=polarity)
        return
    about = any(complement.at(preposition) for preposition in ("of", "about", "at", "with"))  # "afraid of heights"
    if complement.direct.casefold() in STATES and not about and (is_animate(scene) or scene.owner):
        yield say(
            scene,
            relation_type("has_state"),
            complement.direct.casefold(),
            polarity=polarity,
            valid=state,
            ended=ended,
            confidence=0.6,
            modality=scene.modality(),
        )


def _origin(scene: Scene) -> Iterator[Proposition]:
    """ "I'm from Braga", "the shop is in Porto", "she is with Hartley now"."""
    complement, clause = scene.complement, scene.clause
    if complement.direct:
        return
    place = complement.at("in")
    if not is_animate(scene) and (named(clean(place)) or place == HOLE or re.match(r"room \w+$", place, re.IGNORECASE)):
        yield say(scene, relation_type("located_in"), place, polarity=not clause.negated, ended=clause.tense == "past")
        return
    work = complement.at("at") or complement.at("with")
    known = any(kind.name == "works_at" for kind, _ in known_of(scene, work)) if work else False
    sort = scene.referents.sorts.get(clean(work).casefold(), "")
    known = known or _new_employer(scene, work)
    if work and is_animate(scene) and (known or ORGANISATION.search(work) or ORGANISATION.search(sort)):
        name = re.search(rf"(?:called|named) ({NAME})$", work)
        ended = clause.tense == "past"
        yield say(
            scene,
            relation_type("works_at"),
            name[1] if name else work.split(", ")[0],
            polarity=not clause.negated,
            valid=scene.state(),
            ended=ended,
        )
    origin = complement.at("from")
    if origin and is_country(origin):
        origin = origin.title() if origin.islower() else origin
    if origin and (named(clean(origin)) or origin == HOLE):
        yield say(scene, relation_type("comes_from"), origin, polarity=not clause.negated)


def _new_employer(scene: Scene, work: str) -> bool:
    """Tell whether a name after "at" or "with" is an employer: of one who has worked elsewhere, now or for a while."""
    lasting = any(span.kind in ("since", "duration", "range") for span in scene.times) or "now" in scene.clause.adverbs
    jobs = scene.referents.beliefs.about(scene.subject.key, "works_at")
    return named(clean(work)) and lasting and bool(jobs)


def _noun_of(scene: Scene) -> Iterator[Proposition]:
    """ "I'm a data analyst at Mareluz", "she's a beagle", "Pipoca is our dog"."""
    clause, complement = scene.clause, scene.complement
    match = re.match(r"(?:an?|the|one of the) (.+)$", complement.direct)
    if match is None or scene.modality() is Modality.HYPOTHETICAL:
        return
    noun = re.sub(r"^(?:also|just|only|still|now) | (?:there|here)$", "", match[1])
    if (
        len(noun.split()) > 5
        or EMPTY_OBJECT.match(noun)
        or re.search(
            r"\bof\b.*\bof\b|^(?:bit|little|lot|big|good|great|bad|nice|huge|real|long|short|small)\b|"
            r"\b(?:older|younger|taller|shorter|bigger)$",
            noun,
        )
    ):
        return
    polarity = not clause.negated
    ended = clause.tense == "past"
    person = is_animate(scene)
    if not person:
        return
    noun, inside = _workplace(noun)
    job = OCCUPATION.search(noun) and not NOT_OCCUPATION.search(noun)
    kind = relation_type("works_as") if job else relation_type("is_a")
    noun = noun.split(", ")[0]
    yield say(scene, kind, noun, polarity=polarity, modality=scene.modality(), valid=scene.state(), ended=ended)
    company = complement.at("with")
    place = (
        complement.at("at")
        or complement.at("for")
        or inside
        or (company if named(clean(company)) or company == HOLE else "")
    )
    if job and place and polarity:
        yield say(
            scene,
            relation_type("works_at"),
            place.split(", ")[0],
            modality=scene.modality(),
            valid=scene.state(),
            ended=ended,
        )


def _workplace(noun: str) -> tuple[str, str]:
    """Split "nurse at St Mary's", which parsers take for one noun, into the job and its place."""
    inside = re.match(r"(?P<noun>[^,]+?) (?:at|with|for) (?P<place>(?:the |an? )?.+)$", noun)
    if inside is None or not OCCUPATION.search(inside["noun"]):
        return noun, ""
    institution = clean(inside["place"])[:1].isupper() or ORGANISATION.search(inside["place"])
    return (inside["noun"], inside["place"]) if institution else (noun, "")
