"""telling: clauses that bring something new: tasks, items, slots, conditions, and what settles them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import Dependency, NodeKind, TaskValue, ValueKind
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
    slot_name,
    read_list,
    value_of,
)
from doxa.tasks.amounts import shifted
from doxa.tasks.changing import is_slot, set_value
from doxa.tasks.frames import objects, split_of, subject, verb_in
from doxa.tasks.phrases import Element, elements, words_of
from doxa.tasks.reading import Clause, lexicon
from doxa.tasks.scene import FILLERS, Scene
from doxa.tasks.taking import people_slot

__all__ = ["TELLING", "hold", "settles"]

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
GOOD = {
    "fine",
    "well",
    "good",
    "great",
    "ok",
    "okay",
    "smoothly",
    "perfectly",
    "pass",
    "passed",
    "win",
    "won",
    "clear",
    "sunny",
    "dry",
    "positive",
    "success",
    "successful",
    "healthy",
    "approve",
    "approved",
    "accept",
    "accepted",
    "free",
    "available",
    "open",
    "early",
}
BAD = {
    "badly",
    "bad",
    "poorly",
    "fail",
    "failed",
    "wrong",
    "terribly",
    "lose",
    "lost",
    "rain",
    "wet",
    "stormy",
    "negative",
    "sick",
    "ill",
    "reject",
    "rejected",
    "decline",
    "declined",
    "late",
    "closed",
    "unavailable",
    "full",
    "broken",
    "short",
}
SMALL = {
    "the",
    "a",
    "an",
    "to",
    "be",
    "do",
    "have",
    "it",
    "they",
    "we",
    "i",
    "he",
    "she",
    "you",
    "for",
    "of",
    "in",
    "on",
    "at",
    "and",
    "so",
    "then",
    "still",
    "get",
    "go",
    "will",
    "can",
    "that",
    "this",
    "my",
    "our",
    "if",
    "unless",
    "with",
    "there",
    "not",
    "turn",
    "out",
    "come",
    "say",
    "by",
    "up",
}


def label_frame(scene: Scene, clause: Clause) -> str | None:
    """ "start: I will leave from Bonn": the label names the slot, the sentence gives its value."""
    if not clause.label or clause.mood == "question" or scene.root() is None:
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
    value = _label_value(scene, clause, found, named)
    if value is None:
        return None
    if known is not None:
        scene.editor.set(known, value)
        scene.touch(known)
    else:
        put_slot(scene, root, clause.label, value)
    return "update" if known is not None else "new"


def _label_value(scene: Scene, clause: Clause, found: Sequence[Element], named: Element | None) -> TaskValue | None:
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
    begins = next((i for i, t in enumerate(tokens[:3]) if t.lower in ("to", "for") and not any(b.upos in ("NOUN", "VERB", "PROPN", "NUM") for b in tokens[:i])), None)
    if (
        begins is None or clause.listed
        or clause.mood == "question"
        or begins + 2 >= len(tokens)
        or tokens[begins].lower == "to"
        and tokens[begins + 1].upos != "VERB"
    ):
        return None
    comma = next((i for i, token in enumerate(tokens) if token.form == "," and i > begins), len(tokens))
    if tokens[begins].lower == "for" and (comma == len(tokens) or scene.find(_one(scene, tokens[begins + 1 : comma]))):
        return None
    head = tokens[begins + (2 if tokens[begins].lower == "to" else 1) : comma]
    found = [one for one in elements(head, scene.text, scene.typed) if one.words]
    if not found:
        return None
    known = scene.find(found[0])
    key = known[0] if known else new_task(scene, found[0].text)
    scene.attend(key)
    rest = [token for token in tokens[comma + 1 :]]
    if rest:
        add_items(scene, key, [one for one in elements(_things(rest), scene.text, scene.typed) if one.words])
    return "new"


def _one(scene: Scene, tokens: Sequence[object]) -> Element:
    found = elements(tokens, scene.text, scene.typed)  # type: ignore[arg-type]
    return found[0] if found else Element(text="")


def _things(tokens: Sequence[object]) -> list[object]:
    """Leave out the verbs of steps: "wash and chop celery" is about celery."""
    return [token for token in tokens if token.upos != "VERB" and token.lower not in ("&",)]  # type: ignore[attr-defined]


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
    if clause.verb in ("have", "think", "know", "go", "see", "take", "need", "want", "show", "tell") and not any(
        one.text for one in found
    ):
        return None
    return _added(scene, clause, found)


def _added(scene: Scene, clause: Clause, found: Sequence[Element]) -> str | None:
    things, places = split_of(found, "to", "into", "in", "onto", "on", "under", "for", "inside")
    container = _container(scene, places)
    moved = [inner for one in found for prep, inner in one.attached if inner is not None]
    if container is not None:
        spot, place = container
        loose = [one for one in places if one is not place and (one.value is not None or not one.text)]
        group = [one for one in _rehung(found, place) if one.text and not one.pronoun]
        if not group and not loose:
            return None
        return _into(scene, clause, spot, group)
    if _apposed(found):
        return _thing_with_fields(scene, clause, found)
    first = next((one for one in found if one.text or one.value is not None or one.attached), None)
    if first is None:
        return None
    root = scene.root()
    if first.pronoun and not first.words:
        return None
    if root is not None and not _opens_task(scene, clause, first):
        return _onto(scene, clause, root, [one for one in found if one.text or one.value is not None])
    _ = (things, moved)
    return _task(scene, clause, found, first)


def _container(scene: Scene, places: Sequence[Element]) -> tuple[str, Element] | None:
    """Return the list that things are put in, made where "my cart" is none yet, and the element that named it."""
    for place in places:
        if place.value is not None or place.person and not scene.find(place):
            continue
        keys = [
            key
            for key in scene.find(place)
            if not (is_slot(scene, key) and scene.editor.value(key) is not None and not scene.editor.items(key))
        ]
        if keys and (place.words or place.pronoun):
            return keys[0], place
        if NUMBERED.match(f"{place.text} x") and scene.root() is not None:
            return new_task(scene, place.text, scene.root()), place
        if place.words and (place.words[-1] in LISTS) and place.det in ("my", "the", "our", "a"):
            return new_task(scene, place.text), place
    return None


def _rehung(found: Sequence[Element], place: Element) -> list[Element]:
    """Return elements without the place that they are put in."""
    return [
        replace(one, attached=tuple(pair for pair in one.attached if pair[1] is not place))
        for one in found
        if one is not place
    ]


def _into(scene: Scene, clause: Clause, spot: str, group: Sequence[Element]) -> str:
    people = [one for one in group if one.person]
    if people and people_slot(scene, spot) is not None and not scene.editor.items(spot):
        add_items(scene, people_of(scene, spot), group)
        return "update"
    before = set(scene.editor.items(spot))
    for one in group:
        if one.value is not None and one.with_prep("for", "on"):
            add_element(scene, one, spot)
        elif (
            not scene.editor.items(spot)
            and [pair for pair in one.attached if pair[1].value is not None and pair[0] in ("", "at", "on", "for")]
            and not is_list(scene, spot)
        ):
            add_element(scene, one, spot)
        else:
            add_items(scene, spot, [one])
    scene.attend(*scene.touched[-1:], spot)
    return "new" if not before else "update"


def is_list(scene: Scene, key: str) -> bool:
    """Tell whether a node is called a list of things."""
    return bool(set(words_of(scene.editor.node(key).name)) & LISTS)


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


def _opens_task(scene: Scene, clause: Clause, first: Element) -> bool:
    """Tell whether a thing is a task of its own, and not one more of what is there."""
    if clause.listed:
        return True
    if (
        clause.verb in PARTS_OF
        or clause.verb in ("add", "include", "put", "throw", "bring", "use", "invite", "pack", "note", "spend")
        or not first.words
    ):
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


def _onto(scene: Scene, clause: Clause, root: str, found: Sequence[Element]) -> str | None:
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


def _task(scene: Scene, clause: Clause, found: Sequence[Element], first: Element) -> str | None:
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
    _described(scene, key, clause, found, thing)
    same = re.search(r"\bsame (day|time|date|place|week|evening|morning|afternoon)\b", clause.lowered)
    if same:
        _same_as_before(scene, key, same[1])
    read_list(scene, clause, key)
    scene.attend(key)
    return "new"


def _described(scene: Scene, key: str, clause: Clause, found: Sequence[Element], thing: Element | None) -> None:
    with_list = False
    for one in found:
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
            if value is not None and (value.kind is wanted or what == "place" and "location" in scene.words(slot)):
                put_slot(scene, key, scene.editor.node(slot).name, value)
                return


def fragment_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Venue 600, catering for 30 people at 18 each", "also the same socks in navy", "flashcards for genetics"."""
    if clause.mood != "fragment":
        return None
    found = [one for one in objects(scene, clause) if one.text or one.value is not None or one.attached]
    fillers = {*FRAGMENT_FILLERS, *lexicon()["cues"]["discourse"]}
    found = [one for one in found if one.text.lower() not in fillers or one.attached]
    if not found:
        return None
    root = scene.root()
    first = found[0]
    new_thing = _fresh(clause, first, root)
    if clause.listed:
        return _headed(scene, clause, found, root)
    if new_thing:
        return _task(scene, clause, found, first)
    if root is None:
        return _task(scene, clause, found, first) if first.words else None
    changed = _fragment_update(scene, clause, found)
    if changed is not None:
        return changed
    _, places = split_of(found, "to", "into", "in", "under", "for", "on")
    container = _container(scene, [place for place in places if scene.find(place)])
    if container is not None:
        group = [one for one in _rehung(found, container[1]) if one.text and not one.pronoun]
        return _into(scene, clause, container[0], group) if group else None
    target = (
        scene.focus[0]
        if scene.touched and scene.focus and scene.editor.node(scene.focus[0]).kind is NodeKind.TASK
        else root
    )
    before = len(scene.touched)
    for one in found:
        if one.value is None and not one.attached and named_value(one) is None:
            return _onto(scene, clause, root, found) if _additive(scene, clause) else None
        lists = scene.containers()
        plain = one.value is None and not any(inner.value is not None for _, inner in one.attached)
        if one.same or (plain and lists and _additive(scene, clause)):
            add_items(scene, lists[0] if lists else target, [one])
        else:
            add_element(scene, one, target)
    return added(scene, before)


