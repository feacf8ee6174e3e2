"""joining: clauses that say who takes part, and where something belongs."""

from __future__ import annotations

import re
from dataclasses import replace

from doxa.core.tasks import NodeKind, TaskValue
from doxa.tasks.adding import add_items, new_task, people_of, put_slot
from doxa.tasks.changing import move_to
from doxa.tasks.phrases import Element, elements
from doxa.tasks.reading import Clause, lacks
from doxa.tasks.roles import objects, subject
from doxa.tasks.scene import Scene, is_crew
from doxa.tasks.taking import people_slot

__all__ = ["belongs_frame", "crew_frame", "day_frame", "joins_frame", "located_frame", "stand_in_frame"]

JOINING = frozenset("join come attend".split())
BELONGING = frozenset("be go belong sit fit come live stay".split())
PLACING = ("in", "on", "under", "with", "at", "to", "into", "onto", "next to", "beside", "by", "near", "behind")


def crew_frame(scene: Scene, clause: Clause) -> str | None:
    """ "On the panel are Olga, Ravi and Sam", "the team is Ana and Ben": who the people of a task are."""
    if clause.verb != "be" or clause.mood != "statement" or clause.negated:
        return None
    said = elements(clause.subject, scene.text, scene.typed)
    names = [one for one in (*said, *(inner for one in said for _, inner in one.attached)) if is_crew(one.text)]
    whom = [one for one in objects(scene, clause) if one.text]
    root = scene.root()
    if not names or root is None or not whom or not all(one.person or one.names for one in whom):
        return None
    add_items(scene, people_of(scene, root, names[0].text), whom)
    return "new"


def day_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Thursdays are squats, lunges and planks", "on Mondays I do rowing and planks": what a day holds."""
    if clause.mood != "statement" or clause.negated or clause.mark or clause.verb not in ("be", "do", "have", "play"):
        return None
    said = elements(clause.tokens[: clause.at], scene.text, scene.typed)
    flat = [one for element in said for one in (element, *(inner for _, inner in element.attached))]
    days = [one for one in flat if one.value is not None and WEEKDAY.fullmatch(one.text)]
    things = [one for one in objects(scene, clause) if one.words and not one.pronoun and not one.attached]
    if len(days) != 1 or len(things) < 2 or any(one.person or one.value is not None for one in things):
        return None
    day = days[0].text.rstrip("s")
    root = scene.root()
    key = (scene.editor.child(root, day) if root is not None else None) or new_task(scene, day, root)
    add_items(scene, key, things)
    scene.attend(key)
    return "new"


WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?", re.I)


def joins_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Petra joins the panel", "cousin Lev is coming as well": one more of the people."""
    said = subject(scene, clause)
    if clause.verb == "invite" and clause.mood == "statement" and not clause.negated:
        return _invited(scene, clause)
    if clause.mood != "statement" or clause.verb not in JOINING or clause.negated or clause.values or said is None:
        return None
    root = scene.root()
    if root is None or not (said.person or said.names) or said.pronoun or scene.find(said):
        return None
    crew = any(is_crew(one.text) for one in objects(scene, clause))
    spoken = next((key for key in scene.visible_focus() if people_slot(scene, key) is not None), root)
    if not crew and people_slot(scene, spoken) is None:
        return None
    add_items(scene, people_of(scene, spoken), [replace(said, attached=())])
    return "new"


UNABLE = re.compile(r"\b(?:lost|dropped|pulled|called in|off|busy|unable|quit|left|stuck|injured|retired|out)\b")


def stand_in_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Mrs Klein has lost her voice; Mr Abara will show us round": somebody takes somebody's place."""
    before = scene.before(clause)
    if before is None or clause.mood != "statement":
        return None
    said = subject(scene, replace(clause, wrapped=""))
    if said is None or clause.negated or not (said.person or said.names) or scene.find(said) or scene.touched:
        return None
    whom = [one for one in elements(before.subject, scene.text, scene.typed) if one.words]
    keys = [key for one in whom for key in scene.find(one) if scene.is_person(key)]
    if not keys or not (lacks(before.lowered) or UNABLE.search(before.lowered)):
        return None
    made = scene.editor.replace(keys[0], said.text, None)
    scene.touch(made)
    return "replace"


