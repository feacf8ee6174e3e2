"""A graph of Graphiti or Zep: episodes, edges and nodes as they give them out, in one file or several.

Source: https://help.getzep.com (`EpisodicNode`, `EntityEdge`, `EntityNode`; messages of a thread). There is no one
export file: what is read is those objects as JSON, as lists, in lines, or under `episodes`, `edges`, `nodes`.

Where an episode is there, it is what was said, and Doxa reads it itself; an edge whose episodes are all there says
nothing more and is counted as not carried. Any other edge is a sentence, said when it became true; one that was
invalidated is kept word for word, with its end, and nothing is believed of it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import INVALID, Gathering, rest
from doxa.backends.transcripts.collecting import Collector
from doxa.backends.transcripts.jsonvalues import values
from doxa.backends.transcripts.text import read_text
from doxa.backends.transcripts.values import Line, role_of
from doxa.core.turns import NOTED

__all__ = ["knows", "read"]

HOLDERS: Final = ("episodes", "edges", "nodes", "messages")
SERVED: Final = re.compile(r"(?P<name>[^\n():]*)\((?P<role>[a-z]+)\): ")
"""How an episode begins that Graphiti's server made of one message."""
VECTORS: Final = ("fact_embedding", "name_embedding")
Kind = Literal["episode", "edge", "node", "message"]


def knows(files: Files) -> bool:
    """Tell whether the first object is one of those."""
    return any(_kind(next(_objects(head), None)) is not None for head in files.heads)


def _objects(item: Any) -> Iterator[Any]:
    """Yield what a value of a file holds: itself, or what is in its lists."""
    lists = [item[key] for key in HOLDERS if isinstance(item.get(key), list)] if isinstance(item, Mapping) else [[item]]
    yield from (one for held in lists or [[item]] for one in held)


def _kind(item: Any) -> Kind | None:
    if not isinstance(item, Mapping) or not isinstance(item.get("uuid"), str):
        return None
    if isinstance(item.get("fact"), str) and "source_node_uuid" in item:
        return "edge"
    if isinstance(item.get("content"), str):
        return "message" if "role_type" in item or ("role" in item and "source" not in item) else "episode"
    return "node" if "name" in item else None


def read(files: Files, found: Gathering) -> None:
    """Take episodes and messages, and the edges that none of the episodes told."""
    edges: list[tuple[Mapping[str, Any], int]] = []
    episodes = set[str]()
    for name in files.data:
        content = found.content(name) or b""
        objects = ((one, value.line) for value in values(content) for one in _objects(value.value))
        for item, line in objects:
            match _kind(item):
                case "edge":
                    edges.append((item, line))
                case "node":
                    found.leave("nodes and their summaries (Doxa makes its own of what was said)")
                case "episode" | "message" as kind:
                    episodes.add(item["uuid"])
                    _take_said(item, kind, line, found)
                case None:
                    found.odd(item, "an episode, an edge or a node", line)
    for edge, line in edges:
        sources = edge.get("episodes")
        if isinstance(sources, list) and sources and all(str(one) in episodes for one in sources):
            found.leave("edges whose episodes are here (they are read again)")
        else:
            _take_edge(edge, line, found)
    found.leave("other files of the archive", len(files.names) - len(files.data))


def _take_said(item: Mapping[str, Any], kind: Kind, line: int, found: Gathering) -> None:
    origin = {"kind": kind, **rest(item, "uuid", "content", "group_id", "user_id")}
    session = str(item.get("thread_id") or item.get("session_id") or "") or None
    at = item.get("valid_at") or item.get("created_at")
    for place, said in enumerate(_lines(item, kind), start=1):
        several = said.line is not None
        found.take(
            replace(said, session=session, turn_id=None, line=line),
            key=f"{item['uuid']}/{place}" if several else item["uuid"],
            user=_group(item),
            at=at,
            origin=origin,
        )


def _lines(item: Mapping[str, Any], kind: Kind) -> Sequence[Line]:
    """Return what an episode or a message says; an episode of messages is a line of "Name: text" for each."""
    if kind == "episode" and item.get("source") == "message":
        if served := SERVED.match(item["content"]):
            role, name = role_of(served["role"]) or "user", served["name"].strip()
            return [Line(text=item["content"][served.end() :], speaker=name or None, role=role)]
        (said,) = read_text(item["content"].encode(errors="replace"), Collector(path=""))
        if said.lines and not said.problems:  # else not all of it is such lines, and it is taken as one
            return said.lines
    role = role_of(str(item.get("role_type") or item.get("role") or "user")) or "user"
    speaker = str(item.get("name") or "") if kind == "message" else ""
    verbatim = item.get("source") == "json"
    return [Line(text=item["content"], speaker=speaker or None, role=role, verbatim=verbatim)]


def _take_edge(edge: Mapping[str, Any], line: int, found: Gathering) -> None:
    """Take an edge as a sentence that was said when it became true; one that holds no longer is not to be believed."""
    over = bool(edge.get("invalid_at") or edge.get("expired_at"))
    if any(edge.get(name) for name in VECTORS):
        found.leave("embeddings (Doxa makes its own)")
    found.take(
        Line(text=edge["fact"], line=line, verbatim=over, called=NOTED),
        key=edge["uuid"],
        user=_group(edge),
        at=edge.get("valid_at") or edge.get("created_at"),
        origin={
            "kind": "edge",
            **({INVALID: True} if over else {}),
            **rest(edge, "uuid", "fact", "group_id", *VECTORS),
        },
    )


def _group(item: Mapping[str, Any]) -> str | None:
    group = item.get("group_id") or item.get("user_id")
    return group if isinstance(group, str) and group.strip() else None
