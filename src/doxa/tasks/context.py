"""context: turn, forest -> the smallest part of the forest that answers the turn, as text for a language model.

Source: Task Memory Engine, section 4.5. There a turn u_t is cut into sub-tasks, and retrieval selects from the graph
G_t = (V_t, E_t) a subgraph S_u of it that goes to the model in the place of the conversation; appendix A.1 takes the
path from the root to the current node for it ("Collect name (current value: John Doe)"). Here it is taken further:

- it starts from all nodes that the turn names (by an index over names and aliases, then by the values of what is
  looked at) and from what was spoken of, not from one current node;
- it closes over what these rest on: the path to the root, their items and slots, and dependencies in both directions;
- what only stands beside the answer gets at most a part of the budget, so that the text is short where the turn is
  narrow, and whole where a task is asked for as a whole;
- the past (earlier values, what was removed, the words that did it) is in it only where the turn asks for the past. The
  paper gives the model the history or nothing.

Cost: what is looked at is bounded (`MOST_NODES`), however large the forest is; no model is called.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from doxa.core.tasks import NodeKind
from doxa.memory import TaskForest
from doxa.tasks.context_page import Page, changed_in
from doxa.tasks.context_view import (
    ABOVE,
    MOST_CHILDREN,
    MOST_NEIGHBOURS,
    MOST_NODES,
    MOST_SEEDS,
    Pick,
    Tier,
    View,
    read_turn,
    spoken_of,
)

__all__ = ["context_of"]

CLOSE = 0.1
"""How much worse than the best a node may be that a word of the turn means."""
OTHER = frozenset({""})
"""Stands for the words that name a slot by another name."""
VALUE = 0.9
"""What a word of a value counts, where one of a name counts 1."""
MOST_LINES = 6
"""Tasks whose slots are searched for the words of the turn."""
MOST_SPOKEN = 2
"""Nodes of the focus that are shown beside an answer."""
MOST_DEPTH = 3
"""Levels of tasks under one that is asked for as a whole."""
MOST_PICKS = 200
MOST_SAID = 3
"""Turns whose words are shown where the past is asked for."""

Picks = dict[tuple[str, str], Pick]


def context_of(forest: TaskForest, text: str, *, budget: int = 400, focus: Sequence[str] = ()) -> str:
    """Return what of the tasks a language model needs to answer a turn: one line a task, what is under it indented.

    Superseded and removed values are in it only where the turn asks for the past, and then with the turn (the number of
    the commit) until which they stood: "time 4 PM (2 PM until turn 3)".

    Args:
        forest: the tasks, which stay as they are.
        text: what the user said.
        budget: tokens at most (`estimate_tokens`).
        focus: the ids of what was spoken of, the latest first; by default that of the last commits.

    Returns:
        Lines "- team meeting: time 4 PM; participants Alice, Bob, Carol". Empty where there are no tasks, or the budget
        holds no value. Deterministic.

    Cost: O(`MOST_NODES`) nodes and the index entries of the turn's words; where the past is asked for, the changes of
    what is shown.
    """
    if budget <= 0 or not forest.nodes:
        return ""
    turn = read_turn(text)
    view = View(forest, turn, tuple(dict.fromkeys(focus)) or spoken_of(forest))
    ranked = sorted((*(found := picks(view)).values(), *words_of(view, found)), key=lambda one: (one.tier, -one.score))
    page = Page(view, budget)
    if not ranked:
        return ""
    if not page.take(ranked[0]):
        short = page.least(ranked[:1])
        if short:
            return short
    for pick in ranked[1:MOST_PICKS]:
        page.take(pick)
    return page.text() or page.least(ranked)


def picks(view: View) -> Picks:
    """Return the parts that the turn needs, each in the best of its tiers."""
    found: Picks = {}
    tasks: dict[str, float] = {}
    """Tasks that are named themselves: they are asked for as a whole, unless a part of them is."""
    for key, score in seeds(view).items():
        if view.is_line(key):
            tasks[key] = score
        else:
            for line, part in view.lines(key):
                _add(found, Tier.ANSWER, score, line, part)
    for line in list(dict.fromkeys((*tasks, *(line for line, _ in found))))[:MOST_LINES]:
        _by_value(view, found, line)
    spoken = view.spoken()
    answered = bool(found or tasks)
    if not answered:
        recent = (key for key in spoken_of(view.forest, MOST_LINES) if view.forest.visible(key))
        near = dict.fromkeys(line for key in (*spoken, *recent) for line, _ in view.lines(key))
        for line in islice(near, MOST_LINES):
            _by_value(view, found, line)
    parts = {line for line, _ in found}
    wholes = {line for line in tasks if line not in parts}
    for line in wholes:
        _add(found, Tier.ANSWER, tasks[line], line, line)
    for at, key in enumerate(spoken[: MOST_SPOKEN if found else MOST_SEEDS]):
        for line, part in view.lines(key):
            _add(found, Tier.SPOKEN, -float(at), line, part)
    if not found:
        wholes.update(latest_root(view))
        found = {(root, root): Pick(tier=Tier.SPOKEN, line=root, key=root) for root in wholes}
    _around(view, found, wholes)
    return found


def seeds(view: View) -> dict[str, float]:
    """Return the nodes that the turn names best: for each of its words those that fit the whole turn best."""
    scores = {key: view.score(key) for key in view.found}
    best: dict[str, float] = {}
    reach: dict[str, frozenset[str]] = {}
    for key, score in scores.items():
        reach[key] = view.turn.words & (view.words(key) | view.around(key)[0])
        for word in reach[key]:
            if score > best.get(word, 0.0):
                best[word] = score
    kept = (key for key in scores if any(scores[key] >= best[word] - CLOSE for word in reach[key]))
    return {key: scores[key] for key in islice(sorted(kept, key=lambda one: -scores[one]), MOST_SEEDS)}


def words_of(view: View, found: Picks) -> Iterator[Pick]:
    """Give the words with which what the turn asks for was changed, where it asks for the past."""
    if not view.turn.past:
        return
    asked = sorted(found.values(), key=lambda one: (one.tier, -one.score))
    said: dict[int, None] = {}
    for pick in asked[:MOST_SAID]:
        if pick.tier <= Tier.SPOKEN:
            for number in changed_in(view.forest, pick.key)[:MOST_SAID]:
                if number not in said and len(said) < MOST_SAID:
                    said[number] = None
                    yield Pick(tier=Tier.SAID, score=float(number), line=pick.line, key=pick.line, said=number)


def latest_root(view: View) -> list[str]:
    """Return the latest root in sight; none where the last ones are all out of sight."""
    roots = islice(reversed(view.forest.all_roots()), 16 * MOST_CHILDREN)
    return list(islice((root for root in roots if view.forest.visible(root)), 1))


def _by_value(view: View, found: Picks, line: str) -> None:
    """Pick the parts of a line whose names, other names, values or items the turn speaks of: the best for each word."""
    around, asked = view.words(line), view.turn.words
    parts: list[tuple[str, float, frozenset[str]]] = []
    best: dict[str, float] = {}
    for part in (line, *view.children(line)[0]):
        item = view.node(part).kind is NodeKind.ITEM
        if part != line and view.is_line(part):
            continue
        names = view.words(part) - around if part != line else frozenset[str]()
        values = view.value_words(part)
        if part != line and not item:
            values = values.union(*(view.words(one) for one in view.children(part)[0]))
        score = view.turn.weigh(names) + VALUE * len(asked & (values - around - names))
        if score:
            words = (asked & (names | (values - around))) or OTHER
            parts.append((line if item else part, score, words))
            best |= {word: max(score, best.get(word, 0.0)) for word in words}
    for part, score, words in parts:
        if any(score >= best[word] - CLOSE for word in words):
            _add(found, Tier.ANSWER, score + ABOVE * view.turn.weigh(around), line, part)


def _around(view: View, found: Picks, wholes: Collection[str]) -> None:
    """Pick what the parts so far rest on, and what stands beside them."""
    first = sorted(found.values(), key=lambda one: (one.tier, -one.score))[:MOST_SEEDS]
    answers = [pick for pick in first if pick.tier is Tier.ANSWER]
    for pick in answers or first:
        for at, key in enumerate(_connected(view, pick.key)):
            for line, part in view.lines(key):
                _add(found, Tier.NEIGHBOUR, -float(at), line, part)
    lines = dict.fromkeys(pick.line for pick in answers or first)
    for line in islice(lines, MOST_LINES):
        for one in dict.fromkeys((line, (view.above(line) or [line])[-1])):
            whole = view.turn.whole or one in wholes
            _below(view, found, one, Tier.PART if whole else Tier.SIBLING, deep=whole)


def _connected(view: View, key: str) -> list[str]:
    """Return what a node, or what is in its list, depends on, and what depends on it, in sight."""
    forest, node = view.forest, view.node(key)
    needed = [one.on for one in node.depends if one.kind != "fact" and one.on and forest.get(one.on) is not None]
    ways = (needed, forest.dependents(key))
    return [one for way in ways for one in islice(way, MOST_NEIGHBOURS) if forest.visible(one)]


def _below(view: View, found: Picks, line: str, tier: Tier, *, deep: bool, depth: int = 0) -> None:
    """Pick everything that stands in a line, and, where it is asked for as a whole, the lines under it."""
    if view.looked >= MOST_NODES:
        return
    if not view.forest.visible(line):
        for child in view.forest.all_children(line)[:MOST_NEIGHBOURS] if view.turn.past else ():
            _add(found, tier, 0.0, line, child)
        return
    _add(found, tier, -float(depth), line, line)
    for at, child in enumerate(view.children(line)[0]):
        if view.is_line(child):
            _add(found, tier, -float(depth) - at / 1000.0, child, child)
            if deep and depth < MOST_DEPTH:
                _below(view, found, child, tier, deep=True, depth=depth + 1)
        elif view.node(child).kind is not NodeKind.ITEM:
            _add(found, tier, -float(depth) - at / 1000.0, line, child)


def _add(found: Picks, tier: Tier, score: float, line: str, key: str) -> None:
    known = found.get((line, key))
    if known is None or (tier, -score) < (known.tier, -known.score):
        found[line, key] = Pick(tier=tier, score=score, line=line, key=key)
