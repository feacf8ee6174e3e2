"""setting: clauses that give what is there another value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, TaskValue, ValueKind
from doxa.tasks.adding import add_element, attach, is_value, named_value, new_task, put_slot, value_of
from doxa.tasks.amounts import read_values
from doxa.tasks.changing import apply_shift, is_slot, replace_items, set_value
from doxa.tasks.phrases import Element, elements, is_colour, words_of
from doxa.tasks.reading import Clause, lacks
from doxa.tasks.roles import objects, split_of, subject, verb_in
from doxa.tasks.scene import Scene
from doxa.tasks.verbs import lexicon

__all__ = ["budget_frame", "not_old_frame", "place_frame", "set_frame", "shift_frame", "told_frame"]

BACKWARD = tuple("forward earlier ahead bring lower reduce cut decrease shorten sooner drop less".split())
COMPLEMENTED = frozenset("make set call mark want have need give put say try do".split())
CHANGING = frozenset("make set extend go need want have slip move come use".split())
BEFORE_VALUES = frozenset("to as into at for on till until".split())
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
        return complement_frame(scene, clause, found)
    if not right:
        return None
    if clause.verb == "go" and any(one.count and one.words and _counted(scene, one) for one in right):
        return "update"  # "go for eight guppies"
    target = next((one for one in left if one.words or one.pronoun or one.ordinal), None)
    said = subject(scene, clause)
    if target is None and said is not None and said.pronoun not in ("i", "we", "they", "you"):
        target = said
    return "update" if _set_all(scene, clause, target, found, right) else None


def _set_all(
    scene: Scene, clause: Clause, target: Element | None, found: Sequence[Element], right: Sequence[Element]
) -> bool:
    """Set every value that stands behind a preposition; tell whether there was one."""
    preps = [prep for element in found for prep, _ in element.attached if prep in BEFORE_VALUES]
    opening = clause.verb in ("set", "schedule") or bool(clause.label)
    done = False
    for i, element in enumerate(right):
        value = value_of(element)
        if element.value is None and not set_wanted(scene, clause, target, element):
            continue
        prep = preps[i] if i < len(preps) else ""
        prep = "at" if prep == "to" and element.value is not None and element.value.kind is ValueKind.NUMBER else prep
        new = opening or opens_slot(target, value)
        slot = set_value(scene, target, value, prep=prep, hint=clause.label, new=new)
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
    if clause.label:
        return True
    return any(is_slot(scene, key) and scene.editor.value(key) is not None for key in scene.find(target)) or (
        clause.verb in ("set", "change") and not scene.find(target)
    )


TRYING = frozenset(
    "try go use book do meet sing play eat stay hold have be move gather train practise practice".split()
)


def place_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Let's try the Golden Wok", "so we're singing at the school", "we'll hold it in the barn": another place."""
    if clause.mood == "question" or clause.negated or clause.mark or clause.values:
        return None
    before = scene.before(clause)
    lacking = before is not None and lacks(before.lowered)
    who = ("we", "i", "let", "they", "it") if lacking else ("we", "let") if clause.verb == "be" else ("we", "i", "let")
    us = bool(clause.wrapped) or any(token.lower in who for token in clause.subject)
    if not us or (clause.verb not in TRYING and not clause.verb.endswith("ing")):
        return None
    if (slot := _place_slot(scene)) is None:
        return None
    found = objects(scene, clause)
    placed = [inner for one in found for prep, inner in one.attached if prep in ("in", "at", "to", "with")]
    it = len(found) == 1 and (not found[0].text or found[0].pronoun in ("it", "that", "this"))
    named = len(found) == 1 and found[0].names and not found[0].person and not found[0].attached
    place = placed[0] if it and len(placed) == 1 else found[0] if named else None
    if (
        place is None
        or not place.words
        or place.pronoun
        or place.value is not None
        or place.person
        or scene.find(place)
    ):
        return None
    scene.editor.set(slot, TaskValue(text=place.text))
    scene.touch(slot)
    return "update"


def _place_slot(scene: Scene) -> str | None:
    """Return the slot with the place of the task that is spoken of."""
    root = scene.root()
    spoken_of = (*scene.visible_focus(), *([root] if root is not None else []))
    for one in dict.fromkeys(above for key in spoken_of for above in (key, *scene.editor.ancestors(key))):
        slot = scene.slot_named(one, ("location",)) or scene.slot_named(one, ("destination",))
        if slot is not None and scene.editor.value(slot) is not None:
            return slot
    return None


