"""Requests as clients of each protocol send them, to begin with."""

from __future__ import annotations

from typing import Any

__all__ = ["MEM0", "OPENAI", "REST"]

Request = dict[str, Any]


def post(path: str, body: Any, *, method: str = "POST", query: Any = None, headers: Any = None) -> Request:
    """Return a request with a body."""
    return {"m": method, "p": path, "b": body, "q": query or {}, "h": headers or {}}


def get(path: str, *, method: str = "GET", **query: Any) -> Request:
    """Return a request without one."""
    return {"m": method, "p": path, "q": query}


TURN = {"text": "I live in Oslo.", "role": "user", "turn_id": "t1", "at": "2024-05-01T10:00:00Z", "metadata": {"k": 1}}
CLOCK = {"text": "8 pm", "kind": "clock", "amount": 1200}
ACTS = [
    {"act": "add", "name": "dinner", "kind": "task", "as": "d"},
    {"act": "add", "name": "time", "kind": "slot", "under": ["d"], "value": CLOCK},
]
ANY = {
    "node": "d", "name": "x", "names": ["a"], "under": "d", "other": "d", "nodes": ["d"], "kind": "before", "on": "d",
    "users": ["a"],
}  # fmt: skip
DEEDS = "rename move link unlink swap replace copy split merge depend undepend settle remove share".split()
EXPORT = '{"format": "doxa-export/1", "user": "ana"}\n'
HTML, EVENTS = {"Accept": "text/html"}, {"Accept": "application/json, text/event-stream"}
PAGES = "now graph timeline why recall conflicts tasks health chat forgetting enter".split()
EDIT = "/v1/memory/tasks/edit"

REST: tuple[Request, ...] = (
    post("/v1/memory/turns", {"turns": [TURN], "session": "s"}, query={"wait": "true"}),
    post("/v1/memory/turns", {"turns": [{"content": [{"type": "text", "text": "Hi."}]}]}),
    post("/v1/memory/ask", {"text": "Where do I live?", "said": [{"role": "user", "content": "x"}]}),
    post(EDIT, {"acts": ACTS}),
    *(post(EDIT, {"acts": [*ACTS, {"act": act, **ANY}]}) for act in DEEDS),
    post("/v1/memory/import", EXPORT, headers={"Content-Type": "application/x-ndjson"}),
    *({**get(f"/inspect/{page}", of="Ana", at="2024", q="x"), "h": HTML} for page in PAGES),
    post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=EVENTS),
    *map(get, ("/metrics", "/docs", "/openapi.json", "/readyz")),
)

CHAT, RESPONSES = "/openai/v1/chat/completions", "/openai/v1/responses"
HI = {"role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
MESSAGES = [
    {"role": "system", "content": [{"type": "text", "text": "Be."}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function"}]},
    {"role": "tool", "tool_call_id": "c", "content": "x"},
    {"role": "user", "content": "Hi."},
]
ASKED = [{"role": "user", "content": "I live in Oslo. Where do I live?"}]
STREAM = {"stream": True, "stream_options": {"include_usage": True}}
SETTINGS = {"metadata": {"session": "x"}, "temperature": 0.5, "max_tokens": 5}

OPENAI: tuple[Request, ...] = (
    post(CHAT, {"model": "doxa", "messages": ASKED, "user": "ana", "n": 1, **STREAM}),
    post(CHAT, {"model": "doxa", "messages": MESSAGES, **SETTINGS}, headers={"Doxa-Session": "s"}),
    post(RESPONSES, {"model": "doxa", "input": "I live in Oslo.", "store": True}),
    post(RESPONSES, {"model": "doxa", "input": [HI], "previous_response_id": "resp_1", "stream": True}),
    post(RESPONSES, {"model": "doxa", "input": [HI], "conversation": {"id": "c"}, "instructions": "Be."}),
    post("/openai/v1/embeddings", {"input": ["a", [1, 2]], "model": "doxa", "dimensions": 8}),
    post("/openai/v1/embeddings", {"input": "a", "model": "doxa", "encoding_format": "base64"}),
    get("/openai/v1/models/doxa"),
    get("/openai/v1/files/x", method="PATCH"),
)

PLACE = {"user_id": "ana"}
MEMORIES = "/v1/memories/"
SAID = [{"role": "user", "content": "I like tea."}]
WHEN = {"created_at": {"gte": "2024-01-01", "lte": "2030-01-01"}}
FILTERS = {"AND": [PLACE, {"OR": [WHEN, {"metadata": {"k": {"in": ["v"]}}}]}]}

MEM0: tuple[Request, ...] = (
    post(MEMORIES, {"messages": SAID, **PLACE, "metadata": {"k": "v"}, "infer": True, "timestamp": 1714557600}),
    post(MEMORIES, {"messages": "I like tea.", **PLACE, "infer": False, "async_mode": True}),
    post(MEMORIES, {"messages": SAID, **PLACE, "expiration_date": "2030-01-01"}),
    post("/v3/memories/add/", {"messages": SAID[0], "filters": PLACE}),
    post("/v2/memories/search/", {"query": "tea", "filters": FILTERS, "top_k": 3}),
    post("/v3/memories/", {"filters": {"NOT": [{"run_id": "*"}], **PLACE}}, query={"page": 1, "page_size": 5}),
    post("/v1/batch/", {"memories": [{"memory_id": "t1", "text": "x"}]}, method="PUT"),
    post("/v1/batch/", {"memories": [{"memory_id": "t1"}]}, method="DELETE"),
    get(MEMORIES, method="DELETE", **PLACE),
    get("/v2/entities/user/ana/", method="DELETE"),
    get(f"{MEMORIES}t1/history/"),
    get("/v1/event/t1/"),
)
