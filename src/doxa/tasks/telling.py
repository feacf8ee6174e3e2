"""telling: clauses that bring something new: tasks, items, slots, conditions, and what settles them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import TaskValue, ValueKind
from doxa.tasks.adding import (
    NUMBERED,
    add_element,
    add_items,
    attach,
    is_value,
    named_value,
    new_task,
    people_of,
    put_slot,
    value_of,
)
from doxa.tasks.changing import is_slot, places_of
from doxa.tasks.listing import read_list
from doxa.tasks.phrases import Element, elements, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, split_of, verb_in
from doxa.tasks.scene import FILLERS, Scene
from doxa.tasks.taking import people_slot
from doxa.tasks.verbs import Token

__all__ = [
    "add_frame",
    "added",
    "container_of",
    "describe",
    "into",
    "label_frame",
    "onto",
    "open_task",
    "purpose_frame",
    "rehung",
]

VAGUE = frozenset("have think know go see take need want show tell".split())
ITEMISING = frozenset("add include put throw bring use invite pack note spend".split())

ENTITY_VERBS = {
    "schedule",
    "plan",
    "organise",
    "organize",
    "arrange",
    "host",
    "bake",
    "cook",
    "do",
    "make",
    "apply",
    "run",
    "prepare",
    "hold",
    "throw",
    "build",
    "write",
    "design",
    "move",
    "renovate",
    "redo",
    "start",
    "create",
    "begin",
    "train",
    "record",
    "launch",
    "release",
    "open",
    "sell",
    "fill",
    "set",
    "work",
    "draft",
    "edit",
    "travel",
    "fly",
    "go",
    "stage",
    "rehearse",
    "file",
    "visit",
    "plant",
    "pack",
    "put",
    "help",
    "sort",
    "handle",
    "tackle",
    "need",
    "have",
    "get",
}

PARTS_OF = {"book", "reserve", "find", "search", "hire", "rent", "look", "order"}

LISTS = {
    "cart",
    "basket",
    "list",
    "bag",
    "order",
    "box",
    "trolley",
    "playlist",
    "menu",
    "programme",
    "program",
    "agenda",
    "kit",
    "suitcase",
    "checklist",
    "queue",
    "line-up",
    "lineup",
    "itinerary",
    "wishlist",
    "backpack",
    "rucksack",
    "case",
    "shortlist",
    "plan",
    "schedule",
}

NOUN_OF = {
    "apply": "application",
    "travel": "trip",
    "fly": "flight",
    "move": "move",
    "register": "registration",
    "train": "training",
    "reserve": "reservation",
    "visit": "visit",
    "go": "trip",
    "drive": "drive",
    "study": "study",
    "submit": "submission",
    "sell": "sale",
}


def label_frame(scene: Scene, clause: Clause) -> str | None:
    """ "start: I will leave from Bonn": the label names the slot, the sentence gives its value."""
    said = elements(clause.subject, scene.text, scene.typed)
    assigned = clause.mood == "statement" and bool(said) and (said[0].person or said[0].names)
    if not clause.label or clause.mood == "question" or scene.root() is None or assigned:
        return None
    root = scene.root() or ""
    known = scene.slot_named(root, words_of(clause.label))
    found = objects(scene, clause)
    heads = [one for one in found if one.text] + [
        inner for one in found for prep, inner in one.attached if prep == "for"
    ]
    named = next((one for one in heads if one.words and set(words_of(clause.label)) & set(one.words)), None)
    attached = [pair for one in found for pair in one.attached if pair[1] is not named]
    if named is not None and known is None and len(attached) > 1:
        key = new_task(scene, named.text, root)
        for prep, inner in attached:
            attach(scene, key, prep, inner)
        return "new"
    value = _label_value(clause, found, named)
    if value is None:
        return None
    if known is not None:
        scene.editor.set(known, value)
        scene.touch(known)
    else:
        put_slot(scene, root, clause.label, value)
    return "update" if known is not None else "new"


def _label_value(clause: Clause, found: Sequence[Element], named: Element | None) -> TaskValue | None:
    typed = [one.value for one in clause.values if one.value is not None]
    if typed:
        return typed[-1]
    for one in found:
        for prep, inner in one.attached:
            if inner.text and inner is not named:
                return replace(value_of(inner), text=f"{prep} {inner.text}") if prep == "near" else value_of(inner)
    plain = [one for one in found if one.text and one is not named]
    return value_of(plain[-1]) if plain else None


def purpose_frame(scene: Scene, clause: Clause) -> str | None:
    """ "To make soup, wash and chop celery": what it is for is the task, what is done goes under it."""
    tokens = clause.tokens
    begins = next(
        (
            i
            for i, t in enumerate(tokens[:3])
            if t.lower in ("to", "for") and not any(b.upos in ("NOUN", "VERB", "PROPN", "NUM") for b in tokens[:i])
        ),
        None,
    )
    if (
        begins is None
        or clause.listed
        or clause.mood == "question"
        or begins + 2 >= len(tokens)
        or (tokens[begins].lower == "to" and tokens[begins + 1].upos != "VERB")
    ):
        return None
    own = next((i for i, t in enumerate(tokens) if i > begins and t.lower in ("i", "we") and t.upos == "PRON"), None)
    comma = next((i for i, token in enumerate(tokens) if token.form == "," and i > begins), len(tokens))
    if own is not None and own < comma:  # "for the front bed I want lavender, sage and thyme"
        comma = next((i for i in range(own, len(tokens)) if tokens[i].upos == "VERB"), comma)
        while comma + 1 < len(tokens) and (
            tokens[comma + 1].upos in ("PART", "VERB") or tokens[comma + 1].deprel == "compound:prt"
        ):
            comma += 1  # "I have to dig out payslips"
    if tokens[begins].lower == "for" and (comma == len(tokens) or scene.find(_one(scene, tokens[begins + 1 : comma]))):
        return None
    head = tokens[begins + (2 if tokens[begins].lower == "to" else 1) : comma]
    found = [one for one in elements(head, scene.text, scene.typed) if one.words]
    if not found:
        return None
    known = scene.find(found[0])
    key = known[0] if known else new_task(scene, found[0].text)
    scene.attend(key)
    rest = list(tokens[comma + 1 :])
    if rest:
        add_items(scene, key, [one for one in elements(_things(rest), scene.text, scene.typed) if one.words])
    return "new"


def _one(scene: Scene, tokens: Sequence[Token]) -> Element:
    found = elements(tokens, scene.text, scene.typed)
    return found[0] if found else Element(text="")


def _things(tokens: Sequence[Token]) -> list[Token]:
    """Leave out the verbs of steps: "wash and chop celery" is about celery."""
    return [token for token in tokens if token.upos != "VERB" and token.lower not in ("&",)]


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
    lists = [key for one in places if one.pronoun in ("both", "all") for key in places_of(scene, one)]
    things = [one for one in found if one.words and not one.pronoun and one.value is None]
    if len(lists) > 1 and things:
        for key in lists:  # "add stretching to both"
            add_items(scene, key, [replace(one, attached=()) for one in things])
        scene.attend(*lists)
        return "new"
    container = container_of(scene, places)
    if container is not None:
        spot, place = container
        loose = [one for one in places if one is not place and (one.value is not None or not one.text)]
        group = [one for one in rehung(found, place) if one.text and not one.pronoun]
        if not group and not loose:
            return None
        return into(scene, spot, group)
    if _apposed(found):
        return _thing_with_fields(scene, clause, found)
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
    """Hang a bare price for one on the thing before it: "bed linen, 12 each for four people"."""
    kept: list[Element] = []
    for one in found:
        before = kept[-1] if kept else None
        if before is not None and one.value is not None and one.each and before.words and not before.value:
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
        if place.det == "the" and place.words and _siblings(scene) and not place.person:
            return new_task(scene, place.text), place  # "put the sofa in the lounge", where the study has its list
        if NUMBERED.match(f"{place.text} x") and scene.root() is not None:
            alike = any(NUMBERED.match(f"{scene.editor.node(one).name} x") for one in scene.editor.roots())
            return new_task(scene, place.text, None if alike else scene.root()), place
        if place.words and (place.words[-1] in LISTS) and place.det in ("my", "the", "our", "a"):
            return new_task(scene, place.text), place
    return None


def _siblings(scene: Scene) -> bool:
    """Tell whether lists stand side by side, so that another place is one more of them."""
    return sum(bool(scene.editor.items(root)) for root in scene.editor.roots()) > 1


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


def _apposed(found: Sequence[Element]) -> bool:
    """Tell whether named fields follow a thing: "my wife's car, plate LP 771 CC"."""
    return (
        len(found) > 1
        and bool(found[0].text)
        and named_value(found[0]) is None
        and not found[0].names
        and not found[0].pronoun
        and all(named_value(one) is not None for one in found[1:])
    )


def _thing_with_fields(scene: Scene, clause: Clause, found: Sequence[Element]) -> str:
    root = scene.root()
    key = new_task(scene, found[0].text, root if root is not None and not clause.listed else None)
    for prep, inner in found[0].attached:
        attach(scene, key, prep, inner, verb=clause.verb)
    for one in found[1:]:
        name, value = named_value(one) or ("", value_of(one))
        put_slot(scene, key, name, value)
    return "new"


def _opens_task(clause: Clause, first: Element) -> bool:
    """Tell whether a thing is a task of its own, and not one more of what is there."""
    if clause.listed:
        return True
    if clause.verb in PARTS_OF or clause.verb in ITEMISING or not first.words:
        return False
    dated = any(
        inner.value is not None and inner.value.kind in (ValueKind.DATE, ValueKind.CLOCK)
        for prep, inner in first.attached
    )
    others = any(
        typed.value is not None and typed.value.kind in (ValueKind.DATE, ValueKind.CLOCK) for typed in clause.values
    )
    same_day = "same day" in clause.lowered or "same time" in clause.lowered
    with_list = any(prep == "with" for one in (first,) for prep, _ in one.attached)
    if clause.verb == "have" and first.det in ("a", "an") and (dated or others):
        return True  # "I also have an eye test at 11:15"
    return (
        clause.verb in ENTITY_VERBS
        and clause.verb not in ("need", "have", "get", "make")
        and (
            dated
            or others
            or with_list
            or same_day
            or first.det in ("a", "an", "my", "our")
            or any(t.form.endswith("ing") for t in clause.tokens[: clause.at + 1])
        )
    )


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
        elif clause.verb in PARTS_OF and (one.attached or one.det in ("a", "an")):
            key = new_task(scene, one.text, root)
            for prep, inner in one.attached:
                attach(scene, key, prep, inner, verb=clause.verb)
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
    name = thing.text if thing is not None else NOUN_OF.get(clause.verb, clause.verb)
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
    same = re.search(r"\bsame (day|time|date|place|week|evening|morning|afternoon)\b", clause.lowered)
    if same:
        _same_as_before(scene, key, same[1])
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


def _same_as_before(scene: Scene, key: str, what: str) -> None:
    """Set "the same day" once to what the task before has."""
    for other in reversed(scene.editor.roots()):
        if other == key:
            continue
        for slot in scene.slots(other):
            value = scene.editor.value(slot)
            wanted = ValueKind.CLOCK if what == "time" else ValueKind.DATE
            if value is not None and (value.kind is wanted or (what == "place" and "location" in scene.words(slot))):
                put_slot(scene, key, scene.editor.node(slot).name, value)
                return
