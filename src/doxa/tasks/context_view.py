"""context view: turn, forest -> what of the forest is looked at for the turn."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from itertools import islice

from doxa.core.tasks import NodeKind, TaskNode
from doxa.language import stems
from doxa.memory import TaskForest, place_of
from doxa.tasks.verbs import lexicon

__all__ = [
    "ABOVE",
    "MOST_CHILDREN",
    "MOST_NEIGHBOURS",
    "MOST_NODES",
    "MOST_SEEDS",
    "Pick",
    "Tier",
    "Turn",
    "View",
    "read_turn",
    "spoken_of",
]

MOST_NODES = 300
"""Nodes that are looked at for one turn."""
MOST_FOUND = 160
"""Nodes with words of the turn that are compared; those under others of them come first."""
MOST_CHILDREN = 64
"""Children of one node that are looked at, besides those that the turn names."""
MOST_SEEDS = 16
MOST_NEIGHBOURS = 8
"""Nodes on each side of a dependency that are shown of one node."""
ABOVE = 0.8
"""What a word counts that names what a node is under."""
SYNONYM = 0.5
"""What a word counts that names the slot only by another name ("when" for the time)."""

PAST = re.compile(
    r"\b(?:why|(?:was|were|did|had)(?:n['’]?t)?|used to|original(?:ly)?|initial(?:ly)?|first|back|undo|undid|undone"
    r"|redo|revert\w*|restore\w*|restoring|previous(?:ly)?|earlier|formerly|once|ever"
    r"|never|histor\w*|changed|replaced|removed|dropped|cancel(?:l?ed)|no longer|any ?more|said|told|again"
    r"|before(?=\s*(?:[?.!,;]|$)|\s+(?:that|it|we|i|you)\b))\b",
    re.IGNORECASE,
)
"""What asks for the past."""
WHOLE = re.compile(
    r"\b(?:everything|all|whole|full|complete|final\w*|summary|summari[sz]e|overview|recap|list|show|plan|rundown"
    r"|so far)\b",
    re.IGNORECASE,
)
"""What asks for a task as a whole."""


class Tier(IntEnum):
    """The order in which the budget is filled."""

    ANSWER = 0
    SPOKEN = 1
    PART = 2
    NEIGHBOUR = 3
    SAID = 4
    SIBLING = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A part of a line, with when it is taken."""

    tier: Tier
    score: float = 0.0
    line: str
    key: str
    """A slot, the line itself (its value or its items), or, for words that were said, the line."""
    said: int = 0
    """The number of a commit whose words are shown."""


# -- the turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a turn asks for: words by their weight, the past, a task as a whole."""

    words: frozenset[str]
    others: frozenset[str]
    """Stems of the names of the slots that its words mean."""
    past: bool
    whole: bool

    def weigh(self, known: Collection[str]) -> float:
        """Return how many words of the turn are among these."""
        own = self.words.intersection(known)
        return len(own) + (SYNONYM if not own and not self.others.isdisjoint(known) else 0.0)


def read_turn(text: str) -> Turn:
    """Return what a turn asks for."""
    words = frozenset(stems(text))
    plain = f" {' '.join(re.findall(r'[a-z]+', text.casefold()))} "
    others = {
        stem
        for phrase, kept, names in slot_names()
        if (phrase in words if kept else f" {phrase} " in plain)
        for stem in names
    }
    past, whole = PAST.search(text) is not None, WHOLE.search(text) is not None
    return Turn(words=words, others=frozenset(others) - words, past=past, whole=whole)


@cache
def slot_names() -> list[tuple[str, bool, frozenset[str]]]:
    """Return what means a slot, whether it is a stem, and the stems of the names that the slot may have."""
    found: list[tuple[str, bool, frozenset[str]]] = []
    groups: dict[str, frozenset[str]] = {}
    for slot, phrases in lexicon()["slot_words"].items():
        groups[slot] = frozenset(stem for phrase in (slot, *phrases) for stem in stems(phrase))
        found += [(*_form(phrase), groups[slot]) for phrase in phrases]
    found.append(("when", False, groups["time"]))
    for verb, slot in lexicon()["verb_slots"].items():
        found.append((*_form(verb), groups.get(slot, frozenset(stems(slot)))))
    return found


@lru_cache(maxsize=65536)
def stems_in(text: str) -> frozenset[str]:
    """Return the stems of a name or a value."""
    return frozenset(stems(text))


def _form(phrase: str) -> tuple[str, bool]:
    known = stems(phrase)
    single = len(known) == 1 and " " not in phrase
    return (known[0], True) if single else (phrase, False)


def spoken_of(forest: TaskForest, commits: int = 1) -> tuple[str, ...]:
    """Return the nodes that the last commits with any spoke of, or else changed, the latest first."""
    found: dict[str, None] = {}
    for commit in islice(reversed(forest.commits), 8):
        edited = (edit.node_id for edit in islice(reversed(commit.edits), MOST_SEEDS))
        keys = [key for key in (commit.focus or edited) if forest.get(key) is not None]
        found |= dict.fromkeys(keys[:MOST_SEEDS])
        commits -= bool(keys)
        if commits == 0:
            break
    return tuple(found)


# -- what is looked at


