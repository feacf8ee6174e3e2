"""scene: element, forest, what was spoken of -> the nodes that are meant.

A name is looked up among the nodes in sight, by its words, its aliases, its values and what it is under. A
pronoun means what was spoken of last and fits ("them" a group, "it" one thing). Nothing is guessed between tasks that
fit equally well unless one of them was spoken of last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Literal

from doxa.core.tasks import NodeKind, TaskNode, TaskValue, ValueKind
from doxa.tasks.amounts import Typed
from doxa.tasks.editing import Editor
from doxa.tasks.phrases import Element, is_colour, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.shifts import Shift
from doxa.tasks.verbs import lexicon

__all__ = ["FILLERS", "GENDERED", "Scene", "Tie", "fits", "is_crew"]

FILLERS = {
    "thing",
    "task",
    "plan",
    "item",
    "stuff",
    "one",
    "entry",
    "list",
    "whole",
    "bit",
    "part",
    "current",
    "new",
    "old",
    "set",
    "job",
    "section",
    "category",
    "heading",
    "column",
}
GENDERED = {
    **dict.fromkeys(("he", "him", "his"), "he"),
    **dict.fromkeys(("she", "her", "hers"), "she"),
}
PLAIN_SLOTS = frozenset("time date day price duration quantity colour size".split())
TieBreak = Literal["focus", "task", "order"]
SMALL, MOST, NEAR = 400, 200, 40
"""Nodes of a forest that are all looked at for a name; most that a name is looked for among in a larger one."""
FULL, SUBSET, CONTAINED, WIDE, BY_VALUE = 100.0, 70.0, 50.0, 40.0, 25.0


@dataclass(frozen=True, slots=True)
class Tie:
    """Nodes that fit equally well, and what one of them was taken by."""

    keys: tuple[str, ...]
    by: TieBreak
    """It was spoken of, it is of the task that is spoken of, or it just comes first."""


@dataclass(slots=True, kw_only=True)
class Scene:
    """A turn under way: the forest as it is being changed, and what is spoken of."""

    editor: Editor
    text: str
    at: datetime
    said_before: str = ""
    """What the assistant said just before."""
    focus: list[str] = field(default_factory=list)
    """Ids of nodes that were spoken of, the latest first."""
    group: list[str] = field(default_factory=list)
    """Ids of the nodes that were last named together."""
    touched: list[str] = field(default_factory=list)
    """Ids of the nodes that this turn changed, in order."""
    intents: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What is to be said that the changes do not say themselves."""
    doubts: list[str] = field(default_factory=list)
    """What could not be understood, as questions."""
    clauses: Sequence[Clause] = ()
    typed: Sequence[Typed] = ()
    undoes: int | None = None
    """The number of the commit that this turn takes back."""
    last: str = ""
    """The slot or node that was changed last."""
    moved: tuple[str, TaskValue, Shift] | None = None
    """The slot that was moved by an amount in this turn, its value before, and the amount."""
    ruled: bool = False
    """Whether the clause before stated a rule."""
    marks: list[int] = field(default_factory=list)
    """Checkpoints of the editor before each clause."""
    consumed: list[Clause] = field(default_factory=list)
    """Clauses that another one took in."""
    ties: dict[str, Tie] = field(default_factory=dict)
    """Of nodes taken out of several that fit equally well: those."""

    # -- what is spoken of

    def before(self, clause: Clause) -> Clause | None:
        """The clause before one of this turn, if any."""
        return next((one for one, after in pairwise(self.clauses) if after is clause), None)

    def attend(self, *ids: str) -> None:
        """Put nodes in the focus, the first of them in front."""
        for key in reversed(ids):
            if key in self.focus:
                self.focus.remove(key)
            self.focus.insert(0, key)
        if len(ids) > 1:
            self.group = list(ids)

    def touch(self, key: str) -> None:
        """Note that a node was changed, and put it in the focus."""
        self.touched.append(key)
        self.last = key
        self.attend(key)

    def forget(self) -> None:
        """Drop what is spoken of and no longer there, after changes were taken back."""
        known = self.editor.get
        self.focus = [key for key in self.focus if known(key) is not None]
        self.group = [key for key in self.group if known(key) is not None]
        self.touched = [key for key in self.touched if known(key) is not None]
        self.last = self.last if self.last and known(self.last) is not None else ""

    def visible_focus(self) -> list[str]:
        """Return what is spoken of and in sight."""
        return [key for key in self.focus if self.seen(key)]

    def seen(self, key: str) -> bool:
        """Tell whether a node is there and in sight."""
        return self.editor.get(key) is not None and self.editor.visible(key)

    def root_of(self, key: str) -> str:
        """Return the root that a node is under, its first one where there are several."""
        while (node := self.editor.node(key)).parents:
            key = next((parent for parent in node.parents if self.seen(parent)), node.parents[0])
        return key

    def root(self) -> str | None:
        """Return the task that is spoken of; the latest one where none is."""
        for key in self.visible_focus():
            root = self.root_of(key)
            if self.seen(root):
                return root
        roots = self.editor.roots()
        return roots[-1] if roots else None

    def containers(self) -> list[str]:
        """Return the nodes with items, those spoken of last first."""
        known: dict[str, None] = {}
        for key in self.visible_focus():
            for one in (key, *self.editor.ancestors(key)):
                if self.editor.items(one) and self.seen(one):
                    known[one] = None
        for key in self.everything():
            if self.editor.items(key):
                known.setdefault(key)
        return list(known)

    def everything(self) -> list[str]:
        """Return all nodes in sight, each root followed by what is under it."""
        found: dict[str, None] = {}
        waiting = self.editor.roots()[::-1]
        while waiting:
            key = waiting.pop()
            if key not in found:
                found[key] = None
                waiting += self.editor.current(key)[::-1]
        return list(found)

    def hidden(self) -> list[str]:
        """Return the nodes out of sight, those that went last first."""
        found: dict[str, None] = {}
        for commit in reversed(self.editor.forest.commits):
            for edit in commit.edits:
                if self.editor.get(edit.node_id) is not None and not self.editor.visible(edit.node_id):
                    found.setdefault(edit.node_id)
        return list(found)

    def notes_said(self) -> list[str]:
        """Return the notes as sentences."""
        return [f"{note[:1].upper()}{note[1:]}{'' if note.endswith(('.', '!', '?')) else '.'}" for note in self.notes]

    # -- names

    def words(self, key: str, *, values: bool = False) -> set[str]:
        """Return the words by which a node can be called."""
        node = self.editor.node(key)
        found = {word for name in (node.name, *node.aliases, self.editor.label(key)) for word in words_of(name)}
        found |= _synonyms(node, found)
        if values:
            for child in self.editor.current(key):
                value = self.editor.value(child)
                if value is not None:
                    found |= set(words_of(value.text)) | set(words_of(self.editor.node(child).name))
            if node.value is not None:
                found |= set(words_of(node.value.text))
        return found

    def find(
        self,
        element: Element,
        *,
        accept: Callable[[str], bool] | None = None,
        hidden: bool = False,
        among: Iterable[str] | None = None,
    ) -> list[str]:
        """Return the nodes that an element means, best first; several only where several are meant."""
        if element.pronoun or (element.ones and not element.words) or not (element.words or element.ones):
            return self._meant(element, accept)
        if element.ordinal and not (set(element.words) - {"one", "half", "part", "session", "two"}):
            return self._by_ordinal(element, accept)
        within = among if among is not None else self.hidden() if hidden else self._candidates(element)
        pool = [key for key in within if accept is None or accept(key)]
        fitting = [(score, -i, key) for i, key in enumerate(pool) if (score := self._score(element, key)) > 0]
        if not fitting:
            return []
        places, root = {key: i for i, key in enumerate(self.visible_focus())}, self.root()
        scored = sorted(((s + self._nearness(s, key, places, root), i, key) for s, i, key in fitting), reverse=True)
        plural = element.ones or element.count or element.det in ("all", "both", "those", "these", "every")
        if plural:  # those that fit alike, however near they are
            best = max(score for score, _, _ in fitting)
            found = [key for score, _, key in sorted(fitting, reverse=True) if score > best - 1.0]
        else:
            found = [key for score, _, key in scored if score > scored[0][0] - 1.0]
        if element.ordinal:
            order = sorted(found, key=pool.index)
            at = element.ordinal - 1 if element.ordinal > 0 else len(order) - 1
            return [order[at]] if at < len(order) else found[:1]
        if element.other and len(found) > 1:
            rest = [key for key in found if key not in self.focus[:1]]
            return rest or found
        return found if plural else self._nearest(found)

    def _candidates(self, element: Element) -> list[str]:
        """Return the nodes that a name may mean: all of a small forest; of a large one those that share a word with it.

        With them come what is under them, what they are under, and what is spoken of.
        """
        if len(self.editor.forest.nodes) <= SMALL:
            return self.everything()
        named = self.editor.find(element.words)[:MOST]
        near = [one for key in self.visible_focus()[:NEAR] for one in (key, *self.editor.current(key)[:NEAR])]
        below = [one for key in named[:NEAR] for one in self.editor.current(key)[:NEAR]]
        above = [one for key in (*named, *near) for one in self.editor.node(key).parents]
        return [key for key in dict.fromkeys((*named, *near, *below, *above)) if self.seen(key)]

    def _nearest(self, found: list[str]) -> list[str]:
        """Return those of equally good nodes that are spoken of, or else all."""
        if len(found) < 2:
            return found
        focus = self.visible_focus()
        places = {key: i for i, key in enumerate(focus)}
        for key in found:
            near = [places[one] for one in (key, *self.editor.node(key).parents) if one in places]
            if near:
                places[key] = min(near)
        direct = sorted((key for key in found if key in places), key=places.__getitem__)
        root = self.root()
        own = [key for key in found if root is not None and self.root_of(key) == root]
        chosen = (direct or own or found)[:1]
        self.ties[chosen[0]] = Tie(tuple(found), "order" if chosen[0] not in own else "focus" if direct else "task")
        return chosen

    def _score(self, element: Element, key: str) -> float:
        """Return how well a name fits a node; 0 when it does not. Source of the order: the longer match wins."""
        asked = set(element.words) - (FILLERS if set(element.words) - FILLERS else set())
        node = self.editor.node(key)
        own = self.words(key)
        names = set(words_of(node.name)) | set(words_of(self.editor.label(key)))
        score = 0.0
        numbers = {word for word in asked if word.isdigit()}
        if numbers and not numbers <= own and any(word.isdigit() for word in names):
            return 0.0  # "table 3" is not table 2
        if (
            asked == names
            or asked == set(words_of(node.name))
            or any(asked == set(words_of(alias)) for alias in node.aliases)
        ):
            score = FULL
        elif asked <= own and (element.ones or element.words[-1] in own):
            score = (
                SUBSET
                + 20.0 * len(asked) / max(len(names), 1)
                + (5.0 if words_of(node.name)[-1] == element.words[-1] else 0.0)
            )
        elif asked <= own | self._above(key):
            score = WIDE + 10.0 * len(asked & own) if asked & own else 0.0
        elif asked <= own | self.words(key, values=True) | self._above(key):
            score = BY_VALUE if asked & self.words(key, values=True) else 0.0
        elif (
            names - FILLERS
            and names - FILLERS <= asked
            and node.kind is not NodeKind.SLOT
            and words_of(node.name)[-1] == element.words[-1]
        ):
            score = CONTAINED if node.kind is not NodeKind.ITEM else 0.0  # a "blue mug" is not the black one
        return score

    def _nearness(self, score: float, key: str, places: Mapping[str, int], root: str | None) -> float:
        """Return what it adds to a fit that a node is spoken of, or is under the task that is."""
        near = 0.5 * (1.0 - places[key] / len(places)) if key in places else 0.0
        if root is not None and self.root_of(key) == root:
            near += 0.9 if score + near >= FULL else 3.0
        return near

    def _above(self, key: str) -> set[str]:
        found: set[str] = set()
        for above in self.editor.ancestors(key):
            found |= set(words_of(self.editor.node(above).name))
        return found

    # -- pronouns

    def _meant(self, element: Element, accept: Callable[[str], bool] | None) -> list[str]:
        focus = [key for key in self.visible_focus() if accept is None or accept(key)]
        group = [key for key in self.group if self.seen(key) and (accept is None or accept(key))]
        said = element.pronoun
        if element.ordinal:
            return self._by_ordinal(element, accept)
        owned = self._owned(said) if said in GENDERED else []
        if owned and (accept is None or accept(owned[0])):
            return owned
        if said == "both" or element.count == 2.0 or element.det == "both":
            if len(group) == 2:
                return group
            kinds: list[str] = list(dict.fromkeys(group + focus))
            return kinds[:2]
        if said in ("all", "everything") or element.det == "all":
            return group or focus
        if element.other or said in ("other", "others", "rest", "another"):
            return self._others(accept)
        if said in ("those", "these", "them", "they", "theirs"):
            if group and (not focus or focus[0] in group):
                return group
            return focus[:1]
        if element.ones:
            return group or focus[:1]
        things = [key for key in focus if not self.is_person(key)] if said in ("it", "that", "this", "one") else focus
        return (things or focus)[:1]

    def _owned(self, pronoun: str) -> list[str]:
        """Return the task of whom "hers" was said of before; none where nobody was."""
        alias = f"pronoun:{GENDERED[pronoun]}"
        known = [key for key in self.everything() if alias in self.editor.node(key).aliases]
        ranked = [key for key in self.visible_focus() if key in known]
        return (ranked or known)[:1]

    def refer(self, pronoun: str, key: str) -> None:
        """Note that somebody's task was spoken of with "he" or "she"."""
        alias = f"pronoun:{GENDERED[pronoun]}"
        if alias not in self.editor.node(key).aliases:
            self.editor.alias(key, alias)

    def is_person(self, key: str) -> bool:
        """Tell whether a node is one of the people of a task."""
        node = self.editor.node(key)
        return node.kind is NodeKind.ITEM and any(is_crew(self.editor.node(parent).name) for parent in node.parents)

    def _others(self, accept: Callable[[str], bool] | None) -> list[str]:
        """Return the siblings of what was spoken of last."""
        for key in self.visible_focus() or self.focus:
            node = self.editor.get(key)
            if node is None:
                continue
            siblings = [one for parent in node.parents for one in self.editor.current(parent) if one != key]
            head = words_of(node.name)[-1]
            alike = [
                one
                for one in siblings
                if words_of(self.editor.node(one).name)[-1] == head and (accept is None or accept(one))
            ]
            same_kind = [
                one for one in siblings if self.editor.node(one).kind == node.kind and (accept is None or accept(one))
            ]
            if alike or same_kind:
                return alike or same_kind
        for key in self.focus:  # what is out of sight by now has siblings that are left
            node = self.editor.get(key)
            if node is not None and not self.editor.visible(key):
                left = [one for parent in node.parents if self.seen(parent) for one in self.editor.current(parent)]
                if left:
                    return left
        return []

    def _by_ordinal(self, element: Element, accept: Callable[[str], bool] | None) -> list[str]:
        group = [key for key in self.group if self.seen(key) and (accept is None or accept(key))]
        if not group:
            for key in self.visible_focus():
                above = self.editor.node(key).parents
                group = [
                    one
                    for parent in above
                    for one in self.editor.current(parent)
                    if self.editor.node(one).kind == self.editor.node(key).kind
                ]
                if len(group) > 1:
                    break
        if not group:
            group = self.editor.roots()
        at = element.ordinal - 1 if element.ordinal > 0 else len(group) - 1
        return [group[at]] if 0 <= at < len(group) else []

    # -- slots

    def slots(self, key: str) -> list[str]:
        """Return what has, or may have, a value under a node."""
        return [child for child in self.editor.current(key) if self.editor.node(child).kind is NodeKind.SLOT]

    def slot_named(self, key: str, words: Sequence[str]) -> str | None:
        """Return the slot of a node that some words name; the one with the fewest words besides."""
        asked = set(words) - FILLERS
        best: tuple[float, str] | None = None
        for child in self.slots(key):
            own = self.words(child)
            names = set(words_of(self.editor.node(child).name))
            if asked and asked <= own | set(words_of(self.editor.node(key).name)) and asked & own:
                score = len(asked & own) - 0.1 * len(names - asked)
            elif names and names <= asked:
                score = len(names) - 0.1 * len(asked - names)
            else:
                continue
            if best is None or score > best[0]:
                best = (score, child)
        return best[1] if best else None

    def slot_of_kind(self, key: str, value: TaskValue, *, deep: bool = False) -> str | None:
        """Return the slot of a node that holds a value of the same kind; the one spoken of last where several do."""
        slots = self.slots(key)
        if deep:
            slots = [
                child
                for below in (key, *self.editor.descendants(key))
                if self.seen(below)
                for child in self.slots(below)
            ]
        fit = [child for child in slots if fits(self.editor.value(child), value)]
        exact = [
            child
            for child in fit
            if (own := self.editor.value(child)) is not None and own.kind is value.kind and own.unit == value.unit
        ]
        fit = exact or fit
        if not fit:
            return None
        plain = [one for one in fit if self.editor.node(one).name in PLAIN_SLOTS]
        fit = (
            plain or [one for one in fit if not any(d.kind == "derived" for d in self.editor.node(one).depends)] or fit
        )
        ranked = [one for one in self.focus if one in fit]
        chosen = (ranked or fit)[0]
        if len(fit) > 1:
            self.ties[chosen] = Tie(tuple(fit), "focus" if ranked else "order")
        return chosen


