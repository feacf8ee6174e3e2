"""context page: parts of the forest, best first -> lines within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from doxa.core.tasks import Exported, NodeKind, TaskNode, TaskStatus
from doxa.core.tokens import estimate_tokens
from doxa.memory import TaskForest, place_of
from doxa.tasks.context_view import MOST_NEIGHBOURS, Pick, Tier, View

__all__ = ["Page", "changed_in"]

SIBLINGS_PART = 4
"""What only stands beside the answer gets one part in so many of the budget."""
MOST_VALUES = 4
"""Earlier values of one node that are shown: the first one and the last ones."""
LEAST = 2
"""Tokens below which nothing more is tried."""
MOST_BESIDE = 8
"""Items that are shown of a list that is no answer."""
DEEP = 3
"""Levels of slots under a slot or an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One part of a line: "participants Alice, Bob and 3 more (blocked)"."""

    name: str = ""
    values: tuple[str, ...] = ()
    more: int = 0
    """How many values were left out."""
    open: bool = False
    """There are more than were looked at."""
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Return it in words."""
        left = " and more" if self.open else f" and {self.more} more" if self.more else ""
        told = f" ({'; '.join(self.notes)})" if self.notes else ""
        return " ".join(part for part in (self.name, ", ".join(self.values)) if part) + left + told

    def within(self, tokens: int) -> Entry | None:
        """Return it with the values that fit; None where not one does."""
        if tokens <= 0:
            return None
        if estimate_tokens(self.text()) <= tokens:
            return self
        least, most = 0, len(self.values) - 1
        while least < most:
            middle = (least + most + 1) // 2
            fits = estimate_tokens(self._cut(middle).text()) <= tokens
            least, most = (middle, most) if fits else (least, middle - 1)
        return self._cut(least) if least > 0 else None

    def _cut(self, kept: int) -> Entry:
        return replace(self, values=self.values[:kept], more=self.more + len(self.values) - kept)


