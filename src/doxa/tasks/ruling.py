"""ruling: clauses that state rules: what follows what, what waits for what, what is done."""

from __future__ import annotations

import re
from collections.abc import Sequence

from doxa.core.errors import TaskCycleError
from doxa.core.tasks import Dependency, NodeKind, TaskValue, ValueKind
from doxa.tasks.adding import put_slot
from doxa.tasks.changing import scene_slot
from doxa.tasks.moving import shifted
from doxa.tasks.phrases import Element, elements, stem
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, subject, verb_in
from doxa.tasks.scene import Scene
from doxa.tasks.shifts import Shift, number_in
from doxa.tasks.verbs import Token

__all__ = ["done_frame", "rule_frame"]


def done_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Tick off the tiles", "I've finished the report"."""
    if clause.mood == "question" or clause.negated or not verb_in(clause, "done"):
        return None
    keys = [key for one in objects(scene, clause) if one.words or one.pronoun for key in scene.find(one)]
    for key in keys:
        scene.editor.done(key)
        scene.touch(key)
    return "update" if keys else None


def rule_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Grouting is always the day after tiling", "painting can only start two days after the plastering"."""
    match = RULE.search(clause.text)
    if clause.mood == "question" or clause.mark == "if" or match is None:
        return None
    if not clause.has(STANDING) and not (match["amount"] and clause.mood == "statement"):
        return None
    start = clause.tokens[0].start
    anchor = _anchor(scene, [token for token in clause.tokens if token.start >= start + match.start("anchor")])
    said = subject(scene, clause)
    if anchor is None or said is None:
        return None
    if said.pronoun in ("i", "we", "you") and clause.verb not in ("have", "be"):
        said = Element(text=clause.verb, words=(stem(clause.verb),))  # "we always bake the day before the market"
    if not _follow(scene, said, anchor, *_distance(match), clause):
        return None
    scene.ruled = True
    return "new" if scene.editor.forest.get(scene.last) is None else "update"


RULE = re.compile(
    r"(?:(?P<amount>\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|half an|the) )?"
    r"(?P<unit>minute|hour|day|week|month|fortnight)?s? ?(?:straight |right )?"
    r"(?P<way>after|before|following)\s+(?P<anchor>.+)$",
    re.I,
)
STANDING = ("always", "must", "has to", "have to", "needs to", "need to", "can only", "every time", "only", "whenever")


def _anchor(scene: Scene, tokens: Sequence[Token]) -> str | None:
    """Return what a rule counts from: "the van" in "two days before the van turns up"."""
    ends = next((i for i, t in enumerate(tokens) if i and (t.form in (",", ";") or t.upos in ("VERB", "AUX"))), None)
    noun = list(tokens[:ends])
    found = elements(noun, scene.text, scene.typed)
    keys = [key for one in found if one.words or one.pronoun for key in scene.find(one)]
    if not keys and ends is not None:  # a gerund names a thing: "the day after tiling"
        keys = [key for one in elements(tokens, scene.text, scene.typed) if one.words for key in scene.find(one)]
    if not keys:  # "the day before we bake"
        deeds = [Element(text=t.lemma, words=(stem(t.lemma),)) for t in tokens if t.upos == "VERB"]
        keys = [key for one in deeds for key in scene.find(one)]
    return keys[0] if keys else None


def _distance(match: re.Match[str]) -> tuple[float, str]:
    """Return the amount and the unit of time of a rule; no unit where it only gives the order."""
    unit, amount = (match["unit"] or "").lower(), number_in(match["amount"] or "")
    sign = -1.0 if match["way"].lower() == "before" else 1.0
    return (sign * (1.0 if amount is None else amount), unit) if unit else (0.0, "")


def _follow(scene: Scene, said: Element, anchor: str, amount: float, unit: str, clause: Clause) -> bool:
    """Let a node follow another one by a distance, and give it its value."""
    source = _dated(scene, anchor, unit)
    key = next(iter(scene.find(said)), None) if said.words or said.pronoun else None
    if key is None and said.words and not said.pronoun:
        key = scene_slot(scene, scene.root(), said.text, TaskValue(text=""))
        scene.editor.set(key, None)
    if key is None:
        return False
    if source is None or not unit:
        scene.editor.depend(key, Dependency(on=anchor, kind="before", text=clause.text))
        scene.touch(key)
        return True
    follower = _dated(scene, key, unit) or key
    if scene.editor.node(follower).kind is not NodeKind.SLOT:
        follower = put_slot(
            scene,
            follower,
            scene.editor.node(source).name if scene.editor.node(source).name in ("day", "date", "time") else "day",
            TaskValue(text=""),
        )
    try:
        for old in scene.editor.node(follower).depends:
            if old.kind == "derived":
                scene.editor.undepend(follower, old)
        scene.editor.depend(follower, Dependency(on=source, kind="derived", shift=amount, unit=unit, text=clause.text))
    except TaskCycleError as exc:
        scene.doubts.append(str(exc))
        return False
    value = scene.editor.value(source)
    moved = shifted(value, Shift(amount=amount, unit=unit)) if value is not None else None
    if moved is not None:
        scene.editor.change(follower, value=moved)
    scene.touch(follower)
    return True


def _dated(scene: Scene, key: str, unit: str) -> str | None:
    """Return the slot with the date or time of a node: itself, or one of its slots."""
    kinds = (ValueKind.CLOCK,) if unit in ("minute", "hour") else (ValueKind.DATE,)
    for one in (key, *scene.slots(key)):
        value = scene.editor.value(one)
        if value is not None and value.kind in kinds:
            return one
    return None
