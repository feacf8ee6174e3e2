"""frames: clause -> what it does to the forest. Each frame knows one way of asking for a change, and says whether it fits.

The order matters: what is more particular comes first. A frame that fits carries its act out and names the intent; one
that does not leaves everything as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from doxa.core.tasks import Dependency, NodeKind, TaskStatus, TaskValue, ValueKind
from doxa.tasks.adding import (
    add_element,
    add_items,
    attach,
    is_value,
    named_value,
    new_task,
    people_of,
    put_slot,
    read_list,
    value_of,
)
from doxa.tasks.changing import apply_rule, apply_shift, is_slot, move_to, replace_items, set_value, swap_nodes
from doxa.tasks.phrases import Element, elements, is_colour, words_of
from doxa.tasks.reading import Clause, lexicon, verbs_of
from doxa.tasks.scene import FILLERS, Scene
from doxa.tasks.taking import (
    copy_task,
    give,
    divided,
    merge_parts,
    remove,
    reset_to,
    restore,
    roll_back,
    split_task,
    take_back,
    values_of,
)

__all__ = ["FRAMES", "Frame", "objects", "verb_in"]

Frame = Callable[[Scene, Clause], str | None]
REPLACING = ("instead of", "rather than", "in place of")
EMPTY_COPY = ("empty", "blank", "from scratch")
PLANNING = ("i", "we")
FIRST_PERSON = {"i", "we"}


def verb_in(clause: Clause, kind: str) -> bool:
    """Tell whether a clause's verb, with its particle, is of a class."""
    known = verbs_of(kind)
    if clause.particle:
        return f"{clause.verb} {clause.particle}" in known
    return clause.verb in known


def objects(scene: Scene, clause: Clause) -> list[Element]:
    """Return the elements behind the verb of a clause; all of them where it has none."""
    rest = clause.rest
    while len(rest) > 1 and clause.verb and (rest[0].upos in ("VERB", "CCONJ") and not rest[0].form.endswith("ing")):
        rest = rest[1:]  # "peel and chop shrimp" is about shrimp
    clause = replace(clause, rest=rest)
    return elements(clause.rest, scene.text, scene.typed)


def subject(scene: Scene, clause: Clause) -> Element | None:
    """Return what a clause says something of."""
    found = [one for one in elements(clause.subject, scene.text, scene.typed) if one.text or one.pronoun]
    return found[-1] if len(found) == 1 else found[0] if found else None


def everywhere(clause: Clause) -> bool:
    """Tell whether a change is said to be one of all lists."""
    return bool(clause.has(lexicon()["cues"]["everywhere"][:16])) or bool(
        clause.has(("let's all", "all use", "anywhere", "everywhere", "throughout"))
    )


def split_of(found: Sequence[Element], *preps: str) -> tuple[list[Element], list[Element]]:
    """Part elements from what is attached to them by some prepositions; bare ones that follow go with the latter."""
    left: list[Element] = []
    right: list[Element] = []
    for element in found:
        inner = element.with_prep(*preps)
        if inner:
            right += inner
            kept = tuple(pair for pair in element.attached if pair[0] not in preps)
            if (
                element.text
                or element.value is not None
                or (kept and not element.text and any(prep in ("", "quantity") for prep, _ in kept))
            ):
                left.append(replace(element, attached=kept))
            elif kept:
                left.append(replace(element, attached=kept))
        elif right and not element.first and not element.attached:
            right.append(element)
        else:
            left.append(element)
    return left, right


# -- undoing and going back


def leave_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Keep this one as it is": nothing is to change."""
    stays = re.search(r"\b(?:as (?:it|they) (?:is|are|stands?)|as is|alone|unchanged|the same|where (?:it|they) (?:is|are)|untouched)$", clause.lowered)
    return "chat" if clause.verb in ("keep", "leave", "stay", "remain") and (stays or clause.verb in ("stay", "remain") and not clause.values) else None


