"""Bodies of requests that are hostile to a server: each of any length, the same for the same length."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from doors.requests import CHAT, EDIT, RESPONSES

__all__ = ["BODIES", "HEARD", "TURNS", "Made"]

Made = Callable[[int], Any]
"""A body of so many bytes: a text as it is sent, or a value of JSON."""
MOST_TURNS = 10_000
SPARQL = "SELECT * WHERE { ?s ?p ?o "


def many(unit: Any, size: int) -> list[Any]:
    """Return a list of so many bytes in all, of one value again and again."""
    return [unit] * max(size // (len(json.dumps(unit)) + 2), 1)


def keyed(value: Any, size: int) -> dict[str, Any]:
    """Return an object of so many bytes in all."""
    return {f"k{n}": value for n in range(max(size // (len(json.dumps(value)) + 14), 1))}


def nested(opens: str, closes: str, inner: str, size: int) -> str:
    """Return JSON that is as deep as so many bytes allow."""
    deep = size // (len(opens) + len(closes))
    return opens * deep + inner + closes * deep


def told(turn: Callable[[int], dict[str, Any]], size: int) -> dict[str, Any]:
    """Return as many turns as one request may have, and as fit."""
    chars = max(size // MOST_TURNS, 100)
    return {
        "turns": [turn(n) | {"text": f"Kim{n} lives in Oslo. ".ljust(chars - 50, "x")} for n in range(size // chars)]
    }


TURNS, ASK, SEARCH, CHECK = (f"/v1/memory/{name}" for name in ("turns", "ask", "search", "check"))
MCP = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
HEARD = {"Accept": "application/json, text/event-stream"}
"""Headers that each protocol lets in."""
ANA = {"user_id": "ana"}
BODIES: Mapping[str, tuple[str, Made]] = {
    # any body
    "letters": (TURNS, lambda n: "a" * n),
    "open lists": (TURNS, lambda n: "[" * n),
    "lists in lists": (TURNS, lambda n: nested("[", "]", "1", n)),
    "objects in objects": (TURNS, lambda n: nested('{"turns":', "}", "1", n)),
    "a number": (TURNS, lambda n: "9" * n),
    "escapes": (TURNS, lambda n: '{"turns":[{"text":"' + "\\u0041" * (n // 6) + '"}]}'),
    "unknown fields": (TURNS, lambda n: {"turns": [{"text": "I live in Oslo."}], **keyed(1, n)}),
    "one field again and again": (TURNS, lambda n: "{" + '"turns":[],' * (n // 11) + '"turns":[]}'),
    "fields of turns": (TURNS, lambda n: {"turns": [{"text": "I live in Oslo.", **keyed(1, n)}]}),
    # turns
    "as many turns as may be": (TURNS, lambda n: told(lambda _: {}, n)),
    "too many turns": (TURNS, lambda n: {"turns": many({"text": "I live in Oslo."}, n)}),
    "turns that are none": (TURNS, lambda n: {"turns": many(1, n)}),
    "turns that are all refused": (TURNS, lambda n: told(lambda _: {"at": "no day"}, n)),
    "one id": (TURNS, lambda n: told(lambda _: {"turn_id": "one"}, n)),
    "parts": (TURNS, lambda n: {"turns": [{"content": many({"type": "text", "text": "I live."}, n)}]}),
    "parts without words": (TURNS, lambda n: {"turns": [{"content": many({"type": "image"}, n)}]}),
    "a long turn": (TURNS, lambda n: {"turns": [{"text": "I live in Oslo. " * (n // 16)}]}),
    "a long id": (TURNS, lambda n: {"turns": [{"text": "I live in Oslo.", "turn_id": "x" * n}]}),
    "a long speaker": (TURNS, lambda n: {"turns": [{"text": "I live in Oslo.", "speaker": "x" * n}]}),
    "a long session": (TURNS, lambda n: {"turns": [{"text": "I live in Oslo."}], "session": "x" * n}),
    "a long date": (TURNS, lambda n: {"turns": [{"text": "I live in Oslo.", "at": "2" * n}]}),
    # questions
    "a long question": (ASK, lambda n: {"text": "Where do I live? " * (n // 17)}),
    "much said before": (ASK, lambda n: {"text": "Where?", "said": many({"role": "user", "content": "I live."}, n)}),
    "a long search": (SEARCH, lambda n: {"query": "Where do I live? " * (n // 17), "k": 1000}),
    "search after much": (SEARCH, lambda n: {"query": "Where?", "recent": many({"speaker": "Ana", "text": "I."}, n)}),
    "search since a long date": (SEARCH, lambda n: {"query": "Where?", "since": "2" * n}),
    "a long reply": (CHECK, lambda n: {"text": "You live in Bergen. " * (n // 20)}),
    "what was needed": ("/v1/memory/feedback", lambda n: {"query": "Where?", "needed": many("t1", n)}),
    # SPARQL
    "a long query": ("/v1/memory/sparql", lambda n: {"query": SPARQL + "." * n + "}"}),
    "groups in groups": ("/v1/memory/sparql", lambda n: {"query": "SELECT * WHERE " + nested("{", "}", "", n)}),
    "many patterns": ("/v1/memory/sparql", lambda n: {"query": SPARQL + ". ?s ?p ?o " * (n // 11) + "}"}),
    # tasks and facts
    "acts": (EDIT, lambda n: {"acts": [{"act": "add", "name": f"n{k}", "kind": "task"} for k in range(n // 45)]}),
    "a thousand acts": (
        EDIT,
        lambda n: {"acts": many({"act": "add", "name": "n" + "x" * (n // 1000), "kind": "task"}, n)[:1000]},
    ),
    "other names": (EDIT, lambda n: {"acts": [{"act": "add", "name": "n", "kind": "task", "aliases": many("x", n)}]}),
    "said to the tasks": ("/v1/memory/tasks/tell", lambda n: {"text": "Add milk to my list. " * (n // 21)}),
    "names that are one": ("/v1/memory/entities/merge", lambda n: {"name": "x" * n, "other": "Kim"}),
    "facts that are both so": ("/v1/memory/facts/keep-both", lambda n: {"fact_ids": many("f1", n)}),
    # what others speak
    "messages": (
        CHAT,
        lambda n: {"model": "doxa", "messages": many({"role": "user", "content": "I live in Oslo."}, n)},
    ),
    "parts of a message": (
        CHAT,
        lambda n: {
            "model": "doxa",
            "messages": [{"role": "user", "content": many({"type": "text", "text": "I live in Oslo."}, n)}],
        },
    ),
    "a long message": (
        CHAT,
        lambda n: {"model": "doxa", "messages": [{"role": "user", "content": "I live. " * (n // 8)}]},
    ),
    "messages of tools": (
        CHAT,
        lambda n: {"model": "doxa", "messages": many({"role": "tool", "tool_call_id": "c", "content": "x"}, n)},
    ),
    "tools": (
        CHAT,
        lambda n: {"model": "doxa", "messages": [{"role": "user", "content": "Hi."}], "tools": many({}, n)},
    ),
    "input": (RESPONSES, lambda n: {"model": "doxa", "input": many({"role": "user", "content": "I live in Oslo."}, n)}),
    "instructions": (RESPONSES, lambda n: {"model": "doxa", "input": "Hi.", "instructions": "Be good. " * (n // 9)}),
    "texts to encode": ("/openai/v1/embeddings", lambda n: {"model": "doxa", "input": many("I live in Oslo.", n)}),
    "a text to encode": ("/openai/v1/embeddings", lambda n: {"model": "doxa", "input": "I live in Oslo. " * (n // 16)}),
    "messages of mem0": (
        "/v1/memories/",
        lambda n: {"messages": many({"role": "user", "content": "I live."}, n), **ANA},
    ),
    "metadata of mem0": ("/v1/memories/", lambda n: {"messages": "I live.", **ANA, "metadata": keyed("v", n)}),
    "a long filter": ("/v2/memories/search/", lambda n: {"query": "tea", "filters": {"AND": many(ANA, n)}}),
    "a deep filter": (
        "/v2/memories/search/",
        lambda n: '{"query":"tea","filters":' + nested('{"NOT":[', "]}", '{"user_id":"ana"}', n) + "}",
    ),
    "a search of mem0": ("/v2/memories/search/", lambda n: {"query": "tea " * (n // 4), "filters": ANA}),
    "calls of tools": ("/mcp", lambda n: many({**MCP, "params": {"name": "doxa_recall", "arguments": {}}}, n)),
    "arguments of a tool": ("/mcp", lambda n: {**MCP, "params": {"name": "doxa_recall", "arguments": keyed(1, n)}}),
    "a question to a tool": (
        "/mcp",
        lambda n: {**MCP, "params": {"name": "doxa_recall", "arguments": {"query": "Where do I live? " * (n // 17)}}},
    ),
}
