"""What an upstream answered, in bytes -> what the assistant said."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["MOST_BYTES", "Said", "decoded", "events", "response_id", "said_in", "said_in_chat", "said_in_response"]

MOST_BYTES = 67_108_864
"""Largest body that is read, without its encoding: a few bytes can stand for very many."""
ENDS = ("response.completed", "response.incomplete", "response.failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the assistant said: the first choice, where there are several."""

    text: str = ""
    """Its words; empty for a reply of calls alone."""
    acts: bool = False
    """Whether it calls a tool."""


def decoded(body: bytes, encoding: str) -> bytes:
    """Return a body without the encoding that its headers name.

    Raises:
        ValueError: the encoding is not known, or the body does not have it.
    """
    if encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ValueError(f"a body in the encoding {encoding!r} cannot be read")
    try:
        unpacking = zlib.decompressobj(47)  # gzip or zlib, by its head
        plain = unpacking.decompress(body, MOST_BYTES)
    except zlib.error as exc:
        raise ValueError(f"the body is not {encoding}: {exc}") from exc
    if not unpacking.eof:
        raise ValueError(f"the body is not all of it, or has more than {MOST_BYTES:,} bytes without its encoding")
    return plain


def said_in(body: bytes, *, streamed: bool, chat: bool) -> Said:
    """Return what the assistant said in the whole body of an answer.

    Raises:
        ValueError: the body is none that can be read.
    """
    if chat:
        return _said_in_chunks(events(body)) if streamed else said_in_chat(_object(body))
    if not streamed:
        return said_in_response(_object(body))
    for event in events(body):
        if event.get("type") in ENDS and isinstance(event.get("response"), Mapping):
            return said_in_response(event["response"])
    raise ValueError("the stream ended before its last event")


def said_in_chat(data: Mapping[str, Any]) -> Said:
    """Return what the first choice of a chat completion says."""
    choice = next((one for one in _mappings(data.get("choices")) if one.get("index", 0) == 0), {})
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    text = message.get("content") or message.get("refusal") or ""
    return Said(text=text if isinstance(text, str) else "", acts=bool(message.get("tool_calls")))


def said_in_response(data: Mapping[str, Any]) -> Said:
    """Return what the messages of a response say."""
    output = list(_mappings(data.get("output")))
    parts = [part for item in output if item.get("type") == "message" for part in _mappings(item.get("content"))]
    texts = [text for part in parts if isinstance(text := part.get("text") or part.get("refusal"), str)]
    return Said(text="\n".join(texts), acts=any(str(item.get("type")).endswith("call") for item in output))


def response_id(body: bytes, *, streamed: bool) -> str | None:
    """Return the id of a response from its body, or the beginning of its stream; None where it is not there yet."""
    try:
        data: Mapping[str, Any] = next(events(body, ended=False), {}) if streamed else _object(body)
    except ValueError:
        return None
    found = data.get("response", data) if streamed else data
    key = found.get("id") if isinstance(found, Mapping) else None
    return key if isinstance(key, str) else None


def events(stream: bytes, *, ended: bool = True) -> Iterator[Mapping[str, Any]]:
    """Give the data of the events of a stream that are objects; what is no JSON (`[DONE]`) is left out.

    Args:
        stream: the bytes.
        ended: whether a last event without the blank line after it counts.
    """
    blocks = stream.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n\n")
    for block in blocks if ended else blocks[:-1]:
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        try:
            data = json.loads("\n".join(lines))
        except ValueError:
            continue
        if isinstance(data, Mapping):
            yield data


def _said_in_chunks(chunks: Iterable[Mapping[str, Any]]) -> Said:
    texts, acts, ended = [], False, False
    for chunk in chunks:
        for choice in _mappings(chunk.get("choices")):
            if choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta")
            delta = delta if isinstance(delta, Mapping) else {}
            texts.append(delta.get("content") or delta.get("refusal") or "")
            acts = acts or bool(delta.get("tool_calls"))
            ended = ended or choice.get("finish_reason") is not None
    if not ended:
        raise ValueError("the stream ended before the reply did")
    return Said(text="".join(text for text in texts if isinstance(text, str)), acts=acts)


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, Mapping):
            yield one


def _object(body: bytes) -> Mapping[str, Any]:
    data = json.loads(body)
    if not isinstance(data, Mapping):
        raise ValueError("expected a JSON object")
    return data
