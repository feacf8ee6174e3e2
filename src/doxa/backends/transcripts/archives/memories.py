"""Lists of memories as other systems give them out: mem0, OpenMemory, items of LangGraph's stores, passages of Letta.

Sources: https://docs.mem0.ai (`get_all`, exports); OpenMemory's backups (`memories.json`, `memories.jsonl.gz`) and the
answers of its API; https://docs.langchain.com/oss/python/langgraph (items as `search` gives them, or as the table of a
store holds them; LangMem keeps its memories so); https://docs.letta.com (passages of an archive).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from doxa.backends.transcripts.archives.files import Files
from doxa.backends.transcripts.archives.gathering import Gathering, rest
from doxa.backends.transcripts.jsonvalues import values
from doxa.backends.transcripts.values import Line, shown

__all__ = ["LANGGRAPH", "MEM0", "OPENMEMORY", "PASSAGES", "Listed"]

HOLDERS: Final = ("results", "memories", "items", "passages", "data")
"""Under which of its names an object holds the list."""
OPENMEMORY_FIELDS: Final = (
    *("id", "content", "text", "metadata", "metadata_", "user_id"),
    *("app", "app_name", "app_id", "category_ids", "categories"),
)
VECTORS: Final = ("embedding", "embeddings", "vector", "embedding_config")
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
        return any(self.tells(next(_held(head), None)) for head in files.heads)

    def read(self, files: Files, found: Gathering) -> None:
        """Take every record of every file."""
        for name in _once(files.data):
            for record, around, line in _records(found.content(name) or b""):
                if self.tells(record):
                    self._count_vectors(record, found)
                    self.take(record, around, line, found)
                else:
                    told = f"expected a memory as {found.name} writes it, got {shown(record)}; it was left out."
                    found.of().problem(told, line)

    def _count_vectors(self, record: Record, found: Gathering) -> None:
        if any(record.get(name) for name in VECTORS):
            found.leave("embeddings (Doxa makes its own)")


def _records(content: bytes) -> Iterator[tuple[Any, Record, int]]:
    """Yield the records of a file, each with the object around its list (nothing around a bare list) and its line."""
    for value in values(content):
        around = value.value if _is_record(value.value) else {}
        yield from ((one, around, value.line) for one in _held(value.value))


def _held(item: Any) -> Iterator[Any]:
    """Yield what a value of a file holds: the list in it, or itself."""
    lists = [item[key] for key in HOLDERS if isinstance(item.get(key), list)] if _is_record(item) else []
    yield from lists[0] if lists else [item]


def _once(names: Sequence[str]) -> list[str]:
    """Return the files to read: OpenMemory writes its memories twice, and once is enough."""
    twice = any(name.endswith("memories.json") for name in names)
    return [name for name in names if not (twice and name.endswith("memories.jsonl.gz"))]


def _is_record(item: Any) -> bool:
    return isinstance(item, Mapping)


def _has(item: Any, *texts: str) -> bool:
    return _is_record(item) and all(isinstance(item.get(name), str) for name in texts)


def _metadata(value: Any) -> dict[str, Any]:
    return dict(value) if _is_record(value) else {}


def _is_mem0(item: Any) -> bool:
    return _has(item, "id", "memory")


def _take_mem0(record: Record, around: Record, line: int, found: Gathering) -> None:
    user, run = record.get("user_id"), record.get("run_id")
    found.take(
        Line(text=record["memory"], session=_text(run), metadata=_metadata(record.get("metadata")), line=line),
        key=record["id"],
        user=_text(user),
        at=record.get("updated_at") or record.get("created_at"),
        origin=rest(record, "id", "memory", "user_id", "metadata", "score", *VECTORS),
    )


def _is_openmemory(item: Any) -> bool:
    return _has(item, "id") and isinstance(item.get("content") or item.get("text"), str) and "state" in item


def _take_openmemory(record: Record, around: Record, line: int, found: Gathering) -> None:
    if record["state"] == "deleted":
        found.leave("deleted memories")
        return
    kinds = record.get("category_ids") or record.get("categories") or ()
    app = record.get("app") or record.get("app_name") or _name(around, "apps", record.get("app_id"))
    found.take(
        Line(
            text=record.get("content") or record["text"],
            metadata=_metadata(record.get("metadata") or record.get("metadata_")),
            line=line,
        ),
        key=record["id"],
        user=_text(_metadata(around.get("user")).get("user_id")),
        at=record.get("updated_at") or record.get("created_at"),
        origin={
            **rest(record, *OPENMEMORY_FIELDS),
            **rest({"app_id": app, "categories": [_name(around, "categories", one) for one in kinds]}),
        },
    )


def _name(around: Record, kind: str, key: Any) -> Any:
    """Return the name of an app or a category that the object around the list tells by its id."""
    return next((one.get("name") for one in around.get(kind) or () if _is_record(one) and one.get("id") == key), key)


def _is_item(item: Any) -> bool:
    named = _is_record(item) and isinstance(item.get("namespace", item.get("prefix")), list | str)
    return named and _has(item, "key") and "value" in item


def _take_item(record: Record, around: Record, line: int, found: Gathering) -> None:
    place = record.get("namespace", record.get("prefix"))
    namespace = place.split(".") if isinstance(place, str) else [str(label) for label in place]
    value = record["value"]
    text = _content(value)
    user = "/".join(namespace)
    found.take(
        # A value that is no sentence is kept word for word, and found by its words.
        Line(text=text or json.dumps(value, ensure_ascii=False), session=user, line=line, verbatim=text is None),
        key=f"{user}/{record['key']}",
        user=user,
        at=record.get("updated_at") or record.get("created_at"),
        origin={"namespace": namespace, "key": record["key"], "value": value}
        | rest(record, "namespace", "prefix", "key", "value", "score", *VECTORS),
    )


def _content(value: Any) -> str | None:
    """Return what an item says: its content, as LangMem writes it; None where it holds no text by that name."""
    while _is_record(value) and "content" in value:
        value = value["content"]
    return value if isinstance(value, str) and value.strip() else None


def _is_passage(item: Any) -> bool:
    return _has(item, "id", "text") and (item["id"].startswith("passage-") or "archive_id" in item)


def _take_passage(record: Record, around: Record, line: int, found: Gathering) -> None:
    found.take(
        Line(text=record["text"], metadata=_metadata(record.get("metadata")), line=line),
        key=record["id"],
        at=record.get("created_at"),
        origin=rest(record, "id", "text", "metadata", *VECTORS),
    )


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() else None


MEM0: Final = Listed(_is_mem0, _take_mem0)
OPENMEMORY: Final = Listed(_is_openmemory, _take_openmemory)
LANGGRAPH: Final = Listed(_is_item, _take_item)
PASSAGES: Final = Listed(_is_passage, _take_passage)
