"""What one OpenAI-compatible server understands of chat completions, learned from what it turns down.

Servers differ in three ways that matter here: how an answer is held to a schema, what the limit of
tokens is called, and whether a temperature may be set. A request starts with the richest form and
steps down, one feature per refusal, until the server takes it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from doxa.backends.llm.model import Message
from doxa.backends.llm.structured import instruction

__all__ = ["Dialect"]

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME_CHARS = 64
# The request itself is too long: no other form of it would be taken.
_TOO_LONG = ("context_length", "context length", "maximum context", "too many tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The form of requests to one server.

    Attributes:
        holds: How the answer is held to a schema: by the schema itself, to any JSON object, or by words alone.
        limit: The name of the limit of tokens; reasoning models of OpenAI take only the longer one.
        sets_temperature: Whether the temperature is sent.
    """

    holds: Literal["json_schema", "json_object", "prompt"] = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    sets_temperature: bool = True

    def body(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        temperature: float,
        max_tokens: int,
    ) -> dict[str, Any]:
        """The fields of a chat completion request, apart from the model's name.

        Source: OpenAI API reference, "Create chat completion".
        """
        body: dict[str, Any] = {"messages": self._messages(messages, schema), self.limit: max_tokens}
        if self.sets_temperature:
            body["temperature"] = temperature
        if schema is not None and self.holds == "json_schema":
            body["response_format"] = {"type": "json_schema", "json_schema": _named(schema)}
        elif schema is not None and self.holds == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def after_refusal(self, said: str, *, with_schema: bool) -> "Dialect | None":
        """The next simpler form, given what the server said; `None` if no simpler form would help.

        Any refusal of a request with a schema is taken for a refusal of its format, since servers
        word it in too many ways; a wrong guess costs at most two more requests.
        """
        said = said.lower()
        if any(phrase in said for phrase in _TOO_LONG):
            return None
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.sets_temperature and "temperature" in said:
            return replace(self, sets_temperature=False)
        if with_schema and self.holds == "json_schema":
            return replace(self, holds="json_object")
        if with_schema and self.holds == "json_object":
            return replace(self, holds="prompt")
        return None

    def _messages(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> list[dict[str, str]]:
        sent = [{"role": message.role, "content": _utf8(message.content)} for message in messages]
        if schema is not None and self.holds != "json_schema":
            # In the last message: some chat templates take no second system message, or none at all.
            sent[-1]["content"] += f"\n\n{instruction(schema)}"
        return sent


def _utf8(text: str) -> str:
    """The text with half surrogates, which HTTP cannot carry, as `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _named(schema: Mapping[str, Any]) -> dict[str, Any]:
    title = _NOT_IN_A_NAME.sub("_", str(schema.get("title", "")))[:_MAX_NAME_CHARS]
    plain = json.loads(json.dumps(schema))
    return {"name": title or "reply", "schema": plain, "strict": _is_closed(plain)}


def _is_closed(schema: Any) -> bool:
    """Whether every object names all its keys as required and allows no others, as strict mode demands."""
    if isinstance(schema, list):
        return all(_is_closed(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        required = set(schema.get("required", ()))
        if schema.get("additionalProperties") is not False or required != set(schema.get("properties", {})):
            return False
    return all(_is_closed(inner) for inner in schema.values())
