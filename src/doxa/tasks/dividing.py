"""dividing: clauses that divide a task, join its parts, or make another one like it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, ValueKind
from doxa.tasks.adding import put_slot
from doxa.tasks.changing import is_slot
from doxa.tasks.listing import fill, read_part
from doxa.tasks.phrases import Element, elements, stem, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, verb_in
from doxa.tasks.scene import Scene
from doxa.tasks.taking import copy_task, divided, give, is_part, merge_parts, split_task

__all__ = ["copy_frame", "like_frame", "merge_frame", "split_frame"]

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
    here = list(scene.clauses).index(clause)
    for later in scene.clauses[here + 1 :]:
        if later.mood != "fragment":
            break
        scene.consumed.append(later)
        parts += elements(later.rest, scene.text, scene.typed)
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
    here = list(scene.clauses).index(clause)
    for later in scene.clauses[here + 1 :]:
        if later.mood == "fragment" and later.values and whole is not None:
            scene.consumed.append(later)
            merge_values(scene, later, whole)
    return "merge"


def merge_values(scene: Scene, clause: Clause, whole: str) -> None:
    """Set what a fragment behind a merge says of the whole."""
    for typed in clause.values:
        if typed.value is not None and typed.value.kind in (ValueKind.CLOCK, ValueKind.DATE, ValueKind.DURATION):
            give(scene, whole, typed.value)


GENDER = {
    **dict.fromkeys(("mother", "mum", "mom", "wife", "sister", "aunt", "daughter", "grandmother", "girlfriend"), "she"),
    **dict.fromkeys(("father", "dad", "husband", "brother", "uncle", "son", "grandfather", "boyfriend"), "he"),
}
LIKE = re.compile(r"\bthe same as (?:the |my |our )?(\w+)")


def like_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Saturday is going to be the same as Monday but without the bench press": a list like another one."""
    like = LIKE.search(clause.lowered)
    said = clause.subject or clause.tokens[: clause.at]
    if like is None or clause.mood == "question" or not said:
        return None
    source = scene.find(Element(text=like[1], words=(stem(like[1]),)), accept=lambda key: bool(scene.editor.items(key)))
    name = re.sub(r"^(?:the|on|my)\s+", "", scene.text[said[0].start : said[-1].end].split(" is ")[0], flags=re.I)
    if not source or scene.find(Element(text=name, words=words_of(name))):
        return None
    found = elements(clause.tokens, scene.text, scene.typed)
    without = [inner for one in found for prep, inner in one.attached if prep in ("without", "minus", "except")]
    scene.attend(copy_task(scene, source[0], name, without=without))
    return "new"


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
    fresh = bool(clause.listed) or "form" in lowered.split()
    name = f"{owner.text} {head}" if owner is not None else f"next {head}" if dated else f"second {head}"
    made = copy_task(scene, source, name, without=without, empty=fresh)
    scene.editor.alias(made, f"second {head}", f"{head} 2", *((f"{dated[0].text} {head}",) if dated else ()))
    for value in dated:
        give(scene, made, value)
    if owner is not None and GENDER.keys() & set(owner.words):
        scene.refer(next(GENDER[word] for word in owner.words if word in GENDER), made)
    scene.attend(made)
    if clause.listed:
        read_form(scene, clause, made, source)
    return "new"


def read_form(scene: Scene, clause: Clause, made: str, source: str) -> None:
    """Fill a copied form from the elements behind the colon."""
    for listed in clause.listed:
        found = elements(listed, scene.text, scene.typed)
        for element in found:
            if element.words and element.text.split()[0].lower() in ("everything", "nothing", "rest", "leave", "keep"):
                continue
            like = scene.slot_named(source, element.words) if element.same else None
            value = scene.editor.value(like) if like is not None else None
            if like is not None and value is not None:  # "same arrival date as me"
                put_slot(scene, made, scene.editor.node(like).name, value)
                continue
            if not fill(scene, made, element):
                read_part(scene, listed, made)
    scene.attend(made)
