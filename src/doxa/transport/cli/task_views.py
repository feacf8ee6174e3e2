"""How tasks read: as a tree, as what changed turn by turn, as a graph in Mermaid or DOT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from doxa.core.tasks import Forest, NodeKind, TaskCommit, TaskNode, TaskStatus, TaskView
from doxa.transport.cli.render import clean, put, shorten, when
from doxa.transport.differences import Difference, differences

__all__ = ["dot", "mermaid", "show_commits", "show_differences", "show_forest"]

MARKS = {TaskStatus.DONE: "✓ ", TaskStatus.BLOCKED: "‖ ", TaskStatus.REMOVED: "✗ ", TaskStatus.REPLACED: "✗ "}
STYLES = {"+": "green", "-": "red", "~": "yellow"}
LONGEST = 200
"""Characters of what was said."""


def show_differences(out: Console, found: Sequence[Difference], *, indent: int = 2) -> None:
    """Print what a turn changed, a node a line."""
    for one in found:
        put(out, clean(one), style=STYLES[one.mark], indent=indent)


def show_commits(out: Console, forest: Forest) -> None:
    """Print every turn with what was said, what it changed, and what was said to it."""
    if not forest.commits:
        out.print("Nothing was told to the tasks.")
    for commit in forest.commits:
        put(out, _headline(commit), style="bold")
        show_differences(out, differences(commit.edits, forest))
        if commit.reply:
            put(out, clean(commit.reply), style="dim", indent=2)


def _headline(commit: TaskCommit) -> str:
    by = ", ".join(part for part in (clean(commit.author), when(commit.at)) if part)
    undoes = "" if commit.undoes is None else f" (takes back {commit.undoes})"
    said = f': "{shorten(commit.text, LONGEST)}"' if commit.text else ": by hand"
    return f"{commit.number}. {by}{said}{undoes}"


def show_forest(out: Console, forest: Forest, *, hidden: bool = False, history: bool = False) -> None:
    """Print the tasks, a tree each: marks of what is done or blocked, values, what is shared, on demand the past."""
    roots = forest.tree(hidden=hidden)
    if not roots:
        out.print("There are no tasks.")
    past = _past(forest) if history else {}
    names = {view.node.node_id: view.node.name for view in (*forest.nodes, *forest.hidden)}
    for root in roots:
        shown = Tree(_label(root, names, past), guide_style="dim")
        waiting = [(shown, root)]
        while waiting:
            branch, data = waiting.pop()
            waiting += [(branch.add(_label(child, names, past)), child) for child in data["children"]]
        put(out, shown)


def _label(data: Mapping[str, Any], names: Mapping[str, str], past: Mapping[str, str]) -> Text:
    """Return one node of `Forest.tree` in words."""
    style = "bold" if data["kind"] in (NodeKind.TASK, NodeKind.LOOP) else ""
    label = Text(MARKS.get(data["status"], ""), style=style if data["visible"] else "dim")
    label.append(clean(data["name"]))
    if isinstance(data["value"], str):
        label.append(f": {clean(data['value'])}", style="not bold")
    notes = [data["status"]] if data["status"] != TaskStatus.ACTIVE else []
    notes += ["shared"] if data["shared"] else []
    notes += [_needed(one, names) for one in data["depends"]]
    if notes:
        label.append(f"  ({clean('; '.join(notes))})", style="dim not bold")
    if data["id"] in past:
        label.append(f"\n{clean(past[data['id']])}", style="dim not bold")
    return label


def _needed(needed: Mapping[str, str], names: Mapping[str, str]) -> str:
    words = {"before": "after", "derived": "follows", "condition": "if", "fact": "rests on fact"}
    return f"{words[needed['kind']]} {names.get(needed['on'], needed['on']) or needed['text']}"


def _past(forest: Forest) -> dict[str, str]:
    """Return what stood in every node before, by its id: "7 pm (until turn 4) -> 8 pm"."""
    told: dict[str, list[str]] = {}
    for commit in forest.commits:
        for key, (gone, come) in _turnover(commit).items():
            line = told.setdefault(key, [])
            if gone:
                old = f"{', '.join(gone)} (until turn {commit.number})"
                line += [f"{old} -> {', '.join(come)}" if come else old]
    return {key: "; ".join(line) for key, line in told.items() if line}


def _turnover(commit: TaskCommit) -> dict[str, tuple[list[str], list[str]]]:
    """Return the values, or the items, that went out of each node with a commit, and those that came in."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for edit in commit.edits:
        for side, now, other in ((0, edit.before, edit.after), (1, edit.after, edit.before)):
            for key, text in _held(now).items():
                if _held(other).get(key) != text:
                    found.setdefault(key, ([], []))[side].append(text)
    return found


def _held(node: TaskNode | None) -> dict[str, str]:
    """Return what a node is to others: its value to itself, and, of an item that stands, its name to its parents."""
    if node is None:
        return {}
    own = {node.node_id: node.value.text} if node.value is not None and node.value.text else {}
    return own | dict.fromkeys(node.parents, node.name) if node.kind is NodeKind.ITEM and node.status.standing else own


def mermaid(forest: Forest, *, hidden: bool = False) -> str:
    """Return the tasks as a Mermaid flow chart: what is under what, and, dashed, what waits for or follows what."""
    lines = ["flowchart TD"]
    for view in _views(forest, hidden):
        text = _caption(view).replace('"', "#quot;").replace("\n", " ")
        lines.append(f'  {view.node.node_id}["{text}"]')
        if view.node.status is not TaskStatus.ACTIVE:
            lines.append(f"  class {view.node.node_id} {view.node.status}")
    lines += [f"  {one} --> {other}" for one, other, kind in _edges(forest, hidden) if not kind]
    lines += [f"  {one} -. {kind} .-> {other}" for one, other, kind in _edges(forest, hidden) if kind]
    return "\n".join(lines)


def dot(forest: Forest, *, hidden: bool = False) -> str:
    """Return the tasks as a graph in DOT; see `mermaid`."""
    lines = ["digraph tasks {", "  node [shape=box];"]
    for view in _views(forest, hidden):
        text = _caption(view).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        look = "" if view.node.status is TaskStatus.ACTIVE else f', style=dashed, tooltip="{view.node.status}"'
        lines.append(f'  {view.node.node_id} [label="{text}"{look}];')
    for one, other, kind in _edges(forest, hidden):
        lines.append(f"  {one} -> {other}" + (f' [style=dashed, label="{kind}"];' if kind else ";"))
    return "\n".join([*lines, "}"])


def _views(forest: Forest, hidden: bool) -> Sequence[TaskView]:
    return (*forest.nodes, *forest.hidden) if hidden else forest.nodes


def _caption(view: TaskView) -> str:
    """Return what stands in the box of a node."""
    value = f": {view.node.value.text}" if view.node.value is not None and view.node.value.text else ""
    return clean(MARKS.get(view.node.status, "") + view.node.name + value)


def _edges(forest: Forest, hidden: bool) -> list[tuple[str, str, str]]:
    """Return parent and child, or what is waited for and what waits, with the kind of dependency."""
    views = _views(forest, hidden)
    shown = {view.node.node_id for view in views}
    under = [(parent, view.node.node_id, "") for view in views for parent in view.node.parents]
    needs = [(one.on, view.node.node_id, one.kind) for view in views for one in view.node.depends]
    return [edge for edge in (*under, *needs) if edge[0] in shown]
