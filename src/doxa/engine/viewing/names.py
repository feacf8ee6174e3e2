"""The people and things of a memory in the order in which they are shown, found by what is typed of their names."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from doxa.engine.viewing.order import add, drop
from doxa.memory import Beliefs, fold

__all__ = ["Directory", "Entry", "label_of"]

KEPT_QUERIES = 32
"""Queries whose hits are kept for their next pages."""
START, WORD = "\n", "\x1f"
"""What a name and a word of a name begin with, in the text that is searched."""
Order = tuple[int, str, str]
"""Firm facts (negative), folded label, key."""
Hits = tuple[list[Order], list[Order], list[Order]]
"""Whose name begins with a query, has a word that does, or has it within."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How many facts are about a key: held ones, and by where they stand."""

    key: str
    held: int
    firm: int
    tentative: int
    past: int


@dataclass(frozen=True, slots=True)
class _Names:
    order: Order
    within: str
    """All names, folded, each between `START`s."""
    marked: str
    """The same with a mark before each word."""


@dataclass(slots=True)
class Directory:
    """The people and things that facts are about, most believed facts first."""

    entries: dict[str, Entry] = field(default_factory=dict)
    order: list[Order] = field(default_factory=list)
    _names: dict[str, _Names] = field(default_factory=dict)
    _hits: OrderedDict[str, Hits] = field(default_factory=OrderedDict)

    def update(self, keys: Iterable[str], entry: Callable[[str], Entry | None], beliefs: Beliefs) -> None:
        """Bring what is told of some keys up to date. Cost: O(their names)."""
        fresh = []
        for key in keys:
            self.entries.pop(key, None)
            if (names := self._names.pop(key, None)) is not None:
                drop(self.order, names.order)
            if (new := entry(key)) is not None:
                fresh.append(new)
        for names, new in sorted(((_named(one, beliefs), one) for one in fresh), key=lambda pair: pair[0].order):
            self.entries[new.key], self._names[new.key] = new, names
            add(self.order, names.order)
        self._hits.clear()

    def page(self, query: str, after: tuple[int, Order] | None, limit: int) -> tuple[list[tuple[int, Order]], int]:
        """Return up to `limit` of those that a query finds with how well each fits (0 is best), and how many there are.

        Args:
            query: what was typed of a name; empty finds all.
            after: only those behind this one.
            limit: how many at most.

        Cost: O(names) for a new query, in steps of a substring search; O(limit) for its next pages.
        """
        typed = fold(query).strip()
        buckets = self._found(typed) if typed else (self.order, [], [])
        found: list[tuple[int, Order]] = []
        for fit, bucket in enumerate(buckets):
            if after is not None and fit < after[0]:
                continue
            start = bisect_right(bucket, after[1]) if after is not None and fit == after[0] else 0
            found += [(fit, one) for one in bucket[start : start + limit - len(found)]]
        return found, sum(map(len, buckets))

    def called(self, name: str) -> str | None:
        """Return the key of whoever has a name, whatever its case and accents; with several, of the best known."""
        whole = f"{START}{fold(name).strip()}{START}"
        return next((one[2] for one in self.order if whole in self._names[one[2]].within), None)

    def _found(self, typed: str) -> Hits:
        if (known := self._hits.get(typed)) is not None:
            self._hits.move_to_end(typed)
            return known
        names, first, word = self._names, START + _marked(typed), _marked(typed)
        hits: Hits = ([], [], [])
        for one in [order for order in self.order if typed in names[order[2]].within]:
            marked = names[one[2]].marked
            hits[0 if first in marked else 1 if word in marked else 2].append(one)
        self._hits[typed] = hits
        if len(self._hits) > KEPT_QUERIES:
            self._hits.popitem(last=False)
        return hits


def label_of(key: str, beliefs: Beliefs) -> str:
    """Return how a key is written: as it came up first."""
    seen = beliefs.identity.seen.get(key)
    if seen is not None:
        return seen.term.label
    told = next(iter(beliefs.about(key)), None)
    return told.subject.label if told is not None and told.subject.key == key else key


def _named(entry: Entry, beliefs: Beliefs) -> _Names:
    seen, label = beliefs.identity.seen, label_of(entry.key, beliefs)
    others = (seen[name].term.label for name in beliefs.identity.names(entry.key) if name in seen)
    names = [fold(name) for name in dict.fromkeys((label, *others))]
    return _Names(
        order=(-entry.firm, names[0], entry.key),
        within=f"{START}{START.join(names)}{START}",
        marked=f"{START}{START.join(map(_marked, names))}{START}",
    )


def _marked(text: str) -> str:
    """Return a text with a mark before each of its words."""
    before, found = "", []
    for char in text:
        found.append(WORD + char if char.isalnum() and not before.isalnum() else char)
        before = char
    return "".join(found)
