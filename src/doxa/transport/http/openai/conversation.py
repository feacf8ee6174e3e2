"""The body of a request -> what was said in it, message by message.

Every message has a digest of the history up to and with it. It goes by what was said and not by how it is written,
since clients send messages again with more or fewer fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from doxa.transport.http.openai.editing import Body, Part, elements, members
from doxa.transport.http.openai.recalled import own_words

__all__ = ["Conversation", "Said", "digest", "read_chat", "read_responses", "text_of"]

TEXTS = frozenset(["text", "input_text", "output_text"])
ROLES = frozenset(["user", "assistant", "tool"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message."""

    role: str
    """`user`, `assistant`, `tool`, or empty for what nobody said in the conversation (instructions, calls)."""
    text: str
    speaker: str | None = None
    """Who said it, where it is named; of a result, which tool."""
    digest: str
    content: Part | None = None
    """Where its content stands; None where no words can be added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a request holds, oldest first."""

    said: tuple[Said, ...]
    kind: str
    """The type of a part that is a text."""
    before: str = ""
    """Digest of what was said before and is not in the request."""

    @property
    def users(self) -> list[Said]:
        """The messages of the user."""
        return [one for one in self.said if one.role == "user"]

    @property
    def newest(self) -> list[Said]:
        """What the user and the tools said since the assistant spoke last."""
        last = max((place for place, one in enumerate(self.said) if one.role == "assistant"), default=-1)
        return [one for one in self.said[last + 1 :] if one.role in ("user", "tool") and one.text.strip()]

    @property
    def digest(self) -> str:
        """The digest of all of it."""
        return self.said[-1].digest if self.said else self.before


def digest(*parts: str) -> str:
    """Return a digest of texts in order."""
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def text_of(content: Any) -> str:
    """Return the words of a content."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [one.get("text") for one in parts if isinstance(one, Mapping) and one.get("type") in TEXTS]
    return "\n".join(text for text in texts if isinstance(text, str))


def read_chat(body: Body) -> Conversation:
    """Return what a request of chat completions holds."""
    found = _read(body, body.parts.get("messages"), before="")
    return Conversation(said=tuple(found), kind="text")


def read_responses(body: Body, *, before: str = "") -> Conversation:
    """Return what a request of responses holds; `before` is the digest of what it goes on from."""
    given = body.parts.get("input")
    if given is not None and isinstance(given.value, str):
        text = own_words(given.value)
        said = Said(role="user", text=text, digest=digest(before, _print("user", text)), content=given)
        return Conversation(said=(said,), kind="input_text", before=before)
    return Conversation(said=tuple(_read(body, given, before=before)), kind="input_text", before=before)


def _read(body: Body, given: Part | None, *, before: str) -> Iterator[Said]:
    if given is None or not isinstance(given.value, list):
        return
    calls: dict[str, str] = {}
    for part in elements(body.text, given.start):
        message = part.value if isinstance(part.value, dict) else {}
        calls |= dict(_calls(message))
        role, content = _role(message), message.get("output" if "output" in message else "content")
        text = own_words(text_of(content))
        speaker = message.get("name")
        if role == "tool":
            speaker = speaker or calls.get(str(message.get("tool_call_id") or message.get("call_id")), "tool")
        before = digest(before, _print_of(message, role, text))
        yield Said(
            role=role,
            text=text,
            speaker=speaker if isinstance(speaker, str) else None,
            digest=before,
            content=_content(body, part) if role == "user" else None,
        )


def _role(message: Mapping[str, Any]) -> str:
    if str(message.get("type", "")).endswith("call_output"):
        return "tool"
    role = message.get("role")
    return "tool" if role == "function" else role if role in ROLES else ""


def _content(body: Body, message: Part) -> Part | None:
    content = members(body.text, message.start).get("content")
    return content if content is not None and isinstance(content.value, str | list) else None


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the id and the tool of every call that a message makes."""
    if message.get("type") == "function_call":
        yield str(message.get("call_id")), str(message.get("name"))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            yield str(call.get("id")), str(function.get("name"))


def _print_of(message: Mapping[str, Any], role: str, text: str) -> str:
    """Return what makes a message that message, whatever fields a client leaves out or adds."""
    content = message.get("content")
    others = [one for one in content if not _is_text(one)] if isinstance(content, list) and role == "user" else []
    kind = role or message.get("role") or message.get("type")
    about = [message.get(name) for name in ("name", "tool_call_id", "call_id", "arguments")]
    calls = message.get("tool_calls")
    called = [_called(call) for call in calls] if isinstance(calls, list) else []
    return _print(str(kind), text, *about, called, others)


def _called(call: Any) -> Sequence[Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    inner = function if isinstance(function, Mapping) else {}
    return [call.get("id") if isinstance(call, Mapping) else call, inner.get("name"), inner.get("arguments")]


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in TEXTS


def _print(kind: str, text: str, *about: Any) -> str:
    return json.dumps([kind, text, *(one for one in about if one)], sort_keys=True, default=str)
