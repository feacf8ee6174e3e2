"""confidence: a turn and what it did -> how likely it did what was meant.

How likely the classifier of intents finds what the grammar chose, times a logistic regression over signals of the
step: how much of what was said is in what was changed, how the changed nodes were found (by name, from what was spoken
of, out of several that fit equally well), and whether values are such as those before. No signal speaks for a step, so
that what is measured in one domain holds in another.

Weights, and how they were fitted: `confidence.toml`, `training/tasks`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.tasks import TaskEdit, ValueKind
from doxa.tasks.intents import class_of, known_words, likely
from doxa.tasks.phrases import REFERRING, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.scene import FILLERS, Scene, Tie, fits
from doxa.tasks.verbs import Token, lexicon, request_verbs

__all__ = ["acting", "confidence", "of_intent", "overlooks", "signals", "ties_of"]

CONTENT = frozenset("NOUN PROPN NUM ADJ".split())
VAGUE = FILLERS | frozenset("need some kind rest other others lot more less fewer same way sort bunch couple".split())
OPEN = frozenset(("new", "update", "check", "finalize", "chat"))
"""Intents that any statement can have; the others are read only where words say so."""
UNREAD_BELOW = 0.3
"""A turn that changes nothing is asked about below this: 7 in 10 of those that should have, 2 in 100 of the others."""


def confidence(found: Mapping[str, float], *, changes: bool) -> float:
    """Return how likely a step is right, by its signals, from 0 to 1.

    Of a step that changes something: how likely a change was wanted, times how likely it was this one. What settles a
    condition, and what is asked for in words that ask for nothing else, is wanted.
    """
    right = _logistic(_model()["changing" if changes else "keeping"], found)
    return right * odds_of(found["intent"]) if changes and not found.get("explicit") else right


def signals(scene: Scene, edits: Sequence[TaskEdit], intents: Sequence[str]) -> dict[str, float]:
    """Return what tells of a step whether it is right, by name. Cost O(words + edits x depth).

    Args:
        scene: the turn, carried out.
        edits: what it changed.
        intents: what the turn was taken for.
    """
    forest = scene.editor.forest
    clauses = acting(scene) if edits else scene.clauses
    odds = likely(clauses, said_before=scene.said_before, known=known_words(forest), empty=not forest.nodes)
    found = {
        "bias": 1.0,
        **of_intent(odds, intents),
        "unread": _share(scene.intents, lambda one: one == "chat"),
        "several": float(len(set(intents)) > 1),
    }
    if edits:
        settled = any(edit.before is not None and edit.before.waits for edit in edits)
        found["explicit"] = float(settled or not OPEN & set(intents))
        found |= dict(_of_words(scene, edits)) | dict(_of_targets(scene, edits)) | dict(_of_values(scene, edits))
    return found


def of_intent(odds: Mapping[str, float], intents: Sequence[str]) -> dict[str, float]:
    """Return what the classifier says of what the grammar chose.

    Args:
        odds: class -> probability, as `likely` gives it.
        intents: what the turn was taken for.
    """
    classes = {class_of(intent) for intent in intents} or {"chat"}
    changing = {"new", "update"}
    wanted = sum(odds[one] for one in (classes | changing if classes & changing else classes))
    return {"intent": log_odds(wanted), "chat": odds["chat"], "check": odds["check"]}


def log_odds(p: float) -> float:
    """Return the log odds of a probability, within 1 in 1,000 of certainty."""
    p = min(max(p, 0.001), 0.999)
    return math.log(p / (1 - p))


def odds_of(score: float) -> float:
    """Return the probability of log odds."""
    return 1.0 / (1.0 + math.exp(-score))


def _logistic(weights: Mapping[str, float], found: Mapping[str, float]) -> float:
    return odds_of(sum(weight * found.get(name, 0.0) for name, weight in weights.items()))


def overlooks(confidence_0_1: float) -> bool:
    """Tell whether a turn that was read as asking for no change is likely to have asked for one."""
    return confidence_0_1 < UNREAD_BELOW


def _share(items: Sequence[Any], true: Any) -> float:
    return sum(map(bool, map(true, items))) / len(items) if items else 0.0


def acting(scene: Scene) -> list[Clause]:
    """Return the clauses that changed something, by the checkpoints before and behind them; all where none is known."""
    marks = scene.marks
    found = [clause for clause, start, end in zip(scene.clauses, marks, marks[1:], strict=False) if end > start]
    return found or [clause for clause in scene.clauses if clause.mood != "question"] or list(scene.clauses)


def _of_words(scene: Scene, edits: Sequence[TaskEdit]) -> Iterator[tuple[str, float]]:
    """Yield how much of what was said is found again in what was changed, and how it was said."""
    clauses = acting(scene)
    words = {word for edit in edits for word in _words_of_edit(scene, edit)} | _grammar_words()
    content = [token for clause in clauses for token in clause.tokens if token.upos in CONTENT]
    shifts = [typed for typed in scene.typed if typed.shift is not None]
    left = [
        token
        for token in content
        if not set(words_of(token.lower)) & words and not any(one.start <= token.start < one.end for one in shifts)
    ]
    strangers = [token for token in left if token.upos in ("NOUN", "PROPN") and not _in_value(scene, token)]
    yield "left out", math.log1p(len(left))
    yield "stranger", float(bool(strangers))
    yield "odd verb", _share(clauses, lambda clause: clause.verb and not _is_known_verb(clause))
    rest = [clause for clause in scene.clauses if clause not in clauses and clause.mood != "question"]
    yield "passed over", _share(rest, lambda clause: clause.values or clause.mood == "request")


def _in_value(scene: Scene, token: Token) -> bool:
    return any(typed.start <= token.start < typed.end for typed in scene.typed)


def _named(scene: Scene, edits: Sequence[TaskEdit]) -> list[bool]:
    """Return of every node that was there whether the turn says its name, or that of what it is under."""
    said = {word for clause in scene.clauses for token in clause.tokens for word in words_of(token.lower)}
    known = [edit.before for edit in edits if edit.before is not None]
    return [
        any(
            said & set(words_of(name))
            for name in (node.name, *(scene.editor.node(one).name for one in scene.editor.ancestors(node.node_id)))
        )
        for node in known
    ]


def _is_known_verb(clause: Clause) -> bool:
    return clause.verb in request_verbs() or clause.verb in ("be", "have", "go", "come")


def _words_of_edit(scene: Scene, edit: TaskEdit) -> Iterator[str]:
    """Yield the words of a changed node as it was and is, and of what it is under."""
    for node in (edit.before, edit.after):
        if node is not None:
            texts = (node.name, *node.aliases, node.value.text if node.value is not None else "")
            yield from (word for text in texts for word in words_of(text))
            for needed in node.depends:
                yield from words_of(needed.text)
    if edit.after is not None:
        for above in scene.editor.ancestors(edit.node_id):
            yield from words_of(scene.editor.node(above).name)


@cache
def _grammar_words() -> frozenset[str]:
    """Return the words that ask for a change and are not in it: verbs, "instead", "both", the names of slots."""
    words = lexicon()
    known = (*words["slot_words"].values(), *words["cues"].values())
    groups = (*known, REFERRING, VAGUE, request_verbs())
    return frozenset(word for group in groups for text in group for word in words_of(text))


def _of_targets(scene: Scene, edits: Sequence[TaskEdit]) -> Iterator[tuple[str, float]]:
    """Yield how the changed nodes were found."""
    named = _named(scene, edits)
    yield "nothing named", named.count(False) / len(named) if named else 0.0
    ties = ties_of(scene, edits)
    yield "tie", float(any(tie.by == "focus" for tie in ties))
    yield "open tie", float(any(tie.by == "order" for tie in ties))


def ties_of(scene: Scene, edits: Sequence[TaskEdit]) -> list[Tie]:
    """Return the ties that decided which nodes were changed, or under which."""
    known = [edit.before for edit in edits if edit.before is not None]
    touched = {edit.node_id for edit in edits} | {parent for node in known for parent in node.parents}
    return [tie for key, tie in scene.ties.items() if key in touched]


def _of_values(scene: Scene, edits: Sequence[TaskEdit]) -> Iterator[tuple[str, float]]:
    """Yield whether new values are such as they should be, and whether they are all there."""
    pairs = [
        (edit.before.value, edit.after.value)
        for edit in edits
        if edit.before is not None and edit.after is not None and edit.before.value != edit.after.value
    ]
    revised = [(old, new) for old, new in pairs if old is not None and new is not None]
    yield "misfit", float(any(not fits(old, new) for old, new in revised))
    yield "text for text", float(any(old.kind is new.kind is ValueKind.TEXT for old, new in revised))
    words = {word for edit in edits for word in _words_of_edit(scene, edit)}
    typed = [one.value for one in scene.typed if one.value is not None]
    lost = [one for one in typed if not set(words_of(one.text)) <= words]
    yield "value lost", len(lost) / len(typed) if typed else 0.0


@cache
def _model() -> Mapping[str, Any]:
    """Return the fitted weights of `confidence.toml`."""
    return tomllib.loads(files("doxa.tasks").joinpath("confidence.toml").read_text(encoding="utf-8"))