class Page:
    """Lines that are filled part by part, and never hold more than the budget."""

    def __init__(self, view: View, budget: int) -> None:
        self.view = view
        self.budget = budget
        self.used = 0
        self.beside = 0
        self._lines: dict[str, str] = {}
        """The lines so far, each with the line that it is under."""
        self._entries: dict[str, dict[str, str]] = {}
        self._said: dict[str, dict[int, str]] = {}

    def take(self, pick: Pick) -> bool:
        """Put a part on the page, with the lines above it; False where it does not fit."""
        sibling = pick.tier is Tier.SIBLING
        room = self.budget - self.used
        room = min(room, self.budget // SIBLINGS_PART - self.beside) if sibling else room
        if room < LEAST:
            return False
        heads = self._missing(pick.line)
        cost = sum(estimate_tokens(self._head(line, depth)) + 1 for line, _, depth in heads)
        entry = self._entry(pick)
        if pick.said:
            text = self._words(pick)
            cost += estimate_tokens(text) + 1
            if not text or cost > room or heads:
                return False
            self._said.setdefault(pick.line, {})[pick.said] = text
        elif entry is not None:
            fitting = entry.within(room - cost - 1)
            if fitting is None:
                return False
            cost += estimate_tokens(fitting.text()) + 1
            self._entries.setdefault(pick.line, {})[pick.key] = fitting.text()
        elif cost > room:
            return False
        self._lines |= {line: above for line, above, _ in heads}
        self.used += cost
        self.beside += cost if sibling else 0
        return True

    def text(self) -> str:
        """Return the lines, the task that was needed most first."""
        return "\n".join(line for root, above in self._lines.items() if not above for line in self._told(root, 0))

    def least(self, ranked: Sequence[Pick]) -> str:
        """Return the best part by itself, as much of it as fits: with its line, with its name, its value."""
        for pick in ranked:
            entry = None if pick.said else self._entry(pick)
            head = f"- {self.view.node(pick.line).name}"
            if entry is None:
                if estimate_tokens(head) <= self.budget:
                    return head
                continue
            short = replace(entry, notes=())
            for before, one in ((f"{head}: ", entry), (f"{head}: ", short), ("", short), ("", replace(short, name=""))):
                fitting = one.within(self.budget - estimate_tokens(before))
                if fitting is not None and fitting.text():
                    return before + fitting.text()
        return ""

    # -- lines

    def _missing(self, line: str) -> list[tuple[str, str, int]]:
        """Return the lines from the root to one that are not there, each with the one above it and its depth."""
        way = [line, *(above for above in self.view.above(line) if self.view.is_line(above))][::-1]
        pairs = zip(way, ("", *way), range(len(way)), strict=False)
        return [(one, above, depth) for one, above, depth in pairs if one not in self._lines]

    def _head(self, line: str, depth: int) -> str:
        node = self.view.node(line)
        notes = (*_standing(self.view, node), *([f"round {node.round} of {node.bound}"] if node.round else []))
        told = f" ({'; '.join(notes)})" if notes else ""
        return f"{'  ' * depth}- {node.name}{told}"

    def _told(self, line: str, depth: int) -> Iterator[str]:
        order = {key: at for at, key in enumerate((line, *self.view.children(line)[0]))}
        entries = self._entries.get(line, {})
        told = "; ".join(entries[key] for key in sorted(entries, key=lambda one: order.get(one, len(order))))
        yield self._head(line, depth) + (f": {told}" if told else "")
        for _, text in sorted(self._said.get(line, {}).items()):
            yield f"{'  ' * depth}  {text}"
        below = [one for one, above in self._lines.items() if above == line]
        for one in sorted(below, key=lambda one: place_of(self.view.node(one), line) or 0.0):
            yield from self._told(one, depth + 1)

    def _words(self, pick: Pick) -> str:
        commit = self.view.forest.commit(pick.said)
        return f"turn {pick.said}: “{' '.join(commit.text.split())}”" if commit is not None and commit.text else ""

    # -- entries

    def _entry(self, pick: Pick) -> Entry | None:
        view, node = self.view, self.view.node(pick.key)
        own = pick.key == pick.line
        past = view.turn.past and pick.tier is not Tier.SIBLING
        earlier = _earlier(view.forest, pick.key) if past else ()
        if not view.forest.visible(pick.key):
            gone = () if own or (earlier and node.status.standing) else tuple(_gone(view, node))
            return Entry(name="" if own else node.name, notes=(*earlier, *gone)) if earlier or gone else None
        items, more = _items(view, pick.key)
        left = max(0, len(items) - self._most(pick, items))
        values = tuple(_item(view, one) for one in items[: len(items) - left]) or _value(node)
        details = () if own else tuple(_details(view, pick.key, values, DEEP))
        if not values and not own and not details:
            values = ("not set",) if not node.waits else ()
        notes = (*details, *(() if own else _standing(view, node)), *_rests_on(view, node), *earlier)
        if not values and not notes:
            return None
        return Entry(name="" if own else node.name, values=values, more=left, open=more, notes=notes)

    def _most(self, pick: Pick, items: Sequence[str]) -> int:
        """Return how many items of a list are shown: few beside what is asked for, another part or single items."""
        answer = pick.tier in (Tier.ANSWER, Tier.PART) or (pick.tier is Tier.SPOKEN and not self._lines)
        if not answer:
            return MOST_BESIDE
        if len(items) <= 2 * MOST_BESIDE or self.view.turn.whole:
            return len(items)
        scores = [self.view.turn.weigh(self.view.words(one)) for one in items]
        named = scores.count(max(scores))
        return named + MOST_BESIDE if named < len(items) else len(items)


def _items(view: View, key: str) -> tuple[list[str], bool]:
    """Return the items of a list, those that the turn names first where it is long, and whether there are more."""
    children, more = view.children(key)
    items = [one for one in children if view.node(one).kind is NodeKind.ITEM and not view.node(one).waits]
    if len(items) > 2 * MOST_BESIDE:
        items.sort(key=lambda one: -view.turn.weigh(view.words(one)))
    return ([], False) if view.node(key).waits else (items, more)


def _value(node: TaskNode) -> tuple[str, ...]:
    return (node.value.text,) if node.value is not None and node.value.text and not node.waits else ()


def _item(view: View, key: str) -> str:
    label = view.forest.label(key)
    value = view.node(key).value
    notes = [value.text] if value is not None and value.text else []
    notes += [*_details(view, key, (label,), DEEP), *_standing(view, view.node(key))]
    return f"{label} ({'; '.join(notes)})" if notes else label


def _details(view: View, key: str, shown: Sequence[str], depth: int) -> Iterator[str]:
    """Give the slots under a slot or an item, but for what its label says."""
    for child in view.children(key)[0]:
        node = view.node(child)
        if view.is_line(child) or node.kind is NodeKind.ITEM or depth == 0:
            continue
        values = tuple(view.forest.label(one) for one in _items(view, child)[0][:MOST_BESIDE]) or _value(node)
        told = ", ".join(values)
        if told and not any(f" {told} ".casefold() in f" {one} ".casefold() for one in shown):
            inner = "; ".join(_details(view, child, values, depth - 1))
            yield f"{node.name} {told}{f' ({inner})' if inner else ''}"


def _standing(view: View, node: TaskNode) -> tuple[str, ...]:
    """Return where a node stands, where it is not simply there."""
    if not view.forest.visible(node.node_id):
        return tuple(_gone(view, node))
    if node.waits:
        return tuple(f"only if: {one.text}" for one in node.depends if one.kind == "condition")
    return (str(node.status),) if node.status is not TaskStatus.ACTIVE else ()


def _rests_on(view: View, node: TaskNode) -> Iterator[str]:
    """Give what a node follows or waits for, of what is in sight."""
    for needed in islice(node.depends, MOST_NEIGHBOURS):
        there = needed.on and view.forest.get(needed.on) is not None and view.forest.visible(needed.on)
        if there and needed.kind in ("derived", "before"):
            yield f"{'follows' if needed.kind == 'derived' else 'after'} {view.called(needed.on)}"


# -- the past


def _gone(view: View, node: TaskNode) -> list[str]:
    """Return how and when a node went out of sight."""
    for one in (node, *(view.node(key) for key in view.forest.ancestors(node.node_id))):
        if one.status.standing:
            continue
        ended = (
            number
            for number, before, after in reversed(view.forest.revisions(one.node_id))
            if after is not None and not after.status.standing and (before is None or before.status.standing)
        )
        word = str(one.status) if one is node else f"gone with {one.name}"
        return [f"{word} in turn {number}" for number in islice(ended, 1)]
    return []


def _earlier(forest: TaskForest, key: str) -> tuple[str, ...]:
    """Return the values that a node had, and until when; of a list what went from it."""
    ended = _ended(forest, key)
    if len(ended) > MOST_VALUES:
        ended = [ended[0], *ended[1 - MOST_VALUES :]]
    return (", ".join(f"{text} until turn {number}" for text, number in ended),) if ended else ()


def changed_in(forest: TaskForest, key: str) -> list[int]:
    """Return the numbers of the commits that took a value from a node, the latest first."""
    return sorted({number for _, number in _ended(forest, key)}, reverse=True)


def _ended(forest: TaskForest, key: str) -> list[tuple[str, int]]:
    line = forest.timeline(key)
    if any(isinstance(value, list) for _, value in line):
        gone: dict[str, int] = {}
        for (_, before), (number, after) in pairwise(line):
            for text in _listed(before):
                if text not in _listed(after):
                    gone[text] = number
        now = _listed(line[-1][1])
        return sorted(((text, number) for text, number in gone.items() if text not in now), key=lambda one: one[1])
    ended = [(str(before), number) for (_, before), (number, _) in pairwise(line) if before is not None]
    return [one for at, one in enumerate(ended) if at + 1 == len(ended) or ended[at + 1][0] != one[0]]


def _listed(value: Exported) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []
