"""statements: clauses that say what something has, who does it and when it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, TaskValue, ValueKind
from doxa.tasks.adding import (
    NUMBERED,
    add_element,
    add_items,
    attach,
    new_task,
    people_of,
    put_slot,
    slot_name,
    value_of,
    verb_slot,
)
from doxa.tasks.changing import scene_slot, set_value
from doxa.tasks.deeds import asked_frame, kept_frame, list_frame, todo_frame
from doxa.tasks.fragments import counted_frame, fragment_frame, listed_frame
from doxa.tasks.joining import belongs_frame, crew_frame, day_frame, joins_frame, located_frame, stand_in_frame
from doxa.tasks.moving import shifted
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, subject
from doxa.tasks.scene import GENDERED, Scene
from doxa.tasks.setting import TIMED
from doxa.tasks.telling import add_frame, added, open_task, purpose_frame

__all__ = ["TELLING"]

HAVING = frozenset("get have take need include contain hold use".split())
PEOPLE = frozenset("i we they you there he she who what everyone".split())
HAPPENING = frozenset("be come start begin move happen go take fall change shift slip".split())


def gets_frame(scene: Scene, clause: Clause) -> str | None:
    """ "The pots get basil and chives", "table 3 is Rolf and the twins"."""
    gives = clause.verb in HAVING or clause.verb == "be"
    if clause.mood != "statement" or clause.negated or not gives or clause.mark:
        return None
    if scene.root() is None:
        return _opened(scene, clause)
    said = subject(scene, clause)
    if said is None or said.value is not None:
        return None
    if said.pronoun in PEOPLE:
        return _given(scene, clause, said)
    told = any(token.lemma == clause.verb and token.lower in ("had", "got", "took") for token in clause.tokens)
    found = [one for one in objects(scene, clause) if one.text or one.value is not None or one.attached]
    numbered = NUMBERED.match(f"{said.text} x") is not None
    keys = scene.find(
        said, accept=lambda key: scene.editor.node(key).kind is NodeKind.TASK or bool(scene.editor.items(key))
    )
    plain = [one for one in found if one.words and not one.pronoun]
    if clause.verb == "be" and any(
        one.value is not None or any(inner.value for _, inner in one.attached) for one in found
    ):
        return None
    if (
        not plain
        or (clause.verb == "be" and not numbered and not (keys and scene.editor.items(keys[0])))
        or (said.person and not keys)
    ):
        return None
    root = scene.root() or ""
    if not keys and told:
        return None
    if not keys and not (
        numbered or (clause.verb in ("get", "take", "need", "have", "use") and said.det in ("the", "my", "our", ""))
    ):
        return None
    listed = bool(scene.editor.items(root))
    above = root if not scene.editor.node(root).parents and not listed else None
    key = keys[0] if keys else new_task(scene, said.text, above)
    before = len(scene.touched) - (0 if keys else 1)
    for one in found:
        if one.value is not None or any(inner.value is not None for _, inner in one.attached) or _measured(one):
            _field(scene, key, one)
        else:
            add_items(scene, key, [one])
    scene.attend(key)
    return added(scene, before)


def _opened(scene: Scene, clause: Clause) -> str | None:
    """ "The blue team gets cones, bibs and whistles", where nothing is there yet: a list of its own."""
    said = subject(scene, clause)
    found = [one for one in objects(scene, clause) if one.words and not one.pronoun and one.value is None]
    gives = clause.verb in ("get", "need", "take", "include", "contain")
    values = [one.value for one in clause.values if one.value is not None]
    if (
        said is None
        or not said.words
        or said.pronoun
        or not gives
        or len(found) < 2
        or any(one.kind in TIMED for one in values)
    ):
        return None
    key = new_task(scene, said.text)
    add_items(scene, key, found)
    scene.attend(key)
    return "new"


def assigned_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Kim has the attic", "Nina does the flowers", "Omar brings the music": what is whose."""
    said = subject(scene, clause)
    headed = Element(text=clause.label, words=words_of(clause.label)) if clause.label else None
    heads = scene.find(headed) if headed is not None else []
    root = heads[0] if heads else None if headed is not None else scene.root()
    if clause.mood != "statement" or clause.negated or clause.mark or clause.verb not in ASSIGNING or clause.values:
        return None
    if (
        (root is None and headed is None)
        or said is None
        or not (said.person or said.names)
        or said.pronoun
        or scene.find(said)
    ):
        return None
    if clause.verb in WISHING and root is not None:
        things = [one for one in objects(scene, clause) if one.words and not one.pronoun and not one.names]
        if not things:
            return None
        add_items(scene, new_task(scene, said.text, root), [replace(one, attached=()) for one in things])
        return "new"
    pairs = _assigned(scene, clause, said)
    if not pairs or (clause.verb in DEEDS and scene.find(Element(text=pairs[0][1], words=words_of(pairs[0][1])))):
        return None
    root = root or (new_task(scene, clause.label) if clause.label else None)  # "Bedrooms: Kim has the attic"
    for whom, what in pairs:
        name, value = (what, whom) if clause.verb in DEEDS else (whom, what)
        if root is not None:
            put_slot(scene, root, name, TaskValue(text=value))
        else:
            scene_slot(scene, None, name, TaskValue(text=value))
    if root is not None:
        scene.attend(root)
    return "new"


