"""Names of ours <-> IRIs, both ways and without loss.

A relation's snake case becomes camel case (`lives_in`: `livesIn`); every character that is not plain is
percent-encoded, as RFC 3986 section 2.1 has it, so any name gives a valid IRI and comes back from it.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

__all__ = ["PREFIXES", "key_of_iri", "local_of", "name_of_local", "relation_iri", "user_iri"]

PREFIXES = {
    "doxa": "urn:doxa:vocabulary#",
    "meta": "urn:doxa:meta#",
    "dul": "http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
"""The vocabulary (`doxa`), what is said about a memory's records (`meta`), and the standards."""


def relation_iri(name: str) -> str:
    """Return the IRI of a relation that no ontology gives one."""
    return PREFIXES["doxa"] + local_of(name)


def local_of(name: str) -> str:
    """Return the local part of a relation's IRI; it never begins with a capital, as those of classes do."""
    plain = "".join(_letter(letter, first=not place) for place, letter in enumerate(name))
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), plain)


def _letter(letter: str, *, first: bool) -> str:
    special = "A" <= letter <= "Z" or (first and letter == "_")
    return f"%{ord(letter):02X}" if special else quote(letter, safe="")


def name_of_local(local: str) -> str:
    """Return the name of a relation's local part: `livesIn` is `lives_in`."""
    snake = re.sub(
        r"%[0-9A-F]{2}|[A-Z]", lambda match: match[0] if len(match[0]) == 3 else f"_{match[0].lower()}", local
    )
    return unquote(snake)


def user_iri(user: str, kind: str, key: str) -> str:
    """Return the IRI of something in a user's memory: a thing, a fact, a turn."""
    return f"urn:doxa:user:{quote(user, safe='')}:{kind}#{quote(key, safe='')}"


def key_of_iri(iri: str) -> str:
    """Return the key of an IRI of `user_iri`."""
    return unquote(iri.rpartition("#")[2])
