"""backward: clauses that go back: undo, rollback, restore, reset."""

from __future__ import annotations

import re
from collections.abc import Sequence

from doxa.tasks.changing import is_slot
from doxa.tasks.phrases import Element
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, split_of, subject, verb_in
from doxa.tasks.scene import Scene
from doxa.tasks.taking import reset_to, restore, roll_back, take_back
from doxa.tasks.verbs import lexicon

__all__ = ["both_places", "reset_frame", "restore_frame", "rollback_frame", "undo_frame"]

BACK = frozenset(
    (
        "go back", "revert", "return", "roll back", "switch back", "change back", "move back", "put back", "set back",
        "be back", "come back", "restore", "stick", "keep", "take back", "make back", "bring back", "get back",
    )
)  # fmt: skip
KEEPING = frozenset("keep reinstate restore re-add readd need want".split())
PUTTING = frozenset("put bring add be have get take include come go want need throw pop stick".split())
STAYING = frozenset("keep leave want need have stick take".split())
NARROWING = frozenset("reset strip narrow cut pare trim whittle limit reduce shrink boil slim scale get bring".split())


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
    if scene.touched and scene.marks:
        scene.editor.back(scene.marks[0])
        scene.touched.clear()
    else:
        take_back(scene)
    return "undo"


def rollback_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Back to the original day", "what I had first was right"."""
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
    slot = subject_slot(scene, clause)
    if not first and not before and not (back and clause.has(("as it was", "the way it was", "how it was"))):
        return None
    return "rollback" if roll_back(scene, slot, "original" if first else "previous") else None


def subject_slot(scene: Scene, clause: Clause) -> str | None:
    """Return the slot that the subject of a clause names, or that of the thing that it names."""
    said = subject(scene, clause)
    return None if said is None or not said.words or said.pronoun else slot_of(scene, said)


def slot_of(scene: Scene, said: Element) -> str | None:
    """Return the slot with a past that an element means."""
    for key in scene.find(said):
        if is_slot(scene, key) and scene.editor.value(key) is not None:
            return key
        changed = [slot for slot in scene.slots(key) if len(scene.had(slot)) > 1]
        if changed:
            return changed[0]
    return None


def restore_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Put the butter back in both", "cake is back in", "keep the charger"."""
    lowered = clause.lowered
    kept = clause.verb in KEEPING and clause.mood == "request"
    back = re.search(r"\bback\b", lowered) is not None and clause.verb in PUTTING
    if not kept and not back:
        return None
    found = objects(scene, clause)
    if clause.mood == "statement" and clause.verb in ("be", "come", "go"):
        said = subject(scene, clause)
        found = [said] if said is not None else []
    found, places = split_of(found, "in", "into", "under", "to", "on", "onto", "for", "with")
    targets = [one for one in found if one.text or one.pronoun] or [Element(text="it", pronoun="it")]
    if not any(is_hidden(scene, one) for one in targets):
        return None
    spots = [key for place in places for key in scene.find(place)]
    return "rollback" if restore(scene, targets, spots) else None


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
    only = re.search(r"\b(?:just|only|nothing but)\b", lowered)
    resetting = clause.verb in NARROWING or f"{clause.verb} {clause.particle}" == "go back"
    narrowed = clause.verb in NARROWING and re.search(r"\b(?:down|back) to\b", lowered) and not clause.values
    keeping = clause.verb in STAYING
    if clause.mood == "question" or not (narrowed or (only and (resetting or keeping)) or (clause.verb == "reset")):
        return None
    found = objects(scene, clause)
    keep, rooms = split_of(found, "in", "on")
    container = next((key for one in rooms for key in scene.find(one)), None)
    keep = [one for one in keep if one.text and one.value is None]
    if not keep or not any(scene.find(one) or is_hidden(scene, one) for one in keep):
        return None
    return "reset" if reset_to(scene, keep, container) else None
