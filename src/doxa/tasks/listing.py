"""listing: the elements behind a colon -> slots of a form, dated steps, numbered parts, items of a list."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind
from doxa.tasks.adding import DATED, add_element, add_items, attach, named_value, new_task, shape_of, value_of
from doxa.tasks.phrases import Element, elements
from doxa.tasks.reading import Clause
from doxa.tasks.scene import Scene
from doxa.tasks.verbs import Token

__all__ = ["fill", "read_list", "read_part"]

PERIOD = (
    r"(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:19|20)\d\d)"
)


def read_list(scene: Scene, clause: Clause, parent: str) -> list[str]:
    """Put the elements behind a colon under a node: slots of a form, dated steps, numbered parts, plain items."""
    added: list[str] = []
    read = [elements(part, scene.text, scene.typed) for part in clause.listed]
    plain = any(one.words and not one.attached and named_value(one) is None for found in read for one in found)
    first = read[0][0] if read and len(read[0]) == 1 else None
    fields = [one for found in read[1:] for one in found]
    if (
        first is not None
        and first.names
        and first.words
        and not first.attached
        and fields
        and all(map(_valued, fields))
    ):
        parent = new_task(scene, first.text, parent)  # "Rovalin, dose 5 mg, at 8 am"
        clause = replace(clause, listed=clause.listed[1:])
        read, plain = read[1:], False
    for i, part in enumerate(clause.listed):
        held = _for_people(scene, read, i, parent)
        if held is not None:
            added += held
            continue
        dated = _period(scene, part)
        if dated is not None:
            added += add_items(scene, new_task(scene, dated[0], parent), dated[1])
        else:
            added += read_part(scene, part, parent, plain=plain)
    scene.attend(parent)
    if len(added) > 1:
        scene.group = added
    return added


def _valued(one: Element) -> bool:
    """Tell whether an element is a field with its value, or a value by itself."""
    typed = any(inner.value is not None for _, inner in one.attached)
    return one.value is not None or named_value(one) is not None or (not one.words and typed)


def _for_people(scene: Scene, read: Sequence[Sequence[Element]], at: int, parent: str) -> list[str] | None:
    """Read "Oslo for Birgit and Tove" in a list as what those people have; None where it says no such thing."""
    one = read[at][0] if len(read[at]) == 1 else None
    before = read[at - 1][0] if at and len(read[at - 1]) == 1 else None
    if one is None or one.value is not None:
        return None
    whom = [inner for inner in one.with_prep("for") if inner.person or inner.names]
    if whom and one.words and len(one.attached) == len(whom):
        return add_items(scene, new_task(scene, one.text, parent), whom)
    held = before is not None and any(inner.person or inner.names for inner in before.with_prep("for"))
    if held and (one.person or one.names) and not one.attached and scene.touched:
        return add_items(scene, scene.editor.node(scene.last).parents[0], [one])
    return None


def _period(scene: Scene, part: Sequence[Token]) -> tuple[str, list[Element]] | None:
    """Part "January verbs" into a month, or a weekday, and what it is for."""
    if (
        len(part) < 2
        or not re.fullmatch(PERIOD, part[0].form)
        or part[1].upos not in ("NOUN", "ADJ", "PROPN", "VERB", "DET")
    ):
        return None
    found = [one for one in elements(part[1:], scene.text, scene.typed) if one.words and not one.attached]
    return (part[0].form, found) if found else None


def read_part(scene: Scene, part: Sequence[Token], parent: str, *, plain: bool = False) -> list[str]:
    """Put one listed element under a node; among plain things one with a measure is a thing too: "a 50 watt heater"."""
    words = [token for token in part if not (token is part[0] and token.lower in ("then", "also", "and", "finally"))]
    if words and words[0].upos == "VERB" and len(words) > 1 and words[1].upos in ("DET", "NOUN", "ADJ", "PRON"):
        words = [
            replace(words[0], upos="NOUN"),
            *(replace(token, upos="NOUN") if token.lower in ("the", "a", "an") else token for token in words[1:]),
        ]
    found = elements(words, scene.text, scene.typed)
    added: list[str] = []
    for element in found:
        if element.words and element.text.split()[0].lower() in ("everything", "nothing", "rest"):
            continue
        timed = element.value is not None and element.value.kind in DATED
        if element.value is not None and (timed or not element.text[:1].isupper()):
            for prep, inner in (("", replace(element, attached=())), *element.attached):
                attach(scene, parent, prep, inner)
            added.append(scene.last)
            continue
        measured = len(element.attached) == 1 and element.attached[0][0] == "quantity"
        made = fill(scene, parent, element) or add_element(scene, element, parent, item=measured and plain)
        if part and part[0].upos == "VERB" and made:
            scene.editor.alias(made[0], gerund(part[0].lemma))
        added += made
    return added


def gerund(verb: str) -> str:
    """Return what a deed is called: "stain" is "staining"."""
    if re.search(r"[^aeio]e$", verb):
        return f"{verb[:-1]}ing"
    doubled = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb)
    return f"{verb}{verb[-1]}ing" if doubled else f"{verb}ing"


def fill(scene: Scene, parent: str, element: Element) -> list[str]:
    """Set the slot of a form that a bare value belongs to: the one that held a value of its shape."""
    value = value_of(element)
    if element.attached or named_value(element) is not None:
        return []
    empty = [
        child
        for child in scene.editor.children(parent)
        if scene.editor.value(child) is None
        and not scene.editor.items(child)
        and scene.editor.node(child).kind is NodeKind.SLOT
    ]
    for child in empty:
        shape = scene.editor.node(child).aliases
        if any(alias.startswith("shape:") and alias == f"shape:{shape_of(value)}" for alias in shape):
            scene.editor.set(child, value)
            scene.touch(child)
            return [child]
    return []