def _assigned(scene: Scene, clause: Clause, said: Element) -> list[tuple[str, str]]:
    """Return who has, or does, what: "Nina does the flowers, Omar the music and Aunt Bea the cake"."""
    pairs: list[tuple[str, str]] = []
    whom = said.text
    for one in objects(scene, clause):
        split = re.match(r"((?:[A-Z][\w'-]+ )+)(?:the |a |an |some )?([a-z].*)$", one.text)
        inner = next((inner.text for prep, inner in one.attached if prep == "" and inner.words), "")
        if pairs and one.names and inner:
            whom, what = one.text, inner
        elif pairs and split:
            whom, what = split[1].strip(), split[2]
        elif one.words and not one.pronoun and not one.names and not one.person:
            what = one.text
            if pairs and pairs[-1][0] == whom:
                pairs[-1] = (whom, f"{pairs[-1][1]} and {what}")
                continue
        else:
            return []
        pairs.append((whom, what))
    return pairs


DEEDS = frozenset("do handle make run cover lead organise organize manage arrange edit".split())
WISHING = frozenset("want like order choose".split())
ASSIGNING = DEEDS | WISHING | frozenset("have get take bring cook bake play sing carry drive paint clean".split())


def _given(scene: Scene, clause: Clause, said: Element) -> str | None:
    """ "She's got Dr. Okafor": whom somebody's appointment is with."""
    owned = scene.find(said) if said.pronoun in GENDERED else []
    whom = [one for one in objects(scene, clause) if (one.person or one.names) and not one.attached]
    if not owned or not whom or clause.verb == "be" or "'s " not in scene.editor.node(owned[0]).name:
        return None
    add_items(scene, people_of(scene, owned[0]), whom)
    return "update"


def _measured(one: Element) -> bool:
    return bool(one.with_prep("quantity"))


def _field(scene: Scene, key: str, one: Element) -> None:
    """Set "32 GB memory", "a 1 TB drive": the noun is the slot, the measure its value."""
    measure = next((inner for prep, inner in one.attached if prep == "quantity"), None)
    if measure is not None and one.words:
        put_slot(scene, key, one.text, value_of(measure))
    else:
        add_element(scene, one, key)


OWNING = {
    "own": "owner",
    "lead": "lead",
    "host": "host",
    "drive": "driver",
    "chair": "chair",
    "handle": "owner",
    "teach": "teacher",
    "run": "owner",
    "cover": "owner",
    "do": "owner",
    "conduct": "conductor",
    "present": "presenter",
    "review": "reviewer",
}


def owns_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Farid owns testing": who does something is a slot of it."""
    said = subject(scene, clause)
    if clause.mood != "statement" or clause.verb not in OWNING or said is None or not said.names or clause.negated:
        return None
    keys = [key for one in objects(scene, clause) if one.words for key in scene.find(replace(one, attached=()))]
    if not keys:
        return None
    put_slot(scene, keys[0], OWNING[clause.verb], TaskValue(text=said.text))
    scene.attend(keys[0])
    return "update"