def complement_frame(scene: Scene, clause: Clause, found: Sequence[Element]) -> str | None:
    """ "Make it twelve months", "make the role senior data analyst", "make that San Francisco"."""
    done = False
    for i, element in enumerate(found):
        own = [inner for prep, inner in element.attached if prep == "" and (inner.value is not None or is_value(inner))]
        target = replace(element, attached=()) if element.text or element.pronoun else None
        if own and target is not None:
            done = (
                set_value(
                    scene,
                    target,
                    value_of(own[0]),
                    prep="at",
                    hint=clause.label,
                    new=is_value(own[0]) or own[0].value is not None,
                )
                is not None
                or done
            )
        elif element.count and element.words and _counted(scene, element):
            done = True
        elif element.with_prep("quantity") and scene.find(replace(element, attached=())):
            thing = scene.find(replace(element, attached=()))[0]
            done = bool(put_slot(scene, thing, "quantity", value_of(element.with_prep("quantity")[0]))) or done
        elif element.value is not None:
            done = (
                set_value(scene, None, element.value, prep="at", hint=clause.label, new=opens_slot(None, element.value))
                is not None
                or done
            )
        elif (is_colour(element.text) and element.ones is False and i == 0) or (
            element.det in ("that", "this", "it") and element.text and not element.pronoun and clause.verb == "make"
        ):
            done = set_value(scene, None, value_of(element), hint=clause.label) is not None or done
        elif element.words and not element.pronoun:
            done = _prefixed(scene, element) or done
    if not done and len(found) == 1 and found[0].pronoun and clause.label:
        return None
    return "update" if done else None


def _counted(scene: Scene, element: Element) -> bool:
    """Read "make that eight tetras" as how many there are of what is there."""
    keys = scene.find(replace(element, attached=(), count=None, det=""))
    if not keys or scene.editor.node(keys[0]).kind is NodeKind.SLOT:
        return False
    amount = TaskValue(text=f"{element.count:g}", kind=ValueKind.NUMBER, amount=element.count)
    return bool(put_slot(scene, keys[0], "quantity", amount))


def _prefixed(scene: Scene, element: Element) -> bool:
    """Read "role senior data analyst" as the slot that is there and its new value."""
    words = element.text.split()
    for size in range(len(words) - 1, 0, -1):
        head = Element(text=" ".join(words[:size]), words=words_of(" ".join(words[:size])))
        tail = re.sub(r"^(?:an?|the|to|be)\s+", "", " ".join(words[size:]), flags=re.I)
        keys = scene.find(head)
        kind = ValueKind.CHOICE if tail.lower() in lexicon()["sizes"]["names"] or is_colour(tail) else ValueKind.TEXT
        for key in keys:
            if is_slot(scene, key) and scene.editor.value(key) is not None and set(head.words) <= scene.words(key):
                scene.editor.set(key, TaskValue(text=tail, kind=kind))
                scene.touch(key)
                return True
            if kind is ValueKind.CHOICE and set_value(scene, head, TaskValue(text=tail, kind=kind)) is not None:
                return True
    return False


BUDGETED = re.compile(
    r"\b(?:(?:at most|no more than|up to|max(?:imum)?(?: of)?|"
    r"a (?:budget|limit|cap|maximum) of|within|under|limit is)\s+\S*\d"
    r"|\d\S*(?: [a-z]+)? (?:at most|max(?:imum)?|tops|to spend|or less|budget|limit|all in|in total)|to spend|budget)\b"
)


def budget_frame(scene: Scene, clause: Clause) -> str | None:
    """ "I've got 3200 euros to spend on the bathroom", "we want to spend 1200 at most": what may be spent."""
    typed = [one.value for one in clause.values if one.value is not None and one.value.kind in NUMERIC and not one.each]
    spending = re.search(r"\b(?:spend|cost|pay|budget|limit|cap)\w*\b", clause.lowered)
    if clause.mood == "question" or clause.negated or len(typed) != 1 or not spending:
        return None
    if not BUDGETED.search(clause.lowered) or clause.verb in ("be", "change", "make", "set") or clause.mark:
        return None
    root = scene.root()
    if root is None:
        found = elements(clause.tokens, scene.text, scene.typed)
        on = [inner for one in found for prep, inner in one.attached if prep in ("on", "for")]
        on = [one for one in on if one.words and one.value is None]
        if not on:
            return None
        root = new_task(scene, on[0].text)
    put_slot(scene, root, "budget", typed[0])
    scene.attend(root)
    return "new"


NUMERIC = (ValueKind.MONEY, ValueKind.NUMBER)
LIVING = {"live": ("city", "town", "home", "address", "location"), "work": ("company", "employer", "work")}


