"""An answer that is there as a whole -> the events in which OpenAI streams one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["DONE", "completion_events", "event", "response_events"]

DONE = b"data: [DONE]\n\n"


def event(data: Mapping[str, Any], *, name: str = "") -> bytes:
    """Return one event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def completion_events(data: Mapping[str, Any], *, usage: bool) -> Iterator[bytes]:
    """Give the events of a chat completion; `usage` adds the one that counts tokens."""
    shared = {name: value for name, value in data.items() if name not in ("choices", "usage")}
    shared["object"] = "chat.completion.chunk"
    rest: dict[str, Any] = {"usage": None} if usage else {}
    for choice in data["choices"]:
        for delta, extra in _deltas(choice):
            told = {"index": choice["index"], "delta": delta, "logprobs": None, "finish_reason": None, **extra}
            yield event({**shared, "choices": [told], **rest})
    if usage:
        yield event({**shared, "choices": [], "usage": data.get("usage")})
    yield DONE


def _deltas(choice: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    message = choice["message"]
    yield {"role": "assistant", "content": "", "refusal": None}, {}
    for name in ("content", "refusal"):
        if message.get(name):
            yield {name: message[name]}, {"logprobs": choice.get("logprobs")}
    if calls := message.get("tool_calls"):
        yield {"tool_calls": [{"index": place, **call} for place, call in enumerate(calls)]}, {}
    yield {}, {"finish_reason": choice["finish_reason"]}


def response_events(data: Mapping[str, Any]) -> Iterator[bytes]:
    """Give the events of a response, numbered in order."""
    begun = {**data, "status": "in_progress", "output": [], "usage": None, "completed_at": None}
    told: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for place, item in enumerate(data["output"]):
        told += _item(item, place)
    told.append({"type": f"response.{data['status']}", "response": data})
    for number, one in enumerate(told):
        yield event({**one, "sequence_number": number}, name=one["type"])


def _item(item: Mapping[str, Any], place: int) -> Iterator[dict[str, Any]]:
    where = {"output_index": place, "item_id": item.get("id")}
    begun = {**item, "status": "in_progress"} if "status" in item else dict(item)
    for name, empty in (("content", []), ("arguments", "")):
        if name in item:
            begun[name] = empty
    yield {"type": "response.output_item.added", "output_index": place, "item": begun}
    if item.get("type") == "message":
        for number, part in enumerate(item["content"]):
            yield from _part(part, {**where, "content_index": number})
    elif item.get("type") == "function_call":
        yield {"type": "response.function_call_arguments.delta", **where, "delta": item["arguments"]}
        done = {"name": item.get("name"), "arguments": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", **where, **done}
    yield {"type": "response.output_item.done", "output_index": place, "item": dict(item)}


def _part(part: Mapping[str, Any], where: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    name = "refusal" if part.get("type") == "refusal" else "text"
    kind = "refusal" if name == "refusal" else "output_text"
    yield {"type": "response.content_part.added", **where, "part": {**part, name: ""}}
    more: dict[str, Any] = {"logprobs": []} if name == "text" else {}
    yield {"type": f"response.{kind}.delta", **where, "delta": part[name], **more}
    yield {"type": f"response.{kind}.done", **where, name: part[name], **more}
    yield {"type": "response.content_part.done", **where, "part": dict(part)}
