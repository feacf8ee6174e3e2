"""Which nodes a sentence asserts, and which are wished, possible, asked, conditional or denied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from doxa.core.values import Modality
from doxa.logic.amr.graph import AmrEdge, AmrGraph
from doxa.logic.amr.vocabulary import table

__all__ = ["CONJUNCTIONS", "Scope", "contents", "scopes", "tells"]

CONJUNCTIONS: Final = frozenset(["and", "or", "slash", "multi-sentence", "amr-choice"])
ALTERNATIVES: Final = frozenset(["or", "slash", "amr-choice"])
STRENGTH: Final = (Modality.ASSERTED, Modality.PLANNED, Modality.DESIRED, Modality.POSSIBLE, Modality.HYPOTHETICAL)
"""From what says most about the world to what says least; of two, the later one counts."""
MODALITIES: Final = {
    "Possible": Modality.POSSIBLE,
    "Necessary": Modality.DESIRED,
    "Recommended": Modality.DESIRED,
    "Desired": Modality.DESIRED,
    "Planned": Modality.PLANNED,
}
MOST_DENIALS: Final = 4
"""How many denials inside each other are followed."""
NOT_IN_SCOPE: Final = frozenset(["name", "poss", "wiki", "time", "location", "concession", "cause", "topic"])
"""Roles whose things hold even where what they stand beside does not ("If it rains after the match, ...")."""


@dataclass(frozen=True, slots=True)
class Scope:
    """How a node is meant: its modality, whether it is denied all in all, and whether it is asked."""

    modality: Modality = Modality.ASSERTED
    denied: bool = False
    asked: bool = False

    @property
    def held(self) -> bool:
        """True when the sentence says that it is so."""
        return self.modality is Modality.ASSERTED and not self.denied and not self.asked


def contents(graph: AmrGraph, variable: str) -> tuple[str, str, bool] | None:
    """Return `(content, modality name, reversed)` of a modal or attitude frame; None for other nodes.

    The content is something that can be so or not: who wants an apple wants a thing, which is no content. The modality
    is a key of the vocabulary's `modality_terms`, or empty for words and thoughts.
    """
    concept = graph.nodes[variable].concept
    role, name, turned = "", "", False
    if concept in table("modality"):
        role, name = table("modality")[concept]
    elif concept in table("content"):
        role = table("content")[concept]
    elif concept in table("denial"):
        role, turned = table("denial")[concept], True
    node = graph.target(variable, role) if role else None
    if node is None or node.variable == variable or not tells(graph, node.variable):
        return None
    return node.variable, name, turned


def tells(graph: AmrGraph, variable: str) -> bool:
    """Tell whether a node is something that can be so or not: an event, a predicate, or several of them."""
    node = graph.nodes[variable]
    if node.concept in CONJUNCTIONS:
        return any(not e.constant and graph.nodes[e.target].frame for e in graph.members(variable))
    return node.frame or graph.target(variable, "domain") is not None


def scopes(graph: AmrGraph) -> dict[str, Scope]:
    """Return the scope of every node; O(nodes + edges) steps for each of the five strengths, deterministic.

    What stands in the arguments of a possible, wished or conditional event is meant the same way; a relative clause
    (an inverse role in the text) about one of its participants is not.
    """
    strength = dict.fromkeys(graph.nodes, 0)
    queue: list[str] = []

    def weaken(variable: str, modality: Modality) -> None:
        rank = STRENGTH.index(modality)
        if rank > strength[variable]:
            strength[variable] = rank
            queue.append(variable)

    for variable, modality in _seeds(graph):
        weaken(variable, modality)
    while queue:
        variable = queue.pop()
        for edge in _inner(graph, variable):
            weaken(edge.target, STRENGTH[strength[variable]])
    asked = _asked(graph)
    denied = _denied(graph)
    return {v: Scope(STRENGTH[strength[v]], v in denied, v in asked) for v in graph.nodes}


def _seeds(graph: AmrGraph) -> Iterator[tuple[str, Modality]]:
    for variable, node in graph.nodes.items():
        content = contents(graph, variable)
        if content:
            yield content[0], MODALITIES.get(content[1], Modality.POSSIBLE)
        if graph.constant(variable, "mode") == "imperative":
            yield variable, Modality.DESIRED
        if node.concept in ALTERNATIVES:
            yield from ((edge.target, Modality.POSSIBLE) for edge in graph.members(variable) if not edge.constant)
        if node.concept == "have-condition-91":
            yield from ((e.target, Modality.HYPOTHETICAL) for e in graph.out(variable) if not e.constant)
    for edge in graph.edges:
        if edge.role == "condition":
            yield edge.source, Modality.HYPOTHETICAL
            if not edge.constant:
                yield edge.target, Modality.HYPOTHETICAL
        elif edge.role == "purpose" and not edge.constant:
            yield edge.target, Modality.DESIRED


def _inner(graph: AmrGraph, variable: str) -> Iterator[AmrEdge]:
    """Yield the edges to events and predicates that share the scope of a node."""
    for edge in graph.out(variable):
        if not edge.constant and edge.role not in NOT_IN_SCOPE and tells(graph, edge.target):
            yield edge


def _asked(graph: AmrGraph) -> set[str]:
    """Return the nodes of a question: what holds the unknown, and everything between it and the top."""
    queue = [v for v, node in graph.nodes.items() if node.concept in ("amr-unknown", "amr-choice")]
    queue += [v for v in graph.nodes if graph.constant(v, "mode") == "interrogative"]
    confirmed = [graph.target(v, "ARG1") for v, n in graph.nodes.items() if n.concept == "request-confirmation-91"]
    queue += [node.variable for node in confirmed if node]
    found: set[str] = set()
    while queue:
        variable = queue.pop()
        if variable in found or graph.nodes[variable].concept == "multi-sentence":
            continue
        found.add(variable)
        if variable != graph.top:
            queue.extend(edge.source for edge in graph.into(variable))
    return found


def _denied(graph: AmrGraph) -> set[str]:
    """Return the nodes that are denied, by themselves or by what they are the content of; two denials cancel out."""
    governors: dict[str, list[tuple[str, bool]]] = {}
    for variable, node in graph.nodes.items():
        content = contents(graph, variable)
        if content:
            governors.setdefault(content[0], []).append((variable, content[2]))
        elif node.concept in CONJUNCTIONS:
            for edge in graph.members(variable):
                if not edge.constant:
                    governors.setdefault(edge.target, []).append((variable, False))
    own = {variable for variable in graph.nodes if graph.denied(variable)}
    found = own
    for _ in range(MOST_DENIALS):
        found = {v for v in graph.nodes if (v in own) != _reversed(governors.get(v, ()), found)}
    return found


def _reversed(governors: Sequence[tuple[str, bool]], denied: set[str]) -> bool:
    return sum((variable in denied) != turned for variable, turned in governors) % 2 == 1