def dated_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Sow the carrots on 12 March and the beetroot a fortnight later": dates of things that are there."""
    if clause.mood not in ("request", "statement") or clause.negated or not clause.values or clause.mark:
        return None
    pairs: list[tuple[str, Element]] = []
    for one in objects(scene, clause):
        keys = scene.find(replace(one, attached=())) if one.words and not one.pronoun else []
        values = [inner for prep, inner in one.attached if inner.value is not None or inner.shift is not None]
        if keys and values and scene.editor.node(keys[0]).kind is NodeKind.ITEM:
            pairs.append((keys[0], values[0]))
    last: TaskValue | None = None
    for key, element in pairs:
        value = (
            element.value
            if element.value is not None
            else shifted(last, element.shift)
            if last is not None and element.shift is not None
            else None
        )
        if value is None:
            continue
        last = value
        slot = scene.slot_of_kind(key, value)
        put_slot(scene, key, scene.editor.node(slot).name if slot else slot_name(value), value)
        scene.attend(key)
    return "update" if last is not None else None


OFFERS = frozenset("slot appointment opening space gap table place time".split())
HOLDING = frozenset("have get see attend take do".split())


def event_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Biscuit gets his booster shot on Thursday at 4:15 with Dr. Lindqvist": somebody's appointment is a task."""
    said = subject(scene, clause)
    timed = [one for one in clause.values if one.value is not None and one.value.kind in TIMED]
    if clause.mood != "statement" or clause.negated or clause.mark or clause.verb not in HOLDING or not timed:
        return None
    if said is None or not said.words or scene.find(said):
        return None
    offered = [one for one in objects(scene, clause) if set(one.words[-1:]) & OFFERS]
    if offered and clause.verb == "have" and not said.person:
        return _new_entity(scene, clause, said)  # "the optician has a slot on Friday at 9:30"
    if not (said.person or said.names):
        return None
    found = [one for one in objects(scene, clause) if one.words and one.value is None and not one.names]
    if not found:
        return None
    key = new_task(scene, f"{said.text}'s {found[0].text}")
    for one in objects(scene, clause):
        for prep, inner in one.attached:
            attach(scene, key, prep, inner, verb=clause.verb)
    if found[0].det in GENDERED:
        scene.refer(found[0].det, key)
    scene.attend(key)
    return "new"


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


def _own(scene: Scene, owner: str, hint: str) -> str:
    """Return the task of who speaks, where the one spoken of is a copy for somebody else: "I land on 5 May"."""
    copied = any(alias.startswith("second ") for alias in scene.editor.node(scene.root_of(owner)).aliases)
    mine = [root for root in scene.editor.roots() if scene.slot_named(root, words_of(hint))] if copied and hint else []
    return next((root for root in mine if root != scene.root_of(owner)), owner)


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
        if root is not None:
            add_element(scene, one, root)
        elif any(inner.shift is not None for _, inner in one.attached):
            add_element(scene, one, scene.root() or "")
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
    owner = _own(scene, owner, hint) if not shared else owner
    time = scene.slot_named(owner, ("time",)) if hint == "start" and value.kind is ValueKind.CLOCK else None
    if time is not None and scene.slot_named(owner, ("start",)) is None and scene.editor.value(time) is not None:
        return "update" if set_value(scene, Element(text="time", words=("time",)), value, prep="at") else None
    if hint:
        put_slot(scene, owner, hint, value)
        return "new"
    return "update" if set_value(scene, None, value, new=False) is not None else None


TELLING = (
    crew_frame,
    stand_in_frame,
    day_frame,
    joins_frame,
    belongs_frame,
    located_frame,
    dated_frame,
    asked_frame,
    kept_frame,
    purpose_frame,
    owns_frame,
    event_frame,
    assigned_frame,
    gets_frame,
    list_frame,
    add_frame,
    counted_frame,
    fragment_frame,
    listed_frame,
    statement_frame,
    todo_frame,
)
