"""fragments: clauses without a verb: "Venue 600", "docs: changelog, upgrade notes", "also the same socks in navy"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from doxa.core.tasks import NodeKind, TaskValue, ValueKind
from doxa.tasks.adding import NUMBERED, add_element, add_items, attach, named_value, new_task, put_slot, value_of
from doxa.tasks.changing import is_slot, set_value
from doxa.tasks.listing import read_list
from doxa.tasks.phrases import Element, elements, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.roles import objects, split_of, subject
from doxa.tasks.scene import Scene
from doxa.tasks.telling import added, container_of, into, onto, open_task, rehung
from doxa.tasks.verbs import lexicon

__all__ = ["counted_frame", "fragment_frame", "listed_frame"]

ADDING = ("also", "and", "plus", "too", "as well", "oh and", "another", "and also")


def fragment_frame(scene: Scene, clause: Clause) -> str | None:
    """ "Venue 600, catering for 30 people at 18 each", "also the same socks in navy", "flashcards for genetics"."""
    if clause.mood != "fragment":
        return None
    found = _said(scene, clause)
    if not found:
        return None
    root = scene.root()
    first = found[0]
    new_thing = _fresh(clause, first, root) or _made_of(scene, found)
    if clause.listed:
        return _headed(scene, clause, found, root)
    if new_thing:
        return open_task(scene, clause, found, first)
    if root is None:
        return open_task(scene, clause, found, first) if first.words else None
    if _named_with_fields(scene, clause, found, root):
        return "new"
    changed = _fragment_update(scene, clause, found)
    if changed is not None:
        return changed
    _, places = split_of(found, "to", "into", "in", "under", "for", "on")
    container = container_of(scene, [one for one in places if scene.find(one) or NUMBERED.match(f"{one.text} x")])
    if container is not None:
        group = [one for one in rehung(found, container[1]) if one.text and not one.pronoun]
        return into(scene, container[0], group) if group else None
    return _put(scene, clause, found, root)


def _named_with_fields(scene: Scene, clause: Clause, found: Sequence[Element], root: str) -> bool:
    """Read "then Tessarol, dose 20 mg, at the same time" as one more of what is there, with its fields."""
    first, fields = found[0], found[1:]
    same = re.search(r"\bsame (time|day|dose|place|date|room)\b", clause.lowered)
    valued = [one for one in fields if named_value(one) is not None or one.value is not None]
    if not first.names or first.person or first.attached or not valued or scene.find(first):
        return False
    before = next((key for key in scene.visible_focus() if scene.editor.node(key).kind is NodeKind.TASK), root)
    key = new_task(scene, first.text, root)
    for one in valued:
        name, value = named_value(one) or ("", value_of(one))
        if name:
            put_slot(scene, key, name, value)
        else:
            attach(scene, key, "", one)
    like = scene.slot_named(before, (same[1],)) if same else None
    held = scene.editor.value(like) if like is not None else None
    if like is not None and held is not None:
        put_slot(scene, key, scene.editor.node(like).name, held)
    scene.attend(key)
    return True


def _said(scene: Scene, clause: Clause) -> list[Element]:
    """Return what a fragment names, without what only fills it: "so far", "two things"."""
    opening = next((cue for cue in FILLING if clause.lowered.startswith(cue)), "")
    rest = [token for token in clause.rest if not opening or token.lower not in opening.split()]
    found = objects(scene, replace(clause, rest=tuple(rest)))
    fillers = {*FRAGMENT_FILLERS, *lexicon()["cues"]["discourse"]}
    kept = [one for one in found if one.text or one.value is not None or one.attached]
    return hung([one for one in kept if one.text.lower() not in fillers or one.attached])


FILLING = ("so far", "for now", "to start with", "to begin with")


def _put(scene: Scene, clause: Clause, found: Sequence[Element], root: str) -> str | None:
    """Put what a fragment names onto what is spoken of: counts, fields, items."""
    spoken = scene.editor.node(scene.focus[0]) if scene.touched and scene.focus else None
    opened = spoken is not None and spoken.kind is NodeKind.TASK and not spoken.parents
    target = scene.focus[0] if opened else root
    before = len(scene.touched)
    for one in found:
        if one.count and not one.attached and one.words and _reckoned(scene, root, one):
            put_slot(scene, root, one.text, count_of(one))
            continue
        if one.value is None and not one.attached and named_value(one) is None:
            return onto(scene, clause, root, found) if _additive(scene, clause) else None
        lists = scene.containers()
        plain = one.value is None and not any(inner.value is not None for _, inner in one.attached)
        if one.same or (plain and lists and _additive(scene, clause)):
            add_items(scene, lists[0] if lists else target, [one])
        else:
            add_element(scene, one, target)
    return added(scene, before)


def hung(found: Sequence[Element]) -> list[Element]:
    """Hang a bare value on the thing before it: "flowers, 18 per table"."""
    kept: list[Element] = []
    for one in found:
        before = kept[-1] if kept else None
        if before is not None and one.value is not None and not one.attached and before.words and not before.value:
            kept[-1] = replace(before, attached=(*before.attached, ("", one)), end=one.end)
        else:
            kept.append(one)
    return kept


FRAGMENT_FILLERS = {
    "thing",
    "things",
    "two things",
    "good news",
    "great",
    "thanks",
    "bad news",
    "wait",
    "sorry",
    "hmm",
    "ok",
    "yes",
    "no",
    "sure",
    "perfect",
    "first",
    "second",
    "cheers",
    "please",
    "hi",
    "hello",
    "hey",
    "morning",
    "oh",
    "lovely",
}


def _additive(scene: Scene, clause: Clause) -> bool:
    goes_on = bool(scene.touched) and scene.intents[-1:] == ["new"]
    return clause.join != "so" and (bool(clause.has(ADDING)) or clause.join in ("and", "plus") or goes_on)


def _fresh(clause: Clause, first: Element, root: str | None) -> bool:
    """Tell whether a fragment names a task of its own: "second, a train trip to Ghent", "also a chemistry thing"."""
    ordinal = re.match(
        r"(?:first|second|third|finally|lastly|next|then|also|and)[,:]? (?:there's |there is )?(?:an?|my|the)\b",
        clause.lowered,
    )
    thing = bool(first.words) and first.text.split()[-1].lower() in ("thing", "task", "project", "plan", "job")
    return (
        bool(first.words)
        and first.text.lower() not in FRAGMENT_FILLERS
        and (
            thing
            or (bool(ordinal) and re.match(r"(?:first|second|third|finally|lastly|next)", clause.lowered) is not None)
            or (root is None and first.value is None)
        )
    )


def _made_of(scene: Scene, found: Sequence[Element]) -> bool:
    """Tell whether a thing comes with its own list: "and a quiche with eggs, cream and leeks"."""
    first = found[0]
    held = first.with_prep("with") if first.det in ("a", "an") and not scene.find(replace(first, attached=())) else []
    return bool(held) and not any(one.person or one.names for one in held) and len(held) + len(found) > 2


def _numbered(one: Element) -> Element:
    """Return "platter 1" in front of a colon as a name."""
    value = one.attached[0][1].value if len(one.attached) == 1 and one.attached[0][0] == "" else None
    if value is None or value.kind is not ValueKind.NUMBER or not one.words or one.attached[0][1].each:
        return one
    text = f"{one.text} {value.text}"
    return replace(one, text=text, words=words_of(text), attached=())


def _headed(scene: Scene, clause: Clause, found: list[Element], root: str | None) -> str | None:
    """Read "Bathroom redo: tiles on Monday" or "Name: Dana, plate LN 402 KB": a task with its parts, or a field."""
    first = found[0] = _numbered(found[0])
    of = re.fullmatch(r"(.+?) of (?:the |my |our )?(.+)", first.text)
    owner = scene.find(Element(text=of[2], words=words_of(of[2]))) if of and root is not None else []
    if of and owner:
        spot = owner[0] if not is_slot(scene, owner[0]) else scene.root_of(owner[0])
        value = clause.listed[0]
        put_slot(scene, spot, of[1], TaskValue(text=scene.text[value[0].start : clause.listed[-1][-1].end]))
        return "new"
    plan = (
        first.words
        and first.words[0] in ("plan", "schedule", "list", "agenda", "programme", "timetable")
        and first.with_prep("for", "of")
    )
    bare = first.with_prep("for") if not first.words else []
    thing = first.with_prep("for", "of")[0] if plan else bare[0] if bare else first
    told = re.fullmatch(
        r"(?:\w+ )*(?:dates|details|stops|items|parts|steps|days|points) of (?:the |my |our )?(.+)", thing.text
    )
    if told:  # "the first two dates of the tour"
        thing = Element(text=told[1], words=words_of(told[1]))
    alone = root is not None and not plan and len(found) == 1 and len(thing.words) <= 3
    if alone and root is not None and _is_field(scene, clause, root, thing):
        _fill_in(scene, clause, root, thing)
        return "new"
    known = scene.find(replace(thing, attached=()))
    if known and not is_slot(scene, known[0]):
        read_list(scene, clause, known[0])
        return "update"
    opened = root if root is not None and scene.touched and not scene.editor.items(root) else None
    if (
        root is not None
        and opened is None
        and not plan
        and any(is_section(scene, child) for child in scene.editor.current(root))
    ):
        opened = root
    key = new_task(scene, thing.text, opened)
    for prep, inner in thing.attached:
        attach(scene, key, prep, inner)
    read_list(scene, clause, key)
    scene.attend(key, *([opened] if opened else []))
    return "new"


def _fill_in(scene: Scene, clause: Clause, root: str, field: Element) -> None:
    """Set the field that stands before a colon, and those that follow it."""
    said = clause.listed[0]
    text = scene.text[said[0].start : said[-1].end]
    typed = clause.values[0] if clause.values and clause.values[0].start <= said[-1].end else None
    whole = typed is not None and typed.end - typed.start >= len(text) - 2
    value = typed.value if typed is not None and whole else None
    put_slot(scene, root, field.text, value or TaskValue(text=text))
    read_list(scene, replace(clause, listed=clause.listed[1:]), root)


def is_section(scene: Scene, key: str) -> bool:
    """Tell whether a node is a list of its own under a plan."""
    return scene.editor.node(key).kind is NodeKind.TASK and bool(scene.editor.items(key))


def _is_field(scene: Scene, clause: Clause, root: str, thing: Element) -> bool:
    """Tell whether the word before a colon is a field of the form that is being filled in."""
    if scene.slot_named(root, thing.words) is not None:
        return True
    first = elements(clause.listed[0], scene.text, scene.typed)
    others = [one for part in clause.listed[1:] for one in elements(part, scene.text, scene.typed)]
    fields = all(named_value(one) is not None for one in others)
    text = scene.text[clause.listed[0][0].start : clause.listed[0][-1].end]
    plain = all(one.value is None and not one.attached for one in first)
    return fields and (not thing.names) and (text[:1].isupper() or text[:1].isdigit() or not plain)


def _fragment_update(scene: Scene, clause: Clause, found: Sequence[Element]) -> str | None:
    """Read "Waterproofing slips to Wednesday", "Friday for the plumber", "phone: 555 0137 instead" as new values."""
    whole = " ".join(token.lower for token in clause.tokens)
    typed = [one for one in clause.values if one.value is not None]
    if not typed:
        return None
    target: Element | None = None
    for one in found:
        named = one.text and one.value is None and not one.pronoun
        if named and scene.find(replace(one, attached=())):
            target = replace(one, attached=())
        elif named and any(word.endswith("s") for word in one.text.split()[-1:]) and len(one.words) > 1:
            trimmed = Element(text=one.text.rsplit(" ", 1)[0], words=one.words[:-1])
            target = trimmed if scene.find(trimmed) else target
        for prep, inner in one.attached:
            if prep in ("for", "on", "to", "with") and inner.value is None and scene.find(inner) and target is None:
                target = inner
    bare = all(not one.text or one.value is not None or one.text.lower() in ("instead", "please") for one in found)
    if target is None and not bare:
        return None
    value = typed[-1].value
    if value is None or (
        bare
        and target is None
        and not (clause.repair or clause.has(("instead", "make that", "rather", "now")) or len(whole.split()) <= 4)
    ):
        return None
    prep = next((p for one in found for p, inner in one.attached if inner.value is value), "")
    return "update" if set_value(scene, target, value, prep=prep, new=target is not None) is not None else None


def listed_frame(scene: Scene, clause: Clause) -> str | None:
    """ "The car is due for its service: Kowalski Garage, Tuesday at 8": what a statement is about, with its parts."""
    if clause.mood != "statement" or not clause.listed or clause.negated:
        return None
    said = subject(scene, clause)
    found = objects(scene, clause)
    thing = next((inner for one in found for prep, inner in one.attached if prep == "for" and inner.words), None)
    thing = thing or next((one for one in found if one.words and not one.pronoun and not one.adjective), None)
    if thing is None:
        return None
    whose = (
        said is not None and said.words and not said.pronoun and thing.det in ("its", "his", "her", "their", "a", "an")
    )
    known = scene.find(replace(thing, attached=()))
    key = (
        known[0]
        if known
        else new_task(scene, f"{said.text} {thing.text}" if whose and said is not None else thing.text)
    )
    read_list(scene, clause, key)
    scene.attend(key)
    return "new"


def counted_frame(scene: Scene, clause: Clause) -> str | None:
    """ "80 delegates": a number of what a plan reckons with."""
    if clause.mood != "fragment" or scene.root() is None or scene.containers():
        return None
    found = objects(scene, clause)
    measure = found[0].value if len(found) == 1 and not found[0].attached else None
    if measure is not None and measure.kind is ValueKind.QUANTITY:
        attach(scene, scene.root() or "", "", found[0])
        return "new"
    if len(found) != 1 or not found[0].count or found[0].attached or not found[0].words or not clause.values:
        return None
    put_slot(scene, scene.root() or "", found[0].text, count_of(found[0]))
    return "new"


def count_of(one: Element) -> TaskValue:
    """Return how many of a thing there are, as a value."""
    return TaskValue(text=f"{one.count:g}", kind=ValueKind.NUMBER, amount=one.count, unit=words_of(one.text)[-1])


def _reckoned(scene: Scene, root: str, one: Element) -> bool:
    """Tell whether something has a price for each of these: as in "18 per table", "10 tables"."""
    rates = (scene.editor.node(key).name for key in scene.editor.descendants(root) if is_slot(scene, key))
    return any(name == f"price per {one.words[-1]}" for name in rates)