def undo_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Undo that", "scratch that last change", "take that back"."""
    cue = clause.has(lexicon()["cues"]["undo"])
    if not cue and not (verb_in(clause, "undo") and clause.verb in ("undo", "revert", "reverse", "unwind")):
        return None
    if clause.mood == "question":
        return None
    named = [
        one
        for one in objects(scene, clause)
        if one.words
        and not one.pronoun
        and not set(one.words)
        <= FILLERS
        | {
            "change",
            "edit",
            "step",
            "update",
            "move",
            "last",
            "latest",
            "most",
            "recent",
            "one",
            "my",
            "action",
            "swap",
            "addition",
            "removal",
        }
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
        f"{clause.verb} {clause.particle}".strip()
        in (
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
        or re.search(r"\b(back|revert|return|roll|restore|reinstate|stick|as it was|like it was)\b", lowered)
        is not None
    )
    first = re.search(
        r"\b(original|originally|initial|initially|at first|had first|said first|first (?:one|choice|value|version|date|time|number|idea|plan)|to begin with|started with|before that)\b",
        lowered,
    )
    before = re.search(
        r"\b(previous|earlier|old|as it was|the way it was|what it was|like it was|had before|was before|used to be|last one)\b",
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
            words = tuple(
                word
                for word in one.words
                if word not in ("original", "initial", "first", "previous", "old", "earlier", "last")
            )
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
            if any(words_of(one.text) == words_of(value.text) for one in values_of(scene, key)) and (
                slot
                or scene.editor.value(key) is None
                or words_of(scene.editor.value(key).text) != words_of(value.text)
            ):  # type: ignore[union-attr]
                return value
    return None


def restore_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Put the butter back in both instead of the margarine", "Cake is back in, but it's 80", "keep the charger"."""
    lowered = clause.lowered
    kept = (
        clause.verb in ("keep", "reinstate", "restore", "re-add", "readd", "need", "want") and clause.mood == "request"
    )
    back = re.search(r"\bback\b", lowered) is not None and clause.verb in (
        "put",
        "bring",
        "add",
        "be",
        "have",
        "get",
        "take",
        "include",
        "come",
        "go",
        "want",
        "need",
        "throw",
        "pop",
        "stick",
    )
    if not kept and not back:
        return None
    found = objects(scene, clause)
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
            everywhere=_both(places),
        )
        return "rollback" if done else None
    targets = [one for one in found if one.text or one.pronoun] or [Element(text="it", pronoun="it")]
    if not any(_hidden(scene, one) for one in targets):
        return None
    spots = [key for place in places for key in scene.find(place)]
    return "rollback" if restore(scene, targets, places=spots) else None


def _both(places: Sequence[Element]) -> bool:
    return any(place.pronoun in ("both", "all", "everything") or place.det in ("both", "all") for place in places)


def _hidden(scene: Scene, element: Element) -> bool:
    if element.pronoun:
        return any(not scene.seen(key) for key in scene.focus if scene.editor.get(key) is not None)
    return bool(scene.find(element, hidden=True)) and not scene.find(element)


def reset_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Reset it to just the stand and the charger", "only keep the tent", "everything but the lamp goes"."""
    lowered = clause.lowered
    but = re.search(
        r"\b(everything|all|anything|everyone|everybody|the lot)\s+(?:\w+\s+)?(?:but|except|apart from|other than|besides)\b",
        lowered,
    )
    only = re.search(r"\b(?:just|only|nothing but)\b", lowered)
    resetting = (
        clause.verb in ("reset", "strip", "narrow", "cut", "pare", "trim", "whittle", "limit", "reduce", "shrink")
        or f"{clause.verb} {clause.particle}" == "go back"
    )
    keeping = clause.verb in ("keep", "leave", "want", "need", "have", "stick", "take")
    if clause.mood == "question" or not (but or (only and (resetting or keeping)) or (clause.verb == "reset")):
        return None
    found = objects(scene, clause)
    container: str | None = None
    if but:
        tail = re.split(r"\b(?:but|except|apart from|other than|besides)\b", lowered)[-1]
        keep = [one for one in _elements_in(scene, clause, tail)]
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
    if not keep or not any(scene.find(one) or _hidden(scene, one) for one in keep):
        return None
    return "reset" if reset_to(scene, keep, container) else None


def _elements_in(scene: Scene, clause: Clause, tail: str) -> list[Element]:
    start = clause.text.lower().rfind(tail.strip())
    offset = clause.tokens[0].start + max(start, 0)
    return elements([token for token in clause.tokens if token.start >= offset], scene.text, scene.typed)


# -- dividing, joining, copying


def split_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Split it: branding at 1 with those two, prototyping at 2:30 with the others"."""
    if not verb_in(clause, "split") or clause.mood == "question" or (clause.verb == "separate" and not clause.particle):
        return None
    found = objects(scene, clause)
    if clause.particle not in ("", "up") or clause.negated:
        return None

    def divisible(key: str) -> bool:
        return scene.editor.node(key).kind is NodeKind.TASK

    named = [one for one in found if one.text]
    whole = next((key for one in named for key in scene.find(replace(one, attached=()), accept=divisible)), None)
    whole = whole or scene.root()
    if whole is None:
        return None
    while is_slot(scene, whole) and scene.editor.node(whole).parents:
        whole = scene.editor.node(whole).parents[0]
    parts = [part for listed in clause.listed for part in elements(listed, scene.text, scene.typed)]
    here = list(scene.clauses).index(clause)
    for later in scene.clauses[here + 1 :]:
        if later.mood != "fragment":
            break
        scene.consumed.append(later)
        parts += elements(later.rest, scene.text, scene.typed)
    into = [inner for one in found for prep, inner in one.attached if prep == "into"] + [
        one for one in found[1:] if found and found[0].with_prep("into")
    ]
    parts = joined_parts(
        parts
        or [
            one
            for one in into
            if not set(one.words) & {"part", "half", "session", "meeting", "group", "two", "piece", "slot", "block"}
        ]
    )
    if len(parts) < 2:
        return None
    return "split" if split_task(scene, whole, parts) else None


def joined_parts(parts: Sequence[Element]) -> list[Element]:
    """Join what belongs to one part: people and times that follow it belong to it."""
    found: list[Element] = []
    for part in parts:
        if found and not part.attached and (part.value is not None or part.person or part.names) and not part.other:
            found[-1] = replace(found[-1], attached=(*found[-1].attached, ("with" if part.value is None else "", part)))
        elif part.text:
            found.append(part)
    return found


def merge_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Forget the split, one session at 2 with everybody", "merge them again"."""
    whole = divided(scene)
    cue = verb_in(clause, "merge") or re.search(
        r"\b(single|one (?:meeting|session|event|slot|group|block|visit|class|trip|big)|back together|together again|unsplit|no split|the split|as one|into one|in one go|all together|one again)\b",
        clause.lowered,
    )
    if not cue or clause.mood == "question":
        return None
    if whole is None and not verb_in(clause, "merge"):
        return None
    if not merge_parts(scene, objects(scene, clause), clause):
        return None
    here = list(scene.clauses).index(clause)
    for later in scene.clauses[here + 1 :]:
        if later.mood == "fragment" and later.values and whole is not None:
            scene.consumed.append(later)
            merge_values(scene, later, whole)
    return "merge"


def merge_values(scene: Scene, clause: Clause, whole: str) -> None:
    """Set what a fragment behind a merge says of the whole."""
    for typed in clause.values:
        if typed.value is not None and typed.value.kind in (ValueKind.CLOCK, ValueKind.DATE, ValueKind.DURATION):
            give(scene, whole, typed.value)


def copy_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Same thing again next Wednesday but without Yusuf", "same form for my neighbour: ..."."""
    lowered = clause.lowered
    cue = re.search(
        r"\b(same (?:thing|again|form|setup|set-up|booking|order|meeting|session|list|details|arrangement|deal|one)|repeat (?:that|it|the|this)|(?:copy|duplicate|clone) (?:it|that|the|this)|another (?:one|form) (?:like|just like|for)|second (?:form|one|copy) (?:for|like)|one more (?:form|of these|of those) for|a copy)\b",
        lowered,
    )
    if not cue or clause.mood == "question" or clause.verb in ("keep", "leave", "stay"):
        return None
    source = scene.root()
    if source is None:
        return None
    words = clause.tokens
    found = elements(words, scene.text, scene.typed)
    without = [inner for one in found for prep, inner in one.attached if prep in ("without", "minus", "except")]
    owner = next(
        (
            inner
            for one in found
            for prep, inner in one.attached
            if prep == "for" and inner.value is None and inner.words
        ),
        None,
    )
    dated = [
        typed.value
        for typed in clause.values
        if typed.value is not None and typed.value.kind in (ValueKind.DATE, ValueKind.CLOCK)
    ]
    head = scene.editor.node(source).name
    fresh = bool(clause.listed) or "form" in lowered.split()
    name = f"{owner.text} {head}" if owner is not None else f"next {head}" if dated else f"second {head}"
    made = copy_task(scene, source, name, without=without, empty=fresh)
    scene.editor.alias(made, f"second {head}", f"{head} 2", *((f"{dated[0].text} {head}",) if dated else ()))
    for value in dated:
        slot = scene.slot_of_kind(made, value)
        if slot is not None:
            scene.editor.set(slot, value)
            scene.touch(slot)
        else:
            put_slot(scene, made, "day" if value.kind is ValueKind.DATE else "time", value)
    scene.attend(made)
    if clause.listed:
        read_form(scene, clause, made)
    return "new"


def read_form(scene: Scene, clause: Clause, made: str) -> None:
    """Fill a copied form from the elements behind the colon."""
    from doxa.tasks.adding import fill, read_part

    for listed in clause.listed:
        found = elements(listed, scene.text, scene.typed)
        for element in found:
            if element.words and element.text.split()[0].lower() in ("everything", "nothing", "rest"):
                continue
            if not fill(scene, made, element):
                read_part(scene, listed, made, clause)
    scene.attend(made)


# -- changing


def swap_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Swap weeks 1 and 2", "switch Ana and Ben around"."""
    if clause.verb not in ("swap", "switch", "exchange", "trade") or clause.mood == "question":
        return None
    found = objects(scene, clause)
    pair: list[Element] = []
    numbered = re.search(r"\b([a-z]+?)s? (\d+|[a-z]) and (\d+|[a-z])\b", clause.lowered)
    if numbered:
        pair = [
            Element(text=f"{numbered[1]} {n}", words=words_of(f"{numbered[1]} {n}")) for n in (numbered[2], numbered[3])
        ]
    elif len(found) == 2 and not any(one.with_prep("for", "with", "to") for one in found):
        pair = [replace(one, attached=()) for one in found]
    elif len(found) == 1 and found[0].with_prep("with", "and"):
        pair = [replace(found[0], attached=()), found[0].with_prep("with", "and")[0]]
    return "update" if len(pair) == 2 and swap_nodes(scene, *pair) else None


def replace_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Swap it for margarine everywhere", "oat milk instead of milk in those", "let's all use mushrooms instead"."""
    found = objects(scene, clause)
    if clause.mood == "question":
        return None
    found, places = (
        split_of(found, "in", "on", "under")
        if not verb_in(clause, "change") or clause.verb in ("swap", "switch", "change")
        else (found, [])
    )
    where = places[0] if places else None
    left, old = split_of(found, *REPLACING)
    if old:
        new = [one for one in left if one.text and not one.pronoun]
        if not new:
            return None
        return (
            "replace"
            if replace_items(scene, old, new, where=where, everywhere=everywhere(clause) or _both(places))
            else None
        )
    if clause.verb in ("substitute", "sub") and clause.particle != "out":
        new, before = split_of(found, "for")
        if before and new:
            return "replace" if replace_items(scene, before, new, where=where, everywhere=everywhere(clause)) else None
    moving = clause.verb in ("move", "shift", "transfer", "reassign", "relocate", "bump", "push", "put", "hand")
    if verb_in(clause, "replace") or (verb_in(clause, "change") and not clause.values and not moving):
        before, new = (
            split_of(found, "for", "with", "by", "to", "into")
            if clause.verb in ("swap", "switch", "replace", "exchange", "trade", "sub", "substitute")
            else split_of(found, "to", "into", "for")
        )
        pairs = [(one, inner) for one in found for inner in one.with_prep("for", "with", "by", "to", "into")]
        known = [one for one in before if any(scene.editor.node(key).kind is NodeKind.ITEM for key in scene.find(one))]
        if new and known:
            if len(pairs) > 1:
                return (
                    "replace"
                    if any(
                        [
                            replace_items(
                                scene, [replace(a, attached=())], [b], where=where, everywhere=everywhere(clause)
                            )
                            for a, b in pairs
                        ]
                    )
                    else None
                )
            return (
                "replace"
                if replace_items(
                    scene, [replace(one, attached=()) for one in known], new, where=where, everywhere=everywhere(clause)
                )
                else None
            )
    return instead_frame(scene, clause, found, where)


def instead_frame(scene: Scene, clause: Clause, found: Sequence[Element], where: Element | None) -> str | None:
    """ "Let's all use mushrooms instead": in the place of the item that was just spoken of."""
    if not clause.has(("instead", "rather")) or verb_in(clause, "remove") or clause.values or clause.negated:
        return None
    new = [one for one in found if one.text and not one.pronoun and one.value is None]
    if not new or not (
        clause.verb
        in (
            "use",
            "have",
            "get",
            "take",
            "make",
            "try",
            "go",
            "do",
            "put",
            "be",
            "buy",
            "want",
            "add",
            "bring",
            "pick",
            "need",
            "order",
        )
        or not clause.verb
    ):
        return None
    items = [key for key in scene.visible_focus() if scene.editor.node(key).kind is NodeKind.ITEM]
    if not items or any(scene.find(one, accept=lambda key: key == items[0]) for one in new):
        return None
    whole = everywhere(clause) or len(scene.editor.node(items[0]).parents) > 1 and where is None
    target = Element(text=scene.editor.node(items[0]).name, words=words_of(scene.editor.node(items[0]).name))
    return "replace" if replace_items(scene, [target], new, where=where, everywhere=whole) else None


def move_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Move the lab report to evolution", "put it under cells"."""
    if clause.mood == "question" or not (
        clause.verb in ("move", "shift", "transfer", "reassign", "put", "hang", "bump", "switch", "take")
        or verb_in(clause, "move")
    ):
        return None
    things, places = split_of(objects(scene, clause), "to", "under", "into", "onto", "in", "on", "with")
    things, sources = split_of(things, "from", "out of", "off")
    if not places or places[0].value is not None or not things:
        return None
    known = [one for one in things if scene.find(one)]
    target = scene.find(places[0])
    if (
        not known
        or not target
        or (clause.verb in ("put", "take") and not (known[0].pronoun or clause.has(("instead", "under"))))
    ):
        return None
    if any(scene.editor.node(key).parents == (target[0],) for one in known for key in scene.find(one)):
        return None
    return "update" if move_to(scene, known, places[0], sources[0] if sources else None) else None


def remove_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Drop the currants", "take the other ones out", "we don't need the tent", "no more salad"."""
    wanted = verb_in(clause, "remove") and not clause.negated
    denied = (
        clause.negated
        and clause.verb
        in ("need", "want", "use", "include", "bring", "have", "buy", "do", "take", "keep", "bother", "require")
        and (not clause.subject or clause.subject[0].lower in ("i", "we", "do", "let"))
    )
    if (
        clause.mood == "question"
        or not (wanted or denied)
        or (
            clause.mood == "statement" and not denied and clause.subject and clause.subject[0].lower not in FIRST_PERSON
        )
    ):
        return None
    if (
        clause.verb in ("cut", "drop", "pull")
        and clause.values
        and re.search(r"\b(to|by)\b", clause.lowered)
        and not clause.particle
    ):
        return None
    found, sources = split_of(objects(scene, clause), "from", "off", "out of", "in")
    found = [
        replace(
            one, attached=tuple(pair for pair in one.attached if pair[0] in ("of", "with") or pair[1].value is not None)
        )
        for one in found
    ]
    targets = [one for one in found if (one.text or one.pronoun) and one.text.lower() not in ("rid",)]
    if clause.verb == "get" and not targets:
        targets = [inner for one in found for prep, inner in one.attached if prep == "of"]
    targets = _variants_of(scene, targets)
    wide = everywhere(clause) or _both(sources)
    source = None if wide or not sources else sources[0]
    return "remove" if targets and remove(scene, targets, source=source, everywhere=wide) else None


def _variants_of(scene: Scene, targets: Sequence[Element]) -> list[Element]:
    """Let a bare adjective stand for the thing of the element beside it ("the grey and the navy ones")."""
    return [replace(one, ones=True) if is_colour(one.text) and not one.ones else one for one in targets]


def done_frame(scene: Scene, clause: Clause) -> str | None:
    """ "The deposit is paid", "tick off the tiles", "I've finished the report"."""
    said: list[Element] = []
    if f"{clause.verb} {clause.particle}" in ("tick off", "check off", "mark off") or (
        clause.verb in ("finish", "complete") and clause.mood != "question"
    ):
        said = [one for one in objects(scene, clause) if one.text and not one.value]
    elif clause.verb == "mark" and clause.has(("as done", "done", "complete", "completed", "finished")):
        said = [replace(one, attached=(), text=one.text) for one in objects(scene, clause)][:1]
    elif (
        clause.verb == "be"
        and clause.mood == "statement"
        and not clause.negated
        and re.search(
            r"\b(?:is|are|'s) (?:all |now |already )?(?:done|finished|complete|completed|sorted|ticked off)\b",
            clause.lowered,
        )
    ):
        one = subject(scene, clause)
        said = [one] if one is not None else []
    keys = [key for one in said for key in scene.find(one)]
    for key in keys:
        scene.editor.done(key)
        scene.touch(key)
    return "update" if keys else None


def rule_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Grouting is always the day after tiling", "a letter has to be in before I can send the application"."""
    if clause.mood == "question" or clause.mark == "if":
        return None
    said = subject(scene, clause)
    needed = re.search(
        r"\b(?:has to|have to|must|needs? to) (?:be|come|arrive|happen|get|go)?\b.*?\b(?:before|until)\b(.+)$",
        clause.lowered,
    )
    if needed:
        return need_frame(scene, clause, said, needed[1])
    if re.search(r"\b(?:can't|cannot|can not|only|depends? on|waits? for|needs)\b", clause.lowered):
        waits = re.search(
            r"\b(?:can't|cannot|can not|can only|only|must|should).*?\b(?:until|before|once|after|when)\b(.+)$|\b(?:depends? on|waits? for|waiting for)\b(.+)$",
            clause.lowered,
        )
        if waits and not clause.values and said is not None and not said.pronoun:
            return wait_frame(scene, clause, said, waits[1] or waits[2])
    if not apply_rule(scene, said, clause, clause.text):
        return None
    return "new" if scene.editor.forest.get(scene.last) is None else "update"


def need_frame(scene: Scene, clause: Clause, said: Element | None, before: str) -> str | None:
    """Note that one thing has to be there before another."""
    words = words_of(before)
    then = (
        next((key for size in range(len(words)) for key in scene.find(Element(text=before, words=words[size:]))), None)
        or scene.root()
    )
    if said is None or not said.words or then is None:
        return None
    key = next(iter(scene.find(replace(said, attached=()))), None)
    if key is None:
        name = scene.text[clause.subject[0].start : clause.subject[-1].end]
        name = re.sub(r"^(?:a|an|the|my|our)\s+", "", name, flags=re.I)
        key = new_task(scene, name, then if not is_slot(scene, then) else None)
    if key != then and not is_slot(scene, then) and then not in scene.editor.node(key).parents:
        scene.editor.depend(then, Dependency(on=key, kind="before", text=clause.text))
    elif then in scene.editor.node(key).parents:
        scene.editor.alias(key, f"needed before {scene.editor.node(then).name}")
        scene.notes.append(f"{scene.editor.node(key).name} has to be there before {scene.editor.node(then).name}")
    scene.touch(key)
    return "new"


def wait_frame(scene: Scene, clause: Clause, said: Element, on: str) -> str | None:
    """Note that one thing waits for another."""
    words = words_of(re.split(r"\b(?:is|are|has|have|was|gets?|arrives?|comes?)\b", on)[0])
    anchor = next(iter(scene.find(Element(text=on, words=words))), None) if words else None
    key = next(iter(scene.find(said)), None)
    if anchor is None or key is None or anchor == key:
        return None
    scene.editor.depend(key, Dependency(on=anchor, kind="before", text=clause.text))
    scene.touch(key)
    return "update"


def shift_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Make it an hour later", "five more people are coming", "push the start back by two days"."""
    shifts = [typed for typed in clause.values if typed.shift is not None]
    if not shifts or clause.mood == "question":
        return None
    backward = (
        clause.has(
            (
                "forward",
                "earlier",
                "ahead",
                "bring",
                "lower",
                "reduce",
                "cut",
                "decrease",
                "shorten",
                "sooner",
                "drop",
                "less",
            )
        )
        != ""
    )
    said = subject(scene, clause) if clause.mood == "statement" else None
    found = objects(scene, clause)
    target = next(
        (one for one in found if (one.words or one.pronoun) and one.shift is None and one.value is None), None
    )
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
    hint = lexicon()["verb_slots"].get(f"{clause.verb} {clause.particle}".strip(), "")
    if target is not None and target.shift is None and target.pronoun in ("me", "us", "i", "we"):
        target = None
    for typed in shifts:
        if typed.shift is not None and apply_shift(scene, target, typed.shift, hint=hint, backward=backward):
            return "update"
    return None


def set_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Change the departure date to June 15th", "make the jacket an L", "name should be Dana", "they extended it to the 16th"."""
    if clause.mood == "question" or clause.mark in ("because", "since", "if"):
        return None
    if clause.verb == "be" or (clause.wrapped and clause.verb == "be"):
        return be_frame(scene, clause)
    change = verb_in(clause, "change") or not clause.particle and clause.verb in (
        "make",
        "set",
        "extend",
        "go",
        "need",
        "want",
        "have",
        "slip",
        "move",
        "come",
        "use",
    )
    if not change:
        return None
    found = objects(scene, clause)
    left, right = split_of(found, "to", "as", "into", "at", "for", "on", "till", "until")
    if clause.verb in ("make", "set", "call", "mark", "want", "have", "need", "give", "put") and not right:
        return complement_frame(scene, clause, found)
    if not right:
        return None
    target = next((one for one in left if one.words or one.pronoun or one.ordinal), None)
    said = subject(scene, clause)
    if target is None and said is not None and said.pronoun not in ("i", "we", "they", "you"):
        target = said
    preps = [
        prep
        for element in found
        for prep, _ in element.attached
        if prep in ("to", "as", "into", "at", "for", "on", "till", "until")
    ]
    hint = clause.label
    done = False
    for i, element in enumerate(right):
        value = value_of(element)
        if element.value is None and not set_wanted(scene, clause, target, element):
            continue
        prep = preps[i] if i < len(preps) else ""
        prep = "at" if prep == "to" and element.value is not None and element.value.kind is ValueKind.NUMBER else prep
        text = f"{prep} {value.text}" if False else value.text
        done = (
            set_value(
                scene,
                target,
                replace(value, text=text),
                prep=prep,
                hint=hint,
                new=clause.verb in ("set", "schedule") or bool(hint),
            )
            is not None
            or done
        )
    return "update" if done else None


def set_wanted(scene: Scene, clause: Clause, target: Element | None, element: Element) -> bool:
    """Tell whether words may be a value here: the thing is a slot, or is made one."""
    if target is None or not element.text or element.pronoun:
        return False
    if clause.label:
        return True
    return any(is_slot(scene, key) and scene.editor.value(key) is not None for key in scene.find(target)) or (
        clause.verb in ("set", "change") and not scene.find(target)
    )


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
        elif element.with_prep("quantity") and scene.find(replace(element, attached=())):
            thing = scene.find(replace(element, attached=()))[0]
            done = bool(put_slot(scene, thing, "quantity", value_of(element.with_prep("quantity")[0]))) or done
        elif element.value is not None:
            done = set_value(scene, None, element.value, prep="at", hint=clause.label, new=False) is not None or done
        elif is_colour(element.text) and element.ones is False and i == 0:
            done = set_value(scene, None, value_of(element), hint=clause.label) is not None or done
        elif element.det in ("that", "this", "it") and element.text and not element.pronoun and clause.verb == "make":
            done = set_value(scene, None, value_of(element), hint=clause.label) is not None or done
        elif element.words and not element.pronoun:
            done = _prefixed(scene, element) or done
    if not done and len(found) == 1 and found[0].pronoun and clause.label:
        return None
    return "update" if done else None


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
    if (
        said.pronoun in ("i", "we", "they", "you", "he", "she", "there", "who", "what", "everyone", "this")
        and not said.words[:0]
    ):
        return None
    first = found[0]
    bare = replace(said, attached=())
    item = scene.find(bare, accept=lambda key: scene.editor.node(key).kind is NodeKind.ITEM) if said.words else []
    if item and first.words and not is_value(first) and clause.wrapped + " ".join(t.lower for t in clause.tokens if t.upos == "AUX") and any(t.lower in ("can", "could", "should", "will", "'ll") for t in clause.tokens[: clause.at + 1]):
        where = said.with_prep("in", "on", "under", "at")
        return "replace" if replace_items(scene, [bare], [first], where=where[0] if where else None) else None
    value = _be_value(scene, clause, first)
    if value is None:
        return None
    preps = [prep for prep, inner in first.attached if inner.value is not None]
    known = not said.pronoun and (scene.find(said) or scene.root())
    if said.pronoun or known:
        new = not said.pronoun and (value.kind is not ValueKind.TEXT or named_slot(scene, said))
        key = set_value(scene, said, value, prep=preps[0] if preps else "", new=new)
        return ("update" if scene.editor.forest.revisions(key) else "new") if key is not None else None
    return None


def _be_value(scene: Scene, clause: Clause, first: Element) -> TaskValue | None:
    """Return the value that "is" gives, or None where the clause describes and sets nothing."""
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
    if not first.text or first.pronoun:
        return None
    end = max([first.end, *(inner.end for prep, inner in first.attached if prep in ("of", ""))])
    text = scene.text[first.start : end].strip()
    text = re.sub(r"^(?:actually|now|going to be|to be|just|really|the|a|an)\s+", "", text, flags=re.I)
    return TaskValue(text=text, kind=value_of(first).kind)


def named_slot(scene: Scene, said: Element) -> bool:
    """Tell whether a subject may name a slot of a form: a short common noun without a person in it."""
    return (
        bool(said.words)
        and len(said.words) < 4
        and not said.person
        and not said.names
        or bool(scene.find(said, accept=lambda key: is_slot(scene, key)))
    )


FRAMES: tuple[Frame, ...] = (
    leave_frame, undo_frame, reset_frame, rollback_frame, merge_frame, split_frame, copy_frame, restore_frame, swap_frame, rule_frame, replace_frame,
    move_frame, shift_frame, remove_frame, done_frame, set_frame,
)  # fmt: skip

_ = (TaskStatus, add_element, add_items, attach, named_value, people_of, read_list)
