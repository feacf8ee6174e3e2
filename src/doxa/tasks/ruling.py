"""ruling: clauses that state rules: what follows what, what waits for what, what is done."""

from __future__ import annotations

import re
from dataclasses import replace

from doxa.core.tasks import Dependency
from doxa.tasks.adding import new_task
from doxa.tasks.changing import apply_rule, is_slot
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, subject
from doxa.tasks.scene import Scene

__all__ = ["done_frame", "rule_frame"]


def done_frame(scene: Scene, clause: Clause) -> str | None:
    """ "The deposit is paid", "tick off the tiles", "I've finished the report"."""
    said: list[Element] = []
    if f"{clause.verb} {clause.particle}" in ("tick off", "check off", "mark off") or (
        clause.verb in ("finish", "complete") and clause.mood != "question"
    ):
        said = [one for one in objects(scene, clause) if one.text and not one.value]
    elif clause.verb == "mark" and clause.has(("as done", "done", "complete", "completed", "finished")):
        said = [replace(one, attached=(), text=one.text) for one in objects(scene, clause)][:1]
    elif (
        clause.verb == "be"
        and clause.mood == "statement"
        and not clause.negated
        and re.search(
            r"\b(?:is|are|'s) (?:all |now |already )?(?:done|finished|complete|completed|sorted|ticked off)\b",
            clause.lowered,
        )
    ):
        one = subject(scene, clause)
        said = [one] if one is not None else []
    keys = [key for one in said for key in scene.find(one)]
    for key in keys:
        scene.editor.done(key)
        scene.touch(key)
    return "update" if keys else None


def rule_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Grouting is always the day after tiling", "a letter has to be in before I can send the application"."""
    if clause.mood == "question" or clause.mark == "if":
        return None
    said = subject(scene, clause)
    needed = re.search(
        r"\b(?:has to|have to|must|needs? to) (?:be|come|arrive|happen|get|go)?\b.*?\b(?:before|until)\b(.+)$",
        clause.lowered,
    )
    if needed:
        return need_frame(scene, clause, said, needed[1])
    if re.search(r"\b(?:can't|cannot|can not|only|depends? on|waits? for|needs)\b", clause.lowered):
        waits = re.search(
            r"\b(?:can't|cannot|can not|can only|only|must|should).*?\b(?:until|before|once|after|when)\b(.+)$|"
            r"\b(?:depends? on|waits? for|waiting for)\b(.+)$",
            clause.lowered,
        )
        if waits and not clause.values and said is not None and not said.pronoun:
            return wait_frame(scene, clause, said, waits[1] or waits[2])
    if not apply_rule(scene, said, clause, clause.text):
        return None
    return "new" if scene.editor.forest.get(scene.last) is None else "update"


def need_frame(scene: Scene, clause: Clause, said: Element | None, before: str) -> str | None:
    """Note that one thing has to be there before another."""
    words = words_of(before)
    then = (
        next((key for size in range(len(words)) for key in scene.find(Element(text=before, words=words[size:]))), None)
        or scene.root()
    )
    if said is None or not said.words or then is None:
        return None
    key = next(iter(scene.find(replace(said, attached=()))), None)
    if key is None:
        name = scene.text[clause.subject[0].start : clause.subject[-1].end]
        name = re.sub(r"^(?:a|an|the|my|our)\s+", "", name, flags=re.I)
        key = new_task(scene, name, then if not is_slot(scene, then) else None)
    if key != then and not is_slot(scene, then) and then not in scene.editor.node(key).parents:
        scene.editor.depend(then, Dependency(on=key, kind="before", text=clause.text))
    elif then in scene.editor.node(key).parents:
        scene.editor.alias(key, f"needed before {scene.editor.node(then).name}")
        scene.notes.append(f"{scene.editor.node(key).name} has to be there before {scene.editor.node(then).name}")
    scene.touch(key)
    return "new"


def wait_frame(scene: Scene, clause: Clause, said: Element, on: str) -> str | None:
    """Note that one thing waits for another."""
    words = words_of(re.split(r"\b(?:is|are|has|have|was|gets?|arrives?|comes?)\b", on)[0])
    anchor = next(iter(scene.find(Element(text=on, words=words))), None) if words else None
    key = next(iter(scene.find(said)), None)
    if anchor is None or key is None or anchor == key:
        return None
    scene.editor.depend(key, Dependency(on=anchor, kind="before", text=clause.text))
    scene.touch(key)
    return "update"