class View:
    """A forest as one turn sees it: no more than `MOST_NODES` of its nodes."""

    def __init__(self, forest: TaskForest, turn: Turn, focus: tuple[str, ...]) -> None:
        self.forest = forest
        self.turn = turn
        self.focus = tuple(key for key in focus if forest.get(key) is not None)
        self.looked = 0
        self._children: dict[str, tuple[list[str], bool]] = {}
        self._around: dict[tuple[str, ...], tuple[frozenset[str], bool]] = {}
        self.found = self._find()

    def _find(self) -> list[str]:
        """Return the nodes that the turn names, those out of sight only where it asks for the past."""
        node, visible, past = self.forest.node, self.forest.visible, self.turn.past
        found = [key for key in self.forest.find(self.turn.words) if past or visible(key)]
        if len(found) <= MOST_FOUND:
            return found
        known = set(found)
        both = [key for key in found if not known.isdisjoint(node(key).parents)]
        return list(dict.fromkeys((*islice(both, MOST_FOUND - MOST_SEEDS), *found[:MOST_FOUND])))[:MOST_FOUND]

    def node(self, key: str) -> TaskNode:
        """Return a node."""
        return self.forest.node(key)

    def children(self, key: str) -> tuple[list[str], bool]:
        """Return the first children in sight with those that the turn names, in order, and whether there are more."""
        known = self._children.get(key)
        if known is None:
            room = max(0, min(MOST_CHILDREN, MOST_NODES - self.looked))
            every = self.forest.all_children(key)
            shown = (one for one in islice(every, 16 * MOST_CHILDREN) if self.forest.visible(one))
            kept = dict.fromkeys(islice(shown, room + 1))
            more = len(kept) > room or len(every) > 16 * MOST_CHILDREN
            if more:
                kept = dict.fromkeys(islice(kept, room))
                named = (one for one in (*self.found, *self.focus) if key in self.node(one).parents)
                kept |= dict.fromkeys(one for one in islice(named, room) if self.forest.visible(one))
            self.looked += len(kept)
            order = sorted(kept, key=lambda one: (place_of(self.node(one), key) or 0.0, int(one[1:]))) if more else kept
            known = self._children[key] = (list(order), more)
        return known

    def words(self, key: str) -> frozenset[str]:
        """Return the stems of the names of a node."""
        node = self.forest.node(key)
        own = stems_in(node.name)
        return own.union(*map(stems_in, node.aliases)) if node.aliases else own

    def value_words(self, key: str) -> frozenset[str]:
        """Return the stems of a node's value."""
        value = self.forest.node(key).value
        return stems_in(value.text) if value is not None else frozenset()

    def around(self, key: str) -> tuple[frozenset[str], bool]:
        """Return the stems of the names of what a node is under, and whether any of it was spoken of."""
        parents = self.forest.node(key).parents
        known = self._around.get(parents)
        if known is None:
            above = self.above(key)
            words = frozenset[str]().union(*map(self.words, above))
            known = self._around[parents] = (words, any(one in self.focus for one in above))
        return known

    def is_line(self, key: str) -> bool:
        """Tell whether a node has a line of its own."""
        node = self.node(key)
        return node.kind in (NodeKind.TASK, NodeKind.LOOP) or not node.parents

    def parents(self, key: str) -> list[str]:
        """Return what a node is under and what is in sight; all that it is under where nothing is."""
        above = self.node(key).parents[:4]
        return [parent for parent in above if self.forest.opens(parent)] or list(above)

    def lines(self, key: str) -> list[tuple[str, str]]:
        """Return the lines that a node stands in, each with what stands in it: a slot, or the list of its items."""
        found: dict[tuple[str, str], None] = {}
        waiting = [(key, key)]
        while waiting and len(found) < 4:
            one, below = waiting.pop(0)
            if self.is_line(one):
                item = below != one and self.node(below).kind is NodeKind.ITEM
                found[one, one if item else below] = None
            else:
                waiting += [(parent, one) for parent in self.parents(one)]
        return list(found)

    def above(self, line: str) -> list[str]:
        """Return the nodes between a line and its root, nearest first, one way."""
        found: list[str] = []
        while parents := self.parents(line):
            line = max(parents, key=lambda one: (self.turn.weigh(self.words(one)), one in self.focus))
            found.append(line)
        return found

    def score(self, key: str) -> float:
        """Return how well the turn names a node: its own words, then those of what it is under, then how exactly."""
        own = self.words(key)
        score = self.turn.weigh(own)
        around, spoken = self.around(key)
        exact = 0.5 if own and own <= self.turn.words else 0.0
        close = 0.3 if key in self.focus else 0.2 if spoken else 0.0
        return score + ABOVE * self.turn.weigh(around - own) + exact + close

    def spoken(self) -> list[str]:
        """Return what was spoken of; of what is out of sight, unless the past is asked for, the line that it was in."""
        found: dict[str, None] = {}
        for key in self.focus:
            if self.turn.past or self.forest.visible(key):
                found[key] = None
            else:
                found |= dict.fromkeys(line for line, _ in self.lines(key) if self.forest.visible(line))
        return list(found)

    def called(self, key: str) -> str:
        """Return the name of a node, a slot with what it is a slot of."""
        node = self.node(key)
        above = self.parents(key)[:1] if node.kind is NodeKind.SLOT else []
        return " ".join([*(self.node(one).name for one in above), node.name])
