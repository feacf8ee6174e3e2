"""Vectors from an embeddings endpoint that speaks the OpenAI protocol, there or on this machine."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder.rows import clean, unit_rows
from doxa.core.errors import (
    BackendError,
    BackendReplyError,
    BackendUnavailableError,
    ClosedError,
    ConfigError,
    MissingDependencyError,
)

__all__ = ["OpenAIEncoder", "open_encoder"]

BASE_URL: Final = "https://api.openai.com/v1"
MAX_CHARS: Final = 8_000  # below the 8,191 tokens of the common models, whatever the language
BATCH_SIZE: Final = 128
NO_KEY: Final = "none"
TIMEOUT_S: Final = 30.0
MAX_RETRIES: Final = 3


def open_encoder(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dims: int | None = None,
    timeout_s: float = TIMEOUT_S,
    max_retries: int = MAX_RETRIES,
    batch_size: int = BATCH_SIZE,
    max_chars: int = MAX_CHARS,
) -> "OpenAIEncoder":
    """Gives back an encoder that calls `base_url`/embeddings; nothing is sent yet.

    Args:
        name: The model, such as `text-embedding-3-small`.
        base_url: Where the endpoint is, with its version path; `None` for OpenAI's own.
        api_key: Sent as bearer token; `None` or empty for a server that needs none.
        dims: Asks for vectors of this length; not every model can. By default the model decides.
        timeout_s: Seconds that one attempt may take.
        max_retries: Further attempts after a time-out, a refused connection, a rate limit or a server error.
        batch_size: Texts per request.
        max_chars: Characters of a text that are sent.

    Raises:
        ConfigError: No model, no key where one is needed, or a number out of range.
        MissingDependencyError: The package `openai` is not installed.
    """
    if not name:
        raise ConfigError("Expected 'openai:NAME' with the name of an embedding model, got 'openai'.")
    if not base_url and not api_key:
        raise ConfigError(f"'openai:{name}' needs api_key for {BASE_URL}; set it, or set base_url to another server.")
    if min(batch_size, max_chars, 1 if dims is None else dims) < 1 or timeout_s <= 0 or max_retries < 0:
        raise ConfigError("Expected dims, batch_size, max_chars and timeout_s above zero, and no negative max_retries.")
    # Both are given, because the SDK would otherwise look for them in the environment.
    client = _open_client(
        base_url=base_url or BASE_URL, api_key=api_key or NO_KEY, timeout=timeout_s, max_retries=max_retries
    )
    return OpenAIEncoder(name, client, dims=dims, batch_size=batch_size, max_chars=max_chars)


class OpenAIEncoder:
    """Safe to share between threads. Whether a text always gets the same vector is up to the server."""

    def __init__(self, model: str, client: Any, *, dims: int | None, batch_size: int, max_chars: int) -> None:
        """Wraps an `openai.OpenAI` client and owns it."""
        self._model = model
        self._client = client
        self._asked_dims = dims
        self._dims = dims
        self._batch_size = batch_size
        self._max_chars = max_chars
        self._lock = threading.Lock()
        self._closed = False

    @property
    def name(self) -> str:
        """`openai:` and the name of the model."""
        return f"openai:{self._model}"

    @property
    def dims(self) -> int:
        """The length of a vector; unless it was given, the first time asks the endpoint for one."""
        with self._lock:
            if self._dims is None:
                self._dims = len(self._ask(["dimensions"])[0])
            return self._dims

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Gives back one unit row per text, `(n, dims) float32`; one request per `batch_size` texts.

        Raises:
            BackendUnavailableError: The endpoint did not answer, kept limiting the rate, or refused key or model.
            BackendReplyError: It refused the request, or answered with something other than the vectors.
            ClosedError: The encoder was closed.
        """
        # An endpoint may refuse the empty string.
        cleaned = [clean(text, self._max_chars) or " " for text in texts]
        rows = [row for batch in self._batches(cleaned) for row in self._ask(batch)]
        if rows:
            with self._lock:
                self._dims = self._dims or len(rows[0])
        return unit_rows(rows, self.dims)

    def close(self) -> None:
        """Closes the connections."""
        self._closed = True
        self._client.close()

    def _batches(self, texts: list[str]) -> Iterator[list[str]]:
        for start in range(0, len(texts), self._batch_size):
            yield texts[start : start + self._batch_size]

    def _ask(self, texts: list[str]) -> list[list[float]]:
        if self._closed:
            raise ClosedError("The encoder was closed; open a new one.")
        # The SDK asks for base64 unless told otherwise, which many compatible servers do not speak.
        asked: dict[str, Any] = {"input": texts, "model": self._model, "encoding_format": "float"}
        if self._asked_dims is not None:
            asked["dimensions"] = self._asked_dims
        return _read_reply(_call(self._client, asked), len(texts))


def _open_client(**settings: Any) -> Any:
    try:
        from openai import OpenAI
    except ImportError as exc:
        raise MissingDependencyError("openai", extra="openai", purpose="An encoder 'openai:NAME'") from exc
    return OpenAI(**settings)


def _call(client: Any, asked: dict[str, Any]) -> Any:
    import openai

    try:
        return client.embeddings.create(**asked)
    except (openai.OpenAIError, ValueError) as exc:  # the SDK raises ValueError for an empty list or broken JSON
        shown = exc if client.api_key == NO_KEY or client.api_key not in str(exc) else None
        raise _ours(exc, client, asked["model"]) from shown


def _ours(exc: Exception, client: Any, model: str) -> BackendError:
    import openai

    where = f"openai:{model} at {client.base_url}"
    said = str(exc).rstrip(".")
    if client.api_key != NO_KEY:
        said = said.replace(client.api_key, "****")
    if isinstance(exc, (openai.AuthenticationError, openai.PermissionDeniedError)):
        return BackendUnavailableError(f"{where} denied access: {said}. Check api_key.")
    if isinstance(exc, openai.NotFoundError):
        return BackendUnavailableError(f"{where} was not found: {said}. Check the model's name and base_url.")
    if isinstance(exc, (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError)):
        return BackendUnavailableError(
            f"{where} did not answer: {said}. Check base_url and that the server runs, or raise timeout_s."
        )
    if isinstance(exc, openai.APIStatusError):
        return BackendReplyError(f"{where} turned the request down: {said}. Check dims and max_chars.", reply=said)
    return BackendReplyError(f"{where} answered something other than embeddings: {said}. Check base_url.", reply=said)


def _read_reply(reply: Any, count: int) -> list[list[float]]:
    # A compatible server may answer any JSON, or a web page, which the SDK hands over as it came.
    try:
        rows = sorted(reply.data, key=lambda item: item.index)
        vectors = [list(item.embedding) for item in rows]
    except (AttributeError, TypeError) as exc:
        raise BackendReplyError(f"Expected a list of embeddings, got {str(reply)[:200]!r}.", reply=str(reply)) from exc
    if len(vectors) != count or not all(vectors):
        raise BackendReplyError(f"Expected {count} embeddings, got {len(vectors)}.", reply=str(reply))
    return vectors
