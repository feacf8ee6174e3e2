"""adding: what is new in a clause -> tasks, items and slots of the forest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from doxa.core.tasks import NodeKind, TaskValue, ValueKind
from doxa.tasks.amounts import read_values
from doxa.tasks.moving import shifted
from doxa.tasks.phrases import Element, is_colour, words_of
from doxa.tasks.scene import Scene, is_crew
from doxa.tasks.verbs import lexicon

__all__ = [
    "DATED",
    "NUMBERED",
    "add_element",
    "add_items",
    "attach",
    "is_value",
    "named_value",
    "new_task",
    "people_of",
    "put_slot",
    "shape_of",
    "slot_name",
    "value_of",
]

PEOPLE_SLOT = "participants"
NUMBERED = re.compile(
    r"^((?:[a-z]+ )?(?:week|day|phase|part|room|table|bed|plot|row|act|block|chapter|session|round|stage|group|"
    r"slot|half|leg|team|episode|track|module|sprint|year|lesson|box|shelf|zone|heat|set|hall|stand|stall|pitch|"
    r"court|lane|line|unit|tier|level|step|section|segment)s? (?:\d+|[a-z]|one|two|three|four|five|six))(?: is| =|"
    r":|,)? (.+)$",
    re.I,
)
LABELLED = re.compile(
    r"^(?:the |my |his |her |our |their )?((?:[a-z][a-z'-]*)(?: [a-z][a-z'-]*){0,2}?)(?: is| =|:)? (\S*[A-Z0-9@].*)$"
)
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
DONE_BY = {
    "hosted": "host",
    "chaired": "chair",
    "led": "lead",
    "run": "lead",
    "taught": "teacher",
    "presented": "presenter",
    "organised": "organiser",
    "organized": "organizer",
    "written": "author",
    "conducted": "conductor",
    "moderated": "moderator",
    "driven": "driver",
    "catered": "caterer",
}
DATED = (ValueKind.DATE, ValueKind.CLOCK)


def value_of(element: Element) -> TaskValue:
    """Return an element as a value: typed where it is, else its words."""
    if element.value is not None:
        return element.value
    text = element.text
    for prep, inner in element.attached:
        if prep in ("of", "near", "next to", "behind", "with") and inner.text:
            text = f"{text} {prep} {inner.text}".strip()
    kind = ValueKind.CHOICE if text.lower() in lexicon()["sizes"]["names"] or is_colour(text) else ValueKind.TEXT
    return TaskValue(text=text, kind=kind)


def is_value(element: Element) -> bool:
    """Tell whether an element is a value and not a thing: a typed one, a colour, a size."""
    text = element.text.lower()
    return element.value is not None or is_colour(text) or (text in lexicon()["sizes"]["names"] and len(text) < 4)


def slot_name(value: TaskValue, prep: str = "", *, each: str = "") -> str:
    """Return what a slot is called when nobody says it."""
    if each:
        return f"price per {each}"
    match value.kind:
        case ValueKind.CLOCK:
            return "time"
        case ValueKind.DATE:
            return "day" if re.search(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", value.text, re.I) else "date"
        case ValueKind.DURATION:
            return "duration"
        case ValueKind.MONEY:
            return "price"
        case ValueKind.QUANTITY:
            return (
                value.unit
                if re.match(r"people|persons|guests?|adults?|children|kids|seats?|tickets?", value.unit)
                else "quantity"
            )
        case ValueKind.NUMBER:
            return "quantity"
        case ValueKind.CHOICE:
            return "colour" if is_colour(value.text) else "size"
        case _:
            return {
                "to": "destination",
                "from": "start",
                "near": "location",
                "in": "location",
                "at": "location",
                "for": "for",
                "by": "by",
                "as": "as",
                "about": "topic",
                "with": "with",
            }.get(prep, "note")


def put_slot(scene: Scene, key: str, name: str, value: TaskValue) -> str:
    """Set a slot under a node, made where it is not there, and return it."""
    known = scene.slot_named(key, words_of(name))
    if (
        known is not None
        and scene.editor.node(known).kind is NodeKind.SLOT
        and not (scene.editor.node(known).name.startswith("price per") and name == "price")
    ):
        scene.editor.set(known, value)
    else:
        known = scene.editor.add(name, parent=key, kind=NodeKind.SLOT, value=value)
    scene.touch(known)
    return known


def new_task(scene: Scene, name: str, parent: str | None = None, kind: NodeKind = NodeKind.TASK) -> str:
    """Add a task, blocked where it depends on a condition that is not settled."""
    name = re.sub(r"^new\s+(?=[a-z])", "", name.strip(" .,"), flags=re.I if name[:1].islower() else 0)
    name = re.sub(r"^New\s+(?=[a-z])", "", name)
    key = scene.editor.add(name, parent=parent, kind=kind)
    scene.touch(key)
    return key


def attach(scene: Scene, key: str, prep: str, element: Element, *, verb: str = "") -> None:
    """Hang what follows a preposition on a node: as a slot, as people, as items."""
    if element.shift is not None:
        return
    whom = element.with_prep("by") if element.text.lower() in DONE_BY else []
    if whom:
        put_slot(scene, key, DONE_BY[element.text.lower()], TaskValue(text=whom[0].text))
        return
    for inner, below in element.attached:
        if inner not in ("of",) and element.text and (below.value is not None or inner in ("with", "without")):
            attach(scene, key, inner, below, verb=verb)
    if prep in ("size", "quantity"):
        put_slot(scene, key, prep, value_of(element))
    elif prep == "" and element.text and named_value(element) is not None:
        name, value = named_value(element) or ("", value_of(element))
        put_slot(scene, key, name, value)
    elif element.value is not None:
        name = verb_slot(verb, element.value)
        put_slot(scene, key, name or slot_name(element.value, prep, each=element.each), element.value)
    elif prep in ("with", "for", "including", "") and (element.person or (element.names and prep == "with")):
        add_items(scene, people_of(scene, key), [element])
    elif prep in ("with", "including"):
        add_items(scene, key, [element])
    elif prep == "in" and is_value(element):
        put_slot(scene, key, "colour" if is_colour(element.text) else "size", value_of(element))
    elif prep in ("to", "from", "near", "at", "in") and element.words and not element.pronoun:
        _placed(scene, key, prep, element, verb)
    elif (
        prep in ("for", "as", "about", "by")
        and element.words
        and not element.pronoun
        and element.text.lower() not in ("free", "now", "sure")
    ):
        _purpose(scene, key, prep, element)


def verb_slot(verb: str, value: TaskValue) -> str:
    """Return the slot that a verb names for a value of this kind: "takes an hour" names a duration."""
    name: str = lexicon()["verb_slots"].get(verb, "")
    lasting = name == "duration"
    fits = (
        value.kind is ValueKind.DURATION
        if lasting
        else value.kind is ValueKind.MONEY
        if name == "price"
        else value.kind in DATED
    )
    return name if fits else ""


def _placed(scene: Scene, key: str, prep: str, element: Element, verb: str) -> None:
    named = named_value(element)
    if named is not None and prep in ("in", "at"):
        put_slot(scene, key, named[0], named[1])
        return
    name = slot_name(value_of(element), prep)
    if prep == "to" and verb == "apply":
        name = "company"
    text = f"{prep} {element.text}" if prep == "near" else element.text
    put_slot(scene, key, name, TaskValue(text=text))


def _purpose(scene: Scene, key: str, prep: str, element: Element) -> None:
    """Hang "for the analyst role" on a task: the noun names the slot where something says which one."""
    head = element.words[-1]
    if (
        prep == "for"
        and head in ("role", "position", "post", "job", "grant", "course", "grade", "budget")
        and len(element.words) > 1
    ):
        put_slot(scene, key, head, TaskValue(text=element.text.rsplit(" ", 1)[0]))
    elif not (set(element.words) <= set(words_of(scene.editor.node(key).name))):
        put_slot(scene, key, prep, TaskValue(text=element.text))


def people_of(scene: Scene, key: str, name: str = PEOPLE_SLOT) -> str:
    """Return the list of people of a task, made where there is none."""
    for child in scene.editor.children(key):
        if is_crew(scene.editor.node(child).name) and scene.editor.value(child) is None:
            return child
    return scene.editor.add(name, parent=key, kind=NodeKind.SLOT)


def named_value(element: Element) -> tuple[str, TaskValue] | None:
    """Part "plate LN 402 KB" or "total budget 1500" into the slot and its value; None where it is neither."""
    typed = [inner for prep, inner in element.attached if prep == "" and not inner.each and inner.shift is None]
    if element.text and typed and element.words:
        return element.text, value_of(typed[0])
    if element.pronoun or element.value is not None:
        return None
    match = LABELLED.match(element.text) or re.match(
        r"^((?:Name|Phone|Address|Plate|Street|Email|Room|Gate|Seat|Ref|Reference|Model|Title|City|Postcode|"
        r"Policy|Account|Tel|Mobile|Born|Serial)(?: number| no)?\.?) (\S*[A-Z0-9@].*)$",
        element.text,
    )
    if match is None or match[1].split()[0].lower() in ("a", "an", "the", "two", "three"):
        return None
    head = match[1].split()[-1].lower()
    if not re.search(r"\d", match[2]) and head not in (
        "name",
        "street",
        "city",
        "address",
        "email",
        "title",
        "role",
        "model",
        "gate",
        "room",
        "plate",
        "company",
        "venue",
        "host",
        "speaker",
        "driver",
        "contact",
        "surname",
        "country",
        "make",
        "town",
        "owner",
        "vet",
        "doctor",
        "applicant",
        "colour",
        "color",
        "e-mail",
        "captain",
        "chair",
        "conductor",
    ):
        return None
    return match[1], TaskValue(text=match[2].strip(" ,"))


def add_element(scene: Scene, element: Element, parent: str, *, verb: str = "", item: bool = False) -> list[str]:
    """Put an element under a node: an entity with its one value, an item with its attributes, a slot of a form."""
    if element.value is not None and element.with_prep("for", "on", "to", "towards"):
        thing = element.with_prep("for", "on", "to", "towards")[0]
        return [put_slot(scene, parent, thing.text, element.value)] if thing.words else []
    numbered = NUMBERED.match(element.text) if element.text else None
    if numbered and not item:
        above = scene.editor.child(parent, numbered[1]) or new_task(scene, numbered[1], parent)
        return [
            above,
            *add_items(scene, above, [replace(element, text=numbered[2], words=words_of(numbered[2]), attached=())]),
        ]
    spot = None if item else _spot(scene, element, parent)
    if spot is not None:
        return [put_slot(scene, parent, *spot)]
    named = named_value(element)
    others = [(prep, inner) for prep, inner in element.attached if prep != "" or named is None]
    if named is not None and not item:
        key = put_slot(scene, parent, named[0], named[1])
        for prep, inner in others:
            attach(scene, key, prep, inner, verb=verb)
        return [key]
    moved = _later(scene, element)
    if moved is not None:
        return [put_slot(scene, parent, element.text, moved)]
    typed = [(prep, inner) for prep, inner in element.attached if inner.value is not None]
    if (
        not item
        and len(typed) == 1
        and len(element.attached) == 1
        and typed[0][1].value is not None
        and element.words
        and not typed[0][1].each
    ):
        return [put_slot(scene, parent, element.text, typed[0][1].value)]
    if not item and typed and element.words:
        key = scene.editor.child(parent, element.text) or new_task(scene, element.text, parent)
        for prep, inner in element.attached:
            attach(scene, key, prep, inner, verb=verb)
        scene.touch(key)
        return [key]
    if element.value is not None or not element.words or element.pronoun:
        return []
    return add_items(scene, parent, [element])


def _spot(scene: Scene, element: Element, parent: str) -> tuple[str, TaskValue] | None:
    """Return what "Vera at table 1", or a place by itself, says of a task; None for all else."""
    prep, at = element.attached[0] if len(element.attached) == 1 else ("", None)
    whom = (element.person or element.names) and prep in ("at", "in", "on")
    if whom and at is not None and at.words and at.value is None and re.search(r"\d", at.text):
        return element.text, TaskValue(text=at.text)
    if element.place and not element.attached and scene.editor.node(parent).kind is NodeKind.TASK:
        return "location", value_of(element)
    return None


def _later(scene: Scene, element: Element) -> TaskValue | None:
    """Return what "the report two days later" is, after "the essay on 3 May"."""
    later = next((inner.shift for _, inner in element.attached if inner.shift is not None), None)
    before = scene.editor.value(scene.last) if later is not None and scene.seen(scene.last) else None
    return shifted(before, later) if before is not None and later is not None and element.words else None


def add_items(scene: Scene, parent: str, found: Sequence[Element]) -> list[str]:
    """Put items on a list; one that is there already is not added again, a variant is."""
    added: list[str] = []
    for element in found:
        if element.value is not None and not element.text.strip():
            continue
        told = [read_values_of(part) for part in element.variants]
        if element.variants and all(told):
            added += _item(scene, parent, replace(element, variants=()))
            for value in told:
                if value is not None:
                    put_slot(scene, added[-1], slot_name(value), value)
            continue
        if len(element.variants) == 1 and element.variants[0][:1].isupper() and not element.count:
            added.append(put_slot(scene, parent, element.text, TaskValue(text=element.variants[0])))
            continue
        if element.variants and all(is_colour(part) or len(part.split()) < 3 for part in element.variants):
            noun = element.text if (element.count or 1) < 2 else singular(element.text)
            for variant in element.variants:
                added += _item(
                    scene,
                    parent,
                    replace(
                        element, text=f"{variant} {noun}", variants=(), count=None, words=words_of(f"{variant} {noun}")
                    ),
                )
            continue
        added += _item(scene, parent, element)
    if len(added) > 1:
        scene.group = list(added)
    return added


def read_values_of(text: str) -> TaskValue | None:
    """Return a measure or a number that stands alone: "200 g", "3"."""
    found = read_values(text, EPOCH)
    whole = len(found) == 1 and found[0].start == 0 and found[0].end == len(text)
    value = found[0].value if whole else None
    return value if value is not None and value.kind in (ValueKind.QUANTITY, ValueKind.NUMBER) else None


def _item(scene: Scene, parent: str, element: Element) -> list[str]:
    name = element.text.strip()
    if not name or element.pronoun:
        return []
    source = _source(scene, element)
    if source is not None:
        name = scene.editor.node(source).name
        first, _, rest = name.partition(" ")
        if rest and is_colour(first) and any(is_colour(inner.text) for _, inner in element.attached):
            name = rest  # "the same gravel in black" is no black white gravel
    attributes = [pair for pair in element.attached if _describes(*pair)]
    colour = next((value_of(inner) for _, inner in attributes if is_colour(inner.text)), None)
    label = words_of(f"{colour.text} {name}" if colour else name)
    known = next((key for key in scene.editor.items(parent) if words_of(scene.editor.label(key)) == label), None)
    if known is not None:
        scene.attend(known)
        _counted(scene, known, element)
        return [known]
    key = shared_item(scene, parent, name) if not attributes else None
    if key is None:
        key = new_task(scene, name, parent, NodeKind.ITEM)
    for prep, inner in attributes:
        attach(scene, key, "in" if is_colour(inner.text) else prep or "size", inner)
    _counted(scene, key, element)
    for prep, inner in element.attached:
        if (prep, inner) not in attributes and inner.value is not None and prep != "of":
            attach(scene, key, prep, inner)
    scene.touch(key)
    return [key]


def _source(scene: Scene, element: Element) -> str | None:
    """Return the item that "the same socks" is like."""
    if not element.same:
        return None
    bare = replace(element, det="", attached=())
    return next(iter(scene.find(bare, accept=lambda key: scene.editor.node(key).kind is NodeKind.ITEM)), None)


def _describes(prep: str, inner: Element) -> bool:
    """Tell whether what is attached to an item is an attribute of it."""
    return prep in ("size", "quantity") or (prep in ("in", "") and is_value(inner))


def _counted(scene: Scene, key: str, element: Element) -> None:
    """Note how many of an item there are to be."""
    if element.count and element.count > 1:
        value = TaskValue(text=f"{element.count:g}", kind=ValueKind.NUMBER, amount=element.count)
        put_slot(scene, key, "quantity", value)


def shared_item(scene: Scene, parent: str, name: str) -> str | None:
    """Return an item of that name that another list holds, now shared with this one (section 4.1 of the paper)."""
    for key in scene.editor.find(name):
        node = scene.editor.node(key)
        if (
            node.kind is NodeKind.ITEM
            and node.name.casefold() == name.casefold()
            and scene.seen(key)
            and not node.waits
            and parent not in node.parents
            and not scene.editor.children(key)
        ):
            scene.editor.link(key, parent)
            scene.touch(key)
            return key
    return None


def shape_of(value: TaskValue) -> str:
    """Return the shape of a value, by which a second form is filled without naming its fields."""
    if value.kind is not ValueKind.TEXT:
        return str(value.kind)
    if "@" in value.text:
        return "email"
    if re.search(
        r"\b(?:street|st|lane|road|rd|avenue|ave|drive|way|close|court|square|terrace|gardens|place|row|hill|crescent|grove)\b",
        value.text,
        re.I,
    ):
        return "address"
    if re.search(r"\d", value.text):
        return "identifier" if re.search(r"[A-Za-z]", value.text) else "number"
    return "name" if value.text[:1].isupper() else "text"


def singular(name: str) -> str:
    """Return a plural name in the singular."""
    head, _, last = name.rpartition(" ")
    for ending, instead in (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("sses", "ss"), ("s", "")):
        if last.lower().endswith(ending) and not last.lower().endswith("ss"):
            last = last[: -len(ending)] + instead
            break
    return f"{head} {last}".strip()
