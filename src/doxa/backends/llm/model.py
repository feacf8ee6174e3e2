"""The words that pass between a step and a language model, and the Protocol of the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["Completion", "LanguageModel", "Message", "Request", "SingleCalls", "Usage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call: what a model is asked, and how."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    max_tokens: int = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was spent: answered calls and tokens; `+` adds two of them.

    Tokens are as the server counted them; where it does not say, they are the model's own
    `count_tokens` estimate. Attempts that the server turned down are not counted.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The sum of two usages, field by field."""
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model answered.

    Attributes:
        text: The answer, or the model's words of refusal (may be empty when `refused`).
        parsed: The JSON object that fits the schema; `None` without a schema and on a refusal.
        refused: The model or its content filter declined.
        truncated: The answer was cut off at `max_tokens`; `parsed` may then lack its tail.
        usage: Calls and tokens, a retry included.
        seconds: Wall-clock time, waiting and retries included.
    """

    text: str
    parsed: Mapping[str, Any] | None
    refused: bool
    truncated: bool
    usage: Usage
    seconds: float


class LanguageModel(Protocol):
    """Something that continues a conversation; safe to call from several threads."""

    @property
    def name(self) -> str:
        """The name as in the config, such as `openai:gpt-x`; it goes into run records."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        temperature: float = 0.0,
        max_tokens: int = 512,
    ) -> Completion:
        """The model's answer to a conversation.

        Args:
            messages: The conversation so far, oldest first; at least one.
            schema: JSON schema of an object that the answer must be; `None` asks for plain text.
            temperature: 0 for the likeliest words, higher for more varied ones.
            max_tokens: Where the answer is cut off.

        Returns:
            The completion. With `schema`, `parsed` fits it unless `refused`.

        Raises:
            BackendUnavailableError: The server could not be reached, kept failing or limiting, or denied access.
            BackendReplyError: The answer was empty, malformed, or twice did not fit `schema`.
            InputError: No messages, or a schema that is no JSON schema.
            ClosedError: The model was closed.

        Cost: one call to the model; two when the first answer did not fit `schema`.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """About how many tokens a text is, for budgets; an estimate, made without a call."""
        ...

    def close(self) -> None:
        """Let go of connections; a second call does nothing."""
        ...


class SingleCalls(LanguageModel, Protocol):
    """A language model whose calls can be made one by one, as a recorder needs them."""

    def once(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, temperature: float, max_tokens: int
    ) -> Completion:
        """One answer as it came: not read against the schema (`parsed` is `None`), and not asked for again.

        Raises:
            BackendUnavailableError: As for `complete`.
            BackendReplyError: There was no answer in what came.
            ClosedError: The model was closed.
        """
        ...
