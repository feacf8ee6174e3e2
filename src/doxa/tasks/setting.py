"""setting: clauses that give what is there another value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import TaskValue, ValueKind
from doxa.tasks.adding import add_element, is_value, named_value, value_of
from doxa.tasks.changing import apply_shift, is_slot, set_value
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, split_of, subject, verb_in
from doxa.tasks.scene import Scene
from doxa.tasks.verbs import lexicon

__all__ = ["set_frame", "shift_frame"]

BACKWARD = tuple("forward earlier ahead bring lower reduce cut decrease shorten sooner drop less".split())
COMPLEMENTED = frozenset("make set call mark want have need give put say try do".split())
CHANGING = frozenset("make set extend go need want have slip move come use".split())
PREPOSITIONS = frozenset("to as into at for on till until".split())
PEOPLE = frozenset("i we they you he she there who what everyone this".split())


def shift_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Make it an hour later", "five more people are coming", "push the start back by two days"."""
    shifts = [typed for typed in clause.values if typed.shift is not None]
    if not shifts or clause.mood == "question":
        return None
    backward = clause.has(BACKWARD) != ""
    said = subject(scene, clause) if clause.mood == "statement" else None
    spans = [(typed.start, typed.end) for typed in shifts]
    found = [one for one in objects(scene, clause) if not any(a <= one.start and one.end <= b for a, b in spans)]
    said_of = [one for one in found if (one.words or one.pronoun) and one.shift is None and one.value is None]
    target = next((one for one in said_of if scene.find(replace(one, attached=()))), next(iter(said_of), None))
    inner = next(
        (
            one
            for element in found
            for prep, one in element.attached
            if prep in ("for", "on", "of", "to", "with") and one.value is None and one.shift is None
        ),
        None,
    )
    target = target or inner
    if (
        target is None
        and said is not None
        and (said.pronoun not in ("i", "we", "they", "you", "there") and said.shift is None)
    ):
        target = said
    by_value = scene.find(said) if said is not None and said.words and target is not None and target.pronoun else []
    target = said if by_value else target  # "the garage wants it half an hour earlier"
    hint = lexicon()["verb_slots"].get(f"{clause.verb} {clause.particle}".strip(), "")
    if target is not None and target.shift is None and target.pronoun in ("me", "us", "i", "we"):
        target = None
    for typed in shifts:
        if typed.shift is not None and apply_shift(scene, target, typed.shift, hint=hint, backward=backward):
            return "update"
    return None


def set_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Change the departure date to June 15th", "make the jacket an L", "they extended it to the 16th"."""
    if clause.mood == "question" or clause.mark in ("because", "since", "if"):
        return None
    if clause.verb == "be":
        return be_frame(scene, clause)
    who = subject(scene, clause)
    theirs = clause.verb in ("have", "want", "need") and clause.mood == "statement" and who is not None
    if theirs and who is not None and who.words and not scene.find(who):
        return None  # "the optician has a slot on Friday" is about the optician
    change = (
        verb_in(clause, "change")
        or clause.verb in ("say", "try", "do")
        or (not clause.particle and clause.verb in CHANGING)
    )
    if not change:
        return None
    found = objects(scene, clause)
    left, right = split_of(found, "to", "as", "into", "at", "for", "on", "till", "until")
    if clause.verb in COMPLEMENTED and not right:
        return complement_frame(scene, found)
    if not right:
        return None
    target = next((one for one in left if one.words or one.pronoun or one.ordinal), None)
    said = subject(scene, clause)
    if target is None and said is not None and said.pronoun not in ("i", "we", "they", "you"):
        target = said
    return "update" if _set_all(scene, clause, target, found, right) else None


def _set_all(
    scene: Scene, clause: Clause, target: Element | None, found: Sequence[Element], right: Sequence[Element]
) -> bool:
    """Set every value that stands behind a preposition; tell whether there was one."""
    preps = [prep for element in found for prep, _ in element.attached if prep in PREPOSITIONS]
    opening = clause.verb in ("set", "schedule")
    done = False
    for i, element in enumerate(right):
        value = value_of(element)
        if element.value is None and not set_wanted(scene, clause, target, element):
            continue
        prep = preps[i] if i < len(preps) else ""
        prep = "at" if prep == "to" and element.value is not None and element.value.kind is ValueKind.NUMBER else prep
        new = opening or opens_slot(target, value)
        slot = set_value(scene, target, value, prep=prep, new=new)
        done = slot is not None or done
    return done


