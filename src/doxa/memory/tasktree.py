"""The nodes of a task forest with what finds them: by parent, by name, by what they wait for, and by their words.

A tree may lie over one that lies over none, and never changes it: what it has of its own counts, the rest is read from
below.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from doxa.core.tasks import Exported, NodeKind, TaskNode, TaskValue
from doxa.language import stems

__all__ = ["LABELLING", "TaskTree", "place_of"]

LABELLING = ("colour", "color")
"""Slots whose value is part of what an item is called ("black case")."""
ROOT = ""
MOST_ENTRIES = 256
"""A word in the names of more nodes tells little."""

Entry = tuple[float, int, str]
"""Place, number of the node, id: in this order children are shown."""


def number_of(node_id: str) -> int:
    """Return the number in a node's id: ids are given out in order."""
    return int(node_id[1:])


def place_of(node: TaskNode, parent: str) -> float | None:
    """Return the place of a node among the children of a parent; None where it is not under it."""
    if parent not in node.parents:
        return None
    return node.places[node.parents.index(parent)] if node.places else 0.0


class _Postings:
    """Sorted entries by key; over another one, lists are copied when they are changed first."""

    __slots__ = ("_below", "_lists")

    def __init__(self, below: _Postings | None = None) -> None:
        self._below: Mapping[str, Sequence[Entry]] = below._lists if below is not None else {}
        self._lists: dict[str, list[Entry]] = {}

    def of(self, key: str) -> Sequence[Entry]:
        own = self._lists.get(key)
        return own if own is not None else self._below.get(key, ())

    def add(self, key: str, entry: Entry) -> None:
        insort(self._own(key), entry)

    def drop(self, key: str, entry: Entry) -> None:
        entries = self._own(key)
        at = bisect_left(entries, entry)
        if at < len(entries) and entries[at] == entry:
            del entries[at]

    def _own(self, key: str) -> list[Entry]:
        own = self._lists.get(key)
        if own is None:
            own = self._lists[key] = list(self._below.get(key, ()))
        return own