def is_crew(name: str) -> bool:
    """Tell whether a name is one of a list of people: "participants", "the guests"."""
    return not _crew().isdisjoint(words_of(name))


@cache
def _crew() -> frozenset[str]:
    return frozenset(word for name in lexicon()["slot_words"]["participants"] for word in words_of(name))


def fits(old: TaskValue | None, new: TaskValue) -> bool:
    """Tell whether a value may take the place of another one."""
    if old is None:
        return False
    if old.kind is ValueKind.CHOICE and is_colour(old.text) != is_colour(new.text):
        return False
    numeric = (ValueKind.NUMBER, ValueKind.QUANTITY, ValueKind.MONEY)
    if old.kind is new.kind:
        return old.kind is not ValueKind.QUANTITY or not old.unit or not new.unit or old.unit == new.unit
    if new.kind is ValueKind.NUMBER and old.kind in numeric:
        return True
    if old.kind is ValueKind.CHOICE:
        return new.kind in (ValueKind.NUMBER, ValueKind.CHOICE)
    return old.kind in numeric and new.kind in numeric and new.kind is ValueKind.MONEY and old.kind is ValueKind.NUMBER


def _synonyms(node: TaskNode, words: set[str]) -> set[str]:
    if node.kind is not NodeKind.SLOT:
        return set()
    found: set[str] = set()
    for names in lexicon()["slot_words"].values():
        if words & {word for name in names for word in words_of(name)}:
            found |= {word for name in names for word in words_of(name)}
    return found
