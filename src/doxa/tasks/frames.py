"""frames: clause -> what it does to the forest.

Each frame knows one way of asking for a change, and says whether it fits.

The order matters: what is more particular comes first. A frame that fits carries its act out and names the intent; one
that does not leaves everything as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, TaskValue
from doxa.tasks.backward import (
    both_places,
    leave_frame,
    other_frame,
    reset_frame,
    restore_frame,
    rollback_frame,
    undo_frame,
)
from doxa.tasks.changing import coerced, move_to, replace_items, slots_alike, swap_nodes, swap_values
from doxa.tasks.dividing import copy_frame, like_frame, merge_frame, split_frame
from doxa.tasks.phrases import Element, elements, is_colour, stem, words_of
from doxa.tasks.reading import Clause, lacks
from doxa.tasks.roles import REPLACING, everywhere, objects, split_of, subject, verb_in
from doxa.tasks.ruling import done_frame, rule_frame
from doxa.tasks.scene import Scene
from doxa.tasks.setting import budget_frame, not_old_frame, place_frame, set_frame, shift_frame, told_frame
from doxa.tasks.taking import remove
from doxa.tasks.verbs import Token

__all__ = ["FRAMES"]

MOVING = frozenset("move shift transfer reassign relocate bump push put hand".split())
SWAPPING = frozenset("swap switch replace exchange trade sub substitute".split())
TAKING = frozenset("use have get take make try go do put be buy want add bring pick need order".split())
HANGING = frozenset("move shift transfer reassign put hang bump switch take".split())
WANTING = frozenset("need want use include bring have buy do take keep bother require".split())

Frame = Callable[[Scene, Clause], str | None]

FIRST_PERSON = {"i", "we"}


def swap_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Swap weeks 1 and 2", "switch Ana and Ben around"."""
    places = re.search(
        r"\b(?:trade|swap|switch|change) (?:places|round|around|seats|spots|roles|over)\b", clause.lowered
    )
    if (clause.verb not in ("swap", "switch", "exchange", "trade") and not places) or clause.mood == "question":
        return None
    found = objects(scene, clause)
    if places:
        ends = clause.text.lower().find(places[0]) + clause.tokens[0].start
        before = [token for token in clause.tokens if token.start < ends and token.lower not in ("have", "let", "'s")]
        before = [token for token in before if token.upos != "AUX"]
        found = [one for one in elements(before, scene.text, scene.typed) if one.names or scene.find(one)] or found
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
    if len(pair) == 2:
        return "update" if swap_values(scene, *pair) or swap_nodes(scene, *pair) else None
    plural = found[0] if len(found) == 1 and found[0].words and found[0].text.endswith("s") else None
    slots = slots_alike(scene, plural) if plural is not None else []
    if len(slots) != 2:
        return None
    scene.editor.swap(*slots)
    for key in slots:
        scene.touch(key)
    return "update"


def replace_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Swap it for margarine everywhere", "oat milk instead of milk in those", "let's all use mushrooms instead"."""
    found = objects(scene, clause)
    if clause.mood == "question":
        return None
    places: list[Element] = []
    if not verb_in(clause, "change") or clause.verb in ("swap", "switch", "change"):
        found, places = split_of(found, "in", "on", "under")
        wide_for = [one for one in found if any(both_places([inner]) for inner in one.with_prep("for"))]
        if not places and wide_for:  # "eucalyptus for both"
            found, places = split_of(found, "for")
    fronted = elements(clause.tokens[: clause.at], scene.text, scene.typed) if clause.mood == "request" else []
    places = places or [inner for one in fronted for inner in one.with_prep("for", "in", "on") if scene.find(inner)]
    where = places[0] if places else None
    wide = everywhere(clause)
    preferred = ("than",) if clause.has(("rather", "prefer", "sooner")) else ()
    left, old = split_of(found, *REPLACING, *preferred)
    if old:
        new = [one for one in left if one.text and not one.pronoun]
        if old[0].value is not None and new and new[-1].value is not None:
            return "replace" if _revalued(scene, old[0].value, new[-1].value) else None
        done = bool(new) and replace_items(scene, old, new, where=where, everywhere=wide or both_places(places))
        return "replace" if done else None
    if clause.verb in ("substitute", "sub") and clause.particle != "out":
        new, before = split_of(found, "for")
        if before and new:
            return "replace" if replace_items(scene, before, new, where=where, everywhere=wide) else None
    if verb_in(clause, "replace") or (verb_in(clause, "change") and not clause.values and clause.verb not in MOVING):
        pairs = replaced_pairs(scene, clause, found)
        made = [replace_items(scene, olds, news, where=where, everywhere=wide) for olds, news in pairs]
        if pairs:
            return "replace" if any(made) else None
    return instead_frame(scene, clause, found, where)


