"""Posts that one holds at a time: who is on call, who is captain, and since when somebody else is (`roles.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Fact, Interval, Modality, Status, Term
from doxa.memory import attribute, relation_type
from doxa.understand.referents import NAME, clean, named, term
from doxa.understand.scene import Proposition, Scene, from_then, say

__all__ = ["dismissed", "elected", "post", "switched_to", "takeover"]


STANDING = re.compile(r"(?:stand|fill|step|sit|jump) in for\b")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("roles.toml").read_text(encoding="utf-8"))


@cache
def _phrases() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(text, re.IGNORECASE) for name, text in _table()["phrases"].items()}


@cache
def _posts() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<whose>my|our|the)? ?(?:new |acting |interim )?(?P<post>{_table()['posts']['nouns']})"
        rf"(?: (?:of|for) (?P<what>.+))?",
        re.IGNORECASE,
    )


@cache
def _providers() -> re.Pattern[str]:
    nouns = _table()["providers"]["nouns"]
    return re.compile(rf"(?P<whose>my|our|his|her) (?:new |old |current )?(?P<noun>{nouns})", re.IGNORECASE)


def switched_to(scene: Scene) -> Iterator[Proposition]:
    """Yield who supplies somebody from now on: "I switched to Pondline", when just one such supplier is known."""
    clause, after = scene.clause, scene.complement.at("to")
    if clause.verb not in ("switch", "change", "go+over", "move") or clause.negated or scene.complement.at("from"):
        return
    if not named(after) or scene.complement.direct:
        return
    nouns = re.compile(_table()["providers"]["nouns"], re.IGNORECASE)
    facts = scene.referents.beliefs.about(scene.subject.key)
    held = {f.relation.name: f for f in facts if f.functional and f.polarity and f.status is Status.HELD}
    suppliers = [fact for fact in held.values() if nouns.fullmatch(fact.relation.label)]
    if len(suppliers) == 1 and clause.verb != "move":
        kind = relation_type(suppliers[0].relation.name, suppliers[0].relation.label)
        yield say(scene, kind, after, valid=from_then(scene), modality=scene.modality(event=True))


def post(scene: Scene) -> Iterator[Proposition]:
    """Yield who holds a post: "Chidi is on call for payments", "Vera is our captain now"."""
    clause = scene.clause
    if clause.modality is Modality.HYPOTHETICAL:
        return
    for preposition, noun in scene.complement.phrases[:1] if not scene.complement.direct else ():
        for name, pattern in _phrases().items():
            phrase = pattern.fullmatch(f"{preposition} {noun}")
            what = phrase and (phrase["what"] or scene.complement.at("for"))
            if what:
                yield _held(scene, relation_type(name).name, what)
                return
    found = list(_version(scene))
    if found:
        yield from found
        return
    provider = _providers().fullmatch(scene.complement.direct)
    if provider is not None and named(scene.subject.label):
        customer = scene.referents.owner(provider["whose"])
        if customer is not None:
            told = _held(scene, "has", scene.subject.label)
            yield replace(told, subject=customer, kind=attribute(provider["noun"]), object=scene.subject)
        return
    role = _posts().fullmatch(re.split(r", | and ", scene.complement.direct)[0])
    what = role and (role["what"] or scene.complement.at("of"))
    if role is None or not named(scene.subject.label):
        return
    whose = scene.referents.resolve(what) if what else None
    if not what:
        whose = scene.referents.speaker if role["whose"] and role["whose"].casefold() != "the" else None
    if whose is not None:
        told = _held(scene, role["post"], scene.subject.label)
        yield replace(told, subject=whose, kind=attribute(role["post"]), object=scene.subject)


def _version(scene: Scene) -> Iterator[Proposition]:
    """Yield which version something is on, or somebody of something: "we're on version 3.8 of the software"."""
    version = re.match(_table()["versions"]["phrase"], scene.clause.rest, re.IGNORECASE)
    if version is None:
        return
    thing = term(clean(version["what"])) if version["what"] else scene.subject
    if thing != scene.referents.speaker:
        told = _held(scene, "has", version["value"])
        yield replace(told, subject=thing, kind=attribute("version"))


def _held(scene: Scene, name: str, value: str) -> Proposition:
    """Say that a post is held; one that begins on a day to come is as sure as one that has begun."""
    clause = scene.clause
    ahead = clause.modality in (Modality.ASSERTED, Modality.PLANNED)
    span = next((span for span in scene.times if span.kind != "clock"), None)
    valid = scene.state() if span is not None else Interval()
    return say(
        scene, relation_type(name), value, polarity=not clause.negated, valid=valid,
        modality=Modality.ASSERTED if ahead else clause.modality, ended=clause.ended or clause.tense == "past",
    )  # fmt: skip


def elected(scene: Scene) -> Iterator[Proposition]:
    """Yield the post that somebody is given: "Sinead was elected treasurer of the club", "we made Vera captain"."""
    clause = scene.clause
    if clause.verb not in _table()["takeover"]["giving"].split() or clause.negated:
        return
    if clause.modality not in (Modality.ASSERTED, Modality.PLANNED):
        return
    who, direct = scene.subject, scene.complement.direct or scene.complement.at("as")
    if not clause.passive:
        given = re.match(rf"(?P<who>{NAME}) (?:as |to be )?(?P<post>[a-z].+)$", clause.rest)
        if given is None:
            return
        who, direct = scene.referents.resolve(given["who"]) or who, given["post"]
    role = _posts().match(direct)
    if role is None or not named(who.label):
        return
    what = role["what"] or scene.complement.at("of") or scene.complement.at("for")
    whose = scene.referents.resolve(what) if what else scene.referents.speaker
    if whose is not None:
        told = say(scene, attribute(role["post"]), "", valid=from_then(scene))
        yield replace(told, subject=whose, object=who)


def takeover(scene: Scene) -> Iterator[Proposition]:
    """Yield the posts that somebody takes over, or stands in for: "Chidi takes over from Sunniva on Monday"."""
    clause, table = scene.clause, _table()["takeover"]
    standing = STANDING.match(f"{clause.verb} {clause.rest}") is not None
    stands_in = standing or clause.verb in table["standing_in"].split()
    if not (stands_in or clause.verb in table["verbs"].split()) or clause.negated or not named(scene.subject.label):
        return
    if clause.modality not in (Modality.ASSERTED, Modality.PLANNED):
        return
    direct, _, inside = scene.complement.direct.partition(" from ")
    before = scene.complement.at("for" if stands_in else "from") or inside
    known = scene.referents.resolve(before) if before else None
    what = clean(scene.complement.at("as") or direct).casefold()
    valid = (scene.point or Interval()) if stands_in else from_then(scene)
    for fact in _posts_of(scene, known, what):
        kind = relation_type(fact.relation.name, fact.relation.label)
        told = replace(say(scene, kind, "", valid=valid), object=fact.object)
        yield replace(told, subject=fact.subject, object=scene.subject) if kind.kind == "noun" else told


def dismissed(scene: Scene) -> Iterator[Proposition]:
    """Yield the end of a post: "they sacked Rourke", "Rourke stepped down", when he is known to hold it."""
    clause, table = scene.clause, _table()["takeover"]
    over = clause.tense in ("past", "perfect") and clause.modality is Modality.ASSERTED and not clause.negated
    if not over or clause.verb not in table["ending"].split():
        return
    whom = scene.complement.direct if clause.verb in table["by_others"].split() and not clause.passive else ""
    name = clean(whom).casefold() if whom else scene.subject.key
    for fact in _posts_of(scene, None, "") or _posts_of(scene, scene.subject, ""):
        kind = relation_type(fact.relation.name, fact.relation.label)
        holder = fact.object if kind.kind == "noun" else fact.subject
        if name and (holder.key == name or holder.key.endswith(f" {name}")):
            told = say(scene, kind, "", polarity=False, valid=from_then(scene))
            yield replace(told, subject=fact.subject, object=fact.object)


def _posts_of(scene: Scene, holder: Term | None, what: str) -> list[Fact]:
    """Return the posts that somebody holds, or those of the speaker's groups, by their names if one is named."""
    beliefs, speaker = scene.referents.beliefs, scene.referents.speaker
    facts = [fact for fact in beliefs.about(speaker.key) if _posts().fullmatch(fact.relation.label)]
    for claim in beliefs.said_of(holder.key if holder is not None else what):
        if claim.relation.name in _phrases() or _posts().fullmatch(claim.relation.label):
            facts.extend(beliefs.about(claim.subject.key, claim.relation.name))
    held = {f.fact_id: f for f in facts if f.status is Status.HELD and f.polarity and f.valid.end is None}
    fitting = [f for f in held.values() if not what or what in (f.relation.label, f.object.key) or what in f.object.key]
    if holder is None:
        return fitting
    return [fact for fact in fitting if holder in (fact.subject, fact.object) or fact.object.key.endswith(holder.key)]
