"""Jobs: where somebody works by what he does there, and how that ends ("handed back my apron at").

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
from doxa.memory import relation_type
from doxa.understand.referents import clean, named
from doxa.understand.scene import ORGANISATION, Proposition, Scene, from_then, is_animate, say

__all__ = ["duty", "last_day", "left"]

EMPLOYMENT = ("works_at", "teaches_at")
PLACES = ("at", "from", "with", "for")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("careers.toml").read_text(encoding="utf-8"))


def _verbs(row: str, column: str = "verbs") -> frozenset[str]:
    return frozenset(_table()[row][column].split())


def left(scene: Scene) -> Iterator[Proposition]:
    """Yield the end of a job: "I quit Brightside", "handed in my badge at Brightside"."""
    clause, complement = scene.clause, scene.complement
    over = clause.tense in ("past", "perfect") or (clause.passive and clause.verb in ("do", "finish"))
    if not over or clause.negated or clause.modality is not Modality.ASSERTED:
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
    """Yield the end of a job that somebody has finished: "I'm done at Brightside"."""
    clause = scene.clause
    finished = re.match(r"(?:all )?(?:done|finished|through|out)\b", scene.complement.direct or clause.rest)
    if clause.verb == "be" and finished and not clause.negated and clause.tense == "present":
        told = [noun for prep, noun in scene.complement.phrases if prep in ("at", "with", "of")]
        yield from _parted(scene, scene.subject, told, sure=False)


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
