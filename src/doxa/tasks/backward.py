"""backward: clauses that go back: undo, rollback, restore, reset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, TaskValue
from doxa.tasks.adding import value_of
from doxa.tasks.changing import is_slot, replace_items
from doxa.tasks.phrases import Element, elements, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import REPLACING, objects, split_of, subject, verb_in
from doxa.tasks.scene import FILLERS, Scene
from doxa.tasks.taking import divided, reset_to, restore, roll_back, take_back, values_of
from doxa.tasks.verbs import lexicon

__all__ = ["both_places", "leave_frame", "other_frame", "reset_frame", "restore_frame", "rollback_frame", "undo_frame"]

DEEDS = frozenset("change edit step update move last latest most recent one my action swap addition removal".split())
BACK = (
    "go back",
    "revert",
    "return",
    "roll back",
    "switch back",
    "change back",
    "move back",
    "put back",
    "set back",
    "be back",
    "come back",
    "restore",
    "stick",
    "keep",
    "take back",
    "make back",
    "bring back",
    "get back",
)
OLD = frozenset("original initial first previous old earlier last".split())
KEEPING = frozenset("keep reinstate restore re-add readd need want".split())
PUTTING = frozenset("put bring add be have get take include come go want need throw pop stick".split())
STAYING = frozenset("keep leave want need have stick take".split())
NARROWING = frozenset("reset strip narrow cut pare trim whittle limit reduce shrink boil slim scale get bring".split())


def leave_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Keep this one as it is": nothing is to change."""
    stays = re.search(
        r"\b(?:as (?:it|they) (?:is|are|stands?)|as is|alone|unchanged|the same|where (?:it|they) (?:is|are)|"
        r"untouched)$",
        clause.lowered,
    )
    return (
        "chat"
        if clause.verb in ("keep", "leave", "stay", "remain")
        and (stays or (clause.verb in ("stay", "remain") and not clause.values))
        else None
    )


def other_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Oops, I meant the other pair": the last removal is taken back, and done to the other one."""
    found = objects(scene, clause)
    meant = clause.verb == "mean" or clause.mood == "fragment"
    other = next((one for one in found if one.other or one.pronoun == "other"), None)
    last = next((one for one in reversed(scene.editor.forest.commits) if one.edits), None)
    if other is None or not meant or scene.touched or last is None or "remove" not in last.intents:
        return None
    if clause.mood == "fragment" and not clause.has(("no", "meant", "not", "sorry", "oops")):
        return None
    gone = [edit.node_id for edit in last.edits if not scene.seen(edit.node_id)]
    parents = [parent for key in gone for parent in scene.editor.node(key).parents if scene.seen(parent)]
    left = [key for parent in parents for key in scene.editor.items(parent)]
    head = scene.words(gone[0]) if gone else set()
    alike = [key for key in left if set(words_of(scene.editor.node(key).name)[-1:]) & head] or left
    if len(alike) != 1 or not take_back(scene):
        return None
    scene.undoes = None
    scene.editor.remove(alike[0])
    scene.touched.append(alike[0])
    return "remove"


def undo_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Undo that", "scratch that last change", "take that back"."""
    cue = clause.has(lexicon()["cues"]["undo"])
    back = re.search(
        r"\btake (?:that|this|it|the|my)(?: (?:last|latest))?(?: (?:change|edit|step|one|update))? back\b",
        clause.lowered,
    )
    cue = cue or (back[0] if back else "")
    if not cue and not (verb_in(clause, "undo") and clause.verb in ("undo", "revert", "reverse", "unwind")):
        return None
    if clause.mood == "question":
        return None
    named = [
        one for one in objects(scene, clause) if one.words and not one.pronoun and not set(one.words) <= FILLERS | DEEDS
    ]
    if scene.touched and not named and scene.marks:
        scene.editor.back(scene.marks[0])
        scene.touched.clear()
        return "undo"
    if named and not cue:
        if divided(scene) and any("split" in one.words for one in named):
            return None
        take_back(scene, named[0])
    else:
        take_back(scene)
    return "undo"