def _revalued(scene: Scene, old: TaskValue, new: TaskValue) -> bool:
    """Put one value in the place of another: "38 instead of 45"."""
    slots = [key for key in scene.everything() if (value := scene.editor.value(key)) and value.amount == old.amount]
    if len(slots) != 1 or old.amount is None:
        return False
    scene.editor.set(slots[0], coerced(scene.editor.value(slots[0]), new))
    scene.touch(slots[0])
    return True


def replaced_pairs(scene: Scene, clause: Clause, found: Sequence[Element]) -> list[tuple[list[Element], list[Element]]]:
    """Return what is to be replaced with what: "milk for oat milk, and butter for margarine" are two."""
    preps = ("for", "with", "by", "to", "into") if clause.verb in SWAPPING else ("to", "into", "for")
    before, new = split_of(found, *preps)
    known = [one for one in before if any(scene.editor.node(key).kind is NodeKind.ITEM for key in scene.find(one))]
    if not new or not known:
        return []
    pairs = [(one, inner) for one in found for inner in one.with_prep("for", "with", "by", "to", "into")]
    if len(pairs) > 1:
        return [([replace(one, attached=())], [inner]) for one, inner in pairs]
    return [([replace(one, attached=()) for one in known], new)]


def instead_frame(scene: Scene, clause: Clause, found: Sequence[Element], where: Element | None) -> str | None:
    """ "Let's all use mushrooms instead", "the shop is out of feta, so goat cheese": in the place of what was said."""
    makes_do = MAKES_DO.search(clause.lowered) is not None
    if (
        not (clause.has(("instead", "rather")) or _so(scene, clause, makes_do=makes_do))
        or verb_in(clause, "remove")
        or clause.values
        or clause.negated
    ):
        return None
    new = [one for one in found if one.text and not one.pronoun and one.value is None]
    said = subject(scene, clause) if makes_do and clause.mood == "statement" else None
    if said is not None and said.words:
        new = [said]  # "we're out of grapes, so a satsuma will have to do"
    if not new or not (clause.verb in TAKING or not clause.verb):
        return None
    if where is not None and any(scene.find(one) for one in new):
        return None  # "put the workbook under pronouns instead" moves what is there
    items = [key for key in scene.visible_focus() if scene.editor.node(key).kind is NodeKind.ITEM]
    if not items or any(scene.find(one, accept=lambda key: key == items[0]) for one in new):
        return None
    if not clause.has(("instead", "rather")) and not _was_named(scene, clause, items[0]):
        return None
    whole = (
        everywhere(clause)
        or (where is not None and both_places([where]))
        or (len(scene.editor.node(items[0]).parents) > 1 and where is None)
    )
    target = Element(text=scene.editor.node(items[0]).name, words=words_of(scene.editor.node(items[0]).name))
    return "replace" if replace_items(scene, [target], new, where=where, everywhere=whole) else None


def _was_named(scene: Scene, clause: Clause, key: str) -> bool:
    """Tell whether the clause before named an item."""
    before = scene.before(clause)
    said = {stem(token.lower) for token in before.tokens} if before is not None else set()
    return bool(said & set(words_of(scene.editor.node(key).name)))


MAKES_DO = re.compile(
    r"\b(?:(?:will|would|'ll|can|could) (?:just )?(?:have to |need to )?(?:do|work|be fine|be ok)|"
    r"is what (?:i|we) \w+)$"
)


def _so(scene: Scene, clause: Clause, *, makes_do: bool) -> bool:
    """Tell whether a clause draws from the one before it what is to be had: "there is no feta, so goat cheese"."""
    before = scene.before(clause)
    lacking = before is not None and lacks(before.lowered)
    return (clause.join == "so" or makes_do) and lacking and not scene.touched