FRAGMENT_FILLERS = {
    "thing",
    "things",
    "two things",
    "good news",
    "great",
    "thanks",
    "bad news",
    "wait",
    "sorry",
    "hmm",
    "ok",
    "yes",
    "no",
    "sure",
    "perfect",
    "first",
    "second",
    "new passport",
    "cheers",
    "please",
    "hi",
    "hello",
    "hey",
    "morning",
    "oh",
    "lovely",
}


def _additive(scene: Scene, clause: Clause) -> bool:
    return (
        bool(clause.has(("also", "and", "plus", "too", "as well", "oh and", "another", "and also")))
        or clause.join in ("and", "plus")
        or bool(scene.touched)
    )


def _fresh(clause: Clause, first: Element, root: str | None) -> bool:
    """Tell whether a fragment names a task of its own: "second, a train trip to Ghent", "also a chemistry thing"."""
    ordinal = re.match(
        r"(?:first|second|third|finally|lastly|next|then|also|and)[,:]? (?:there's |there is )?(?:an?|my|the)\b",
        clause.lowered,
    )
    thing = bool(first.words) and first.text.split()[-1].lower() in ("thing", "task", "project", "plan", "job")
    return (
        bool(first.words)
        and first.text.lower() not in FRAGMENT_FILLERS
        and (
            thing
            or (bool(ordinal) and re.match(r"(?:first|second|third|finally|lastly|next)", clause.lowered) is not None)
            or (root is None and first.value is None)
        )
    )


