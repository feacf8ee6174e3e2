"""statements: clauses that say what something has, who does it and when it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, TaskValue, ValueKind
from doxa.tasks.adding import (
    add_element,
    add_items,
    attach,
    new_task,
    put_slot,
    verb_slot,
)
from doxa.tasks.changing import is_slot, set_value
from doxa.tasks.phrases import Element
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, subject
from doxa.tasks.scene import Scene
from doxa.tasks.setting import TIMED
from doxa.tasks.telling import added, open_task

__all__ = ["gets_frame", "statement_frame"]

HAVING = frozenset("get have take need include contain hold use".split())
PEOPLE = frozenset("i we they you there he she who what everyone".split())
HAPPENING = frozenset("be come start begin move happen go take fall change shift slip".split())


def gets_frame(scene: Scene, clause: Clause) -> str | None:
    """ "The pots get basil and chives": what a thing gets is on its list."""
    root, said = scene.root(), subject(scene, clause)
    if clause.mood != "statement" or clause.negated or clause.mark or clause.verb not in HAVING:
        return None
    if root is None or said is None or said.value is not None or said.pronoun in PEOPLE:
        return None
    found = [one for one in objects(scene, clause) if one.text or one.value is not None or one.attached]
    keys = scene.find(said, accept=lambda key: not is_slot(scene, key) or bool(scene.editor.items(key)))
    own = not said.person and said.det in ("the", "my", "our", "")
    if not any(one.words and not one.pronoun for one in found) or not (keys or own):
        return None
    above = root if not scene.editor.node(root).parents and not scene.editor.items(root) else None
    key = keys[0] if keys else new_task(scene, said.text, above)
    before = len(scene.touched) - (0 if keys else 1)
    for one in found:
        if one.value is not None or any(inner.value is not None for _, inner in one.attached):
            add_element(scene, one, key)
        else:
            add_items(scene, key, [one])
    scene.attend(key)
    return added(scene, before)


def statement_frame(scene: Scene, clause: Clause) -> str | None:
    """ "The plumber comes Wednesday", "the permit should start on 1 September and run for six months"."""
    subordinate = clause.mark in ("because", "since", "if", "while", "when", "as")
    held = {one.start for one in _flat(objects(scene, clause)) if one.value is not None}
    values = [one.value for one in clause.values if one.value is not None and (one.start in held or not held)]
    if clause.mood == "question" or clause.negated or subordinate or not values:
        return None
    if clause.has(("until", "till")) and clause.verb == "be":
        return None
    said = subject(scene, clause)
    hint = verb_slot(f"{clause.verb} {clause.particle}".strip(), values[0]) or verb_slot(clause.verb, values[0])
    if said is None or said.pronoun:
        first_person = said is not None and said.pronoun in ("i", "we")
        if said is not None and not first_person and said.pronoun not in ("it", "they", "that", "this", "he", "she"):
            return None
        if clause.wrapped and scene.root() is not None:
            return _asked_of_focus(scene, clause, values)
        return _said_of_focus(scene, clause, values[0], hint, shared=not first_person)
    if (said.person and not hint) or not said.words:
        return None
    keys = scene.find(said)
    if keys:
        if scene.is_person(keys[0]):
            return None
        for value in values:
            set_value(scene, said, value, prep=_prep_of(scene, clause, value), hint=hint if value is values[0] else "")
        return "update"
    return _new_entity(scene, clause, said)


def _flat(found: Sequence[Element]) -> list[Element]:
    return [one for element in found for one in (element, *_flat([inner for _, inner in element.attached]))]


def _asked_of_focus(scene: Scene, clause: Clause, values: Sequence[TaskValue]) -> str | None:
    """Set what "I'd like to eat there on the fourth" says of what is spoken of."""
    slots = [
        set_value(scene, None, value, prep=_prep_of(scene, clause, value), new=value.kind in TIMED) for value in values
    ]
    return "update" if any(slot is not None for slot in slots) else None


def _others(scene: Scene, clause: Clause) -> list[Element]:
    """Return what else a statement gives a value: "the books are due by 9 June, the DVDs by 2 June"."""
    said = [one for one in objects(scene, clause)[1:] if one.words and not one.pronoun and not one.adjective]
    return [one for one in said if any(inner.value is not None or inner.shift is not None for _, inner in one.attached)]


def _new_entity(scene: Scene, clause: Clause, said: Element) -> str | None:
    """Add what a statement gives a date or a price and that is not there yet."""
    others = _others(scene, clause)
    theirs = [inner.value for one in others for _, inner in one.attached if inner.value is not None]
    attached = tuple(
        (_prep_of(scene, clause, one.value), Element(text=one.value.text, value=one.value, each=one.each))
        for one in clause.values
        if one.value is not None
        and not any(one.value is value for value in theirs)
        and not (one.value.kind is ValueKind.NUMBER and f"room {one.value.text}" in clause.lowered)
    )
    placed = [
        (prep, inner)
        for one in objects(scene, clause)
        for prep, inner in one.attached
        if prep in ("at", "in", "from", "to")
    ]
    spots = tuple((prep, replace(inner, attached=())) for prep, inner in placed if inner.names or inner.place)
    element, root = replace(said, attached=(*attached, *spots)), scene.root()
    opened = "new" if root is not None and add_element(scene, element, root) else None
    opened = opened or open_task(scene, clause, [element], element)
    for one in others if opened else ():
        if root is not None or any(inner.shift is not None for _, inner in one.attached):
            add_element(scene, one, root or scene.root() or "")
        else:
            key = new_task(scene, one.text)
            for prep, inner in one.attached:
                attach(scene, key, prep, inner)
    return opened


def _prep_of(scene: Scene, clause: Clause, value: TaskValue) -> str:
    return next((prep for one in objects(scene, clause) for prep, inner in one.attached if inner.value == value), "")


def _said_of_focus(scene: Scene, clause: Clause, value: TaskValue | None, hint: str, *, shared: bool) -> str | None:
    """Set what "it starts at nine", "coming back on the 13th" says of the task that is spoken of."""
    if value is None or not scene.editor.roots() or not (hint or shared):
        return None
    if not hint and clause.verb not in HAPPENING:
        return None
    owner = next(
        (key for key in scene.visible_focus() if scene.editor.node(key).kind in (NodeKind.TASK, NodeKind.LOOP)),
        scene.root(),
    )
    if owner is None:
        return None
    time = scene.slot_named(owner, ("time",)) if hint == "start" and value.kind is ValueKind.CLOCK else None
    if time is not None and scene.slot_named(owner, ("start",)) is None and scene.editor.value(time) is not None:
        return "update" if set_value(scene, Element(text="time", words=("time",)), value, prep="at") else None
    if hint:
        put_slot(scene, owner, hint, value)
        return "new"
    return "update" if set_value(scene, None, value, new=False) is not None else None
