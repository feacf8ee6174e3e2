"""A tree as plain data, for the trace: every state, what it is worth by both measures, and why the search ended."""

from __future__ import annotations

from typing import Any

from doxa.reason.tree.actions import Think, name_of
from doxa.reason.tree.search import Node, Tree

__all__ = ["tree_data"]

DIGITS = 3
LONGEST = 200
"""Characters of a move, of what it showed and of an answer; a trace is stored with every answer."""


def tree_data(tree: Tree) -> dict[str, Any]:
    """Return a tree as JSON-ready data.

    `states` has one entry for each state in the order in which they were reached: its number (`id`) and that of its
    `parent`, the `action` (and its kind, `do`), the ids of the facts and turns that it added, what was observed, its
    `value`, the policy's probability of the move (`p`), the logarithm of equation 3 (`log_p`) and how it ended up
    (`standing`). Empty entries are left out, and what a thought showed, which is the thought. A merged state names the
    one that it is (`same_as`). Long texts are cut.
    """
    return {
        "states": [_state(node, tree) for node in tree.nodes],
        "best": tree.best.number,
        "stopped_because": tree.stopped_because,
        "order": tree.spec.order,
        "expanded": sum(node.standing == "expanded" for node in tree.nodes),
        "calls": dict(tree.calls),
    }


def _state(node: Node, tree: Tree) -> dict[str, Any]:
    state = node.state
    found: dict[str, Any] = {"id": node.number, "standing": node.standing}
    if node.parent is None:
        return found
    step = state.steps[-1]
    before = {fact.fact_id for fact in tree.nodes[node.parent].state.facts}
    found |= {"parent": node.parent, "depth": state.depth, "do": name_of(step.action), "action": _cut(str(step.action))}
    more = {
        "observation": "" if isinstance(step.action, Think) else _cut(step.observation),
        "facts": [fact.fact_id for fact in step.facts if fact.fact_id not in before],
        "turns": list(step.turn_ids),
        "answer": _cut(state.draft.value or state.draft.text) if state.draft is not None else "",
        "same_as": node.same_as,
    }
    found |= {name: value for name, value in more.items() if value not in ("", [], None)}
    if node.standing != "merged":
        found |= {"value": round(state.value, DIGITS)}
    return found | {"p": round(step.probability, DIGITS), "log_p": round(state.log_probability, DIGITS)}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