def _headed(scene: Scene, clause: Clause, found: Sequence[Element], root: str | None) -> str | None:
    """Read "Bathroom redo: tiles on Monday, ..." or "Name: Dana, plate LN 402 KB": a task with its parts, or a field."""
    first = found[0]
    plan = (
        first.words
        and first.words[0] in ("plan", "schedule", "list", "agenda", "programme", "timetable")
        and first.with_prep("for", "of")
    )
    thing = first.with_prep("for", "of")[0] if plan else first
    if (
        root is not None
        and not plan
        and len(found) == 1
        and len(thing.words) <= 3
        and _is_field(scene, clause, root, thing)
    ):
        value = clause.listed[0]
        text = scene.text[value[0].start : value[-1].end]
        put_slot(
            scene,
            root,
            thing.text,
            TaskValue(text=text)
            if not clause.values
            or clause.values[0].start > value[-1].end
            or clause.values[0].end - clause.values[0].start < len(text) - 2
            else clause.values[0].value or TaskValue(text=text),
        )
        rest = replace(clause, listed=clause.listed[1:])
        read_list(scene, rest, root)
        return "new"
    known = scene.find(replace(thing, attached=()))
    if known and not is_slot(scene, known[0]):
        read_list(scene, clause, known[0])
        return "update"
    opened = root if root is not None and scene.touched and not scene.editor.items(root) else None
    if root is not None and opened is None and not plan and any(is_section(scene, child) for child in scene.editor.current(root)):
        opened = root
    key = new_task(scene, thing.text, opened)
    for prep, inner in thing.attached:
        attach(scene, key, prep, inner)
    read_list(scene, clause, key)
    scene.attend(key, *([opened] if opened else []))
    return "new"


