"""How a search reads: the tree of its states, what each is worth, and the way that was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from doxa.core.trace import Trace
from doxa.transport.cli.render import clean, count, put, shorten
from doxa.transport.trees import chosen_way

__all__ = ["show_tree", "tree_of"]

LONGEST = 120
"""Characters of what a move showed."""
MARKS = {"pruned": "given up", "failed": "call failed", "open": "not looked at any further"}
"""How a state ended up, where that is not to be seen."""


def tree_of(trace: Trace) -> Mapping[str, Any] | None:
    """Return the tree of a search as its trace holds it; None where nothing was searched."""
    trees = [step.detail["tree"] for step in trace.steps if "tree" in step.detail]
    return trees[-1] if trees else None


def show_tree(out: Console, data: Mapping[str, Any], *, indent: int = 0) -> None:
    """Print a tree: each move with the policy's probability, the value of the state and what was found there.

    The chosen way is bold and marked. A state that was reached before is shown once more by its number only.
    """
    below: dict[int | None, list[Mapping[str, Any]]] = {}
    for state in data["states"]:
        below.setdefault(state.get("parent"), []).append(state)
    chosen = chosen_way(data)
    shown = Tree(_headline(data), guide_style="dim")
    waiting = [(shown, root["id"]) for root in below.get(None, [])]
    while waiting:
        branch, place = waiting.pop()
        for state in below.pop(place, []):
            waiting.append((branch.add(_label(state, chosen=state["id"] in chosen)), state["id"]))
    put(out, shown, indent=indent)


def _headline(data: Mapping[str, Any]) -> Text:
    calls = ", ".join(f"{role} {number}" for role, number in data.get("calls", {}).items() if number)
    told = [count(len(data["states"]), "state"), f"{data['expanded']} expanded", calls, clean(data["stopped_because"])]
    return Text(f"search: {'; '.join(part for part in told if part)}", style="bold")


def _label(state: Mapping[str, Any], *, chosen: bool) -> Text:
    label = Text("→ " if chosen else "", style="bold green" if chosen else "")
    label.append(f"{state['id']} ", style="dim")
    label.append(shorten(state["action"], LONGEST))
    numbers = [f"p {state['p']:.2f}"] + ([f"value {state['value']:.2f}"] if "value" in state else [])
    label.append(f"  ({', '.join(numbers)})", style="" if chosen else "dim")
    if "same_as" in state:
        label.append(f"  as {state['same_as']}", style="dim")
        return label
    if state["standing"] in MARKS and not chosen:
        label.append(f"  {MARKS[state['standing']]}", style="dim")
    found = state.get("answer") or state.get("observation", "")
    if found:
        label.append(f"\n{shorten(found, LONGEST)}", style="bold" if chosen and "answer" in state else "not bold")
    sources = ", ".join(map(str, (*state.get("facts", ()), *state.get("turns", ()))))
    if sources:
        label.append(f"\n{shorten(sources, LONGEST)}", style="dim not bold")
    return label
