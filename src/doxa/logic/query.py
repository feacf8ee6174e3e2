"""SPARQL over what is believed: a graph in memory, read-only, that never leaves this machine."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QueryBoolean, QueryTriples, Store

from doxa.core.bindings import Bindings, Node
from doxa.core.errors import BackendUnavailableError, InputError
from doxa.core.values import Fact, Turn
from doxa.logic.graph import FactGraph
from doxa.logic.marks import TOKEN, marks

__all__ = ["QueryGraph"]

STRING = "http://www.w3.org/2001/XMLSchema#string"
TRIPLE = ("subject", "predicate", "object")
UPDATE = re.compile(r"insert|delete|load|clear|create|drop|copy|move|add|with", re.I)
FORMS = "SELECT, ASK, CONSTRUCT or DESCRIBE"
NAMED = r"""[^\s<>"'{}()\[\]:]"""
SERVICE = re.compile(rf"(?<![:?$@])service(?=\s*(?:[<?$#]|silent|{NAMED}{{0,100}}:|{NAMED}{{101}}))", re.I)
"""What may call a server, wherever it stands: what is a text and what a comment, the parser alone knows for sure."""
ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
MOST_TOKENS, MOST_LEVELS, MOST_PATTERNS = 2000, 50, 100
"""Beyond these the parser of the store runs out of stack, which ends the process, or plans for minutes."""


class QueryGraph:
    """The graph of some current facts, ready to be asked. Building it costs O(facts)."""

    def __init__(self, graph: FactGraph, facts: Iterable[Fact], turns: Mapping[str, Turn]) -> None:
        """Take the facts to be asked, and the turns that they cite, by id."""
        facts = list(facts)
        self._prefixes = dict(graph.prefixes)
        self._short = {iri: name for name, iri in self._prefixes.items()}
        triples = graph.described(facts, facts, turns, coherent=False)
        self._store = Store()
        self._store.bulk_extend(Quad(t.subject, t.predicate, t.object) for t in triples)

    def query(self, text: str, *, limit_s: float | None = None) -> Bindings:
        """Return what a query finds. The prefixes of the graph need no declaration.

        Args:
            text: the query.
            limit_s: seconds after which it is given up. That is looked at between two rows: what gives none meanwhile,
                since it sorts or counts, goes on to its end.

        Raises:
            InputError: it is no query, changes something, names a graph, or calls another server; or it is too large.
            BackendUnavailableError: it took too long.
        """
        for form in (text, _unescaped(text)):
            _require_small(form)
        until = None if limit_s is None else time.monotonic() + limit_s
        words = [match["word"].upper() for match in TOKEN.finditer(_unescaped(text)) if match["word"]]
        if "FROM" in words:
            raise InputError("sparql: FROM names another graph, and a memory is one graph. Leave it out.")
        if SERVICE.search(text) or SERVICE.search(_unescaped(text)):
            raise InputError(
                "sparql: SERVICE asks another server, and a memory is asked where it is. Leave it out; where it is a "
                "word of a text, nothing that could be the name of a server may follow it."
            )
        first = next((word for word in words if word not in ("PREFIX", "BASE")), "")
        if UPDATE.fullmatch(first):
            raise InputError(
                f"sparql: expected {FORMS}, got {first}: a memory is changed by what is said, not by SPARQL."
            )
        wrong, found = "", None
        try:
            found = self._found(text, until)
        except (SyntaxError, ValueError, RuntimeError, OSError) as exc:
            wrong = self._brief(str(exc))
        if wrong:
            raise InputError(f"sparql: expected a query ({FORMS}), got: {wrong}")
        if found is None:
            raise BackendUnavailableError("sparql: the query took too long. Narrow it down, or end it with LIMIT.")
        return found

    def _found(self, text: str, until: float | None) -> Bindings | None:
        """Return what a query finds; None where it is too late for that.

        An error that left this would carry the solutions in its traceback, and whoever catches it in another thread
        would drop them there, which they cannot bear: they would never be freed.
        """
        found = self._store.query(text, prefixes=self._prefixes)
        if isinstance(found, QueryBoolean):
            return Bindings(truth=bool(found))
        rows = []
        names = TRIPLE if isinstance(found, QueryTriples) else [variable.value for variable in found.variables]
        for one in found:
            if until is not None and time.monotonic() > until:
                return None
            values = [getattr(one, name) if names is TRIPLE else one[name] for name in names]
            rows.append({n: self._node(v) for n, v in zip(names, values, strict=True) if v is not None})
        return Bindings(variables=tuple(names), rows=tuple(rows))

    def _brief(self, message: str) -> str:
        """Return the message of the parser without the dozens of tokens that it would have taken as well."""
        head, found, rest = message.partition("expected ")
        if "Prefix not found" in rest:
            return f"{head}a prefix that is not declared; known without PREFIX are {', '.join(self._prefixes)}"
        wanted = re.sub(r"\s+", " ", rest)
        return f"{head}{found}{wanted if len(wanted) <= 100 else wanted[:100] + ' ...'}"

    def _node(self, node: object) -> Node:
        if isinstance(node, NamedNode):
            prefix, hash_, local = node.value.rpartition("#")
            name = self._short.get(prefix + hash_)
            return Node(kind="uri", value=node.value, short=node.value if name is None else f"{name}:{local}")
        if isinstance(node, Literal):
            datatype = "" if node.language or node.datatype.value == STRING else node.datatype.value
            return Node(
                kind="literal", value=node.value, short=node.value, datatype=datatype, language=node.language or ""
            )
        value = node.value if isinstance(node, BlankNode) else str(node)
        return Node(kind="bnode", value=value, short=f"_:{value}")


def _require_small(text: str) -> None:
    """Refuse what the store cannot parse, or not soon. A list of values in parentheses counts by its tokens alone.

    Raises:
        InputError: it has more tokens, levels or patterns than a query may have.
    """
    patterns, within = 0, list[str]()
    for tokens, token in enumerate(marks(text), start=1):
        for mark in token:
            if mark in "({[":
                within.append(mark)
            elif mark in ")}]" and within:
                within.pop()
            patterns += mark in "{[/" or (mark in ".;," and within[-1:] != ["("])
        if tokens > MOST_TOKENS or len(within) > MOST_LEVELS or patterns > MOST_PATTERNS:
            raise InputError(
                f"sparql: expected at most {MOST_TOKENS:,} words and marks, {MOST_PATTERNS} patterns and {MOST_LEVELS} "
                "levels, got more. Ask in several queries, or give values by VALUES."
            )


def _unescaped(text: str) -> str:
    """Resolve the code points that SPARQL resolves before it reads a query (section 19.2 of SPARQL 1.1)."""

    def letter(match: re.Match[str]) -> str:
        code = int(match[1] or match[2], 16)
        return chr(code) if code <= 0x10FFFF else ""

    return ESCAPE.sub(letter, text)
