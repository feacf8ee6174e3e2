"""Facts and turns -> nodes and edges, in the shape that `static/graph.js` draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doxa.core.values import Explanation, Fact, Turn
from doxa.transport.inspector.visit import Visit

__all__ = ["around", "kind_of"]

SNIPPET, MOST, TURNS = 160, 30, 5
INFERRED = "o_"
"""What the ids of facts begin with that nobody said."""


def kind_of(fact: Fact) -> str:
    """Return how a fact is drawn as an edge, and of what colour as a node."""
    if fact.fact_id.startswith(INFERRED):
        return "inferred"
    if fact.disputed:
        return "conflict"
    return {"held": "firm", "tentative": "tentative", "quarantined": "tentative"}.get(str(fact.status), "past")


def around(visit: Visit, told: Explanation, rules: Sequence[str]) -> dict[str, Any]:
    """Return a fact between what it rests on and what follows from it, with what it clashed with.

    Args:
        visit: for the addresses.
        told: why the fact stands where it stands.
        rules: those of the explanation in words, in their order.
    """
    name, nodes, edges = _name(told.fact), [_of_fact(visit, told.fact)], []
    via = "r:0" if rules else name
    for at, (rule, words) in enumerate(zip(told.rules, rules, strict=True)):
        nodes.append({"id": f"r:{at}", "label": words, "kind": "rule"})
        if rule.turn_id:
            nodes[-1]["href"] = visit.link("why", turn=rule.turn_id)
        edges.append(_edge(f"r:{at}", f"r:{at + 1}" if at + 1 < len(rules) else name, "because"))
    for premise in told.premises[:MOST]:
        nodes.append(_of_fact(visit, premise))
        edges.append(_edge(_name(premise), via, "inferred" if told.derivation else "because"))
    for turn in told.turns[-TURNS:]:
        says = [one for one in told.premises[:MOST] if turn.turn_id in one.turn_ids] if told.premises else [told.fact]
        nodes += [_of_turn(visit, turn)] if says else []
        edges += [_edge(f"t:{turn.turn_id}", _name(one), "said") for one in says]
    for other in told.conclusions[:MOST]:
        nodes.append(_of_fact(visit, other))
        edges.append(_edge(name, _name(other), "because"))
    for others, forth in ((told.displaced[:MOST], True), (told.displaced_by[:MOST], False)):
        for other in others:
            source, target = (name, _name(other)) if forth else (_name(other), name)
            kind = "conflict" if told.fact.disputed else "replaced"
            nodes.append(_of_fact(visit, other))
            edges.append(_edge(source, target, kind, str(told.conflicts.get(other.fact_id) or "")))
    unique = {node["id"]: node for node in nodes}
    return {"root": name, "nodes": list(unique.values()), "edges": edges}


def _name(fact: Fact) -> str:
    return f"f:{fact.fact_id}"


def _of_fact(visit: Visit, fact: Fact) -> dict[str, Any]:
    relation = fact.relation.label if fact.polarity else f"not: {fact.relation.label}"
    return {
        "id": _name(fact),
        "label": f"{fact.subject.label} {relation} {fact.object.label}",
        "kind": "fact",
        "state": kind_of(fact),
        "note": str(fact.valid),
        "href": visit.link("why", fact=fact.fact_id),
    }


def _of_turn(visit: Visit, turn: Turn) -> dict[str, Any]:
    text = turn.text if len(turn.text) <= SNIPPET else f"{turn.text[:SNIPPET]}…"
    return {
        "id": f"t:{turn.turn_id}",
        "label": f"{turn.speaker}: {text}",
        "kind": "turn",
        "note": f"{turn.at:%Y-%m-%d %H:%M}",
        "href": visit.link("why", turn=turn.turn_id),
    }


def _edge(source: str, target: str, kind: str, label: str = "") -> dict[str, Any]:
    return {"id": f"{source}>{target}", "source": source, "target": target, "kind": kind, "label": label}
