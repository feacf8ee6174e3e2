"""The memory file of MCP's reference server: entities, observations and relations, one JSON object in each line.

Source: https://github.com/modelcontextprotocol/servers/tree/main/src/memory. Each piece is a sentence, from which facts
are read as from any other; the session of its turn says what it was in the graph, so that it is read back letter for
letter. The tools of that server (`doxa mcp --profile reference`) write the same turns.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import Gathering
from doxa.backends.transcripts.jsonvalues import values
from doxa.backends.transcripts.values import Line

__all__ = ["MARK", "entity", "knows", "observation", "read", "relation"]

MARK: Final = "graph "
"""How the sessions of such turns begin."""
HOLDERS: Final = ("entities", "relations")


def entity(name: str, kind: str) -> Line:
    """Return the turn of an entity."""
    article = "an" if kind[:1].casefold() in "aeiou" else "a"
    return _line({"name": name, "type": kind}, f"{name} is {article} {kind}.", key=("entity", name))


def observation(name: str, content: str) -> Line:
    """Return the turn of an observation of an entity, as a sentence about it."""
    named = any(one.casefold() in content.casefold() for one in (name, name.replace("_", " ")))
    capital = not named and content[:1].isupper() and not content[1:2].isupper()
    sentence = content[:1].lower() + content[1:] if capital else content
    before = "" if named else f"{name} "
    said = {"name": name, "before": before, "capital": capital}
    return _line(said, before + sentence, key=("observation", name, content))


def relation(start: str, kind: str, end: str) -> Line:
    """Return the turn of a relation."""
    text = f"{start} {kind.replace('_', ' ')} {end}."
    return _line({"relation": [start, kind, end]}, text, key=("relation", start, kind, end))


def _line(said: dict[str, Any], text: str, *, key: tuple[str, ...]) -> Line:
    # The id is made of what is written: of writers at the same time, one writes it and the others find it there.
    turn_id = f"graph/{key[0]}/{sha256(json.dumps(key).encode()).hexdigest()[:32]}"
    return Line(text=text, session=MARK + json.dumps(said, ensure_ascii=False), turn_id=turn_id)


def knows(files: Files) -> bool:
    """Tell whether it is such a file, or what the tool `read_graph` of that server gives."""
    return any(_pieces(next(_objects(head), None)) for head in files.heads)


def _objects(item: Any) -> Iterator[Any]:
    """Yield what a value of a file holds: itself, or the lists of a whole graph."""
    lists = [item[key] for key in HOLDERS if isinstance(item.get(key), list)] if isinstance(item, dict) else []
    yield from chain.from_iterable(lists or [[item]])


def read(files: Files, found: Gathering) -> None:
    """Take the pieces of the graph."""
    for name in files.data:
        for value in values(found.content(name) or b""):
            for item in _objects(value.value):
                pieces = _pieces(item)
                for line in pieces:
                    found.take(replace(line, line=value.line), key=str(line.turn_id))
                if not pieces:
                    found.odd(item, "an entity or a relation", value.line)
                elif "observations" in item:
                    _report(item["observations"], value.line, found)
    found.leave("other files of the archive", len(files.names) - len(files.data))


def _pieces(item: Any) -> list[Line]:
    match item:
        case {"name": str(name), "entityType": str(kind), **more} if name.strip():
            return [entity(name, kind), *(observation(name, content) for content in _seen(more.get("observations")))]
        case {"from": str(start), "relationType": str(kind), "to": str(end)}:
            return [relation(start, kind, end)]
    return []


def _seen(observations: Any) -> list[str]:
    """Return the observations of an entity that are text."""
    listed = observations if isinstance(observations, list) else [observations]
    return [one for one in listed if isinstance(one, str) and one.strip()]


def _report(observations: Any, line: int, found: Gathering) -> None:
    listed = observations if isinstance(observations, list) else [observations]
    for one in listed:
        if not isinstance(one, str):
            found.odd(one, "an observation as text", line)
