"""A JSON object out of a model's answer: find it, mend it, check it, ask once more.

Models put fences and prose around JSON, leave commas trailing, write Python literals and stop in
the middle. Each is mended here, in the order of least change, and only a reading that fits the
schema counts. Every backend goes through `answer`, so a script and a server behave alike.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from doxa.backends.llm.model import Completion, Message
from doxa.backends.llm.tokens import estimate_tokens
from doxa.core.errors import BackendReplyError, InputError

__all__ = ["Answering", "Reading", "answer", "instruction", "read_object"]

# Mending is quadratic on hostile text; 20,000 characters take about a second at worst.
_MAX_MENDED_CHARS = 20_000
_MAX_BRACES_TRIED = 20
_MAX_QUOTED_CHARS = 300
_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)```", re.DOTALL)
# Reasoning models served without a reasoning parser put their thoughts before the answer.
_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """An answer read against a schema: the object, or what is wrong with the answer."""

    value: Mapping[str, Any] | None
    problem: str = ""


def answer(
    ask: Callable[[Sequence[Message]], Completion],
    messages: Sequence[Message],
    schema: Mapping[str, Any] | None,
    *,
    name: str,
) -> Completion:
    """The completion of a conversation, with `parsed` filled when there is a schema.

    Args:
        ask: One call to the model; its completion has `parsed=None`.
        messages: The conversation, oldest first.
        schema: JSON schema of the wanted object, or `None` for plain text.
        name: The model's name, for messages.

    Returns:
        The completion; usage and seconds of both calls when there were two.

    Raises:
        BackendReplyError: The text was empty, or twice did not fit `schema`.
        InputError: There are no messages, or `schema` is no JSON schema.

    Cost: one call, or two when the first answer did not fit.
    """
    _check_request(messages, schema)
    first = _without_thought(ask(messages))
    if first.refused:
        return first
    if schema is None:
        return _checked_text(first, name=name)
    reading = read_object(first.text, schema)
    if reading.value is not None:
        return replace(first, parsed=reading.value)
    return _second_try(ask, messages, schema, first=first, problem=reading.problem, name=name)


class Answering(ABC):
    """A language model that answers by single calls: what all of them share."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name as in the config."""

    @abstractmethod
    def once(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, temperature: float, max_tokens: int
    ) -> Completion:
        """One answer as it came; see `SingleCalls.once`."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> Completion:
        """The answer to a conversation; see `LanguageModel.complete`.

        Raises:
            BackendError: What `once` raises.
            BackendReplyError: The answer was empty, or two of them did not fit `schema`.
            InputError: No messages, or a schema that is no JSON schema.
            ClosedError: The model was closed.
        """
        once = partial(self.once, schema=schema, temperature=temperature, max_tokens=max_tokens)
        return answer(once, messages, schema, name=self.name)

    def count_tokens(self, text: str) -> int:
        """About how many tokens a text is; see `tokens.estimate_tokens`."""
        return estimate_tokens(text)


def instruction(schema: Mapping[str, Any]) -> str:
    """The sentence that asks for one JSON object of a schema, for servers that cannot be told otherwise."""
    text = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{text}"


def read_object(text: str, schema: Mapping[str, Any]) -> Reading:
    """The JSON object in an answer that fits a schema, or the reason why there is none.

    Tried in turn: the text as it is, fenced blocks, the first object with prose after it, the
    mended text, any other object inside. A bare list is put under the schema's only key, if that
    key holds a list. Mending may close a string that was cut off; it never adds a missing key.
    Deterministic; the checks are those of JSON Schema 2020-12.

    Cost: O(n) for valid JSON; text longer than 20,000 characters is not mended.
    """
    validator = _validator(json.dumps(schema))
    problem = ""
    for candidate in _objects(text, schema):
        fault = _fault(candidate, validator)
        if not fault:
            return Reading(value=_storable(candidate))
        problem = problem or fault
    return Reading(value=None, problem=problem or "it holds no JSON object")


def _check_request(messages: Sequence[Message], schema: Mapping[str, Any] | None) -> None:
    if not messages:
        raise InputError("A language model needs at least one message, and none came. Pass `messages`.")
    if schema is None:
        return
    _validator(json.dumps(schema))


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    """Return what checks values against a schema in JSON; kept, since checking the schema costs more than the values.

    Raises:
        InputError: it is no JSON schema.
    """
    from jsonschema import Draft202012Validator, SchemaError

    read = json.loads(schema)
    try:
        Draft202012Validator.check_schema(read)
    except SchemaError as exc:
        raise InputError(f"Expected a JSON schema (draft 2020-12); {exc.json_path}: {exc.message}. Mend it.") from exc
    return Draft202012Validator(read)


def _without_thought(completion: Completion) -> Completion:
    text = _THOUGHT.sub("", completion.text, count=1)
    return completion if text == completion.text else replace(completion, text=text)


def _checked_text(completion: Completion, *, name: str) -> Completion:
    if completion.text.strip():
        return completion
    cut = " It was cut off before its first word; raise `max_tokens`." if completion.truncated else ""
    raise BackendReplyError(
        f"Expected text from {name}, and the answer was empty.{cut or ' Try again, or try another model.'}"
    )


def _second_try(
    ask: Callable[[Sequence[Message]], Completion],
    messages: Sequence[Message],
    schema: Mapping[str, Any],
    *,
    first: Completion,
    problem: str,
    name: str,
) -> Completion:
    again = _without_thought(ask(_told(messages, schema, first=first, problem=problem)))
    total = replace(again, usage=first.usage + again.usage, seconds=first.seconds + again.seconds)
    if again.refused:
        return total
    reading = read_object(again.text, schema)
    if reading.value is not None:
        return replace(total, parsed=reading.value)
    advice = "It was cut off: raise `max_tokens`." if again.truncated else "Try a model that follows JSON schemas."
    raise BackendReplyError(
        f"Expected a JSON object that fits the schema from {name}, asked twice; the last reply cannot be used: "
        f"{reading.problem}. {advice}",
        reply=again.text,
    )


def _told(messages: Sequence[Message], schema: Mapping[str, Any], *, first: Completion, problem: str) -> list[Message]:
    cut = " It was cut off; be shorter." if first.truncated else ""
    complaint = f"That reply cannot be used: {problem}.{cut} {instruction(schema)}"
    if first.text.strip():
        reply = Message(role="assistant", content=first.text)
        return [*messages, reply, Message(role="user", content=complaint)]
    # Some chat templates turn down an empty message, and two of one role in a row.
    last = messages[-1]
    return [*messages[:-1], replace(last, content=f"{last.content}\n\n{complaint}")]


def _objects(text: str, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every JSON object that the text can be read as, likeliest first."""
    for value in _values(text):
        if isinstance(value, dict):
            yield value
        elif isinstance(value, list):
            key = _only_list_key(schema)
            if key is not None:
                yield {key: value}
            yield from (item for item in value if isinstance(item, dict))


