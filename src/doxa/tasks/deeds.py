"""deeds: requests that open a list or a task of their own: "buy milk and eggs", "renew my card", "ask Wes to ..."."""

from __future__ import annotations

import re
from dataclasses import replace

from doxa.core.tasks import TaskValue, ValueKind
from doxa.tasks.adding import add_items, new_task, put_slot
from doxa.tasks.changing import scene_slot
from doxa.tasks.listing import read_list
from doxa.tasks.phrases import elements
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, verb_in
from doxa.tasks.scene import Scene
from doxa.tasks.telling import describe
from doxa.tasks.verbs import lexicon

__all__ = ["asked_frame", "kept_frame", "list_frame", "todo_frame"]

NO_DEEDS = frozenset("be have know think see look say tell ask let keep leave try hope remember forget go do".split())
LIST_OF = {
    "buy": "shopping list",
    "get": "shopping list",
    "need": "shopping list",
    "order": "order",
    "pack": "packing list",
    "bring": "packing list",
    "take": "packing list",
    "invite": "guest list",
}


def list_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Pack rolls, cheese and grapes for the picnic", "buy milk and eggs": a list, named by what it is for."""
    if clause.mood not in ("request", "statement") or clause.negated or clause.mark:
        return None
    found = objects(scene, clause)
    things = [one for one in found if one.words and not one.pronoun and one.value is None]
    timed = any(one.value is not None and one.value.kind in (ValueKind.DATE, ValueKind.CLOCK) for one in clause.values)
    if len(things) < 2 or len(things) != len(found) or clause.verb not in LIST_OF or timed or clause.listed:
        return None
    purposes = [inner for one in things for inner in one.with_prep("for") if inner.words and not inner.person]
    if any(inner.value is not None for one in things for prep, inner in one.attached if prep != "quantity"):
        return None
    if scene.root() is not None and (not purposes or scene.find(purposes[0])):
        return None
    key = new_task(scene, purposes[0].text if purposes else LIST_OF[clause.verb])
    for one in things:
        bare = replace(one, attached=tuple(pair for pair in one.attached if pair[1] not in purposes))
        add_items(scene, key, [bare])
    scene.attend(key)
    return "new"


def asked_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Ask Wes to hoover the stairs": a deed with who does it."""
    if clause.mood != "request" or clause.verb not in ("ask", "get", "tell") or clause.values:
        return None
    to = next((i for i, token in enumerate(clause.rest[:5]) if token.lower == "to" and token.upos == "PART"), 0)
    whom = elements(clause.rest[:to], scene.text, scene.typed)
    deed = [one for one in elements(clause.rest[to + 2 :], scene.text, scene.typed) if one.words]
    if not to or not whom or not (whom[0].person or whom[0].names) or not deed or deed[0].pronoun:
        return None
    found, root = (whom[0].text, deed[0]), scene.root()
    if root is None:
        scene_slot(scene, None, found[1].text, TaskValue(text=found[0]))
    else:
        put_slot(scene, root, found[1].text, TaskValue(text=found[0]))
    return "new"


def kept_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Can you keep track of the fish tank?", "start a list for the party": what a list is to be kept of."""
    tracked = re.search(r"\b(?:track of|a (?:list|record|note|tally) (?:of|for)|tabs on)\b", clause.lowered)
    if clause.mood != "request" or tracked is None or clause.verb not in ("keep", "start", "make", "begin", "open"):
        return None
    offset = clause.tokens[0].start + clause.text.lower().find(tracked[0]) + len(tracked[0])
    ends = clause.listed[0][0].start if clause.listed else clause.tokens[-1].end
    small = ("what", "'s", "is", "in", "on", "the")
    tail = [token for token in clause.tokens if offset <= token.start < ends and token.lower not in small]
    found = [one for one in elements(tail, scene.text, scene.typed) if one.words]
    if not found or scene.find(found[0]):
        return None
    key = new_task(scene, found[0].text)
    read_list(scene, clause, key)
    scene.attend(key)
    return "new"


def todo_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Renew my library card by the 20th": a deed that no other frame knows is a task of its own."""
    planned = clause.mood == "request" and not clause.negated and clause.mark == ""
    if (
        not planned
        or clause.verb in NO_DEEDS
        or any(verb_in(clause, kind) for kind in lexicon()["verbs"] if kind != "add")
    ):
        return None
    found = [one for one in objects(scene, clause) if one.words or one.value is not None or one.attached]
    for_what = found[0].with_prep("for") if found and not found[0].words else []
    found = [*for_what[:1], *found] if for_what else found
    thing = found[0] if found and found[0].words and not found[0].pronoun else None
    if thing is None or thing.value is not None or scene.find(replace(thing, attached=())):
        return None
    key = new_task(scene, thing.text if verb_in(clause, "add") else f"{clause.verb} {thing.text}")
    scene.editor.alias(key, thing.text)
    describe(scene, key, clause, found, thing)
    scene.attend(key)
    return "new"
