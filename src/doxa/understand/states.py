"""States of which one thing has one at a time: single or married, alive or dead, open or closed.

All values of a state stand in one functional relation, so that a new one ends the one before (`states.toml`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Interval, Modality
from doxa.memory import relation_type
from doxa.understand.scene import Proposition, Scene, from_then, is_animate, say

__all__ = ["entered", "exclusive"]

MANNER = re.compile(
    r"^(?:(?:happily|newly|still|recently|now|currently|finally|officially|sadly|freshly|just|also|already|very much|"
    r"very|temporarily|permanently|heavily|long|fully) )+",
    re.IGNORECASE,
)
ABOUT = frozenset(["to", "about", "of", "from", "in", "at"])
"""Prepositions of what an adjective is said of ("open to ideas", "closed in winter")."""
AFTER = re.compile(
    r" (?:again|now|over here|here|at last|at the moment|these days|for good|any ?more|too)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class State:
    """A value of a functional relation, and whether only people and animals have it."""

    relation: str
    value: str
    animate: bool


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("states.toml").read_text(encoding="utf-8"))


@cache
def _states(column: str) -> Mapping[str, State]:
    """Return the states by the words of a column: adjectives ("say") or verbs ("begin")."""
    found: dict[str, State] = {}
    for row in _table()["state"]:
        for value, words in row.get(column, {}).items():
            state = State(row["relation"], value, row["who"] == "anybody")
            found.update(dict.fromkeys(words.split(), state))
    return found


def state_in(text: str) -> State | None:
    """Return the state that an adjective with its adverbs means ("happily single over here")."""
    word = MANNER.sub("", text.casefold())
    while word != (shorter := AFTER.sub("", word)):
        word = shorter
    return _states("say").get(word)


def exclusive(scene: Scene) -> Iterator[Proposition]:
    """Yield the state in which somebody or something is: "I'm single", "the shop is closed again"."""
    clause = scene.clause
    state = state_in(scene.complement.direct)
    about = any(noun and prep in ABOUT for prep, noun in scene.complement.phrases)
    if state is None or not _may_have(scene, state) or about:
        return
    due = re.search(r"\bdue\b", clause.rest) is not None  # "pregnant, due in August"
    valid, modality = (Interval(), clause.modality) if due else (scene.state(), scene.modality())
    yield from _in_state(scene, state, valid, modality, ended=clause.ended or clause.tense == "past")


def entered(scene: Scene) -> Iterator[Proposition]:
    """Yield the state into which a verb brings its subject: "I've retired", "we got divorced in May"."""
    clause = scene.clause
    state = _states("begin").get(clause.verb)
    if state is not None and clause.passive and clause.tense == "present" and not clause.progressive:
        if _may_have(scene, state) and not scene.complement.phrases:  # "I'm retired", whatever the parser calls it
            yield from _in_state(scene, state, scene.state(), scene.modality(), ended=clause.ended)
        return
    told = clause.modality is Modality.ASSERTED and not clause.negated
    over = clause.tense in ("past", "perfect")
    if state is None or not (told and over) or not _may_have(scene, state):
        return
    yield from _in_state(scene, state, from_then(scene), Modality.ASSERTED, ended=False)


def _in_state(scene: Scene, state: State, valid: Interval, modality: Modality, *, ended: bool) -> Iterator[Proposition]:
    kind, polarity = relation_type(state.relation), not scene.clause.negated
    yield say(scene, kind, state.value, polarity=polarity, valid=valid, ended=ended, modality=modality)


def _may_have(scene: Scene, state: State) -> bool:
    return is_animate(scene) if state.animate else scene.subject != scene.referents.speaker
