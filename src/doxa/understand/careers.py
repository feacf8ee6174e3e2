"""Jobs: where somebody works, since when, and how that ends ("handed back my apron at", "they let me go").

Who leaves a place of work leaves the work that he was known to do there as well.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Fact, Interval, Modality, Status, Term
from doxa.language.times import find_times
from doxa.memory import relation_type
from doxa.understand.referents import clean, named
from doxa.understand.scene import EMPTY_OBJECT, HOLE, ORGANISATION, Proposition, Scene, from_then, is_animate, say

__all__ = ["duty", "employed", "last_day", "left"]

EMPLOYMENT = ("works_at", "teaches_at")
GO = re.compile(r"^(?:me|him|her|us|them) go\b")
PLACES = ("at", "from", "with", "for")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("careers.toml").read_text(encoding="utf-8"))


def _verbs(row: str, column: str = "verbs") -> frozenset[str]:
    return frozenset(_table()[row][column].split())


def left(scene: Scene) -> Iterator[Proposition]:
    """Yield the end of a job: "I quit Brightside", "handed in my badge at Brightside", "they let me go"."""
    clause, complement = scene.clause, scene.complement
    over = clause.tense in ("past", "perfect") or (clause.passive and clause.verb in ("do", "finish"))
    if not over or clause.negated or clause.modality is not Modality.ASSERTED:
        return
    dismissed = clause.verb in _verbs("leaving", "by") or (clause.verb == "let" and GO.search(clause.rest))
    if dismissed and not clause.passive:
        yield from _dismissed(scene)
        return
    handed = clause.verb in _verbs("tokens")
    if handed:
        things = rf"\b(?:{_table()['tokens']['things']})$"
        token = re.search(things, complement.direct, re.IGNORECASE)
        if token is None or token[0].casefold().endswith(("notice", "resignation")):
            return
    elif clause.verb not in _verbs("leaving", "passive" if clause.passive else "verbs"):
        return
    job = re.match(
        rf"(?:(?:my|his|her|our|their|the|a) )?(?:old )?(?:{_table()['jobs']['nouns']})\b", complement.direct
    )
    placed = handed or job is not None or not complement.direct or clause.passive
    told = [noun for prep, noun in complement.phrases if prep in PLACES and placed]  # not "left the keys at Brightside"
    if clause.verb in ("quit", "leave", "resign"):
        told.append(re.sub(r"^ ?(?:at|with) ", "", complement.direct[job.end() :] if job else complement.direct))
    yield from _parted(
        scene, scene.subject, told, sure=not handed and clause.verb in ("quit", "resign", "fire", "lay+off")
    )


def last_day(scene: Scene) -> Iterator[Proposition]:
    """Yield the end of a job that its last day tells: "Friday was my last day at Brightside", "I'm done there"."""
    clause = scene.clause
    day = re.search(
        r"\b(?P<whose>my|his|her|our) last (?:day|shift|week) (?:at|with) (?P<place>.+)$",
        f"{clause.subject} {clause.rest}".strip(),
    )
    if day is not None and clause.verb == "be" and not clause.negated:
        whose = scene.referents.owner(day["whose"])
        if whose is not None:
            place = re.sub(r" (?:is|was|will)\b.*$", "", day["place"])
            named_day = tuple(find_times(clause.subject, scene.at, past=clause.tense == "past"))  # not "last day"
            yield from _parted(replace(scene, times=named_day), whose, [place], sure=True)
        return
    finished = re.match(r"(?:all )?(?:done|finished|through|out)\b", scene.complement.direct or clause.rest)
    if clause.verb == "be" and finished and not clause.negated and clause.tense == "present":
        told = [noun for prep, noun in scene.complement.phrases if prep in ("at", "with", "of")]
        yield from _parted(scene, scene.subject, told, sure=False)


def _dismissed(scene: Scene) -> Iterator[Proposition]:
    direct = re.sub(r" (?:go|off)$", "", scene.complement.direct)
    whom = scene.referents.resolve(direct) if direct else None
    if whom is None:
        return
    held = _jobs(scene, whom, "")
    theirs = scene.clause.subject.casefold() == "they"
    if held and (theirs or scene.subject.key in held[0].object.key or held[0].object.key in scene.subject.key):
        yield from _ended(scene, whom, held[0])


def _parted(scene: Scene, who: Term, places: list[str], *, sure: bool) -> Iterator[Proposition]:
    """Yield the end of the job at one of the places; `sure` tells that the verb speaks of nothing but jobs."""
    for place in places:
        held = _jobs(scene, who, place) if place else []
        if held:
            yield from _ended(scene, who, held[-1])
            return
    named_place = next((place for place in places if named(clean(place)) or ORGANISATION.search(place)), "")
    if named_place and sure and is_animate(scene) and scene.clause.verb != "leave":
        end = from_then(scene)
        valid = Interval(end=end.start, end_precision=end.start_precision) if end.start else Interval()
        yield replace(say(scene, relation_type("works_at"), named_place, valid=valid, ended=True), subject=who)


def _jobs(scene: Scene, who: Term, place: str) -> list[Fact]:
    """Return the jobs that are known of somebody, at a place if one is named."""
    wanted = set(clean(place).casefold().split())
    facts = [fact for name in EMPLOYMENT for fact in scene.referents.beliefs.about(who.key, name)]
    held = [fact for fact in facts if fact.status is Status.HELD and fact.polarity and fact.valid.end is None]
    return [fact for fact in held if not wanted or wanted & set(fact.object.key.split())]


def _ended(scene: Scene, who: Term, job: Fact) -> Iterator[Proposition]:
    """Yield that somebody no longer works there, nor as what he was said to be there."""
    beliefs, valid = scene.referents.beliefs, from_then(scene)
    there = [fact for fact in beliefs.about(who.key, "works_as") if set(fact.turn_ids) & set(job.turn_ids)]
    for fact in (job, *there):
        if fact.status is Status.HELD and fact.polarity and fact.valid.end is None:
            kind = relation_type(fact.relation.name, fact.relation.label)
            told = say(scene, kind, fact.object.label, polarity=False, valid=valid)
            yield replace(told, subject=who, object=fact.object)


def employed(scene: Scene) -> Iterator[Proposition]:
    """Yield a job by its noun: "I've got a new job with Norrland Bank", "my new job is at Norrland Bank"."""
    clause, complement = scene.clause, scene.complement
    nouns = _table()["jobs"]["nouns"]
    if clause.negated or clause.modality not in (Modality.ASSERTED, Modality.PLANNED) or not is_animate(scene):
        return
    job = re.match(
        rf"(?:an?|my|the|his|her)? ?(?:new |first |proper |part-time |full-time )*(?P<what>[a-z -]+? )?(?:{nouns})"
        rf"(?: (?:at|with|for) (?P<place>.+?))?(?: as (?P<as>.+))?$",
        complement.direct,
    )
    if job is None or clause.verb not in _verbs("jobs"):
        return
    place = job["place"] or next((noun for prep, noun in complement.phrases if prep in ("at", "with", "for")), "")
    role = job["as"] or complement.at("as")
    valid, modality = from_then(scene), scene.modality(event=True)
    if place and not EMPTY_OBJECT.match(clean(place)) and place != HOLE:
        yield say(scene, relation_type("works_at"), place, valid=valid, modality=modality)
        if role:
            yield say(scene, relation_type("works_as"), role, valid=valid, modality=modality)


def duty(scene: Scene) -> Iterator[Proposition]:
    """Yield where somebody works by what he does there: "I waited tables at Marea", "he drives for a courier firm"."""
    clause, complement = scene.clause, scene.complement
    table = _table()["duties"]
    objects = re.sub(r" (?:at|for|in) .*$", "", complement.direct)
    known = clause.verb in table["verbs"].split() and re.search(table["objects"], objects, re.IGNORECASE)
    years = (
        scene.span is not None and scene.span.kind in ("range", "since") and scene.span.valid.start_precision == "year"
    )
    if not known and (not years or clause.verb in table["other"].split() or not objects):
        return
    if not is_animate(scene) or clause.negated or clause.modality is Modality.HYPOTHETICAL:
        return
    inside = re.search(r" (?:at|for|in) (.+)$", complement.direct)
    place = complement.at("at") or complement.at("for") or (inside[1] if inside else "")
    if place and (named(clean(place)) or ORGANISATION.search(place)):
        ended = clause.tense == "past"
        yield say(
            scene, relation_type("works_at"), place, valid=scene.state(), ended=ended, modality=scene.modality()
        )  # fmt: skip
        yield say(
            scene, relation_type(clause.verb), objects, valid=scene.state(), ended=ended, modality=scene.modality()
        )  # fmt: skip
