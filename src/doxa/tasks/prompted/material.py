"""material: turn, forest -> what a language model is shown of the forest, with an id for every node.

The choice is that of `context_of` (the parts that the turn needs, best first), then what was changed last, then the
rest; each node comes with all that it is under.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from doxa.core.tasks import NodeKind, TaskNode, TaskStatus
from doxa.memory import TaskForest
from doxa.tasks.context import picks, seeds
from doxa.tasks.context_view import View, read_turn, spoken_of

__all__ = ["GONE", "Material", "material_of", "places_of"]

MOST_SHOWN = 120
"""Nodes in sight that a model is shown at once."""
MOST_GONE = 12
MOST_PAST = 3
"""Earlier values of one slot."""
LONGEST_SAID = 600
"""Characters of what was said before."""
RECENT = 60
SMALL = 500
"""Nodes of a forest that is shown as a whole where there is room."""
GONE = "~"
"""Opens the path of a node that is out of sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a model is shown of one turn."""

    data: Mapping[str, Any]
    places: Mapping[str, str]
    """Id -> path of every node that is shown. An answer is kept in paths: ids are given out anew where a turn is
    forgotten."""

    def text(self) -> str:
        """Return it as the message of a request."""
        return json.dumps(self.data, ensure_ascii=False)


def material_of(
    text: str,
    forest: TaskForest,
    *,
    at: datetime,
    speaker: str,
    said_before: str,
    said_to: str = "tasks",
    budget: int,
    count_tokens: Callable[[str], int],
) -> Material | None:
    """Return what a model needs to read a turn; None where the turn alone is longer than the budget.

    Args:
        text: the turn.
        forest: the tasks before it.
        at: when it was said.
        speaker: who said it.
        said_before: what the assistant said just before; by default the reply to the turn before.
        said_to: "tasks", or "conversation" for a turn that may tell them something and may not.
        budget: tokens at most.
        count_tokens: of the model that is asked.

    Cost: O(`MOST_SHOWN`) nodes and what they are under.
    """
    last = forest.commits[-1] if forest.commits else None
    before = [said_before] if said_before else [last.text, last.reply] if last is not None else []
    data: dict[str, Any] = {"date": at.strftime("%A, %Y-%m-%d %H:%M"), "tasks": [], "gone": []}
    data |= {"before": [said[:LONGEST_SAID] for said in before if said], "speaker": speaker}
    data |= {"said_to": said_to, "message": text}
    left = budget - count_tokens(json.dumps(data, ensure_ascii=False))
    if left < 0:
        return None
    shown = _filled(forest, _in_sight(forest, text), left, count_tokens)
    left -= sum(count_tokens(line) for line in _nested(forest, shown))
    gone = dict(_fitting(forest, _out_of_sight(forest), left, count_tokens))
    data["tasks"], data["gone"] = list(_nested(forest, shown)), list(gone.values())
    places = forest.paths(shown) | {key: f"{GONE}{path}" for key, path in forest.paths(gone).items()}
    return Material(data=data, places=places)


def places_of(forest: TaskForest) -> dict[str, str]:
    """Return the id of every path, those out of sight under `GONE`; of several the one that was touched last."""
    found = {path: key for key, path in forest.paths(forest.order()).items()}
    hidden = [key for key in forest.recent(len(forest.nodes)) if not forest.visible(key)]
    for key, path in forest.paths(hidden).items():
        found.setdefault(f"{GONE}{path}", key)
    return found


def _in_sight(forest: TaskForest, text: str) -> Iterator[str]:
    """Give the nodes that a turn names and needs, best first, then those that were changed last, then the others."""
    if forest.nodes:
        view = View(forest, read_turn(text), spoken_of(forest))
        yield from seeds(view)
        for pick in sorted(picks(view).values(), key=lambda one: (one.tier, -one.score)):
            yield from (pick.key, *forest.items(pick.key))
    yield from forest.recent(RECENT)
    yield from forest.order() if len(forest.nodes) <= SMALL else forest.roots()


def _out_of_sight(forest: TaskForest) -> Iterator[str]:
    """Give the nodes that were taken out, the last first, each with the things that went with it."""
    for key in forest.recent(RECENT):
        if not forest.visible(key) and not forest.node(key).status.standing:
            below = (one for one in forest.descendants(key) if forest.node(one).kind is not NodeKind.SLOT)
            yield from (key, *(one for one in below if not forest.visible(one)))


def _filled(forest: TaskForest, keys: Iterable[str], budget: int, count_tokens: Callable[[str], int]) -> dict[str, str]:
    """Return the lines of nodes, and of what they are under, as long as they fit."""
    lines: dict[str, str] = {}
    for key in keys:
        if key in lines or not forest.visible(key):
            continue
        way = [key, *(above for above in forest.ancestors(key) if above not in lines and forest.visible(above))]
        new = {one: _line(forest, one) for one in reversed(way)}
        budget -= sum(count_tokens(line) * max(1, len(forest.node(one).parents)) for one, line in new.items())
        if budget < 0 or len(lines) + len(new) > MOST_SHOWN:
            break
        lines |= new
    return lines


def _fitting(
    forest: TaskForest, keys: Iterable[str], budget: int, count_tokens: Callable[[str], int]
) -> Iterator[tuple[str, str]]:
    for taken, key in enumerate(dict.fromkeys(keys)):
        node = forest.node(key)
        above = ", ".join(forest.node(one).name for one in node.parents)
        went = f"gone with {above}" if node.status.standing else f"{node.status}{f' from {above}' if above else ''}"
        line = f"{_line(forest, key)}; {went}"
        budget -= count_tokens(line)
        if budget < 0 or taken >= MOST_GONE:
            return
        yield key, line


def _nested(forest: TaskForest, lines: Mapping[str, str]) -> Iterator[str]:
    """Give the lines in the order of the forest, what is under a node indented.

    A shared node is in each of its places, and what is under it in the first.
    """
    waiting = [(root, 0) for root in reversed(forest.roots()) if root in lines]
    given: set[str] = set()
    while waiting:
        key, depth = waiting.pop()
        yield f"{'  ' * depth}{lines[key]}"
        if key not in given:
            given.add(key)
            waiting += [(child, depth + 1) for child in reversed(forest.children(key)) if child in lines]


def _line(forest: TaskForest, key: str) -> str:
    node = forest.node(key)
    value = f" = {node.value.text}" if node.value is not None and node.value.text else ""
    name = forest.label(key) if node.kind is NodeKind.ITEM else node.name
    return "; ".join((f"{key} {node.kind}: {name}{value}", *_marks(forest, node)))


def _marks(forest: TaskForest, node: TaskNode) -> Iterator[str]:
    """Give what else is known of a node."""
    past = _past(forest, node)
    if past:
        yield f"was {', '.join(past)}"
    if node.status in (TaskStatus.DONE, TaskStatus.BLOCKED):
        yield str(node.status)
    shared = [parent for parent in node.parents if forest.visible(parent)]
    if len(shared) > 1:
        yield f"shared by {', '.join(shared)}"
    for needed in node.depends:
        if needed.kind == "condition":
            yield f"on the condition that {needed.text}"
        elif needed.kind in ("before", "derived") and needed.on:
            far = f" by {needed.shift:+g} {needed.unit}".rstrip() if needed.shift else ""
            yield f"{'waits for' if needed.kind == 'before' else 'follows'} {needed.on}{far}"
    if node.bound is not None:
        yield f"at most {node.bound} times"


def _past(forest: TaskForest, node: TaskNode) -> Sequence[str]:
    """Return the last earlier values of a slot, oldest first."""
    if node.value is None:
        return ()
    values = (after.value.text for _, _, after in forest.revisions(node.node_id) if after is not None and after.value)
    return list(dict.fromkeys(text for text in values if text and text != node.value.text))[-MOST_PAST:]
