"""A text in SPARQL, Turtle or JSON -> its marks, those of texts and comments left out: how deep it is nested.

What reads them is a library that goes down a level by a call, and a text of some kilobytes takes all of the stack: that
ends the process, and no exception says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["DEEPEST", "TOKEN", "is_nested", "marks"]

TOKEN = re.compile(
    r"""<[^<>"{}|^`\\\x00-\x20]*>          # an IRI
    | \"\"\"(?:\"{0,2}(?:[^"\\]|\\.))*\"\"\" | '''(?:'{0,2}(?:[^'\\]|\\.))*'''
    | "(?:[^"\\\n\r]|\\.)*" | '(?:[^'\\\n\r]|\\.)*'
    | \#[^\n\r]*                           # a comment
    | [?$]\w+ | [\w.-]*:[\w.:%-]*          # a variable, a prefixed name
    | (?P<word>[A-Za-z]\w*)""",
    re.X | re.S,
)
MARKED = re.compile(rf"(?:{TOKEN.pattern}) | (?P<mark><<|>>|\\.|[^\w\s])", re.X | re.S)
TEXTS = ("'", '"', "#")
DEEPEST = 500
"""Levels of triples in triples, and of what is in what in JSON-LD; some thousand end the process, or take hours."""
BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|([{\[])|([}\]])', re.S)


def marks(text: str) -> Iterator[str]:
    """Give the marks of every token in order, `""` for one that has none. Those of an IRI count: it may be none."""
    for match in MARKED.finditer(text):
        found = match["mark"] or ""
        yield match[0] if match[0].startswith("<") else "" if match[0].startswith(TEXTS) else found


def is_nested(data: bytes, *, json: bool = False) -> bool:
    """Tell whether RDF is nested too many levels deep: triples that are about triples, and JSON-LD in any way.

    Cost O(its bytes); of Turtle without triples about triples next to none.
    """
    if not json and data.count(b"<<") <= DEEPEST:
        return False
    level = 0
    for step in _steps_json(data) if json else _steps(data):
        level = max(0, level + step)
        if level > DEEPEST:
            return True
    return False


def _steps(data: bytes) -> Iterator[int]:
    return ((mark == "<<") - (mark == ">>") for mark in marks(data.decode("latin-1")))


def _steps_json(data: bytes) -> Iterator[int]:
    return ((match[1] is not None) - (match[2] is not None) for match in BRACKET.finditer(data))
