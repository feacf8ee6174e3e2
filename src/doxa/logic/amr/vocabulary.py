"""The names that the translation uses, read from `vocabulary.toml`, and how words become IRIs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode

__all__ = ["camel", "expand", "frames", "literal", "local", "prefixes", "table"]

XSD = "http://www.w3.org/2001/XMLSchema#"
INTEGER = re.compile(r"[+-]?\d{1,18}")
DECIMAL = re.compile(r"[+-]?\d{1,18}\.\d{1,18}")


@cache
def _vocabulary() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.logic.amr").joinpath("vocabulary.toml").read_text(encoding="utf-8"))


def table(name: str) -> Mapping[str, Any]:
    """Return one table of the vocabulary, such as `roles`."""
    found: Mapping[str, Any] = _vocabulary()[name]
    return found


def frames(concept: str) -> Mapping[str, str]:
    """Return what the roles of a frame of AMR's own are called; empty for another frame."""
    found: Mapping[str, str] = table("frames").get(concept, {})
    return found


def prefixes() -> dict[str, str]:
    """Return the prefixes of every namespace that the translation uses."""
    return dict(table("prefixes"))


@cache
def expand(name: str) -> NamedNode:
    """Return the IRI of a name with its prefix ("dul:Event")."""
    prefix, _, rest = name.partition(":")
    return NamedNode(prefixes()[prefix] + rest)


def local(text: str) -> str:
    """Return words as the last part of an IRI."""
    return quote("_".join(text.split()).encode("utf-8", "replace"), safe="") or "_"


def camel(concept: str) -> str:
    """Return a concept as the local name of a class ("date-entity" -> "DateEntity", "want-01" -> "Want-01")."""
    head, dash, sense = concept.rpartition("-")
    numbered = dash and re.fullmatch(r"\d{2,3}", sense)
    words = re.split(r"[-\s]+", head if numbered else concept)
    name = "".join(word[:1].upper() + word[1:] for word in words) or "Thing"
    return local(f"{name}-{sense}" if numbered else name)


def literal(text: str) -> Literal:
    """Return a constant of AMR as a literal: an integer, a decimal or a string; all three are OWL 2 datatypes."""
    if INTEGER.fullmatch(text):
        return Literal(str(int(text)), datatype=NamedNode(XSD + "integer"))
    if DECIMAL.fullmatch(text):
        return Literal(text, datatype=NamedNode(XSD + "decimal"))
    return Literal(text.encode("utf-8", "replace").decode("utf-8"))
