"""The people and things of a memory in the order in which they are shown, found by what is typed of their names."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from doxa.memory import Beliefs, fold

__all__ = ["Directory", "Entry", "label_of"]

KEPT_QUERIES = 32
"""Queries whose hits are kept for their next pages."""
LONGEST_QUERY = 1_000
"""Characters of a query that are looked at."""
START, WORD = "\n", "\x1f"
"""What a name and a word of a name begin with, in the text that is searched."""
Order = tuple[int, str, str]
"""Firm facts (negative), folded label, key."""
Hits = tuple[Sequence[int], Sequence[int], Sequence[int]]
"""Whose name begins with a query, has a word that does, or has it within: by their numbers in the order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How many facts are about a key: held ones, and by where they stand."""

    key: str
    held: int
    firm: int
    tentative: int
    past: int


@dataclass(slots=True)
class Directory:
    """The people and things that facts are about, most believed facts first."""

    entries: dict[str, Entry] = field(default_factory=dict)
    order: list[Order] = field(default_factory=list)
    _within: list[str] = field(default_factory=list)
    """All names of each, folded, each name between `START`s."""
    _marked: list[str] = field(default_factory=list)
    """The same with a mark before each word."""
    _placed: dict[str, Order] = field(default_factory=dict)
    _hits: OrderedDict[str, Hits] = field(default_factory=OrderedDict)

    def update(self, keys: Iterable[str], entry: Callable[[str], Entry | None], beliefs: Beliefs) -> None:
        """Bring what is told of some keys up to date. Cost: O(their names), and a move of memory for each."""
        fresh = []
        for key in keys:
            self._take_out(key)
            if (new := entry(key)) is not None:
                names = _names_of(key, beliefs)
                fresh.append(((-new.firm, names[0], key), names, new))
        for order, names, new in sorted(fresh, key=itemgetter(0)):  # all of them at first, which then only come last
            at = bisect_left(self.order, order) if self.order and order < self.order[-1] else len(self.order)
            self.order.insert(at, order)
            self._within.insert(at, f"{START}{START.join(names)}{START}")
            self._marked.insert(at, f"{START}{START.join(map(_marked, names))}{START}")
            self.entries[new.key], self._placed[new.key] = new, order
        self._hits.clear()

    def _take_out(self, key: str) -> None:
        if self.entries.pop(key, None) is not None:
            at = bisect_left(self.order, self._placed.pop(key))
            for column in (self.order, self._within, self._marked):
                del column[at]

    def page(self, query: str, after: tuple[int, Order] | None, limit: int) -> tuple[list[tuple[int, Order]], int]:
        """Return up to `limit` of those that a query finds with how well each fits (0 is best), and how many there are.

        Args:
            query: what was typed of a name; empty finds all.
            after: only those behind this one.
            limit: how many at most.

        Cost: one substring search in each name for a new query, O(limit) for its next pages.
        """
        typed = fold(query[:LONGEST_QUERY]).strip()
        hits: Hits = self._found(typed) if typed else (range(len(self.order)), (), ())
        found: list[tuple[int, Order]] = []
        for fit, numbers in enumerate(hits):
            if after is None or fit > after[0]:
                start = 0
            elif fit < after[0]:
                continue
            else:
                start = bisect_right(numbers, after[1], key=self.order.__getitem__)
            found += [(fit, self.order[number]) for number in numbers[start : start + limit - len(found)]]
        return found, sum(map(len, hits))

    def found(self, query: str) -> Iterator[str]:
        """Yield the keys of those that a query finds; see `page`."""
        typed = fold(query[:LONGEST_QUERY]).strip()
        for numbers in self._found(typed) if typed else (range(len(self.order)),):
            yield from (self.order[number][2] for number in numbers)

    def called(self, name: str) -> str | None:
        """Return the key of whoever has a name, whatever its case and accents; with several, of the best known."""
        whole = f"{START}{fold(name).strip()}{START}"
        return next((self.order[number][2] for number, names in enumerate(self._within) if whole in names), None)

    def _found(self, typed: str) -> Hits:
        if (known := self._hits.get(typed)) is not None:
            self._hits.move_to_end(typed)
            return known
        word = _marked(typed)
        first, marked = START + word, self._marked
        every = [number for number, names in enumerate(self._within) if typed in names]
        fits = [0 if first in marked[number] else 1 if word in marked[number] else 2 for number in every]
        starts, begins, within = (
            [number for number, one in zip(every, fits, strict=True) if one == fit] for fit in range(3)
        )
        self._hits[typed] = starts, begins, within
        if len(self._hits) > KEPT_QUERIES:
            self._hits.popitem(last=False)
        return self._hits[typed]


def label_of(key: str, beliefs: Beliefs) -> str:
    """Return how a key is written: as it came up first."""
    seen = beliefs.identity.seen.get(key)
    if seen is not None:
        return seen.term.label
    told = next(iter(beliefs.about(key)), None)
    return told.subject.label if told is not None and told.subject.key == key else key


def _names_of(key: str, beliefs: Beliefs) -> list[str]:
    """Return the names of a key, folded, its own first."""
    seen = beliefs.identity.seen
    others = (seen[name].term.label for name in beliefs.identity.names(key) if name in seen)
    return [fold(name) for name in dict.fromkeys((label_of(key, beliefs), *others))]


def _marked(text: str) -> str:
    """Return a text with a mark before each of its words."""
    before, found = "", []
    for char in text:
        found.append(WORD + char if char.isalnum() and not before.isalnum() else char)
        before = char
    return "".join(found)
