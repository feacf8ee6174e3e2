"""dividing: clauses that divide a task, join its parts, or make another one like it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, ValueKind
from doxa.tasks.changing import is_slot
from doxa.tasks.phrases import Element, elements
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, verb_in
from doxa.tasks.scene import Scene
from doxa.tasks.taking import copy_task, divided, give, is_part, merge_parts, split_task

__all__ = ["copy_frame", "merge_frame", "split_frame"]

PARTS = frozenset("part half session meeting group two piece slot block".split())


def split_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Split it: branding at 1 with those two, prototyping at 2:30 with the others"."""
    made = re.search(r"\bmake (?:two|three|a few)(?: \w+)? (?:out )?of (?:it|that|them|the)\b", clause.lowered)
    if (
        not (verb_in(clause, "split") or made)
        or clause.mood == "question"
        or (clause.verb == "separate" and not clause.particle)
    ):
        return None
    found = objects(scene, clause)
    if clause.particle not in ("", "up") or clause.negated:
        return None

    def divisible(key: str) -> bool:
        return scene.editor.node(key).kind is NodeKind.TASK

    named = [one for one in found if one.text]
    whole = next((key for one in named for key in scene.find(replace(one, attached=()), accept=divisible)), None)
    whole = whole or scene.root()
    if whole is None:
        return None
    while is_slot(scene, whole) and scene.editor.node(whole).parents:
        whole = scene.editor.node(whole).parents[0]
    parts = [part for listed in clause.listed for part in elements(listed, scene.text, scene.typed)]
    into = [inner for one in found for prep, inner in one.attached if prep == "into"] + [
        one for one in found[1:] if found and found[0].with_prep("into")
    ]
    parts = joined_parts(parts or [one for one in into if not set(one.words) & PARTS])
    if len(parts) < 2:
        return None
    return "split" if split_task(scene, whole, parts) else None


def joined_parts(parts: Sequence[Element]) -> list[Element]:
    """Join what belongs to one part: people and times that follow it belong to it."""
    found: list[Element] = []
    for part in parts:
        if found and not part.attached and (part.value is not None or part.person or part.names) and not part.other:
            found[-1] = replace(found[-1], attached=(*found[-1].attached, ("with" if part.value is None else "", part)))
        elif part.text:
            found.append(part)
    return found


def merge_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Forget the split, one session at 2 with everybody", "merge them again"."""
    whole = divided(scene)
    cue = verb_in(clause, "merge") or bool(
        re.search(
            r"\b(single|one (?:meeting|session|event|slot|group|block|visit|class|trip|big)|back together|"
            r"together again|unsplit|no split|the split|as one|into one|in one go|all together|one again)\b",
            clause.lowered,
        )
    )
    named = [key for one in objects(scene, clause) for key in scene.find(replace(one, attached=()))] if whole else []
    parts = len(named) > 1 and whole is not None and all(is_part(scene, key, whole) for key in named)
    cue = cue or (parts and verb_in(clause, "remove"))
    if not cue or clause.mood == "question":
        return None
    if whole is None and not verb_in(clause, "merge"):
        return None
    if not merge_parts(scene, objects(scene, clause), clause):
        return None
    return "merge"


def copy_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Same thing again next Wednesday but without Yusuf", "same form for my neighbour: ..."."""
    lowered = clause.lowered
    cue = re.search(
        r"\b(same (?:thing|again|form|setup|set-up|booking|order|meeting|session|list|details|arrangement|deal|"
        r"one|[a-z]+ (?:for|on|again|next))|repeat (?:that|it|the|this)|"
        r"(?:copy|duplicate|clone) (?:it|that|the|this)|another (?:one|"
        r"form) (?:like|just like|for)|second (?:form|one|copy) (?:for|like)|one more form\b|one more (?:of these|"
        r"of those) for|a copy)\b",
        lowered,
    )
    if not cue or clause.mood == "question" or clause.verb in ("keep", "leave", "stay"):
        return None
    source = scene.root()
    if source is None:
        return None
    ends = clause.listed[0][0].start if clause.listed else clause.tokens[-1].end
    words = [token for token in clause.tokens if token.start < ends and token.form != ":"]
    found = elements(words, scene.text, scene.typed)
    without = [inner for one in found for prep, inner in one.attached if prep in ("without", "minus", "except")]
    owner = next(
        (
            inner
            for one in found
            for prep, inner in one.attached
            if prep == "for" and inner.value is None and inner.words
        ),
        None,
    )
    dated = [
        typed.value
        for typed in clause.values
        if typed.value is not None and typed.value.kind in (ValueKind.DATE, ValueKind.CLOCK)
    ]
    head = scene.editor.node(source).name
    name = f"{owner.text} {head}" if owner is not None else f"next {head}" if dated else f"second {head}"
    made = copy_task(scene, source, name, without=without)
    scene.editor.alias(made, f"second {head}", f"{head} 2", *((f"{dated[0].text} {head}",) if dated else ()))
    for value in dated:
        give(scene, made, value)
    scene.attend(made)
    return "new"
