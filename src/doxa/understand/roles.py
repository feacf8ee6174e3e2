"""Posts that one holds at a time: who is on call, who is captain, and since when somebody else is (`roles.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Interval, Modality, Status, Term
from doxa.memory import attribute, relation_type
from doxa.understand.referents import clean, named
from doxa.understand.scene import Proposition, Scene, from_then, say

__all__ = ["post", "takeover"]


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


def post(scene: Scene) -> Iterator[Proposition]:
    """Yield who holds a post: "Chidi is on call for payments", "Ines is our captain now"."""
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
    role = _posts().fullmatch(scene.complement.direct)
    what = role and (role["what"] or scene.complement.at("of"))
    if role is None or not named(scene.subject.label):
        return
    if what:
        whose = scene.referents.resolve(what)
    else:
        whose = scene.referents.speaker if role["whose"] and role["whose"].casefold() != "the" else None
    if whose is not None:
        told = _held(scene, role["post"], scene.subject.label)
        yield replace(told, subject=whose, kind=attribute(role["post"]), object=scene.subject)


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


def takeover(scene: Scene) -> Iterator[Proposition]:
    """Yield the posts that somebody takes over, and from whom: "Chidi takes over from Sunniva on Monday"."""
    clause = scene.clause
    if clause.verb not in _table()["takeover"]["verbs"].split() or clause.negated:
        return
    if clause.modality not in (Modality.ASSERTED, Modality.PLANNED):
        return
    direct, _, inside = scene.complement.direct.partition(" from ")
    before = scene.complement.at("from") or inside
    known = scene.referents.resolve(before) if before else None
    what = clean(direct).casefold()
    for holder, name, thing in _posts_of(scene, known, what):
        if holder != scene.subject:
            yield replace(say(scene, relation_type(name), thing.label, valid=from_then(scene)), object=thing)


def _posts_of(scene: Scene, holder: Term | None, what: str) -> Iterator[tuple[Term, str, Term]]:
    beliefs = scene.referents.beliefs
    claims = beliefs.said_of(holder.key) if holder is not None else beliefs.said_of(what) if what else []
    seen: set[tuple[str, str]] = set()
    for claim in reversed(claims):
        if claim.relation.name not in _phrases() or not claim.polarity:
            continue
        held = [f for f in beliefs.about(claim.subject.key, claim.relation.name) if f.object.key == claim.object.key]
        fits = not what or what in claim.object.key or claim.object.key in what
        if fits and any(f.status is Status.HELD and f.polarity for f in held):
            slot = (claim.relation.name, claim.object.key)
            if slot not in seen:
                seen.add(slot)
                yield claim.subject, claim.relation.name, claim.object
