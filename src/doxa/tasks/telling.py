"""telling: clauses that bring something new: tasks with their slots and items, and what stands on a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import TaskValue, ValueKind
from doxa.tasks.adding import (
    DATED,
    add_element,
    add_items,
    attach,
    is_value,
    named_value,
    new_task,
    people_of,
    put_slot,
)
from doxa.tasks.changing import is_slot
from doxa.tasks.phrases import Element, elements, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, split_of, verb_in
from doxa.tasks.scene import FILLERS, Scene
from doxa.tasks.taking import people_slot
from doxa.tasks.verbs import Token, lexicon

__all__ = [
    "add_frame",
    "added",
    "container_of",
    "describe",
    "hung",
    "into",
    "onto",
    "open_task",
    "read_list",
    "rehung",
    "todo_frame",
]

VAGUE = frozenset("have think know go see take need want show tell".split())
ITEMISING = frozenset("add include put throw bring use invite pack note spend".split())

LISTS = frozenset(
    "cart basket list bag order box trolley playlist menu programme program agenda kit suitcase checklist queue "
    "line-up lineup itinerary wishlist backpack rucksack case shortlist plan schedule".split()
)


def add_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Add Mei and book room 4B", "put flashcards under genetics", "I'm baking bread on Saturday: flour, butter"."""
    if (
        clause.mood in ("question", "fragment")
        or clause.negated
        or clause.mark in ("because", "since", "if", "while", "when", "as")
    ):
        return None
    first_person = any(token.lower in ("i", "we") for token in clause.subject)
    planning = first_person or clause.wrapped.split()[:1] in (["i"], ["we"], ["let"], ["help"])
    if clause.mood == "statement" and not planning:
        return None
    plain = verb_in(clause, "add") or (
        planning and any(token.form.endswith("ing") for token in clause.tokens[: clause.at + 1])
    )
    if not plain:
        return None
    found = objects(scene, clause)
    if clause.verb in VAGUE and not any(one.text for one in found):
        return None
    return _added(scene, clause, found)


def _added(scene: Scene, clause: Clause, found: Sequence[Element]) -> str | None:
    found = hung(found)
    _, places = split_of(found, "to", "into", "in", "onto", "on", "under", "for", "inside")
    fronted = [one for one in elements(clause.tokens[: clause.at], scene.text, scene.typed) if one.attached][:1]
    places += [inner for one in fronted for inner in one.with_prep("under", "in", "on", "for", "to")]
    container = container_of(scene, places)
    if container is not None:
        spot, place = container
        loose = [one for one in places if one is not place and (one.value is not None or not one.text)]
        group = [one for one in rehung(found, place) if one.text and not one.pronoun]
        if not group and not loose:
            return None
        return into(scene, spot, group)
    first = next((one for one in found if one.text or one.value is not None or one.attached), None)
    if first is None:
        return None
    root = scene.root()
    if first.pronoun and not first.words:
        return None
    if root is not None and not _opens_task(clause, first):
        return onto(scene, clause, root, [one for one in found if one.text or one.value is not None])
    return open_task(scene, clause, found, first)


def hung(found: Sequence[Element]) -> list[Element]:
    """Hang a bare value on the thing before it: "flowers, 18 per table"."""
    kept: list[Element] = []
    for one in found:
        before = kept[-1] if kept else None
        if before is not None and one.value is not None and not one.attached and before.words and not before.value:
            kept[-1] = replace(before, attached=(*before.attached, ("", one)), end=one.end)
        else:
            kept.append(one)
    return kept


def container_of(scene: Scene, places: Sequence[Element]) -> tuple[str, Element] | None:
    """Return the list that things are put in, made where "my cart" is none yet, and the element that named it."""
    for place in places:
        if place.value is not None or (place.person and not scene.find(place)):
            continue
        keys = [
            key
            for key in scene.find(place)
            if not (is_slot(scene, key) and scene.editor.value(key) is not None and not scene.editor.items(key))
        ]
        if keys and (place.words or place.pronoun):
            return keys[0], place
        if place.words and (place.words[-1] in LISTS) and place.det in ("my", "the", "our", "a"):
            return new_task(scene, place.text), place
    return None


