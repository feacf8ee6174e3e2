"""acts: one act of a model -> edits, through the editor, as far as they hold.

An act names nodes by path; what it writes is held against turn and forest (`Support`). Undo and rollback are done by
the engine from the history: a model says which change, or which earlier value, and writes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from doxa.backends.parser import Parser
from doxa.core.errors import NotFoundError, TaskError
from doxa.core.tasks import Dependency, NodeKind, TaskStatus
from doxa.memory import stems
from doxa.tasks.adding import people_of
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.prompted.material import GONE
from doxa.tasks.prompted.reading import SAYING
from doxa.tasks.prompted.support import Refusal, Support
from doxa.tasks.scene import Scene
from doxa.tasks.shifts import number_in
from doxa.tasks.taking import give, roll_back, split_task, take_back
from doxa.tasks.trim import run

__all__ = ["Desk"]

Act = Mapping[str, Any]
MOST_ROUNDS = 1000
"""Highest bound of a loop."""


@dataclass(slots=True, kw_only=True)
class Desk:
    """A turn under way, on which the acts of a model are carried out."""

    scene: Scene
    support: Support
    parser: Parser
    places: Mapping[str, str]
    """Path -> id, see `places_of`."""
    made: list[str] = field(default_factory=list)
    """What acts added: "+1" is the first of them."""
    undone: bool = False
    proposed: bool = False
    """Whether a change is only proposed, in a question."""

    def do(self, act: Act) -> None:
        """Carry out one act; those that only say something change nothing here.

        Raises:
            Refusal: it does not hold against the turn or the forest, or the tasks do not allow it.
        """
        intent = act["intent"]
        self.scene.intents.append(intent)
        if intent in SAYING:
            return
        self.proposed |= not self.support.wanted(act.get("quote", ""))
        try:
            ACTS[intent](self, act)
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
        if text.startswith("+") and text[1:].isdigit():
            number = int(text[1:])
            if not 0 < number <= len(self.made):
                raise Refusal("it names what no act before it adds")
            key = self.made[number - 1]
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
        """Return the ids of the nodes that an act is about."""
        return list(dict.fromkeys(self.node(place, gone=gone) for place in act.get("targets", ())))

    def under(self, act: Act) -> str | None:
        """Return the node that an act puts something under."""
        return self.node(act["under"]) if act.get("under") is not None else None


# -- what is new


def _new(desk: Desk, act: Act) -> None:
    under, names, shared = desk.under(act), act.get("names", ()), desk.targets(act, gone=True)
    if act.get("condition"):
        _held(desk, act, under)
        return
    if not names and not shared:
        raise Refusal("it adds nothing")
    if shared and under is None:
        raise Refusal("it does not say where to put what is there")
    keys = [_put(desk, key, under) for key in shared if under is not None]
    kind = _kind(desk, act, under, len(names))
    for name in names:
        keys.append(_added(desk, act, under, kind, name))
        desk.made.append(keys[-1])
    _depend(desk, act, keys)


def _kind(desk: Desk, act: Act, under: str | None, count: int) -> NodeKind:
    """Return what is new, also where the model does not say it."""
    if act.get("kind"):
        kind = NodeKind(act["kind"])
    elif act.get("value"):
        kind = NodeKind.SLOT
    elif under is not None and (count > 1 or desk.scene.editor.items(under)):
        kind = NodeKind.ITEM
    else:
        kind = NodeKind.TASK
    if kind is NodeKind.ITEM and under is None:
        raise Refusal("it does not say which list an item is for")
    return kind


def _put(desk: Desk, key: str, under: str) -> str:
    """Put a node that is there under one more; people go to the list of people."""
    scene = desk.scene
    if scene.is_person(key) and scene.editor.node(under).kind is NodeKind.TASK:
        under = people_of(scene, under)
    scene.editor.link(key, under)
    scene.touch(key)
    scene.attend(under)
    return key


def _added(desk: Desk, act: Act, under: str | None, kind: NodeKind, said: object) -> str:
    """Add a node; one of that name that is there is taken, and one that was taken out comes back."""
    scene, editor = desk.scene, desk.scene.editor
    name = desk.support.name(said, kind)
    value, bound = act.get("value") if act.get("follows") is None else None, None
    if kind is NodeKind.LOOP:
        bound = _bound(desk, value)
        value = None
    key = _named_like(desk, under, name, kind)
    if key is None:
        given = None if value is None else desk.support.value(value, None)
        key = editor.add(name, under, kind=kind, value=given, bound=bound)
        if kind is NodeKind.SLOT and under is not None:
            _handed_down(desk, under, name)
    else:
        if under is not None and not scene.seen(key):
            editor.link(key, under)
        if value is not None:
            editor.set(key, desk.support.value(value, editor.value(key)))
    scene.touch(key)
    return key


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


def _named_like(desk: Desk, under: str | None, name: str, kind: NodeKind) -> str | None:
    """Return the child of a node that has a name already; one in sight comes first."""
    editor, wanted = desk.scene.editor, stems(name) or name.casefold()
    if under is None or kind in (NodeKind.TASK, NodeKind.LOOP):
        return None
    nodes = (editor.node(child) for child in editor.all_children(under))
    same = (
        node.node_id for node in nodes if node.kind is kind and (stems(node.name) or node.name.casefold()) == wanted
    )
    return min(same, key=lambda key: (not desk.scene.seen(key), -int(key[1:])), default=None)


def _bound(desk: Desk, value: object) -> int:
    """Return how often a loop is gone through at most, in the words of the turn."""
    number = number_in(value) if isinstance(value, str) and desk.support.said(value) else None
    if number is None or not 1 <= number <= MOST_ROUNDS:
        raise Refusal("a loop has no bound in the turn")
    return int(number)


def _held(desk: Desk, act: Act, under: str | None) -> None:
    """Keep an instruction until what it depends on is settled, as `hold` does."""
    scene, names, condition = desk.scene, act.get("names", ()), " ".join(str(act["condition"]).split())
    if len(names) != 1 or not desk.support.said(names[0]) or not desk.support.said(condition):
        raise Refusal("a condition and its instruction are not in the words of the turn")
    key = scene.editor.add(desk.support.name(names[0], NodeKind.TASK), under or scene.root(), kind=NodeKind.TASK)
    scene.editor.depend(key, Dependency(on="", kind="condition", text=condition))
    scene.touched.append(key)
    desk.made.append(key)


def _depend(desk: Desk, act: Act, keys: Sequence[str]) -> None:
    """Let nodes wait for others, or follow one."""
    editor, quote = desk.scene.editor, " ".join(str(act.get("quote", "")).split())
    for on in dict.fromkeys(desk.node(needed) for needed in act.get("needs", ())):
        for key in keys:
            editor.depend(key, Dependency(on=on, kind="before", text=quote))
            desk.scene.notes.append(f"{editor.node(key).name} waits for {editor.node(on).name}")
    if act.get("follows") is None:
        return
    source, shift = desk.node(act["follows"]), desk.support.distance(act.get("value"))
    for key in keys:
        for old in editor.node(key).depends:
            if old.kind == "derived":
                editor.undepend(key, old)
        needed = Dependency(on=source, kind="derived", shift=shift.amount, unit=shift.unit, text=quote)
        editor.depend(key, needed)


# -- what changes


def _update(desk: Desk, act: Act) -> None:
    keys = desk.targets(act, gone=act.get("holds") is not None)
    if not keys:
        raise Refusal("it names no task")
    if act.get("holds") is not None:
        _settled(desk, keys, holds=bool(act["holds"]))
        return
    under, names = desk.under(act), act.get("names", ())
    fields = ("value", "status", "under", "needs", "follows")
    if not names and not any(act.get(name) is not None for name in fields):
        raise Refusal("it does not say what changes")
    if names and (len(names) > 1 or len(keys) > 1):
        raise Refusal("one task gets one name")
    for key in keys:
        if names:
            desk.scene.editor.rename(key, desk.support.name(names[0], desk.scene.editor.node(key).kind))
        if act.get("value") is not None and act.get("follows") is None:
            _revalued(desk, key, act["value"])
        if act.get("status") is not None:
            desk.scene.editor.status(key, TaskStatus(act["status"]))
        if under is not None:
            desk.scene.editor.move(key, under)
        desk.scene.touch(key)
    _depend(desk, act, keys)


def _revalued(desk: Desk, key: str, said: object) -> None:
    """Give a slot a value, or a task a value in its slot of that kind."""
    scene, node = desk.scene, desk.scene.editor.node(key)
    if node.kind is NodeKind.SLOT or node.value is not None:
        scene.editor.set(key, desk.support.value(said, node.value))
        return
    slots = [slot for slot in scene.slots(key) if scene.editor.value(slot) is not None]
    if len(slots) == 1:
        scene.editor.set(slots[0], desk.support.value(said, scene.editor.value(slots[0])))
        scene.touch(slots[0])
    else:
        give(scene, key, desk.support.value(said, None))


def _settled(desk: Desk, keys: Iterable[str], *, holds: bool) -> None:
    """Carry out, or drop, what waited for a condition, as the grammar does."""
    scene = desk.scene
    for key in keys:
        node = scene.editor.node(key)
        if not node.waits:
            raise Refusal("it settles what waits for nothing")
        scene.editor.settle(key, holds=False)
        scene.touched.append(key)
        if holds:
            run(scene, node.name, desk.parser)
        else:
            scene.notes.append(f"“{node.name}” is off, since its condition did not come true")


def _remove(desk: Desk, act: Act) -> None:
    scene, under, keys = desk.scene, desk.under(act), desk.targets(act)
    if not keys:
        raise Refusal("it names no task")
    for key in keys:
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
    scene, under, keys, names = desk.scene, desk.under(act), desk.targets(act), act.get("names", ())
    if keys and not names and act.get("value") is not None:
        for key in keys:
            _revalued(desk, key, act["value"])
            scene.touch(key)
        return
    if not keys or len(names) != 1:
        raise Refusal("it does not say what takes the place of what")
    for key in keys:
        name = desk.support.name(names[0], scene.editor.node(key).kind)
        if stems(scene.editor.node(key).name) == stems(name):
            raise Refusal("nothing takes the place of itself")
        new = scene.editor.replace(key, name, None if under is None else [under])
        scene.touched.append(key)
        scene.touch(new)
        desk.made.append(new)


# -- ways back


def _rollback(desk: Desk, act: Act) -> None:
    scene, keys = desk.scene, desk.targets(act, gone=True)
    if not keys:
        raise Refusal("it names no task")
    for key in keys:
        if not scene.seen(key):
            _restored(desk, key)
        elif act.get("value") is not None:
            scene.editor.rollback(key, " ".join(str(act["value"]).split()))
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
    scene, keys = desk.scene, desk.targets(act, gone=True)
    if desk.undone or scene.editor.changed():
        raise Refusal("one turn takes one change back, and does it first")
    desk.undone = True
    if not keys:
        take_back(scene)
        return
    for key in keys:
        revisions = scene.editor.forest.revisions(key)
        if not revisions:
            raise Refusal("what it takes back never changed")
        scene.editor.undo(revisions[-1][0])
        scene.touched.append(key)


def _reset(desk: Desk, act: Act) -> None:
    scene, keep, under = desk.scene, desk.targets(act, gone=True), desk.under(act)
    if under is None:
        above = [set(scene.editor.node(key).parents) for key in keep]
        common = sorted(set.intersection(*above)) if above else []
        under = next((key for key in common if scene.seen(key)), None)
    if under is None:
        raise Refusal("it does not say which list to reset")
    if any(under not in scene.editor.node(key).parents for key in keep):
        raise Refusal("what it keeps is not of that list")
    scene.editor.reset(under, keep)
    scene.touched.append(under)
    scene.attend(under)


def _split(desk: Desk, act: Act) -> None:
    keys, names = desk.targets(act), [desk.support.name(name, NodeKind.TASK) for name in act.get("names", ())]
    if len(keys) != 1 or len(names) < 2:
        raise Refusal("it does not say what is divided into which parts")
    before = set(desk.scene.editor.changed())
    split_task(desk.scene, keys[0], [Element(text=name, words=words_of(name)) for name in names])
    desk.made += [key for key in desk.scene.group if key not in before]


def _merge(desk: Desk, act: Act) -> None:
    scene, keys = desk.scene, desk.targets(act)
    wholes = _wholes(desk, keys)
    together = list(dict.fromkeys((*wholes, *keys)))
    if len(together) < 2 or len(wholes) > 1:
        raise Refusal("it does not say what is made one")
    whole = scene.editor.merge(together)
    scene.touch(whole)


ACTS: Mapping[str, Callable[[Desk, Act], None]] = {
    "new": _new,
    "update": _update,
    "remove": _remove,
    "replace": _replace,
    "rollback": _rollback,
    "undo": _undo,
    "reset": _reset,
    "split": _split,
    "merge": _merge,
}