def is_section(scene: Scene, key: str) -> bool:
    """Tell whether a node is a list of its own under a plan."""
    return scene.editor.node(key).kind is NodeKind.TASK and bool(scene.editor.items(key))


def _is_field(scene: Scene, clause: Clause, root: str, thing: Element) -> bool:
    """Tell whether the word before a colon is a field of the form that is being filled in."""
    if scene.slot_named(root, thing.words) is not None:
        return True
    first = elements(clause.listed[0], scene.text, scene.typed)
    others = [one for part in clause.listed[1:] for one in elements(part, scene.text, scene.typed)]
    fields = all(named_value(one) is not None for one in others)
    text = scene.text[clause.listed[0][0].start : clause.listed[0][-1].end]
    plain = all(one.value is None and not one.attached for one in first)
    return fields and (not others or bool(others)) and (not thing.names) and (text[:1].isupper() or text[:1].isdigit() or not plain)


def _fragment_update(scene: Scene, clause: Clause, found: Sequence[Element]) -> str | None:
    """Read "Waterproofing slips to Wednesday", "Friday for the plumber", "phone: 555 0137 instead" as new values."""
    whole = " ".join(token.lower for token in clause.tokens)
    typed = [one for one in clause.values if one.value is not None]
    if not typed:
        return None
    target: Element | None = None
    for one in found:
        named = one.text and one.value is None and not one.pronoun
        if named and scene.find(replace(one, attached=())):
            target = replace(one, attached=())
        elif named and any(word.endswith("s") for word in one.text.split()[-1:]) and len(one.words) > 1:
            trimmed = Element(text=one.text.rsplit(" ", 1)[0], words=one.words[:-1])
            target = trimmed if scene.find(trimmed) else target
        for prep, inner in one.attached:
            if prep in ("for", "on", "to", "with") and inner.value is None and scene.find(inner) and target is None:
                target = inner
    bare = all(not one.text or one.value is not None or one.text.lower() in ("instead", "please") for one in found)
    if target is None and not bare:
        return None
    value = typed[-1].value
    if value is None or (
        bare
        and target is None
        and not (clause.repair or clause.has(("instead", "make that", "rather", "now")) or len(whole.split()) <= 4)
    ):
        return None
    prep = next((p for one in found for p, inner in one.attached if inner.value is value), "")
    return "update" if set_value(scene, target, value, prep=prep, new=target is not None) is not None else None