def move_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Move the lab report to evolution", "put it under cells"."""
    if clause.mood == "question" or not (clause.verb in HANGING or verb_in(clause, "move")):
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
        and clause.verb in WANTING
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
    targets = _variants_of(targets)
    wide = everywhere(clause) or both_places(sources)
    source = None if wide or not sources else sources[0]
    return "remove" if targets and remove(scene, targets, source=source, everywhere=wide) else None


GONE = frozenset("off out cancelled canceled gone dead unnecessary redundant scrapped dropped removed".split())


def spared_frame(scene: Scene, clause: Clause) -> str | None:
    """ "No need for the tent", "no more salad", "the tent can go", "leave that at home", "Leeds is off"."""
    if clause.mood == "question":
        return None
    found = objects(scene, clause)
    targets: list[Element] = []
    if clause.mood == "fragment" and found and found[0].det == "no":
        spared = found[0].words[-1:] == ("need",) and found[0].with_prep("for")
        targets = spared if spared else [replace(found[0], det="the")] if not found[0].attached else []
        if targets and not spared and clause.has(("more", "longer")):
            bare = tuple(word for word in targets[0].words if word not in ("more", "longer"))
            targets = [replace(targets[0], text=" ".join(bare), words=bare)]
    elif clause.mood == "fragment" and clause.tokens[0].lower == "not" and found and found[0].words:
        targets = [replace(found[0], attached=())]
    elif clause.verb in ("do", "go", "be", "manage", "cope") and any(one.with_prep("without") for one in found):
        targets = [inner for one in found for inner in one.with_prep("without")]
    elif clause.verb == "be" and _unwanted(clause):
        targets = [one for one in elements(_unwanted(clause), scene.text, scene.typed) if one.words or one.pronoun][:1]
    elif clause.verb == "leave" and clause.mood == "request" and re.search(r"\b(?:at home|behind)\b", clause.lowered):
        targets = [replace(one, attached=()) for one in found if one.words or one.pronoun]
    elif clause.mood == "statement" and not clause.negated:
        said = subject(scene, clause)
        modal = any(token.lower in ("can", "must", "should", "has", "have") for token in clause.tokens[: clause.at])
        passive = any(token.lemma == "be" for token in clause.tokens[: clause.at]) and not clause.rest
        goes = (clause.verb == "go" and not clause.rest and modal) or (
            passive and clause.verb in ("cancel", "scrap", "drop", "remove", "delete", "axe")
        )
        off = clause.verb == "be" and len(clause.rest) <= 3 and any(token.lower in GONE for token in clause.rest[-2:])
        said = subject(scene, replace(clause, wrapped="")) if goes else said
        targets = [said] if said is not None and said.words and (goes or (off and not clause.values)) else []
    known = [one for one in targets if scene.find(one)]
    return "remove" if known and remove(scene, known, everywhere=everywhere(clause)) else None


def _unwanted(clause: Clause) -> tuple[Token, ...]:
    """Return the words for what is not wanted in "it's the other gravel I don't want"; none where that is not said."""
    who = next((i for i, t in enumerate(clause.rest) if t.lower in ("i", "we") and i), None)
    said = [token.lemma for token in clause.rest[who:]] if who is not None else []
    wanted = any(verb in said for verb in ("want", "need", "like", "use")) and "not" in said
    it = bool(clause.subject) and clause.subject[-1].lower in ("it", "that")
    relative = who is not None and clause.rest[who - 1].lower in ("that", "which")
    return clause.rest[: (who or 0) - relative] if wanted and it else ()


def _variants_of(targets: Sequence[Element]) -> list[Element]:
    """Let a bare adjective stand for the thing of the element beside it ("the grey and the navy ones")."""
    return [replace(one, ones=True) if is_colour(one.text) and not one.ones else one for one in targets]


FRAMES: tuple[Frame, ...] = (
    leave_frame,
    other_frame,
    undo_frame,
    reset_frame,
    rollback_frame,
    merge_frame,
    split_frame,
    like_frame,
    copy_frame,
    restore_frame,
    swap_frame,
    rule_frame,
    replace_frame,
    move_frame,
    shift_frame,
    spared_frame,
    remove_frame,
    done_frame,
    not_old_frame,
    budget_frame,
    told_frame,
    place_frame,
    set_frame,
)
