"""Nodes of a graph in words: "my sister", "3 boa constrictors", "June 2024", "playing chess"."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Interval, Term, Turn
from doxa.language.times import find_times
from doxa.language.verbs import gerund_of
from doxa.logic import AmrGraph, AmrNode, amr_terms, interval_of
from doxa.understand.referents import Referents, term

__all__ = ["Words", "graph_table"]

DEEPEST = 4
"""Nodes below a node that are put in words with it."""
TIED = "have-rel-role-91"
SPOKEN_PRONOUNS = {"i": "I", "we": "we", "you": "you", "he": "he", "she": "she", "it": "it", "they": "they"}


@cache
def graph_table() -> Mapping[str, Any]:
    """Return the tables of `graphs.toml`."""
    return tomllib.loads(files("doxa.understand").joinpath("graphs.toml").read_text(encoding="utf-8"))


@dataclass(slots=True)
class Words:
    """Puts the nodes of one graph in words, and the words into terms."""

    graph: AmrGraph
    turn: Turn
    referents: Referents
    _terms: dict[str, tuple[Term, ...]] = field(default_factory=dict)

    def terms(self, variable: str) -> tuple[Term, ...]:
        """Return whom or what a node means: one term, one for each part of "a and b", none for an unknown "it"."""
        if variable not in self._terms:
            self._terms[variable] = ()  # a node inside itself means nothing
            self._terms[variable] = self._meant(variable)
        return self._terms[variable]

    def words(self, variable: str, depth: int = DEEPEST) -> str:
        """Return a node as a noun phrase without article; a bare lemma at the end of the depth."""
        graph, node = self.graph, self.graph.nodes[variable]
        if name := graph.name(variable):
            return name
        if node.concept in SPOKEN_PRONOUNS or depth == 0:
            return SPOKEN_PRONOUNS.get(node.concept, node.lemma.replace("-", " "))
        if node.concept in ("and", "or"):
            parts = [self._part(edge.target, edge.constant, depth) for edge in graph.members(variable)]
            return f" {node.concept} ".join(part for part in parts if part)
        if node.concept in ("date-entity", "date-interval"):
            return self._date(variable, depth)
        if node.concept == "ordinal-entity":
            return self._ordinal(variable)
        if node.concept.endswith("-quantity") or node.concept == "percentage-entity":
            return self._quantity(variable, depth)
        if node.frame and not node.special:
            return self._event(node, depth)
        return self._noun(node, depth)

    def interval(self, variable: str, *, past: bool = False) -> Interval | None:
        """Return when the `:time` of a node is, seen from the turn; None where it says nothing that has a date."""
        for edge in self.graph.out(variable):
            if edge.role not in ("time", "duration"):
                continue
            exact = None if edge.constant else interval_of(self.graph, edge.target)
            if exact is not None:
                return exact
            text = self._part(edge.target, edge.constant, DEEPEST)
            text = f"for {text}" if edge.role == "duration" else text
            tries = [text, f"on {text}"] if edge.role == "time" else []
            for words in tries:
                span = next((s for s in find_times(words, self.turn.at, past=past) if s.kind != "clock"), None)
                if span is not None:
                    return span.valid
        return None

    def owner_words(self, variable: str) -> str:
        """Return a possessor before its noun: "my", "Mia's"; empty for one that is not known."""
        node = self.graph.nodes[variable]
        if node.concept in graph_table()["owners"] and not self.graph.name(variable):
            return str(graph_table()["owners"][node.concept])
        found = self.terms(variable)
        return f"{found[0].label}'s" if found else ""

    def _meant(self, variable: str) -> tuple[Term, ...]:
        graph, node = self.graph, self.graph.nodes[variable]
        if node.concept == "and":
            members = [edge.target for edge in graph.members(variable) if not edge.constant]
            return tuple(dict.fromkeys(found for member in members for found in self.terms(member)))
        if node.special or node.concept in ("amr-unknown", "amr-choice", "or", "slash"):
            return ()
        if graph.name(variable):
            named = term(graph.name(variable))
            self.referents.mention(named)
            return (named,)
        if node.concept in SPOKEN_PRONOUNS or (node.concept in amr_terms("pronouns") and not graph.out(variable)):
            resolved = self.referents.resolve(node.concept)
            return (resolved,) if resolved else ()
        phrase = self._relative(variable) or self._owned(node)
        if phrase:
            resolved = self.referents.resolve(phrase)
            return (resolved,) if resolved else ()
        label = self.words(variable)
        return (term(label),) if label else ()

    def _relative(self, variable: str) -> str:
        """Return "my sister" for a person who is somebody's relative by the graph; empty for others."""
        for edge in self.graph.into(variable):
            if edge.role != "ARG0" or self.graph.nodes[edge.source].concept != TIED:
                continue
            whose = self.graph.target(edge.source, "ARG1")
            role = self.graph.target(edge.source, "ARG2")
            if whose and role and whose.variable != variable and not self.graph.denied(edge.source):
                owner = self.owner_words(whose.variable)
                return f"{owner} {role.lemma.replace('-', ' ')}" if owner else ""
        return ""

    def _owned(self, node: AmrNode) -> str:
        owner = self.graph.target(node.variable, "poss")
        if owner is None or node.frame or owner.variable == node.variable:
            return ""
        words = self.owner_words(owner.variable)
        return f"{words} {self._noun(node, DEEPEST, owned=False)}" if words else ""

    def _part(self, target: str, constant: bool, depth: int) -> str:
        return target if constant else self.words(target, depth - 1)

    def _noun(self, node: AmrNode, depth: int, *, owned: bool = True) -> str:
        """Return quantity, modifiers, noun, and what follows it."""
        parts: dict[str, list[str]] = {"quant": [], "ord": [], "mod": [], "after": []}
        for edge in self.graph.out(node.variable):
            said = self._part(edge.target, edge.constant, depth) if edge.role in _SAID else ""
            if edge.role == "poss" and not edge.constant:
                said = self.owner_words(edge.target) if owned else ""
            if said and edge.role in ("poss", "quant"):
                parts["quant"].append(said)
            elif said:
                place = edge.role if edge.role in parts else "after"
                lead = f"{_SAID[edge.role]} " if _SAID[edge.role] else ""
                parts[place].append(f"{lead}{said}")
        lemma = node.lemma.replace("-", " ")
        return " ".join([*parts["quant"], *parts["ord"], *parts["mod"], lemma, *parts["after"]])

    def _event(self, node: AmrNode, depth: int) -> str:
        """Return an event as an activity: "playing chess"."""
        first, _, particle = node.lemma.partition("-")
        if not self._is_verb(node):
            return node.lemma.replace("-", " ")
        thing = self.graph.target(node.variable, "ARG1") or self.graph.target(node.variable, "ARG2")
        known = thing is not None and bool(self.terms(thing.variable))
        said = self.words(thing.variable, depth - 1) if thing is not None and known else ""
        return " ".join(part for part in (gerund_of(first), particle.replace("-", " "), said) if part)

    def _is_verb(self, node: AmrNode) -> bool:
        # A quality has its bearer in ARG1 and nobody who acts.
        roles = {edge.role for edge in self.graph.out(node.variable)}
        return bool(roles & {"ARG0"}) or not roles & {"ARG1"}

    def _quantity(self, variable: str, depth: int) -> str:
        number = self.graph.constant(variable, "quant") or self.graph.constant(variable, "value") or ""
        unit = self.graph.target(variable, "unit")
        words = self.words(unit.variable, depth - 1) if unit else ""
        if self.graph.nodes[variable].concept == "percentage-entity":
            return f"{number}%"
        return f"{number} {words}{'s' if words and number not in ('1', '') else ''}".strip()

    def _ordinal(self, variable: str) -> str:
        number = self.graph.constant(variable, "value") or ""
        if number == "-1":
            return "last"
        ending = "th" if number[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1:], "th")
        return f"{number}{ending}" if number.isdigit() else ""

    def _date(self, variable: str, depth: int) -> str:
        exact = interval_of(self.graph, variable)
        if exact is not None:
            return str(exact)
        parts = {e.role: self._part(e.target, e.constant, depth) for e in self.graph.out(variable)}
        month = parts.get("month", "")
        if month.isdigit() and 1 <= int(month) <= 12:
            parts["month"] = Interval.format(self.turn.at.date().replace(month=int(month), day=1), "month").split()[0]
        order = ("mod", "weekday", "dayperiod", "season", "day", "month", "year", "time")
        return " ".join(parts[role] for role in order if parts.get(role))


_SAID = {
    "quant": "",
    "ord": "",
    "mod": "",
    "value": "",
    "op1": "",
    "poss": "",
    "part": "with",
    "consist-of": "of",
    "topic": "about",
    "location": "in",
    "source": "from",
}
"""The roles of a noun that are put in words, each with its preposition."""