def gets_frame(scene: Scene, clause: Clause) -> str | None:
    """ "The pots get basil and chives", "table 3 is Rolf and the twins", "the travel one also needs a German keyboard"."""
    gives = clause.verb in ("get", "have", "take", "need", "include", "contain", "hold", "use") or (clause.verb == "be" and not clause.values)
    if clause.mood != "statement" or clause.negated or not gives or clause.mark or scene.root() is None:
        return None
    said = subject(scene, clause)
    if said is None or said.value is not None or said.pronoun in ("i", "we", "they", "you", "there", "he", "she", "who", "what", "everyone"):
        return None
    found = [one for one in objects(scene, clause) if one.text or one.value is not None or one.attached]
    numbered = NUMBERED.match(f"{said.text} x") is not None
    keys = scene.find(said, accept=lambda key: scene.editor.node(key).kind is NodeKind.TASK or bool(scene.editor.items(key)))
    plain = [one for one in found if one.words and not one.pronoun]
    if not plain or (clause.verb == "be" and not numbered and not (keys and scene.editor.items(keys[0]))) or said.person and not keys:
        return None
    root = scene.root() or ""
    if not keys and not (numbered or clause.verb in ("get", "take", "need", "have", "use") and said.det in ("the", "my", "our", "")):
        return None
    above = root if not scene.editor.node(root).parents else None
    key = keys[0] if keys else new_task(scene, said.text, above)
    before = len(scene.touched) - (0 if keys else 1)
    for one in found:
        if one.value is not None or any(inner.value is not None for _, inner in one.attached) or _measured(one):
            _field(scene, key, one)
        else:
            add_items(scene, key, [one])
    scene.attend(key)
    return added(scene, before)


def _measured(one: Element) -> bool:
    return bool(one.with_prep("quantity"))


def _field(scene: Scene, key: str, one: Element) -> None:
    """Set "32 GB memory", "a 1 TB drive": the noun is the slot, the measure its value."""
    measure = next((inner for prep, inner in one.attached if prep == "quantity"), None)
    if measure is not None and one.words:
        put_slot(scene, key, one.text, value_of(measure))
    else:
        add_element(scene, one, key)


OWNING = {"own": "owner", "lead": "lead", "host": "host", "drive": "driver", "chair": "chair", "handle": "owner", "teach": "teacher", "run": "owner", "cover": "owner", "do": "owner", "conduct": "conductor", "present": "presenter", "review": "reviewer"}


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
        value = element.value if element.value is not None else shifted(last, element.shift) if last is not None and element.shift is not None else None
        if value is None:
            continue
        last = value
        slot = scene.slot_of_kind(key, value)
        put_slot(scene, key, scene.editor.node(slot).name if slot else slot_name(value), value)
        scene.attend(key)
    return "update" if last is not None else None


def counted_frame(scene: Scene, clause: Clause) -> str | None:
    """ "80 delegates": a number of what a plan reckons with."""
    if clause.mood != "fragment" or scene.root() is None or scene.containers():
        return None
    found = objects(scene, clause)
    if len(found) != 1 or not found[0].count or found[0].attached or not found[0].words or not clause.values:
        return None
    number = f"{found[0].count:g}"
    put_slot(scene, scene.root() or "", found[0].text, TaskValue(text=number, kind=ValueKind.NUMBER, amount=found[0].count, unit=words_of(found[0].text)[-1]))
    return "new"


def statement_frame(scene: Scene, clause: Clause) -> str | None:
    """ "The plumber comes Wednesday", "the permit should start on 1 September and run for six months"."""
    if (
        clause.mood == "question"
        or clause.negated
        or clause.mark in ("because", "since", "if", "while", "when", "as")
        or not clause.values
    ):
        return None
    typed = [one for one in clause.values if one.value is not None]
    if not typed or clause.has(("until", "till")) and clause.verb == "be":
        return None
    said = subject(scene, clause)
    hint = lexicon()["verb_slots"].get(f"{clause.verb} {clause.particle}".strip(), "") or lexicon()["verb_slots"].get(
        clause.verb, ""
    )
    first_person = said is not None and said.pronoun in ("i", "we")
    if said is not None and said.person and not hint:
        return None
    if (
        said is not None
        and said.pronoun
        and not first_person
        and said.pronoun not in ("it", "they", "that", "this", "he", "she")
    ):
        return None
    if said is None or said.pronoun:
        return _said_of_focus(scene, clause, typed[0].value, hint, shared=said is None or not first_person)
    keys = scene.find(said)
    if keys:
        if is_person(scene, keys[0]):
            return None
        for one in typed:
            if one.value is not None:
                set_value(
                    scene,
                    said,
                    one.value,
                    prep=_prep_of(scene, clause, one.value),
                    hint=hint if one is typed[0] else "",
                )
        return "update"
    if not said.words or scene.root() is None and not said.words:
        return None
    element = replace(
        said,
        attached=tuple(
            (_prep_of(scene, clause, one.value), Element(text=one.value.text, value=one.value, each=one.each))
            for one in typed
            if one.value is not None
        ),
    )
    added = add_element(scene, element, scene.root()) if scene.root() is not None else []
    if not added:
        return _task(scene, clause, [element], element)
    return "new"


