"""Births, deaths and ages, prices and purchases, and other things that one verb alone tells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from doxa.core.values import Interval, Modality, Status, Term
from doxa.language.times import MONTHS, number_of
from doxa.memory import attribute, relation_type
from doxa.understand.descriptions import DIET, OCCUPATION, naming
from doxa.understand.measures import with_number
from doxa.understand.referents import NAME, NEWBORN, PET, clean, kin_of, named, term
from doxa.understand.scene import (
    EMPTY_OBJECT,
    HOLE,
    MONEY,
    Proposition,
    Scene,
    from_then,
    is_animate,
    known_of,
    say,
    value_term,
)
from doxa.understand.states import entered

__all__ = [
    "PRICING",
    "anniversary",
    "birth",
    "boundary",
    "called",
    "fondness",
    "life",
    "price",
    "purchase",
    "departure",
    "relatives",
    "sale",
    "switched",
    "transfer",
    "turns",
]

BABY = re.compile(r"(?:a|another) (?:baby )?(?:little )?(boy|girl|son|daughter)$")
PRICING = frozenset("raise increase lower reduce put cut bump".split())
AMOUNT = re.compile(r"^\d[\d.,]*(?: (?:a|per) \w+)?$")
BOUNDARIES = {
    "begin": "begins_on", "start": "begins_on", "end": "ends_on", "expire": "expire_on", "run+out": "run_out_on",
}  # fmt: skip
BACK = re.compile(r"\bback\b")
RECENT_BIRTH = 60
"""Days after which a birth that is told is no news."""
HANDING = frozenset("give hand donate lend pass give+away pass+on hand+down hand+on hand+over give+back return".split())
OFTEN = re.compile(r"\b(?:every|again and again|forever|all day)\b.*")


def life(scene: Scene) -> Iterator[Proposition]:
    """A birth or a death with its day; who has died is no longer alive."""
    point, clause = scene.point, scene.clause
    born = clause.verb == "bear"
    if clause.negated or clause.modality is not Modality.ASSERTED:
        return
    if born and point is not None and named(scene.subject.label):
        yield from _delivered(scene)
    if scene.complement.at("on") == HOLE or point is not None:
        day = HOLE if point is None else str(point)
        yield say(scene, relation_type("born_on" if born else "died_on"), day, valid=point)
    if not born and HOLE not in clause.rest:
        yield from entered(scene)


def _delivered(scene: Scene) -> Iterator[Proposition]:
    """Yield the end of the one pregnancy that is known, when a baby is born. Cost O(facts), only at births."""
    day = scene.point.start if scene.point is not None else None
    if day is None or not 0 <= (scene.today - day).days < RECENT_BIRTH:
        return
    facts = scene.referents.beliefs.facts.values()
    held = [f for f in facts if f.relation.name == "pregnancy_status" and f.status is Status.HELD and f.polarity]
    expecting = [fact for fact in held if fact.valid.end is None]
    if len(expecting) == 1:
        told = say(scene, relation_type("pregnancy_status"), "", polarity=False, valid=from_then(scene))
        yield replace(told, subject=expecting[0].subject, object=expecting[0].object)


def birth(scene: Scene) -> Iterator[Proposition]:
    """Yield the birth of a child that "arrived last night", or that somebody "gave birth to"."""
    clause, noun = scene.clause, scene.subject.label.rpartition("'s ")[2]
    over = clause.tense in ("past", "perfect") and clause.modality is Modality.ASSERTED and not clause.negated
    if not over:
        return
    if clause.verb in ("arrive", "come+along") and (NEWBORN.match(noun) or noun in ("baby", "little one")):
        if not scene.complement.phrases and not scene.complement.direct:
            scene.referents.mention(scene.subject)
            yield from _born(scene, scene.subject)
    elif clause.verb == "give" and scene.complement.direct == "birth" and is_animate(scene):
        baby = BABY.match(scene.complement.at("to"))
        if baby is not None:
            newborn = term(f"{scene.subject.label}'s baby {baby[1]}")
            scene.referents.mention(newborn)
            scene.referents.gender[newborn.key] = "f" if baby[1] in ("girl", "daughter") else "m"
            yield from _born(scene, newborn)


def _born(scene: Scene, child: Term) -> Iterator[Proposition]:
    if scene.point is not None and scene.clause.tense in ("past", "perfect"):
        scene.referents.births[child.key] = scene.point
        yield replace(say(scene, relation_type("born_on"), str(scene.point), valid=scene.point), subject=child)


def turns(scene: Scene) -> Iterator[Proposition]:
    """Yield what somebody becomes: an age, with the birthday that it tells, or an occupation."""
    if scene.clause.verb not in ("turn", "become"):
        return
    direct = scene.complement.direct
    match = re.match(r"([\w-]+)(?: years? old)?$", direct)
    number = number_of(match[1]) if match else None
    modality, since = scene.modality(event=True), from_then(scene)
    if number is not None and number < 130:
        yield say(scene, relation_type("has_age"), str(number), valid=since, modality=modality)
        certain = modality in (Modality.ASSERTED, Modality.PLANNED)
        exact = scene.point is not None and scene.point.start == scene.point.end
        if certain and exact and since.start is not None and since.start_precision == "day":
            yield say(scene, attribute("birthday"), f"{since.start.day} {MONTHS[since.start.month - 1].title()}")
    elif scene.clause.verb == "become" and (diet := DIET.search(direct)):
        yield say(scene, relation_type("follows_diet"), diet[1].casefold(), valid=since, modality=modality)
    elif scene.clause.verb == "become" and OCCUPATION.search(clean(direct)):
        yield say(scene, relation_type("works_as"), direct, valid=since, modality=modality)


def anniversary(scene: Scene) -> Iterator[Proposition]:
    """Yield the age and the birthday that "she had her 92nd birthday yesterday" tells."""
    match = re.search(r"\b(\d+)(?:st|nd|rd|th) birthday$", scene.complement.direct)
    if match is None or scene.clause.verb not in ("have", "celebrate") or scene.clause.tense not in ("past", "perfect"):
        return
    since = from_then(scene)
    yield say(scene, relation_type("has_age"), match[1], valid=since)
    if since.start is not None and since.start_precision == "day":
        yield say(scene, attribute("birthday"), f"{since.start.day} {MONTHS[since.start.month - 1].title()}")


def switched(scene: Scene) -> Iterator[Proposition]:
    """Yield what takes the place of something known: "I switched from chemistry to physics"."""
    before, after = scene.complement.at("from"), scene.complement.at("to")
    owned = re.match(r"(?:my|our|his|her) (?:new )?([\w ]+)$", scene.complement.direct)
    if scene.clause.verb in ("trade", "trade+in", "swap", "exchange") and scene.complement.at("for"):
        yield from _exchanged(scene, re.sub(r" in$", "", scene.complement.direct), scene.complement.at("for"))
        return
    if scene.clause.verb not in ("switch", "change", "move") or not after:
        return
    if owned and named(after) and not kin_of(owned[1]):
        yield say(scene, attribute(owned[1]), after, valid=from_then(scene), modality=scene.modality(event=True))
    gerund = re.match(r"to ((?:[a-z]+ )?[a-z]+ing)\b", scene.clause.rest)  # "switched to [lorry [driving]]"
    after = gerund[1] if gerund else after
    if gerund and not before and scene.referents.beliefs.about(scene.subject.key, "works_as"):
        yield say(scene, relation_type("works_as"), after, valid=from_then(scene), modality=scene.modality(event=True))
        return
    if not before or scene.complement.direct:
        return
    modality, valid = scene.modality(event=True), from_then(scene)
    for kind, held in known_of(scene, before):
        yield say(scene, kind, after, valid=valid, modality=modality)
        if not kind.functional and modality is Modality.ASSERTED:
            yield say(scene, kind, held.label, valid=valid, polarity=False)


def _exchanged(scene: Scene, before: str, after: str) -> Iterator[Proposition]:
    """Yield what takes the place of something that is given for it: "traded the Golf in for a Leaf"."""
    modality, valid = scene.modality(event=True), from_then(scene)
    if scene.clause.negated or not before or modality is not Modality.ASSERTED:
        return
    for kind, held in known_of(scene, before):
        yield say(scene, kind, after, valid=valid)
        if not kind.functional:
            yield replace(say(scene, kind, "", valid=valid, polarity=False), object=held)


def boundary(scene: Scene) -> Iterator[Proposition]:
    """Yield the day on which something that is no person begins or ends: "the lease runs until 30 June"."""
    clause, point = scene.clause, scene.point
    kind = BOUNDARIES.get(clause.verb)
    until = next((span.valid for span in scene.times if span.kind == "until"), None)
    if clause.verb in ("run", "last", "go+on") and until is not None:
        kind, point = "ends_on", replace(until, start=until.end, start_precision=until.end_precision)
    stretch = point is not None and point.start is not None and point.end not in (None, point.start)
    if clause.verb == "run" and point is not None and stretch:
        begun = Interval.format(point.start, point.start_precision)
        yield say(scene, relation_type("begins_on"), begun, polarity=not clause.negated, modality=clause.modality)
        kind, point = "ends_on", replace(point, start=point.end, start_precision=point.end_precision)
    hole = scene.complement.at("on") == HOLE
    if kind is None or is_animate(scene) or scene.complement.direct or not (hole or (point and point.start)):
        return
    day = HOLE if hole else Interval.format(point.start, point.start_precision) if point else ""
    told = replace(relation_type(kind), functional=True)
    yield say(scene, told, day, polarity=not clause.negated, modality=clause.modality)


def relatives(scene: Scene) -> Iterator[Proposition]:
    """Yield relatives and pets by name ("I have a sister called Mia"), and note a new baby for the next sentence."""
    if scene.clause.verb not in ("have", "get", "adopt", "buy", "take+in", "rescue", "bring+home"):
        return
    baby = BABY.match(scene.complement.direct)
    if baby:
        newborn = term(f"{scene.subject.label}'s baby {baby[1]}")
        scene.referents.mention(newborn)
        scene.referents.gender[newborn.key] = "f" if baby[1] in ("girl", "daughter") else "m"
        yield from _born(scene, newborn)
    pet = re.match(r"(?:an?|another) (?:[\w-]+ ){0,2}?([\w-]+)$", scene.complement.direct)
    if pet and (pet[1] in PET or kin_of(pet[1])):
        scene.referents.mention(term(f"{scene.subject.label}'s {kin_of(pet[1]) or pet[1]}"))
    match = re.match(
        rf"(?:an?|two|three|four|one|another|\d) (?:[a-z]+ ){{0,2}}?([\w-]+?)s?(?: (?:called|named)|"
        rf",) ({NAME}(?:(?:, | and ){NAME})*)$",
        scene.complement.direct,
    )
    if match is None:
        return
    relation = kin_of(match[1]) or (match[1] if match[1] in PET else None)
    if relation:
        for name in re.split(r", | and ", match[2]):
            yield say(scene, attribute(relation), name)


def called(scene: Scene) -> Iterator[Proposition]:
    """Yield a name: "my landlord is called Herr Brandt", "we named the cat Kiki"."""
    clause = scene.clause
    if clause.verb in ("call", "name") and clause.passive and "'s " in scene.subject.label and scene.complement.direct:
        yield from naming(scene, scene.complement.direct, scene.subject)


def price(scene: Scene) -> Iterator[Proposition]:
    """Yield a new price: "my membership went up to 34 euros a month"."""
    value = scene.complement.at("to")
    polarity, modality = not scene.clause.negated, scene.modality()
    verb, passive = scene.clause.verb.partition("+")[0], scene.clause.passive
    thing = re.sub(r" (?:up|down)$", "", scene.complement.direct)
    if verb in PRICING and not passive and thing and (MONEY.search(value) or AMOUNT.match(value)):
        whose = scene.referents.resolve(thing)
        told = say(scene, relation_type("costs"), value, valid=from_then(scene), modality=modality, polarity=polarity)
        if whose is not None and "'s " in whose.key:
            yield replace(told, subject=whose)
    elif verb in ("go", "rise", "drop", "increase", "climb") and (rated := list(_rated(scene, value))):
        yield from rated
    elif (verb in ("go", "rise", "drop", "increase") and (MONEY.search(value) or _priced(scene, value))) or (
        verb in PRICING and passive and (MONEY.search(value) or AMOUNT.match(value))
    ):
        yield say(scene, relation_type("costs"), value, valid=from_then(scene), modality=modality, polarity=polarity)


def _priced(scene: Scene, value: str) -> bool:
    """Tell whether a bare number is a new price: of something whose price is known."""
    return bool(AMOUNT.match(value)) and bool(scene.referents.beliefs.about(scene.subject.key, "costs"))


def _rated(scene: Scene, value: str) -> Iterator[Proposition]:
    """Yield a new amount of what somebody has as a number ("my rent is 740 a month", "it goes up to 790")."""
    owner, _, noun = scene.subject.key.rpartition("'s ")
    for fact in scene.referents.beliefs.about(owner, noun.replace(" ", "_")) if owner and AMOUNT.match(value) else ():
        if fact.status is Status.HELD and fact.polarity and AMOUNT.match(fact.object.label):
            kind = relation_type(fact.relation.name, fact.relation.label)
            whole = term(with_number(fact.object.label, value))
            yield replace(say(scene, kind, value, valid=from_then(scene)), subject=fact.subject, object=whole)


def purchase(scene: Scene) -> Iterator[Proposition]:
    """Yield what was paid for something: "I paid 40 euros for the lamp"."""
    paid, thing = scene.complement.direct, scene.complement.at("for")
    if scene.clause.verb == "cost" and scene.complement.direct.startswith(("me ", "us ")):
        yield say(scene, relation_type("costs"), paid.partition(" ")[2], polarity=not scene.clause.negated)
    if (
        scene.clause.verb in ("set", "set+back")
        and MONEY.search(paid)
        and re.match(r"(?:me|us|him|her|them) back", scene.clause.rest)
    ):
        yield say(scene, relation_type("costs"), re.sub(r"^(?:me|us) ", "", paid), polarity=not scene.clause.negated)
    if scene.clause.verb == "charge" and thing and (MONEY.search(paid) or AMOUNT.match(paid)):
        told = say(scene, relation_type("costs"), re.sub(r"^(?:me|us) ", "", paid), valid=from_then(scene))
        yield replace(told, subject=value_term(scene, thing))
    if scene.clause.verb == "ask" and thing and (MONEY.search(paid) or AMOUNT.match(paid)):
        yield replace(say(scene, relation_type("costs"), paid), subject=value_term(scene, thing))
    if scene.clause.verb == "pay" and (MONEY.search(paid) or paid == HOLE) and thing:
        yield replace(say(scene, relation_type("costs"), paid), subject=value_term(scene, thing))


def sale(scene: Scene) -> Iterator[Proposition]:
    """Yield what something was sold for: "I sold the kayak for 350 pounds"."""
    sum_ = scene.complement.at("for")
    if scene.clause.verb == "sell" and not scene.clause.passive and MONEY.search(sum_) and scene.complement.direct:
        told = say(scene, relation_type("be_sold_for"), sum_, valid=scene.point, modality=scene.modality(event=True))
        yield replace(told, subject=value_term(scene, scene.complement.direct))


def departure(scene: Scene) -> Iterator[Proposition]:
    """Yield where somebody lived until a move: "we moved from Turku to Oulu two years ago"."""
    before, clause = scene.complement.at("from"), scene.clause
    moved = clause.verb in ("move", "relocate", "move+over") and clause.tense in ("past", "perfect")
    if moved and scene.referents.beliefs.about(scene.subject.key, "lives_in"):
        return  # what is known of his homes is closed by the new one
    if moved and is_animate(scene) and named(clean(before)) and scene.complement.at("to") and not clause.negated:
        since = from_then(scene)
        valid = Interval(end=since.start, end_precision=since.start_precision) if since.start else Interval()
        yield say(scene, relation_type("lives_in"), before, valid=valid, ended=True)


def transfer(scene: Scene) -> Iterator[Proposition]:
    """Yield who has what was handed over, and who has it no more: "I gave my old camera to Renske"."""
    clause, thing = scene.clause, scene.complement.direct
    giver = scene.complement.at("from")
    regained = clause.verb in ("get+back", "take+back") or (clause.verb in ("get", "take") and BACK.search(clause.rest))
    if regained and thing and named(clean(giver)) and not clause.negated and clause.tense in ("past", "perfect"):
        mine_again = say(scene, relation_type("has"), re.sub(r" back$", "", thing), valid=from_then(scene))
        yield mine_again
        yield replace(mine_again, subject=value_term(scene, giver), polarity=False)
        return
    who = next(
        (noun for prep, noun in scene.complement.phrases if prep in ("to", "on to", "") and named(clean(noun))), ""
    )
    if clause.verb not in HANDING or clause.passive or not (thing and who) or EMPTY_OBJECT.match(clean(thing)):
        return
    modality, valid, polarity = scene.modality(event=True), from_then(scene), not clause.negated
    given = say(scene, relation_type("has"), thing, modality=modality, valid=valid, polarity=polarity)
    yield replace(given, subject=value_term(scene, who))
    held = scene.referents.beliefs.about(scene.subject.key, "has")
    mine = re.match(r"(?:my|our|his|her|their)\b", thing) or any(
        fact.polarity and fact.status is Status.HELD and fact.object.key == clean(thing).casefold() for fact in held
    )
    if mine and modality is Modality.ASSERTED and polarity:
        until = Interval(end=valid.start, end_precision=valid.start_precision) if valid.start else Interval()
        yield say(scene, relation_type("has"), thing, valid=until, ended=True)


def fondness(scene: Scene) -> Iterator[Proposition]:
    """Yield what somebody "could watch every month": he likes it."""
    if scene.clause.verb in ("watch", "eat", "drink") and OFTEN.search(scene.clause.rest):
        yield say(scene, relation_type("likes"), OFTEN.sub("", scene.complement.direct))
