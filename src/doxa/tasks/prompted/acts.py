"""acts: one act of a model -> edits, through the editor, as far as they hold.

An act names nodes by path; what it writes is held against turn and forest (`Support`). Undo and rollback are done by
the engine from the history: a model says which change, or which earlier value, and writes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from doxa.core.errors import NotFoundError, TaskError
from doxa.core.tasks import Dependency, NodeKind, TaskStatus, TaskValue
from doxa.language import stems
from doxa.tasks.adding import people_of
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.prompted.material import GONE
from doxa.tasks.prompted.shapes import COARSE, SAYING
from doxa.tasks.prompted.support import Refusal, Support, line
from doxa.tasks.scene import Scene
from doxa.tasks.shifts import number_in
from doxa.tasks.taking import give, roll_back, split_task, take_back

__all__ = ["Desk"]

Act = Mapping[str, Any]
MOST_ROUNDS = 1000
"""Highest bound of a loop."""
ASSIGNED = "assigned to"
"""The slot for who does something."""


@dataclass(slots=True, kw_only=True)
class Desk:
    """A turn under way, on which the acts of a model are carried out."""

    scene: Scene
    support: Support
    places: Mapping[str, str]
    """Path -> id, see `places_of`."""
    made: dict[str, str] = field(default_factory=dict)
    """What acts added: "+1" -> id."""
    undone: bool = False
    alone: bool = False
    """Whether the turn asks for nothing but what settles conditions."""

    def do(self, act: Act) -> None:
        """Carry out one act, or leave all as it was; those that only say something change nothing here.

        Raises:
            Refusal: it does not hold against the turn or the forest, or the tasks do not allow it.
        """
        intent = act["intent"]
        if intent not in SAYING:
            mark, made, undone = self.scene.editor.mark(), dict(self.made), self.undone
            try:
                self._change(act)
            except Refusal:
                self.scene.editor.back(mark)
                self.scene.forget()
                self.made, self.undone = made, undone
                raise
        if intent in COARSE:
            self.scene.intents.append(COARSE[intent])

    def _change(self, act: Act) -> None:
        self.support.quoted(act.get("quote", ""))
        try:
            ACTS[act["intent"]](self, act)
        except NotFoundError as exc:
            raise Refusal("there never was such a value or change") from exc
        except TaskError as exc:  # its words may be those of a task that is forgotten later
            raise Refusal(f"the tasks do not allow it ({type(exc).__name__})") from exc

    # -- what an act names

    def node(self, place: object, *, gone: bool = False) -> str:
        """Return the id of a node; out of sight only with `gone`.

        Raises:
            Refusal: there is none.
        """
        text = str(place)
        if text.startswith("+"):
            key = self.made.get(text, "")
            if not key:
                raise Refusal("it names what no act before it adds")
        else:
            key = self.places.get(text, "")
            bare = text.removeprefix(GONE)
            if not key and gone:
                key = self.places.get(f"{GONE}{bare}", "") or self.places.get(bare, "")
        if not key or self.scene.editor.get(key) is None:
            raise Refusal("it names a task that is not there")
        if not gone and not self.scene.seen(key):
            raise Refusal("it names a task that was taken out")
        return key

    def targets(self, act: Act, *, gone: bool = False) -> list[str]:
        """Return the ids of the nodes that an act is about, at least one.

        Raises:
            Refusal: there are none.
        """
        found = list(dict.fromkeys(self.node(place, gone=gone) for place in act.get("targets", ())))
        if not found:
            raise Refusal("it names no task")
        return found

    def under(self, act: Act) -> str | None:
        """Return the node that an act puts something under."""
        return self.node(act["under"]) if act.get("under") is not None else None

    def name(self, act: Act, kind: NodeKind) -> str:
        """Return the name that an act gives to something of a kind."""
        return self.support.name(act.get("name"), kind)

    def keep(self, act: Act, key: str) -> str:
        """Note under which id later acts may name what an act added."""
        number = str(act.get("id", ""))
        if number in self.made and self.made[number] != key:
            raise Refusal("it gives an id that another act has given")
        self.made[number] = key
        return key


# -- what is new


def _new_task(desk: Desk, act: Act) -> None:
    under, name = desk.under(act), desk.name(act, NodeKind.TASK)
    if act.get("rounds") is not None:
        bound = _bound(desk, act["rounds"])
        key = desk.scene.editor.add(name, under, kind=NodeKind.LOOP, bound=bound)
    else:
        key = _added(desk, under, NodeKind.TASK, name)
    desk.scene.touch(desk.keep(act, key))


def _new_slot(desk: Desk, act: Act) -> None:
    under, name = desk.node(act.get("under")), desk.name(act, NodeKind.SLOT)
    key = desk.keep(act, _added(desk, under, NodeKind.SLOT, name))
    _handed_down(desk, under, name)
    if act.get("value") is not None:
        old = desk.scene.editor.value(key)
        desk.scene.editor.set(key, desk.support.value(act["value"], old))
    desk.scene.touch(key)


def _add_items(desk: Desk, act: Act) -> None:
    under, items = desk.node(act.get("under")), act.get("items", ())
    if not items:
        raise Refusal("it adds nothing")
    if desk.scene.editor.value(under) is not None:
        raise Refusal("a slot that has a value is no list: its value can be added to")
    for item in items:
        key = _added(desk, under, NodeKind.ITEM, desk.name(item, NodeKind.ITEM))
        desk.scene.touch(desk.keep(item, key))


def _copy(desk: Desk, act: Act) -> None:
    scene, source = desk.scene, desk.node(act.get("target"))
    without = [desk.node(place) for place in act.get("without", ())]
    made = desk.keep(act, scene.editor.copy(source, desk.name(act, scene.editor.node(source).kind), without))
    scene.touch(made)


def _added(desk: Desk, under: str | None, kind: NodeKind, name: str) -> str:
    """Return the child of a node that has a name, brought back where it was taken out, or a new one."""
    editor = desk.scene.editor
    key = _named_like(desk, under, name, kind)
    if key is None:
        return editor.add(name, under, kind=kind)
    if under is not None and not desk.scene.seen(key):
        editor.link(key, under)
    return key


def _named_like(desk: Desk, under: str | None, name: str, kind: NodeKind) -> str | None:
    """Return the child of a node that has a name already; one in sight comes first."""
    editor, wanted = desk.scene.editor, stems(name) or name.casefold()
    if under is None or kind is NodeKind.TASK:
        return None
    nodes = (editor.node(child) for child in editor.all_children(under))
    same = (
        node.node_id for node in nodes if node.kind is kind and (stems(node.name) or node.name.casefold()) == wanted
    )
    return min(same, key=lambda key: (not desk.scene.seen(key), -int(key[1:])), default=None)


def _handed_down(desk: Desk, part: str, name: str) -> None:
    """Put a slot of a whole out of sight that a part of it now has for itself, until the parts are one again."""
    for whole in _wholes(desk, [part]):
        slot = desk.scene.editor.child(whole, name)
        if slot is not None and desk.scene.editor.node(slot).kind is NodeKind.SLOT:
            desk.scene.editor.status(slot, TaskStatus.REPLACED)


def _wholes(desk: Desk, parts: Iterable[str]) -> list[str]:
    """Return the tasks of which these are parts."""
    needed = (one for part in parts for one in desk.scene.editor.node(part).depends)
    return list(dict.fromkeys(one.on for one in needed if one.text == "part" and desk.scene.editor.get(one.on)))


def _bound(desk: Desk, rounds: object) -> int:
    """Return how often a loop is gone through at most, in the words of the turn."""
    number = number_in(rounds) if isinstance(rounds, str) and desk.support.said(rounds) else None
    if number is None or not 1 <= number <= MOST_ROUNDS:
        raise Refusal("a loop has no bound in the turn")
    return int(number)


# -- what waits, and what follows


def _hold(desk: Desk, act: Act) -> None:
    """Keep an instruction until what it depends on is settled."""
    scene, condition, instruction = desk.scene, line(act.get("condition")), line(act.get("instruction"))
    if not desk.support.said(instruction) or not desk.support.said(condition):
        raise Refusal("a condition and its instruction are not in the words of the turn")
    key = scene.editor.add(instruction, desk.under(act) or scene.root(), kind=NodeKind.TASK)
    scene.editor.depend(key, Dependency(on="", kind="condition", text=condition))
    scene.touched.append(key)


def _settle(desk: Desk, act: Act) -> None:
    """Drop what waited for a condition; what it asks for, where that came true, is done by other acts."""
    scene, key = desk.scene, desk.node(act.get("target"), gone=True)
    node = scene.editor.node(key)
    if not node.waits:
        raise Refusal("it settles what waits for nothing")
    if act.get("holds") and desk.alone:
        raise Refusal("the condition came true, and no act does what was to be done then")
    scene.editor.settle(key, holds=False)
    scene.touched.append(key)
    if act.get("holds"):
        scene.editor.status(key, TaskStatus.REPLACED)
    else:
        scene.notes.append(f"“{node.name}” is off, since its condition did not come true")


def _needs(desk: Desk, act: Act) -> None:
    editor, quote = desk.scene.editor, line(act.get("quote"))
    before = list(dict.fromkeys(desk.node(place) for place in act.get("on", ())))
    if not before:
        raise Refusal("it does not say what has to be done before")
    for key in desk.targets(act):
        for on in before:
            editor.depend(key, Dependency(on=on, kind="before", text=quote))
            desk.scene.notes.append(f"{editor.node(key).name} waits for {editor.node(on).name}")
        desk.scene.touch(key)


def _follows(desk: Desk, act: Act) -> None:
    key, source = desk.node(act.get("target")), desk.node(act.get("on"))
    shift = desk.support.distance(float(act.get("amount", 0)), str(act.get("unit") or ""))
    _freed(desk, key)
    needed = Dependency(on=source, kind="derived", shift=shift.amount, unit=shift.unit, text=line(act.get("quote")))
    desk.scene.editor.depend(key, needed)
    desk.scene.touch(key)


def _fixed(desk: Desk, act: Act) -> None:
    """Let values stay where what they were derived from moves."""
    for key in desk.targets(act):
        for one in (key, *desk.scene.slots(key)):
            _freed(desk, one)
            if (value := desk.scene.editor.value(one)) is not None:
                desk.scene.editor.set(one, value)
        desk.scene.touch(key)


def _freed(desk: Desk, key: str) -> None:
    """Let a node follow nothing any more."""
    for old in desk.scene.editor.node(key).depends:
        if old.kind == "derived":
            desk.scene.editor.undepend(key, old)


# -- what changes


def _set_value(desk: Desk, act: Act) -> None:
    key = desk.node(act.get("target"))
    _revalued(desk, key, act.get("value"))
    desk.scene.touch(key)


def _revalued(desk: Desk, key: str, said: object) -> None:
    """Give a slot a value, or a task a value in its slot of that kind."""
    scene, node = desk.scene, desk.scene.editor.node(key)
    if node.kind is NodeKind.SLOT and scene.editor.items(key):
        raise Refusal("a list has no value: its items are added, taken out or replaced")
    if node.kind is NodeKind.SLOT or node.value is not None:
        scene.editor.set(key, desk.support.value(said, node.value))
        return
    slots = [slot for slot in scene.slots(key) if scene.editor.value(slot) is not None]
    if len(slots) == 1:
        scene.editor.set(slots[0], desk.support.value(said, scene.editor.value(slots[0])))
        scene.touch(slots[0])
    else:
        give(scene, key, desk.support.value(said, None))


def _add_value(desk: Desk, act: Act) -> None:
    """Join a value to what a slot has; a list gets one more item."""
    key = desk.node(act.get("target"))
    old = desk.scene.editor.value(key)
    if old is None:
        desk.scene.touch(_added(desk, key, NodeKind.ITEM, desk.support.name(act.get("value"), NodeKind.ITEM)))
        return
    more = desk.support.value(act.get("value"), None)
    if not set(words_of(more.text)) <= set(words_of(old.text)):
        desk.scene.editor.set(key, TaskValue(text=f"{old.text}, {more.text}" if old.text else more.text))
    desk.scene.touch(key)


def _assign(desk: Desk, act: Act) -> None:
    """Say who does something: a slot has them for its value, anything else in a slot of its own."""
    key = desk.node(act.get("target"))
    node = desk.scene.editor.node(key)
    if node.kind is not NodeKind.SLOT:
        key = _added(desk, key, NodeKind.SLOT, ASSIGNED)
    desk.scene.editor.set(key, desk.support.value(act.get("who"), None))
    desk.scene.touch(key)


def _rename(desk: Desk, act: Act) -> None:
    key = desk.node(act.get("target"))
    desk.scene.editor.rename(key, desk.name(act, desk.scene.editor.node(key).kind))
    desk.scene.touch(key)


def _status(desk: Desk, act: Act) -> None:
    for key in desk.targets(act):
        desk.scene.editor.status(key, TaskStatus(act.get("status", "done")))
        desk.scene.touch(key)


def _move(desk: Desk, act: Act) -> None:
    """Put nodes under another one, or under one more; people go to the list of people of a task."""
    scene, under, stays = desk.scene, desk.under(act), bool(act.get("stays"))
    for key in desk.targets(act, gone=True):
        if under is None:
            if stays:
                raise Refusal("it does not say where to put what is there")
            scene.editor.move(key, None)
        else:
            room = under
            if scene.is_person(key) and scene.editor.node(under).kind is NodeKind.TASK:
                room = people_of(scene, under)
            (scene.editor.link if stays or not scene.seen(key) else scene.editor.move)(key, room)
            scene.attend(room)
        scene.touch(key)


def _swap(desk: Desk, act: Act) -> None:
    """Let two values, or two things, change places."""
    scene, one, other = desk.scene, desk.node(act.get("target")), desk.node(act.get("other"))
    if one == other:
        raise Refusal("nothing changes places with itself")
    pairs = _same_slots(scene, one, other)
    if pairs:
        for pair in pairs:
            scene.editor.swap(*pair)
    elif scene.editor.node(one).kind is scene.editor.node(other).kind is NodeKind.ITEM:
        for key, links in ((one, scene.editor.links(other)), (other, scene.editor.links(one))):
            scene.editor.relink(key, links)
    else:
        scene.editor.swap(one, other)
    scene.touch(one)
    scene.touch(other)


def _same_slots(scene: Scene, one: str, other: str) -> list[tuple[str, str]]:
    """Return the slots of two things that have the same name, where both have no value and no list of their own."""
    if any(scene.editor.value(key) is not None or scene.editor.items(key) for key in (one, other)):
        return []
    named = ((slot, scene.editor.child(other, scene.editor.node(slot).name)) for slot in scene.slots(one))
    return [(slot, same) for slot, same in named if same is not None]


def _remove(desk: Desk, act: Act) -> None:
    scene, under = desk.scene, desk.under(act)
    for key in desk.targets(act):
        parents = [parent for parent in scene.editor.node(key).parents if scene.seen(parent)]
        if under is not None and under not in parents:
            raise Refusal("what it takes out is not in that list")
        if under is not None:
            scene.editor.unlink(key, under)
        else:
            scene.editor.remove(key)
        scene.touched.append(key)
        scene.attend(*parents[:1])


def _replace(desk: Desk, act: Act) -> None:
    scene, under = desk.scene, desk.under(act)
    new = ""
    for key in desk.targets(act):
        node = scene.editor.node(key)
        if node.kind is NodeKind.SLOT and node.value is not None:  # what it has is what is replaced
            _revalued(desk, key, act.get("name"))
            scene.touch(key)
            continue
        name = desk.name(act, node.kind)
        if stems(node.name) == stems(name):
            raise Refusal("nothing takes the place of itself")
        new = scene.editor.replace(key, name, None if under is None else [under])
        scene.touched.append(key)
        scene.touch(new)
    if new:
        desk.keep(act, new)


# -- ways back


def _rollback(desk: Desk, act: Act) -> None:
    scene = desk.scene
    for key in desk.targets(act, gone=True):
        if not scene.seen(key):
            _restored(desk, key)
        elif act.get("value") is not None:
            scene.editor.rollback(key, line(act["value"]))
            scene.touch(key)
        elif not roll_back(scene, key, "previous"):
            raise Refusal("there is no earlier value")


def _restored(desk: Desk, key: str) -> None:
    """Bring back what was taken out, with what it is under where that is gone as well."""
    scene = desk.scene
    scene.editor.restore(key)
    parents = scene.editor.node(key).parents
    if not scene.seen(key) and parents:
        scene.editor.restore(parents[0])
    if not scene.seen(key):
        raise Refusal("what it brings back stays out of sight")
    scene.touch(key)


def _undo(desk: Desk, act: Act) -> None:
    scene = desk.scene
    if desk.undone or scene.editor.changed():
        raise Refusal("one turn takes one change back, and does it first")
    desk.undone = True
    if not act.get("targets"):
        take_back(scene)
        return
    for key in desk.targets(act, gone=True):
        revisions = scene.editor.forest.revisions(key)
        if not revisions:
            raise Refusal("what it takes back never changed")
        scene.editor.undo(revisions[-1][0])
        scene.touched.append(key)


def _reset(desk: Desk, act: Act) -> None:
    scene, keep, under = desk.scene, desk.targets(act, gone=True), desk.node(act.get("under"))
    if any(under not in scene.editor.node(key).parents for key in keep):
        raise Refusal("what it keeps is not of that list")
    scene.editor.reset(under, keep)
    scene.touched.append(under)
    scene.attend(under)


def _split(desk: Desk, act: Act) -> None:
    key, parts = desk.node(act.get("target")), act.get("parts", ())
    names = [desk.name(part, NodeKind.TASK) for part in parts]
    if len(names) < 2:
        raise Refusal("it does not say what is divided into which parts")
    before = set(desk.scene.editor.changed())
    split_task(desk.scene, key, [Element(text=name, words=words_of(name)) for name in names])
    made = [one for one in desk.scene.group if one not in before]
    for part, one in zip(parts, made, strict=True):
        desk.keep(part, one)


def _merge(desk: Desk, act: Act) -> None:
    scene, keys = desk.scene, desk.targets(act)
    wholes = _wholes(desk, keys)
    together = list(dict.fromkeys((*wholes, *keys)))
    if len(together) < 2 or len(wholes) > 1:
        raise Refusal("it does not say what is made one")
    whole = scene.editor.merge(together)
    scene.touch(whole)


ACTS: Mapping[str, Callable[[Desk, Act], None]] = {
    "new_task": _new_task,
    "new_slot": _new_slot,
    "add_items": _add_items,
    "copy": _copy,
    "hold": _hold,
    "settle": _settle,
    "needs": _needs,
    "follows": _follows,
    "fixed": _fixed,
    "set_value": _set_value,
    "add_value": _add_value,
    "assign": _assign,
    "rename": _rename,
    "status": _status,
    "move": _move,
    "swap": _swap,
    "remove": _remove,
    "replace": _replace,
    "rollback": _rollback,
    "undo": _undo,
    "reset": _reset,
    "split": _split,
    "merge": _merge,
}