def is_person(scene: Scene, key: str) -> bool:
    """Tell whether a node is one of the people of a task."""
    parents = scene.editor.node(key).parents
    return any(people_slot(scene, above) == parent for parent in parents for above in scene.editor.node(parent).parents)


def _prep_of(scene: Scene, clause: Clause, value: TaskValue) -> str:
    return next((prep for one in objects(scene, clause) for prep, inner in one.attached if inner.value == value), "")


def _said_of_focus(scene: Scene, clause: Clause, value: TaskValue | None, hint: str, *, shared: bool) -> str | None:
    """Set what "it starts at nine", "coming back on the 13th" says of the task that is spoken of."""
    if value is None or not scene.editor.roots() or not (hint or shared):
        return None
    if not hint and clause.verb not in (
        "be",
        "come",
        "start",
        "begin",
        "move",
        "happen",
        "happen",
        "go",
        "take",
        "fall",
        "change",
        "shift",
        "slip",
    ):
        return None
    owner = next(
        (key for key in scene.visible_focus() if scene.editor.node(key).kind in (NodeKind.TASK, NodeKind.LOOP)),
        scene.root(),
    )
    if owner is None:
        return None
    if hint:
        put_slot(scene, owner, hint, value)
        return "new"
    return "update" if set_value(scene, None, value, new=False) is not None else None


def hold(scene: Scene, condition: Clause, instruction: str) -> None:
    """Note what is to be done if something happens; it is no part of the tasks until then."""
    text = re.sub(r"^(?:if|unless|in case|when|once)\s+", "", condition.text.strip(), flags=re.I)
    key = scene.editor.add(instruction.strip(" .,"), parent=scene.root(), kind=NodeKind.TASK)
    scene.editor.depend(
        key, Dependency(on="", kind="condition", text=f"unless {text}" if condition.mark == "unless" else text)
    )
    scene.touched.append(key)


def settles(clause: Clause, condition: str) -> bool | None:
    """Tell whether a statement settles a condition: True that it holds, False that it does not, None that it says nothing of it."""
    inverse = condition.startswith("unless ")
    asked = condition.removeprefix("unless ")
    wanted = {_base(word) for word in re.findall(r"[a-z']+", asked.lower())} - SMALL
    said = {_base(token.lemma) for token in clause.tokens} | {_base(token.lower) for token in clause.tokens}
    shared = (wanted - GOOD - BAD) & said
    if not shared or clause.mood == "question" or (len(shared) < 2 and len(wanted - GOOD - BAD) > 3):
        return None
    lowered = set(re.findall(r"[a-z']+", clause.lowered)) | {token.lemma for token in clause.tokens}
    asked_words = set(re.findall(r"[a-z']+", asked.lower()))
    holds = True
    if bool(lowered & GOOD) != bool(asked_words & GOOD) and bool(asked_words & BAD):
        holds = not holds
    elif bool(lowered & BAD) and bool(asked_words & GOOD):
        holds = not holds
    negations = ("not", "n't", "no", "never", "nobody", "nothing")
    if any(word in lowered for word in negations) != any(
        word in asked_words for word in (*negations, "doesn't", "don't", "can't", "isn't", "won't")
    ):
        holds = not holds
    return holds != inverse


def _base(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            return word[: -len(ending)]
    return word


TELLING = (dated_frame, purpose_frame, owns_frame, gets_frame, add_frame, counted_frame, fragment_frame, statement_frame)

_ = (is_value,)
