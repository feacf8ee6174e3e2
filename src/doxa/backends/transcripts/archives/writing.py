"""Turns and memories -> the files that other systems read back: the way out, beside the way in.

A memory is a `Line` too: its id, what it says, when it was said, and in `origin` what else is known of it. What was
taken from an archive goes back as it was there, as long as all that it says still holds.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid5

from doxa.backends.transcripts.values import Line

__all__ = ["WRITERS", "Writer", "written_notes"]

SPACE: Final = UUID("8f9d0c9e-2f0b-5c52-9c55-0a3b1c7d6e21")
"""What ids that are no UUIDs are made into UUIDs with."""
EPOCH: Final = "1970-01-01T00:00:00+00:00"
OWN: Final = ("agent_id", "app_id", "run_id", "expiration_date", "categories")
"""What a memory of mem0 has beside its text, its metadata and its dates."""
HUMAN: Final = "human"
"""The label of the block in which an agent of Letta notes what it knows of its user."""
KNOWN: Final = "known"
"""That of the block with what is believed, where the agent's own blocks are there too."""
OURS_ALONE: Final = ("from", "id", "kind", "user", "subject", "updated_at", "invalid")
"""What stands in the origin of an edge beside what it was."""
ITEM: Final = "- "
NOTES: Final = "Notes"
LONGEST_NAME: Final = 200
"""Bytes of the name of a file; most systems take 255 with its end."""
Writer = Callable[[Sequence[Line], str], Iterable[bytes]]
"""Lines and whose they are -> the pieces of a file."""


def _mem0(lines: Sequence[Line], user: str) -> Iterator[bytes]:
    """What `get_all` of mem0 gives."""
    yield _json({"results": [_mem0_record(line, user) for line in lines]})


def _mem0_record(line: Line, user: str) -> dict[str, Any]:
    origin = line.origin
    own = {name: origin[name] for name in OWN if origin.get(name)}
    return {
        "id": _uuid(line),
        "memory": line.text,
        "user_id": user,
        **own,
        "metadata": dict(line.metadata),
        "created_at": origin.get("created_at") or _iso(line.at),
        "updated_at": origin.get("updated_at") or _iso(line.at),
    }


def _openmemory(lines: Sequence[Line], user: str) -> Iterator[bytes]:
    """A backup of OpenMemory: a zip of both files that its import looks for."""
    made = _iso(max((line.at for line in lines if line.at), default=None))
    records = [_openmemory_record(line) for line in lines]
    whole = {
        "user": {"id": str(uuid5(SPACE, user)), "user_id": user, "name": user, "email": None, "metadata": {}},
        **{name: [] for name in ("apps", "categories", "memory_categories", "status_history", "access_controls")},
        "memories": records,
        "export_meta": {"version": "1", "generated_at": made},
    }
    logical = b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in records)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("memories.json", _json(whole)), ("memories.jsonl.gz", gzip.compress(logical, mtime=0))):
            archive.writestr(zipfile.ZipInfo(name), content)
    yield zipped.getvalue()


def _openmemory_record(line: Line) -> dict[str, Any]:
    at = _iso(line.at)
    return {
        "id": _uuid(line),
        "content": line.text,
        "metadata": dict(line.metadata),
        "state": line.origin.get("state") or "active",
        **{name: line.origin[name] for name in ("app_id", "categories") if line.origin.get(name)},
        "created_at": line.origin.get("created_at") or at,
        "updated_at": line.origin.get("updated_at") or at,
    }


def _langgraph(lines: Sequence[Line], user: str) -> Iterator[bytes]:
    """Items of a store, with the values that LangMem's memories have."""
    yield _json([_item(line, user) for line in lines])


def _item(line: Line, user: str) -> dict[str, Any]:
    origin, at = line.origin, _iso(line.at)
    return {
        "namespace": origin.get("namespace") or ["memories", user],
        "key": origin.get("key") or str(line.turn_id),
        "value": origin.get("value", {"kind": "Memory", "content": {"content": line.text}}),
        "created_at": origin.get("created_at") or at,
        "updated_at": origin.get("updated_at") or at,
    }


def _mcp(lines: Sequence[Line], user: str) -> Iterator[bytes]:
    """The memory file of the reference server, of lines that are an `entity`, an `observation` or a `relation`."""
    nodes: dict[str, dict[str, Any]] = {}
    relations: list[dict[str, Any]] = []
    for line in lines:
        match line.origin:
            case {"entity": [name, kind]}:
                nodes[name] = {"type": "entity", "name": name, "entityType": kind, "observations": []}
            case {"observation": name}:
                nodes[name]["observations"].append(line.text)
            case {"relation": [start, kind, end]}:
                relations.append({"type": "relation", "from": start, "to": end, "relationType": kind})
    for one in (*nodes.values(), *relations):
        yield json.dumps(one, ensure_ascii=False).encode() + b"\n"