class TaskTree:
    """Nodes by id, and the ways to them. Every change costs what it changes; reading a node's children costs them."""

    def __init__(self, below: TaskTree | None = None) -> None:
        self._below = below
        self._base: Mapping[str, TaskNode] = below._nodes if below is not None else {}
        self._nodes: dict[str, TaskNode] = {}
        self._gone: set[str] = set()
        self._under: _Postings = _Postings(below._under if below else None)
        self._named: _Postings = _Postings(below._named if below else None)
        self._needed: _Postings = _Postings(below._needed if below else None)
        self._words: _Postings = _Postings(below._words if below else None)

    def node(self, node_id: str) -> TaskNode:
        """Return a node, whether or not it is in sight.

        Raises:
            KeyError: there is no such node.
        """
        own = self.get(node_id)
        if own is None:
            raise KeyError(node_id)
        return own

    def get(self, node_id: str) -> TaskNode | None:
        """Return a node, or None."""
        own = self._nodes.get(node_id)
        return own if own is not None or node_id in self._gone else self._base.get(node_id)

    def value(self, node_id: str) -> TaskValue | None:
        """Return a node's value."""
        return self.node(node_id).value

    def put(self, node_id: str, node: TaskNode | None) -> TaskNode | None:
        """Set a node, or take it out, and return what was there before. Cost: O(what differs)."""
        before = self.get(node_id)
        self._swap(node_id, before, node)
        return before

    def _swap(self, node_id: str, before: TaskNode | None, node: TaskNode | None) -> None:
        """Do what `put` does, knowing what is there."""
        self._nodes.pop(node_id, None)  # what was touched last comes last
        if node is None:
            self._gone.add(node_id)
        else:
            self._nodes[node_id] = node
        self._reindex(node_id, before, node)

    def _reindex(self, node_id: str, before: TaskNode | None, node: TaskNode | None) -> None:
        if before is not None and node is not None:
            same_name = before.name == node.name
            same_place = before.parents == node.parents and before.places == node.places
            same_words = same_name and before.aliases == node.aliases
            same_needs = before.depends == node.depends
            if same_words and same_place and same_needs:
                return
        else:
            same_name = same_place = same_words = same_needs = False
        number = number_of(node_id)
        for one, change in ((before, _Postings.drop), (node, _Postings.add)):
            if one is None:
                continue
            if not same_place:
                for parent, place in _links(one):
                    change(self._under, parent, (place, number, node_id))
            if not (same_name and same_place):
                for parent, place in _links(one):
                    change(self._named, _name_key(parent, one.name), (place, number, node_id))
            if not same_words:
                for word in _words_of(one):
                    change(self._words, word, (0.0, number, node_id))
            if not same_needs:
                for needed in {d.on for d in one.depends if d.on}:
                    change(self._needed, needed, (0.0, number, node_id))

    # -- what is under what

    def all_children(self, node_id: str) -> list[str]:
        """Return the ids of all that was ever put under a node and not taken from it, in order."""
        return [entry[2] for entry in self._under.of(node_id)]

    def children(self, node_id: str) -> list[str]:
        """Return the ids of what is in sight under a node (active, done or blocked), in order."""
        entries = self._under.of(node_id)
        if entries and (node_id == ROOT or self.opens(node_id)):
            return [entry[2] for entry in entries if self.node(entry[2]).status.standing]
        return [entry[2] for entry in entries if self.visible(entry[2])]

    def current(self, node_id: str) -> list[str]:
        """Return the children that are there now: those in sight that wait for no condition."""
        return [child for child in self.children(node_id) if not self.node(child).waits]

    def items(self, node_id: str) -> list[str]:
        """Return the items of a list that are there now."""
        return [child for child in self.current(node_id) if self.node(child).kind is NodeKind.ITEM]

    def child(self, node_id: str, name: str) -> str | None:
        """Return the child in sight of that name (any case), or None."""
        found = (entry[2] for entry in self._named.of(_name_key(node_id, name)))
        return next((child for child in found if self.visible(child)), None)

    def all_roots(self) -> list[str]:
        """Return the ids of all roots, in or out of sight."""
        return self.all_children(ROOT)

    def roots(self) -> list[str]:
        """Return the ids of the roots in sight, in the order in which they came up."""
        return self.children(ROOT)

    def dependents(self, node_id: str) -> list[str]:
        """Return the ids of the nodes that depend on a node, or on the fact of that id."""
        return [entry[2] for entry in self._needed.of(node_id)]

    def is_followed(self, node_id: str) -> bool:
        """Tell whether anything depends on a node."""
        return bool(self._needed.of(node_id))

    def ancestors(self, node_id: str) -> list[str]:
        """Return every node above a node, nearest first."""
        found: dict[str, None] = {}
        waiting = list(self.node(node_id).parents)
        while waiting:
            above = waiting.pop(0)
            if above not in found:
                found[above] = None
                waiting += self.node(above).parents
        return list(found)

    def descendants(self, node_id: str) -> list[str]:
        """Return everything under a node, in or out of sight, parents before their children where they have one."""
        found: dict[str, None] = {}
        waiting = self.all_children(node_id)[::-1]
        while waiting:
            below = waiting.pop()
            if below not in found:
                found[below] = None
                waiting += self.all_children(below)[::-1]
        return list(found)

    def visible(self, node_id: str) -> bool:
        """Tell whether a node is in sight: it stands, and so does one of its parents, which waits for no condition."""
        if self._below is not None and not self._nodes:
            return self._below.visible(node_id)
        node = self.node(node_id)
        if not node.status.standing:
            return False
        return not node.parents or any(self.opens(parent) for parent in node.parents)

    def opens(self, node_id: str) -> bool:
        """Tell whether what is under a node may be in sight."""
        return not self.node(node_id).waits and self.visible(node_id)

    # -- what is shown

    def label(self, node_id: str) -> str:
        """Return what an item is called in a list: its colour goes before its name."""
        node = self.node(node_id)
        for name in LABELLING:
            slot = self.child(node_id, name)
            value = self.node(slot).value if slot is not None and not self.node(slot).waits else None
            if value is not None and value.text and value.text.casefold() not in node.name.casefold():
                return f"{value.text} {node.name}"
        return node.name

    def exported(self, node_id: str) -> Exported:
        """Return what stands under a node's path: its items, else its value; None where nothing does."""
        node = self.node(node_id)
        if node.waits or not self.visible(node_id):
            return None
        listed = self.items(node_id)
        if listed:
            return [self.label(item) for item in listed]
        return node.value.text if node.value is not None and node.value.text else None

    def path(self, node_id: str) -> str:
        """Return the names from the root to a node, joined by "/"; a name that a sibling has already gets a number."""
        return self.paths([node_id])[node_id]

    def paths(self, node_ids: Iterable[str]) -> dict[str, str]:
        """Return the paths of several nodes. Cost: O(nodes above them and beside them under the same name)."""
        known: dict[str, str] = {}
        numbers: dict[str, dict[str, int]] = {}
        wanted = list(node_ids)
        for node_id in wanted:
            way: list[tuple[str, str, str]] = []
            current = node_id
            while current != ROOT and current not in known:
                node = self.node(current)
                parents = node.parents
                above = next((parent for parent in parents if self.opens(parent)), parents[0] if parents else ROOT)
                way.append((current, self._segment(current, node.name, above, numbers), above))
                current = above
            for key, name, above in reversed(way):
                known[key] = f"{known[above]}/{name}" if above != ROOT else name
        return {node_id: known[node_id] for node_id in wanted}

    def _segment(self, node_id: str, name: str, parent: str, numbers: dict[str, dict[str, int]]) -> str:
        """Return the name of a node in a path; `numbers` are those that were given to nodes of one name before."""
        name, key = segment(name), _name_key(parent, name)
        if len(self._named.of(key)) < 2 or not self.visible(node_id):
            return name
        if key not in numbers:
            numbers[key] = self._numbers(name, parent)
        number = numbers[key].get(node_id, 1)
        return name if number == 1 else f"{name} {number}"

    def _numbers(self, name: str, parent: str) -> dict[str, int]:
        """Return the numbers of the children in sight of one name: from 1 on, without those of children named so."""
        found, number = {}, 1
        for entry in self._named.of(_name_key(parent, name)):
            if self.visible(entry[2]):
                found[entry[2]] = number
                number += 1
                while self.child(parent, f"{name} {number}") is not None:
                    number += 1
        return found

    def find(self, words: str | Iterable[str]) -> list[str]:
        """Return the ids of the nodes that share a word with these, those that share most of them first.

        Of those the visible ones come first, then those whose name has the fewest words besides. A word of very many
        nodes finds none by itself, unless all words are like that; then it finds the latest of them.
        """
        asked = set(stems(words if isinstance(words, str) else " ".join(words)))
        found = [entries for entries in map(self._words.of, asked) if entries]
        telling = [entries for entries in found if len(entries) <= MOST_ENTRIES]
        keys = {entry[2] for entries in telling or found for entry in entries[-MOST_ENTRIES:]}
        shared = {key: len(asked & _words_of(self.node(key))) for key in keys}

        def rank(key: str) -> tuple[int, bool, int, int]:
            return -shared[key], not self.visible(key), len(_stems_of(self.node(key).name) - asked), -number_of(key)

        return sorted(shared, key=rank)


def segment(name: str) -> str:
    """Return a name as it stands in a path."""
    return name.replace("/", " ")


def _name_key(parent: str, name: str) -> str:
    return f"{parent}\0{segment(name).casefold()}"


def _links(node: TaskNode) -> Iterator[tuple[str, float]]:
    """Give the parents of a node with its places; a root is under none, by its number."""
    if not node.parents:
        yield ROOT, float(number_of(node.node_id))
        return
    yield from zip(node.parents, node.places or (0.0,) * len(node.parents), strict=True)


def _words_of(node: TaskNode) -> set[str]:
    return set().union(_stems_of(node.name), *map(_stems_of, node.aliases))


@lru_cache(maxsize=65536)
def _stems_of(name: str) -> frozenset[str]:
    return frozenset(stems(name))
