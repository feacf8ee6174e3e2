"""Facts and turns -> nodes and edges, in the shape that `static/graph.js` draws."""

from __future__ import annotations

from typing import Any

from doxa.core.values import Fact, Turn
from doxa.transport.inspector.visit import Visit

__all__ = ["fact_node", "flow", "kind_of", "turn_node"]

SNIPPET = 160
INFERRED = "o_"
"""What the ids of facts begin with that nobody said."""


def kind_of(fact: Fact) -> str:
    """Return how a fact is drawn as an edge, and of what colour as a node."""
    if fact.fact_id.startswith(INFERRED):
        return "inferred"
    if fact.disputed:
        return "conflict"
    return {"held": "firm", "tentative": "tentative", "quarantined": "tentative"}.get(str(fact.status), "past")


def said(fact: Fact) -> str:
    """Return a fact as a few words."""
    relation = fact.relation.label if fact.polarity else f"not: {fact.relation.label}"
    return f"{fact.subject.label} {relation} {fact.object.label}".strip()


def fact_node(visit: Visit, fact: Fact) -> dict[str, Any]:
    """Return a fact as a node."""
    return {
        "id": f"f:{fact.fact_id}",
        "label": said(fact),
        "kind": "fact",
        "state": kind_of(fact),
        "note": str(fact.valid),
        "href": visit.link("why", fact=fact.fact_id),
    }


def turn_node(visit: Visit, turn: Turn) -> dict[str, Any]:
    """Return a turn as a node."""
    text = turn.text if len(turn.text) <= SNIPPET else f"{turn.text[:SNIPPET]}…"
    return {
        "id": f"t:{turn.turn_id}",
        "label": f"{turn.speaker}: {text}",
        "kind": "turn",
        "note": f"{turn.at:%Y-%m-%d %H:%M}",
        "href": visit.link("why", turn=turn.turn_id),
    }


def flow(source: str, target: str, kind: str, label: str = "") -> dict[str, Any]:
    """Return an edge between two nodes."""
    return {"id": f"{source}>{target}", "source": source, "target": target, "kind": kind, "label": label}