def rehung(found: Sequence[Element], place: Element) -> list[Element]:
    """Return elements without the place that they are put in."""
    return [
        replace(one, attached=tuple(pair for pair in one.attached if pair[1] is not place))
        for one in found
        if one is not place
    ]


def into(scene: Scene, spot: str, group: Sequence[Element]) -> str:
    """Put things in a place: people with its people, dated parts under it, items on its list."""
    people = [one for one in group if one.person]
    if people and people_slot(scene, spot) is not None and not scene.editor.items(spot):
        add_items(scene, people_of(scene, spot), group)
        return "update"
    before = set(scene.editor.items(spot))
    for one in group:
        if (one.value is not None and one.with_prep("for", "on")) or (
            not scene.editor.items(spot)
            and any(inner.value is not None and prep in ("", "at", "on", "for") for prep, inner in one.attached)
            and not is_list(scene, spot)
        ):
            add_element(scene, one, spot)
        else:
            add_items(scene, spot, [one])
    scene.attend(*scene.touched[-1:], spot)
    return "new" if not before else "update"


def is_list(scene: Scene, key: str) -> bool:
    """Tell whether a node is called a list of things."""
    words = words_of(scene.editor.node(key).name)
    return bool(set(words) & LISTS) or words[-1].endswith("list")


def _opens_task(clause: Clause, first: Element) -> bool:
    """Tell whether a thing is a task of its own, and not one more of what is there."""
    if clause.listed:
        return True
    if clause.verb in ITEMISING or not first.words:
        return False
    typed = [one.value for one in clause.values if one.value is not None]
    dated = any(value.kind in (ValueKind.DATE, ValueKind.CLOCK) for value in typed)
    return dated or bool(first.with_prep("with")) or first.det in ("a", "an", "my", "our")


def onto(scene: Scene, clause: Clause, root: str, found: Sequence[Element]) -> str | None:
    """Put things onto what is spoken of: people to people, fields to fields, items to the list."""
    before = len(scene.touched)
    lists = [] if root in scene.touched and not scene.editor.items(root) else scene.containers()
    for one in found:
        if one.person or (one.names and people_slot(scene, root) and not one.attached and named_value(one) is None):
            add_items(scene, people_of(scene, _owner_with_people(scene, root)), [one])
        elif (
            one.value is not None
            or named_value(one) is not None
            or (one.attached and any(inner.value is not None for prep, inner in one.attached) and not lists)
        ):
            add_element(scene, one, root, verb=clause.verb)
        elif one.words and not one.pronoun:
            target = lists[0] if lists else root
            if people_slot(scene, root) == target and not one.person:
                others = [key for key in lists if key != target]
                target = others[0] if others else root
            add_items(scene, target, [one])
    return added(scene, before)


def added(scene: Scene, before: int) -> str | None:
    """Return the intent of what was touched since: new where something was not there, None where nothing was."""
    fresh = [key for key in scene.touched[before:] if scene.editor.forest.get(key) is None]
    return "new" if fresh else "update" if len(scene.touched) > before else None


def _owner_with_people(scene: Scene, root: str) -> str:
    for key in scene.visible_focus():
        for one in (key, *scene.editor.ancestors(key)):
            if people_slot(scene, one) is not None and scene.seen(one):
                return one
    return root


