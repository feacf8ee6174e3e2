"""frames: clause -> what it does to the forest.

Each frame knows one way of asking for a change, and says whether it fits.

The order matters: what is more particular comes first. A frame that fits carries its act out and names the intent; one
that does not leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind
from doxa.tasks.backward import (
    both_places,
    reset_frame,
    restore_frame,
    rollback_frame,
    undo_frame,
)
from doxa.tasks.changing import move_to, replace_items
from doxa.tasks.fragments import fragment_frame
from doxa.tasks.phrases import Element, is_colour, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import REPLACING, everywhere, objects, split_of, subject, verb_in
from doxa.tasks.ruling import done_frame, rule_frame
from doxa.tasks.scene import Scene
from doxa.tasks.setting import set_frame, shift_frame
from doxa.tasks.statements import gets_frame, statement_frame
from doxa.tasks.taking import remove
from doxa.tasks.telling import add_frame, todo_frame

__all__ = ["FRAMES"]

HANGING = frozenset("move shift transfer reassign put hang bump switch take".split())
WANTING = frozenset("need want use include bring have buy do take keep bother require".split())

Frame = Callable[[Scene, Clause], str | None]

FIRST_PERSON = {"i", "we"}


def swap_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Swap Ana and Ben", "swap the vets": two things, or the values of two slots of one name, change places."""
    if clause.verb not in ("swap", "switch", "exchange", "trade") or clause.mood == "question":
        return None
    found = objects(scene, clause)
    keys = [key for one in found for key in scene.find(one)[:1]] if len(found) == 2 else []
    if len(found) == 1 and found[0].words and not found[0].attached:
        named = set(found[0].words)
        slots = [key for key in scene.everything() if scene.editor.value(key) is not None]
        keys = [key for key in slots if named <= set(words_of(scene.editor.node(key).name))]
    if len(set(keys)) != 2 or any(one.attached for one in found):
        return None
    scene.editor.swap(*keys)
    for key in keys:
        scene.touch(key)
    return "update"


def replace_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Swap it for margarine everywhere", "oat milk instead of milk in those"."""
    found = objects(scene, clause)
    if clause.mood == "question":
        return None
    places: list[Element] = []
    if not verb_in(clause, "change") or clause.verb in ("swap", "switch", "change"):
        found, places = split_of(found, "in", "on", "under")
    where = places[0] if places else None
    wide = everywhere(clause)
    preferred = ("than",) if clause.has(("rather", "prefer", "sooner")) else ()
    left, old = split_of(found, *REPLACING, *preferred)
    if old:
        new = [one for one in left if one.text and not one.pronoun]
        done = bool(new) and replace_items(scene, old, new, where=where, everywhere=wide or both_places(places))
        return "replace" if done else None
    if not verb_in(clause, "replace"):
        return None
    before, new = split_of(found, "for", "with", "by", "to", "into")
    known = [one for one in before if any(scene.editor.node(key).kind is NodeKind.ITEM for key in scene.find(one))]
    done = bool(known and new) and replace_items(scene, known, new, where=where, everywhere=wide)
    return "replace" if done else None


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
    """ "No need for the tent", "no salad", "the tent can go", "Leeds is off"."""
    if clause.mood == "question":
        return None
    found = objects(scene, clause)
    targets: list[Element] = []
    if clause.mood == "fragment" and found and found[0].det == "no":
        spared = found[0].words[-1:] == ("need",) and found[0].with_prep("for")
        targets = spared if spared else [replace(found[0], det="the")] if not found[0].attached else []
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


def _variants_of(targets: Sequence[Element]) -> list[Element]:
    """Let a bare adjective stand for the thing of the element beside it ("the grey and the navy ones")."""
    return [replace(one, ones=True) if is_colour(one.text) and not one.ones else one for one in targets]


FRAMES: tuple[Frame, ...] = (
    undo_frame,
    reset_frame,
    rollback_frame,
    restore_frame,
    rule_frame,
    swap_frame,
    replace_frame,
    move_frame,
    shift_frame,
    spared_frame,
    remove_frame,
    done_frame,
    set_frame,
    gets_frame,
    add_frame,
    fragment_frame,
    statement_frame,
    todo_frame,
)