def told_frame(scene: Scene, clause: Clause) -> str | None:
    """ "They only had the black one", "she lives in Bruges now", "they'd like me there at half past ten"."""
    if clause.mood == "question" or clause.negated or clause.mark or scene.root() is None:
        return None
    found = objects(scene, clause)
    if clause.verb in ("have", "stock", "sell", "take") and len(found) == 1 and (found[0].ones or is_value(found[0])):
        value = TaskValue(text=found[0].text, kind=ValueKind.CHOICE)
        return "update" if set_value(scene, None, value, new=False) is not None else None
    if clause.verb in LIVING:
        place = next((inner for one in found for prep, inner in one.attached if prep in ("in", "at", "for")), None)
        slots = [key for key in scene.everything() if is_slot(scene, key) and scene.editor.value(key) is not None]
        slot = next(
            (key for key in slots if set(LIVING[clause.verb]) & set(words_of(scene.editor.node(key).name))), None
        )
        if place is not None and place.words and slot is not None:
            scene.editor.set(slot, TaskValue(text=place.text))
            scene.touch(slot)
            return "update"
    before = scene.before(clause)
    if before is not None and re.search(r"\bthat(?:'s| is) when (?:it|we|they|i)\b", clause.lowered):
        told = [one.value for one in before.values if one.value is not None and one.value.kind in TIMED]
        return "update" if told and set_value(scene, None, told[-1], prep="at", new=False) is not None else None
    said = subject(scene, clause)
    if clause.verb == "call" and said is not None and said.words and found and found[0].names:
        put_slot(scene, scene.root() or "", said.text, TaskValue(text=found[0].text))
        return "new"  # "my manager's called Greta Lind"
    fine = re.search(
        r"\b(?:works?|suits?|is (?:fine|better|good|ok|okay|perfect)|would (?:work|do|suit)|(?:has|have) to do)\b",
        clause.lowered,
    )
    if fine and said is not None and said.value is not None and said.value.kind in TIMED:
        return "update" if set_value(scene, None, said.value, prep="at", new=False) is not None else None
    wished = clause.verb in ("like", "want", "need", "expect", "prefer") and clause.mood == "statement"
    proposed = clause.verb in ("suggest", "propose") and clause.mood == "statement"
    whom = proposed or (bool(clause.rest) and clause.rest[0].lower in ("me", "us", "it"))
    kinds = (*TIMED, ValueKind.NUMBER) if proposed else TIMED
    timed = [one.value for one in clause.values if one.value is not None and one.value.kind in kinds]
    if (wished or proposed) and whom and timed:
        return "update" if set_value(scene, None, timed[0], prep="at", new=True) is not None else None
    return None


STATES = frozenset("status state condition type kind level mood rating diet finish style".split())
NOT_OLD = re.compile(
    r"(?:\bis|'s|\bbe|\bmake (?:it|that)|^)\s+(?:number |the |an? )?([\w'@.:-]+),? "
    r"(?:and )?not (?:number |the |an? )?([\w'@.:-]+)$",
    re.I,
)


def not_old_frame(scene: Scene, clause: Clause) -> str | None:
    """ "It's number 6, not 4", "9 May, not the 8th": the value that was named wrong is looked up."""
    tail = re.search(r"\bends? (?:in|with) (\S+)$", clause.text.strip(" .!"))
    said = subject(scene, replace(clause, wrapped="")) if tail is not None and clause.mood != "question" else None
    if tail is not None and said is not None:
        return _ended(scene, said, tail[1])
    match = NOT_OLD.search(clause.text.strip(" .!")) if clause.mood != "question" else None
    if match is None:
        return None
    new, old = match[1], match[2]
    whole = re.compile(rf"(?<![\w-]){re.escape(old)}(?![\w-])", re.I)
    slots = [key for key in scene.everything() if (value := scene.editor.value(key)) and whole.search(value.text)]
    ranked = [key for key in scene.focus if key in slots] or slots
    if not ranked or (len(slots) > 1 and ranked[0] not in scene.focus[:3]):
        return None
    value = scene.editor.value(ranked[0])
    text = whole.sub(new, value.text, count=1) if value is not None else new
    typed = next((one.value for one in read_values(text, scene.at) if one.value is not None), None)
    exact = typed is not None and value is not None and typed.kind is value.kind and typed.text == text
    scene.editor.set(ranked[0], typed if exact and typed is not None else TaskValue(text=text))
    scene.touch(ranked[0])
    return "update"


