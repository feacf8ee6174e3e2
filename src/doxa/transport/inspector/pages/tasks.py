"""The tasks: what is to be done as an outline and as a graph, one of them with its past, and all that was done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import JSONResponse, Response

from doxa.core.errors import InputError, NotFoundError
from doxa.core.tasks import Dependency, NodeKind, TaskEdit, TaskStatus
from doxa.core.taskviews import TaskNames, TaskRow, TaskStep
from doxa.transport.differences import Difference, differences_at
from doxa.transport.inspector.deeds import DEEDS, KINDS_OF_NEED, LONGEST, POSTS, UNITS
from doxa.transport.inspector.visit import Visit

if TYPE_CHECKING:
    from doxa.engine import Editor, View

__all__ = ["PATHS", "POSTS"]

LINES, STEPS, DRAWN = 150, 15, 300
SHOWN, FORESEEN = 8, 40
"""Nodes that a change is told of in the history, and before it is done."""
LONGEST_PATH = 200
"""Characters of a path that is proposed where one is to be written."""
VIEWS = ("node", "history", "graph")
WAYS = ("undo", "rollback")
WORDS = {name: words for name, (words, _) in DEEDS.items()} | {
    "nothing": "It was so already: nothing changed.",
    "undone": "Taken back.",
    "redone": "Done again.",
    "rolled": "All is as it was then.",
}


class Line(NamedTuple):
    """A row of the outline, and how the list goes on behind it."""

    row: TaskRow
    down: bool
    """The next row is under this one."""
    up: int
    """How many lists end behind it."""


class Told(NamedTuple):
    """A change in words, as far as it is shown."""

    step: TaskStep | None
    """None for what is not done yet."""
    changes: list[Difference]
    left: int


def tasks(visit: Visit) -> Response:
    """Show the tasks.

    Parameters: `node` the id of the one that is told of, `show` what stands beside the outline ("node", "history",
    "graph"), `start` and `after` where the outline and the history begin, `hidden` for what was removed, `of` a node
    whose changes alone are shown, `commit` the number of the change that the history begins with, `talk` for what was
    said and changed nothing.
    """
    node, hidden, commit = visit.text("node"), bool(visit.text("hidden")), visit.number("commit", 0)
    show = visit.text("show") or ("node" if node else "history")
    if show not in VIEWS:
        raise InputError(f"show: expected one of {', '.join(VIEWS)}, got {show[:40]!r}.")
    with visit.room.view().opened() as view:
        board = view.board()
        of = "" if visit.text("start") else node
        outline = board.outline(visit.number("start", 0), limit=LINES, hidden=hidden, of=of)
        card = board.card(node) if node else None
        steps = None
        if show == "history":
            talk = bool(visit.text("talk") or commit)
            steps = board.steps(
                of=visit.text("of"), after=visit.text("after"), first=commit or None, talk=talk, limit=STEPS
            )
        near = [row.node for row in outline.rows if row.visible] if card else []
        kept = [one.partition(".")[::2] for one in visit.text("kept").split(",") if one]
        values: dict[str, Any] = {
            "places": [path for path in board.names(one.node_id for one in near).values() if len(path) <= LONGEST_PATH],
            "undoable": board.undoable(),
            "redoable": board.redoable(),
            "kept": kept,
            "kept_names": board.names(node for node, _ in kept),
        }
    return visit.shown(
        "tasks.html",
        outline=outline,
        lines=list(_lines(outline.rows)),
        card=card,
        show=show,
        steps=steps,
        told=[_told(step.called, step.commit.edits, SHOWN, step) for step in steps.items] if steps else [],
        page_size=LINES,
        drawn=DRAWN,
        longest=LONGEST,
        words=WORDS,
        needs=KINDS_OF_NEED,
        units=UNITS,
        kinds=NodeKind,
        **values,
    )


def _lines(rows: Sequence[TaskRow]) -> Iterator[Line]:
    depths = [row.depth for row in rows]
    for row, (here, following) in zip(rows, pairwise([*depths, *depths[:1]]), strict=True):
        yield Line(row, following > here, max(0, here - following))


def _told(called: TaskNames, edits: Sequence[TaskEdit], most: int, step: TaskStep | None = None) -> Told:
    changes = differences_at(edits[:most], called.paths, called.names)
    return Told(step, changes, len(edits) - len(edits[:most]))


def back(visit: Visit) -> Response:
    """Show what taking one change back (`way` "undo"), or all that came after it ("rollback"), would change."""
    number, way = visit.number("number", 0), visit.text("way")
    if way not in WAYS:
        raise InputError(f"way: expected one of {', '.join(WAYS)}, got {way[:40]!r}.")

    def act(editor: Editor) -> tuple[tuple[TaskEdit, ...], tuple[tuple[str, str], ...]]:
        kept = () if way == "rollback" else editor.undo(number).kept
        if way == "rollback":
            editor.rollback(None, number)
        return editor.edits(), kept

    board = visit.room.view().board()
    step = board.step(number)
    edits, kept = visit.room.tasks().foresee(act)
    with visit.room.view().opened():
        told = _told(board.called(edits), edits, FORESEEN)
        names = board.names(node for node, _ in kept)
    own = _told(step.called, step.commit.edits, SHOWN, step)
    return visit.shown("tasks_back.html", way=way, own=own, told=told, kept=kept, kept_names=names)


def graph(visit: Visit) -> Response:
    """Return the forest for a picture: nodes, and what is under, waits for or follows what.

    Parameters: `of` a node whose task comes first, `hidden` for what was removed.
    """
    with visit.room.view().opened() as view:
        crowd = view.board().crowd(of=visit.text("of"), limit=DRAWN, hidden=bool(visit.text("hidden")))
        nodes = {row.node.node_id: _drawn(visit, row) for row in crowd.rows}
        edges: list[dict[str, Any]] = []
        for row in crowd.rows:
            key = row.node.node_id
            edges += (_edge(f"{key}<{parent}", parent, key, "part") for parent in row.node.parents if parent in nodes)
            for place, needed in enumerate(row.node.depends):
                other = needed.on if needed.on in nodes else _beside(visit, view, f"{key}.{place}", needed)
                if isinstance(other, dict):
                    nodes[other["id"]] = other
                    other = other["id"]
                if other is not None:
                    edges.append(_edge(f"{key}.{place}", other, key, needed.kind, _label(needed)))
    root = visit.text("of") if visit.text("of") in nodes else None
    return JSONResponse({"nodes": list(nodes.values()), "edges": edges, "root": root})


def _drawn(visit: Visit, row: TaskRow) -> dict[str, Any]:
    node = row.node
    value = row.value if isinstance(row.value, str) else None
    state = "removed" if not row.visible or node.status is TaskStatus.REPLACED else str(node.status)
    label = f"{node.name[:80]}: {value[:80]}" if value else node.name[:80]
    href = visit.link("tasks", node=node.node_id)
    return {"id": node.node_id, "label": label, "kind": str(node.kind), "state": state, "href": href}


def _beside(visit: Visit, view: View, key: str, needed: Dependency) -> dict[str, Any] | None:
    """Return what a node depends on that is no node: a condition in words, or a fact; None where it is not drawn."""
    if needed.kind == "condition" and not needed.on:
        return {"id": f"if:{key}", "label": needed.text[:80], "kind": "condition", "state": "blocked"}
    if needed.kind != "fact":
        return None
    try:
        fact = view.fact(needed.on)
    except NotFoundError:
        return None
    label = f"{fact.subject.label} {fact.relation.label} {fact.object.label}"[:80]
    href = visit.link("why", fact=fact.fact_id)
    return {"id": f"fact:{fact.fact_id}", "label": label, "kind": "fact", "state": "active", "href": href}


def _label(needed: Dependency) -> str:
    return f"{needed.shift:+g} {needed.unit}".strip() if needed.kind == "derived" and needed.shift else ""


def _edge(key: str, source: str, target: str, kind: str, label: str = "") -> dict[str, Any]:
    return {"id": key, "source": source, "target": target, "kind": kind, "label": label}


PATHS = {"tasks": tasks, "tasks/graph": graph, "tasks/back": back}
