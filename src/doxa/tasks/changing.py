"""changing: other values, other places and rules for what is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.errors import TaskCycleError, TaskError
from doxa.core.tasks import NodeKind, TaskValue, ValueKind
from doxa.tasks.adding import add_items, put_slot, shape_of, slot_name, value_of
from doxa.tasks.amounts import GUESSED
from doxa.tasks.moving import in_month, nearest, shifted
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.scene import GENDERED, Scene, fits
from doxa.tasks.shifts import Shift

__all__ = [
    "apply_shift",
    "coerced",
    "is_slot",
    "move_to",
    "places_of",
    "replace_items",
    "set_value",
    "slots_alike",
    "swap_nodes",
    "swap_values",
]

CLOCKLIKE = range(1, 25)


def set_value(
    scene: Scene, target: Element | None, value: TaskValue, *, prep: str = "", hint: str = "", new: bool = True
) -> str | None:
    """Give what an element names another value, and return the slot; None where nothing fits.

    Args:
        scene: the turn under way.
        target: what is to have the value; None or a pronoun for what is spoken of.
        value: the new value.
        prep: the preposition before the value, which tells an hour from a number.
        hint: words that name the slot.
        new: whether a slot may be made.
    """
    slot = slot_for(scene, target, value, prep=prep, hint=hint)
    if slot is not None:
        old = scene.editor.value(slot)
        if target is not None and "number" in target.words and old is not None and shape_of(old) == "address":
            value = TaskValue(text=re.sub(r"\d+\w?", value.text, old.text, count=1))
        scene.editor.set(slot, coerced(old, value))
        scene.touch(slot)
        return slot
    if not new:
        return None
    return made_slot(scene, target, value, prep=prep, hint=hint)


def made_slot(scene: Scene, target: Element | None, value: TaskValue, *, prep: str, hint: str) -> str | None:
    """Make a slot for a value under what is spoken of."""
    whose = scene.find(Element(text="", pronoun=target.det)) if target is not None and target.det in GENDERED else []
    if target is not None and whose and target.words:
        return put_slot(scene, whose[0], target.text, value)
    if target is not None and target.words and not target.pronoun:
        things = scene.find(target, accept=lambda key: not is_slot(scene, key))
        slot = next(iter(scene.find(target, accept=lambda key: is_slot(scene, key))), None) if not things else None
        if slot is not None and _of_other_kind(scene.editor.value(slot), value):
            return put_slot(scene, slot, hint or slot_name(value, prep), value)
        owner = next((key for key in things if is_headed(scene, key, target)), None)
        if owner is not None:
            return put_slot(scene, owner, hint or slot_name(value, prep), value)
        split = parted(scene, target)
        if split is not None:
            return put_slot(scene, split[0], " ".join(split[1]), value)
        root = scene.root()
        if root is None:
            return scene_slot(scene, None, target.text, value)
        return scene_slot(scene, root, target.text, value)
    owner = owner_of(scene, things=value.kind not in (ValueKind.DATE, ValueKind.CLOCK))
    return None if owner is None else put_slot(scene, owner, hint or slot_name(value, prep), value)


def scene_slot(scene: Scene, parent: str | None, name: str, value: TaskValue) -> str:
    """Add a slot of its own name."""
    key = scene.editor.add(name, parent=parent, kind=NodeKind.SLOT, value=value)
    scene.touch(key)
    return key


def owner_of(scene: Scene, *, things: bool = True) -> str | None:
    """Return the node that a value without an address belongs to: the thing spoken of, not one of its slots.

    Without `things`, the task that an item is one of is meant: "it's on the 8th" is about the party, not the guest.
    """
    for key in scene.visible_focus():
        node = scene.editor.node(key)
        if not things and node.kind is NodeKind.ITEM:
            return scene.root_of(key)
        if node.kind is NodeKind.SLOT and node.parents:
            above = next((parent for parent in node.parents if scene.seen(parent)), None)
            if above is not None:
                return above
        return key
    return scene.root()


def coerced(old: TaskValue | None, value: TaskValue) -> TaskValue:
    """Return a value as the one before it was written: an hour as a time, a house number within its address."""
    if old is None:
        return value
    if (
        old.kind is ValueKind.CLOCK
        and value.kind is ValueKind.NUMBER
        and value.amount is not None
        and int(value.amount) in CLOCKLIKE
    ):
        hour = int(value.amount)
        afternoon = (old.amount or 0) >= 720
        minutes = hour * 60 + (720 if hour < 12 and (hour < 7 or (afternoon and hour < 8)) else 0)
        shown = f"{(hour - 1) % 12 + 1} {'pm' if minutes >= 720 else 'am'}"
        return TaskValue(text=shown, kind=ValueKind.CLOCK, amount=float(minutes))
    if old.kind is value.kind is ValueKind.CLOCK and value.unit == GUESSED:
        return nearest(old, value)
    if old.kind is value.kind is ValueKind.DATE:
        return in_month(old, value)
    if old.kind is ValueKind.MONEY and value.kind is ValueKind.NUMBER:
        return replace(value, kind=ValueKind.MONEY, unit=old.unit)
    if old.kind is ValueKind.QUANTITY and value.kind is ValueKind.NUMBER:
        said = re.sub(r"^\S+", value.text, old.text, count=1)
        return replace(value, kind=ValueKind.QUANTITY, unit=old.unit, text=said)
    return value


def slot_for(scene: Scene, target: Element | None, value: TaskValue, *, prep: str = "", hint: str = "") -> str | None:
    """Return the slot that a new value is for, or None.

    In this order: the slot that is named; a slot of the thing that is named, by the kind of the value; the slot changed
    last; a slot of what is spoken of, from the nearest thing outwards.
    """
    wanted = numeric(value, prep)
    whose = scene.find(Element(text="", pronoun=target.det)) if target is not None and target.det in GENDERED else []
    if target is not None and whose and target.words:  # "her income is 21,600"
        return scene.slot_named(whose[0], target.words)
    if target is not None and target.words and not target.pronoun and not target.ones:
        slot = next(iter(scene.find(target, accept=lambda key: is_slot(scene, key))), None)
        split = parted(scene, target)
        if split is not None:
            inner = scene.slot_named(split[0], split[1])
            if inner is not None:
                return inner
        if (
            slot is not None
            and not set(target.words) <= set(words_of(scene.editor.node(slot).name))
            and split is not None
        ):
            slot = None
        things = [
            key
            for key in scene.find(target, accept=lambda key: not is_slot(scene, key))
            if is_headed(scene, key, target)
        ]
        old = scene.editor.value(slot) if slot is not None else None
        if slot is not None and _of_other_kind(old, wanted):
            return scene.slot_of_kind(slot, wanted)
        if slot is not None and (not things or fits(old, wanted) or old is None):
            return slot
        for thing in things:
            inner = scene.slot_named(thing, words_of(hint)) if hint else None
            inner = inner or scene.slot_of_kind(thing, wanted)
            if inner is not None:
                return inner
            if scene.editor.value(thing) is not None and fits(scene.editor.value(thing), wanted):
                return thing
        partial = part_of_value(scene, target)
        return partial if things == [] else None
    meant = scene.find(target) if target is not None and (target.pronoun or target.ones or target.ordinal) else []
    return slot_spoken_of(scene, meant, wanted, hint)


TYPED = (ValueKind.DATE, ValueKind.CLOCK, ValueKind.MONEY, ValueKind.DURATION)


def _of_other_kind(old: TaskValue | None, new: TaskValue) -> bool:
    """Tell whether a thing with one value gets another one beside it: a day, and then a time."""
    return old is not None and old.kind in TYPED and new.kind in TYPED and old.kind is not new.kind


def numeric(value: TaskValue, prep: str) -> TaskValue:
    """Return a bare number behind "at" as the time it is."""
    if (
        value.kind is ValueKind.NUMBER
        and prep in ("at", "until", "till", "by")
        and value.amount is not None
        and int(value.amount) in CLOCKLIKE
    ):
        return replace(value, kind=ValueKind.CLOCK)
    return value


def is_headed(scene: Scene, key: str, target: Element) -> bool:
    """Tell whether the head of a phrase names a thing: "the Ghent trip" is a trip, "my doctor's email" is no doctor."""
    return target.words[-1] in scene.words(key)


def is_slot(scene: Scene, key: str) -> bool:
    """Tell whether a node is a slot."""
    return scene.editor.node(key).kind is NodeKind.SLOT


def parted(scene: Scene, target: Element) -> tuple[str, tuple[str, ...]] | None:
    """Part "banana bread day" into the thing and the words for its slot."""
    for size in range(len(target.words) - 1, 0, -1):
        for head, slot in ((target.words[:size], target.words[size:]), (target.words[-size:], target.words[:-size])):
            found = scene.find(
                replace(target, words=head, text=" ".join(head)), accept=lambda key: not is_slot(scene, key)
            )
            full = [key for key in found if set(head) <= scene.words(key)]
            if full and not set(slot) <= scene.words(full[0]):
                return full[0], slot
    return None


def part_of_value(scene: Scene, target: Element) -> str | None:
    """Return the address that a new house number is for; its text takes the number in."""
    if "number" not in target.words or not ({"house", "street", "door", "flat", "building"} & set(target.words)):
        return None
    for key in (*scene.visible_focus(), *scene.everything()):
        old = scene.editor.value(key)
        if old is not None and shape_of(old) == "address" and re.search(r"\d+", old.text):
            return key
    return None


def slot_spoken_of(scene: Scene, meant: Sequence[str], value: TaskValue, hint: str) -> str | None:
    """Return the slot that a value without an address is for."""
    for key in meant:
        if is_slot(scene, key) and (fits(scene.editor.value(key), value)):
            return key
    if (
        scene.last
        and scene.seen(scene.last)
        and is_slot(scene, scene.last)
        and scene.last in scene.touched
        and fits(scene.editor.value(scene.last), value)
        and not hint
    ):
        return scene.last
    chain: dict[str, None] = {}
    for key in (*meant, *scene.visible_focus()):
        chain[key] = None
        for above in scene.editor.ancestors(key):
            if scene.seen(above):
                chain.setdefault(above)
    for key in chain:
        if hint:
            inner = scene.slot_named(key, words_of(hint))
            if inner is not None:
                return inner
        if is_slot(scene, key) and not hint and fits(scene.editor.value(key), value):
            return key
        inner = scene.slot_of_kind(key, value)
        if inner is not None and not hint:
            return inner
    root = scene.root()
    if root is None or hint:
        return None
    return scene.slot_of_kind(root, value, deep=True)


def apply_shift(
    scene: Scene, target: Element | None, shift: Shift, *, hint: str = "", backward: bool = False
) -> str | None:
    """Move the value of what an element names by an amount; None where nothing can be moved so."""
    if not shift.sure and backward:
        shift = replace(shift, amount=-shift.amount)
    pool: list[str] = []
    if target is not None and (target.words or target.pronoun or target.ordinal or target.ones):
        meant = scene.find(target)
        split = parted(scene, target) if target.words else None
        inner = scene.slot_named(split[0], split[1]) if split else None
        pool = [inner] if inner else []
        for key in meant:
            pool += [key, *named_first(scene, scene.slots(key), hint)]
        if target.words and not target.pronoun and not pool:
            return None
    if not pool or target is None or target.pronoun:
        for key in (*([scene.last] if scene.last else []), *scene.visible_focus()):
            pool += [key, *named_first(scene, scene.slots(key), hint)]
            for above in scene.editor.ancestors(key):
                pool += scene.slots(above)
        pool += [key for key in scene.everything() if is_slot(scene, key)]
    if shift.unit and not re.match(r"minute|hour|day|night|week|month|year|fortnight|factor|quarter", shift.unit):
        numbers = [key for key in dict.fromkeys((*pool, *scene.everything())) if scene.seen(key)]
        pool = [key for key in numbers if counts(scene, key, shift.unit)]
        if not pool and shift.unit == "people":  # "12 more have signed up", where delegates are counted
            pool = [key for key in numbers if is_tally(scene, key)]
    if hint:
        asked = set(words_of(hint))
        pool = [key for key in (*pool, *scene.everything()) if is_slot(scene, key) and asked & scene.words(key)] or pool
    named = target is not None and bool(target.words)
    for key in dict.fromkeys(pool):
        if not scene.seen(key) or scene.editor.value(key) is None:
            continue
        if not named and any(one.kind == "derived" for one in scene.editor.node(key).depends):
            continue  # what follows from a rule is not what "push it back" is about
        old = scene.editor.value(key) or TaskValue(text="")
        moved = shifted(old, shift)
        if moved is not None:
            scene.moved = (key, old, shift)
            scene.editor.set(key, moved)
            scene.touch(key)
            return key
    return None


def named_first(scene: Scene, slots: list[str], hint: str) -> list[str]:
    """Return slots with those that a hint names in front."""
    asked = set(words_of(hint)) if hint else set()
    return sorted(slots, key=lambda key: not (asked & scene.words(key)))


UNITS = {
    "kilometre": "km",
    "kilometer": "km",
    "metre": "m",
    "meter": "m",
    "kilo": "kg",
    "gram": "g",
    "litre": "l",
    "k": "km",
}


def unit_word(unit: str) -> str:
    """Return a unit in its short form: "kilometres" are km."""
    word = words_of(unit)[-1] if unit else ""
    return UNITS.get(word, word)


def is_tally(scene: Scene, key: str) -> bool:
    """Tell whether a slot counts something: "delegates: 80"."""
    value = scene.editor.value(key)
    return value is not None and value.kind is ValueKind.NUMBER and bool(value.unit)


def counts(scene: Scene, key: str, unit: str) -> bool:
    """Tell whether a slot counts things of a name: "30 people" counts people, and so does the slot "guests"."""
    value = scene.editor.value(key)
    if value is None or value.amount is None or value.kind not in (ValueKind.NUMBER, ValueKind.QUANTITY):
        return False
    word = unit_word(unit)
    above = [scene.editor.node(parent).name for parent in scene.editor.node(key).parents]
    names = {word for name in (scene.editor.node(key).name, *above) for word in words_of(name)}
    names.add(unit_word(value.unit or ""))
    return word in names or (
        word in ("people", "person", "guest", "one") and bool(names & {"people", "guest", "person"})
    )


def replace_items(
    scene: Scene,
    old: Sequence[Element],
    new: Sequence[Element],
    *,
    where: Element | None = None,
    everywhere: bool = False,
) -> bool:
    """Put one thing in the place of another, in some lists or wherever it is (section 4.2 of the paper: `replaces`)."""
    done = False
    within = [] if where is None else places_of(scene, where)
    for before, after in zip(
        old, new if len(new) == len(old) else [*new, *[new[-1]] * (len(old) - len(new))], strict=False
    ):
        found = scene.find(before)
        found = (
            found
            if within == [] or before.pronoun
            else [key for key in found if set(scene.editor.node(key).parents) & set(within)] or found
        )
        for key in found[:1] if not before.ones else found:
            done = _replaced(scene, key, after, within, everywhere=everywhere) or done
    extra = list(new[len(old) :]) if old and len(new) > len(old) else []
    if extra and done and scene.touched:
        parents = [parent for parent in scene.editor.node(scene.touched[-1]).parents if scene.seen(parent)]
        for parent in parents:
            add_items(scene, parent, extra)
    return done


def _replaced(scene: Scene, key: str, after: Element, within: Sequence[str], *, everywhere: bool) -> bool:
    node = scene.editor.node(key)
    if node.kind is NodeKind.ITEM:
        parents = [parent for parent in within if parent in node.parents]
        known = (
            scene.find(after, accept=lambda one: scene.editor.node(one).kind is NodeKind.ITEM, hidden=True)
            if after.det == "the"
            else []
        )
        name = scene.editor.node(known[0]).name if known else after.text
        try:
            made = scene.editor.replace(key, name, set(parents) if parents and not everywhere else None)
        except TaskError:
            return False
        for parent in scene.editor.node(made).parents:
            scene.attend(parent)
        scene.touch(made)
        return True
    if node.kind is NodeKind.SLOT and node.value is not None:
        scene.editor.set(key, coerced(node.value, value_of(after)))
        scene.touch(key)
        return True
    scene.editor.rename(key, after.text)
    scene.touch(key)
    return True


def places_of(scene: Scene, where: Element) -> list[str]:
    """Return the lists that an element means: "in those", "in the scones"."""
    lists = scene.containers()
    if where.pronoun in ("both", "all", "everything") or where.det in ("both", "all"):
        return lists if where.pronoun != "both" or len(lists) <= 2 else lists[:2]
    if where.pronoun or where.ones or where.ordinal:
        found = scene.find(where, accept=lambda key: key in lists)
        return found or lists[:1]
    return list(scene.find(where))


def swap_nodes(scene: Scene, one: Element, other: Element) -> bool:
    """Let two things that are there change places; False where one of them is not there."""
    first, second = scene.find(one), scene.find(other)
    if not first or not second or first[0] == second[0]:
        return False
    a, b = first[0], second[0]
    nodes = scene.editor
    slots = [(x, nodes.child(b, nodes.node(x).name)) for x in scene.slots(a)]
    try:
        if (
            nodes.value(a) is None
            and nodes.value(b) is None
            and not nodes.items(a)
            and not nodes.items(b)
            and any(y for _, y in slots)
        ):
            for x, y in slots:
                if y is not None:
                    nodes.swap(x, y)
        elif (
            nodes.node(a).kind is NodeKind.ITEM
            and nodes.node(b).kind is NodeKind.ITEM
            and nodes.node(a).parents != nodes.node(b).parents
        ):
            above, below = nodes.node(a).parents[0], nodes.node(b).parents[0]
            nodes.move(a, below, above)
            nodes.move(b, above, below)
        else:
            nodes.swap(a, b)
    except TaskCycleError as exc:
        scene.doubts.append(str(exc))
        return False
    scene.touch(a)
    scene.touch(b)
    scene.group = [a, b]
    return True


def slots_alike(scene: Scene, named: Element) -> list[str]:
    """Return the slots that a plural names: "the vets" of two visits."""
    return [
        key
        for key in scene.everything()
        if is_slot(scene, key)
        and scene.editor.value(key) is not None
        and set(named.words) <= set(words_of(scene.editor.node(key).name))
    ]


def swap_values(scene: Scene, one: Element, other: Element) -> bool:
    """Let two values change places: "have Ana and Ben trade places", where each of them stands in one slot."""
    slots = [key for key in scene.everything() if is_slot(scene, key) and scene.editor.value(key) is not None]
    pair = []
    for said in (one, other):
        here = [key for key in slots if set(said.words) <= set(words_of(scene.editor.value(key).text))]  # type: ignore[union-attr]
        if len(here) != 1 or not said.words:
            return False
        pair += here
    if pair[0] == pair[1]:
        return False
    scene.editor.swap(*pair)
    for key in pair:
        scene.touch(key)
    return True


def move_to(
    scene: Scene, things: Sequence[Element], place: Element, source: Element | None = None, *, target: str | None = None
) -> bool:
    """Put things under another parent; False where they, or it, are not there."""
    target = target or next((key for key in scene.find(place)), None)
    moved = False
    for thing in things:
        for key in scene.find(thing):
            node = scene.editor.node(key)
            if target is None or target == key or (node.kind is NodeKind.SLOT and not node.parents):
                continue
            old = next((parent for parent in (scene.find(source) if source else ()) if parent in node.parents), None)
            old = old or (
                node.parents[0] if len(node.parents) == 1 else next((p for p in scene.focus if p in node.parents), None)
            )
            try:
                scene.editor.move(key, target, old)
            except TaskCycleError as exc:
                scene.doubts.append(str(exc))
                continue
            scene.touch(key)
            scene.attend(target, key)
            moved = True
    return moved