def _values(text: str) -> Iterator[Any]:
    yield from _strict(text)
    for block in _FENCE.findall(text):
        yield from _strict(block)
    braces = [match.start() for match in re.finditer(r"\{", text)][:_MAX_BRACES_TRIED]
    yield from _prefix(text, braces[:1])
    if len(text) <= _MAX_MENDED_CHARS:
        yield from _mended(text)
        # Last, since an object inside a broken one is rarely the one that was meant.
        yield from _prefix(text, braces[1:])


def _strict(text: str) -> Iterator[Any]:
    try:
        yield json.loads(text)
    except (ValueError, RecursionError):
        return


def _prefix(text: str, starts: Sequence[int]) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    for start in starts:
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield value


def _mended(text: str) -> Iterator[Any]:
    import json_repair

    try:
        value = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return
    yield value


def _only_list_key(schema: Mapping[str, Any]) -> str | None:
    properties = schema.get("properties", {})
    if len(properties) != 1:
        return None
    ((key, inner),) = properties.items()
    return key if isinstance(inner, Mapping) and inner.get("type") == "array" else None


def _fault(value: Mapping[str, Any], validator: Any) -> str:
    """What keeps a value from the schema or from storage, in one line; empty if nothing does."""
    from jsonschema.exceptions import best_match

    try:
        _storable(value)
        error = best_match(validator.iter_errors(value))
    except ValueError:
        return "it holds a number that is not finite"
    except RecursionError:
        return "it is nested too deeply"
    return f"{error.json_path}: {error.message}"[:_MAX_QUOTED_CHARS] if error is not None else ""


def _storable(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same value in strict JSON: half surrogates, which no database takes, become `?`."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    cleaned: Mapping[str, Any] = json.loads(text.encode("utf-8", "replace"))
    return cleaned