def open_task(scene: Scene, clause: Clause, found: Sequence[Element], first: Element) -> str | None:
    """Open a task with everything that the clause says of it."""
    thing = first if first.words else None
    name = thing.text if thing is not None else clause.verb
    if thing is not None and set(thing.words) <= FILLERS:
        return None
    known = scene.find(replace(thing, attached=())) if thing is not None else []
    if known and thing is not None and set(thing.words) == set(words_of(scene.editor.node(known[0]).name)):
        key = known[0]
    else:
        key = new_task(scene, name)
    if thing is not None and thing.count and thing.count > 1 and not known:
        value = TaskValue(text=f"{thing.count:g}", kind=ValueKind.NUMBER, amount=thing.count)
        put_slot(scene, key, "quantity", value)
    describe(scene, key, clause, found, thing)
    read_list(scene, clause, key)
    scene.attend(key)
    return "new"


def describe(scene: Scene, key: str, clause: Clause, found: Sequence[Element], thing: Element | None) -> None:
    """Hang everything that a clause says of a new task on it."""
    with_list = False
    for one in found:
        if one is not thing and not with_list and one.value is None and not one.attached and is_value(one):
            attach(scene, key, "in", one)  # "a bike helmet, white"
            continue
        for prep, inner in one.attached if one is thing or not one.text else ():
            attach(scene, key, prep, inner, verb=clause.verb)
            with_list = with_list or prep in ("with", "including")
        if one is thing or (thing is None and not one.text):
            continue
        if with_list and not one.attached and one.value is None:
            target = people_of(scene, key) if one.person or one.names else key
            add_items(scene, target, [one])
        elif one.text or one.value is not None:
            add_element(scene, one, key, verb=clause.verb)
    said = [one for one in elements(clause.subject, scene.text, scene.typed) if one.value is not None]
    for one in said:
        attach(scene, key, "", one)


def read_list(scene: Scene, clause: Clause, parent: str) -> list[str]:
    """Put the elements behind a colon under a node: slots of a form, dated steps, numbered parts, plain items."""
    added: list[str] = []
    read = [elements(part, scene.text, scene.typed) for part in clause.listed]
    plain = any(one.words and not one.attached and named_value(one) is None for found in read for one in found)
    for part in clause.listed:
        added += read_part(scene, part, parent, plain=plain)
    scene.attend(parent)
    if len(added) > 1:
        scene.group = added
    return added


def read_part(scene: Scene, part: Sequence[Token], parent: str, *, plain: bool = False) -> list[str]:
    """Put one listed element under a node; among plain things one with a measure is a thing too: "a 50 watt heater"."""
    words = [token for token in part if not (token is part[0] and token.lower in ("then", "also", "and", "finally"))]
    found = elements(words, scene.text, scene.typed)
    added: list[str] = []
    for element in found:
        timed = element.value is not None and element.value.kind in DATED
        if element.value is not None and (timed or not element.text[:1].isupper()):
            for prep, inner in (("", replace(element, attached=())), *element.attached):
                attach(scene, parent, prep, inner)
            added.append(scene.last)
            continue
        measured = len(element.attached) == 1 and element.attached[0][0] == "quantity"
        added += add_element(scene, element, parent, item=measured and plain)
    return added


NO_DEEDS = frozenset("be have know think see look say tell ask let keep leave try hope remember forget go do".split())


def todo_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Renew my library card by the 20th": a deed that no other frame knows is a task of its own."""
    planned = clause.mood == "request" and not clause.negated and clause.mark == ""
    if (
        not planned
        or clause.verb in NO_DEEDS
        or any(verb_in(clause, kind) for kind in lexicon()["verbs"] if kind != "add")
    ):
        return None
    found = [one for one in objects(scene, clause) if one.words or one.value is not None or one.attached]
    for_what = found[0].with_prep("for") if found and not found[0].words else []
    found = [*for_what[:1], *found] if for_what else found
    thing = found[0] if found and found[0].words and not found[0].pronoun else None
    if thing is None or thing.value is not None or scene.find(replace(thing, attached=())):
        return None
    key = new_task(scene, thing.text if verb_in(clause, "add") else f"{clause.verb} {thing.text}")
    scene.editor.alias(key, thing.text)
    describe(scene, key, clause, found, thing)
    scene.attend(key)
    return "new"