def _ended(scene: Scene, said: Element, tail: str) -> str | None:
    """Read "the number has to end in 262" as the end of a value put right."""
    keys = scene.find(said, accept=lambda key: is_slot(scene, key) and scene.editor.value(key) is not None)
    value = scene.editor.value(keys[0]) if keys else None
    if value is None or len(value.text) <= len(tail) or not value.text[-1:].isalnum():
        return None
    scene.editor.set(keys[0], TaskValue(text=f"{value.text[: -len(tail)]}{tail}"))
    scene.touch(keys[0])
    return "update"


def be_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Name should be Dana Whitlock-Osei", "it's 80", "Friday it is for him", "deadline is the 14th"."""
    if clause.negated:
        return None
    said = subject(scene, clause)
    found = objects(scene, clause)
    turned = said is not None and said.value is not None and any(t.lower in ("it", "then") for t in clause.subject)
    if turned and said is not None and said.value is not None:
        whom = next((inner for one in found for prep, inner in one.attached if prep in ("for", "with")), None)
        return "update" if set_value(scene, whom, said.value) is not None else None
    if said is None or said.value is not None or not found:
        return None
    if said.pronoun in PEOPLE:
        return None
    first = found[0]
    bare = replace(said, attached=())
    item = scene.find(bare, accept=lambda key: scene.editor.node(key).kind is NodeKind.ITEM) if said.words else []
    if (
        item
        and first.words
        and not is_value(first)
        and clause.wrapped + " ".join(t.lower for t in clause.tokens if t.upos == "AUX")
        and any(t.lower in ("can", "could", "should", "will", "'ll") for t in clause.tokens[: clause.at + 1])
    ):
        where = said.with_prep("in", "on", "under", "at")
        return "replace" if replace_items(scene, [bare], [first], where=where[0] if where else None) else None
    if first.each and first.value is not None and said.words and _rated(scene, said, first):
        return "new"
    state = bool(said.words) and said.words[-1] in STATES
    value = _year_mended(scene, clause, found, _be_value(scene, found, said_to_be=state))
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


def _rated(scene: Scene, said: Element, rate: Element) -> bool:
    """Read "the rent is 95 a night for 7 nights" as a thing with its price for one, and how many there are."""
    root = scene.root()
    things = scene.find(replace(said, attached=()), accept=lambda key: not is_slot(scene, key))
    if root is None:
        return False
    key = things[0] if things else new_task(scene, said.text, root)
    attach(scene, key, "", replace(rate, attached=()))
    for _, inner in rate.attached:
        if inner.value is not None:
            scene.touch(scene.editor.add(f"{rate.each}s", parent=key, kind=NodeKind.SLOT, value=inner.value))
    return True


def _year_mended(scene: Scene, clause: Clause, found: Sequence[Element], value: TaskValue | None) -> TaskValue | None:
    """Put the year of a date right: "9 March 1991, no sorry, 1990"."""
    year = found[-1].text if len(found) > 1 else ""
    dated = value is not None and value.kind is ValueKind.DATE and re.search(r"\b\d{4}$", value.text)
    if (
        value is None
        or not dated
        or not re.fullmatch(r"\d{4}", year)
        or not clause.has(("no", "sorry", "i mean", "rather"))
    ):
        return value
    said = f"{value.text[:-4]}{year}"
    return next((one.value for one in read_values(said, scene.at) if one.value is not None), value)


def _names(element: Element, value: TaskValue) -> bool:
    """Tell whether a value is written like a name or a code, and not like a remark: "it's their pub quiz"."""
    return element.names or bool(re.search(r"[A-Z0-9]", value.text))


def _be_value(scene: Scene, found: Sequence[Element], *, said_to_be: bool = False) -> TaskValue | None:
    """Return the value that "is" gives, or None where the clause describes and sets nothing."""
    first = found[0]
    if first.ones and first.words:
        return TaskValue(text=first.text, kind=ValueKind.CHOICE)
    if first.value is not None:
        return first.value
    typed = [
        inner.value
        for prep, inner in first.attached
        if inner.value is not None and prep in ("", "on", "at", "for", "in", "from", "by", "until")
    ]
    if typed and not first.text:
        return typed[0]
    plain = first.adjective and not is_value(first) and not said_to_be
    if (
        not first.text
        or first.pronoun
        or plain
        or (first.attached and not first.names and first.attached[0][0] != "of")
    ):
        return None
    apposed = found[1] if len(found) > 1 and not first.names and first.det in ("my", "our", "the") else None
    if apposed is not None and apposed.names and not apposed.attached:
        return TaskValue(text=apposed.text)  # "my aunt, Ngozi Eze"
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
