"""PENMAN -> a graph: nodes with concepts, edges with every inverse role turned round.

Source: the AMR specification 1.2.6 (https://github.com/amrisi/amr-guidelines). The notation is read by the library
`penman` (Goodman 2020), with its model of AMR: `:ARG0-of` is turned round, `:consist-of` is a role of its own.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from doxa.core.errors import FormatError

__all__ = ["AmrEdge", "AmrGraph", "AmrNode", "lemma_of", "read_amr", "read_amrs"]

MAX_DEPTH = 150
"""Deepest nesting that is read; the deepest sentence of The Little Prince has 14 levels."""
EXPECTED = "Expected an AMR graph in PENMAN notation, such as (w / want-01 :ARG0 (b / boy))"
ADVICE = "Check brackets, slashes and quotes."
FRAME = re.compile(r"^(?P<lemma>.+)-(?P<sense>\d{2,3})$")


@dataclass(frozen=True, slots=True)
class AmrNode:
    """A variable with its concept ("b" / "believe-01")."""

    variable: str
    concept: str

    @property
    def frame(self) -> bool:
        """True for a PropBank frame, False for a word of the language or a type of AMR's own."""
        return FRAME.match(self.concept) is not None

    @property
    def special(self) -> bool:
        """True for a frame that AMR added to PropBank's (`have-rel-role-91`)."""
        return self.frame and self.concept.endswith("-91")

    @property
    def lemma(self) -> str:
        """The concept without its sense number."""
        return lemma_of(self.concept)


@dataclass(frozen=True, slots=True)
class AmrEdge:
    """A role between two nodes, or from a node to a constant; role without colon ("ARG0")."""

    source: str
    role: str
    target: str
    constant: bool = False
    """The target is a symbol, a number or a string (without its quotes), and no variable."""