def _letta(lines: Sequence[Line], user: str) -> Iterator[bytes]:
    """An agent file of one agent: what is known of the user and its own notes as blocks, what was said as messages."""
    said = [line for line in lines if "message" in line.origin]
    noted = [line for line in lines if line.origin.get("kind") == "block"]
    known = [line.text for line in lines if "relation" in line.origin]
    messages = [
        {
            "type": "message",
            "id": f"message-{place}",
            "role": line.role,
            "name": line.speaker,
            "content": [{"type": "text", "text": line.text}],
            "created_at": _iso(line.at) or EPOCH,
            "agent_id": "agent-0",
            "otid": line.turn_id,
        }
        for place, line in enumerate(said)
    ]
    texts = {str(line.origin.get("label") or "block"): line.text for line in noted}  # of each as it was last
    blocks = [
        {"id": f"block-{place}", "label": label, "value": text, "limit": max(20_000, len(text)), "metadata": {}}
        for place, (label, text) in enumerate([(HUMAN if not noted else KNOWN, "\n".join(known)), *texts.items()])
    ]
    agent = {
        "id": "agent-0",
        "name": user,
        "agent_type": "letta_v1_agent",
        "block_ids": [block["id"] for block in blocks],
        "in_context_message_ids": [],
        "messages": messages,
    }
    empty = ("groups", "files", "sources", "tools", "mcp_servers")
    yield _json({"agents": [agent], "blocks": blocks, **{name: [] for name in empty}})


def _graphiti(lines: Sequence[Line], user: str) -> Iterator[bytes]:
    """Episodes, edges and nodes, with the fields of Graphiti's classes."""
    episodes, edges = [], []
    nodes: dict[str, dict[str, Any]] = {}
    for line in lines:
        if "message" in line.origin:
            episodes.append(_episode(line, user))
        elif line.origin.get("kind") == "edge":
            # As it was there: its ends are nodes there.
            own = {name: value for name, value in line.origin.items() if name not in OURS_ALONE}
            edges.append({"uuid": line.turn_id, "group_id": user, "fact": line.text, **own})
        elif "relation" in line.origin:
            at = _iso(line.at)
            ends = [nodes.setdefault(key, _node(key, label, user, at)) for key, label in line.origin["ends"]]
            edges.append(_edge(line, user, [str(end["uuid"]) for end in ends]))
    yield _json({"episodes": episodes, "edges": edges, "nodes": list(nodes.values())})


def _episode(line: Line, user: str) -> dict[str, Any]:
    at = _iso(line.at)
    return {
        "uuid": line.turn_id,
        "name": line.session or "",
        "group_id": user,
        "source": "text",
        "source_description": line.speaker or "",
        "content": line.text,
        "created_at": at,
        "valid_at": at,
    }


def _edge(line: Line, user: str, ends: Sequence[str]) -> dict[str, Any]:
    origin = line.origin
    return {
        "uuid": line.turn_id,
        "group_id": user,
        "source_node_uuid": ends[0],
        "target_node_uuid": ends[1],
        "name": origin["relation"],
        "fact": line.text,
        "episodes": list(origin.get("episodes") or ()),
        "created_at": _iso(line.at),
        "valid_at": origin.get("valid_at"),
        "invalid_at": origin.get("invalid_at"),
    }


def _node(key: str, label: str, user: str, at: str | None) -> dict[str, Any]:
    return {"uuid": key, "name": label, "group_id": user, "labels": ["Entity"], "created_at": at}


def _messages(lines: Sequence[Line], user: str) -> Iterator[bytes]:
    """Messages as OpenAI writes them, with an id, a session and a time; one in each line."""
    for line in lines:
        one = {"role": line.role, "content": line.text, "name": line.speaker, "id": line.turn_id}
        yield json.dumps(one | {"session": line.session, "at": _iso(line.at)}, ensure_ascii=False).encode() + b"\n"


def written_notes(lines: Sequence[Line]) -> dict[str, bytes]:
    """Return notes by their names: one for each subject, with what is known of it as a list."""
    found: dict[str, tuple[str, list[Line]]] = {}
    for line in lines:
        name = _file_name(str(line.origin.get("subject") or NOTES))
        # Names that differ in their case alone are one file to many systems.
        found.setdefault(name.casefold(), (name, []))[1].append(line)
    return {f"{name}.md": _note(name, several) for name, several in found.values()}


def _note(name: str, lines: Sequence[Line]) -> bytes:
    return "".join([f"# {name}\n\n", *(f"- {item}\n" for line in lines for item in _items(line))]).encode()


def _items(line: Line) -> Iterator[str]:
    """Yield what a memory is in a list: one item, or those that it was when it was a list itself."""
    day = f" %%{line.at.date()}%%" if line.at else ""
    rows = line.text.splitlines()
    several = rows if all(row.startswith(ITEM) for row in rows) else [" ".join(line.text.split())]
    return (row.removeprefix(ITEM) + day for row in several)


def _file_name(label: str) -> str:
    """Return a name that every file system takes."""
    name = "".join("-" if c in '/\\:*?"<>|#^[]' or not c.isprintable() else c for c in label)
    return name.encode()[:LONGEST_NAME].decode(errors="ignore").strip(". ") or NOTES


WRITERS: Final[Mapping[str, Writer]] = {
    "mem0": _mem0,
    "openmemory": _openmemory,
    "langgraph": _langgraph,
    "mcp": _mcp,
    "letta": _letta,
    "graphiti": _graphiti,
    "messages": _messages,
}
"""Formats -> what writes them."""


def _uuid(line: Line) -> str:
    """Return an id as the systems that want UUIDs take it: itself if it is one, else one that follows from it."""
    try:
        return str(UUID(str(line.turn_id)))
    except ValueError:
        return str(uuid5(SPACE, str(line.turn_id)))


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()
