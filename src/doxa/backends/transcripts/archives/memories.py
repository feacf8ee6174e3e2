"""Lists of memories as other systems give them out: mem0, OpenMemory, items of LangGraph's stores.

Sources: https://docs.mem0.ai (`get_all`, exports), and the points of the vector store that mem0 keeps its memories in;
OpenMemory's backups (`memories.json`, `memories.jsonl.gz`) and the answers of its API;
https://docs.langchain.com/oss/python/langgraph (items as `search` gives them, or as the table of a store holds them;
LangMem keeps its memories so).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import INVALID, Gathering, rest
from doxa.backends.transcripts.jsonvalues import values
from doxa.backends.transcripts.times import instant
from doxa.backends.transcripts.values import Line, role_of
from doxa.core.turns import NOTED

__all__ = ["LANGGRAPH", "MEM0", "OPENMEMORY", "VECTORS", "Listed", "Record", "has", "is_record", "metadata_of"]

HOLDERS: Final = ("results", "memories", "items", "passages", "points", "data")
"""Under which of its names an object holds the list."""
POINT: Final = ("data", "hash", "user_id", "agent_id", "run_id", "actor_id", "role", "created_at", "updated_at")
"""What the payload of a point in mem0's vector store holds beside metadata."""
OPENMEMORY_FIELDS: Final = (
    *("id", "content", "text", "metadata", "metadata_", "user_id"),
    *("app", "app_name", "app_id", "category_ids", "categories"),
)
VECTORS: Final = ("embedding", "embeddings", "vector", "embedding_config")
MEM0_FIELDS: Final = ("id", "memory", "data", "user_id", "metadata", "score", *VECTORS)
"""What of a memory of mem0 is kept in another place than its origin."""
SENTENCES: Final = ("content", "memory", "text", "data")
"""Under which name an item of a store may hold what it says; of those behind the first, with nothing beside it."""
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Listed:
    """A format that is a list of records."""

    tells: Callable[[Any], bool]
    """Whether a record is of it."""
    take: Callable[[Record, Record, int, Gathering], None]
    """Takes a record, given the object around the list and the line of the file."""

    def knows(self, files: Files) -> bool:
        """Tell whether the first record of a file is of this format."""
        return any(self.tells(next(self._held(head), None)) for head in files.heads)

    def read(self, files: Files, found: Gathering) -> None:
        """Take every record of every file."""
        for name in _once(files.data):
            for record, around, line in self._records(found.content(name) or b"", found):
                if self.tells(record):
                    if any(record.get(field) for field in VECTORS):
                        found.leave("embeddings (Doxa makes its own)")
                    self.take(record, around, line, found)
                else:
                    found.odd(record, f"a memory as {found.name} writes it", line)
        found.leave("other files of the archive", len(files.names) - len(files.data))

    def _records(self, content: bytes, found: Gathering) -> Iterator[tuple[Any, Record, int]]:
        """Yield the records of a file, each with the object around its list (nothing where it is bare) and its line."""
        for value in values(content):
            around = value.value if is_record(value.value) else {}
            if isinstance(relations := around.get("relations"), list):
                found.leave("relations of a graph beside the memories (Doxa makes its own)", len(relations))
            yield from ((one, around, value.line) for one in self._held(value.value))

    def _held(self, item: Any) -> Iterator[Any]:
        """Yield what a value of a file holds: itself if it is a record, or else the list in it."""
        if is_record(item) and not self.tells(item):
            holder = item["result"] if is_record(item.get("result")) else item
            held = next((holder[key] for key in HOLDERS if isinstance(holder.get(key), list)), [item])
            yield from held
        else:
            yield item


def _once(names: Sequence[str]) -> list[str]:
    """Return the files to read: OpenMemory writes its memories twice, and once is enough."""
    twice = any(name.endswith("memories.json") for name in names)
    return [name for name in names if not (twice and name.endswith("memories.jsonl.gz"))]


def is_record(item: Any) -> TypeGuard[Record]:
    """Tell whether something is an object."""
    return isinstance(item, Mapping)


def has(item: Any, *texts: str) -> TypeGuard[Record]:
    """Tell whether something is an object that has texts under some names."""
    return is_record(item) and all(isinstance(item.get(name), str) for name in texts)


def metadata_of(value: Any) -> dict[str, Any]:
    """Return metadata, as an object or as its JSON; what is none of both is kept under a name."""
    value = _parsed(value)
    return dict(value) if is_record(value) else {} if value in (None, "", []) else {"metadata": value}


def _parsed(value: Any) -> Any:
    """Return the object of a text that is its JSON, as the table of a database holds it; anything else as it is."""
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _has_id(item: Any) -> bool:
    return is_record(item) and _text(item.get("id")) is not None


