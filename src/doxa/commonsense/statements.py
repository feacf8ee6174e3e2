"""An event, a relation and a tail -> a statement about the people of a conversation (table I)."""

from __future__ import annotations

import re

from doxa.core.background import RELATIONS

__all__ = ["neutral", "statement"]

PERSON = re.compile(r"\bperson ?([xyz])\b", re.IGNORECASE)
TO = re.compile(r"^(to|too) ", re.IGNORECASE)
WANTED = {"xNeed", "xWant", "xIntent"}
"""Relations whose tails are what somebody does: "to save money"."""
DOES = re.compile(r"^(is|are|has|gets|goes|does|was|feels|[a-z]{2,}[^su]s|[a-z]+(ch|sh|ss|x|z|o)es)\b")
"""How a tail begins that is a verb with its third person's ending: "gets wet"."""
SOMEBODY = {"x": "the person", "y": "the other", "z": "somebody else"}


def neutral(event: str, *, x: str = SOMEBODY["x"], y: str = SOMEBODY["y"]) -> str:
    """Return an event or tail with its places filled: "PersonX pays PersonY ___" -> "the person pays the other it"."""
    names = {"x": x, "y": y, "z": SOMEBODY["z"]}
    filled = PERSON.sub(lambda found: names[found[1].lower()], event)
    return " ".join(re.sub(r"_{2,}", "something", filled).split())


def statement(event: str, relation: str, tail: str, *, x: str = SOMEBODY["x"], y: str = SOMEBODY["y"]) -> str:
    """Return an inference in words, by the statement of its relation: "as a result, the person wants to save money".

    The statements are those of table I. What somebody needs, wants or means to do gets its "to", and an effect that
    comes as "gets wet" stands without "will"; the table has neither.

    Args:
        event: what happens, with PersonX and PersonY where it speaks of them.
        relation: a name in `RELATIONS`.
        tail: what is inferred.
        x: who PersonX is.
        y: who PersonY is.
    """
    said = neutral(tail, x=x, y=y).rstrip(". ")
    words = RELATIONS[relation].statement
    if relation in WANTED:
        said = f"to {TO.sub('', said)}"
    elif relation == "xEffect" and DOES.match(said.lower()):
        words = words.replace("x will", "x")
    elif relation == "xReact" or relation == "xAttr":
        said = TO.sub("", said)
    words = re.sub(r"\bx\b", lambda _: x, words)
    return words.format(event=neutral(event, x=x, y=y), tail=said)