def _invited(scene: Scene, clause: Clause) -> str | None:
    """ "Tariq and Idris are invited too": more guests."""
    whom = [one for one in elements(clause.subject, scene.text, scene.typed) if one.person or one.names]
    root = scene.root()
    if not whom or root is None or not any(token.lemma == "be" for token in clause.tokens[: clause.at]):
        return None
    listed = root if is_crew(scene.editor.node(root).name) else people_of(scene, root)
    add_items(scene, listed, whom)
    scene.attend(root)
    return "new"


def belongs_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Dot should be with the twins", "the load test belongs under build": a thing that is there changes its place."""
    said = subject(scene, replace(clause, wrapped="")) if clause.mood == "statement" else None
    if said is None or clause.verb not in BELONGING or clause.negated or clause.values:
        return None
    things = [key for key in scene.find(replace(said, attached=())) if scene.editor.node(key).kind is NodeKind.ITEM]
    found = objects(scene, clause)
    places = [inner for one in found for prep, inner in one.attached if prep in PLACING]
    if clause.particle in ("with", "in", "under") and found:
        places = [replace(found[0], attached=()), *places]
    if not things and places and said.words and not said.pronoun and not said.person:
        return _goes(scene, clause, replace(said, attached=()), places[0])
    if not things or not places or any(one.text for one in found[:-1]):
        return None
    spots = [spot for key in scene.find(places[0]) if (spot := _holder(scene, key)) is not None]
    here = scene.editor.node(things[0]).parents
    if not spots or spots[0] in here or scene.is_person(things[0]) != scene.is_person(scene.find(places[0])[0]):
        return None
    name = scene.editor.node(spots[0]).name
    element = Element(text=name, words=())
    return "update" if move_to(scene, [said], element, target=spots[0]) else None


def _goes(scene: Scene, clause: Clause, said: Element, place: Element) -> str | None:
    """ "The lamp goes in the study": one more thing on a list."""
    lists = scene.find(replace(place, attached=()), accept=lambda key: bool(scene.editor.items(key)))
    if clause.verb not in ("go", "belong") or not lists or scene.find(said):
        return None
    add_items(scene, lists[0], [said])
    scene.attend(lists[0])
    return "new"


def _holder(scene: Scene, key: str) -> str | None:
    """Return what holds a thing: a list itself, or the list that an item is on."""
    node = scene.editor.node(key)
    if node.kind is not NodeKind.ITEM or scene.editor.items(key):
        return key if node.kind is not NodeKind.SLOT or scene.editor.items(key) else None
    return next((parent for parent in node.parents if scene.seen(parent)), None)


def located_frame(scene: Scene, clause: Clause) -> str | None:
    """ "It's in the Oak room", "the meeting is at Marta's place": where a task is."""
    said = subject(scene, replace(clause, wrapped=""))
    if clause.mood != "statement" or clause.verb != "be" or clause.negated or said is None or scene.root() is None:
        return None
    found = objects(scene, clause)
    place = found[0].attached[0] if len(found) == 1 and not found[0].text and len(found[0].attached) == 1 else None
    if place is None or place[0] not in ("in", "at") or not place[1].words or place[1].value is not None:
        return None
    keys = scene.find(said) if said.words or said.pronoun in ("it", "that", "this", "one") else []
    task = next((key for key in keys for key in (key, *scene.editor.ancestors(key)) if _is_event(scene, key)), None)
    if task is None or scene.find(replace(place[1], attached=()), accept=lambda key: bool(scene.editor.items(key))):
        return None
    put_slot(scene, task, "location", TaskValue(text=place[1].text))
    scene.attend(task)
    return "update"


def _is_event(scene: Scene, key: str) -> bool:
    """Tell whether a node is a task with a time, or with people."""
    timed = any(scene.words(slot) & {"time", "date", "day"} for slot in scene.slots(key))
    return scene.editor.node(key).kind is NodeKind.TASK and (timed or people_slot(scene, key) is not None)