@dataclass(frozen=True)
class AmrGraph:
    """One sentence: where it starts, its nodes in order of appearance, its edges, and its `# ::key value` lines."""

    top: str
    nodes: Mapping[str, AmrNode]
    edges: tuple[AmrEdge, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @cached_property
    def _by_source(self) -> Mapping[str, tuple[AmrEdge, ...]]:
        return _grouped(self.edges, "source")

    @cached_property
    def _by_target(self) -> Mapping[str, tuple[AmrEdge, ...]]:
        return _grouped([edge for edge in self.edges if not edge.constant], "target")

    @property
    def text(self) -> str:
        """The sentence, if the file says it."""
        return self.metadata.get("snt", "")

    def out(self, variable: str) -> tuple[AmrEdge, ...]:
        """Return the edges that leave a node, in order."""
        return self._by_source.get(variable, ())

    def into(self, variable: str) -> tuple[AmrEdge, ...]:
        """Return the edges that lead to a node, in order."""
        return self._by_target.get(variable, ())

    def target(self, variable: str, role: str) -> AmrNode | None:
        """Return the first node in a role of a node; None where there is none, or a constant."""
        return next((self.nodes[e.target] for e in self.out(variable) if e.role == role and not e.constant), None)

    def constant(self, variable: str, role: str) -> str | None:
        """Return the first constant in a role of a node."""
        return next((edge.target for edge in self.out(variable) if edge.role == role and edge.constant), None)

    def members(self, variable: str) -> tuple[AmrEdge, ...]:
        """Return the numbered edges of a node in their order: `:op1`, `:op2`, ... or `:snt1`, `:snt2`, ..."""
        numbered = [(e, re.fullmatch(r"(?:op|snt)(\d+)", e.role)) for e in self.out(variable)]
        return tuple(edge for edge, found in sorted(((e, m) for e, m in numbered if m), key=lambda p: int(p[1][1])))

    def name(self, variable: str) -> str:
        """Return the name of a node ("Barack Obama"), empty if it has none."""
        name = self.target(variable, "name")
        if name is None:
            return self.constant(variable, "name") or ""
        return " ".join(edge.target for edge in self.members(name.variable) if edge.constant)

    def denied(self, variable: str) -> bool:
        """Tell whether a node has negative polarity, as an attribute or by `have-polarity-91`."""
        if self.constant(variable, "polarity") == "-":
            return True
        reified = (e.source for e in self.into(variable) if e.role == "ARG1")
        return any(
            self.nodes[source].concept == "have-polarity-91" and self.constant(source, "ARG2") == "-"
            for source in reified
        )


def lemma_of(concept: str) -> str:
    """Return a concept without its sense number ("take-off-07" -> "take-off")."""
    found = FRAME.match(concept)
    return found["lemma"] if found else concept


def read_amr(text: str) -> AmrGraph:
    """Return the one graph that a text holds.

    Raises:
        FormatError: It is not PENMAN, or holds no graph, or more than one.
    """
    graphs = read_amrs(text)
    if len(graphs) != 1:
        raise FormatError(f"{EXPECTED}, and one of them, got {len(graphs) or 'none'}. `read_amrs` reads several.")
    return graphs[0]


def read_amrs(text: str) -> tuple[AmrGraph, ...]:
    """Return every graph of a text in PENMAN notation, with comments as metadata; O(len(text)), deterministic.

    Raises:
        FormatError: It is not PENMAN, or nested deeper than 150 levels.
    """
    if _depth(text) > MAX_DEPTH:
        raise FormatError(f"Expected a graph of at most {MAX_DEPTH} nested levels, got more. Split it.")
    import penman
    from penman.models.amr import model

    codec = penman.PENMANCodec(model=model)
    # What it would log (a role without a value) is in the warnings of the graph.
    logging.getLogger("penman").setLevel(logging.ERROR)
    try:
        return tuple(_graph(found) for found in codec.iterdecode(text))
    except penman.PenmanError as exc:
        line = getattr(exc, "lineno", None)
        said = str(getattr(exc, "message", None) or exc).strip().rstrip(".") or "the notation breaks off"
        raise FormatError(f"{EXPECTED}: {said}. {ADVICE}", line=line if isinstance(line, int) else None) from exc


def _depth(text: str) -> int:
    """Return the deepest nesting, brackets in strings and comments left out."""
    deepest = depth = 0
    bare = re.sub(r'^[ \t]*#.*$|"(?:[^"\\\n]|\\.)*"', "", text, flags=re.MULTILINE)
    for sign in re.findall(r"[()]", bare):
        depth += 1 if sign == "(" else -1
        deepest = max(deepest, depth)
    return deepest


def _graph(found: Any) -> AmrGraph:
    nodes: dict[str, AmrNode] = {}
    warnings: list[str] = []
    if not found.top:
        raise FormatError(f"{EXPECTED}, got brackets with nothing in them. {ADVICE}")
    for variable, _, concept in found.instances():
        if variable in nodes:
            warnings.append(f"The variable {variable} has a second concept, {concept}, which was left out.")
            continue
        if not concept:
            warnings.append(f"The variable {variable} has no concept; it was read as a thing.")
        nodes[variable] = AmrNode(variable, _bare(concept) if concept else "thing")
    edges: dict[AmrEdge, None] = {}
    for source, role, target in (*found.edges(), *found.attributes()):
        edges[_edge(source, role, target, nodes, warnings)] = None
    order = {variable: place for place, variable in enumerate(nodes)}
    placed = sorted(edges, key=lambda edge: order.get(edge.source, len(order)))
    top = found.top if found.top in nodes else next(iter(nodes))
    return AmrGraph(top, nodes, tuple(placed), dict(found.metadata), tuple(dict.fromkeys(warnings)))


def _edge(source: str, role: str, target: Any, nodes: Mapping[str, AmrNode], warnings: list[str]) -> AmrEdge:
    name = role.removeprefix(":") or "related"
    if target in nodes and not _quoted(target):
        return AmrEdge(source, name, target)
    if target is None:
        warnings.append(f"The role :{name} of {source} has no value.")
        return AmrEdge(source, name, "", constant=True)
    return AmrEdge(source, name, _bare(str(target)), constant=True)


def _quoted(text: str) -> bool:
    return len(text) > 1 and text.startswith('"') and text.endswith('"')


def _bare(text: str) -> str:
    """Return a symbol or string without its quotes and without an alignment ("~e.4")."""
    if _quoted(text):
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return re.sub(r"~(?:[a-zA-Z]\.?)?\d+(?:,\d+)*$", "", text) or text


def _grouped(edges: Sequence[AmrEdge], key: str) -> Mapping[str, tuple[AmrEdge, ...]]:
    groups: dict[str, list[AmrEdge]] = {}
    for edge in edges:
        groups.setdefault(getattr(edge, key), []).append(edge)
    return {name: tuple(found) for name, found in groups.items()}