def _user(record: Record, line: int, found: Gathering) -> tuple[str | None, bool]:
    """Return whose a record is, and whether that can be told: what is of somebody unknown is not anybody else's."""
    value = record.get("user_id")
    user = _text(value)
    if user is None and value not in (None, ""):
        found.odd(value, f"the user of {record.get('id')} as text", line)
        return None, False
    return user, True


def _is_mem0(item: Any) -> bool:
    return _has_id(item) and (has(item, "memory") or has(_parsed(item.get("payload")), "data"))


def _take_mem0(record: Record, around: Record, line: int, found: Gathering) -> None:
    if "memory" not in record:
        payload = _parsed(record["payload"])
        known = {name: payload[name] for name in POINT if name in payload}
        record = {**known, "id": record["id"], "memory": payload["data"], "metadata": rest(payload, *POINT)}
    user, is_told = _user(record, line, found)
    if not is_told:
        return
    speaker, role = _text(record.get("actor_id")), role_of(str(record.get("role") or ""))
    is_over = _is_past(record.get("expiration_date"))
    found.take(
        Line(
            text=record["memory"],
            speaker=speaker,
            role=role or "user",
            session=_text(record.get("run_id")),
            metadata=metadata_of(record.get("metadata")),
            line=line,
            verbatim=is_over,
            called=NOTED if speaker is None and role in (None, "user") else (),
        ),
        key=str(record["id"]),
        user=user,
        at=record.get("updated_at") or record.get("created_at"),
        origin=rest({**record, INVALID: is_over or None}, *MEM0_FIELDS),
    )


def _is_past(day: Any) -> bool:
    """Tell whether the last day on which a memory is given is over."""
    try:
        return instant(day).date() < datetime.now(UTC).date()
    except ValueError:
        return False


def _is_openmemory(item: Any) -> bool:
    return _has_id(item) and isinstance(item.get("content") or item.get("text"), str) and "state" in item


def _take_openmemory(record: Record, around: Record, line: int, found: Gathering) -> None:
    if record["state"] == "deleted":
        found.leave("deleted memories")
        return
    kinds = record.get("category_ids") or record.get("categories")
    app = record.get("app") or record.get("app_name") or _name(around, "apps", record.get("app_id"))
    names = [_name(around, "categories", one) for one in kinds] if isinstance(kinds, list) else []
    owner = around.get("user")
    hidden = record["state"] != "active"  # archived or paused: shown to nobody there
    found.take(
        Line(
            text=record.get("content") or record["text"],
            metadata=metadata_of(record.get("metadata") or record.get("metadata_")),
            line=line,
            verbatim=hidden,
            called=NOTED,
        ),
        key=str(record["id"]),
        user=_text(owner.get("user_id")) if is_record(owner) else None,
        at=record.get("updated_at") or record.get("created_at"),
        origin={
            **rest(record, *OPENMEMORY_FIELDS),
            **rest({"app_id": app, "categories": names, INVALID: hidden or None}),
        },
    )


def _name(around: Record, kind: str, key: Any) -> Any:
    """Return the name of an app or a category that the object around the list tells by its id."""
    known = around.get(kind)
    named = known if isinstance(known, list) else ()
    return next((one.get("name") for one in named if is_record(one) and one.get("id") == key), key)


def _is_item(item: Any) -> bool:
    named = is_record(item) and isinstance(item.get("namespace", item.get("prefix")), list | str)
    return named and has(item, "key") and "value" in item


def _take_item(record: Record, around: Record, line: int, found: Gathering) -> None:
    place = record.get("namespace", record.get("prefix"))
    namespace = place.split(".") if isinstance(place, str) else [str(label) for label in place]
    value = _parsed(record["value"])
    text = _content(value)
    # A slash in a label must not make one user of two.
    user = "/".join(label.replace("/", "%2F") for label in namespace)
    found.take(
        # A value that is no sentence is kept word for word, and found by its words.
        Line(
            text=text or json.dumps(value, ensure_ascii=False),
            session=user or None,
            line=line,
            verbatim=not text,
            called=NOTED,
        ),
        key=f"{user}/{record['key']}",
        user=user or None,
        at=record.get("updated_at") or record.get("created_at"),
        origin={"namespace": namespace, "key": record["key"], "value": value}
        | rest(record, "namespace", "prefix", "key", "value", "score", *VECTORS),
    )


def _content(value: Any) -> str | None:
    """Return what an item says: its content, as LangMem writes it, or its one text; None where it is no sentence."""
    while is_record(value):
        name = next((name for name in SENTENCES if name in value), None)
        if name is None or (name != SENTENCES[0] and len(value) > 1):
            return None
        value = value[name]
    return value if isinstance(value, str) and value.strip() else None


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() else None


MEM0: Final = Listed(_is_mem0, _take_mem0)
OPENMEMORY: Final = Listed(_is_openmemory, _take_openmemory)
LANGGRAPH: Final = Listed(_is_item, _take_item)