def rollback_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Go back to Seattle", "back to the original day", "what I had first was right"."""
    lowered = clause.lowered
    back = (
        f"{clause.verb} {clause.particle}".strip() in BACK
        or re.search(r"\b(back|revert|return|roll|restore|reinstate|stick|as it was|like it was)\b", lowered)
        is not None
    )
    first = re.search(
        r"\b(gave(?: you)? first|told you first|first gave|"
        r"original|originally|initial|initially|at first|had first|said first|first (?:one|choice|value|"
        r"version|date|time|number|idea|plan)|to begin with|started with|before that)\b",
        lowered,
    )
    before = re.search(
        r"\b(previous|earlier|old|as it was|the way it was|what it was|like it was|had before|was before|"
        r"used to be|last one)\b",
        lowered,
    )
    right = re.search(
        r"\b(was|were|is) (?:actually |in fact |the )?(?:right|correct|fine|better|the right one|good|ok|okay)\b",
        lowered,
    )
    if not back and not (right and (first or before)) and not (verb_in(clause, "change") and (first or before)):
        return None
    if clause.verb in ("come", "be", "get", "return") and clause.values and not (first or before):
        return None
    if clause.has(("just", "only")) and clause.has(("to just", "to only", "just the", "only the")):
        return None
    slot = label_slot(scene, clause) or subject_slot(scene, clause) or object_slot(scene, clause)
    value = old_value(scene, clause, slot)
    if value is not None:
        slot = slot or next(
            (
                key
                for key in scene.everything()
                if is_slot(scene, key) and any(one.text.lower() == value.text.lower() for one in values_of(scene, key))
            ),
            None,
        )
        if slot is not None and roll_back(scene, slot, "named", value):
            return "rollback"
    if not first and not before and not (back and clause.has(("as it was", "the way it was", "how it was"))):
        return None
    if first and not right and clause.verb in ("add", "start") and not back:
        return None
    return "rollback" if roll_back(scene, slot, "original" if first else "previous") else None


def label_slot(scene: Scene, clause: Clause) -> str | None:
    """Return the slot that the label before a clause names."""
    root = scene.root()
    return scene.slot_named(root, words_of(clause.label)) if clause.label and root else None


def subject_slot(scene: Scene, clause: Clause) -> str | None:
    """Return the slot that the subject of a clause names, or that of the thing that it names."""
    said = subject(scene, clause)
    return None if said is None or not said.words or said.pronoun else slot_of(scene, said)


def slot_of(scene: Scene, said: Element) -> str | None:
    """Return the slot with a past that an element means."""
    for key in scene.find(said):
        if is_slot(scene, key) and scene.editor.value(key) is not None:
            return key
        changed = [slot for slot in scene.slots(key) if len(values_of(scene, slot)) > 1]
        if changed:
            return changed[0]
    return None


def object_slot(scene: Scene, clause: Clause) -> str | None:
    """Return the slot that the object of a clause names: "put the time back to what it was"."""
    for element in objects(scene, clause):
        for one in (element, *(inner for prep, inner in element.attached if prep in ("to", "with", "for", "on", "of"))):
            words = tuple(word for word in one.words if word not in OLD)
            if words and not one.pronoun and one.value is None:
                slot = slot_of(scene, replace(one, words=words, text=" ".join(words), ordinal=0))
                if slot is not None:
                    return slot
    return None


def old_value(scene: Scene, clause: Clause, slot: str | None) -> TaskValue | None:
    """Return the value that a clause goes back to, where it names one."""
    values: list[TaskValue] = [typed.value for typed in clause.values if typed.value is not None]
    for element in objects(scene, clause):
        values += [value_of(inner) for prep, inner in element.attached if prep in ("to", "with") and inner.text]
        if element.text and element.value is None:
            values.append(value_of(element))
    slots = [slot] if slot else [key for key in scene.everything() if is_slot(scene, key)]
    for value in values:
        for key in slots:
            now = scene.editor.value(key)
            had = any(words_of(one.text) == words_of(value.text) for one in values_of(scene, key))
            if had and (slot or now is None or words_of(now.text) != words_of(value.text)):
                return value
    return None


def restore_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Put the butter back in both instead of the margarine", "Cake is back in, but it's 80", "keep the charger"."""
    lowered = clause.lowered
    kept = clause.verb in KEEPING and clause.mood == "request"
    back = re.search(r"\bback\b", lowered) is not None and clause.verb in PUTTING
    if not kept and not back:
        return None
    found = objects(scene, clause)
    if re.search(r"\bback (?:to )?where (?:it|they) (?:was|were|came|belongs?)", lowered):
        return "rollback" if _home(scene, found) else None
    if clause.mood == "statement" and clause.verb in ("be", "come", "go"):
        said = subject(scene, clause)
        found = [said] if said is not None else []
    found, old = split_of(found, *REPLACING)
    found, places = split_of(found, "in", "into", "under", "to", "on", "onto", "for", "with")
    if old and found:
        done = replace_items(
            scene,
            old,
            [replace(one, det="the") for one in found if one.text] or found,
            where=places[0] if places else None,
            everywhere=both_places(places),
        )
        return "rollback" if done else None
    targets = [one for one in found if one.text or one.pronoun] or [Element(text="it", pronoun="it")]
    if not any(is_hidden(scene, one) for one in targets):
        return None
    spots = [key for place in places for key in scene.find(place)]
    return "rollback" if restore(scene, targets, places=spots) else None


