"""What other programs gave out: transcripts, and archives of memories, chats and messengers."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from doors.base import decoded, encoded, ours
from doxa.backends.transcripts import ARCHIVES, FORMATS, Transcript, detect, read, read_archive

__all__ = ["Archives", "Transcripts"]

SAID = {"role": "user", "content": "I live in Oslo.", "name": "Ana", "created_at": "2024-03-02T09:00:00Z", "id": "m1"}
NODES = {
    "a": {"id": "a", "message": None, "parent": None, "children": ["b"]},
    "b": {
        "id": "b",
        "parent": "a",
        "children": [],
        "message": {
            "id": "b", "author": {"role": "user"}, "create_time": 1709370840.5,
            "content": {"content_type": "text", "parts": ["I live in Oslo.", {"x": 1}]},
        },
    },
}  # fmt: skip
CHATGPT = {"title": "T", "create_time": 1.0, "mapping": NODES, "current_node": "b"}
PART = {"type": "text", "text": "Hi."}
CLAUDE = {
    "uuid": "c1", "name": "x", "created_at": "2024-01-01T00:00:00Z", "account": {"uuid": "u"},
    "chat_messages": [
        {"uuid": "m", "text": "Hi.", "content": [PART], "sender": "human", "created_at": "2024-01-01T00:00:00.5+02:00"}
    ],
}  # fmt: skip
LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ana", "speaker_b": "Bo", "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I live in Lisbon.", "blip_caption": "a", "img_url": ["x"]},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Me too."},
        ],
    },
    "qa": [{"question": "Where?", "answer": "Lisbon", "evidence": ["D1:1"], "category": 4}],
}  # fmt: skip
SHAREGPT = {"id": "s1", "conversations": [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]}
PLAIN = (
    "Ana: I live in Oslo.\nBo: Me too.\n  And more of it.\n\n[2024-03-02 09:14] Ana: Hi.\n",
    "2024-03-02\n09:14 Ana: Hi.\n09:15 - Bo: Hello.\n--- 3 March 2024 ---\nAna (10:00): Bye.\n",
)


class Transcripts:
    """A transcript as bytes, by every format and by what it is told for."""

    seeds: Sequence[bytes] = [
        *encoded([SAID, {"role": "assistant", "content": [PART]}], {"messages": [SAID]}, SAID, [CHATGPT], CLAUDE),
        *encoded([LOCOMO], LOCOMO["conversation"], SHAREGPT, [SHAREGPT, CHATGPT]),
        b"\n".join(encoded(SAID, {**SAID, "id": "m2", "timestamp": 1709370840})),
        *(text.encode() for text in PLAIN),
        *(PLAIN[0].encode(name) for name in ("utf-8-sig", "utf-16", "utf-32")),
    ]
    words: Sequence[str] = (
        "Ana: ",
        "Bo: ",
        "\n",
        "[2024-03-02] ",
        "09:14",
        " pm",
        "{",
        "}",
        "[",
        "]",
        '"',
        "---",
        "\t",
        ",",
    )

    def __init__(self, models: bool) -> None:
        """Open it; there is no engine behind it."""

    def __call__(self, data: bytes) -> None:
        for name in ("auto", *FORMATS):
            with ours():
                looked_over(read(None, content=data, format=name, session="s"))
        with ours():
            detect(data)

    def close(self) -> None:
        """Nothing is open."""


MEM0 = {
    "id": "m1", "memory": "Likes hiking", "user_id": "ana", "agent_id": "bot", "run_id": "r1", "hash": "x",
    "metadata": {"place": "alps"}, "created_at": "2024-01-02T03:04:05Z", "updated_at": "2024-02-02T00:00:00+01:00",
}  # fmt: skip
OPENMEMORY = {
    "user": {"id": "0", "user_id": "ana"}, "apps": [{"id": "a", "name": "cursor"}],
    "categories": [{"id": "c", "name": "work"}],
    "memories": [
        {"id": "o1", "content": "Works at X", "state": "active", "created_at": "2024-01-01T00:00:00Z", "app_id": "a",
         "category_ids": ["c"], "metadata": {"k": 1}}
    ],
}  # fmt: skip
ITEM = {
    "namespace": ["memories", "ana"], "key": "k1", "value": {"kind": "Memory", "content": {"content": "Likes tea"}},
    "created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z",
}  # fmt: skip
GRAPH = [
    {"type": "entity", "name": "Ana", "entityType": "person", "observations": ["lives in Oslo"]},
    {"type": "relation", "from": "Ana", "to": "Acme", "relationType": "works_at"},
]
AGENT = {
    "agent_type": "memgpt_agent", "name": "x", "version": "0.5", "core_memory": [{"label": "human", "value": "Ana."}],
    "blocks": [{"label": "human", "value": "Name: Ana\nLikes tea."}], "passages": [{"id": "p", "text": "Likes tea."}],
    "messages": [
        {"role": "user", "id": "m", "created_at": "2024-01-01T00:00:00Z",
         "content": [{"type": "text", "text": json.dumps({"type": "user_message", "message": "Hi.", "time": "x"})}]},
        {"role": "assistant", "content": [], "tool_calls": [
            {"function": {"name": "send_message", "arguments": json.dumps({"message": "Nice!"})}}]},
    ],
}  # fmt: skip
EPISODE = {
    "uuid": "e1", "name": "x", "group_id": "ana", "source": "message", "source_description": "chat",
    "content": "Ana(user): I live in Oslo.", "valid_at": "2024-01-01T00:00:00Z", "created_at": "2024-01-01T00:00:00Z",
}  # fmt: skip
EDGE = {"uuid": "f1", "fact": "Ana lives in Oslo", "source_node_uuid": "1", "target_node_uuid": "2", "group_id": "ana"}
SLACK_SAID = {"type": "message", "user": "U1", "text": "Hi <@U1> &amp; <http://a|b> :tada:", "ts": "1709370840.000100"}
SLACK = {
    "users.json": json.dumps([{"id": "U1", "name": "ana", "profile": {"display_name": "Ana", "real_name": "Ana L"}}]),
    "channels.json": json.dumps([{"id": "C1", "name": "general"}]),
    "general/2024-03-02.json": json.dumps([SLACK_SAID, {**SLACK_SAID, "subtype": "bot_message", "thread_ts": "1.0"}]),
}
NOTE = "---\ntitle: T\ntags: [a, b]\ndate: 2024-01-01\n---\n# Head\nText [[Other|o]] #tag\n- item\n\n- [ ] todo\n"
WHATSAPP = (
    "12/05/24, 10:11 - Messages are end-to-end encrypted.\n12/05/24, 10:12 - Ana: Hi\nthere\n"
    "13/05/24, 10:12 pm - Bo: <Media omitted>\n[14/05/24, 10:11:12] \u200eAna: \u200eimage omitted\n"
)
SHEETS: Sequence[Mapping[str, str]] = (
    {"m.json": json.dumps([MEM0])},
    {"m.json": json.dumps({"results": [MEM0, {**MEM0, "id": "m2"}]})},
    {"memories.json": json.dumps(OPENMEMORY)},
    {"store.json": json.dumps([ITEM])},
    {"memory.jsonl": "\n".join(map(json.dumps, GRAPH))},
    {"agent.af": json.dumps(AGENT)},
    {"g.json": json.dumps({"episodes": [EPISODE], "edges": [EDGE], "nodes": [{"uuid": "1", "name": "Ana"}]})},
    {"conversations.json": json.dumps([CHATGPT])},
    {"conversations.json": json.dumps([CLAUDE]), "users.json": "[]"},
    SLACK,
    {"note.md": NOTE, "folder/other.md": "# Other\nMore.\n"},
    {"WhatsApp Chat with Ana.txt": WHATSAPP},
)


class Archives:
    """An archive: `{name: text}` packed as a zip or laid out as a folder, or the bytes of a file under some name."""

    words: Sequence[str] = (
        *ARCHIVES,
        ".json",
        ".jsonl",
        ".md",
        ".txt",
        ".gz",
        ".af",
        "/",
        "users.json",
        "__MACOSX/",
        "---\n",
    )

    def __init__(self, models: bool) -> None:
        """Open it: a folder."""
        self._folder = Path(mkdtemp(prefix="fuzz-"))
        zipped = [{**one, "": "zip"} for one in SHEETS]
        alone = [next(iter(one.values())).encode() for one in SHEETS]
        self.seeds: Sequence[bytes] = [*encoded(*SHEETS, *zipped), *alone, packed(SHEETS[9]), gzip.compress(alone[0])]

    def __call__(self, data: bytes) -> None:
        given: Any = decoded(data)
        inside = self._folder / "in"
        inside.mkdir()
        try:
            self._read(self._laid(given, data, inside), len(data))
        finally:
            rmtree(inside)

    def _read(self, path: Path, size: int) -> None:
        for name in ("auto", ARCHIVES[size % len(ARCHIVES)]):
            with ours():
                looked_over(read_archive(path, format=name, session="s"))

    def _laid(self, given: Any, data: bytes, inside: Path) -> Path:
        """Write an archive, and return where it is."""
        if not isinstance(given, dict) or not given:
            path = inside / ("a.zip" if data[:1] == b"P" else "a.gz" if data[:1] == b"\x1f" else "a.txt")
            path.write_bytes(data)
            return path
        held = {str(name): told if isinstance(told, str) else json.dumps(told) for name, told in given.items()}
        if "" in held:
            path = inside / "a.zip"
            path.write_bytes(packed(held))
            return path
        return laid(held, inside)

    def close(self) -> None:
        """Remove the folder."""
        rmtree(self._folder)


def laid(held: Mapping[str, str], folder: Path) -> Path:
    """Write files into a folder, those whose names fit in there, and return it, or the one file that it is."""
    written = []
    for name, told in held.items():
        path = folder / name.replace("\0", "_").encode("utf-8", "replace").decode()[:80].lstrip("/")
        if ".." in path.parts or path == folder or path.is_dir() or any(one.is_file() for one in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_bytes(name, told))
        written.append(path)
    return written[0] if len(written) == 1 else folder


def packed(held: Mapping[str, str]) -> bytes:
    """Return files as a zip."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in dict.fromkeys(name for name in held if name):
            archive.writestr(name.encode("utf-8", "replace").decode()[:80], as_bytes(name, held[name]))
    return made.getvalue()


def as_bytes(name: str, told: str) -> bytes:
    """Return what a file of a name holds."""
    data = told.encode("utf-8", "surrogatepass")
    return gzip.compress(data, mtime=0) if name.endswith(".gz") else data


def looked_over(found: Transcript) -> None:
    """Hold what was read against what is said of it."""
    for conversation in found.conversations:
        for line in conversation.lines:
            assert line.text.strip() and line.role
        for problem in conversation.problems:
            str(problem)