TIMED = (ValueKind.CLOCK, ValueKind.DATE, ValueKind.DURATION)


def opens_slot(target: Element | None, value: TaskValue) -> bool:
    """Tell whether a value may make a slot of what is spoken of: "make it 90 minutes", "change the time to four"."""
    if target is None or target.pronoun in ("it", "that", "this", "them"):
        return value.kind in TIMED
    names = lexicon()["slot_words"].values()
    return bool(target.words) and any(target.words[-1] in words_of(word) for words in names for word in words)


def set_wanted(scene: Scene, clause: Clause, target: Element | None, element: Element) -> bool:
    """Tell whether words may be a value here: the thing is a slot, or is made one."""
    if target is None or not element.text or element.pronoun or (target.pronoun and clause.values):
        return False
    return any(is_slot(scene, key) and scene.editor.value(key) is not None for key in scene.find(target)) or (
        clause.verb in ("set", "change") and not scene.find(target)
    )


def complement_frame(scene: Scene, found: Sequence[Element]) -> str | None:
    """ "Make it twelve months", "make the jacket an L"."""
    done = False
    for element in found:
        own = [inner for prep, inner in element.attached if prep == "" and (inner.value is not None or is_value(inner))]
        target = replace(element, attached=()) if element.text or element.pronoun else None
        if own and target is not None:
            slot = set_value(scene, target, value_of(own[0]), prep="at")
            done = slot is not None or done
        elif element.value is not None:
            slot = set_value(scene, None, element.value, prep="at", new=opens_slot(None, element.value))
            done = slot is not None or done
    return "update" if done else None


def be_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Name should be Dana Whitlock-Osei", "it's 80", "deadline is the 14th"."""
    if clause.negated:
        return None
    said = subject(scene, clause)
    found = objects(scene, clause)
    if said is None or said.value is not None or not found:
        return None
    if said.pronoun in PEOPLE:
        return None
    first = found[0]
    value = _be_value(scene, found)
    if value is None or (said.pronoun in ("it", "that") and value.kind is ValueKind.TEXT and not _names(first, value)):
        return None
    preps = [prep for prep, inner in first.attached if inner.value is not None]
    known = not said.pronoun and (scene.find(said) or scene.root())
    if said.pronoun or known:
        new = opens_slot(said, value) if said.pronoun else (value.kind is not ValueKind.TEXT or named_slot(scene, said))
        key = set_value(scene, said, value, prep=preps[0] if preps else "", new=new)
        if key is None:
            return None
        for one in found[1:]:  # "cleaning is 60, and a boat 140"
            held = any(prep == "" and inner.value is not None for prep, inner in one.attached)
            if one.words and (held or named_value(one) is not None):
                add_element(scene, one, scene.root() or key)
        return "update" if scene.editor.forest.revisions(key) else "new"
    return None


def _names(element: Element, value: TaskValue) -> bool:
    """Tell whether a value is written like a name or a code, and not like a remark: "it's their pub quiz"."""
    return element.names or bool(re.search(r"[A-Z0-9]", value.text))


def _be_value(scene: Scene, found: Sequence[Element]) -> TaskValue | None:
    """Return the value that "is" gives, or None where the clause describes and sets nothing."""
    first = found[0]
    if first.value is not None:
        return first.value
    typed = [
        inner.value
        for prep, inner in first.attached
        if inner.value is not None and prep in ("", "on", "at", "for", "in", "from", "by", "until")
    ]
    if typed and not first.text:
        return typed[0]
    plain = first.adjective and not is_value(first)
    if (
        not first.text
        or first.pronoun
        or plain
        or (first.attached and not first.names and first.attached[0][0] != "of")
    ):
        return None
    for one in found[1:]:  # "Market Street, San Francisco" is one address
        if not (first.names and one.names) or one.attached:
            break
        first = replace(first, end=one.end)
    end = max([first.end, *(inner.end for prep, inner in first.attached if prep in ("of", ""))])
    text = scene.text[first.start : end].strip()
    text = re.sub(r"^(?:actually|now|going to be|to be|just|really|the|a|an)\s+", "", text, flags=re.I)
    return TaskValue(text=text, kind=value_of(first).kind)


def named_slot(scene: Scene, said: Element) -> bool:
    """Tell whether a subject may name a slot of a form: a short common noun without a person in it."""
    return (bool(said.words) and len(said.words) < 4 and not said.person and not said.names) or bool(
        scene.find(said, accept=lambda key: is_slot(scene, key))
    )