def _pronominal(one: Element) -> bool:
    return not one.words or one.words[0] in ("it", "that", "them", "this")


def _home(scene: Scene, found: Sequence[Element]) -> bool:
    """Put what is there, or was, where it was before: "put it back where it was"."""
    first = found[0] if found and (found[0].words or found[0].pronoun) else Element(text="it", pronoun="it")
    moved = [key for key in scene.visible_focus() if scene.editor.node(key).kind is NodeKind.ITEM]
    key = next(iter(scene.find(replace(first, attached=())) if not _pronominal(first) else moved), None)
    if key is None:
        return restore(scene, [replace(first, attached=())])
    now = scene.editor.node(key).parents
    was = [after.parents for _, _, after in scene.editor.forest.revisions(key) if after is not None]
    before = next((parents for parents in reversed(was) if parents != now and parents), None)
    if before is None or not now:
        return False
    scene.editor.move(key, before[0], now[0])
    scene.touch(key)
    scene.attend(before[0], key)
    return True


def both_places(places: Sequence[Element]) -> bool:
    """Tell whether places are named as "both" or "all"."""
    return any(place.pronoun in ("both", "all", "everything") or place.det in ("both", "all") for place in places)


def is_hidden(scene: Scene, element: Element) -> bool:
    if element.pronoun:
        return any(not scene.seen(key) for key in scene.focus if scene.editor.get(key) is not None)
    return bool(scene.find(element, hidden=True)) and not scene.find(element)


def reset_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Reset it to just the stand and the charger", "only keep the tent", "everything but the lamp goes"."""
    lowered = clause.lowered
    but = re.search(
        r"\b(everything|all|anything|everyone|everybody|the lot)\s+(?:\w+\s+)?(?:but|except|apart from|other than|"
        r"besides)\b",
        lowered,
    )
    only = re.search(r"\b(?:just|only|nothing but)\b", lowered)
    resetting = clause.verb in NARROWING or f"{clause.verb} {clause.particle}" == "go back"
    narrowed = clause.verb in NARROWING and re.search(r"\b(?:down|back) to\b", lowered) and not clause.values
    enough = re.search(
        r"\b(?:(?:will|would|'ll) be (?:enough|all|it|fine)|(?:is|are) (?:enough|all)|nothing else)\b", lowered
    )
    said = elements(clause.subject, scene.text, scene.typed) if enough and clause.mood == "statement" else []
    if said and all(one.words and scene.find(one) for one in said):
        return "reset" if reset_to(scene, said, None) else None
    keeping = clause.verb in STAYING or (clause.mood == "statement" and clause.verb in ("matter", "count", "remain"))
    if clause.mood == "question" or not (
        but or narrowed or (only and (resetting or keeping)) or (clause.verb == "reset")
    ):
        return None
    found = objects(scene, clause)
    if clause.mood == "statement" and clause.verb in ("matter", "count", "remain"):
        found = elements(clause.subject, scene.text, scene.typed)
    container: str | None = None
    if but:
        tail = re.split(r"\b(?:but|except|apart from|other than|besides)\b(?: for)?", clause.text.lower())[-1]
        tail = re.split(r"\b(?:can|could|should|must|has to|have to|is|are|goes|go|comes?|gets?)\b", tail)[0]
        keep = list(_elements_in(scene, clause, tail))
        inverse = clause.verb in ("keep", "leave") and not clause.negated
        return "reset" if keep and reset_to(scene, keep, container, but=inverse) else None
    things, place = split_of(found, "to")
    if place:
        container = next((key for one in things for key in scene.find(one) if scene.editor.items(key)), None)
        keep = place
    else:
        keep, rooms = split_of(found, "in", "on")
        container = next((key for one in rooms for key in scene.find(one)), None)
    keep = [one for one in keep if one.text and one.value is None]
    if not keep or not any(scene.find(one) or is_hidden(scene, one) for one in keep):
        return None
    return "reset" if reset_to(scene, keep, container) else None


def _elements_in(scene: Scene, clause: Clause, tail: str) -> list[Element]:
    start = clause.text.lower().rfind(tail.strip())
    offset = clause.tokens[0].start + max(start, 0)
    return elements([token for token in clause.tokens if token.start >= offset], scene.text, scene.typed)
